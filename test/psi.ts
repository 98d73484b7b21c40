/**
 * Psi statistics: expectations of the kernel under a Gaussian place x ~ N(m, S) (docs/math/dtm-paper.md §2),
 *   ψ0 = E k(x,x),   ψ1_j = E k(x,z_j),   Ψ2_jk = E k(x,z_j) k(x,z_k).
 * RBF with D² = diag(ℓ²), P1 = (D² + S)⁻¹, P2 = (D² + 2S)⁻¹, z̄ = (z_j + z_k)/2:
 *   ψ0 = α,   ψ1_j = α |I + D⁻²S|^(−½) exp(−½ (m−z_j)'P1(m−z_j)),
 *   Ψ2_jk = α² |I + 2D⁻²S|^(−½) exp(−¼ Σ_c (z_jc−z_kc)²/ℓ_c² − (m−z̄)'P2(m−z̄)).
 * Linear:
 *   ψ0 = α(tr S + m'm),   ψ1 = αZm,   Ψ2 = α² Z(S + mm')Z'.
 * S⁻¹ never appears, so S → 0 is safe. Derivatives come as a pull-back: given w = ∂J/∂ψ, `addPsiGradient` adds
 * ∂J/∂(m, S, log α, log ℓ, Z). Any q and any places, O(p²q²) per individual; the product collapses weights on ψ first
 * (models/paper/features.ts).
 */
import { bumpShape, featuresOf } from "../packages/core/src/models/paper/features.ts";
import type { InducingKernel, Place } from "../packages/core/src/models/paper/state.ts";
import { dot, multiply, multiplyVector, trace, transpose } from "../packages/core/src/numeric/matrix.ts";

/** ψ0, ψ1 [p], Ψ2 [p,p] of one individual; also used for the weights ∂J/∂ψ (then Ψ2's part is symmetric, over all j,k). */
export interface Psi {
  psi0: number;
  readonly psi1: Float64Array;
  readonly psi2: Float64Array;
}

/** Sums of derivatives that a pull-back adds to. */
export interface PsiGradient {
  /** ∂/∂m, [q]. */
  readonly location: Float64Array;
  /** ∂/∂S as a symmetric matrix: dJ = ⟨∂J/∂S, dS⟩, [q,q]. */
  readonly covariance: Float64Array;
  logSignalVariance: number;
  /** ∂/∂log ℓ_c, [q]; zero for the linear kernel. */
  readonly logLengthscales: Float64Array;
  /** ∂/∂Z, [p,q]. */
  readonly inducing: Float64Array;
}

/** Empty statistics for p inducing points. */
export function createPsi(p: number): Psi {
  return { psi0: 0, psi1: new Float64Array(p), psi2: new Float64Array(p * p) };
}

/** A zero gradient. */
export function createPsiGradient(p: number, q: number): PsiGradient {
  return {
    location: new Float64Array(q),
    covariance: new Float64Array(q * q),
    logSignalVariance: 0,
    logLengthscales: new Float64Array(q),
    inducing: new Float64Array(p * q),
  };
}

/** The mean and covariance of a place. */
type PlaceMoments = Pick<Place, "m" | "S">;

/** Writes ψ0, ψ1, Ψ2 of N(m, S) to `out`. */
export function computePsi(at: InducingKernel, place: PlaceMoments, out: Psi): void {
  const features = featuresOf(at);
  const [first, second] = [new Float64Array(features.numFirst), new Float64Array(features.numSecond)];
  features.values(place, first, second);
  features.expandFirst(first, 1, out.psi1);
  features.expandSecond(second, out.psi2);
  // The second features of the linear kernel are S + mm'.
  out.psi0 = at.kernel.signalVariance * (at.kernel.kind === "rbf" ? 1 : trace(second, at.mapDimension));
}

/** Weights w = ∂J/∂(ψ0, ψ1, Ψ2) on the statistics `psi` of a place. */
export interface WeightedPsi {
  readonly place: PlaceMoments;
  readonly psi: Psi;
  readonly weights: Psi;
}

