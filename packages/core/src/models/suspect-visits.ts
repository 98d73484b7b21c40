/**
 * Visits that are probably wrong given what is usual (docs/math/noise.md §5): coefficients N(β, LL') and noise; a visit is wrong with
 * probability ε, and of every individual the sets of visits that may be wrong are weighed against each other. What is usual is said by
 * a mixed model (`suspectValues`) or, for individuals that a model is to place, by that model: the mean and covariance of coefficients
 * over all its places.
 */
import { type Basis, evaluateActive } from "../basis/bspline.ts";
import type { Cohort, MarkerSeries } from "../cohort/cohort.ts";
import { applyTransform, markerScale } from "../cohort/marker.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { candidateSets, GROSS_FACTOR, setLogDensities } from "../noise/gross.ts";
import { type Noise, noiseLevel } from "../noise/noise.ts";
import { filterVisits, UNCORRELATED, type VisitRows, whitenedProducts } from "../noise/serial.ts";
import { bilinear, dot, multiplyVector } from "../numeric/matrix.ts";
import { logSumExp } from "../numeric/special.ts";
import { semidefiniteRoot } from "../numeric/symmetric-eigen.ts";
import { partsFor } from "./covariate-model.ts";
import { coefficientMoments } from "./limit-prior.ts";
import { effectMoments, gaussianEffect, levelLogDensities, type Observations } from "./mixture/effect.ts";
import type { TrajectoryModel } from "./model.ts";
import type { SuspectValue } from "./placement.ts";

/** ε, the share of wrong values before looking, and the probability from which on a value is told. */
export const WRONG_SHARE = 0.01;
export const LEAST_PROBABILITY = 0.5;

/** What is usual of a marker. */
export interface UsualCourses {
  readonly basis: Basis;
  /** β [d]. */
  readonly mean: Float64Array;
  /** L [d,d]. */
  readonly factor: Float64Array;
  readonly noise: Noise;
}

export interface WrongVisit {
  /** Place among the observations of the marker. */
  readonly at: number;
  readonly suspect: SuspectValue;
}

/**
 * Values of individuals that are to be placed which are wrong with a probability of a half or more, by marker, individual and time: far from
 * what the individual's other values and the courses of the model let expect. They are placed as they are.
 * @example
 * for (const { id, time, value, expected } of suspectVisits(model, cohort)) console.log(id, time, value, expected);
 */
export function suspectVisits(model: TrajectoryModel, cohort: Cohort): SuspectValue[] {
  return model.markers.flatMap(({ marker }, k) => {
    const own =
      model.markers.length === 1 ? 0 : cohort.markers.findIndex((series) => series.marker.name === marker.name);
    if (own < 0 || cohort.markers[own].times.length === 0) return [];
    const { basis, noise } = model.markers[k];
    const { shift, factor } = usualEffects(model, k);
    const partOf = partsFor(model, cohort, k);
    const usualFor = (i: number) => {
      const { coefficients } = partOf(i).mean;
      return { basis, noise, factor, mean: coefficients.map((v, a) => v + shift[a]) };
    };
    const found = wrongVisits(markerCohort(cohort, own), usualFor, WRONG_SHARE, LEAST_PROBABILITY);
    return found.map(({ suspect }) => suspect);
  });
}

/** Mean and root of the covariance of coefficients about the model's mean. */
type UsualEffects = { readonly shift: Float64Array; readonly factor: Float64Array };

/** Of each marker, kept as long as the model is at hand. A cache, nothing more. */
const kept = new WeakMap<object, Map<number, UsualEffects>>();

/** Of marker k of a model, over all its places. */
export function usualEffects(model: TrajectoryModel, k: number): UsualEffects {
  const ofMarkers = kept.get(model) ?? new Map<number, UsualEffects>();
  kept.set(model, ofMarkers);
  const known = ofMarkers.get(k);
  if (known !== undefined) return known;
  const d = model.markers[k].basis.numBasis;
  const { shift, covariance } = coefficientMoments(model, k, d);
  const made = { shift, factor: semidefiniteRoot(covariance, d) };
  ofMarkers.set(k, made);
  return made;
}

