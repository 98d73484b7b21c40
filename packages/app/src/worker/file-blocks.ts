/** A dropped or chosen file as its bytes come: it is streamed in the worker and never held as a whole. */
import { DtmError } from "@trajectory-maps/core";
import type { ByteSource } from "@trajectory-maps/core/ingest";

/** A file as it is read: its bytes as they come, or at any place. */
export function sourceOf(file: Blob, name: string, onBytes: (bytes: number) => void = () => {}): ByteSource {
  const slice = async (from: number, to: number) => {
    onBytes(to);
    const bytes = await file
      .slice(from, to)
      .arrayBuffer()
      .catch((error) => {
        throw cannotRead(name, error);
      });
    return new Uint8Array(bytes);
  };
  return Object.assign(blocksOf(file, name, onBytes), { size: file.size, slice });
}

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
        throw cannotRead(name, error);
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

function cannotRead(name: string, error: unknown): DtmError {
  const reason = error instanceof Error ? error.message : String(error);
  return new DtmError("cannot-read", `${name} cannot be read: ${reason.replace(/\.$/, "")}. Choose the file again.`);
}
