/**
 * How the bound depends on the kernel matrix K of the inducing places, q(u) = N(m, S) held fixed
 * (docs/math/dtm-paper.md §5). Whitened, with X = L_K⁻¹, R_kl = Ξ_kl + ν_k ν_l', Ω̃_kl = XΩ_klX' and Φ̃ = Σ_k Ω̃_kk,
 *   Γ = ∂ℒ/∂K = X'HX,   H = σ⁻² sym(Σ_kl R_kl Ω̃_kl − 𝒱(X𝒴)') − Φ̃/(2σ²) + ½ Σ_k R_kk − (d/2) I,   ⟨Γ, K⟩ = tr H.
 * H is formed first because its terms cancel; the same in terms of K⁻¹ loses more digits the nearer K is to singular.
 * When q(u) is re-optimised at every trial point these partial derivatives are the total ones (envelope theorem).
 */
import { multiply, symmetrizeInPlace, trace, transpose } from "../../numeric/matrix.ts";
import type { Kernel } from "../gp/kernel.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import type { Band, DataSums, InducingPosterior } from "./inducing-posterior.ts";
import type { PsiGradient } from "./psi.ts";

/** Γ and its product with K. */
export interface KernelMatrixGradient {
  /** Γ, symmetric [p,p]. */
  readonly matrix: Float64Array;
  /** ⟨Γ, K⟩, the derivative by log α through K. */
  readonly scale: number;
}

/** ∂ℒ/∂K for data sums and q(v) = N(ν, Ξ). */
export function kernelMatrixGradient(
  sums: DataSums,
  band: Band,
  posterior: InducingPosterior,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
): KernelMatrixGradient {
  const { mean, covariance } = posterior;
  const X = factor.inverseCholesky;
  const XT = transpose(X, p, p);
  const pp = p * p;
  const dp = d * p;
  const weight = 1 / noiseVariance;
  const whitened = multiply(X, sums.cross, p, p, d); // X𝒴 [p,d]
  const H = multiply(transpose(mean, d, p), transpose(whitened, p, d), p, d, p);
  for (let e = 0; e < pp; e++) H[e] *= -weight;
  for (let j = 0; j < p; j++) H[j * p + j] -= 0.5 * d;
  const half = new Float64Array(pp);
  const omega = new Float64Array(pp);
  const R = new Float64Array(pp);
  const product = new Float64Array(pp);
  for (let b = 0; b < band.numBand; b++) {
    const k = band.bandRow[b];
    const l = band.bandColumn[b];
    multiply(X, sums.gram.subarray(b * pp, (b + 1) * pp), p, p, p, half);
    multiply(half, XT, p, p, p, omega);
    symmetrizeInPlace(omega, p);
    // R_kl Ω̃_kl + R_lk Ω̃_lk = (R_kl + R_kl') Ω̃_kl, because R_lk = R_kl' and Ω̃_lk = Ω̃_kl.
    for (let j = 0; j < p; j++) {
      for (let i = 0; i < p; i++) {
        const own = covariance[(k * p + j) * dp + l * p + i] + mean[k * p + j] * mean[l * p + i];
        const mirrored = covariance[(k * p + i) * dp + l * p + j] + mean[k * p + i] * mean[l * p + j];
        R[j * p + i] = k === l ? own : own + mirrored;
      }
    }
    multiply(R, omega, p, p, p, product);
    for (let e = 0; e < pp; e++) H[e] += weight * product[e];
    if (k === l) for (let e = 0; e < pp; e++) H[e] += 0.5 * (R[e] - weight * omega[e]);
  }
  symmetrizeInPlace(H, p);
  const matrix = multiply(multiply(XT, H, p, p, p), X, p, p, p);
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
