/**
 * Unpacking gzip as it comes, by the stream that browsers, workers and Node alike bring; and how far a file may grow. Of b
 * packed bytes at most
 *   min( 512 MB, max( 64 MB, 200 b ) )
 * are unpacked. Gzip repeats at most 258 bytes with about 3, and each row of a table has something of its own, so that
 * tables grow 5 to 30 times, wide ones with the same words in every row up to some 70 times; a bomb grows 1,000 times.
 * 512 MB is about ten million rows.
 */
import type { DtmError } from "../errors.ts";
import { refusalAt } from "./complaints.ts";

/** The language's own library has no types for streams. */
interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  cancel(): Promise<void>;
}
interface Controller {
  enqueue(block: Uint8Array): void;
  close(): void;
}
declare const DecompressionStream: new (format: "gzip") => object;
declare const ReadableStream: new (source: {
  pull(controller: Controller): Promise<void>;
  cancel(): Promise<unknown>;
}) => { pipeThrough(through: object): { getReader(): Reader } };

/** Bytes that no packed file may grow beyond. */
const MOST_UNPACKED = 2 ** 29;
/** Bytes that every packed file may grow to. */
const ALWAYS_ALLOWED = 2 ** 26;
const MOST_GROWTH = 200;

/** Whether a file is gzip, whatever it is called: by its first bytes. */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** Bytes that a file of so many packed bytes may unpack to. */
export function unpackedLimit(packedBytes: number): number {
  return Math.min(MOST_UNPACKED, Math.max(ALWAYS_ALLOWED, MOST_GROWTH * packedBytes));
}

/** The bytes that were packed; a file that grows too far is refused before it fills the memory. */
export async function* unpack(packed: AsyncGenerator<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  let [given, taken] = [0, 0];
  let failure: unknown;
  const stream = new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await packed.next();
        if (done) return controller.close();
        given += value.length;
        controller.enqueue(value);
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    cancel: () => packed.return(undefined),
  });
  const reader = stream.pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw failure ?? damagedGzip(file);
      });
      if (done || value === undefined) return;
      taken += value.length;
      if (taken > unpackedLimit(given)) throw unpackedTooLong(file, unpackedLimit(given));
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function unpackedTooLong(file: string, limit: number): DtmError {
  const remedy =
    limit < MOST_UNPACKED
      ? "Unpack it first, if it is a table that repeats itself so much."
      : "Unpack it first: plain files of any length are read in pieces.";
  const most = Math.round(limit / 2 ** 20);
  return refusalAt({}, file, "too-large", [`at most ${most} MB once unpacked`, "more", remedy]);
}

function damagedGzip(file: string): DtmError {
  return refusalAt({}, file, "not-text", ["whole gzip data", "damaged or cut bytes", "Pack or copy the file again."]);
}
