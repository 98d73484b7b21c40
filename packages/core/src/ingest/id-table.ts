/**
 * Ids numbered in order of appearance, packed in one array of bytes: a million ids cost their letters and eight bytes
 * each, not a million strings. Each UTF-16 unit is written as UTF-8 writes a code point (one byte for ASCII), so any
 * text comes back as it was. Lookup is by open addressing over a table of numbers.
 */

import { plainText } from "./decode.ts";

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
}

export function createIdTable(): IdTable {
  return {
    bytes: new Uint8Array(1 << 12),
    starts: new Int32Array(1 << 8),
    length: 0,
    slots: new Int32Array(1 << 9),
    scratch: new Uint8Array(1 << 8),
  };
}

/** The number of an id, or -1 if it was never added. */
export function findId(table: IdTable, id: string): number {
  const length = writeUnits(table, id);
  return table.slots[slotOf(table, table.scratch, 0, length)] - 1;
}

/** The number of the id text[from..to-1], which is ASCII, or -1; number `near` is asked first. */
export function findLetters(table: IdTable, text: string, from: number, to: number, near: number): number {
  const { bytes, starts } = table;
  const length = to - from;
  if (near >= 0) {
    const start = starts[near];
    let k = 0;
    if (starts[near + 1] - start === length) while (k < length && bytes[start + k] === text.charCodeAt(from + k)) k++;
    else k = -1;
    if (k === length) return near;
  }
  copyLetters(table, text, from, length);
  return table.slots[slotOf(table, table.scratch, 0, length)] - 1;
}

/** Adds the id text[from..to-1], which is ASCII and not in the table; returns its number. */
export function addLetters(table: IdTable, text: string, from: number, to: number): number {
  copyLetters(table, text, from, to - from);
  return addScratch(table, to - from);
}

/** Writes ASCII letters into the scratch space. */
function copyLetters(table: IdTable, text: string, from: number, length: number): void {
  if (length > table.scratch.length) table.scratch = new Uint8Array(3 * length);
  const { scratch } = table;
  for (let k = 0; k < length; k++) scratch[k] = text.charCodeAt(from + k);
}

/** Adds an id that is not in the table; returns its number. */
export function addId(table: IdTable, id: string): number {
  return addScratch(table, writeUnits(table, id));
}

/** Adds the id whose letters are the first `length` of the scratch space. */
function addScratch(table: IdTable, length: number): number {
  const number = table.length;
  const start = table.starts[number];
  if (start + length > table.bytes.length) {
    const grown = new Uint8Array(2 * (start + length));
    grown.set(table.bytes);
    table.bytes = grown;
  }
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

/** The id with a number. */
export function idAt({ bytes, starts }: IdTable, number: number): string {
  const end = starts[number + 1];
  const units: number[] = [];
  for (let k = starts[number]; k < end; ) {
    const a = bytes[k++];
    let unit = a;
    if (a >= 0xe0) unit = ((a & 0x0f) << 12) | ((bytes[k++] & 0x3f) << 6) | (bytes[k++] & 0x3f);
    else if (a >= 0x80) unit = ((a & 0x1f) << 6) | (bytes[k++] & 0x3f);
    units.push(unit);
  }
  // All letters at once: text added letter by letter is kept as a tree of its pieces, many times as large.
  return String.fromCharCode.apply(null, units);
}

/** Ids whose letters are turned into text together. */
const GROUP = 1024;

/** All ids, by number. */
export function allIds(table: IdTable): string[] {
  const { bytes, starts, length } = table;
  const ids = new Array<string>(length);
  for (let from = 0; from < length; from += GROUP) {
    const to = Math.min(from + GROUP, length);
    const letters = bytes.subarray(starts[from], starts[to]);
    const plain = letters.every((byte) => byte < 0x80);
    // Plain letters are one byte each, so that ids can be cut out of their text.
    const text = plain ? plainText(letters) : "";
    for (let k = from; k < to; k++) {
      ids[k] = plain ? text.slice(starts[k] - starts[from], starts[k + 1] - starts[from]) : idAt(table, k);
    }
  }
  return ids;
}

/** Writes an id's letters into the scratch space; returns how many bytes they take. */
function writeUnits(table: IdTable, id: string): number {
  if (3 * id.length > table.scratch.length) table.scratch = new Uint8Array(3 * id.length);
  const { scratch } = table;
  let length = 0;
  for (let k = 0; k < id.length; k++) {
    const unit = id.charCodeAt(k);
    if (unit < 0x80) scratch[length++] = unit;
    else if (unit < 0x800) {
      scratch[length++] = 0xc0 | (unit >> 6);
      scratch[length++] = 0x80 | (unit & 0x3f);
    } else {
      scratch[length++] = 0xe0 | (unit >> 12);
      scratch[length++] = 0x80 | ((unit >> 6) & 0x3f);
      scratch[length++] = 0x80 | (unit & 0x3f);
    }
  }
  return length;
}

/** The place of letters[from..from+length-1] in the table: where that id stands, or the empty place it would take. */
function slotOf({ slots, bytes, starts }: IdTable, letters: Uint8Array, from: number, length: number): number {
  // FNV-1a, then a final mix, because the low bits choose the place.
  let hash = 0x811c9dc5;
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
