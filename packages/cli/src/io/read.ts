/** Reading files: bytes come in here and nowhere else. Gzip is known by its first bytes, whatever the file is called. */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import {
  DtmError,
  damagedGzip,
  decodePieces,
  decodeText,
  looksZipped,
  unpackedLimit,
  unpackedTooLong,
} from "@trajectory-maps/core";
import { FileError } from "../exit-codes.ts";

/** Text of a file, or of standard input for "-"; gzip is unpacked. */
export function readText(path: string): string {
  const name = nameOf(path);
  const bytes = path === "-" ? readBytes(0, name) : readFile(path);
  return decodeText(looksZipped(bytes) ? unpack(bytes, name) : bytes, name).text;
}

/** Bytes read at a time. */
const BLOCK = 1 << 20;

/** Text of a file as `readText` gives it, in pieces, so that a large file is never held as a whole. */
export function* readPieces(path: string): Generator<string> {
  const name = nameOf(path);
  if (path !== "-") checkIsFile(path);
  const blocks = readBlocks(path === "-" ? 0 : path, name);
  const first = blocks.next();
  if (first.done) return;
  if (looksZipped(first.value)) {
    yield* decodePieces(inBlocks(unpack(Buffer.concat([first.value, ...blocks]), name)), name);
  } else {
    yield* decodePieces(startingWith(first.value, blocks), name);
  }
}

function* startingWith(first: Uint8Array, rest: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield first;
  yield* rest;
}

function* inBlocks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += BLOCK) yield bytes.subarray(at, at + BLOCK);
}

/** The bytes of a file or of standard input (0), each block in memory of its own. */
function* readBlocks(source: string | 0, name: string): Generator<Uint8Array> {
  if (source === 0) {
    // A pipe that is not ready cannot be read piecewise without waiting; the system's own reader waits.
    const bytes = readBytes(0, name);
    if (bytes.length > 0) yield* inBlocks(bytes);
    return;
  }
  let file: number | undefined;
  try {
    file = openSync(source, "r");
    for (;;) {
      const block = new Uint8Array(BLOCK);
      const length = readSync(file, block, 0, BLOCK, null);
      if (length === 0) return;
      yield block.subarray(0, length);
    }
  } catch (error) {
    if (error instanceof DtmError) throw error;
    throw new FileError(`${name} cannot be read: ${reason(error)}. Check its permissions.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** What a path is called in messages. */
export function nameOf(path: string): string {
  return path === "-" ? "standard input" : path;
}

export function fileExists(path: string): boolean {
  return existsSync(path);
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function unpack(bytes: Uint8Array, name: string): Uint8Array {
  const limit = unpackedLimit(bytes.length);
  try {
    return gunzipSync(bytes, { maxOutputLength: limit });
  } catch (error) {
    const tooLong = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw tooLong ? unpackedTooLong(name, limit) : damagedGzip(name);
  }
}

function checkIsFile(path: string): void {
  if (!existsSync(path)) throw new FileError(`There is no file ${path}. Check the name and the folder.`);
  if (statSync(path).isDirectory()) throw new FileError(`${path} is a folder. Name a file in it.`);
}

function readFile(path: string): Uint8Array {
  checkIsFile(path);
  return readBytes(path, path);
}

function readBytes(source: string | number, name: string): Uint8Array {
  try {
    return readFileSync(source);
  } catch (error) {
    throw new FileError(`${name} cannot be read: ${reason(error)}. Check its permissions.`);
  }
}

/** A file of the bundled PBC cohort; it stays in the repository and is not part of the published package. */
export function bundledFile(name: string): string {
  const path = fileURLToPath(new URL(`../../../examples/pbc/${name}`, import.meta.url));
  if (!existsSync(path)) {
    throw new FileError("The bundled cohort is only part of the repository. Run the demo there: npm run demo.");
  }
  return path;
}

/** The system's word for what went wrong, without a stack. */
export function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words: Record<string, string> = {
    EACCES: "permission denied",
    EPERM: "permission denied",
    ENOENT: "no such file or folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
    ENOTDIR: "a part of the path is not a folder",
    EISDIR: "it is a folder",
  };
  return words[code] ?? (error instanceof Error ? error.message : String(error));
}
