/**
 * q(u) in coefficient space, a_k = K⁻¹u_k, the form in which the local step reads it (docs/math/dtm-paper.md §4):
 *   Λ_a = I ⊗ K + σ⁻² [Ω_kl]_kl,   q(a) = N(Λ_a⁻¹ σ⁻² vec 𝒴, Λ_a⁻¹),
 * and with A = K⁻¹M (columns a_k) and C = Λ_a⁻¹
 *   h_i = σ⁻² A g_i,   T_kl = sym(C_kl + a_k a_l'),   W_i = σ⁻²(Σ_kl G_i,kl T_kl − Tr(G_i) K⁻¹).
 * No kernel inverse enters the sums or the solve, natural-gradient steps commute with this change of variables, and
 * Λ_a has the blocks of G_i's band alone. One solve costs O((dp)³).
 */
import { multiply, symmetrizeInPlace, transpose } from "../../numeric/matrix.ts";
import type { PositiveSolver } from "../../wasm/cholesky.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { inducingSolver } from "../gp/solve.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import { type Band, type DataSums, type InducingPosterior, inducingKl } from "./inducing-posterior.ts";

/** q(a), with the blocks T and KL[q(u) ‖ p(u)]. */
export interface InducingCoefficients {
  /** A = K⁻¹M, [p,d]. */
  readonly mean: Float64Array;
  /** C, [dp,dp], entry kp + j. */
  readonly covariance: Float64Array;
  /** T_kl, [d,d,p,p]; filled for the band of G, k ≤ l. */
  readonly blocks: Float64Array;
  kl: number;
}

/** Scratch of `solveInducingCoefficients`. */
export interface InducingWorkspace {
  readonly precision: Float64Array; // Λ_a [dp,dp]
  readonly linear: Float64Array; // [dp]
  readonly solution: Float64Array; // [dp]
  readonly solve: PositiveSolver;
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

/** Scratch for one size; the solver runs on the given kernels. */
export function createInducingWorkspace(p: number, d: number, kernels: KernelKind = "typescript"): InducingWorkspace {
  const dp = d * p;
  return {
    precision: new Float64Array(dp * dp),
    linear: new Float64Array(dp),
    solution: new Float64Array(dp),
    solve: inducingSolver(dp, kernels),
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
  { precision, linear, solution, solve }: InducingWorkspace,
): boolean {
  const weight = 1 / noiseVariance;
  for (let k = 0; k < d; k++) for (let j = 0; j < p; j++) linear[k * p + j] = weight * sums.cross[j * d + k];
  fillPrecision(sums, band, factor.matrix, weight, p, d, precision);
  const logDet = solve(precision, linear, solution, out.covariance);
  if (Number.isNaN(logDet)) return false;
  fillBlocks(band, p, d, solution, out);
  for (let k = 0; k < d; k++) for (let j = 0; j < p; j++) out.mean[j * d + k] = solution[k * p + j];
  out.kl = 0.5 * (energy(factor.matrix, out.blocks, p, d) - d * p + logDet - d * factor.logDet);
  return true;
}

/** Λ_a = I ⊗ K + weight · [Ω_kl]; Ω_kl is symmetric, and so is the matrix of blocks. */
function fillPrecision(
  sums: DataSums,
  band: Band,
  K: Float64Array,
  weight: number,
  p: number,
  d: number,
  out: Float64Array,
): void {
  const dp = d * p;
  out.fill(0);
  for (let e = 0; e < band.numBand; e++) {
    const k = band.bandRow[e];
    const l = band.bandColumn[e];
    for (let j = 0; j < p; j++) {
      for (let i = 0; i < p; i++) {
        const v = weight * sums.gram[(e * p + j) * p + i];
        out[(k * p + j) * dp + l * p + i] = k === l ? v + K[j * p + i] : v;
        if (k !== l) out[(l * p + j) * dp + k * p + i] = v;
      }
    }
  }
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

/** T_kl = ½(C_kl + C_kl') + ½(a_k a_l' + a_l a_k') for the band, k ≤ l; `a` is [d,p]. */
function fillBlocks(band: Band, p: number, d: number, a: Float64Array, out: InducingCoefficients): void {
  const dp = d * p;
  const { covariance: C, blocks } = out;
  for (let e = 0; e < band.numBand; e++) {
    const k = band.bandRow[e];
    const l = band.bandColumn[e];
    const to = (k * d + l) * p * p;
    for (let j = 0; j < p; j++) {
      for (let i = 0; i <= j; i++) {
        const c = C[(k * p + j) * dp + l * p + i] + C[(k * p + i) * dp + l * p + j];
        const v = 0.5 * (c + a[k * p + j] * a[l * p + i] + a[k * p + i] * a[l * p + j]);
        blocks[to + j * p + i] = v;
        blocks[to + i * p + j] = v;
      }
    }
  }
}

/** Σ_k ⟨K, T_kk⟩ = tr Ξ + ν'ν. */
function energy(K: Float64Array, blocks: Float64Array, p: number, d: number): number {
  let s = 0;
  for (let k = 0; k < d; k++) {
    const from = k * (d + 1) * p * p;
    for (let e = 0; e < p * p; e++) s += K[e] * blocks[from + e];
  }
  return s;
}
