/** Sums over nodes and pairs of inducing points in WebAssembly (packages/core/assembly/pairs.ts). */
import { openKernels } from "./layout.ts";
import { PAIRS } from "./layouts.ts";
import { addFromTiles, TILE, tileCount, toPaddedRows, toTiles } from "./tiles.ts";

/** Pairs (row ≤ column) of numbers below some n. */
export interface IndexPairs {
  readonly row: ArrayLike<number>;
  readonly column: ArrayLike<number>;
}

/** What is summed over nodes and pairs (j, l) of features A, B [p,Γ], for R rows over the nodes. */
export interface PairKernel {
  /** sums[pair,r] = Σ_g rows[r,g] ½(A_j B_l + B_j A_l)[g];  rows [R,Γ], sums [pairs,R]. */
  sum(A: Float64Array, B: Float64Array, rows: Float64Array, sums: Float64Array): void;
  /** rows[r,g] += Σ_pairs coefficients[pair,r] (A_j A_l)[g]. */
  add(A: Float64Array, coefficients: Float64Array, rows: Float64Array): void;
}

/** The kernel for given pairs of p inducing points, Γ nodes and R rows. */
export function wasmPairKernel(pairs: IndexPairs, p: number, numNodes: number, R: number): PairKernel {
  const numPairs = pairs.row.length;
  const numRows = R + (R % 2);
  const numGroups = Math.ceil(numPairs / TILE);
  const { buffers, run } = openKernels(PAIRS, { numInducing: p, numTiles: tileCount(numNodes), numRows, numGroups });
  buffers.allTiles.set(buffers.allTiles.map((_, t) => t));
  buffers.pairs.fill(-1);
  for (let e = 0; e < numPairs; e++) buffers.pairs.set([pairs.row[e], pairs.column[e]], 2 * e);
  const coefficientAt = (pair: number, r: number) => ((pair >> 2) * numRows + r) * TILE + (pair & 3);
  return {
    sum: (A, B, rows, sums) => {
      toPaddedRows(A, p, numNodes, buffers.features);
      if (A !== B) toPaddedRows(B, p, numNodes, buffers.featuresDot);
      toTiles(rows, R, numNodes, buffers.rows, numRows);
      run.sumPairs(A === B ? 0 : 1);
      for (let e = 0; e < numPairs; e++) {
        for (let r = 0; r < R; r++) sums[e * R + r] = buffers.coefficients[coefficientAt(e, r)];
      }
    },
    add: (A, coefficients, rows) => {
      toPaddedRows(A, p, numNodes, buffers.features);
      buffers.rows.fill(0);
      buffers.coefficients.fill(0);
      for (let e = 0; e < numPairs; e++) {
        for (let r = 0; r < R; r++) buffers.coefficients[coefficientAt(e, r)] = coefficients[e * R + r];
      }
      run.addPairs();
      addFromTiles(buffers.rows, R, numNodes, rows, numRows);
    },
  };
}
