/**
 * The map at every node, in the form in which the expectation step reads it (docs/math/dtm.md §6). With
 *   f̄_g = 𝒱'a_g,   R_g,kl = E f_k(x_g) f_l(x_g) = a_g'(Ξ_kl + ν_k ν_l')a_g + δ_kl k̃_g,
 * the table holds one column per node: f̄_g in the first d rows, then −½R_g,kk and −R_g,kl (k < l) in packed order. So
 *   g̃'f̄_g − ½⟨G̃, R_g⟩ = ⟨packed row of the individual, column g⟩.   O(Γp²d²/4).
 */
import { packedStride } from "./individual-statistics.ts";
import type { InducingWorkspace } from "./inducing-posterior.ts";
import type { NodeKernel } from "./node-kernel.ts";
import { type InducingLayout, pairRows } from "./pairs.ts";

/** Mean and second moment of the map, one column per node. */
export interface NodeTable {
  readonly numNodes: number; // Γ
  readonly stride: number; // number of rows: K of an individual's packed row, or more
  readonly rows: Float64Array; // [K,Γ]
  readonly logWeights: Float64Array; // log π_g [Γ]
}

/** An empty table to be filled. */
export function nodeTable(layout: InducingLayout, logWeights: Float64Array): NodeTable {
  const stride = packedStride(layout.numBasis);
  return { numNodes: layout.numNodes, stride, rows: new Float64Array(stride * layout.numNodes), logWeights };
}

/** Fills the table from ν and Ξ. */
export function fillNodeTable(
  layout: InducingLayout,
  kernel: NodeKernel,
  mean: Float64Array,
  covariance: Float64Array,
  ws: InducingWorkspace,
  out: NodeTable,
): void {
  const { numBasis: d, numInducing: p, numNodes: n, basisRow, basisColumn } = layout;
  const { rows } = out;
  const A = kernel.features;
  rows.fill(0);
  packSecondMoments(layout, mean, covariance, ws.sums);
  ws.pairs.add(A, ws.sums, pairRows(layout, rows));
  for (let e = 0; e < basisRow.length; e++) {
    if (basisRow[e] !== basisColumn[e]) continue;
    const row = (d + e) * n;
    for (let g = 0; g < n; g++) rows[row + g] -= 0.5 * kernel.restVariance[g];
  }
  for (let k = 0; k < d; k++) {
    const row = k * n;
    for (let j = 0; j < p; j++) {
      const v = mean[k * p + j];
      for (let g = 0; g < n; g++) rows[row + g] += v * A[j * n + g];
    }
  }
}

/** The coefficient of a_i a_j in −½R_kk or −R_kl, [pairs (i ≤ j), pairs (k ≤ l)]. */
function packSecondMoments(
  layout: InducingLayout,
  mean: Float64Array,
  covariance: Float64Array,
  out: Float64Array,
): void {
  const { numBasis: d, numInducing: p, basisRow, basisColumn, inducingRow, inducingColumn } = layout;
  const dp = d * p;
  let at = 0;
  for (let pair = 0; pair < inducingRow.length; pair++) {
    const i = inducingRow[pair];
    const j = inducingColumn[pair];
    for (let e = 0; e < basisRow.length; e++) {
      const k = basisRow[e] * p;
      const l = basisColumn[e] * p;
      let R = covariance[(k + i) * dp + l + j] + mean[k + i] * mean[l + j];
      if (i !== j) R += covariance[(k + j) * dp + l + i] + mean[k + j] * mean[l + i];
      out[at++] = k === l ? -0.5 * R : -R;
    }
  }
}
