/**
 * Measurement noise: the one place that knows what it is made of. The noise of an individual's observations is
 *   y_i − curve ~ N(0, s R_i),
 * with a correlation R_i by which statistics are whitened before a model sees them (B'R⁻¹B, B'R⁻¹y, y'R⁻¹y, log|R|) and a
 * level s, which models learn from sums of squares. White noise has R_i = I and log|R_i| = 0, and s is its variance σ².
 */

/** Independent noise of one variance for all. */
export interface WhiteNoise {
  readonly kind: "white";
  /** σ², on the scale of the model. */
  readonly variance: number;
}

export type Noise = WhiteNoise;

/** Independent noise of variance σ². */
export function whiteNoise(variance: number): Noise {
  return { kind: "white", variance };
}

/** s, the variance of whitened observations. */
export function noiseLevel(noise: Noise): number {
  return noise.variance;
}

/** The same noise at another level. */
export function withLevel(noise: Noise, level: number): Noise {
  return { ...noise, variance: level };
}

/** Variance of a new measurement about the curve. */
export function measurementVariance(noise: Noise): number {
  return noise.variance;
}

/** Standard deviation of a new measurement about the curve, on the scale of the model. */
export function measurementSd(noise: Noise): number {
  return Math.sqrt(measurementVariance(noise));
}
