/**
 * One-dimensional mixtures of normals, the predictive distribution of a value at one time:
 *   F(y) = Σ_k w_k Φ((y − m_k)/s_k).
 * Moments and density in closed form; quantiles by safeguarded Newton steps on F.
 */
import { addNormals } from "../../numeric/normal-sums.ts";
import { LOG_2PI, normalCdf, normalQuantile } from "../../numeric/special.ts";
import { groupComponents } from "./group-components.ts";

export interface NormalMixture {
  /** Weights, summing to one, [K]. */
  readonly weights: Float64Array;
  readonly means: Float64Array;
  /** Standard deviations, positive. */
  readonly sds: Float64Array;
}

export function mixtureMean(mixture: NormalMixture): number {
  let s = 0;
  for (let k = 0; k < mixture.weights.length; k++) s += mixture.weights[k] * mixture.means[k];
  return s;
}

export function mixtureVariance(mixture: NormalMixture): number {
  const mean = mixtureMean(mixture);
  let s = 0;
  for (let k = 0; k < mixture.weights.length; k++) {
    const e = mixture.means[k] - mean;
    s += mixture.weights[k] * (e * e + mixture.sds[k] * mixture.sds[k]);
  }
  return s;
}

/** P(Y ≤ y). */
export function mixtureCdf(mixture: NormalMixture, y: number): number {
  let s = 0;
  for (let k = 0; k < mixture.weights.length; k++) {
    s += mixture.weights[k] * normalCdf((y - mixture.means[k]) / mixture.sds[k]);
  }
  return s;
}

/** log density at y, by log-sum-exp, so that far tails stay finite. */
export function mixtureLogDensity(mixture: NormalMixture, y: number): number {
  const { weights, means, sds } = mixture;
  let max = Number.NEGATIVE_INFINITY;
  const term = (k: number): number => {
    const z = (y - means[k]) / sds[k];
    return Math.log(weights[k]) - 0.5 * z * z - Math.log(sds[k]);
  };
  for (let k = 0; k < weights.length; k++) max = Math.max(max, term(k));
  let s = 0;
  for (let k = 0; k < weights.length; k++) s += Math.exp(term(k) - max);
  return max + Math.log(s) - 0.5 * LOG_2PI;
}

/** The y with F(y) = p, to 1e-9 of the mixture's spread. */
export function mixtureQuantile(mixture: NormalMixture, p: number): number {
  return mixtureQuantiles(mixture, [p])[0];
}

/** Components from which on a smaller mixture is asked first where the quantile is. */
const MANY_COMPONENTS = 100;

/** The y with F(y) = p for each p, to 1e-9 of the mixture's spread. */
export function mixtureQuantiles(mixture: NormalMixture, probabilities: readonly number[]): Float64Array {
  const center = mixtureMean(mixture);
  const spread = Math.sqrt(mixtureVariance(mixture));
  const grouped = mixture.weights.length >= MANY_COMPONENTS ? groupComponents(mixture) : mixture;
  return Float64Array.from(probabilities, (p) => {
    const guess = center + normalQuantile(p) * spread;
    const near = grouped === mixture ? guess : solveQuantile(grouped, p, guess, spread, 1e-5);
    return solveQuantile(mixture, p, near, spread, 1e-9);
  });
}

/** The y with F(y) = p by guarded Newton steps from `start`, to `accuracy` times `spread`. */
function solveQuantile(mixture: NormalMixture, p: number, start: number, spread: number, accuracy: number): number {
  const { weights, means, sds } = mixture;
  const z = normalQuantile(p);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let smallest = Number.POSITIVE_INFINITY;
  // The quantile lies between the smallest and the largest component quantile.
  for (let k = 0; k < weights.length; k++) {
    const s = sds[k];
    const y = means[k] + z * s;
    if (y < low) low = y;
    if (y > high) high = y;
    if (s < smallest) smallest = s;
  }
  const sums = new Float64Array(2);
  const tolerance = accuracy * spread;
  // A Newton step δ leaves an error of ½|f'/f|δ², and |f'/f| is at most 8 over the smallest sd (see `addNormals`).
  const lastStep = Math.max(tolerance, Math.min(Math.sqrt(0.25 * tolerance * smallest), 1e-3 * smallest));
  let y = Math.min(Math.max(start, low), high);
  for (let step = 0; step < 200 && high - low > tolerance; step++) {
    addNormals(weights, means, sds, y, sums);
    const excess = sums[0] - p;
    if (excess > 0) high = y;
    else low = y;
    const newton = excess / sums[1];
    const next = y - newton;
    if (Math.abs(newton) <= lastStep) return next;
    y = next > low && next < high ? next : 0.5 * (low + high);
  }
  return y;
}

/**
 * Continuous ranked probability score of an observation y (smaller is better), closed form for normal mixtures
 * (Grimit et al. 2006): E|Y − y| − ½ E|Y − Y'|, with A(m, s) = m(2Φ(m/s) − 1) + 2sφ(m/s).
 */
export function mixtureCrps(mixture: NormalMixture, y: number): number {
  const { weights, means, sds } = mixture;
  let first = 0;
  let second = 0;
  for (let k = 0; k < weights.length; k++) {
    first += weights[k] * foldedMean(y - means[k], sds[k]);
    for (let l = 0; l <= k; l++) {
      const pair = foldedMean(means[k] - means[l], Math.hypot(sds[k], sds[l]));
      second += (k === l ? 1 : 2) * weights[k] * weights[l] * pair;
    }
  }
  return first - 0.5 * second;
}

/** E|X| for X ~ N(m, s²). */
function foldedMean(m: number, s: number): number {
  const z = m / s;
  return m * (2 * normalCdf(z) - 1) + 2 * s * Math.exp(-0.5 * z * z - 0.5 * LOG_2PI);
}

/** The mixture without components lighter than `minWeight`, renormalised. */
export function pruneMixture(mixture: NormalMixture, minWeight: number): NormalMixture {
  const kept: number[] = [];
  let total = 0;
  for (let k = 0; k < mixture.weights.length; k++) {
    if (mixture.weights[k] >= minWeight) {
      kept.push(k);
      total += mixture.weights[k];
    }
  }
  return {
    weights: Float64Array.from(kept, (k) => mixture.weights[k] / total),
    means: Float64Array.from(kept, (k) => mixture.means[k]),
    sds: Float64Array.from(kept, (k) => mixture.sds[k]),
  };
}
