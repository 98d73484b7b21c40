/**
 * The expectation step (docs/math/dtm.md §7): for each individual the log weights of the nodes, their normaliser and what
 * the following steps need of the responsibilities, which are never kept:
 *   E_ig = log π_g + g̃_i'f̄_g − ½⟨G̃_i, R_g⟩,   λ_i = log Σ_g exp E_ig,   r_ig = exp(E_ig − λ_i),
 *   node sums  Σ_i r_ig (g̃_i, G̃_i)  [K,Γ]   and moments  Σ_g r_ig (f̄_g, −½R_g,kk, −R_g,kl)  [m,K],
 *   bound  F = Σ_i (c_i + λ_i) − KL.
 * Four individuals at a time: packed statistics times the node table, exponentials, two more products. O(mΓd²/2 · 2 or 3).
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { expShiftedInPlace } from "../../numeric/fast-exp.ts";
import { addBlockOuter, addBlockTimesTable, blockDotTable, ROW_BLOCK } from "../../numeric/row-blocks.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import {
  type IndividualModel,
  type IndividualWorkspace,
  individualWorkspace,
  packedStride,
  packIndividual,
} from "./individual-statistics.ts";
import type { NodeTable } from "./node-table.ts";
import type { ExpectationOutputs } from "./pass-outputs.ts";
import { createWasmPass, type WasmPass, wasmExpectationPass } from "./wasm-pass.ts";

/** Buffers of one block of individuals. */
export interface ExpectationWorkspace {
  readonly individual: IndividualWorkspace;
  readonly packed: Float64Array; // [4,K]
  readonly constants: Float64Array; // c [4]
  readonly responsibilities: Float64Array; // r [4,Γ]
  readonly contributions: Float64Array; // c + λ [4]
  readonly moments: Float64Array; // [4,K]
  /** The same in WebAssembly, where it is used. */
  readonly wasm: WasmPass | null;
}

/** Buffers for d coefficients and Γ nodes; passes run on the given kernels. */
export function expectationWorkspace(
  d: number,
  numNodes: number,
  kernels: KernelKind = "typescript",
): ExpectationWorkspace {
  const stride = packedStride(d);
  return {
    individual: individualWorkspace(d),
    packed: new Float64Array(ROW_BLOCK * stride),
    constants: new Float64Array(ROW_BLOCK),
    responsibilities: new Float64Array(ROW_BLOCK * numNodes),
    contributions: new Float64Array(ROW_BLOCK),
    moments: new Float64Array(ROW_BLOCK * stride),
    wasm: kernels === "wasm-simd" ? createWasmPass(d, numNodes) : null,
  };
}

/**
 * One pass over `count` individuals (those listed, or the first `count`); returns Σ (c_i + λ_i), the bound without KL.
 */
export function expectationPass(
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  model: IndividualModel,
  table: NodeTable,
  ws: ExpectationWorkspace,
  outputs: ExpectationOutputs,
): number {
  if (ws.wasm !== null) return wasmExpectationPass(ws.wasm, statistics, individuals, count, model, table, outputs);
  const { stride, numNodes } = table;
  const { nodeSums, moments, contributions } = outputs;
  let total = 0;
  for (let first = 0; first < count; first += ROW_BLOCK) {
    const size = Math.min(ROW_BLOCK, count - first);
    packBlock(statistics, individuals, first, size, model, ws);
    blockResponsibilities(table, ws);
    for (let b = 0; b < size; b++) {
      total += ws.contributions[b];
      if (contributions) contributions[first + b] = ws.contributions[b];
    }
    if (nodeSums) addBlockOuter(ws.packed, 0, stride, stride, ws.responsibilities, numNodes, nodeSums);
    if (moments) {
      blockDotTable(ws.responsibilities, table.rows, 0, stride, numNodes, ws.moments, 0, stride);
      for (let e = 0; e < size * stride; e++) moments[first * stride + e] = ws.moments[e];
    }
  }
  return total;
}

/** Packed statistics of the individuals at positions first..first+size−1; rows beyond are zero. */
export function packBlock(
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  first: number,
  size: number,
  model: IndividualModel,
  ws: ExpectationWorkspace,
): void {
  const stride = ws.packed.length / ROW_BLOCK;
  for (let b = 0; b < size; b++) {
    const i = individuals === null ? first + b : individuals[first + b];
    ws.constants[b] = packIndividual(statistics, i, model, ws.individual, ws.packed, b * stride);
  }
  ws.packed.fill(0, size * stride);
  ws.constants.fill(0, size);
}

/** Responsibilities and contributions of the packed block. */
export function blockResponsibilities(table: NodeTable, ws: ExpectationWorkspace): void {
  const { stride, numNodes: n, logWeights } = table;
  const { packed, responsibilities: r } = ws;
  for (let b = 0; b < ROW_BLOCK; b++) r.set(logWeights, b * n);
  addBlockTimesTable(packed, 0, stride, stride, table.rows, n, r);
  for (let b = 0; b < ROW_BLOCK; b++) {
    const lambda = normalizeLogWeights(r, b * n, (b + 1) * n);
    ws.contributions[b] = ws.constants[b] + lambda;
  }
}

/** Turns log weights x[start..end) into weights that sum to one, in place; returns log Σ exp x. */
export function normalizeLogWeights(x: Float64Array, start: number, end: number): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let g = start; g < end; g++) if (x[g] > max) max = x[g];
  const sum = expShiftedInPlace(x, start, end, max);
  const scale = 1 / sum;
  for (let g = start; g < end; g++) x[g] *= scale;
  return max + Math.log(sum);
}
