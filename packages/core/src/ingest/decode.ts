/**
 * Bytes → text as they come, or a complaint. UTF-8 with or without byte-order mark and UTF-16 with one are read; anything
 * else is refused by name, so that no letter of an id is ever replaced in silence. A file is never held as a whole.
 */
import type { Where } from "../errors.ts";
import { refusalAt } from "./complaints.ts";

/** Present in browsers, workers and Node alike; the language's own library has no type for it. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean },
) => { decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string };

/** Turns the blocks of a file into text, one after the other; `end` gives what is left. */
export interface Decoder {
  push(bytes: Uint8Array): string;
  end(): string;
}

/** A decoder of the file that begins with `head`; throws a DtmError "not-utf8" with where and remedy, as `push` does. */
export function createDecoder(head: Uint8Array, file?: string): Decoder {
  const encoding = encodingOf(head, file);
  const decoder = new TextDecoder(encoding, { fatal: true });
  let offset = 0;
  let line = 1;
  // The last bytes of the blocks before: a letter may have begun there.
  let tail: Uint8Array = new Uint8Array(0);
  const decode = (bytes: Uint8Array, stream: boolean): string => {
    const before = tail;
    try {
      const text = decoder.decode(bytes, { stream });
      tail = joined(before, bytes.subarray(-LONGEST)).slice(-LONGEST);
      offset += bytes.length;
      line += countLineFeeds(bytes, bytes.length);
      return text;
    } catch {
      if (encoding !== "utf-8") throw notText(`text in ${encoding}`, "broken text", {}, file);
      const text = joined(before, bytes);
      const at = firstInvalid(text, before.length);
      const byte = text[at].toString(16).padStart(2, "0");
      const lines = countLineFeeds(text, at) - countLineFeeds(before, before.length);
      const received = `byte ${byte} at offset ${offset - before.length + at}`;
      throw notText("text in UTF-8", received, { line: line + lines }, file, " (it may be Latin-1 or Windows-1252)");
    }
  };
  return { push: (bytes) => decode(bytes, true), end: () => decode(new Uint8Array(0), false) };
}

/** Text of a file's bytes; throws a DtmError "not-utf8" with where and remedy. */
export function decodeText(bytes: Uint8Array, file?: string): string {
  const decoder = createDecoder(bytes, file);
  return decoder.push(bytes) + decoder.end();
}

/** Bytes of the longest letter, but for the last. */
const LONGEST = 3;

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** What the first bytes of a file say of its encoding. */
function encodingOf(head: Uint8Array, file: string | undefined): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  if (!looksLikeUtf16(head)) return "utf-8";
  const expected = "text in UTF-8, or in UTF-16 with a byte-order mark";
  throw notText(expected, "what looks like UTF-16 without one", { line: 1 }, file);
}

function notText(expected: string, received: string, where: Where, file: string | undefined, hint = ""): Error {
  return refusalAt(where, file, "not-utf8", [expected, received, `Save the file as UTF-8${hint}.`]);
}

/** Latin letters in UTF-16 have a zero as every second byte; in UTF-8 there is none. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, 1000) & ~1;
  const zeros = [0, 0];
  for (let k = 0; k < length; k++) if (bytes[k] === 0) zeros[k & 1]++;
  const [few, many] = zeros[0] < zeros[1] ? zeros : [zeros[1], zeros[0]];
  return length >= 4 && few === 0 && many > 0.8 * (length / 2);
}

/** Two blocks of bytes as one. */
export function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function countLineFeeds(bytes: Uint8Array, end: number): number {
  let count = 0;
  for (let k = 0; k < end; k++) if (bytes[k] === 0x0a) count++;
  return count;
}

/**
 * Offset of the first byte that cannot be UTF-8 (RFC 3629: shortest forms, no surrogates, up to U+10FFFF). The first `good`
 * bytes end a good text: what is left there of a letter that began before them is passed over.
 */
function firstInvalid(bytes: Uint8Array, good: number): number {
  let first = 0;
  while (first < good && bytes[first] >= 0x80 && bytes[first] < 0xc0) first++;
  for (let k = first; k < bytes.length; ) {
    const a = bytes[k];
    const length = a < 0x80 ? 1 : a >= 0xc2 && a < 0xe0 ? 2 : a >= 0xe0 && a < 0xf0 ? 3 : a >= 0xf0 && a < 0xf5 ? 4 : 0;
    if (length === 0) return k;
    for (let j = 1; j < length; j++) {
      const low = j === 1 ? (a === 0xe0 ? 0xa0 : a === 0xf0 ? 0x90 : 0x80) : 0x80;
      const high = j === 1 ? (a === 0xed ? 0x9f : a === 0xf4 ? 0x8f : 0xbf) : 0xbf;
      if (!(bytes[k + j] >= low && bytes[k + j] <= high)) return k;
    }
    k += length;
  }
  return bytes.length - 1;
}
