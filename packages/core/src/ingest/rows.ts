/**
 * Columns of accepted rows, in blocks: number of the id, time, value, 20 bytes a row, no object per row and nothing copied as
 * they grow. Ids are kept once each; lines only where they do not simply follow one another.
 */
import { assembleColumns } from "../cohort/assemble.ts";
import type { Cohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { DtmError } from "../errors.ts";

export interface Rows {
  /** Ids with their numbers, in order of appearance. */
  ids: Map<string, number>;
  /** All blocks but the last are full. */
  blocks: Block[];
  length: number;
  /** Rows whose line is not the one after the line of the row before, and their lines; ascending. */
  jumps: { readonly rows: number[]; readonly lines: number[] };
  lastLine: number;
}

interface Block {
  /** Rows in it. */
  length: number;
  readonly individuals: Int32Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Sides of limits, if there are any here. */
  censored?: Int8Array;
}

/** Rows of the first block; each further one has room for twice as many, up to a limit: large blocks go back to the system when let go. */
const ROOM = 1 << 13;
const MOST_ROOM = 1 << 22;
/** Most ids: what a Map can hold. */
const MOST_IDS = 2 ** 24;
/** Text longer than this, cut out of a longer one, keeps all of that in memory. */
const LONG_ID = 12;

/** Columns without rows. */
export function createRows(): Rows {
  return { ids: new Map(), blocks: [], length: 0, jumps: { rows: [], lines: [] }, lastLine: -1 };
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
  const row = rows.length;
  let block = rows.blocks[rows.blocks.length - 1];
  if (block === undefined || block.length === block.individuals.length) {
    block = emptyBlock(block === undefined ? ROOM : Math.min(2 * block.length, MOST_ROOM));
    rows.blocks.push(block);
  }
  const j = block.length++;
  block.individuals[j] = individual;
  block.times[j] = time;
  block.values[j] = value;
  if (side !== 0) {
    block.censored ??= new Int8Array(block.individuals.length);
    block.censored[j] = side;
  }
  if (line !== rows.lastLine + 1) {
    rows.jumps.rows.push(row);
    rows.jumps.lines.push(line);
  }
  rows.lastLine = line;
  rows.length = row + 1;
}

function emptyBlock(room: number): Block {
  return {
    length: 0,
    individuals: new Int32Array(room),
    times: new Float64Array(room),
    values: new Float64Array(room),
  };
}

/** The cohort of the rows, and the row that stands at each of its places; the rows themselves are let go. */
export function toCohort(rows: Rows, marker: Marker): { readonly cohort: Cohort; readonly order: Int32Array } {
  const names = [...rows.ids.keys()];
  const filled = rows.blocks.map((block) => ({ ...block, individuals: block.individuals.subarray(0, block.length) }));
  rows.ids = new Map();
  rows.blocks = [];
  const { ids, order, ...series } = assembleColumns(names, filled);
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
