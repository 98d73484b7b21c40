/**
 * Ids numbered in order of appearance, packed in one array of bytes: a million ids cost their letters and eight bytes
 * each, not a million strings. The bytes are those of the cohort's ids (cohort/ids.ts). Lookup is by open addressing over a
 * table of numbers.
 */
import { type PackedIds, withRoom, writeLetters } from "../cohort/ids.ts";

export interface IdTable {
  /** Letters of all ids, one after the other. */
  bytes: Uint8Array;
  /** Where each id starts in `bytes`, and after the last one where the next will. */
  starts: Int32Array;
  length: number;
  /** Number of an id plus one, 0 for an empty place; a power of two long. */
  slots: Int32Array;
  /** Letters of the id asked for last. */
  scratch: Uint8Array;
  /**
   * Where hashing begins, another number for each table: a file made of ids that all want one place would else take time with
   * the square of its length. Nothing but the time depends on it.
   */
  readonly seed: number;
}

export function createIdTable(): IdTable {
  return {
    bytes: new Uint8Array(1 << 12),
    starts: new Int32Array(1 << 8),
    length: 0,
    slots: new Int32Array(1 << 9),
    scratch: new Uint8Array(1 << 8),
    seed: Math.floor(Math.random() * 2 ** 32),
  };
}

/** The number of an id, or -1 if it was never added. */
export function findId(table: IdTable, id: string): number {
  const length = writeScratch(table, id);
  return table.slots[slotOf(table, table.scratch, 0, length)] - 1;
}

/** Adds an id that is not in the table; returns its number. */
export function addId(table: IdTable, id: string): number {
  const length = writeScratch(table, id);
  const number = table.length;
  const start = table.starts[number];
  table.bytes = withRoom(table.bytes, start + length);
  table.bytes.set(table.scratch.subarray(0, length), start);
  if (number + 1 === table.starts.length) {
    const grown = new Int32Array(2 * table.starts.length);
    grown.set(table.starts);
    table.starts = grown;
  }
  table.starts[number + 1] = start + length;
  table.slots[slotOf(table, table.scratch, 0, length)] = number + 1;
  table.length++;
  if (2 * table.length > table.slots.length) enlarge(table);
  return number;
}

/** All ids, by number: the table's own bytes. */
export function packedIds({ bytes, starts, length }: IdTable): PackedIds {
  return { bytes, starts: starts.subarray(0, length + 1) };
}

/** Writes an id's letters into the scratch space; returns how many bytes they take. */
function writeScratch(table: IdTable, id: string): number {
  table.scratch = withRoom(table.scratch, 3 * id.length);
  return writeLetters(id, table.scratch, 0);
}

/** The place of letters[from..from+length-1] in the table: where that id stands, or the empty place it would take. */
function slotOf({ slots, bytes, starts, seed }: IdTable, letters: Uint8Array, from: number, length: number): number {
  // FNV-1a from a start of the table's own, then a final mix, because the low bits choose the place.
  let hash = seed;
  for (let k = 0; k < length; k++) hash = Math.imul(hash ^ letters[from + k], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  const mask = slots.length - 1;
  let slot = hash & mask;
  for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const start = starts[slots[slot] - 1];
    if (starts[slots[slot]] - start !== length) continue;
    let k = 0;
    while (k < length && bytes[start + k] === letters[from + k]) k++;
    if (k === length) break;
  }
  return slot;
}

function enlarge(table: IdTable): void {
  const { starts, bytes } = table;
  table.slots = new Int32Array(2 * table.slots.length);
  for (let number = 0; number < table.length; number++) {
    const start = starts[number];
    table.slots[slotOf(table, bytes, start, starts[number + 1] - start)] = number + 1;
  }
}
