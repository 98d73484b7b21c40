/**
 * Whether the files of a run belong together: run.json holds the SHA-256 of every file that may be shared, and digests.json, which is
 * private, those of private files and of run.json. Nothing in run.json follows from private files, because it may be shared: whoever
 * knows all visits but one could try values for it until a digest is right.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { FileError } from "../exit-codes.ts";
import { fileExists, isFolder, readText, reason } from "./read.ts";
import { isUnsettled } from "./transaction.ts";

export const RECORD_FILE = "run.json";
export const DIGESTS_FILE = "digests.json";

/** A file as run.json lists it. */
export interface ListedFile {
  readonly name: string;
  readonly private: boolean;
  readonly holds: string;
  /** Of files that may be shared. */
  readonly sha256?: string;
}

/** SHA-256 of private files, by name. */
export type PrivateDigests = Readonly<Record<string, string>>;

/** The file of digests beside a record with this one. */
export function digestsText(record: string, files: PrivateDigests): string {
  return `${JSON.stringify({ format: "dtm-digests", formatVersion: 1, record, files }, undefined, 2)}\n`;
}

/** The digests of private files that a run has so far. */
export function readDigests(folder: string): PrivateDigests {
  const path = join(folder, DIGESTS_FILE);
  if (!fileExists(path)) return {};
  const { record, files } = parsed(readText(path));
  if (files === undefined || record !== digestOf(join(folder, RECORD_FILE))) {
    throw other(folder, DIGESTS_FILE, `one of another ${RECORD_FILE}: one of them was changed or replaced since`);
  }
  return files;
}

function parsed(text: string): { readonly record?: string; readonly files?: PrivateDigests } {
  try {
    return JSON.parse(text) as { readonly record: string; readonly files: PrivateDigests };
  } catch {
    return {};
  }
}

/** Refuses a file that is not the one which was written into the run. Runs of earlier versions have no digests. */
export function checkBelongs(folder: string, name: string): void {
  const listed = listedFiles(folder);
  if (listed === undefined || name === RECORD_FILE || !fileExists(join(folder, name))) return;
  const own = listed.find((file) => file.name === name);
  const isKept = listed.some((file) => file.name === DIGESTS_FILE);
  if (own === undefined && isKept) throw other(folder, name, "a file that is not of this run");
  if (name === DIGESTS_FILE) {
    readDigests(folder);
    return;
  }
  const expected = own?.private === true && isKept ? privateDigest(folder, name) : own?.sha256;
  if (expected !== undefined && digestOf(join(folder, name)) !== expected) {
    throw other(folder, name, "another: it was changed or replaced since");
  }
}

function privateDigest(folder: string, name: string): string | undefined {
  if (!fileExists(join(folder, DIGESTS_FILE))) throw other(folder, DIGESTS_FILE, "none");
  return readDigests(folder)[name];
}

/** Whether a name is one of the files that the run in a folder is made of; nothing is where there is no run. */
export function isOfRun(folder: string, name: string): boolean {
  return (
    fileExists(join(folder, RECORD_FILE)) &&
    [RECORD_FILE, ...(listedFiles(folder) ?? []).map((file) => file.name)].includes(name)
  );
}

/** Files of a run by its record; undefined where it has none. */
function listedFiles(folder: string): readonly ListedFile[] | undefined {
  const path = join(folder, RECORD_FILE);
  if (!isFolder(folder) || !fileExists(path)) return undefined;
  try {
    const { files } = JSON.parse(readText(path)) as { readonly files?: unknown };
    return Array.isArray(files) ? (files as readonly ListedFile[]) : undefined;
  } catch {
    // Whoever needs what it says tells what is wrong with it.
    return undefined;
  }
}

function other(folder: string, name: string, received: string): FileError {
  const [, command] = /^(groups|compare|associate|sensitivity)\.(?:json|csv)$/.exec(name) ?? [];
  const remedy =
    command === undefined
      ? "Put it back as it was, or fit again with --force"
      : `Put it back as it was, or write it again with dtm ${command} ... --force`;
  return new FileError(
    `${join(folder, name)}: expected the file that was written with this run (${RECORD_FILE} knows its digest), received ${received}. ${remedy}.`,
  );
}

/** SHA-256 of text in pieces, as if it were a file. */
export function digestText(pieces: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

const BLOCK = 1 << 20;

/** SHA-256 of a file's bytes, in hexadecimal digits. */
export function digestOf(path: string): string {
  const hash = createHash("sha256");
  const block = new Uint8Array(BLOCK);
  try {
    const file = openSync(path, "r");
    try {
      for (let size = readSync(file, block); size > 0; size = readSync(file, block))
        hash.update(block.subarray(0, size));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new FileError(`${path} cannot be read: ${reason(error)}. Check who may read it.`);
  }
  return hash.digest("hex");
}

/** What a reader holds against the run once it has read it: nobody may have written to it meanwhile. */
export function watchRun(folder: string): () => void {
  const path = join(folder, RECORD_FILE);
  const textNow = () => (fileExists(path) ? readText(path) : "");
  const before = textNow();
  return () => {
    if (!isUnsettled(folder) && textNow() === before) return;
    throw new FileError(`${folder} was written by another command while it was read. Give the command again.`);
  };
}
