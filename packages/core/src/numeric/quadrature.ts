/**
 * Gauss–Hermite quadrature for the standard normal: ∫ f(x) N(x|0,1) dx ≈ Σ weights_k f(nodes_k), exact for
 * polynomials up to degree 2n−1. Golub–Welsch: eigenvalues of the Jacobi matrix of the Hermite polynomials.
 */
import { symmetricEigen } from "./symmetric-eigen.ts";

export interface QuadratureRule {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

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

/** Nodes [n^q, q] and log weights [n^q] of the product rule for N(0, I_q), first dimension slowest. */
export function productRule(
  rule: QuadratureRule,
  q: number,
): { readonly nodes: Float64Array; readonly logWeights: Float64Array } {
  const n = rule.nodes.length;
  const total = n ** q;
  const nodes = new Float64Array(total * q);
  const logWeights = new Float64Array(total);
  for (let i = 0; i < total; i++) {
    let rest = i;
    for (let c = q - 1; c >= 0; c--) {
      const k = rest % n;
      rest = (rest - k) / n;
      nodes[i * q + c] = rule.nodes[k];
      logWeights[i] += Math.log(rule.weights[k]);
    }
  }
  return { nodes, logWeights };
}
