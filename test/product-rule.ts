import type { QuadratureRule } from "../packages/core/src/numeric/quadrature.ts";

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
