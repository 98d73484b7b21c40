/**
 * Cells of a lattice around places. Each place z [q] touches `taps` neighbouring cells along every axis, a block of
 * taps^q cells made of rows = taps^(q−1) runs of `taps` consecutive ones. Where the box around all places would hold far
 * more cells than are touched (outliers, three dimensions), only touched cells are numbered.
 */

export interface GridAccuracy {
  /** Distance of neighbouring cells in bandwidths. */
  readonly step: number;
  /** Cells along each axis that a place touches. */
  readonly taps: number;
  /** Whether to number touched cells only: always, or where it saves much. */
  readonly compact: "always" | "if-sparse";
}

export interface GridLayout {
  readonly n: number;
  readonly q: number;
  readonly step: number;
  readonly taps: number;
  readonly rows: number;
  readonly numCells: number;
  /** First cell of each run, [n,rows]; the leading axes' taps in order, first axis slowest. */
  readonly offsets: Int32Array;
}

/** Box cells for each run beyond which only touched ones are numbered. */
const DENSE_CELLS_PER_RUN = 4;

/** First tap of a coordinate, in steps: taps reach taps/2 − 1 to taps/2 steps to either side. */
export function firstTap(z: number, step: number, taps: number): number {
  return Math.floor(z / step - taps / 2) + 1;
}

/** Lays out the cells around places z [n,q]. */
export function gridLayout(z: Float64Array, n: number, q: number, accuracy: GridAccuracy): GridLayout {
  const { step, taps, compact } = accuracy;
  const first = Float64Array.from(z, (v) => firstTap(v, step, taps));
  const low = new Float64Array(q).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(q).fill(Number.NEGATIVE_INFINITY);
  for (let k = 0; k < n * q; k++) {
    low[k % q] = Math.min(low[k % q], first[k]);
    high[k % q] = Math.max(high[k % q], first[k]);
  }
  const size = Array.from({ length: q }, (_, a) => high[a] - low[a] + taps);
  const rows = taps ** (q - 1);
  const starts = new Float64Array(n * rows);
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < rows; r++) {
      // The taps along the leading axes are the digits of r in base `taps`.
      let start = 0;
      for (let a = 0; a < q; a++) {
        const tap = a < q - 1 ? Math.floor(r / taps ** (q - 2 - a)) % taps : 0;
        start = start * size[a] + (first[i * q + a] - low[a] + tap);
      }
      starts[i * rows + r] = start;
    }
  }
  const dense = size.reduce((product, s) => product * s, 1);
  const shape = { n, q, step, taps, rows };
  if (compact === "if-sparse" && dense <= DENSE_CELLS_PER_RUN * starts.length) {
    return { ...shape, numCells: dense, offsets: Int32Array.from(starts) };
  }
  return { ...shape, ...touchedCells(starts, taps) };
}

/** Runs that overlap share an interval of cells; intervals are numbered one after the other. */
function touchedCells(starts: Float64Array, taps: number): { readonly numCells: number; readonly offsets: Int32Array } {
  const sorted = starts.slice().sort();
  const from: number[] = [];
  const base: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  let numCells = 0;
  for (const start of sorted) {
    if (start > end) {
      from.push(start);
      base.push(numCells);
      numCells += taps;
      end = start + taps;
    } else if (start + taps > end) {
      numCells += start + taps - end;
      end = start + taps;
    }
  }
  const offsets = new Int32Array(starts.length);
  for (let k = 0; k < starts.length; k++) {
    let low = 0;
    let high = from.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (from[middle] <= starts[k]) low = middle;
      else high = middle - 1;
    }
    offsets[k] = base[low] + starts[k] - from[low];
  }
  return { numCells, offsets };
}
