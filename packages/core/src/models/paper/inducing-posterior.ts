/**
 * The posterior q(u) of the inducing values in whitened form (docs/math/dtm-paper.md §4): u_k = L_K v_k, prior
 * v ~ N(0, I), q(v) = N(ν, Ξ), entry kp + j for coefficient k and inducing place j. Its natural parameters are
 * (c, Λ), ν = Λ⁻¹c, Ξ = Λ⁻¹. With the data sums 𝒴 = Σ_i ψ1 g_i' [p,d] and Ω_kl = Σ_i G_i,kl Ψ2 [p,p] the optimum is
 *   Λ = I + σ⁻² [L_K⁻¹ Ω_kl L_K⁻ᵀ]_kl,   c = σ⁻² vec(L_K⁻¹ 𝒴),
 * and a natural-gradient step of length λ towards it is (c, Λ) ← (1−λ)(c, Λ) + λ(c*, Λ*). All eigenvalues of Λ are
 * at least 1, so its Cholesky factorisation cannot fail.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import {
  cholesky,
  invertFromCholesky,
  logDetFromCholesky,
  solveCholeskyInPlace,
  solveLowerMatrixInPlace,
} from "../../numeric/cholesky.ts";
import { multiply, symmetrizeInPlace, transpose } from "../../numeric/matrix.ts";
import { inducingKl as klOfWhitened, type NaturalParameters, solvePositive } from "../gp/solve.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";

/** Which band entries of G_i there are: the part of the statistics that the global step reads. */
export type Band = Pick<BasisStatistics, "numBand" | "bandRow" | "bandColumn">;

/** Sums over individuals that determine the optimal q(u). */
export interface DataSums {
  /** 𝒴 = Σ ψ1 g', [p,d]. */
  readonly cross: Float64Array;
  /** Ω_kl = Σ G_kl Ψ2 for the band entries k ≤ l, [numBand,p,p]; Ω_lk is the same matrix. */
  readonly gram: Float64Array;
}

/** q(v) = N(ν, Ξ). */
export interface InducingPosterior {
  readonly mean: Float64Array; // ν [dp]
  readonly covariance: Float64Array; // Ξ [dp,dp]
  readonly logDet: number; // log |Ξ|
}

/** Zero sums. */
export function createSums(band: Band, p: number, d: number): DataSums {
  return { cross: new Float64Array(p * d), gram: new Float64Array(band.numBand * p * p) };
}

/** Natural parameters of the optimal q(v) for sums multiplied by `scale` (m/|batch| for a minibatch). */
export function naturalTarget(
  sums: DataSums,
  band: Band,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
  scale = 1,
): NaturalParameters {
  const dp = d * p;
  const Li = factor.inverseCholesky;
  const LiT = transpose(Li, p, p);
  const weight = scale / noiseVariance;
  const precision = new Float64Array(dp * dp);
  for (let r = 0; r < dp; r++) precision[r * dp + r] = 1;
  const half = new Float64Array(p * p);
  const block = new Float64Array(p * p);
  for (let e = 0; e < band.numBand; e++) {
    const k = band.bandRow[e];
    const l = band.bandColumn[e];
    multiply(Li, sums.gram.subarray(e * p * p, (e + 1) * p * p), p, p, p, half);
    multiply(half, LiT, p, p, p, block);
    symmetrizeInPlace(block, p);
    for (let j = 0; j < p; j++) {
      for (let i = 0; i < p; i++) {
        const v = weight * block[j * p + i];
        precision[(k * p + j) * dp + l * p + i] += v;
        if (k !== l) precision[(l * p + i) * dp + k * p + j] += v;
      }
    }
  }
  const whitened = multiply(Li, sums.cross, p, p, d); // [p,d]
  const linear = transpose(whitened, p, d);
  for (let r = 0; r < dp; r++) linear[r] *= weight;
  return { linear, precision };
}

/** N(Λ⁻¹c, Λ⁻¹). */
export function posteriorOfNatural({ linear, precision }: NaturalParameters): InducingPosterior {
  const mean = new Float64Array(linear.length);
  const covariance = new Float64Array(precision.length);
  return { mean, covariance, logDet: -solvePositive(precision, linear, mean, covariance) };
}

