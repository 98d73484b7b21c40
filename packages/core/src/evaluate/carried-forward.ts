/**
 * Last value carried forward, the forecast that needs no model (docs/math/evaluation.md §2): the next value is the last one
 * known, give or take what values of one individual differ by at that distance in time,
 *   y(t + h) | y(t) ~ N(y(t), v(h)),   v(h) = E (y(t + h) − y(t))²,
 * v estimated from all pairs of visits of the training individuals: means over classes of distance with about equally many pairs,
 * equal distances in one class, made non-decreasing (pool adjacent violators), linear in between. With a first visit from the population's mean curve this is
 * a density of whole series too: each visit given the one before.
 */
import { type Cohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { mixtureLogDensity, type NormalMixture } from "../models/mixture/normal-mixture.ts";
import { meanAndSd } from "../numeric/moments.ts";
import { logBeyond } from "./censored-scores.ts";
import type { Forecaster } from "./forecast.ts";

/** Mean squared difference between two values of one individual by their distance in time. */
export interface Variogram {
  /** Mean distances of the classes, rising. */
  readonly distances: Float64Array;
  /** v at these, never falling. */
  readonly variances: Float64Array;
}

/** Classes of distance; fewer where there are fewer than this many pairs to a class. */
const MOST_CLASSES = 20;
const LEAST_PAIRS = 25;
/** Of more pairs than this, every second, third, … is taken. */
const MOST_PAIRS = 1_000_000;
/** Distances that differ by less than this share of the longest are equal: 0.3 − 0.2 and 0.2 − 0.1 differ by rounding. */
const EQUAL = 1e-6;
/** v is at least this share of the variance of all values. */
const LEAST_SHARE = 1e-6;

/** The variogram of a cohort. */
export function variogramOf(cohort: Cohort): Variogram {
  const { values, marker } = onlyMarker(cohort);
  const y = values.map((v) => applyTransform(marker.transform, v));
  const { distance, square } = squaredDifferences(cohort, y);
  const n = distance.length;
  const order = Int32Array.from(distance, (_, k) => k).sort((a, b) => distance[a] - distance[b] || a - b);
  const numClasses = Math.min(MOST_CLASSES, Math.max(1, Math.floor(n / LEAST_PAIRS)));
  const pooled: { readonly h: number; readonly v: number; readonly size: number }[] = [];
  const equal = n > 0 ? EQUAL * distance[order[n - 1]] : 0;
  for (let c = 0, start = 0; c < numClasses; c++) {
    let end = Math.floor(((c + 1) * n) / numClasses);
    // Visits on a schedule: pairs at one distance must not be dealt out to several classes, of which the lowest v would count.
    while (end > start && end < n && distance[order[end]] - distance[order[end - 1]] <= equal) end++;
    if (end <= start && n > 0) continue;
    const part = order.subarray(start, end);
    start = end;
    const average = (x: Float64Array) => part.reduce((sum, k) => sum + x[k], 0) / Math.max(part.length, 1);
    let last = { h: average(distance), v: average(square), size: Math.max(part.length, 1) };
    // Pool adjacent violators: a class that is not above the one before is merged with it.
    while (pooled.length > 0 && pooled[pooled.length - 1].v >= last.v) {
      const before = pooled.pop()!;
      const size = before.size + last.size;
      const mean = (a: number, b: number) => (before.size * a + last.size * b) / size;
      last = { h: mean(before.h, last.h), v: mean(before.v, last.v), size };
    }
    pooled.push(last);
  }
  const least = Math.max(LEAST_SHARE * meanAndSd(y).sd ** 2, Number.MIN_VALUE);
  return {
    distances: Float64Array.from(pooled, ({ h }) => h),
    variances: Float64Array.from(pooled, ({ v }) => Math.max(v, least)),
  };
}

/** Distance in time and squared difference of pairs of visits of one individual. */
function squaredDifferences(cohort: Cohort, y: Float64Array) {
  const { offsets, times } = onlyMarker(cohort);
  let numPairs = 0;
  for (let i = 0; i < numIndividuals(cohort); i++) {
    const n = offsets[i + 1] - offsets[i];
    numPairs += (n * (n - 1)) / 2;
  }
  const stride = Math.ceil(numPairs / MOST_PAIRS);
  const distance = new Float64Array(Math.ceil(numPairs / Math.max(stride, 1)));
  const square = new Float64Array(distance.length);
  let pair = 0;
  for (let i = 0; i < numIndividuals(cohort); i++) {
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      for (let k = j + 1; k < offsets[i + 1]; k++, pair++) {
        if (pair % stride !== 0) continue;
        distance[pair / stride] = times[k] - times[j];
        square[pair / stride] = (y[k] - y[j]) ** 2;
      }
    }
  }
  return { distance, square };
}

/** v(h): linear between classes, constant beyond them. */
export function varianceAt({ distances, variances }: Variogram, h: number): number {
  const next = distances.findIndex((distance) => distance >= h);
  if (next === 0) return variances[0];
  if (next === -1) return variances[variances.length - 1];
  const share = (h - distances[next - 1]) / (distances[next] - distances[next - 1]);
  return variances[next - 1] + share * (variances[next] - variances[next - 1]);
}

/** N(last value known, v(horizon)). */
export function carriedForward(variogram: Variogram): Forecaster {
  return (cohort, tasks) => {
    const { offsets, times, values, marker } = onlyMarker(cohort);
    return (task) => {
      const { individual, known } = tasks[task];
      const last = offsets[individual] + known - 1;
      const mean = applyTransform(marker.transform, values[last]);
      return (observation) => normal(mean, Math.sqrt(varianceAt(variogram, times[observation] - times[last])));
    };
  };
}

/** log p(y_i) [m]: `first` [m] is that of the first visit, every other visit is given the one before. */
export function carriedLogLikelihoods(variogram: Variogram, cohort: Cohort, first: Float64Array): Float64Array {
  const { offsets, times, values, censored, marker } = onlyMarker(cohort);
  const y = values.map((v) => applyTransform(marker.transform, v));
  return first.map((start, i) => {
    let sum = start;
    for (let j = offsets[i] + 1; j < offsets[i + 1]; j++) {
      const step = normal(y[j - 1], Math.sqrt(varianceAt(variogram, times[j] - times[j - 1])));
      const side = censored?.[j] ?? 0;
      sum += side === 0 ? mixtureLogDensity(step, y[j]) : logBeyond(step, y[j], side);
    }
    return sum;
  });
}

function normal(mean: number, sd: number): NormalMixture {
  return { weights: Float64Array.of(1), means: Float64Array.of(mean), sds: Float64Array.of(sd) };
}
