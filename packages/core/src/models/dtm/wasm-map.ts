/**
 * The steps of the map that do not depend on the number of individuals, in WebAssembly: sums over nodes and pairs of
 * inducing places (packages/core/assembly/tiles.ts).
 */
import { createKernelInstance, type KernelExports } from "../../wasm/instance.ts";
import { addFromTiles, TILE, tileCount, toPaddedRows, toTiles } from "../../wasm/tiles.ts";
import type { InducingLayout } from "./inducing-layout.ts";

/** Memory for one layout. */
export interface WasmMap {
  readonly exports: KernelExports;
  /** Features and their derivatives, [p][tiles · 4]. */
  readonly features: Float64Array;
  readonly featuresDot: Float64Array;
  /** Rows of node sums or table, [tile][numRows][4]. */
  readonly rows: Float64Array;
  readonly products: Float64Array; // [tile][4][4]
  readonly coefficients: Float64Array; // [numRows][4]
  readonly allTiles: Int32Array;
  /** Pairs of inducing places, (j, l) each, −1 beyond the last. */
  readonly pairs: Int32Array;
  readonly numTiles: number;
}

/** Memory for a layout. */
export function createWasmMap(layout: InducingLayout): WasmMap {
  const { numInducing: p, numNodes, numRows, inducingRow, inducingColumn } = layout;
  const numTiles = tileCount(numNodes);
  const numGroups = Math.ceil(inducingRow.length / TILE);
  const width = numTiles * TILE;
  const entries = width * (2 * p + numRows + TILE) + TILE * numRows + numTiles + TILE * numGroups;
  const { exports, doubles, integers } = createKernelInstance(entries, 7);
  const allTiles = integers(numTiles);
  allTiles.set(allTiles.map((_, t) => t));
  const pairs = integers(2 * TILE * numGroups).fill(-1);
  for (let e = 0; e < inducingRow.length; e++) pairs.set([inducingRow[e], inducingColumn[e]], 2 * e);
  return {
    exports,
    features: doubles(p * width),
    featuresDot: doubles(p * width),
    rows: doubles(numRows * width),
    products: doubles(TILE * width),
    coefficients: doubles(TILE * numRows),
    allTiles,
    pairs,
    numTiles,
  };
}

/** sums[pair, kl] = Σ_g 𝒢_g,kl ½(a_j b_j' + b_j a_j'); `pairSums` in WebAssembly. */
export function wasmPairSums(
  map: WasmMap,
  layout: InducingLayout,
  A: Float64Array,
  B: Float64Array,
  nodeSums: Float64Array,
  sums: Float64Array,
): void {
  const { numInducing: p, numNodes: n, firstRow, numRows } = layout;
  const { exports, rows, products, coefficients, allTiles, pairs, numTiles } = map;
  toPaddedRows(A, p, n, map.features);
  if (A !== B) toPaddedRows(B, p, n, map.featuresDot);
  toTiles(nodeSums.subarray(firstRow * n, (firstRow + numRows) * n), numRows, n, rows);
  const a = map.features.byteOffset;
  const b = A === B ? a : map.featuresDot.byteOffset;
  for (let group = 0; group < pairs.length / (2 * TILE); group++) {
    exports.fillProducts(a, b, pairs.byteOffset + group * 8 * TILE, products.byteOffset, numTiles);
    exports.dotTiles(
      products.byteOffset,
      rows.byteOffset,
      coefficients.byteOffset,
      allTiles.byteOffset,
      numTiles,
      numRows,
    );
    for (let c = 0; c < TILE; c++) {
      const to = (group * TILE + c) * numRows;
      for (let e = 0; e < numRows; e++) sums[to + e] = coefficients[e * TILE + c];
    }
  }
}

/**
 * Adds Σ_pairs coefficients(pair) a_j a_j' to the rows of a node table [K,Γ] from `firstRow` on; `pack` writes the
 * coefficients [4,numRows] of the pairs first..first+3.
 */
export function wasmAddPairs(
  map: WasmMap,
  layout: InducingLayout,
  A: Float64Array,
  pack: (first: number, out: Float64Array) => void,
  packed: Float64Array,
  table: Float64Array,
): void {
  const { numInducing: p, numNodes: n, firstRow, numRows } = layout;
  const { exports, features, rows, products, coefficients, allTiles, pairs, numTiles } = map;
  toPaddedRows(A, p, n, features);
  rows.fill(0);
  for (let group = 0; group < pairs.length / (2 * TILE); group++) {
    pack(group * TILE, packed);
    for (let c = 0; c < TILE; c++) {
      for (let e = 0; e < numRows; e++) coefficients[e * TILE + c] = packed[c * numRows + e];
    }
    const a = features.byteOffset;
    exports.fillProducts(a, a, pairs.byteOffset + group * 8 * TILE, products.byteOffset, numTiles);
    exports.addOuter(
      coefficients.byteOffset,
      products.byteOffset,
      rows.byteOffset,
      allTiles.byteOffset,
      numTiles,
      numRows,
    );
  }
  addFromTiles(rows, numRows, n, table.subarray(firstRow * n, (firstRow + numRows) * n));
}
