/**
 * Bytes → text as they come, or a complaint. UTF-8 with or without byte-order mark and UTF-16 with one are read. A file that is ASCII up to a byte that
 * is no UTF-8 is read on as Windows-1252, which that byte and all later ones must then be; that is told. Anything else is refused, so that no
 * letter of an id is ever replaced in silence. A file is never held as a whole.
 */
import { checkOption, type Where } from "../errors.ts";
import { refusalAt } from "./complaints.ts";

/** Present in browsers, workers and Node alike; the language's own library has no type for it. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean },
) => { decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string };

type TextDecoding = InstanceType<typeof TextDecoder>;

/** Turns the blocks of a file into text, one after the other; `end` gives what is left. */
export interface Decoder {
  push(bytes: Uint8Array): string;
  end(): string;
  /** The encoding read so far, as browsers name it. */
  encoding(): string;
  /** What is worth telling of the encoding, in sentences, once all is decoded. */
  notes(): readonly string[];
}

/**
 * A decoder of the file that begins with `head`, in the encoding that is asked for or recognised; throws a DtmError "not-utf8" with where and
 * remedy, as `push` does.
 */
export function createDecoder(head: Uint8Array, file?: string, asked?: string): Decoder {
  const encoding = asked ?? encodingOf(head, file);
  let decoder = decoderOf(encoding);
  const notes: string[] = encoding.startsWith("utf-16") ? [`Letters are read as ${encoding.toUpperCase()}.`] : [];
  if (asked === undefined && encoding === "utf-8") return recognise();
  return {
    push: (bytes) => decoded(bytes, true),
    end: () => decoded(new Uint8Array(0), false),
    encoding: () => encoding.toLowerCase(),
    notes: () => notes,
  };

  function decoded(bytes: Uint8Array, stream: boolean): string {
    try {
      return decoder.decode(bytes, { stream });
    } catch {
      throw notText(`text in ${encoding}`, "broken text", {}, file);
    }
  }

  /** UTF-8, until a byte shows that it is not. */
  function recognise(): Decoder {
    let offset = 0;
    let line = 1;
    let isAscii = !(head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf);
    // The first byte that is no UTF-8: where, and in words.
    let odd: { readonly line: number; readonly words: string; readonly byte: string } | undefined;
    // The last bytes of the blocks before: a letter may have begun there.
    let tail: Uint8Array = new Uint8Array(0);
    const decode = (bytes: Uint8Array, isLast: boolean): string => {
      const before = tail;
      const held = heldBack(before);
      const text = odd === undefined ? utf8(bytes, before, held, isLast) : windows(before, bytes);
      if (isAscii && (text.length !== bytes.length || held > 0)) isAscii = !/[\u0080-\uffff]/.test(text);
      tail = joined(before, bytes.subarray(-LONGEST)).slice(-LONGEST);
      offset += bytes.length;
      line += countLineFeeds(bytes, bytes.length);
      return text;
    };
    const utf8 = (bytes: Uint8Array, before: Uint8Array, held: number, isLast: boolean): string => {
      try {
        return decoder.decode(bytes, { stream: !isLast });
      } catch {
        const all = joined(before, bytes);
        const at = firstInvalid(all, before.length);
        const byte = (all[at] ?? 0).toString(16).padStart(2, "0");
        const words = `byte ${byte} at offset ${offset - before.length + at}`;
        odd = { byte, words, line: line + countLineFeeds(all, at) - countLineFeeds(before, before.length) };
        const start = before.length - held;
        // A letter that is cut off at the end is damage, not another encoding.
        if (isLast || !isAscii || !isAsciiUntil(all, start, at))
          throw notText("text in UTF-8", words, { line: odd.line }, file);
        decoder = decoderOf("windows-1252");
        return windows(new Uint8Array(0), all.subarray(start));
      }
    };
    const windows = (before: Uint8Array, bytes: Uint8Array): string => {
      if (canBeWindows(joined(before, bytes))) return decoder.decode(bytes, { stream: true });
      const received = `${odd!.words}, which is no UTF-8, and others that are no Windows-1252`;
      throw notText("text in one encoding", received, { line: odd!.line }, file);
    };
    const told = () =>
      `Letters are read as Windows-1252: byte ${odd!.byte} in line ${odd!.line} is no UTF-8. If names look wrong, say the encoding (--encoding; encoding).`;
    return {
      push: (bytes) => decode(bytes, false),
      end: () => decode(new Uint8Array(0), true),
      encoding: () => (odd === undefined ? "utf-8" : "windows-1252"),
      notes: () => (odd === undefined ? notes : [told()]),
    };
  }
}

function decoderOf(encoding: string): TextDecoding {
  let decoder: TextDecoding | undefined;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch {
    // Told below, in the same words as any option.
  }
  checkOption(decoder !== undefined, "encoding", "a name such as utf-8, windows-1252 or iso-8859-2", encoding, "");
  return decoder!;
}

/** Text of a file's bytes; throws a DtmError "not-utf8" with where and remedy. */
export function decodeText(bytes: Uint8Array, file?: string): string {
  const decoder = createDecoder(bytes, file);
  return decoder.push(bytes) + decoder.end();
}

/** How many of the last bytes of a good text begin a letter that goes on behind them. */
function heldBack(tail: Uint8Array): number {
  for (let k = 1; k <= Math.min(LONGEST, tail.length); k++) {
    const byte = tail[tail.length - k];
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return k < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? k : 0;
  }
  return 0;
}

function isAsciiUntil(bytes: Uint8Array, from: number, to: number): boolean {
  for (let k = from; k < to; k++) if (bytes[k] >= 0x80) return false;
  return true;
}

/** Bytes that Windows-1252 has no letter for. */
const NO_WINDOWS = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/** Whether bytes can be text in Windows-1252: letters for all of them, and nothing that is a letter of UTF-8. */
function canBeWindows(bytes: Uint8Array): boolean {
  for (let k = 0; k < bytes.length; k++) {
    if (bytes[k] < 0x80) continue;
    if (NO_WINDOWS.includes(bytes[k])) return false;
    const length = bytes[k] < 0xc2 ? 1 : bytes[k] < 0xe0 ? 2 : bytes[k] < 0xf0 ? 3 : bytes[k] < 0xf5 ? 4 : 1;
    const letter = bytes.subarray(k + 1, k + length);
    if (length > 1 && letter.length === length - 1 && letter.every((byte) => byte >= 0x80 && byte < 0xc0)) return false;
  }
  return true;
}

/** Bytes of the longest letter, but for the last. */
const LONGEST = 3;

/** What the first bytes of a file say of its encoding. */
function encodingOf(head: Uint8Array, file: string | undefined): string {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  if (!looksLikeUtf16(head)) return "utf-8";
  const expected = "text in UTF-8, or in UTF-16 with a byte-order mark";
  throw notText(expected, "what looks like UTF-16 without one", { line: 1 }, file);
}

function notText(expected: string, received: string, where: Where, file: string | undefined): Error {
  const remedy = "Save the file as UTF-8, or name its encoding (--encoding windows-1252; encoding).";
  return refusalAt(where, file, "not-utf8", [expected, received, remedy]);
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
