/**
 * How far a gzip file may grow when it is unpacked: one rule for every door. Of b packed bytes at most
 *   min( 512 MB, max( 64 MB, 200 b ) )
 * are unpacked. Gzip repeats at most 258 bytes with about 3, and each row of a table has something of its own, so that
 * tables grow 5 to 30 times, wide ones with the same words in every row up to some 70 times; a bomb grows 1,000 times.
 * 512 MB is about ten million rows, the longest text that JavaScript holds, and little enough to be held twice.
 */
import { DtmError } from "../errors.ts";

/** Bytes that no packed file may grow beyond. */
export const MOST_UNPACKED = 2 ** 29;
/** Bytes that every packed file may grow to. */
const ALWAYS_ALLOWED = 2 ** 26;
const MOST_GROWTH = 200;

/** Whether a file is gzip, whatever it is called: by its first bytes. */
export function looksZipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Bytes that a file of so many packed bytes may unpack to. */
export function unpackedLimit(packedBytes: number): number {
  return Math.min(MOST_UNPACKED, Math.max(ALWAYS_ALLOWED, MOST_GROWTH * packedBytes));
}

/** The refusal of a file that grows beyond its limit. */
export function unpackedTooLong(name: string, limit: number): DtmError {
  const remedy =
    limit < MOST_UNPACKED
      ? "Unpack it first, if it is a table that repeats itself so much."
      : "Unpack it for the command line, which reads plain files of any length in pieces.";
  const most = Math.round(limit / 2 ** 20);
  return new DtmError("too-large", `${name}: expected at most ${most} MB once unpacked, received more. ${remedy}`);
}

/** The refusal of a file that cannot be unpacked. */
export function damagedGzip(name: string): DtmError {
  return new DtmError(
    "not-text",
    `${name}: expected whole gzip data, received damaged or cut bytes. Pack or copy the file again.`,
  );
}
