/** Files compressed with gzip, opened with the browser's own stream; refusals as on the command line. */
import { DtmError } from "@trajectory-maps/core";

/** Bytes a packed file may unpack to: more than any cohort needs, and a bomb is stopped. */
const MAX_UNPACKED = 2 ** 29;

export function looksZipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export async function gunzip(bytes: Uint8Array, name: string, limit = MAX_UNPACKED): Promise<Uint8Array> {
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
      throw new DtmError(
        "too-large",
        `${name}: expected at most ${limit / 2 ** 20} MB once unpacked, received more. Give a smaller file.`,
      );
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
