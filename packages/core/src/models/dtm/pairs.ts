/**
 * Sizes and index tables of the map, and the two sums over nodes and pairs of inducing points from which q(u) and the node
 * table are made (docs/math/dtm.md §5, §6). With pairs (j ≤ l) of inducing points, features A, B [p,Γ] and rows over nodes:
 *   sum:  S[jl, r] = Σ_g rows[r,g] ½(A_j B_l + B_j A_l)[g],     add:  rows[r,g] += Σ_jl C[jl, r] (A_j A_l)[g].
 * Σ_g 𝒢_g,kl a_g a_g' is symmetric, so pairs suffice. O(Γp²d²/4). The kernel: packages/core/assembly/pairs.ts.
 */
import type { KernelKind } from "../../wasm/instance.ts";
import { type PairKernel, wasmPairKernel } from "../../wasm/pairs.ts";
import type { NodeGeometry } from "./node-kernel.ts";

/** Sizes, and pairs (row ≤ column) of spline coefficients, in packed order, and of inducing points. */
export interface InducingLayout {
  readonly numBasis: number; // d
  readonly numInducing: number; // p
  readonly numNodes: number; // Γ
  readonly basisRow: Uint8Array;
  readonly basisColumn: Uint8Array;
  readonly inducingRow: Uint16Array;
  readonly inducingColumn: Uint16Array;
}

/** Sizes and index tables for d coefficients on given nodes. */
export function inducingLayout(d: number, { numInducing, numNodes }: NodeGeometry): InducingLayout {
  const basis = upperPairs(d);
  const inducing = upperPairs(numInducing);
  return {
    numBasis: d,
    numInducing,
    numNodes,
    basisRow: Uint8Array.from(basis, ([k]) => k),
    basisColumn: Uint8Array.from(basis, ([, l]) => l),
    inducingRow: Uint16Array.from(inducing, ([j]) => j),
    inducingColumn: Uint16Array.from(inducing, ([, l]) => l),
  };
}

function upperPairs(n: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0; i < n; i++) for (let j = i; j < n; j++) pairs.push([i, j]);
  return pairs;
}

/** The rows of node sums or of a node table [K,Γ] that stand for pairs of coefficients. */
export function pairRows({ numBasis: d, numNodes: n, basisRow }: InducingLayout, table: Float64Array): Float64Array {
  return table.subarray(d * n, (d + basisRow.length) * n);
}

/** The sums for a layout on the given kernels. */
export function pairKernel(layout: InducingLayout, kernels: KernelKind): PairKernel {
  const { numInducing: p, numNodes: n, basisRow, inducingRow: row, inducingColumn: column } = layout;
  const R = basisRow.length;
  if (kernels === "wasm-simd") return wasmPairKernel({ row, column }, p, n, R);
  const product = new Float64Array(n);
  const fillProduct = (A: Float64Array, B: Float64Array, pair: number): void => {
    const j = row[pair] * n;
    const l = column[pair] * n;
    for (let g = 0; g < n; g++) product[g] = 0.5 * (A[j + g] * B[l + g] + B[j + g] * A[l + g]);
  };
  return {
    sum: (A, B, rows, sums) => {
      for (let pair = 0; pair < row.length; pair++) {
        fillProduct(A, B, pair);
        for (let r = 0; r < R; r++) {
          let s = 0;
          for (let g = 0; g < n; g++) s += rows[r * n + g] * product[g];
          sums[pair * R + r] = s;
        }
      }
    },
    add: (A, coefficients, rows) => {
      for (let pair = 0; pair < row.length; pair++) {
        fillProduct(A, A, pair);
        for (let r = 0; r < R; r++) {
          const c = coefficients[pair * R + r];
          for (let g = 0; g < n; g++) rows[r * n + g] += c * product[g];
        }
      }
    },
  };
}
