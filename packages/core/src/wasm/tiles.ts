/**
 * Arrays over nodes in the order of the WebAssembly kernels (packages/core/assembly/tiles.ts): tiles of four nodes, and within a tile
 * all rows, so that a kernel reads them in one stream. [K,n] row-major becomes [tile][K][4], padded with a fill value.
 */

/** Nodes per tile. */
export const TILE = 4;

/** Length of an individual's packed row of d coefficients and their pairs: d + d(d+1)/2, made even. */
export function packedStride(d: number): number {
  const K = d + (d * (d + 1)) / 2;
  return K + (K % 2);
}

/** Number of tiles that hold n nodes. */
export function tileCount(n: number): number {
  return Math.ceil(n / TILE);
}

/** out [tile][stride][4] from rows [K,n]; the padding is left as it is. */
export function toTiles(rows: Float64Array, K: number, n: number, out: Float64Array, stride = K): void {
  for (let k = 0; k < K; k++) {
    const row = k * n;
    for (let j = 0; j < n; j++) out[((j >> 2) * stride + k) * TILE + (j & 3)] = rows[row + j];
  }
}

/** out [tile][K][4] from rows [n,K]; the padding is left as it is. */
export function tileRows(rows: Float64Array, n: number, K: number, out: Float64Array): void {
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < K; k++) out[((j >> 2) * K + k) * TILE + (j & 3)] = rows[j * K + k];
  }
}

/** rows [K,n] += tiles [tile][stride][4]. */
export function addFromTiles(tiles: Float64Array, K: number, n: number, rows: Float64Array, stride = K): void {
  for (let k = 0; k < K; k++) {
    const row = k * n;
    for (let j = 0; j < n; j++) rows[row + j] += tiles[((j >> 2) * stride + k) * TILE + (j & 3)];
  }
}

/** out [rows][tiles · 4] from rows [rows,n]: rows one after the other, each padded to whole tiles. */
export function toPaddedRows(rows: Float64Array, numRows: number, n: number, out: Float64Array): void {
  const width = tileCount(n) * TILE;
  for (let k = 0; k < numRows; k++) out.set(rows.subarray(k * n, (k + 1) * n), k * width);
}
