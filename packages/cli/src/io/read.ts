/** Reading files: bytes come in here and nowhere else. */
import { createReadStream, existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type ByteSource, decodeText } from "@trajectory-maps/core/ingest";
import { FileError } from "../exit-codes.ts";

/** Bytes of the largest file that is held as text, and of one with settings, which takes longer to understand. */
const MOST_TEXT = 2 ** 28;
export const MOST_SETTINGS = 2 ** 20;

/** Text of a small file that is no table: settings, models, records. */
export function readText(path: string, most = MOST_TEXT): string {
  checkIsFile(path);
  const { size } = statSync(path);
  if (size > most) {
    throw new FileError(
      `${path}: expected a file of at most ${most / 2 ** 20} MB, received ${Math.ceil(size / 2 ** 20)} MB. Is it the file that is meant?`,
    );
  }
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

/** The bytes of a table, or of standard input for "-": as they come, and of a file on disk at any place too. */
export function readBlocks(path: string): ByteSource {
  const blocks = blocksOf(path);
  if (path === "-" || !existsSync(path)) return blocks;
  const about = statSync(path);
  // A pipe can be read once, from its beginning.
  return about.isFile() ? Object.assign(blocks, { size: about.size, slice: sliceOf(path) }) : blocks;
}

async function* blocksOf(path: string): AsyncGenerator<Uint8Array> {
  if (path !== "-") checkIsFile(path);
  try {
    yield* path === "-" ? process.stdin : createReadStream(path, { highWaterMark: BLOCK });
  } catch (error) {
    throw cannotRead(nameOf(path), error);
  }
}

/** Reads parts of a file; it is opened for each, so that nothing need be closed. */
function sliceOf(path: string) {
  return async (from: number, to: number): Promise<Uint8Array> => {
    try {
      const file = await open(path);
      try {
        const bytes = new Uint8Array(to - from);
        const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
        return bytes.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    } catch (error) {
      throw cannotRead(nameOf(path), error);
    }
  };
}

/** What stands in place of a path where rows are the answer to a query. */
export const FROM_QUERY = "--sql";

/** The same, where visits are the measurements of OMOP CDM. */
export const FROM_OMOP = "--omop";

/** What a path is called in messages. */
export function nameOf(path: string): string {
  if (path === FROM_QUERY) return "the query";
  if (path === FROM_OMOP) return "OMOP CDM";
  return path === "-" ? "standard input" : path;
}

export function fileExists(path: string): boolean {
  return existsSync(path);
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Whether two paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  return existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other);
}

/** Pictures in a folder; none if there is no such folder. */
export function picturesIn(folder: string): string[] {
  return isFolder(folder) ? readdirSync(folder).filter((name) => /\.(svg|png)$/i.test(name)) : [];
}

function checkIsFile(path: string): void {
  if (!existsSync(path)) throw new FileError(`There is no file ${path}. Check the name and the folder.`);
  if (statSync(path).isDirectory()) throw new FileError(`${path} is a folder. Name a file in it.`);
}

function cannotRead(name: string, error: unknown): FileError {
  return new FileError(`${name} cannot be read: ${reason(error)}. Check who may read it.`);
}

/** A query that comes with the program, beside src and dist alike, without its comments. */
export function ownSql(name: string): string {
  const places = ["../sql/", "../../sql/"].map((folder) => new URL(`${folder}${name}.sql`, import.meta.url));
  return readFileSync(places.find(existsSync) ?? places[0]!, "utf8")
    .replace(/^--.*\n/gm, "")
    .trimEnd();
}

/** Files of a folder that hold tables of these names, as CSV, plain or gzip, or Parquet; cases of letters do not matter. */
export function tableFiles(folder: string, tables: readonly string[]): { table: string; path: string }[] {
  return readdirSync(folder).flatMap((name) => {
    const [, stem = ""] = /^(\w+)\.(?:csv|csv\.gz|parquet)$/i.exec(name) ?? [];
    const table = stem.toLowerCase();
    return tables.includes(table) ? [{ table, path: join(folder, name) }] : [];
  });
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

/** The code by which the system names an error, "ENOENT"; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
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
