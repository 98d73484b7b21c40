/**
 * Histograms that filter each other and the map. What is known of an individual is cut into bins once; a brush is a range of bins.
 * One pass over everybody counts all histograms: each shows those whom every other brush keeps, so that its own can be moved.
 */
import type { Placements } from "@trajectory-maps/core";
import { namesIndividuals, type Outcome, type SubjectsTable } from "@trajectory-maps/core/ingest";
import { niceStep, outcomeName, trimmed } from "@trajectory-maps/report";
import { columnValues, rowsOf } from "./colouring.ts";

/** Something known of individuals, in bins. */
export interface Dimension {
  readonly key: string;
  readonly name: string;
  /** Words of the bins, in order. */
  readonly bins: readonly string[];
  /** Bin of each individual, [m]; `UNKNOWN` if there is none. */
  readonly binOf: Uint8Array;
}

/** First and last bin that are kept, by the key of the dimension. */
export type Brushes = ReadonlyMap<string, readonly [number, number]>;

export interface Filtered {
  /** Positions of those whom all brushes keep, ascending. */
  readonly members: Int32Array;
  /** Of each dimension: how many of each bin the other brushes keep. */
  readonly counts: readonly Int32Array[];
}

export const UNKNOWN = 255;
export const NO_BRUSHES: Brushes = new Map();
/** Bins of a histogram, at most. */
const MOST_BINS = 16;
/** Share of values beyond the outermost bins on either side: they are counted there. */
const TAIL = 0.01;

/** What individuals can be filtered by: visits, follow-up, outcomes, columns of their table that do not name them. */
export function dimensionsOf(
  placements: Placements,
  outcomes: readonly Outcome[],
  table: SubjectsTable | null,
): Dimension[] {
  const { numObservations, firstTime, lastTime, ids } = placements;
  const used = new Set(outcomes.map(({ name }) => name));
  const rows = table === null ? new Int32Array(0) : rowsOf(table, ids);
  const columns = (table?.columns ?? []).flatMap(({ name, cells }, k): Dimension[] => {
    if (table === null || used.has(name) || namesIndividuals(table, k)) return [];
    const read = columnValues(cells, rows);
    if (read === null) return [];
    const [key, words] = [`column:${name}`, outcomeName(name)];
    if (read.kind === "number") return numbers(key, words, read.values);
    return [{ key, name: words, bins: read.names, binOf: Uint8Array.from(read.labels, (v) => (v < 0 ? UNKNOWN : v)) }];
  });
  return [
    ...numbers("visits", "Visits", numObservations),
    ...numbers(
      "follow-up",
      "First to last visit",
      lastTime.map((t, i) => t - firstTime[i]),
    ),
    ...columns,
    ...outcomes.map(({ name, labels }) => ({
      key: `outcome:${name}`,
      name: outcomeName(name),
      bins: ["without", "with"],
      binOf: Uint8Array.from(labels, (v) => (v > 1 ? UNKNOWN : v)),
    })),
  ];
}

/** Share of the values that an open last bin may hold. */
const MOST_IN_LAST = 0.1;

/** Numbers in bins of a round width; none if they are all the same. */
function numbers(key: string, name: string, values: ArrayLike<number>): Dimension[] {
  const known = Float64Array.from(values)
    .filter((v) => Number.isFinite(v))
    .sort();
  if (known.length === 0) return [];
  const low = known[Math.floor(TAIL * (known.length - 1))];
  const high = known[Math.ceil((1 - TAIL) * (known.length - 1))];
  if (!(high > low)) return [];
  const whole = known.every(Number.isInteger);
  const binsOf = (wished: number) => {
    const round = niceStep(high - low, wished);
    const step = whole ? Math.max(1, Math.round(round)) : round;
    const start = Math.floor(low / step) * step;
    const n = Math.min(MOST_BINS, Math.floor((high - start) / step) + 1);
    const inLast = known.filter((v) => v >= start + (n - 1) * step).length / known.length;
    return { step, start, n, inLast };
  };
  // A round step may be so much finer than was wished that not all fit: the last bin holds what is left, and should be no mountain.
  const wishes = Array.from({ length: MOST_BINS - 2 }, (_, k) => MOST_BINS - 2 - k);
  const isWhole = ({ step, start, n }: ReturnType<typeof binsOf>) => start + n * step > high;
  const { step, start, n } =
    wishes.map(binsOf).find((found) => isWhole(found) || found.inLast <= MOST_IN_LAST) ?? binsOf(1);
  const write = (v: number) => trimmed(v, 3);
  const bins = Array.from({ length: n }, (_, k) => {
    const from = start + k * step;
    if (whole && step === 1)
      return k === n - 1 && known[known.length - 1] > from ? `${write(from)} or more` : write(from);
    if (k === 0 && known[0] < start) return `under ${write(from + step)}`;
    if (k === n - 1) return `${write(from)} or more`;
    return `${write(from)} to ${write(from + step)}`;
  });
  const binOf = Uint8Array.from(values, (v) =>
    Number.isFinite(v) ? Math.min(n - 1, Math.max(0, Math.floor((v - start) / step + 1e-9))) : UNKNOWN,
  );
  return [{ key, name, bins, binOf }];
}

