/**
 * How the bound depends on the kernel matrix K = L L' of the inducing places, q(u) held fixed (docs/math/dtm-paper.md §5).
 * With X = L⁻¹, q(a) = N(A, C) in coefficient space, T_kl = sym(C_kl + a_k a_l') and Φ = Σ_k Ω_kk,
 *   Γ = ∂ℒ/∂K = X'HX,   H = sym(L'M) − XΦX'/(2σ²) − (d/2) I,   ⟨Γ, K⟩ = tr H,
 *   M = σ⁻²(Σ_kl T_kl Ω_kl X' − A(X𝒴)') + ½ Σ_k T_kk L.
 * H is formed first because its terms cancel; the same in terms of K⁻¹ loses more digits the nearer K is to singular.
 * When q(u) is re-optimised at every trial point these partial derivatives are the total ones (envelope theorem).
 */
import { multiply, symmetrizeInPlace, trace, transpose } from "../../numeric/matrix.ts";
import { addProduct } from "../../numeric/products.ts";
import type { Kernel } from "../gp/kernel.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import type { InducingCoefficients } from "./inducing-coefficients.ts";
import type { Band, DataSums } from "./inducing-posterior.ts";
import type { PsiGradient } from "./psi.ts";

/** Γ and its product with K. */
export interface KernelMatrixGradient {
  /** Γ, symmetric [p,p]. */
  readonly matrix: Float64Array;
  /** ⟨Γ, K⟩, the derivative by log α through K. */
  readonly scale: number;
}

/** ∂ℒ/∂K for data sums and q(a). Two products of order p per entry of the band. */
export function kernelMatrixGradient(
  sums: DataSums,
  band: Band,
  posterior: Pick<InducingCoefficients, "mean" | "blocks">,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
): KernelMatrixGradient {
  const { mean: A, blocks } = posterior;
  const { cholesky: L, inverseCholesky: X } = factor;
  const XT = transpose(X, p, p);
  const pp = p * p;
  const weight = 1 / noiseVariance;
  const M = new Float64Array(pp);
  const right = new Float64Array(pp);
  const summed = new Float64Array(pp); // Φ
  const diagonal = new Float64Array(pp); // Σ_k T_kk
  for (let b = 0; b < band.numBand; b++) {
    const k = band.bandRow[b];
    const l = band.bandColumn[b];
    const omega = sums.gram.subarray(b * pp, (b + 1) * pp);
    const T = blocks.subarray((k * d + l) * pp, (k * d + l + 1) * pp);
    right.fill(0);
    addProduct(k === l ? weight : 2 * weight, omega, XT, p, p, p, right);
    addProduct(1, T, right, p, p, p, M);
    if (k !== l) continue;
    for (let e = 0; e < pp; e++) {
      summed[e] += omega[e];
      diagonal[e] += T[e];
    }
  }
  const whitened = multiply(X, sums.cross, p, p, d); // X𝒴 [p,d]
  addProduct(-weight, A, transpose(whitened, p, d), p, d, p, M);
  addProduct(0.5, diagonal, L, p, p, p, M);
  const H = new Float64Array(pp);
  addProduct(1, transpose(L, p, p), M, p, p, p, H);
  addProduct(-0.5 * weight, multiply(X, summed, p, p, p), XT, p, p, p, H);
  for (let j = 0; j < p; j++) H[j * p + j] -= 0.5 * d;
  return whitenedBack(H, XT, p);
}

/**
 * Γ where q(u) is the optimum for the sums. Then Λ_a C = I and Λ_a vec A = σ⁻² vec 𝒴, by which the sum over the band
 * drops out, σ⁻² Σ_kl T_kl Ω_kl = d I − Σ_k T_kk K + σ⁻² A𝒴', and
 *   H = (d/2) I − ½ L'(Σ_k T_kk)L − XΦX'/(2σ²).
 * Six products of order p with a triangular factor.
 */
export function optimalKernelGradient(
  sums: DataSums,
  band: Band,
  posterior: Pick<InducingCoefficients, "blocks">,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
): KernelMatrixGradient {
  const { cholesky: L, inverseCholesky: X } = factor;
  const pp = p * p;
  const summed = new Float64Array(pp); // Φ
  const diagonal = new Float64Array(pp); // Σ_k T_kk
  for (let b = 0; b < band.numBand; b++) {
    const k = band.bandRow[b];
    if (k !== band.bandColumn[b]) continue;
    const T = k * (d + 1) * pp;
    for (let e = 0; e < pp; e++) {
      summed[e] += sums.gram[b * pp + e];
      diagonal[e] += posterior.blocks[T + e];
    }
  }
  const H = new Float64Array(pp);
  addCongruence(-0.5, transpose(L, p, p), diagonal, p, H);
  addCongruence(-0.5 / noiseVariance, X, summed, p, H);
  for (let j = 0; j < p; j++) H[j * p + j] += 0.5 * d;
  return whitenedBack(H, transpose(X, p, p), p);
}

/** out += scale · BSB' for a triangular B and a symmetric S: (B(BS)')' is the same, and addProduct passes over B's zeros. */
function addCongruence(scale: number, B: Float64Array, S: Float64Array, p: number, out: Float64Array): void {
  const half = new Float64Array(p * p);
  addProduct(1, B, S, p, p, p, half);
  addProduct(scale, B, transpose(half, p, p), p, p, p, out);
}

/** Γ = X'HX and ⟨Γ, K⟩ = tr H; H is made symmetric in place. */
function whitenedBack(H: Float64Array, XT: Float64Array, p: number): KernelMatrixGradient {
  symmetrizeInPlace(H, p);
  const matrix = new Float64Array(p * p);
  addCongruence(1, XT, H, p, matrix);
  symmetrizeInPlace(matrix, p);
  return { matrix, scale: trace(H, p) };
}

/**
 * Adds ⟨Γ, ∂K⟩ to the gradient by log α, log ℓ_c and Z. RBF, with K0 = αC (no jitter):
 *   ∂K/∂log α = K,   ∂K_jk/∂log ℓ_c = K0_jk (z_jc−z_kc)²/ℓ_c²,   ∂K_jk/∂z_jc = −K0_jk (z_jc−z_kc)/ℓ_c².
 * Linear: ∂K_jk/∂z_j = α z_k for k ≠ j, 2α z_j for k = j.
 */
export function addKernelMatrixTerms(
  kernel: Kernel,
  Z: Float64Array,
  p: number,
  q: number,
  gradient: KernelMatrixGradient,
  K: Float64Array,
  out: Pick<PsiGradient, "logLengthscales" | "inducing"> & { logSignalVariance: number },
): void {
  const Gamma = gradient.matrix;
  out.logSignalVariance += gradient.scale;
  for (let j = 0; j < p; j++) {
    for (let k = 0; k < p; k++) {
      if (kernel.kind === "linear") {
        const w = 2 * kernel.signalVariance * Gamma[j * p + k];
        for (let c = 0; c < q; c++) out.inducing[j * q + c] += w * Z[k * q + c];
      } else if (j !== k) {
        const w = Gamma[j * p + k] * K[j * p + k];
        for (let c = 0; c < q; c++) {
          const dz = Z[j * q + c] - Z[k * q + c];
          const l2 = kernel.lengthscales[c] * kernel.lengthscales[c];
          out.logLengthscales[c] += (w * dz * dz) / l2;
          out.inducing[j * q + c] -= (2 * w * dz) / l2;
        }
      }
    }
  }
}
