/**
 * Ids packed in one array of bytes: a million ids cost their letters and four bytes each, not a million strings, and
 * travel to workers as two buffers. The bytes are UTF-8, the shortest form for every character. Text in JavaScript may
 * also hold half of a surrogate pair, for which UTF-8 has no form: it is written as the three bytes that its number would
 * have (the encoding known as WTF-8), so that any text comes back as it was and different texts have different bytes.
 *
 * The canonical order of ids is by UTF-16 code unit, as JavaScript compares strings. The order of the bytes is that of
 * code points. Both agree but for characters beyond U+FFFF: as units from D800 on they stand before U+E000..U+FFFF.
 */
import { DtmError } from "../errors.ts";

/** Texts in one array of bytes; plain data. */
export interface PackedIds {
  /** UTF-8 of all ids, one after the other. */
  readonly bytes: Uint8Array;
  /** Id i is bytes[starts[i]] .. bytes[starts[i+1]-1], [m+1]. */
  readonly starts: Int32Array;
}

/** Most bytes of all ids together: the largest number that `starts` can hold. */
const MOST_BYTES = 2 ** 31 - 1;
/** First byte of characters beyond U+FFFF, and of U+D000..U+DFFF. */
const BEYOND = 0xf0;
const SURROGATES = 0xed;
/** Ids whose letters are turned into text together. */
const GROUP = 1024;
/** UTF-16 units turned into text together: a call takes only so many arguments. */
const PART = 4096;

/** Packs ids in the order given; refuses empty ones. */
export function packIds(list: readonly string[]): PackedIds {
  const starts = new Int32Array(list.length + 1);
  let bytes: Uint8Array = new Uint8Array(16 * list.length);
  list.forEach((id, i) => {
    if (id === "") {
      throw new DtmError("missing-id", `packIds: expected ids as non-empty text, received "" at position ${i}.`);
    }
    bytes = withRoom(bytes, starts[i] + 3 * id.length);
    starts[i + 1] = writeLetters(id, bytes, starts[i]);
  });
  return { bytes: bytes.slice(0, starts[list.length]), starts };
}

/** The id of individual i as text. */
export function idAt({ bytes, starts }: PackedIds, i: number): string {
  const m = starts.length - 1;
  if (!(i >= 0 && i < m)) {
    throw new DtmError("option", `idAt: expected the number of an individual from 0 to ${m - 1}, received ${i}.`);
  }
  return textOf(bytes, starts[i], starts[i + 1]);
}

/** All ids as text, [m]. */
export function idList(ids: PackedIds): string[] {
  const { bytes, starts } = ids;
  const m = starts.length - 1;
  const list = new Array<string>(m);
  for (let from = 0; from < m; from += GROUP) {
    const to = Math.min(from + GROUP, m);
    // A copy, because buffers that threads share cannot be decoded.
    const letters = bytes.slice(starts[from], starts[to]);
    // ASCII is one byte for each letter, so that ids can be cut out of their text.
    const text = letters.every((byte) => byte < 0x80) ? new TextDecoder().decode(letters) : undefined;
    for (let i = from; i < to; i++) {
      list[i] = text?.slice(starts[i] - starts[from], starts[i + 1] - starts[from]) ?? idAt(ids, i);
    }
  }
  return list;
}

/** The ids at the given positions, in the order given. */
export function selectIds({ bytes, starts }: PackedIds, chosen: ArrayLike<number>): PackedIds {
  const ends = new Int32Array(chosen.length + 1);
  for (let k = 0; k < chosen.length; k++) ends[k + 1] = ends[k] + starts[chosen[k] + 1] - starts[chosen[k]];
  const letters = new Uint8Array(ends[chosen.length]);
  for (let k = 0; k < chosen.length; k++) {
    const end = ends[k + 1];
    for (let at = ends[k], from = starts[chosen[k]]; at < end; at++, from++) letters[at] = bytes[from];
  }
  return { bytes: letters, starts: ends };
}

/** Whether two columns hold the same ids in the same order. */
export function sameIds(a: PackedIds, b: PackedIds): boolean {
  const same = (x: ArrayLike<number>, y: ArrayLike<number>): boolean => {
    for (let k = 0; k < x.length; k++) if (x[k] !== y[k]) return false;
    return x.length === y.length;
  };
  return same(a.starts, b.starts) && same(a.bytes, b.bytes);
}

