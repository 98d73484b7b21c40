/**
 * The distribution of a linear functional b'(β + w) of an individual's curve under its posterior: value at a time
 * (b = basis row) or slope (b = derivative row), with or without the variance of a measurement added.
 */
import { type FilteredVisits, laterNoise, type SerialCorrelation } from "../../noise/serial.ts";
import type { NormalMixture } from "./normal-mixture.ts";
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";

/** Normals have a density. */
const LEAST_SD = Math.sqrt(Number.MIN_VALUE);

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
): NormalMixture {
  const d = meanCoefficients.length;
  const level = functionalMean(rows, offset, meanCoefficients, 0, d);
  return {
    weights: shares,
    means: shares.map((_, k) => level + functionalMean(rows, offset, m, k * d, d)),
    sds: noiseVariances.map((noise, k) =>
      Math.max(functionalSd(rows, offset, S, k * d * d, d, measured ? noise : 0), LEAST_SD),
    ),
  };
}

/**
 * The distribution of a measurement a `gap` after the last of the visits, whose rows were (b, …, y), under noise with serial
 * correlation: with φ, m and P of noise/serial.ts and b* = b − φm^B,
 *   y ~ N(b*'(β + w) + φm^y, s[φ²P + (1 − κ)(1 − φ²) + κ])  in each component.
 */
export function laterMeasurement(
  posterior: Omit<CoefficientPosterior, keyof PlacePosterior>,
  meanCoefficients: Float64Array,
  b: Float64Array,
  visits: FilteredVisits,
  correlation: SerialCorrelation,
  gap: number,
): NormalMixture {
  const { carry, variance } = laterNoise(visits, correlation, gap);
  const known = visits.lastMean;
  const row = b.map((v, k) => v - carry * known[k]);
  const noiseVariances = posterior.noiseVariances.map((s) => s * variance);
  const own = functionalDistribution({ ...posterior, noiseVariances }, meanCoefficients, row, 0, true);
  return { ...own, means: own.means.map((v) => v + carry * known[known.length - 1]) };
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
