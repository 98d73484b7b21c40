/**
 * The posterior q(u) of the inducing values (docs/math/dtm-paper.md §4), in the two sets of coordinates in which it is used.
 * With the data sums 𝒴 = Σ_i ψ1 g_i' [p,d] and Ω_kl = Σ_i G_i,kl Ψ2 [p,p] the optimum is:
 *
 * Coefficients a_k = K⁻¹u_k, in which the local step reads it. No kernel inverse enters, and Λ_a has the band of G:
 *   Λ_a = I ⊗ K + σ⁻² [Ω_kl]_kl,   q(a) = N(Λ_a⁻¹ σ⁻² vec 𝒴, Λ_a⁻¹);   T_kl = sym(C_kl + a_k a_l').
 *
 * Whitened values v_k = L_K⁻¹u_k with the prior N(0, I), entry kp + j for coefficient k and place j, the form in models:
 *   Λ = I + σ⁻² [L_K⁻¹ Ω_kl L_K⁻ᵀ]_kl,   c = σ⁻² vec(L_K⁻¹ 𝒴),   q(v) = N(Λ⁻¹c, Λ⁻¹).
 * A natural-gradient step of length λ is (c, Λ) ← (1−λ)(c, Λ) + λ(c*, Λ*). All eigenvalues of Λ are at least 1.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { dot, multiply, symmetrizeInPlace, trace, transpose } from "../../numeric/matrix.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { inducingSolver, inducingKl as klOfWhitened, type NaturalParameters, solvePositive } from "../gp/solve.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import type { MapState } from "./state.ts";

/** Which band entries of G_i there are: the part of the statistics that the global step reads. */
export type Band = Pick<BasisStatistics, "numBand" | "bandRow" | "bandColumn">;

/** Sums over individuals that determine the optimal q(u). */
export interface DataSums {
  /** 𝒴 = Σ ψ1 g', [p,d]. */
  readonly cross: Float64Array;
  /** Ω_kl = Σ G_kl Ψ2 for the band entries k ≤ l, [numBand,p,p]; Ω_lk is the same matrix. */
  readonly gram: Float64Array;
  /** Σ ψ1 (G1)', [p,d]: for the gradient by the level of the mean alone. */
  readonly course: Float64Array;
}

/** q(v) = N(ν, Ξ). */
export interface InducingPosterior {
  readonly mean: Float64Array; // ν [dp]
  readonly covariance: Float64Array; // Ξ [dp,dp]
  readonly logDet: number; // log |Ξ|
}

/** q(a) = N(A, C), with the blocks T and KL[q(u) ‖ p(u)]. */
export interface InducingCoefficients {
  /** A = K⁻¹M, columns a_k, [p,d]. */
  readonly mean: Float64Array;
  /** C, [dp,dp], entry kp + j. */
  readonly covariance: Float64Array;
  /** T_kl of the band, [numBand,p,p]. */
  readonly blocks: Float64Array;
  kl: number;
}

/** A state of the map with its q(u). */
export interface MapPosterior extends MapState {
  readonly posterior: InducingCoefficients;
}

/** Zero sums. */
export function createSums(band: Band, p: number, d: number): DataSums {
  return {
    cross: new Float64Array(p * d),
    gram: new Float64Array(band.numBand * p * p),
    course: new Float64Array(p * d),
  };
}

/** Buffers for one size. */
export function createInducingCoefficients(band: Band, p: number, d: number): InducingCoefficients {
  return {
    mean: new Float64Array(d * p),
    covariance: new Float64Array((d * p) ** 2),
    blocks: new Float64Array(band.numBand * p * p),
    kl: 0,
  };
}

/** Writes the optimal q(a) for the sums to `out`; false if rounding leaves Λ_a without a factor. */
export type InducingSolve = (map: Omit<MapState, "statistics">, sums: DataSums, out: InducingCoefficients) => boolean;

/** The solver for q(a) on the given kernels; buffers are made once. */
export function createInducingSolve(band: Band, p: number, d: number, kernels: KernelKind): InducingSolve {
  const dp = d * p;
  const solve = inducingSolver(dp, kernels);
  const precision = new Float64Array(dp * dp);
  const [linear, a] = [new Float64Array(dp), new Float64Array(dp)]; // [d,p]
  return ({ parameters: { noiseVariance }, factor }, sums, out) => {
    fillGram(sums, band, p, d, 1 / noiseVariance, precision);
    for (let k = 0; k < d; k++) {
      for (let j = 0; j < p; j++) {
        linear[k * p + j] = sums.cross[j * d + k] / noiseVariance;
        const row = (k * p + j) * dp + k * p;
        for (let i = 0; i < p; i++) precision[row + i] += factor.matrix[j * p + i];
      }
    }
    const logDet = solve(precision, linear, a, out.covariance);
    if (Number.isNaN(logDet)) return false;
    transpose(a, d, p, out.mean);
    fillBlocks(band, p, d, a, out);
    // Σ_k ⟨K, T_kk⟩ = tr Ξ + ν'ν.
    let energy = 0;
    for (let b = 0; b < band.numBand; b++) {
      if (band.bandRow[b] !== band.bandColumn[b]) continue;
      for (let e = 0; e < p * p; e++) energy += factor.matrix[e] * out.blocks[b * p * p + e];
    }
    out.kl = 0.5 * (energy - dp + logDet - d * factor.logDet);
    return true;
  };
}