/** Adds the derivatives of J through ψ to `out`. */
export function addPsiGradient(at: InducingKernel, weighted: WeightedPsi, out: PsiGradient): void {
  const { psi, weights } = weighted;
  out.logSignalVariance += weights.psi0 * psi.psi0 + dot(weights.psi1, psi.psi1) + 2 * dot(weights.psi2, psi.psi2);
  if (at.kernel.kind === "rbf") addRbfGradient(at, at.kernel.lengthscales, weighted, out);
  else addLinearGradient(at, weighted, out);
}

/**
 * ψ1_j and Ψ2_jk are bumps around z̄ = (z_j + z_k)/2, with k = j for ψ1. With y = R(m−z̄), R = P1 for ψ1 (s = 1) and 2P2 for
 * Ψ2 (s = 2), Δ = z_j − z_k, per unit of the bump:
 *   ∂m: −y;   ∂S: ½(yy' − R);   ∂log ℓ_c: 1 + ℓ_c²(y_c² − R_cc)/s + Δ_c²/(2ℓ_c²);   ∂z_j, ∂z_k: ½(y ∓ D⁻²Δ).
 */
function addRbfGradient(
  { inducingLocations: Z, numInducing: p, mapDimension: q }: InducingKernel,
  lengthscales: Float64Array,
  { place: { m, S }, psi, weights }: WeightedPsi,
  { location, covariance, logLengthscales, inducing }: PsiGradient,
): void {
  const shapes = [1, 2].map((spread) => bumpShape(lengthscales, S, spread).R);
  const delta = new Float64Array(q);
  const y = new Float64Array(q);
  const add = (spread: 1 | 2, j: number, k: number, weight: number): void => {
    const R = shapes[spread - 1];
    for (let c = 0; c < q; c++) delta[c] = m[c] - 0.5 * (Z[j * q + c] + Z[k * q + c]);
    multiplyVector(R, delta, q, q, y);
    for (let c = 0; c < q; c++) {
      const l2 = lengthscales[c] ** 2;
      const dz = Z[j * q + c] - Z[k * q + c];
      location[c] -= weight * y[c];
      inducing[j * q + c] += 0.5 * weight * (y[c] - dz / l2);
      inducing[k * q + c] += 0.5 * weight * (y[c] + dz / l2);
      logLengthscales[c] += weight * (1 + (l2 * (y[c] * y[c] - R[c * q + c])) / spread + (0.5 * dz * dz) / l2);
      for (let b = 0; b < q; b++) covariance[c * q + b] += 0.5 * weight * (y[c] * y[b] - R[c * q + b]);
    }
  };
  for (let j = 0; j < p; j++) {
    add(1, j, j, weights.psi1[j] * psi.psi1[j]);
    for (let k = 0; k <= j; k++) {
      add(2, j, k, (j === k ? 1 : 2) * weights.psi2[j * p + k] * psi.psi2[j * p + k]);
    }
  }
}

/** ∂m: 2αm w0 + αZ'w1 + 2α²Z'W2Zm;  ∂S: αI w0 + α²Z'W2Z;  ∂Z: α w1 m' + 2α²W2Z(S + mm'). */
function addLinearGradient(
  { kernel, inducingLocations: Z, numInducing: p, mapDimension: q }: InducingKernel,
  { place: { m, S }, weights }: WeightedPsi,
  { location, covariance, inducing }: PsiGradient,
): void {
  const alpha = kernel.signalVariance;
  const linear = multiplyVector(transpose(Z, p, q), weights.psi1, q, p); // Z'w1
  const WZ = multiply(weights.psi2, Z, p, p, q);
  const quadratic = multiply(transpose(Z, p, q), WZ, q, p, q); // Z'W2Z
  const moment = S.map((s, e) => s + m[Math.floor(e / q)] * m[e % q]); // S + mm'
  const pulled = multiply(WZ, moment, p, q, q);
  for (let c = 0; c < q; c++) {
    location[c] += alpha * (2 * weights.psi0 * m[c] + linear[c]);
    covariance[c * q + c] += alpha * weights.psi0;
    for (let b = 0; b < q; b++) {
      location[c] += 2 * alpha * alpha * quadratic[c * q + b] * m[b];
      covariance[c * q + b] += alpha * alpha * quadratic[c * q + b];
    }
    for (let j = 0; j < p; j++) {
      inducing[j * q + c] += alpha * weights.psi1[j] * m[c] + 2 * alpha * alpha * pulled[j * q + c];
    }
  }
}
