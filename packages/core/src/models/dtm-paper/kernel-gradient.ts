/**
 * How the bound depends on the kernel matrix K of the inducing places, q(u) = N(m, S) held fixed
 * (docs/math/dtm-paper.md §5). In coefficient space, with B_kl = C_kl + a_k a_l' and Φ = Σ_k Ω_kk,
 *   Γ = ∂ℒ/∂K = σ⁻² sym[(Σ_kl B_kl Ω_kl − A𝒴') K⁻¹] − K⁻¹ΦK⁻¹/(2σ²) + ½ Σ_k B_kk − (d/2) K⁻¹.
 * When q(u) is re-optimised at every trial point these partial derivatives are the total ones (envelope theorem).
 */
import { multiply, symmetrizeInPlace } from "../../numeric/matrix.ts";
import type { Kernel } from "../gp/kernel.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import type { InducingCoefficients } from "./inducing-coefficients.ts";
import type { Band, DataSums } from "./inducing-posterior.ts";
import type { PsiGradient } from "./psi.ts";

/** Γ, symmetric [p,p]. */
export function kernelMatrixGradient(
  sums: DataSums,
  band: Band,
  posterior: InducingCoefficients,
  factor: KernelFactor,
  noiseVariance: number,
  p: number,
  d: number,
): Float64Array {
  const { mean: A, blocks } = posterior;
  const Kinv = factor.inverse;
  const pp = p * p;
  const inner = new Float64Array(pp); // Σ_kl B_kl Ω_kl − A𝒴'
  const Phi = new Float64Array(pp);
  const energy = new Float64Array(pp); // Σ_k B_kk
  const product = new Float64Array(pp);
  for (let j = 0; j < p; j++) {
    for (let i = 0; i < p; i++) {
      let s = 0;
      for (let k = 0; k < d; k++) s += A[j * d + k] * sums.cross[i * d + k];
      inner[j * p + i] = -s;
    }
  }
  for (let b = 0; b < band.numBand; b++) {
    const k = band.bandRow[b];
    const l = band.bandColumn[b];
    const omega = sums.gram.subarray(b * pp, (b + 1) * pp);
    const T = blocks.subarray((k * d + l) * pp, (k * d + l + 1) * pp);
    // B_kl Ω_kl + B_lk Ω_lk = 2 T_kl Ω_kl, because B_lk = B_kl' and Ω_lk = Ω_kl.
    multiply(T, omega, p, p, p, product);
    const times = k === l ? 1 : 2;
    for (let e = 0; e < pp; e++) inner[e] += times * product[e];
    if (k === l) {
      for (let e = 0; e < pp; e++) {
        Phi[e] += omega[e];
        energy[e] += T[e];
      }
    }
  }
  // (inner − ½ K⁻¹Φ) K⁻¹ carries both terms that end in K⁻¹.
  multiply(Kinv, Phi, p, p, p, product);
  for (let e = 0; e < pp; e++) inner[e] -= 0.5 * product[e];
  const Gamma = multiply(inner, Kinv, p, p, p);
  for (let e = 0; e < pp; e++) Gamma[e] = Gamma[e] / noiseVariance + 0.5 * energy[e] - 0.5 * d * Kinv[e];
  symmetrizeInPlace(Gamma, p);
  return Gamma;
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
  Gamma: Float64Array,
  K: Float64Array,
  out: Pick<PsiGradient, "logLengthscales" | "inducing"> & { logSignalVariance: number },
): void {
  for (let e = 0; e < p * p; e++) out.logSignalVariance += Gamma[e] * K[e];
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