/** (c, Λ) of N(ν, Ξ). */
export function naturalOfPosterior(posterior: InducingPosterior): NaturalParameters {
  const n = posterior.mean.length;
  const L = cholesky(posterior.covariance, n, "covariance of the inducing values");
  const linear = posterior.mean.slice();
  solveCholeskyInPlace(L, n, linear);
  return { linear, precision: invertFromCholesky(L, n) };
}

/**
 * The natural parameters of the same q(u) after the kernel matrix moved from `before` to `after`: with
 * F = L_new' L_old⁻ᵀ, c ← F c and Λ ← F Λ F' block by block, because v_new = L_new⁻¹ L_old v_old.
 */
export function rewhitenNatural(
  natural: NaturalParameters,
  before: KernelFactor,
  after: KernelFactor,
  p: number,
  d: number,
): NaturalParameters {
  const oldInverse = transpose(before.inverseCholesky, p, p);
  const F = multiply(transpose(after.cholesky, p, p), oldInverse, p, p, p);
  const apply = (X: Float64Array, columns: number) => multiply(F, X, p, p, columns);
  const { mean: linear, covariance: precision } = applyBlocks(natural.linear, natural.precision, p, d, apply);
  return { linear, precision };
}

/** The optimal q(v) for given sums. */
export function exactInducingPosterior(
  sums: DataSums,
  band: Band,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
): InducingPosterior {
  return posteriorOfNatural(naturalTarget(sums, band, factor, noiseVariance, p, d));
}

/** The prior of v: N(0, I). */
export function priorInducingPosterior(p: number, d: number): InducingPosterior {
  const covariance = new Float64Array(d * p * d * p);
  for (let r = 0; r < d * p; r++) covariance[r * d * p + r] = 1;
  return { mean: new Float64Array(d * p), covariance, logDet: 0 };
}

/** (m, S) of u = (I ⊗ L_K) v. */
export function unwhiten(
  posterior: InducingPosterior,
  factor: KernelFactor,
  p: number,
  d: number,
): { readonly mean: Float64Array; readonly covariance: Float64Array } {
  const apply = (X: Float64Array, columns: number) => multiply(factor.cholesky, X, p, p, columns);
  return applyBlocks(posterior.mean, posterior.covariance, p, d, apply);
}

/** q(v) of a given q(u) = N(m, S). */
export function whiten(
  mean: Float64Array,
  covariance: Float64Array,
  factor: KernelFactor,
  p: number,
  d: number,
): InducingPosterior {
  const apply = (X: Float64Array, columns: number) => {
    const out = X.slice();
    solveLowerMatrixInPlace(factor.cholesky, p, out, columns);
    return out;
  };
  const whitened = applyBlocks(mean, covariance, p, d, apply);
  const L = cholesky(whitened.covariance, d * p, "covariance of the inducing values");
  return { ...whitened, logDet: logDetFromCholesky(L, d * p) };
}

/** KL[q(v) ‖ N(0,I)], the same as KL[q(u) ‖ p(u)]. */
export function inducingKl({ mean, covariance, logDet }: InducingPosterior): number {
  return klOfWhitened(mean, covariance, -logDet);
}

/** (F m_k) and (F S_kl F') for a linear map F of p-vectors, blocks k, l = 1..d. */
function applyBlocks(
  mean: Float64Array,
  covariance: Float64Array,
  p: number,
  d: number,
  apply: (X: Float64Array, columns: number) => Float64Array,
): { mean: Float64Array; covariance: Float64Array } {
  const dp = d * p;
  const outMean = transpose(apply(transpose(mean, d, p), d), p, d);
  const rows = applyRows(covariance, p, d, apply);
  const out = applyRows(transpose(rows, dp, dp), p, d, apply);
  symmetrizeInPlace(out, dp);
  return { mean: outMean, covariance: out };
}

/** (I ⊗ F) X for X [dp,dp]. */
function applyRows(
  X: Float64Array,
  p: number,
  d: number,
  apply: (X: Float64Array, columns: number) => Float64Array,
): Float64Array {
  const dp = d * p;
  const out = new Float64Array(dp * dp);
  for (let k = 0; k < d; k++) out.set(apply(X.subarray(k * p * dp, (k + 1) * p * dp), dp), k * p * dp);
  return out;
}
