/**
 * The distribution of a linear functional b'(β + w) of an individual's curve under its posterior: value at a time
 * (b = basis row) or slope (b = derivative row), with or without the variance of a measurement added.
 */
import type { NormalMixture } from "./normal-mixture.ts";
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";

/** Normals have a density. */
const LEAST_SD = Math.sqrt(Number.MIN_VALUE);

/** What is known of the noise of a new measurement beside the level: its mean, and its variance over that of the level. */
export interface GivenMeasurement {
  readonly shift: number;
  readonly variance: number;
}

/** A measurement that is independent of those seen. */
export const INDEPENDENT: GivenMeasurement = { shift: 0, variance: 1 };

/**
 * Mixture of N(b'(β + m_k), b'S_k b + noise) over the posterior's components, with the noise of the component where a new
 * measurement is asked for; b at rows[offset..offset+d).
 */
export function functionalDistribution(
  { shares, noiseVariances, means: m, covariances: S }: Omit<CoefficientPosterior, keyof PlacePosterior>,
  meanCoefficients: Float64Array,
  rows: Float64Array,
  offset: number,
  measured: boolean,
  { shift, variance }: GivenMeasurement = INDEPENDENT,
): NormalMixture {
  const d = meanCoefficients.length;
  const level = functionalMean(rows, offset, meanCoefficients, 0, d) + shift;
  return {
    weights: shares,
    means: shares.map((_, k) => level + functionalMean(rows, offset, m, k * d, d)),
    sds: noiseVariances.map((noise, k) =>
      Math.max(functionalSd(rows, offset, S, k * d * d, d, measured ? noise * variance : 0), LEAST_SD),
    ),
  };
}

/** b'w for the row b at `from` and the coefficients at `start`, d numbers each. */
export function functionalMean(b: Float64Array, from: number, w: Float64Array, start: number, d: number): number {
  let s = 0;
  for (let k = 0; k < d; k++) s += b[from + k] * w[start + k];
  return s;
}

/** √(b'Sb + added variance) for the row b at `from` and S [d,d] at `start`. */
export function functionalSd(
  b: Float64Array,
  from: number,
  S: Float64Array,
  start: number,
  d: number,
  addedVariance = 0,
): number {
  let s = addedVariance;
  for (let k = 0; k < d; k++) {
    // Few splines are above zero at one time.
    if (b[from + k] !== 0) s += b[from + k] * functionalMean(b, from, S, start + k * d, d);
  }
  return Math.sqrt(Math.max(s, 0));
}
