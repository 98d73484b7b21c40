/** Where map models start from: the linear mixed model and the reduced-rank model (FPCA) of the same statistics. */

import type { Noise } from "../noise/noise.ts";
import type { MeanFunction, MixedModelEffects } from "./fit.ts";

/** What the linear mixed model says of one marker. */
export interface MarkerStart {
  readonly mean: MeanFunction;
  readonly noise: Noise;
  /** Σ of its coefficients, [d,d]. */
  readonly covariance: Float64Array;
  /** γ [P,h] of covariates with effects in the mean. */
  readonly effects?: Float64Array;
}

export interface MapStart {
  readonly markers: readonly MarkerStart[];
  /** Effects of covariates in the mixed model with a mean curve, with how well they are known: beside those of the map, no start. */
  readonly mixedModel?: MixedModelEffects;
  /** Principal component scores of the mixed model's posterior means, unit variance (1/m), [m,q]; null where no start asks for them. */
  readonly scores: Float64Array | null;
  /** FPCA posterior of each place, N(x̂_i, C_i): [m,q] and [m,q,q]. */
  readonly locationMean: Float64Array;
  readonly locationCovariance: Float64Array;
  readonly warnings: readonly string[];
}

/** The start with the given index, in words: 0 the FPCA posterior, 1 principal component scores, from 2 on random places. */
export function startName(index: number): string {
  if (index === 0) return "principal components";
  return index === 1 ? "component scores" : `random places ${index - 1}`;
}
