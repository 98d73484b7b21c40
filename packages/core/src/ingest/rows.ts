/**
 * Growing columns of accepted rows: number of the id, time, value, 20 bytes a row, no object per row. Ids are kept once
 * each; lines only where they do not simply follow one another.
 */
import { assembleColumns } from "../cohort/assemble.ts";
import type { Cohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { DtmError } from "../errors.ts";

export interface Rows {
  /** Ids with their numbers, in order of appearance. */
  ids: Map<string, number>;
  individuals: Int32Array;
  times: Float64Array;
  values: Float64Array;
  /** Sides of limits, from the first limit on. */
  censored: Int8Array | undefined;
  length: number;
  /** Rows whose line is not the one after the line of the row before, and their lines; ascending. */
  readonly jumps: { readonly rows: number[]; readonly lines: number[] };
  lastLine: number;
}

/** Rows that there is room for at first. */
const FIRST_ROOM = 1024;
/** Most ids: what a Map can hold. */
const MOST_IDS = 2 ** 24;
/** Text longer than this, cut out of a longer one, keeps all of that in memory. */
const LONG_ID = 12;

/** Columns without rows. */
export function createRows(): Rows {
  return { ...emptyColumns(), length: 0, jumps: { rows: [], lines: [] }, lastLine: -1 };
}

function emptyColumns(): Pick<Rows, "ids" | "individuals" | "times" | "values" | "censored"> {
  return {
    ids: new Map(),
    individuals: new Int32Array(FIRST_ROOM),
    times: new Float64Array(FIRST_ROOM),
    values: new Float64Array(FIRST_ROOM),
    censored: undefined,
  };
}

/** Adds an id that was never seen before; returns its number. */
export function addId({ ids }: Rows, id: string): number {
  if (ids.size === MOST_IDS) {
    throw new DtmError("too-large", `Expected at most ${MOST_IDS} individuals, received more. Split the file.`);
  }
  const number = ids.size;
  ids.set(id.length > LONG_ID ? id.split("").join("") : id, number);
  return number;
}

export function appendRow(rows: Rows, individual: number, time: number, value: number, line: number, side = 0): void {
  const j = rows.length;
  if (j === rows.times.length) resize(rows, Math.ceil(1.5 * j));
  rows.individuals[j] = individual;
  rows.times[j] = time;
  rows.values[j] = value;
  if (side !== 0) rows.censored ??= new Int8Array(rows.times.length);
  if (rows.censored !== undefined) rows.censored[j] = side;
  if (line !== rows.lastLine + 1) {
    rows.jumps.rows.push(j);
    rows.jumps.lines.push(line);
  }
  rows.lastLine = line;
  rows.length = j + 1;
}

/** The cohort of the rows, and the row that stands at each of its places; the rows themselves are let go. */
export function toCohort(rows: Rows, marker: Marker): { readonly cohort: Cohort; readonly order: Int32Array } {
  const { ids: numbers, individuals, times, values, censored, length } = rows;
  Object.assign(rows, emptyColumns());
  const { ids, order, ...series } = assembleColumns({
    names: [...numbers.keys()],
    individuals: individuals.subarray(0, length),
    times,
    values,
    ...(censored && { censored }),
  });
  return { cohort: { ids, markers: [{ marker, ...series }] }, order };
}

/** Physical line of a row. */
export function lineOf({ jumps }: Rows, row: number): number {
  let low = 0;
  let high = jumps.rows.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (jumps.rows[middle] <= row) low = middle;
    else high = middle;
  }
  return jumps.lines[low] + (row - jumps.rows[low]);
}

function resize(rows: Rows, room: number): void {
  const grown = <A extends Float64Array | Int32Array | Int8Array>(from: A, to: A): A => {
    to.set(from);
    return to;
  };
  rows.individuals = grown(rows.individuals, new Int32Array(room));
  rows.times = grown(rows.times, new Float64Array(room));
  rows.values = grown(rows.values, new Float64Array(room));
  if (rows.censored !== undefined) rows.censored = grown(rows.censored, new Int8Array(room));
}
