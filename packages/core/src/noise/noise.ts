/**
 * Measurement noise: the one place that knows what it is made of. The noise of an individual's observations is
 *   y_i − curve ~ N(0, s_i R_i),   s_i = σ²λ_i,
 * with a correlation R_i by which statistics are whitened before a model sees them (B'R⁻¹B, B'R⁻¹y, y'R⁻¹y, log|R|) and a
 * level s_i. White noise has R_i = I, log|R_i| = 0 and s_i = σ² for all; noise with levels has log λ_i ~ N(0, ω²), on a grid
 * (levels.ts). Models carry a `Noise`; formulas and kernels take σ², the level of an individual in the middle, as a number, and
 * `noiseLevels` where individuals differ.
 *
 * A fit takes its first noise from the statistics (`BasisStatistics.noise`), and new individuals are whitened by that of the
 * model. Another kind of noise touches this file; basis/statistics.ts, which whitens and keeps log|R_i|; models/choose-noise.ts,
 * where a fit chooses it; models/saving/file-schema.ts, its form in a file; models/predicting/measurements.ts, for a new
 * measurement that is not independent of those seen (CONTRIBUTING.md).
 */
import type { Random } from "../numeric/random.ts";
import { LOG_2PI } from "../numeric/special.ts";
import { levelsOf, type NoiseLevels } from "./levels.ts";
import type { LimitPrior } from "./limits.ts";
import { drawSerial, type SerialCorrelation } from "./serial.ts";

/** What noise may be made of: a level for each individual, and correlation between neighbouring visits. */
export const NOISE_KINDS = ["white", "level", "serial", "level+serial"] as const;
export type NoiseKind = (typeof NOISE_KINDS)[number];

/** What a fit is asked for: a kind of noise, or the one that the data ask for (models/choose-noise.ts). */
export const NOISE_CHOICES = [...NOISE_KINDS, "auto"] as const;
export type NoiseChoice = (typeof NOISE_CHOICES)[number];

/** Noise N(0, σ²λ_iR_i) of the observations of individual i. */
export interface Noise {
  readonly kind: NoiseKind;
  /** σ², on the scale of the model; with levels, of an individual in the middle. */
  readonly variance: number;
  /** ω with log λ_i ~ N(0, ω²), where there are levels. */
  readonly spread?: number;
  /** Of R_i, where visits correlate. */
  readonly correlation?: SerialCorrelation;
  /** What values below or above a limit are read under, where the fit saw some. */
  readonly limits?: LimitPrior;
  /** Why this kind was taken, in a sentence, where a fit chose it. */
  readonly reason?: string;
}

/** Independent noise of variance σ². */
export function whiteNoise(variance: number): Noise {
  return { kind: "white", variance };
}

/** Noise of variance σ²λ_i with log λ_i ~ N(0, ω²), one level for ω = 0; with a correlation of visits, if there is one. */
export function levelNoise(variance: number, spread: number, correlation?: SerialCorrelation): Noise {
  return {
    kind: kindOf(spread > 0, correlation !== undefined),
    variance,
    ...(spread > 0 ? { spread } : {}),
    ...(correlation === undefined ? {} : { correlation }),
  };
}

function kindOf(levels: boolean, serial: boolean): NoiseKind {
  if (serial) return levels ? "level+serial" : "serial";
  return levels ? "level" : "white";
}

/** ω; 0 where all have one level. */
export function noiseSpread(noise: Noise): number {
  return noise.spread ?? 0;
}

/**
 * Why log p(y_i) is approximate: a site stands for every value beyond a limit (limits.ts), which is exact for one of an individual alone; with
 * levels these sites are in addition those of the expected level, kept at all.
 */
export type Approximation = "limits" | "levels";

/** Null where log p(y_i) is exact. */
export function approximationOf({ limits, spread = 0 }: Noise): Approximation | null {
  if (limits === undefined) return null;
  return spread > 0 ? "levels" : "limits";
}

export function isApproximate(noise: Noise): boolean {
  return approximationOf(noise) !== null;
}

/** The levels s_k = σ² exp(ωz_k) with their weights; one for white noise. */
export function noiseLevels(noise: Noise): NoiseLevels {
  return levelsOf(noise.variance, noiseSpread(noise));
}

/** σ², the variance of whitened observations (of middle level). */
export function noiseLevel(noise: Noise): number {
  return noise.variance;
}

/** The same noise at another level. */
export function withLevel(noise: Noise, level: number): Noise {
  return { ...noise, variance: level };
}

/** Bounds of ω: below, levels are one; where it reaches the upper one, some values are probably wrong. */
export const LOWEST_LOG_SPREAD = Math.log(0.02);
export const HIGHEST_LOG_SPREAD = Math.log(2.5);
/** ω before anything is learned of it. */
const FIRST_SPREAD = 0.5;

