/**
 * The map at every node, in the form in which the expectation step reads it (docs/math/dtm.md §6). With
 *   f̄_g = 𝒱'a_g,   R_g,kl = E f_k(x_g) f_l(x_g) = a_g'(Ξ_kl + ν_k ν_l')a_g + δ_kl k̃_g,
 * the table holds one column per node: f̄_g in the first d rows, then −½R_g,kk and −R_g,kl (k < l) in packed order. So
 *   g̃'f̄_g − ½⟨G̃, R_g⟩ = ⟨packed row of the individual, column g⟩.   O(Γp²d²/4).
 */
import { multiply } from "../../numeric/matrix.ts";
import { packedStride } from "./individual-statistics.ts";
import { type InducingWorkspace, packSecondMoments } from "./inducing-posterior.ts";
import type { NodeKernel } from "./node-kernel.ts";
import { type InducingLayout, pairRows } from "./pairs.ts";

/** What a pass reads of the nodes: mean and second moment of the map of every marker, one column per node. */
export interface NodeTable {
  readonly numNodes: number; // Γ
  readonly stride: number; // number of rows: those of all markers, and of the places where they are asked for
  readonly rows: Float64Array; // [K,Γ]
  readonly logWeights: Float64Array; // log π_g [Γ]
}

/** The rows of one marker with q(v) = N(ν, Ξ), [K,Γ]. */
export function nodeTable(
  layout: InducingLayout,
  { features, restVariance }: NodeKernel,
  mean: Float64Array,
  covariance: Float64Array,
  ws: InducingWorkspace,
): Float64Array {
  const { numBasis: d, numInducing: p, numNodes: n, basisRow, basisColumn } = layout;
  const rows = new Float64Array(packedStride(d) * n);
  multiply(mean, features, d, p, n, rows);
  ws.pairs.add(features, packSecondMoments(layout, mean, covariance), pairRows(layout, rows));
  for (let e = 0; e < basisRow.length; e++) {
    if (basisRow[e] !== basisColumn[e]) continue;
    for (let g = 0; g < n; g++) rows[(d + e) * n + g] -= 0.5 * restVariance[g];
  }
  return rows;
}
