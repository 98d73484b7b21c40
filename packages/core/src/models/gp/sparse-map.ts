/**
 * The fitted map f: place → spline coefficients, as a sparse Gaussian process with whitened inducing posterior
 *   u_k = L_K v_k,  K = L_K L_K',  q(v) = N(ν, Ξ),  index kp + j (coefficient k, inducing point j).
 * At a place x, with a = L_K⁻¹ k(x) (docs/math/dtm.md §6):
 *   E f(x) = 𝒱'a,   Cov f(x)_kl = a'Ξ_kl a + δ_kl max(0, k(x,x) − a'a),   𝒱 = ν as [p,d].
 */
import { cholesky, solveLowerInPlace } from "../../numeric/cholesky.ts";
import { dot } from "../../numeric/matrix.ts";
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

/** Writes E f(x) [d] and, unless it is null, Cov f(x) [d,d] at a place x [q] of the fit's frame. */
export type MapDecoder = (x: Float64Array, mean: Float64Array, covariance: Float64Array | null) => void;

/** A decoder of the map, which factors the kernel matrix once. Cost per place: p²/2 + dp, with covariance d²p²/4 more. */
export function mapDecoder(map: SparseMap): MapDecoder {
  const { kernel, mapDimension: q, numInducing: p, numBasis: d, inducingLocations: Z, inducingMean: v } = map;
  const L = cholesky(kernelMatrix(kernel, Z, p, q), p, "kernel matrix of the inducing points");
  const a = new Float64Array(p);
  const numPairs = (p * (p + 1)) / 2;
  const pairs = new Float64Array(numPairs); // a_j a_i, i ≤ j
  let folded: Float64Array | undefined;
  return (x, mean, covariance) => {
    kernelCross(kernel, x, 1, Z, p, q, a);
    solveLowerInPlace(L, p, a);
    for (let k = 0; k < d; k++) {
      let s = 0;
      for (let j = 0; j < p; j++) s += v[k * p + j] * a[j];
      mean[k] = s;
    }
    if (covariance === null) return;
    folded ??= foldCovariance(map);
    let rest = kernelVariance(kernel, x, 0, q);
    for (let j = 0, at = 0; j < p; j++) {
      rest -= a[j] * a[j];
      for (let i = 0; i <= j; i++) pairs[at++] = a[j] * a[i];
    }
    for (let k = 0, row = 0; k < d; k++) {
      for (let l = 0; l <= k; l++, row += numPairs) {
        const s = dot(folded.subarray(row, row + numPairs), pairs) + (k === l ? Math.max(0, rest) : 0);
        covariance[k * d + l] = s;
        covariance[l * d + k] = s;
      }
    }
  };
}

/** Mean of the coefficients at places X [n,q] (in the fit's frame), [n,d]; their covariances go to [n,d,d] where given. */
export function mapMeans(
  map: SparseMap,
  X: Float64Array,
  n: number,
  covariances: Float64Array | null = null,
): Float64Array {
  const { mapDimension: q, numBasis: d } = map;
  const decode = mapDecoder(map);
  const means = new Float64Array(n * d);
  for (let g = 0; g < n; g++) {
    const covariance = covariances?.subarray(g * d * d, (g + 1) * d * d) ?? null;
    decode(X.subarray(g * q, (g + 1) * q), means.subarray(g * d, (g + 1) * d), covariance);
  }
  return means;
}

/** Mean and covariance of the coefficients at places X [n,q] (in the fit's frame). */
export function mapMoments(map: SparseMap, X: Float64Array, n: number): MapMoments {
  const covariances = new Float64Array(n * map.numBasis ** 2);
  return { means: mapMeans(map, X, n, covariances), covariances };
}

/** Ξ_kl + Ξ_kl' at j > i and Ξ_kl at j = i, so that a'Ξ_kl a is a sum over pairs i ≤ j: [d(d+1)/2, p(p+1)/2]. */
function foldCovariance({ numInducing: p, numBasis: d, inducingCovariance: Xi }: SparseMap): Float64Array {
  const dp = d * p;
  const out = new Float64Array((d * (d + 1) * p * (p + 1)) / 4);
  for (let k = 0, at = 0; k < d; k++) {
    for (let l = 0; l <= k; l++) {
      const corner = k * p * dp + l * p;
      for (let j = 0; j < p; j++) {
        for (let i = 0; i < j; i++) out[at++] = Xi[corner + j * dp + i] + Xi[corner + i * dp + j];
        out[at++] = Xi[corner + j * dp + j];
      }
    }
  }
  return out;
}
