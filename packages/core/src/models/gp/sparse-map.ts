/**
 * The fitted map f: place → spline coefficients, as a sparse Gaussian process with whitened inducing posterior
 *   u_k = L_K v_k,  K = L_K L_K',  q(v) = N(ν, Ξ),  index kp + j (coefficient k, inducing place j).
 * At a place x, with a = L_K⁻¹ k(x) (docs/math/dtm.md §6):
 *   E f(x) = 𝒱'a,   Cov f(x)_kl = a'Ξ_kl a + δ_kl max(0, k(x,x) − a'a),   𝒱 = ν as [p,d].
 */
import { cholesky, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { transpose } from "../../numeric/matrix.ts";
import { type Kernel, kernelCross, kernelMatrix, kernelVariance } from "./kernel.ts";

export interface SparseMap {
  readonly kernel: Kernel;
  readonly mapDimension: number; // q
  readonly numInducing: number; // p
  readonly numBasis: number; // d
  /** Z, [p,q]. */
  readonly inducingLocations: Float64Array;
  /** ν, [d·p]. */
  readonly inducingMean: Float64Array;
  /** Ξ, [d·p, d·p], symmetric. */
  readonly inducingCovariance: Float64Array;
}

export interface MapMoments {
  /** E f(x_n), [n,d]. */
  readonly means: Float64Array;
  /** Cov f(x_n), [n,d,d]. */
  readonly covariances: Float64Array;
}

/** a = L_K⁻¹ k(x_n) as columns, [p,n], for given places X [n,q]. */
export function whitenedFeatures(
  kernel: Kernel,
  Z: Float64Array,
  p: number,
  q: number,
  X: Float64Array,
  n: number,
): Float64Array {
  const L = cholesky(kernelMatrix(kernel, Z, p, q), p, "kernel matrix of the inducing places");
  const A = transpose(kernelCross(kernel, X, n, Z, p, q), n, p);
  solveLowerMatrixInPlace(L, p, A, n);
  return A;
}

/** Mean of the coefficients at places X [n,q] (in the fit's frame), [n,d]. */
export function mapMeans(map: SparseMap, X: Float64Array, n: number): Float64Array {
  const { kernel, mapDimension: q, numInducing: p, numBasis: d, inducingMean: v } = map;
  const A = whitenedFeatures(kernel, map.inducingLocations, p, q, X, n);
  const means = new Float64Array(n * d);
  for (let k = 0; k < d; k++) {
    for (let j = 0; j < p; j++) {
      const vj = v[k * p + j];
      for (let g = 0; g < n; g++) means[g * d + k] += vj * A[j * n + g];
    }
  }
  return means;
}

/** Mean and covariance of the coefficients at places X [n,q] (in the fit's frame). */
export function mapMoments(map: SparseMap, X: Float64Array, n: number): MapMoments {
  const { kernel, mapDimension: q, numInducing: p, numBasis: d, inducingMean: v, inducingCovariance: Xi } = map;
  const A = whitenedFeatures(kernel, map.inducingLocations, p, q, X, n);
  const means = new Float64Array(n * d);
  const covariances = new Float64Array(n * d * d);
  const a = new Float64Array(p);
  const dp = d * p;
  for (let g = 0; g < n; g++) {
    let aa = 0;
    for (let j = 0; j < p; j++) {
      a[j] = A[j * n + g];
      aa += a[j] * a[j];
    }
    const rest = Math.max(0, kernelVariance(kernel, X, g, q) - aa);
    for (let k = 0; k < d; k++) {
      let mean = 0;
      for (let j = 0; j < p; j++) mean += v[k * p + j] * a[j];
      means[g * d + k] = mean;
      for (let l = 0; l <= k; l++) {
        let s = 0;
        for (let j = 0; j < p; j++) {
          const row = (k * p + j) * dp + l * p;
          let t = 0;
          for (let i = 0; i < p; i++) t += Xi[row + i] * a[i];
          s += a[j] * t;
        }
        if (k === l) s += rest;
        covariances[(g * d + k) * d + l] = s;
        covariances[(g * d + l) * d + k] = s;
      }
    }
  }
  return { means, covariances };
}
