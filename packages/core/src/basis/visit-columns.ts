/**
 * Columns of statistics from visits, one individual after the other (docs/math/basis.md §3): the definition, whose kernel is
 * wasm/statistics.ts.
 */
import { filterVisits, type SerialCorrelation, whitenedProducts } from "../noise/serial.ts";
import type { VisitColumns, VisitSeries } from "../wasm/statistics.ts";
import { type Basis, evaluateActive } from "./bspline.ts";

/** Which entries of G are kept. */
export interface Band {
  readonly numBand: number;
  /** Row k and column l of each entry, [numBand]; ordered by k, then l. */
  readonly bandRow: Uint8Array;
  readonly bandColumn: Uint8Array;
}

/** The columns where visits are independent; row k of the band begins at start[k]. */
export function plainColumns(
  basis: Basis,
  { offsets, times, values }: VisitSeries,
  center: number,
  start: Int32Array,
): VisitColumns {
  const m = offsets.length - 1;
  const { numBasis: d, degree: k } = basis;
  const numBand = start[d - 1] + 1;
  const gram = new Float64Array(m * numBand);
  const cross = new Float64Array(m * d);
  const sumSquares = new Float64Array(m);
  const active = new Float64Array(k + 1);
  for (let i = 0; i < m; i++) {
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      const first = evaluateActive(basis, times[j], active);
      const r = values[j] - center;
      for (let a = 0; a <= k; a++) {
        cross[i * d + first + a] += active[a] * r;
        const row = i * numBand + start[first + a];
        for (let b = a; b <= k; b++) gram[row + b - a] += active[a] * active[b];
      }
      sumSquares[i] += r * r;
    }
  }
  return { gram, cross, sumSquares, logDets: new Float64Array(m) };
}

/** The columns where visits are correlated: those of (B_i, y_i − center)'R⁻¹(B_i, y_i − center). */
export function whitenedColumns(
  basis: Basis,
  { offsets, times, values }: VisitSeries,
  center: number,
  correlation: SerialCorrelation,
  { numBand, bandRow, bandColumn }: Band,
): VisitColumns {
  const m = offsets.length - 1;
  const d = basis.numBasis;
  const gram = new Float64Array(m * numBand);
  const cross = new Float64Array(m * d);
  const [sumSquares, logDets] = [new Float64Array(m), new Float64Array(m)];
  const c = d + 1;
  for (let i = 0; i < m; i++) {
    const own = times.subarray(offsets[i], offsets[i + 1]);
    if (own.length === 0) continue;
    const rows = visitRows(basis, own, values.subarray(offsets[i], offsets[i + 1]), center);
    const { products, logDet } = whitenedProducts(filterVisits({ times: own, rows }, correlation));
    for (let e = 0; e < numBand; e++) gram[i * numBand + e] = products[bandRow[e] * c + bandColumn[e]];
    for (let a = 0; a < d; a++) cross[i * d + a] = products[a * c + d];
    sumSquares[i] = products[d * c + d];
    logDets[i] = logDet;
  }
  return { gram, cross, sumSquares, logDets };
}

/** Rows (b(t), y − center) of visits, [n,d+1]. */
export function visitRows(
  basis: Basis,
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  center: number,
): Float64Array {
  const d = basis.numBasis;
  const rows = new Float64Array(times.length * (d + 1));
  const active = new Float64Array(basis.degree + 1);
  for (let j = 0; j < times.length; j++) {
    rows.set(active, j * (d + 1) + evaluateActive(basis, times[j], active));
    rows[j * (d + 1) + d] = values[j] - center;
  }
  return rows;
}

/** Band entries (k,l), k ≤ l ≤ min(k+degree, d−1), and where each row starts. */
export function bandIndices(d: number, degree: number): Band & { readonly start: Int32Array } {
  const row: number[] = [];
  const column: number[] = [];
  const start = new Int32Array(d);
  for (let k = 0; k < d; k++) {
    start[k] = row.length;
    for (let l = k; l <= Math.min(k + degree, d - 1); l++) {
      row.push(k);
      column.push(l);
    }
  }
  return { numBand: row.length, bandRow: Uint8Array.from(row), bandColumn: Uint8Array.from(column), start };
}
