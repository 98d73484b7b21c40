/** A dropped or chosen file as its bytes come: it is streamed in the worker and never held as a whole. */
import { DtmError } from "@trajectory-maps/core";

/** The bytes of a file; `onBytes` is told how many came so far, and throws to give the file up. */
export async function* blocksOf(
  file: Blob,
  name: string,
  onBytes: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new DtmError(
          "cannot-read",
          `${name} cannot be read: ${reason.replace(/\.$/, "")}. Choose the file again.`,
        );
      });
      if (done) return;
      bytes += value.length;
      onBytes(bytes);
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
