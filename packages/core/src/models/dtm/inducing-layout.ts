/**
 * Sizes and index tables of the map: pairs (k ≤ l) of spline coefficients, in the order in which statistics are packed,
 * and pairs (j ≤ j') of inducing places.
 */
import type { NodeGeometry } from "./node-kernel.ts";

/** Sizes and index tables shared by all kernels of a fit. */
export interface InducingLayout {
  readonly numBasis: number; // d
  readonly numInducing: number; // p
  readonly numNodes: number; // Γ
  /** Pairs (k ≤ l) of coefficients in packed order. */
  readonly basisRow: Uint8Array;
  readonly basisColumn: Uint8Array;
  /** Pairs (j ≤ j') of inducing places. */
  readonly inducingRow: Uint16Array;
  readonly inducingColumn: Uint16Array;
  /** First table row read by products over 𝒢 (kernels read an even number), and how many. */
  readonly firstRow: number;
  readonly numRows: number;
}

/** Sizes and index tables for d coefficients on given nodes. */
export function inducingLayout(d: number, geometry: NodeGeometry): InducingLayout {
  const { numInducing: p, numNodes } = geometry;
  const basis = upperPairs(d);
  const inducing = upperPairs(p);
  const odd = basis.row.length % 2;
  return {
    numBasis: d,
    numInducing: p,
    numNodes,
    basisRow: Uint8Array.from(basis.row),
    basisColumn: Uint8Array.from(basis.column),
    inducingRow: Uint16Array.from(inducing.row),
    inducingColumn: Uint16Array.from(inducing.column),
    firstRow: d - odd,
    numRows: basis.row.length + odd,
  };
}

function upperPairs(n: number): { row: number[]; column: number[] } {
  const row: number[] = [];
  const column: number[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      row.push(i);
      column.push(j);
    }
  }
  return { row, column };
}
