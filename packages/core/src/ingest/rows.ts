/**
 * Growing columns of accepted rows: number of the id, time, value, 20 bytes a row, no object per row. Ids are kept once
 * each, packed; lines only where they do not simply follow one another.
 */
import { assembleColumns } from "../cohort/assemble.ts";
import type { Cohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { createIdTable, type IdTable, packedIds } from "./id-table.ts";

export interface Rows {
  ids: IdTable;
  individuals: Int32Array;
  times: Float64Array;
  values: Float64Array;
  length: number;
  /** Rows whose line is not the one after the line of the row before, and their lines; ascending. */
  readonly jumps: { readonly rows: number[]; readonly lines: number[] };
  lastLine: number;
}

/** Rows that there is room for at first. */
const FIRST_ROOM = 1024;

/** Columns without rows. */
export function createRows(): Rows {
  return {
    ids: createIdTable(),
    individuals: new Int32Array(FIRST_ROOM),
    times: new Float64Array(FIRST_ROOM),
    values: new Float64Array(FIRST_ROOM),
    length: 0,
    jumps: { rows: [], lines: [] },
    lastLine: -1,
  };
}

export function appendRow(rows: Rows, individual: number, time: number, value: number, line: number): void {
  const j = rows.length;
  if (j === rows.times.length) resize(rows, Math.ceil(1.5 * j));
  rows.individuals[j] = individual;
  rows.times[j] = time;
  rows.values[j] = value;
  if (line !== rows.lastLine + 1) {
    rows.jumps.rows.push(j);
    rows.jumps.lines.push(line);
  }
  rows.lastLine = line;
  rows.length = j + 1;
}

/** The cohort of the rows, and the row that stands at each of its places; the rows themselves are let go. */
export function toCohort(rows: Rows, marker: Marker): { readonly cohort: Cohort; readonly order: Int32Array } {
  const { length } = rows;
  // Room kept for more rows is given back first, one column at a time; the numbers of ids are let go as they are.
  rows.times = rows.times.slice(0, length);
  rows.values = rows.values.slice(0, length);
  const columns = {
    names: packedIds(rows.ids),
    individuals: rows.individuals.subarray(0, length),
    times: rows.times,
    values: rows.values,
    owned: true,
  };
  rows.individuals = new Int32Array(0);
  rows.times = new Float64Array(0);
  rows.values = new Float64Array(0);
  rows.ids = createIdTable();
  const { ids, order, ...series } = assembleColumns(columns);
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
  const grown = <A extends Float64Array | Int32Array>(from: A, to: A): A => {
    to.set(from);
    return to;
  };
  rows.individuals = grown(rows.individuals, new Int32Array(room));
  rows.times = grown(rows.times, new Float64Array(room));
  rows.values = grown(rows.values, new Float64Array(room));
}