/** The noise before a fit has learned its level and spread. */
export function firstNoise(kind: NoiseKind, correlation?: SerialCorrelation): Noise {
  return levelNoise(1, kind.startsWith("level") ? FIRST_SPREAD : 0, correlation);
}

/** The same noise with another spread, within its bounds; white noise has none. */
export function withSpread(noise: Noise, spread: number): Noise {
  if (noise.spread === undefined) return noise;
  const [lowest, highest] = [LOWEST_LOG_SPREAD, HIGHEST_LOG_SPREAD].map(Math.exp);
  return { ...noise, spread: Math.min(Math.max(spread, lowest), highest) };
}

/** The noise of values multiplied by `factor`. */
export function scaleNoise(noise: Noise, factor: number): Noise {
  return withLevel(noise, noiseLevel(noise) * factor * factor);
}

/** What is known of the level before: `count` observations with a mean square of `level` (none: count 0). */
export interface NoisePrior {
  readonly count: number;
  readonly level: number;
}

export const NO_NOISE_PRIOR: NoisePrior = { count: 0, level: 0 };

/** −½ count (r − 1 − log r) with r = level/s: the prior's log-density relative to its highest, so never above 0. */
export function logNoisePrior(noise: Noise, { count, level }: NoisePrior): number {
  if (count === 0) return 0;
  const r = level / noiseLevel(noise);
  return -0.5 * count * (r - 1 - Math.log(r));
}

/**
 * The noise learned from Σ (whitened residual)² of `count` observations: its level moves by the share `rate` towards their
 * mean square, not below `lowest`; the prior's observations count as well.
 */
export function learnNoise(
  noise: Noise,
  squares: number,
  count: number,
  lowest: number,
  rate = 1,
  prior: NoisePrior = NO_NOISE_PRIOR,
): Noise {
  const level = noiseLevel(noise);
  const target = (squares + prior.count * prior.level) / (count + prior.count);
  return withLevel(noise, Math.max(rate === 1 ? target : level + rate * (target - level), lowest));
}

/** Longest step of log ω. */
const LONGEST_STEP = 0.5;

/**
 * Noise with levels learned from slopes of the log-density of `count` observations: σ² as `learnNoise` does, since the expected
 * squares over s are count + 2 × slope, and log ω by the share `rate` of 2/(count ω²) times its slope, at most 0.5.
 */
export function learnLevels(
  noise: Noise,
  slopes: { readonly logVariance: number; readonly logSpread: number },
  count: number,
  lowest: number,
  rate = 1,
  prior: NoisePrior = NO_NOISE_PRIOR,
): Noise {
  const squares = (count + 2 * slopes.logVariance) * noiseLevel(noise);
  const spread = noiseSpread(noise);
  const step = (2 * slopes.logSpread) / (count * spread * spread);
  const learned = learnNoise(noise, squares, count, lowest, rate, prior);
  return withSpread(learned, spread * Math.exp(rate * Math.min(Math.max(step, -LONGEST_STEP), LONGEST_STEP)));
}

/** ∂/∂log s of the log-density of `count` observations whose whitened residuals have these expected squares, and of the prior. */
export function noiseSlope(noise: Noise, squares: number, count: number, prior = NO_NOISE_PRIOR): number {
  return 0.5 * ((squares + prior.count * prior.level) / noiseLevel(noise) - count - prior.count);
}

/** What is read of `BasisStatistics`. */
interface NoiseStatistics {
  readonly counts: ArrayLike<number>; // n_i
  readonly logDets: ArrayLike<number>; // log|R_i|
}

/** i ↦ −½[n log 2π + n log σ² + log|R|] of individual i: log N(r | 0, σ²R) but for −½ r'R⁻¹r/σ². */
export function noiseConstants(noise: Noise, { counts, logDets }: NoiseStatistics): (i: number) => number {
  const each = -0.5 * (LOG_2PI + Math.log(noiseLevel(noise)));
  return (i) => counts[i] * each - 0.5 * logDets[i];
}

/** Variance of a new measurement about the curve, for an individual of middle level. */
export function measurementVariance(noise: Noise): number {
  return noise.variance;
}

/** Standard deviation of a new measurement about the curve, for an individual of middle level, on the scale of the model. */
export function measurementSd(noise: Noise): number {
  return Math.sqrt(measurementVariance(noise));
}

/** The noise of one individual's observations at the given times, in order, drawn. */
export function drawNoise(noise: Noise, times: Float64Array, random: Random): Float64Array {
  const { variances, logWeights } = noiseLevels(noise);
  const level = variances.length === 1 ? 0 : random.categorical(logWeights.map(Math.exp));
  const sd = Math.sqrt(variances[level]);
  if (noise.correlation !== undefined) return drawSerial(noise.correlation, times, random).map((v) => sd * v);
  return times.map(() => sd * random.normal());
}
