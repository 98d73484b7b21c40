/**
 * What the data of one individual say about f at a node, with the residual effect e ~ N(0, Σ_e) integrated out
 * (docs/math/dtm.md §3). V = B Σ_e B' + σ²I is never formed: with Σ_e = LL' (singular allowed), W = M⁻¹L' and ζ = Wg of
 * mixture/effect.ts, Y = WG, g = B'(y − Bβ),
 *   G̃ = B'V⁻¹B = (G − Y'Y)/σ²,     g̃ = B'V⁻¹(y − Bβ) = (g − Y'ζ)/σ²,     c = log N(y − Bβ | 0, V).
 * They are kept packed as one row of K = d + d(d+1)/2 numbers, g̃ then the upper triangle of G̃ by rows (and a zero where
 * that makes K even, for the kernels). O(d³) per individual, whatever the number of observations.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import type { Noise } from "../../noise/noise.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import { packedStride } from "../../wasm/tiles.ts";
import {
  effectMoments,
  type GaussianEffect,
  gaussianEffect,
  type Observations,
  observationsOf,
} from "../mixture/effect.ts";

export { packedStride };

/** The parameters on which the statistics of an individual depend, of one marker. */
export interface IndividualModel {
  /** β, coefficients of the population mean curve, [d]. */
  readonly mean: Float64Array;
  readonly noise: Noise;
  /** L with Σ_e = LL', lower triangular [d,d] (`residualRoot`); null without residual effects. */
  readonly residualRoot: Float64Array | null;
}

/**
 * A lower triangular root of a positive semidefinite Σ_e [d,d]: Cholesky in which a pivot lost to rounding (below 1e-14
 * of the largest diagonal entry) leaves a column of zeros.
 */
export function residualRoot(covariance: Float64Array, d: number): Float64Array {
  const L = new Float64Array(d * d);
  let largest = 0;
  for (let k = 0; k < d; k++) largest = Math.max(largest, covariance[k * d + k]);
  for (let b = 0; b < d; b++) {
    for (let a = b; a < d; a++) {
      let s = covariance[a * d + b];
      for (let c = 0; c < b; c++) s -= L[a * d + c] * L[b * d + c];
      if (a === b) L[a * d + a] = s > 1e-14 * largest ? Math.sqrt(s) : 0;
      else L[a * d + b] = L[b * d + b] > 0 ? s / L[b * d + b] : 0;
    }
  }
  return L;
}

/** Statistics of one individual; letters as in the header. */
export interface IndividualStatistics extends Observations, Pick<GaussianEffect, "W" | "zeta"> {
  readonly Y: Float64Array; // [d,d]
  /** c. */
  readonly constant: number;
  /** (g̃, G̃), [K]. */
  readonly row: Float64Array;
}

/** The statistics of one individual under a model. */
export function individualStatistics(
  statistics: BasisStatistics,
  individual: number,
  { mean, noise, residualRoot: L }: IndividualModel,
): IndividualStatistics {
  const d = mean.length;
  const own = observationsOf(statistics, individual, mean, noise);
  const { G, g, sigma2 } = own;
  const { W, zeta, logDensity } = gaussianEffect(own, L ?? new Float64Array(d * d));
  const Y = multiply(W, G, d, d, d);
  const row = new Float64Array(packedStride(d));
  for (let k = 0, e = d; k < d; k++) {
    row[k] = g[k];
    for (let a = 0; a < d; a++) row[k] -= Y[a * d + k] * zeta[a];
    row[k] /= sigma2;
    for (let l = k; l < d; l++, e++) {
      row[e] = G[k * d + l];
      for (let a = 0; a < d; a++) row[e] -= Y[a * d + k] * Y[a * d + l];
      row[e] /= sigma2;
    }
  }
  return { ...own, W, zeta, Y, constant: logDensity, row };
}

/** (g̃, G̃) packed, from g̃ [d] and G̃ [d,d]. */
export function packedRow(cross: Float64Array, gram: Float64Array): Float64Array {
  const d = cross.length;
  const row = new Float64Array(packedStride(d));
  row.set(cross);
  for (let k = 0, e = d; k < d; k++) for (let l = k; l < d; l++) row[e++] = gram[k * d + l];
  return row;
}

/** The law of the residual effect given f: E(e | f, y) = h − T f, Cov(e | f, y) = C. */
export interface ConditionalResidual {
  readonly C: Float64Array; // [d,d]
  readonly T: Float64Array; // [d,d]
  readonly h: Float64Array; // [d]
}

/** C = σ² W'W,   T = C G/σ² = W'Y,   h = C g/σ² = W'ζ. */
export function conditionalResidual(own: IndividualStatistics): ConditionalResidual {
  const d = own.zeta.length;
  const { mean, covariance } = effectMoments(own, own.sigma2);
  return { C: covariance, T: multiply(transpose(own.W, d, d), own.Y, d, d, d), h: mean };
}
