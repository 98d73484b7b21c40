/**
 * The bytes of a file: as they come, or at any place. Formats that stream take blocks; those that need other places take them
 * from a file that offers them (a Blob, a file of Node), and hold one that does not, such as standard input, up to a limit.
 */
import type { DtmError } from "../errors.ts";
import { refusalAt } from "./complaints.ts";
import { joined } from "./decode.ts";

/** A file that can be read at any place: a Blob or a File is one. */
export interface RandomBytes {
  readonly size: number;
  slice(from: number, to: number): Promise<Uint8Array> | { arrayBuffer(): Promise<ArrayBuffer> };
}

/** The bytes of a file in blocks of any length (a stream of Node or of a Blob, or arrays), at any place, or both. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | RandomBytes;

/** Rows of typed values, as a database answers: they are written in the one normal form of cells. */
export interface TypedRows {
  readonly columns: readonly string[];
  /** Names of columns of moments with a time zone, which are handed over in UTC. */
  readonly inUtc?: readonly string[];
  /** The rows, many at a time; once. */
  readonly batches: AsyncIterable<readonly (readonly unknown[])[]>;
  /** Ends the query, whether all rows were taken or none. */
  close?(): Promise<void>;
}

/** What a table is read from. */
export type TableSource = ByteSource | TypedRows;

/** A file that is being read. */
export interface OpenFile {
  /** First bytes, 4 kB or all. */
  readonly head: Uint8Array;
  /** All bytes from the first on; once. */
  readonly blocks: AsyncGenerator<Uint8Array>;
  /** Bytes at any place. */
  anywhere(): Promise<{ readonly size: number; read(from: number, to: number): Promise<Uint8Array> }>;
}

/** First bytes that tell what a file is. */
const HEAD = 4096;
/** Bytes taken at a time from a file that does not bring them by itself. */
const BLOCK = 1 << 18;
/** Bytes that are held of a file that cannot be read at any place. */
const MOST_HELD = 2 ** 29;

/** Opens a source of which no more than `HEAD` bytes are read before they are asked for. */
export async function openSource(source: ByteSource, file: string): Promise<OpenFile> {
  const random = "slice" in source && "size" in source ? source : undefined;
  const { head, blocks } = await peek(blocksOf(source));
  const anywhere = async () => {
    if (random === undefined) return inMemory(await gather(blocks, file));
    await blocks.return(undefined);
    return { size: random.size, read: (from: number, to: number) => readAt(random, from, to) };
  };
  return { head, blocks, anywhere };
}

/** Bytes that are held, as a file. */
export function openBytes(bytes: Uint8Array): OpenFile {
  const blocks = blocksOf([bytes]);
  return { head: bytes.subarray(0, HEAD), blocks, anywhere: async () => inMemory(bytes) };
}

/** All bytes of a file. */
export async function wholeFile(open: OpenFile, file: string): Promise<Uint8Array> {
  const { size, read } = await open.anywhere();
  if (size > MOST_HELD) throw tooLong(file);
  return read(0, size);
}

function inMemory(bytes: Uint8Array) {
  return { size: bytes.length, read: async (from: number, to: number) => bytes.subarray(from, to) };
}

async function readAt(random: RandomBytes, from: number, to: number): Promise<Uint8Array> {
  const part = await random.slice(from, to);
  return part instanceof Uint8Array ? part : new Uint8Array(await part.arrayBuffer());
}

async function* blocksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (Symbol.asyncIterator in source || Symbol.iterator in source) yield* source;
  else {
    for (let from = 0; from < source.size; from += BLOCK) {
      yield await readAt(source, from, Math.min(from + BLOCK, source.size));
    }
  }
}

/** The first bytes of a file, and all blocks from its beginning. */
async function peek(
  blocks: AsyncGenerator<Uint8Array>,
): Promise<{ head: Uint8Array; blocks: AsyncGenerator<Uint8Array> }> {
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < HEAD) {
    const next = await blocks.next();
    if (next.done) break;
    head = joined(head, next.value);
  }
  return { head, blocks: startingWith(head, blocks) };
}

async function* startingWith(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function gather(blocks: AsyncGenerator<Uint8Array>, file: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const block of blocks) {
    size += block.length;
    if (size > MOST_HELD) throw tooLong(file);
    // A block may be written over once the next one is asked for.
    parts.push(block.slice());
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function tooLong(file: string): DtmError {
  const remedy = "Save it as a file and name that, or export Parquet or CSV, which are read in pieces.";
  const expected = `at most ${MOST_HELD / 2 ** 20} MB of what must be held as a whole`;
  return refusalAt({}, file, "too-large", [expected, "more", remedy]);
}
