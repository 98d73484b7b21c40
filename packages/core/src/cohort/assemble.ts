/**
 * Rows in any order → the canonical columns of a cohort, sorted by (id, time, value): counting by individual, then each
 * individual's few rows by themselves. Linear in the number of rows but for the sorting of ids and of long series.
 */

/** Rows whose ids are numbers into a list of names. */
export interface NumberedRows {
  /** Names, each once, in any order; those without a row are left out. */
  readonly names: readonly string[];
  /** Name of each row, [N]. */
  readonly individuals: Int32Array;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** Which values are limits, as in a cohort; none by default. */
  readonly censored?: ArrayLike<number>;
}

/** The columns of a cohort, and which row went where. */
export interface AssembledColumns {
  /** Ids in canonical order, [m]. */
  readonly ids: readonly string[];
  /** Observations of individual i are offsets[i] .. offsets[i+1]-1, [m+1]. */
  readonly offsets: Int32Array;
  /** Times and values in the order (id, time, value), [N]. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** As in a cohort; absent where no value is a limit. */
  readonly censored?: Int8Array;
  /** Row that stands at each place, [N]. */
  readonly order: Int32Array;
}

/** The columns of checked rows in canonical order. */
export function assembleColumns({ names, individuals, times, values, censored }: NumberedRows): AssembledColumns {
  const N = individuals.length;
  const counts = new Int32Array(names.length);
  for (let j = 0; j < N; j++) counts[individuals[j]]++;
  const present = Int32Array.from(names, (_, k) => k).filter((k) => counts[k] > 0);
  // Most tables have their individuals in order; the engine's sort would not notice.
  const inOrder = present.every((k, i) => i === 0 || names[present[i - 1]] < names[k]);
  if (!inOrder) present.sort((a, b) => compareText(names[a], names[b]));
  const m = present.length;
  const offsets = new Int32Array(m + 1);
  for (let i = 0; i < m; i++) offsets[i + 1] = offsets[i] + counts[present[i]];
  // The counts become, name by name, the place where its next row goes.
  const next = counts;
  for (let i = 0; i < m; i++) next[present[i]] = offsets[i];
  const order = new Int32Array(N);
  for (let j = 0; j < N; j++) order[next[individuals[j]]++] = j;
  for (let i = 0; i < m; i++) {
    // Rows that are equal in both stay in their order.
    const own = order.subarray(offsets[i], offsets[i + 1]);
    if (censored === undefined) own.sort((a, b) => times[a] - times[b] || values[a] - values[b]);
    else own.sort((a, b) => times[a] - times[b] || values[a] - values[b] || censored[a] - censored[b]);
  }
  const ids = Array.from(present, (k) => names[k]);
  const sides = censored && Int8Array.from(order, (j) => censored[j]);
  const columns = { offsets, times: permuted(times, order), values: permuted(values, order) };
  return { ids, ...columns, ...(sides?.some((side) => side !== 0) && { censored: sides }), order };
}

/** A column in another order. Adding 0 turns −0 into 0, so that equal rows are equal bits. */
function permuted(column: ArrayLike<number>, order: Int32Array): Float64Array {
  const out = new Float64Array(order.length);
  for (let k = 0; k < order.length; k++) out[k] = column[order[k]] + 0;
  return out;
}

/** Order of text by UTF-16 code unit: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