/** Positions of distinct ids in canonical order, [m]: merge sort, one pass where they stand in it already. */
export function canonicalOrder(ids: PackedIds): Int32Array {
  const { bytes, starts } = ids;
  const m = starts.length - 1;
  const before = (i: number, j: number): boolean =>
    compareLetters(bytes, starts[i], starts[i + 1], starts[j], starts[j + 1]) < 0;
  let order = new Int32Array(m);
  let sorted = true;
  for (let i = 0; i < m; i++) {
    order[i] = i;
    if (sorted && i > 0) sorted = before(i - 1, i);
  }
  if (sorted) return order;
  let merged = new Int32Array(m);
  for (let width = 1; width < m; width *= 2) {
    for (let from = 0; from < m; from += 2 * width) {
      const middle = Math.min(from + width, m);
      const end = Math.min(middle + width, m);
      // Runs that follow one another already are taken as they are.
      const joined = middle === end || before(order[middle - 1], order[middle]);
      let a = from;
      let b = middle;
      for (let k = from; k < end; k++) {
        if (joined) merged[k] = order[k];
        else merged[k] = b === end || (a < middle && before(order[a], order[b])) ? order[a++] : order[b++];
      }
    }
    [order, merged] = [merged, order];
  }
  return order;
}

/** An array of bytes with room for `size`: the one given, or a larger copy. */
export function withRoom(bytes: Uint8Array, size: number): Uint8Array {
  if (size <= bytes.length) return bytes;
  if (size > MOST_BYTES) {
    throw new DtmError("too-large", `Expected ids of at most ${MOST_BYTES} bytes in all, received more. Shorten them.`);
  }
  const grown = new Uint8Array(Math.min(2 * size, MOST_BYTES));
  grown.set(bytes);
  return grown;
}

/** Writes the bytes of a text from `at` on, at most three for each unit; returns the place after the last. */
export function writeLetters(text: string, bytes: Uint8Array, at: number): number {
  for (let k = 0; k < text.length; k++) {
    const unit = text.charCodeAt(k);
    if (unit < 0x80) {
      bytes[at++] = unit;
    } else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      const low = (unit & 0xfc00) === 0xd800 && k + 1 < text.length ? text.charCodeAt(k + 1) : 0;
      if ((low & 0xfc00) === 0xdc00) {
        // A pair of surrogates: one character, four bytes.
        const point = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
        bytes[at++] = 0xf0 | (point >> 18);
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
        bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[at++] = 0x80 | (point & 0x3f);
        k++;
      } else {
        bytes[at++] = 0xe0 | (unit >> 12);
        bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
        bytes[at++] = 0x80 | (unit & 0x3f);
      }
    }
  }
  return at;
}

/** The text of bytes[from..to-1]. */
function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  let units: number[] = [];
  for (let k = from; k < to; ) {
    const a = bytes[k++];
    if (a < 0x80) {
      units.push(a);
    } else if (a < 0xe0) {
      units.push(((a & 0x1f) << 6) | (bytes[k++] & 0x3f));
    } else {
      const three = ((a & 0x0f) << 12) | ((bytes[k++] & 0x3f) << 6) | (bytes[k++] & 0x3f);
      if (a < BEYOND) {
        units.push(three);
      } else {
        const rest = ((three << 6) | (bytes[k++] & 0x3f)) - 0x10000;
        units.push(0xd800 | (rest >> 10), 0xdc00 | (rest & 0x3ff));
      }
    }
    if (units.length >= PART) {
      text += String.fromCharCode.apply(null, units);
      units = [];
    }
  }
  // All letters at once: text added letter by letter is kept as a tree of its pieces, many times as large.
  return text + String.fromCharCode.apply(null, units);
}

/** Below 0, 0 or above 0 as the first of two texts stands before, at or after the other by UTF-16 unit. */
function compareLetters(bytes: Uint8Array, from: number, to: number, otherFrom: number, otherTo: number): number {
  const length = Math.min(to - from, otherTo - otherFrom);
  for (let k = 0; k < length; k++) {
    const a = bytes[from + k];
    const b = bytes[otherFrom + k];
    if (a === b) continue;
    const smaller = Math.min(a, b);
    if (Math.max(a, b) < BEYOND || smaller < SURROGATES || smaller >= BEYOND) return a - b;
    // A character beyond U+FFFF against one of U+D000..U+FFFF, half a pair included: units decide.
    const [x, y] = [textOf(bytes, from + k, to), textOf(bytes, otherFrom + k, otherTo)];
    return x < y ? -1 : 1;
  }
  return to - from - (otherTo - otherFrom);
}
