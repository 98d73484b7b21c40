/** Files compressed with gzip, opened with the browser's own stream; refusals as on the command line. */
import { DtmError } from "@trajectory-maps/core";

/** Bytes a packed file may unpack to: more than any cohort needs. */
const MAX_UNPACKED = 2 ** 29;
/** A bomb is told by how much it grows: tables become some ten times as long, beyond this length never a hundred times. */
const MAX_GROWTH = 100;
const ALWAYS_ALLOWED = 2 ** 25;

export function looksZipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Bytes that a file packed into so many may unpack to. */
export function unpackedLimit(packed: number): number {
  return Math.min(MAX_UNPACKED, Math.max(ALWAYS_ALLOWED, MAX_GROWTH * packed));
}

/** The bytes that were packed; a file that turns out to be too long is refused before it fills the memory. */
export async function gunzip(
  bytes: Uint8Array,
  name: string,
  limit = unpackedLimit(bytes.length),
): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new DtmError(
        "not-text",
        `${name}: expected whole gzip data, received damaged or cut bytes. Pack or copy the file again.`,
      );
    });
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw tooLarge(name, limit);
    }
    pieces.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function tooLarge(name: string, limit: number): DtmError {
  const most = Math.round(limit / 2 ** 20);
  const remedy =
    limit < MAX_UNPACKED ? "Unpack it first, if it is a table that repeats itself so much" : "Give a smaller file";
  return new DtmError("too-large", `${name}: expected at most ${most} MB once unpacked, received more. ${remedy}.`);
}
