/**
 * How the bound depends on the kernel matrix K = L L' of the inducing points, q(u) held fixed (docs/math/dtm-paper.md §5).
 * With X = L⁻¹, q(a) = N(A, C) in coefficient space, T_kl = sym(C_kl + a_k a_l') and Φ = Σ_k Ω_kk,
 *   Γ = ∂ℒ/∂K = X'HX,   H = sym(L'M) − XΦX'/(2σ²) − (d/2) I,   ⟨Γ, K⟩ = tr H,
 *   M = σ⁻²(Σ_kl T_kl Ω_kl X' − A(X𝒴)') + ½ Σ_k T_kk L.
 * H is formed first because its terms cancel; the same in terms of K⁻¹ loses more digits the nearer K is to singular.
 * When q(u) is re-optimised at every trial point these partial derivatives are the total ones (envelope theorem).
 */
import { multiply, symmetrizeInPlace, trace, transpose } from "../../numeric/matrix.ts";
import type { DataSums, MapPosterior } from "./inducing.ts";

/** Γ = ∂ℒ/∂K, symmetric [p,p], and ⟨Γ, K⟩ for data sums and q(a). Two products of order p per entry of the band. */
function kernelMatrixGradient(map: MapPosterior, sums: DataSums) {
  const { statistics: band, posterior, factor } = map;
  const { numInducing: p, numBasis: d, noiseVariance } = map.parameters;
  const { cholesky: L, inverseCholesky: X } = factor;
  const XT = transpose(X, p, p);
  const pp = p * p;
  const square = (A: Float64Array, B: Float64Array) => multiply(A, B, p, p, p);
  const M = new Float64Array(pp);
  const summed = new Float64Array(pp); // Φ
  const diagonal = new Float64Array(pp); // Σ_k T_kk
  for (let b = 0; b < band.numBand; b++) {
    const omega = sums.gram.subarray(b * pp, (b + 1) * pp);
    const T = posterior.blocks.subarray(b * pp, (b + 1) * pp);
    const onDiagonal = band.bandRow[b] === band.bandColumn[b];
    add(M, (onDiagonal ? 1 : 2) / noiseVariance, square(T, square(omega, XT)));
    if (!onDiagonal) continue;
    add(summed, 1, omega);
    add(diagonal, 1, T);
  }
  const whitened = multiply(X, sums.cross, p, p, d); // X𝒴 [p,d]
  add(M, -1 / noiseVariance, multiply(posterior.mean, transpose(whitened, p, d), p, d, p));
  add(M, 0.5, square(diagonal, L));
  const H = square(transpose(L, p, p), M);
  add(H, -0.5 / noiseVariance, square(square(X, summed), XT));
  for (let j = 0; j < p; j++) H[j * p + j] -= 0.5 * d;
  symmetrizeInPlace(H, p);
  const matrix = square(square(XT, H), X);
  symmetrizeInPlace(matrix, p);
  return { Gamma: matrix, scale: trace(H, p) };
}

/** a += scale · b. */
function add(a: Float64Array, scale: number, b: Float64Array): void {
  for (let e = 0; e < a.length; e++) a[e] += scale * b[e];
}

/**
 * Adds ⟨Γ, ∂K⟩ to the gradient by log α and, for the RBF kernel, log ℓ_c; with K0 = αC (no jitter)
 *   ∂K/∂log α = K,   ∂K_jk/∂log ℓ_c = K0_jk (z_jc−z_kc)²/ℓ_c². Returns Γ.
 */
export function addKernelTerms(
  map: MapPosterior,
  sums: DataSums,
  out: { logSignalVariance: number; readonly logLengthscales: Float64Array },
): Float64Array {
  const { kernel, inducingLocations: Z, numInducing: p, mapDimension: q } = map.parameters;
  const K = map.factor.matrix;
  const { Gamma, scale } = kernelMatrixGradient(map, sums);
  out.logSignalVariance += scale;
  for (let j = 0; j < p && kernel.kind === "rbf"; j++) {
    for (let k = 0; k < p; k++) {
      for (let c = 0; c < q; c++) {
        const apart = (Z[j * q + c] - Z[k * q + c]) / kernel.lengthscales[c];
        out.logLengthscales[c] += Gamma[j * p + k] * K[j * p + k] * apart * apart;
      }
    }
  }
  return Gamma;
}
