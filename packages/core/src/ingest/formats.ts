/**
 * The table of formats: for each how a file of it is recognised and how its rows are streamed. The command line, the
 * explorer's worker and the library all read files through `readTableFile`. A new format is a file of its own and an entry
 * here, before delimited text, which takes whatever nobody else does. Gzip is no format but a wrapping: any file may be packed.
 */
import { joined } from "./decode.ts";
import { DELIMITED_TEXT, parseText } from "./delimited.ts";
import { isGzip, unpack } from "./gzip.ts";
import type { TableFormat, TableOptions, TableReader } from "./table.ts";

export const FORMATS: readonly TableFormat[] = [DELIMITED_TEXT];

/** Ends of names of files that can be read. */
export const TABLE_EXTENSIONS: readonly string[] = [...FORMATS.flatMap(({ extensions }) => extensions), ".gz"];

/** The bytes of a file in blocks of any length: a stream of Node, of a Blob, or arrays. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** First bytes that tell what a file is. */
const HEAD = 4096;

/** Reads a file of any known format, plain or gzip, without ever holding it as a whole. */
export async function readTableFile<T>(
  source: ByteSource,
  reader: TableReader<T>,
  options: TableOptions = {},
): Promise<T> {
  const { file = "the file" } = options;
  const packed = await peek(source, 2);
  const plain = await peek(isGzip(packed.head) ? unpack(packed.blocks, file) : packed.blocks, HEAD);
  try {
    const format = FORMATS.find(({ recognise }) => recognise(plain.head, file))!;
    const rows = format.rows(plain.head, reader, options);
    for await (const block of plain.blocks) if (!rows.push(block)) break;
    return reader.finish(rows.end());
  } finally {
    await plain.blocks.return(undefined);
  }
}

/** Reads a table that is text already, whole or in pieces of any length. */
export function readTableText<T>(
  text: string | Iterable<string>,
  reader: TableReader<T>,
  options: TableOptions = {},
): T {
  const rows = parseText(reader, options);
  for (const piece of typeof text === "string" ? [text] : text) if (!rows.push(piece)) break;
  return reader.finish(rows.end());
}

/** The first bytes of a file, `size` of them if it has as many, and all blocks from its beginning. */
async function peek(
  source: ByteSource,
  size: number,
): Promise<{ head: Uint8Array; blocks: AsyncGenerator<Uint8Array> }> {
  const blocks = blocksOf(source);
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < size) {
    const next = await blocks.next();
    if (next.done) break;
    head = joined(head, next.value);
  }
  return { head, blocks: startingWith(head, blocks) };
}

async function* blocksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  yield* source;
}

async function* startingWith(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
