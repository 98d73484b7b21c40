/** Reading files: bytes come in here and nowhere else. */
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { decodeText } from "@trajectory-maps/core/ingest";
import { FileError } from "../exit-codes.ts";

/** Text of a small file that is no table: settings, models, records. */
export function readText(path: string): string {
  checkIsFile(path);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
  return decodeText(bytes, path);
}

/** Bytes read at a time. */
const BLOCK = 1 << 18;

/** The bytes of a table, or of standard input for "-", as they come. */
export async function* readBlocks(path: string): AsyncGenerator<Uint8Array> {
  if (path !== "-") checkIsFile(path);
  try {
    yield* path === "-" ? process.stdin : createReadStream(path, { highWaterMark: BLOCK });
  } catch (error) {
    throw cannotRead(nameOf(path), error);
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

function checkIsFile(path: string): void {
  if (!existsSync(path)) throw new FileError(`There is no file ${path}. Check the name and the folder.`);
  if (statSync(path).isDirectory()) throw new FileError(`${path} is a folder. Name a file in it.`);
}

function cannotRead(name: string, error: unknown): FileError {
  return new FileError(`${name} cannot be read: ${reason(error)}. Check who may read it.`);
}

/** A file of the bundled PBC cohort; it stays in the repository and is not part of the published package. */
export function bundledFile(name: string): string {
  const path = findBundled(name);
  if (path === undefined) {
    throw new FileError(
      "The bundled cohort is in the repository only. Run npm run demo there, or dtm demo --scleroderma anywhere.",
    );
  }
  return path;
}

/** The same, undefined outside of the repository. */
export function findBundled(name: string): string | undefined {
  const path = fileURLToPath(new URL(`../../../examples/pbc/${name}`, import.meta.url));
  return existsSync(path) ? path : undefined;
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
