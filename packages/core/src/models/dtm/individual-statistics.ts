/**
 * What the data of one individual say about f at a node, with the residual effect e ~ N(0, Σ_e) integrated out
 * (docs/math/dtm.md §3). V = B Σ_e B' + σ²I is never formed: with Σ_e = LL' (lower triangular, singular allowed),
 *   σ²I + L'GL = MM' (Cholesky),   Y = M⁻¹L'G,   ζ = M⁻¹L'g,   g = B'(y − Bβ),   ρ = ‖y − Bβ‖²:
 *   G̃ = B'V⁻¹B = (G − Y'Y)/σ²,     g̃ = B'V⁻¹(y − Bβ) = (g − Y'ζ)/σ²,
 *   c = log N(y − Bβ | 0, V) = −½[n log 2π + (n − d) log σ² + 2 Σ log M_kk + (ρ − ζ'ζ)/σ²].
 * They are kept packed as one row of K = d + d(d+1)/2 numbers, g̃ then the upper triangle of G̃ by rows, padded with
 * zeros to a multiple of four. O(d³) per individual, whatever the number of observations.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { paddedRows } from "../../numeric/row-blocks.ts";
import { LOG_2PI } from "../../numeric/special.ts";

/** The parameters on which the statistics of an individual depend. */
export interface IndividualModel {
  /** β, coefficients of the population mean curve, [d]. */
  readonly mean: Float64Array;
  /** σ². */
  readonly noiseVariance: number;
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

/** Length of a packed row, padding included. */
export function packedStride(d: number): number {
  return paddedRows(d + (d * (d + 1)) / 2);
}

/** Scratch of one individual; letters as in the header. */
export interface IndividualWorkspace {
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly Y: Float64Array; // [d,d]
  readonly M: Float64Array; // [d,d]
  readonly zeta: Float64Array; // [d]
  readonly W: Float64Array; // [d,d], M⁻¹L'
  rho: number;
}

/** Scratch for d coefficients. */
export function individualWorkspace(d: number): IndividualWorkspace {
  const square = () => new Float64Array(d * d);
  return {
    G: square(),
    g: new Float64Array(d),
    Y: square(),
    M: square(),
    zeta: new Float64Array(d),
    W: square(),
    rho: 0,
  };
}

/** Writes g̃ and G̃ of one individual to out[offset..] and returns c. Leaves G, g, ρ, M, Y, ζ in the workspace. */
export function packIndividual(
  statistics: BasisStatistics,
  individual: number,
  model: IndividualModel,
  ws: IndividualWorkspace,
  out: Float64Array,
  offset: number,
): number {
  const { G, g, Y, zeta } = ws;
  const d = statistics.basis.numBasis;
  const n = statistics.counts[individual];
  const sigma2 = model.noiseVariance;
  unpackGram(statistics, individual, G);
  const rho = residualStatistics(statistics, individual, model.mean, g);
  ws.rho = rho;
  const scale = 1 / sigma2;
  let o = offset + d;
  if (model.residualRoot === null) {
    for (let k = 0; k < d; k++) {
      out[offset + k] = g[k] * scale;
      for (let l = k; l < d; l++) out[o++] = G[k * d + l] * scale;
    }
    return -0.5 * (n * (LOG_2PI + Math.log(sigma2)) + rho * scale);
  }
  const logDet = whiten(model.residualRoot, sigma2, d, ws);
  let explained = 0;
  for (let k = 0; k < d; k++) {
    explained += zeta[k] * zeta[k];
    let s = g[k];
    for (let a = 0; a < d; a++) s -= Y[a * d + k] * zeta[a];
    out[offset + k] = s * scale;
    for (let l = k; l < d; l++) {
      let t = G[k * d + l];
      for (let a = 0; a < d; a++) t -= Y[a * d + k] * Y[a * d + l];
      out[o++] = t * scale;
    }
  }
  return -0.5 * (n * LOG_2PI + (n - d) * Math.log(sigma2) + logDet + (rho - explained) * scale);
}

/** Fills M, Y and ζ from G and g for a lower triangular L; returns 2 Σ log M_kk. */
function whiten(L: Float64Array, sigma2: number, d: number, ws: IndividualWorkspace): number {
  const { G, g, Y, M, zeta } = ws;
  // Y = L'G, ζ = L'g, M = σ²I + YL (lower half).
  for (let a = 0; a < d; a++) {
    const row = a * d;
    let z = 0;
    for (let k = a; k < d; k++) z += L[k * d + a] * g[k];
    zeta[a] = z;
    for (let l = 0; l < d; l++) {
      let s = 0;
      for (let k = a; k < d; k++) s += L[k * d + a] * G[k * d + l];
      Y[row + l] = s;
    }
    for (let b = 0; b <= a; b++) {
      let s = 0;
      for (let l = b; l < d; l++) s += Y[row + l] * L[l * d + b];
      M[row + b] = s;
    }
    M[row + a] += sigma2;
  }
  // Row by row: factor M, then Y ← M⁻¹Y and ζ ← M⁻¹ζ.
  let product = 1;
  for (let a = 0; a < d; a++) {
    const row = a * d;
    let pivot = M[row + a];
    for (let b = 0; b < a; b++) {
      let s = M[row + b];
      for (let c = 0; c < b; c++) s -= M[row + c] * M[b * d + c];
      s /= M[b * d + b];
      M[row + b] = s;
      pivot -= s * s;
      zeta[a] -= s * zeta[b];
      for (let l = 0; l < d; l++) Y[row + l] -= s * Y[b * d + l];
    }
    // In exact arithmetic no pivot is below σ²; in rounded arithmetic a noise-free cohort can bring one there.
    const diagonal = Math.sqrt(Math.max(pivot, sigma2));
    M[row + a] = diagonal;
    product *= diagonal;
    const inverse = 1 / diagonal;
    zeta[a] *= inverse;
    for (let l = 0; l < d; l++) Y[row + l] *= inverse;
  }
  // One logarithm of the product, unless it leaves the range of doubles (large bases, extreme scales).
  if (product > 1e-280 && product < 1e280) return 2 * Math.log(product);
  let logDet = 0;
  for (let a = 0; a < d; a++) logDet += Math.log(M[a * d + a]);
  return 2 * logDet;
}

/**
 * The conditional law of the residual effect given f, after `packIndividual`: with W = M⁻¹L',
 *   C = Cov(e | f, y) = σ² W'W,   T = C G/σ² = W'Y,   h = C g/σ² = W'ζ,   so that  E(e | f, y) = h − T f.
 * Writes C and T [d,d] and h [d].
 */
export function conditionalResidual(
  L: Float64Array,
  sigma2: number,
  d: number,
  ws: IndividualWorkspace,
  C: Float64Array,
  T: Float64Array,
  h: Float64Array,
): void {
  const { W, Y, M, zeta } = ws;
  for (let a = 0; a < d; a++) for (let k = 0; k < d; k++) W[a * d + k] = L[k * d + a];
  solveLowerMatrixInPlace(M, d, W, d);
  for (let k = 0; k < d; k++) {
    let s = 0;
    for (let a = 0; a < d; a++) s += W[a * d + k] * zeta[a];
    h[k] = s;
    for (let l = 0; l < d; l++) {
      let c = 0;
      let t = 0;
      for (let a = 0; a < d; a++) {
        c += W[a * d + k] * W[a * d + l];
        t += W[a * d + k] * Y[a * d + l];
      }
      C[k * d + l] = sigma2 * c;
      T[k * d + l] = t;
    }
  }
}
