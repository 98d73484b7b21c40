/**
 * What the data of one individual say about f at a node, with the residual effect e ~ N(0, Σ_e) integrated out
 * (docs/math/dtm.md §3). V = B Σ_e B' + σ²I is never formed: with Σ_e = LL' (lower triangular, singular allowed),
 *   σ²I + L'GL = MM' (Cholesky),   Y = M⁻¹L'G,   ζ = M⁻¹L'g,   g = B'(y − Bβ),   ρ = ‖y − Bβ‖²:
 *   G̃ = B'V⁻¹B = (G − Y'Y)/σ²,     g̃ = B'V⁻¹(y − Bβ) = (g − Y'ζ)/σ²,
 *   c = log N(y − Bβ | 0, V) = −½[n log 2π + (n − d) log σ² + 2 Σ log M_kk + (ρ − ζ'ζ)/σ²].
 * They are kept packed as one row of K = d + d(d+1)/2 numbers, g̃ then the upper triangle of G̃ by rows (and a zero where
 * that makes K even, for the kernels). O(d³) per individual, whatever the number of observations.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { type Noise, noiseConstants, noiseLevel } from "../../noise/noise.ts";
import { logDetFromCholesky, solveLowerInPlace, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { dot, multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";

/** The parameters on which the statistics of an individual depend. */
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

/** Length of a packed row: d + d(d+1)/2, made even. */
export function packedStride(d: number): number {
  const K = d + (d * (d + 1)) / 2;
  return K + (K % 2);
}

/** Statistics of one individual; letters as in the header. M, Y and ζ only with residual effects. */
export interface IndividualStatistics {
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly rho: number;
  readonly M: Float64Array; // [d,d]
  readonly Y: Float64Array; // [d,d]
  readonly zeta: Float64Array; // [d]
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
  const d = statistics.basis.numBasis;
  const sigma2 = noiseLevel(noise);
  const G = new Float64Array(d * d);
  const g = new Float64Array(d);
  unpackGram(statistics, individual, G);
  const rho = residualStatistics(statistics, individual, mean, g);
  const root = L ?? new Float64Array(d * d);
  const rootT = transpose(root, d, d);
  const Y = multiply(rootT, G, d, d, d);
  const M = multiply(Y, root, d, d, d);
  for (let k = 0; k < d; k++) M[k * d + k] += sigma2;
  factorAbove(M, d, sigma2);
  solveLowerMatrixInPlace(M, d, Y, d);
  const zeta = multiplyVector(rootT, g, d, d);
  solveLowerInPlace(M, d, zeta);
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
  const logDet = logDetFromCholesky(M, d) - d * Math.log(sigma2);
  const constant = noiseConstants(noise, statistics)(individual) - 0.5 * (logDet + (rho - dot(zeta, zeta)) / sigma2);
  return { G, g, rho, M, Y, zeta, constant, row };
}

/**
 * Cholesky factor of M, whose eigenvalues are at least `least`, in place. In exact arithmetic no pivot is below `least`; in
 * rounded arithmetic a noise-free cohort can bring one there.
 */
function factorAbove(M: Float64Array, d: number, least: number): void {
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let s = M[i * d + j];
      for (let k = 0; k < j; k++) s -= M[i * d + k] * M[j * d + k];
      M[i * d + j] = j < i ? s / M[j * d + j] : Math.sqrt(Math.max(s, least));
    }
    M.fill(0, i * d + i + 1, (i + 1) * d);
  }
}

/** The law of the residual effect given f: E(e | f, y) = h − T f, Cov(e | f, y) = C. */
export interface ConditionalResidual {
  readonly C: Float64Array; // [d,d]
  readonly T: Float64Array; // [d,d]
  readonly h: Float64Array; // [d]
}

/** With W = M⁻¹L':  C = σ² W'W,   T = C G/σ² = W'Y,   h = C g/σ² = W'ζ. */
export function conditionalResidual(
  { M, Y, zeta }: IndividualStatistics,
  L: Float64Array,
  sigma2: number,
): ConditionalResidual {
  const d = zeta.length;
  const W = transpose(L, d, d);
  solveLowerMatrixInPlace(M, d, W, d);
  const WT = transpose(W, d, d);
  return {
    C: multiply(WT, W, d, d, d).map((v) => sigma2 * v),
    T: multiply(WT, Y, d, d, d),
    h: multiplyVector(WT, zeta, d, d),
  };
}
