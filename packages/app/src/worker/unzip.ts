/** Files compressed with gzip, opened with the browser's own stream; how far one may grow, and refusals, are the core's. */
import { damagedGzip, unpackedLimit, unpackedTooLong } from "@trajectory-maps/core";

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
      throw damagedGzip(name);
    });
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw unpackedTooLong(name, limit);
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
