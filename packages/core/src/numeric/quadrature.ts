/**
 * Gauss–Hermite quadrature for the standard normal: ∫ f(x) N(x|0,1) dx ≈ Σ weights_k f(nodes_k), exact for
 * polynomials up to degree 2n−1. Golub–Welsch: eigenvalues of the Jacobi matrix of the Hermite polynomials.
 */
import { symmetricEigen } from "./symmetric-eigen.ts";

/** Points [K,q] and weights [K] of a rule for N(0, I). */
export interface ProductRule {
  readonly points: Float64Array;
  readonly weights: Float64Array;
}

export interface QuadratureRule {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

/** Nodes and weights of n points. */
export function gaussHermite(n: number): QuadratureRule {
  const J = new Float64Array(n * n);
  for (let k = 1; k < n; k++) {
    J[k * n + k - 1] = Math.sqrt(k);
    J[(k - 1) * n + k] = Math.sqrt(k);
  }
  const { values, vectors } = symmetricEigen(J, n);
  const weights = new Float64Array(n);
  for (let k = 0; k < n; k++) weights[k] = vectors[k] * vectors[k];
  return { nodes: values, weights };
}

/** The product rule of n points along each of q axes. */
export function productRule(n: number, q: number): ProductRule {
  const { nodes, weights } = gaussHermite(n);
  const axes = Array.from({ length: n ** q }, (_, k) =>
    Array.from({ length: q }, (_, c) => Math.floor(k / n ** c) % n),
  );
  return {
    points: Float64Array.from(axes.flatMap((at) => at.map((j) => nodes[j]))),
    weights: Float64Array.from(axes, (at) => at.reduce((product, j) => product * weights[j], 1)),
  };
}
