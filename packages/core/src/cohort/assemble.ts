/**
 * Rows in any order → the canonical columns of a cohort, sorted by (id, time, value): counting by individual, then each
 * individual's few rows by themselves. Linear in the number of rows but for the sorting of ids and of long series.
 */

import { canonicalOrder, type PackedIds, selectIds } from "./ids.ts";

/** Rows whose ids are numbers into a list of names. */
export interface NumberedRows {
  /** Names, each once, in any order; those without a row are left out. */
  readonly names: PackedIds;
  /** Name of each row, [N]. */
  readonly individuals: Int32Array;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** Whether arrays of doubles may be taken over and put into order in place; otherwise they are copied. */
  readonly owned?: boolean;
}

/** The columns of a cohort, and which row went where. */
export interface AssembledColumns {
  /** Ids in canonical order, [m]. */
  readonly ids: PackedIds;
  /** Observations of individual i are offsets[i] .. offsets[i+1]-1, [m+1]. */
  readonly offsets: Int32Array;
  /** Times and values in the order (id, time, value), [N]. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Row that stands at each place, [N]. */
  readonly order: Int32Array;
}

/** Series longer than this are sorted by the engine, shorter ones by insertion. */
const SHORT = 24;

/** The columns of checked rows in canonical order. */
export function assembleColumns(rows: NumberedRows): AssembledColumns {
  const { names, individuals, times, values } = rows;
  const N = individuals.length;
  const counts = new Int32Array(names.starts.length - 1);
  for (let j = 0; j < N; j++) counts[individuals[j]]++;
  const sorted = canonicalOrder(names);
  const present = counts.includes(0) ? sorted.filter((k) => counts[k] > 0) : sorted;
  const m = present.length;
  const offsets = new Int32Array(m + 1);
  for (let i = 0; i < m; i++) offsets[i + 1] = offsets[i] + counts[present[i]];
  // The counts become, name by name, the place where its next row goes.
  const next = counts;
  for (let i = 0; i < m; i++) next[present[i]] = offsets[i];
  const order = new Int32Array(N);
  for (let j = 0; j < N; j++) order[next[individuals[j]]++] = j;
  for (let i = 0; i < m; i++) sortSeries(order, offsets[i], offsets[i + 1], times, values);
  const put = (column: ArrayLike<number>): Float64Array =>
    rows.owned === true && column instanceof Float64Array ? permuteInPlace(column, order) : permuted(column, order);
  return { ids: selectIds(names, present), offsets, times: put(times), values: put(values), order };
}

/** The column itself in another order, cycle by cycle; a bit for each place says that it is done. */
function permuteInPlace(column: Float64Array, order: Int32Array): Float64Array {
  const done = new Uint8Array((order.length >> 3) + 1);
  for (let k = 0; k < order.length; k++) {
    if ((done[k >> 3] >> (k & 7)) & 1) continue;
    const first = column[k];
    let at = k;
    for (let from = order[at]; from !== k; from = order[at]) {
      column[at] = column[from] + 0;
      at = from;
      done[at >> 3] |= 1 << (at & 7);
    }
    column[at] = first + 0;
  }
  return column;
}

/** A column in another order. Adding 0 turns −0 into 0, so that equal rows are equal bits. */
function permuted(column: ArrayLike<number>, order: Int32Array): Float64Array {
  const out = new Float64Array(order.length);
  for (let k = 0; k < order.length; k++) out[k] = column[order[k]] + 0;
  return out;
}

/** Sorts order[from..to-1] by (time, value); rows that are equal in both stay in their order. */
function sortSeries(
  order: Int32Array,
  from: number,
  to: number,
  times: ArrayLike<number>,
  values: ArrayLike<number>,
): void {
  if (to - from > SHORT) {
    order.subarray(from, to).sort((a, b) => times[a] - times[b] || values[a] - values[b]);
    return;
  }
  for (let k = from + 1; k < to; k++) {
    const j = order[k];
    const [t, y] = [times[j], values[j]];
    let at = k;
    while (at > from) {
      const before = order[at - 1];
      if (times[before] < t || (times[before] === t && values[before] <= y)) break;
      order[at] = before;
      at--;
    }
    order[at] = j;
  }
}
