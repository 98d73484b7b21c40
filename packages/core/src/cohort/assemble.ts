/**
 * Rows in any order → the canonical columns of a cohort, sorted by (id, time, value): counting by individual, then each
 * individual's few rows by themselves. Linear in the number of rows but for the sorting of ids and of long series.
 */

/** Some of the rows of a table; their ids are numbers into a list of names. */
export interface NumberedRows {
  /** Name of each row, [n]. */
  individuals: Int32Array;
  times: ArrayLike<number>;
  values: ArrayLike<number>;
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

/**
 * The columns of checked rows, which come in blocks, in canonical order. `names` has each name once, in any order; those without a row
 * are left out. The columns of `blocks` are let go one after the other, so that rows and cohort are never held both as a whole.
 */
export function assembleColumns(names: readonly string[], blocks: readonly NumberedRows[]): AssembledColumns {
  const counts = new Int32Array(names.length);
  for (const { individuals } of blocks) for (let j = 0; j < individuals.length; j++) counts[individuals[j]]++;
  const present = counts.map((_, k) => k).filter((k) => counts[k] > 0);
  // Most tables have their individuals in order; the engine's sort would not notice.
  const inOrder = present.every((k, i) => i === 0 || names[present[i - 1]] < names[k]);
  if (!inOrder) present.sort((a, b) => compareText(names[a], names[b]));
  const m = present.length;
  const offsets = new Int32Array(m + 1);
  for (let i = 0; i < m; i++) offsets[i + 1] = offsets[i] + counts[present[i]];
  // The counts become, name by name, the place where its next row goes.
  const next = counts;
  for (let i = 0; i < m; i++) next[present[i]] = offsets[i];
  const N = offsets[m];
  const hasLimits = blocks.some(({ censored = [] }) => Array.prototype.some.call(censored, (side) => side !== 0));
  const places = blocks.map((block) => {
    const own = block.individuals.map((individual) => next[individual]++);
    block.individuals = NONE;
    return own;
  });
  // Adding 0 turns −0 into 0, so that equal rows are equal bits.
  const times = new Float64Array(N);
  for (const [b, block] of blocks.entries()) {
    for (let j = 0; j < places[b].length; j++) times[places[b][j]] = block.times[j] + 0;
    block.times = NONE;
  }
  const values = new Float64Array(N);
  for (const [b, block] of blocks.entries()) {
    for (let j = 0; j < places[b].length; j++) values[places[b][j]] = block.values[j] + 0;
    block.values = NONE;
  }
  const censored = hasLimits ? new Int8Array(N) : undefined;
  const order = new Int32Array(N);
  let row = 0;
  for (const [b, block] of blocks.entries()) {
    for (let j = 0; j < places[b].length; j++) {
      if (censored !== undefined) censored[places[b][j]] = block.censored?.[j] ?? 0;
      order[places[b][j]] = row++;
    }
  }
  const columns = { times, values, ...(censored && { censored }), order };
  const compare = (a: number, b: number) =>
    times[a] - times[b] || values[a] - values[b] || (censored === undefined ? 0 : censored[a] - censored[b]);
  const all = Object.values(columns);
  for (let i = 0; i < m; i++) sortPlaces(all, compare, offsets[i], offsets[i + 1]);
  return { ids: inOrder && m === names.length ? names : Array.from(present, (k) => names[k]), offsets, ...columns };
}

const NONE = new Int32Array(0);

/** Puts the places `from` to `to` − 1 of all columns into order; those that are equal stay as they are. */
function sortPlaces(
  columns: readonly (Float64Array | Int32Array | Int8Array)[],
  compare: (a: number, b: number) => number,
  from: number,
  to: number,
): void {
  let k = from + 1;
  while (k < to && compare(k - 1, k) <= 0) k++;
  if (k >= to) return;
  const places = Int32Array.from({ length: to - from }, (_, j) => from + j).sort(compare);
  for (const column of columns) {
    const sorted = Array.from(places, (place) => column[place]);
    column.set(sorted, from);
  }
}

/** Order of text by UTF-16 code unit: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