/** Writes weight · [Ω_kl] to `out` [dp,dp], which is zero outside the band; every Ω_kl is symmetric. */
function fillGram({ gram }: DataSums, band: Band, p: number, d: number, weight: number, out: Float64Array): void {
  const dp = d * p;
  for (let e = 0; e < band.numBand; e++) {
    const [k, l] = [band.bandRow[e] * p, band.bandColumn[e] * p];
    for (let j = 0; j < p; j++) {
      const [upper, lower, from] = [(k + j) * dp + l, (l + j) * dp + k, (e * p + j) * p];
      for (let i = 0; i < p; i++) {
        const v = weight * gram[from + i];
        out[upper + i] = v;
        out[lower + i] = v;
      }
    }
  }
}

/** T_kl = ½(C_kl + C_lk) + ½(a_k a_l' + a_l a_k') for the band; `a` is [d,p]. */
function fillBlocks(band: Band, p: number, d: number, a: Float64Array, out: InducingCoefficients): void {
  const { covariance, blocks } = out;
  const dp = d * p;
  for (let e = 0; e < band.numBand; e++) {
    const [k, l] = [band.bandRow[e] * p, band.bandColumn[e] * p];
    for (let j = 0; j < p; j++) {
      const [upper, lower] = [(k + j) * dp + l, (l + j) * dp + k];
      const [ak, al] = [a[k + j], a[l + j]];
      for (let i = 0; i <= j; i++) {
        const c = covariance[upper + i] + covariance[lower + i];
        const t = 0.5 * (c + ak * a[l + i] + al * a[k + i]);
        blocks[(e * p + j) * p + i] = t;
        blocks[(e * p + i) * p + j] = t;
      }
    }
  }
}

/** Writes q(a) of a whitened q(v) to `out`: a_k = L_K⁻ᵀv_k. */
export function coefficientsOfInducing(
  { statistics: band, parameters, factor }: MapState,
  posterior: InducingPosterior,
  out: InducingCoefficients = createInducingCoefficients(band, parameters.numInducing, parameters.numBasis),
): InducingCoefficients {
  const { numInducing: p, numBasis: d } = parameters;
  const a = transformBlocks(posterior, transpose(factor.inverseCholesky, p, p), p, d);
  transpose(a.mean, d, p, out.mean);
  out.covariance.set(a.covariance);
  fillBlocks(band, p, d, a.mean, out);
  out.kl = inducingKl(posterior);
  return out;
}

/** The whitened q(v) of q(a): v_k = L_K'a_k. */
export function inducingOfCoefficients(
  { parameters, factor }: Omit<MapState, "statistics">,
  { mean: A, covariance: C, kl }: InducingCoefficients,
): InducingPosterior {
  const { numInducing: p, numBasis: d } = parameters;
  const v = transformBlocks({ mean: transpose(A, p, d), covariance: C }, transpose(factor.cholesky, p, p), p, d);
  return { ...v, logDet: trace(v.covariance, d * p) + dot(v.mean, v.mean) - d * p - 2 * kl };
}

/** Natural parameters of the optimal q(v) for sums multiplied by `scale` (m/|batch| for a minibatch). */
export function naturalTarget(
  { statistics, parameters, factor }: MapState,
  sums: DataSums,
  scale = 1,
): NaturalParameters {
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  const weight = scale / noiseVariance;
  const mean = transpose(sums.cross, p, d).map((y) => weight * y);
  const covariance = new Float64Array((d * p) ** 2);
  fillGram(sums, statistics, p, d, weight, covariance);
  const target = transformBlocks({ mean, covariance }, factor.inverseCholesky, p, d);
  for (let r = 0; r < d * p; r++) target.covariance[r * (d * p + 1)] += 1;
  return { linear: target.mean, precision: target.covariance };
}

/** N(Λ⁻¹c, Λ⁻¹). */
export function posteriorOfNatural({ linear, precision }: NaturalParameters): InducingPosterior {
  const mean = new Float64Array(linear.length);
  const covariance = new Float64Array(precision.length);
  return { mean, covariance, logDet: -solvePositive(precision, linear, mean, covariance) };
}

/**
 * The natural parameters of the same q(u) after the kernel matrix moved from `before` to that of the state: with
 * F = L_new' L_old⁻ᵀ, c ← F c and Λ ← F Λ F' block by block, because v_new = L_new⁻¹ L_old v_old.
 */
export function rewhitenNatural(
  { parameters, factor }: Omit<MapState, "statistics">,
  { linear, precision }: NaturalParameters,
  before: KernelFactor,
): NaturalParameters {
  const { numInducing: p, numBasis: d } = parameters;
  const F = multiply(transpose(factor.cholesky, p, p), transpose(before.inverseCholesky, p, p), p, p, p);
  const moved = transformBlocks({ mean: linear, covariance: precision }, F, p, d);
  return { linear: moved.mean, precision: moved.covariance };
}

/** KL[q(v) ‖ N(0,I)], the same as KL[q(u) ‖ p(u)]. */
export function inducingKl({ mean, covariance, logDet }: InducingPosterior): number {
  return klOfWhitened(mean, covariance, -logDet);
}

/** A vector [d,p] and a symmetric matrix [dp,dp] over inducing values. */
interface Blocks {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
}

/** (F m_k) and (F S_kl F') for a matrix F [p,p], blocks k, l of m and S. */
export function transformBlocks({ mean, covariance }: Blocks, F: Float64Array, p: number, d: number): Blocks {
  const n = d * p;
  const rows = (X: Float64Array): Float64Array => {
    const out = new Float64Array(n * n);
    for (let k = 0; k < d; k++) out.set(multiply(F, X.subarray(k * p * n, (k + 1) * p * n), p, p, n), k * p * n);
    return out;
  };
  const out = rows(transpose(rows(covariance), n, n));
  symmetrizeInPlace(out, n);
  return { mean: transpose(multiply(F, transpose(mean, d, p), p, p, d), p, d), covariance: out };
}
