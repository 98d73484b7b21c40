/**
 * Bytes → text, or a complaint. UTF-8 with or without byte-order mark and UTF-16 with one are read; anything else is
 * refused by name, so that no letter of an id is ever replaced in silence.
 */
import type { Complaint } from "../errors.ts";
import { refusal } from "./complaints.ts";

/** Present in browsers, workers and Node alike; the language's own library has no type for it. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean },
) => { decode(bytes: Uint8Array): string };

export interface DecodedText {
  readonly text: string;
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
}

/** Text of a file's bytes; throws a DtmError "not-text" or "not-utf8" with where and remedy. */
export function decodeText(bytes: Uint8Array, file?: string): DecodedText {
  const starts = (...start: number[]) => start.every((byte, k) => bytes[k] === byte);
  const where = file === undefined ? {} : { file };
  const notText = (received: string, remedy: string) =>
    refusal([{ code: "not-text", severity: "refuse", expected: "a table as text (CSV)", received, where, remedy }]);
  if (starts(0x1f, 0x8b)) throw notText("bytes of gzip", "This is gzip; unpack the file first.");
  if (starts(0x50, 0x4b, 0x03, 0x04)) {
    throw notText("what looks like a workbook", "Open it in the spreadsheet and export as CSV.");
  }
  const encoding = starts(0xff, 0xfe) ? "utf-16le" : starts(0xfe, 0xff) ? "utf-16be" : "utf-8";
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), encoding };
  } catch {
    throw refusal([badBytes(bytes, encoding, where)]);
  }
}

function badBytes(bytes: Uint8Array, encoding: string, where: Complaint["where"]): Complaint {
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
  const offset = firstInvalid(bytes);
  let line = 1;
  for (let k = 0; k < offset; k++) if (bytes[k] === 0x0a) line++;
  return {
    code: "not-utf8",
    severity: "refuse",
    expected: "text in UTF-8",
    received: `byte ${bytes[offset].toString(16).padStart(2, "0")} at offset ${offset}`,
    where: { ...where, line },
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
