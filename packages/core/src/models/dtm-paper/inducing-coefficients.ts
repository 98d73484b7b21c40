/**
 * q(u) in coefficient space, a_k = K⁻¹u_k, the form in which the local step reads it (docs/math/dtm-paper.md §4):
 *   Λ_a = I ⊗ K + σ⁻² [Ω_kl]_kl,   q(a) = N(Λ_a⁻¹ σ⁻² vec 𝒴, Λ_a⁻¹),
 * and with A = K⁻¹M (columns a_k) and C = Λ_a⁻¹
 *   h_i = σ⁻² A g_i,   T_kl = sym(C_kl + a_k a_l'),   W_i = σ⁻²(Σ_kl G_i,kl T_kl − Tr(G_i) K⁻¹).
 * No kernel inverse enters the sums or the solve, natural-gradient steps commute with this change of variables, and
 * Λ_a has the blocks of G_i's band alone. One solve costs O((dp)³).
 */
import { choleskyBandInPlace, invertFromBandCholesky, solveBandInPlace } from "../../numeric/block-banded.ts";
import { logDetFromCholesky } from "../../numeric/cholesky.ts";
import { multiply, symmetrizeInPlace, transpose } from "../../numeric/matrix.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { type PositiveDefiniteKernel, positiveDefiniteKernel } from "../../wasm/positive-definite.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import { type Band, type DataSums, type InducingPosterior, inducingKl } from "./inducing-posterior.ts";

/** q(a), with the blocks T and KL[q(u) ‖ p(u)]. */
export interface InducingCoefficients {
  /** A = K⁻¹M, [p,d]. */
  readonly mean: Float64Array;
  /** C, [dp,dp], entry kp + j. */
  readonly covariance: Float64Array;
  /** T_kl, [d,d,p,p]; filled for the band of G. */
  readonly blocks: Float64Array;
  kl: number;
}

/** Scratch of `solveInducingCoefficients`. */
export interface InducingWorkspace {
  readonly precision: Float64Array; // [dp,dp]
  readonly scratch: Float64Array; // [dp,dp]
  readonly vector: Float64Array; // [dp]
  /** Factorisation and inverse in WebAssembly, where they are used. */
  readonly wasm: PositiveDefiniteKernel | null;
}

/** Buffers for one size. */
export function createInducingCoefficients(p: number, d: number): InducingCoefficients {
  const dp = d * p;
  return {
    mean: new Float64Array(dp),
    covariance: new Float64Array(dp * dp),
    blocks: new Float64Array(dp * dp),
    kl: 0,
  };
}

/** Scratch for one size and band; the solver runs on the given kernels. */
export function createInducingWorkspace(
  p: number,
  d: number,
  band: Band,
  kernels: KernelKind = "typescript",
): InducingWorkspace {
  const dp = d * p;
  return {
    precision: new Float64Array(dp * dp),
    scratch: new Float64Array(dp * dp),
    vector: new Float64Array(dp),
    wasm: kernels === "wasm-simd" ? positiveDefiniteKernel(d, p, halfBandwidth(band)) : null,
  };
}

/** Writes the optimal q(a) for the sums to `out`; false if rounding leaves Λ_a without a factor. */
export function solveInducingCoefficients(
  sums: DataSums,
  band: Band,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
  out: InducingCoefficients,
  work: InducingWorkspace,
): boolean {
  const weight = 1 / noiseVariance;
  const { vector } = work;
  for (let k = 0; k < d; k++) for (let j = 0; j < p; j++) vector[k * p + j] = weight * sums.cross[j * d + k];
  const logDet =
    work.wasm === null
      ? solvePrecision(sums, band, factor, weight, p, d, out, work)
      : wasmSolvePrecision(work.wasm, sums, band, factor, weight, p, out, vector);
  if (logDet === null) return false;
  for (let k = 0; k < d; k++) for (let j = 0; j < p; j++) out.mean[j * d + k] = vector[k * p + j];
  fillBlocks(band, p, d, vector, out);
  out.kl = 0.5 * (energy(factor.matrix, vector, out.covariance, p, d) - d * p + logDet - d * factor.logDet);
  return true;
}