/** Visits of all individuals that are wrong with at least that probability. */
export function wrongVisits(
  cohort: Cohort,
  usualFor: (i: number) => UsualCourses,
  epsilon: number,
  least: number,
): WrongVisit[] {
  const [series] = cohort.markers;
  const scale = markerScale(series.marker);
  return cohort.ids.flatMap((id, i) => {
    const { basis, mean: beta, factor, noise } = usualFor(i);
    const d = basis.numBasis;
    const sigma2 = noiseLevel(noise);
    const visits = visitRows(series, basis, i);
    const n = visits.times.length;
    if (n === 0) return [];
    const observed = (products: Float64Array, logDet: number) => observationsOf(products, logDet, n, beta, sigma2);
    const evidence = (products: Float64Array, logDet: number) =>
      logSumExp(levelLogDensities(observed(products, logDet), factor, noise));
    /** Coefficients of the individual's course, given visits of these weights. */
    const courseGiven = (weights: Float64Array) => {
      const { products, logDet } = whitenedProducts(filterVisits({ ...visits, weights }, UNCORRELATED));
      const effect = gaussianEffect(observed(products, logDet), factor);
      return effectMoments(effect, sigma2).mean.map((w, a) => beta[a] + w);
    };
    const sets = candidateSets(visits, UNCORRELATED, courseGiven(new Float64Array(n).fill(1)), epsilon, evidence);
    if (sets.length === 1) return [];
    const joint = setLogDensities(visits, UNCORRELATED, epsilon, sets, evidence);
    const total = logSumExp(joint);
    const likeliest = sets[joint.indexOf(joint.reduce((a, b) => Math.max(a, b)))];
    return Array.from({ length: n }, (_, j) => j).flatMap((j) => {
      const holding = joint.filter((_, a) => sets[a].includes(j));
      const probability = holding.length === 0 ? 0 : Math.exp(logSumExp(holding) - total);
      const at = series.offsets[i] + j;
      // Of a limit it is not known how far the value is beyond it.
      if (!(probability >= least) || (series.censored?.[at] ?? 0) !== 0) return [];
      // What is expected rests on the visits that are right, this one apart.
      const weights = Float64Array.from({ length: n }, (_, v) =>
        v === j || likeliest.includes(v) ? 1 / GROSS_FACTOR : 1,
      );
      const b = visits.rows.subarray(j * (d + 1), j * (d + 1) + d);
      const expected = scale(dot(b, courseGiven(weights)));
      const measured = { time: series.times[at], value: series.values[at] };
      return [{ at, suspect: { id, marker: series.marker.name, ...measured, expected, probability } }];
    });
  });
}

/** Rows (b(t), y) of an individual's visits, y on the scale of the model. */
function visitRows({ marker, offsets, times, values }: MarkerSeries, basis: Basis, i: number): VisitRows {
  const c = basis.numBasis + 1;
  const [from, to] = [offsets[i], offsets[i + 1]];
  const rows = new Float64Array((to - from) * c);
  const active = new Float64Array(basis.degree + 1);
  for (let j = from; j < to; j++) {
    const first = evaluateActive(basis, times[j], active);
    rows.set(active, (j - from) * c + first);
    rows[(j - from + 1) * c - 1] = applyTransform(marker.transform, values[j]);
  }
  return { times: times.subarray(from, to), rows };
}

/** Statistics about the curve with coefficients β from the products of rows (b, y). */
function observationsOf(
  products: Float64Array,
  logDet: number,
  n: number,
  beta: Float64Array,
  sigma2: number,
): Observations {
  const d = beta.length;
  const c = d + 1;
  const G = Float64Array.from({ length: d * d }, (_, e) => products[Math.floor(e / d) * c + (e % d)]);
  const cross = Float64Array.from({ length: d }, (_, a) => products[a * c + d]);
  const fitted = multiplyVector(G, beta, d, d);
  const g = cross.map((v, a) => v - fitted[a]);
  const rho = Math.max(products[c * c - 1] - 2 * dot(cross, beta) + bilinear(beta, G, beta), 0);
  return { n, G, g, rho, sigma2, noiseConstant: -0.5 * (n * Math.log(2 * Math.PI * sigma2) + logDet) };
}
