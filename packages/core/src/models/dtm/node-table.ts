/**
 * The map at every node, in the form in which the expectation step reads it (docs/math/dtm.md §6). With
 *   f̄_g = 𝒱'a_g,   R_g,kl = E f_k(x_g) f_l(x_g) = a_g'(Ξ_kl + ν_k ν_l')a_g + δ_kl k̃_g,
 * the table holds one column per node: f̄_g in the first d rows, then −½R_g,kk and −R_g,kl (k < l) in packed order. So
 *   g̃'f̄_g − ½⟨G̃, R_g⟩ = ⟨packed row of the individual, column g⟩.   O(Γp²d²/4).
 */
import { addBlockOuter, ROW_BLOCK } from "../../numeric/row-blocks.ts";
import { packedStride } from "./individual-statistics.ts";
import type { InducingLayout } from "./inducing-layout.ts";
import { type InducingWorkspace, pairProducts } from "./inducing-posterior.ts";
import type { NodeKernel } from "./node-kernel.ts";
import { wasmAddPairs } from "./wasm-map.ts";

/** Mean and second moment of the map, one column per node. */
export interface NodeTable {
  readonly numNodes: number; // Γ
  readonly stride: number; // K, number of rows, padding included
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
  const { numBasis: d, numInducing: p, numNodes: n, basisRow, basisColumn, inducingRow, firstRow, numRows } = layout;
  const { rows } = out;
  const A = kernel.features;
  rows.fill(0);
  const pack = (pair: number, sums: Float64Array) => packSecondMoments(layout, mean, covariance, pair, sums);
  if (ws.wasm !== null) {
    wasmAddPairs(ws.wasm, layout, A, pack, ws.sums, rows);
  } else {
    for (let pair = 0; pair < inducingRow.length; pair += ROW_BLOCK) {
      pairProducts(layout, A, A, pair, ws.products);
      pack(pair, ws.sums);
      addBlockOuter(ws.sums, 0, numRows, numRows, ws.products, n, rows, firstRow);
    }
  }
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

/** For pairs first..first+3: the coefficient of a_j a_j' in −½R_kk or −R_kl, [4,numRows]; zero beyond the last pair. */
function packSecondMoments(
  layout: InducingLayout,
  mean: Float64Array,
  covariance: Float64Array,
  first: number,
  out: Float64Array,
): void {
  const { numBasis: d, numInducing: p, basisRow, basisColumn, inducingRow, inducingColumn, firstRow, numRows } = layout;
  const dp = d * p;
  out.fill(0, 0, ROW_BLOCK * numRows);
  const shift = d - firstRow;
  for (let b = 0; b < ROW_BLOCK && first + b < inducingRow.length; b++) {
    const i = inducingRow[first + b];
    const j = inducingColumn[first + b];
    for (let e = 0; e < basisRow.length; e++) {
      const k = basisRow[e] * p;
      const l = basisColumn[e] * p;
      let R = covariance[(k + i) * dp + l + j] + mean[k + i] * mean[l + j];
      if (i !== j) R += covariance[(k + j) * dp + l + i] + mean[k + j] * mean[l + i];
      out[b * numRows + shift + e] = k === l ? -0.5 * R : -R;
    }
  }
}
