/**
 * Bytes → text, or a complaint. UTF-8 with or without byte-order mark and UTF-16 with one are read; anything else is
 * refused by name, so that no letter of an id is ever replaced in silence. Bytes may come in blocks, so that a large
 * file is never held as a whole.
 */
import type { Complaint } from "../errors.ts";
import { refusal } from "./complaints.ts";

/** Present in browsers, workers and Node alike; the language's own library has no type for it. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

export interface DecodedText {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Text of a file's bytes; throws a DtmError "not-text" or "not-utf8" with where and remedy. */
export function decodeText(bytes: Uint8Array, file?: string): DecodedText {
  const encoding = encodingOf(bytes, file);
  return { text: decodeBlock(bytes, { encoding, offset: 0, line: 1, file }), encoding };
}

/** Text of a file's bytes in blocks, each as its own piece; refuses what `decodeText` refuses, in the same words. */
export function* decodePieces(blocks: Iterable<Uint8Array>, file?: string): Generator<string> {
  let encoding: Encoding | undefined;
  let offset = 0;
  let line = 1;
  // Bytes of a letter whose end is in the next block.
  let rest: Uint8Array = new Uint8Array(0);
  for (const block of blocks) {
    const bytes = joined(rest, block);
    if (encoding === undefined && bytes.length < 4) {
      rest = bytes;
      continue;
    }
    encoding ??= encodingOf(bytes, file);
    const whole = wholeLetters(bytes, encoding);
    rest = bytes.slice(whole);
    const done = bytes.subarray(0, whole);
    yield decodeBlock(done, { encoding, offset, line, file });
    offset += whole;
    line += countLineFeeds(done, whole);
  }
  if (rest.length > 0) {
    yield decodeBlock(rest, { encoding: encoding ?? encodingOf(rest, file), offset, line, file });
  }
}

function notText(received: string, remedy: string, file: string | undefined, code = "not-text"): Error {
  const where = file === undefined ? {} : { file };
  return refusal([{ code, severity: "refuse", expected: "a table as text (CSV)", received, where, remedy }]);
}

/** What is read, for those who bring something else. */
export const FORMATS = "columns separated by commas, tabs, semicolons or vertical bars, as UTF-8 text, plain or gzip";

/** What the first bytes of a file say of its encoding. */
function encodingOf(bytes: Uint8Array, file: string | undefined): Encoding {
  const starts = (...start: number[]) => start.every((byte, k) => bytes[k] === byte);
  if (starts(0x1f, 0x8b)) throw notText("bytes of gzip", "This is gzip; unpack the file first.", file);
  if (starts(0x50, 0x4b, 0x03, 0x04)) {
    throw notText("what looks like a workbook", "Open it in the spreadsheet and export as CSV.", file);
  }
  if (starts(0xd0, 0xcf, 0x11, 0xe0)) {
    throw notText("what looks like an old workbook", "Open it in the spreadsheet and export as CSV.", file);
  }
  if (starts(0x50, 0x41, 0x52, 0x31)) {
    throw notText("what looks like Parquet", `Export the table; what is read: ${FORMATS}.`, file, "unsupported-format");
  }
  if (starts(0xff, 0xfe)) return "utf-16le";
  if (starts(0xfe, 0xff)) return "utf-16be";
  if (looksLikeUtf16(bytes)) {
    throw refusal([
      {
        code: "not-utf8",
        severity: "refuse",
        expected: "text in UTF-8, or in UTF-16 with a byte-order mark",
        received: "what looks like UTF-16 without one",
        where: file === undefined ? { line: 1 } : { file, line: 1 },
        remedy: "Save the file as UTF-8.",
      },
    ]);
  }
  return "utf-8";
}

/** Latin letters in UTF-16 have a zero as every second byte; in UTF-8 there is none. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, 1000) & ~1;
  const zeros = [0, 0];
  for (let k = 0; k < length; k++) if (bytes[k] === 0) zeros[k & 1]++;
  const [few, many] = zeros[0] < zeros[1] ? zeros : [zeros[1], zeros[0]];
  return length >= 4 && few === 0 && many > 0.8 * (length / 2);
}

/** Bytes up to the last letter that is whole. */
function wholeLetters(bytes: Uint8Array, encoding: Encoding): number {
  const n = bytes.length;
  if (encoding !== "utf-8") {
    const even = n & ~1;
    const high = bytes[encoding === "utf-16le" ? even - 1 : even - 2];
    return high >= 0xd8 && high < 0xdc ? even - 2 : even;
  }
  for (let back = 1; back <= 3 && back <= n; back++) {
    const byte = bytes[n - back];
    if (byte < 0x80) return n;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? n - back : n;
  }
  return n;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
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

/** Where a block stands in its file: bytes before it, and its first line. */
interface BlockPlace {
  readonly encoding: Encoding;
  readonly offset: number;
  readonly line: number;
  readonly file: string | undefined;
}

function decodeBlock(bytes: Uint8Array, place: BlockPlace): string {
  try {
    return new TextDecoder(place.encoding, { fatal: true, ignoreBOM: place.offset > 0 }).decode(bytes);
  } catch {
    throw refusal([badBytes(bytes, place)]);
  }
}

function badBytes(bytes: Uint8Array, { encoding, offset, line, file }: BlockPlace): Complaint {
  const where = file === undefined ? {} : { file };
  if (encoding !== "utf-8") {
    const remedy = "Save the file as UTF-8.";
    return {
      code: "not-utf8",
      severity: "refuse",
      expected: `text in ${encoding}`,
      received: "broken text",
      where,
      remedy,
    };
  }
  const at = firstInvalid(bytes);
  return {
    code: "not-utf8",
    severity: "refuse",
    expected: "text in UTF-8",
    received: `byte ${bytes[at].toString(16).padStart(2, "0")} at offset ${offset + at}`,
    where: { ...where, line: line + countLineFeeds(bytes, at) },
    remedy: "Save the file as UTF-8 (it may be Latin-1 or Windows-1252).",
  };
}

/** Offset of the first byte that cannot be UTF-8 (RFC 3629: shortest forms, no surrogates, up to U+10FFFF). */
function firstInvalid(bytes: Uint8Array): number {
  for (let k = 0; k < bytes.length; ) {
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