/** Fills Λ_a, replaces the vector by Λ_a⁻¹ times it, writes C; returns log|Λ_a|, null without a factor. */
function solvePrecision(
  sums: DataSums,
  band: Band,
  factor: KernelFactor,
  weight: number,
  p: number,
  d: number,
  out: InducingCoefficients,
  { precision: L, scratch, vector }: InducingWorkspace,
): number | null {
  const dp = d * p;
  const K = factor.matrix;
  L.fill(0);
  for (let e = 0; e < band.numBand; e++) {
    const k = band.bandRow[e];
    const l = band.bandColumn[e];
    const from = e * p * p;
    for (let j = 0; j < p; j++) {
      // Lower triangle: row block l ≥ k. Ω_kl is symmetric, so its row j serves as column j.
      const row = (l * p + j) * dp + k * p;
      for (let i = 0; i < p; i++) L[row + i] = weight * sums.gram[from + j * p + i];
      if (k === l) for (let i = 0; i < p; i++) L[row + i] += K[j * p + i];
    }
  }
  const w = halfBandwidth(band);
  if (!choleskyBandInPlace(L, d, p, w)) return null;
  solveBandInPlace(L, d, p, w, vector);
  invertFromBandCholesky(L, d, p, w, out.covariance, scratch);
  return logDetFromCholesky(L, dp);
}

/** `solvePrecision` in WebAssembly: the upper triangle is filled, row block k ≤ l. */
function wasmSolvePrecision(
  kernel: PositiveDefiniteKernel,
  sums: DataSums,
  band: Band,
  factor: KernelFactor,
  weight: number,
  p: number,
  out: InducingCoefficients,
  vector: Float64Array,
): number | null {
  const { order: n, stride, matrix, inverse } = kernel;
  const K = factor.matrix;
  matrix.fill(0);
  for (let e = 0; e < band.numBand; e++) {
    const k = band.bandRow[e];
    const l = band.bandColumn[e];
    const from = e * p * p;
    for (let j = 0; j < p; j++) {
      const row = (k * p + j) * stride + l * p;
      for (let i = 0; i < p; i++) matrix[row + i] = weight * sums.gram[from + j * p + i];
      if (k === l) for (let i = 0; i < p; i++) matrix[row + i] += K[j * p + i];
    }
  }
  if (!kernel.factor()) return null;
  kernel.vector.set(vector);
  kernel.solve();
  vector.set(kernel.vector.subarray(0, n));
  kernel.invert();
  for (let i = 0; i < n; i++) out.covariance.set(inverse.subarray(i * stride, i * stride + n), i * n);
  return kernel.logDeterminant();
}

/** q(a) of a whitened q(v): A = L_K⁻ᵀ𝒱, C_kl = L_K⁻ᵀ Ξ_kl L_K⁻¹. */
export function coefficientsOfInducing(
  posterior: InducingPosterior,
  band: Band,
  factor: KernelFactor,
  p: number,
  d: number,
): InducingCoefficients {
  const out = createInducingCoefficients(p, d);
  const LiT = transpose(factor.inverseCholesky, p, p);
  multiply(LiT, transpose(posterior.mean, d, p), p, p, d, out.mean);
  const dp = d * p;
  const block = new Float64Array(p * p);
  const half = new Float64Array(p * p);
  const full = new Float64Array(p * p);
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) {
      copyBlock(posterior.covariance, dp, k, l, p, block);
      multiply(LiT, block, p, p, p, half);
      multiply(half, factor.inverseCholesky, p, p, p, full);
      for (let j = 0; j < p; j++) {
        for (let i = 0; i < p; i++) out.covariance[(k * p + j) * dp + l * p + i] = full[j * p + i];
      }
    }
  }
  symmetrizeInPlace(out.covariance, dp);
  fillBlocks(band, p, d, transpose(out.mean, p, d), out);
  out.kl = inducingKl(posterior);
  return out;
}