/** Who is kept by brushes, and the histograms; `among` are those selected on the map, null for everybody. */
export function filterBy(
  dimensions: readonly Dimension[],
  brushes: Brushes,
  m: number,
  among: ArrayLike<number> | null = null,
): Filtered {
  const D = dimensions.length;
  const counts = dimensions.map(({ bins }) => new Int32Array(bins.length));
  const outside = new Uint8Array(m).fill(among === null ? 0 : 1);
  if (among !== null) for (let k = 0; k < among.length; k++) outside[among[k]] = 0;
  // How many brushes leave an individual out, and the dimension of the last that does.
  const out = new Uint8Array(m);
  const by = new Int16Array(m).fill(-1);
  dimensions.forEach(({ key, binOf }, d) => {
    const range = brushes.get(key);
    if (range === undefined) return;
    const [from, to] = range;
    for (let i = 0; i < m; i++) {
      if (binOf[i] >= from && binOf[i] <= to) continue;
      out[i]++;
      by[i] = d;
    }
  });
  const members = new Int32Array(m);
  let n = 0;
  for (let i = 0; i < m; i++) if (outside[i] === 0 && out[i] === 0) members[n++] = i;
  for (let d = 0; d < D; d++) {
    const { binOf } = dimensions[d];
    const own = counts[d];
    for (let i = 0; i < m; i++) {
      const kept = outside[i] === 0 && (out[i] === 0 || (out[i] === 1 && by[i] === d));
      if (kept && binOf[i] !== UNKNOWN) own[binOf[i]]++;
    }
  }
  return { members: members.slice(0, n), counts };
}

/** Bins from one to another in words, by their outer ends: "0 – 13 or more". */
export function spanWords(bins: readonly string[], [from, to]: readonly [number, number]): string {
  if (from === to) return bins[from];
  const ends = (bin: string) => /^(\S+) to (\S+)$/.exec(bin)?.slice(1) ?? [bin, bin];
  return `${ends(bins[from])[0]} – ${ends(bins[to])[1]}`;
}

/** Brushes in words: "Age 40 to 60, Sex f". */
export function brushWords(dimensions: readonly Dimension[], brushes: Brushes): string {
  return dimensions
    .flatMap(({ key, name, bins }) => {
      const range = brushes.get(key);
      if (range === undefined) return [];
      return [`${name} ${spanWords(bins, range)}`];
    })
    .join(", ");
}

/** Mean of courses [n,T] of some minus that of others, time by time, with its 95% band from the spread between individuals. */
export function meanDifference(
  first: Float64Array,
  second: Float64Array,
  T: number,
): { readonly difference: Float64Array; readonly lower: Float64Array; readonly upper: Float64Array } {
  const [a, b] = [moments(first, T), moments(second, T)];
  const difference = a.mean.map((v, t) => v - b.mean[t]);
  const half = a.squaredError.map((v, t) => Z95 * Math.sqrt(v + b.squaredError[t]));
  return { difference, lower: difference.map((v, t) => v - half[t]), upper: difference.map((v, t) => v + half[t]) };
}

/** Φ⁻¹(0.975). */
const Z95 = 1.959963984540054;

/** Mean of each column of x [n,T], and the square of its standard error; that of one row is unknown. */
function moments(x: Float64Array, T: number): { readonly mean: Float64Array; readonly squaredError: Float64Array } {
  const n = x.length / T;
  const mean = new Float64Array(T);
  const squares = new Float64Array(T);
  for (let k = 0; k < x.length; k++) mean[k % T] += x[k] / n;
  for (let k = 0; k < x.length; k++) squares[k % T] += (x[k] - mean[k % T]) ** 2;
  return { mean, squaredError: squares.map((s) => (n > 1 ? s / (n - 1) / n : Number.NaN)) };
}
