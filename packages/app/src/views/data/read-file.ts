/** A file's bytes, read in pieces, so that large files show how far they are and can be given up. */

/** All bytes of a file; rejects with an AbortError once the signal is set. */
export async function readInPieces(
  file: Blob,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<ArrayBuffer> {
  const all = new Uint8Array(file.size);
  const reader = file.stream().getReader();
  let at = 0;
  for (;;) {
    if (signal.aborted) {
      await reader.cancel();
      throw new DOMException("Reading was given up.", "AbortError");
    }
    const { done, value } = await reader.read();
    if (done) break;
    all.set(value, at);
    at += value.length;
    onBytes(at);
  }
  return all.buffer;
}