/**
 * The whitened q(v) of q(a): ν_k = L_K' a_k, Ξ_kl = L_K' C_kl L_K. With `band` only its blocks of Ξ, the others
 * are 0.
 */
export function inducingOfCoefficients(
  posterior: InducingCoefficients,
  factor: KernelFactor,
  p: number,
  d: number,
  band?: Band,
): InducingPosterior {
  const w = band === undefined ? d : halfBandwidth(band);
  const dp = d * p;
  const L = factor.cholesky;
  const LT = transpose(L, p, p);
  const mean = transpose(multiply(LT, posterior.mean, p, p, d), p, d);
  const covariance = new Float64Array(dp * dp);
  const block = new Float64Array(p * p);
  const half = new Float64Array(p * p);
  const full = new Float64Array(p * p);
  for (let k = 0; k < d; k++) {
    for (let l = Math.max(0, k - w); l <= Math.min(d - 1, k + w); l++) {
      copyBlock(posterior.covariance, dp, k, l, p, block);
      multiply(LT, block, p, p, p, half);
      multiply(half, L, p, p, p, full);
      for (let j = 0; j < p; j++) {
        for (let i = 0; i < p; i++) covariance[(k * p + j) * dp + l * p + i] = full[j * p + i];
      }
    }
  }
  symmetrizeInPlace(covariance, dp);
  let logDet = -2 * posterior.kl - dp;
  for (let r = 0; r < dp; r++) logDet += covariance[r * dp + r] + mean[r] * mean[r];
  return { mean, covariance, logDet };
}

/** How far from the diagonal the band reaches. */
function halfBandwidth(band: Band): number {
  let w = 0;
  for (let e = 0; e < band.numBand; e++) w = Math.max(w, band.bandColumn[e] - band.bandRow[e]);
  return w;
}

/** out [p,p] = block (k, l) of X [dp,dp]. */
function copyBlock(X: Float64Array, dp: number, k: number, l: number, p: number, out: Float64Array): void {
  for (let j = 0; j < p; j++) {
    const from = (k * p + j) * dp + l * p;
    for (let i = 0; i < p; i++) out[j * p + i] = X[from + i];
  }
}

/** T_kl = ½(C_kl + C_kl') + ½(a_k a_l' + a_l a_k') for the band, both (k,l) and (l,k); `a` is [d,p]. */
function fillBlocks(band: Band, p: number, d: number, a: Float64Array, out: InducingCoefficients): void {
  const dp = d * p;
  const { covariance: C, blocks } = out;
  for (let e = 0; e < band.numBand; e++) {
    const k = band.bandRow[e];
    const l = band.bandColumn[e];
    const to = (k * d + l) * p * p;
    const mirror = (l * d + k) * p * p;
    for (let j = 0; j < p; j++) {
      for (let i = 0; i <= j; i++) {
        const c = C[(k * p + j) * dp + l * p + i] + C[(k * p + i) * dp + l * p + j];
        const v = 0.5 * (c + a[k * p + j] * a[l * p + i] + a[k * p + i] * a[l * p + j]);
        blocks[to + j * p + i] = v;
        blocks[to + i * p + j] = v;
        blocks[mirror + j * p + i] = v;
        blocks[mirror + i * p + j] = v;
      }
    }
  }
}

/** Σ_k ⟨K, C_kk + a_k a_k'⟩ = tr Ξ + ν'ν. */
function energy(K: Float64Array, a: Float64Array, C: Float64Array, p: number, d: number): number {
  const dp = d * p;
  let s = 0;
  for (let k = 0; k < d; k++) {
    for (let j = 0; j < p; j++) {
      const row = (k * p + j) * dp + k * p;
      const aj = a[k * p + j];
      for (let i = 0; i < p; i++) s += K[j * p + i] * (C[row + i] + aj * a[k * p + i]);
    }
  }
  return s;
}
