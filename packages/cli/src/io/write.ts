/**
 * Writing files, all or none: everything is written under temporary names beside its goal and brought to the disk, and only then put
 * in its place, so that a crash or a full disk leaves the old files whole. Private files are readable by their owner alone.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { FileError, UsageError } from "../exit-codes.ts";
import { isOfRun } from "./belongs.ts";
import { makeFolder } from "./make-folder.ts";
import { reason } from "./read.ts";
import { commit, type Pieces, settle, stagedPath, syncFolder, unsettled, writeThrough } from "./transaction.ts";

export interface OutputFile {
  /** Path inside the folder, with "/" between parts. */
  readonly name: string;
  /** Text or bytes; text of any length may come in pieces. A record of other files is given the SHA-256 of those before it. */
  readonly text: Pieces | ((digests: ReadonlyMap<string, string>) => string);
  /** Holds data of single individuals. */
  readonly private?: boolean;
}

/** Refuses, before any work is done, to overwrite files that exist. */
export function checkOutputs(folder: string, names: readonly string[], force: boolean): void {
  checkWritable(folder);
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new FileError(`${folder} is a file. Name a folder for the results.`);
  }
  const present = names.filter((name) => existsSync(join(folder, name)));
  if (present.length > 0 && !force) {
    throw new UsageError(
      `${folder} already holds ${present.join(", ")}. Name another folder, or use --force to overwrite.`,
    );
  }
}

/** The same of one file that a user names, which must not be one that a run is made of. */
export function checkOutputFile(path: string, force: boolean): void {
  checkOutputs(dirname(path), [], force);
  if (isOfRun(dirname(path), basename(path))) {
    throw new UsageError(
      `${path}: expected a name that is not of a file of the run in ${dirname(path)}. Choose another name or folder.`,
    );
  }
  if (existsSync(path) && !force) {
    throw new UsageError(`${path} is there already. Name another file, or use --force to overwrite.`);
  }
}

/** Tries a small file where the folder is or will be, so that a long computation does not end in a refusal. */
function checkWritable(folder: string): void {
  if (folder === "") throw new UsageError("Name a folder for the results, or leave the option out.");
  let nearest = resolve(folder);
  while (!existsSync(nearest)) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory()) return;
  const trial = temporaryFor(join(nearest, "dtm"));
  try {
    writeFileSync(trial, "");
    rmSync(trial, { force: true });
  } catch (error) {
    throw new FileError(`${folder} cannot be written: ${reason(error)}. Choose a folder that can.`);
  }
}

/** Letters of a file's name in its temporary one: a name as long as a disk takes, 255 bytes, has room for what is put behind it. */
const KEPT_OF_NAME = 60;

/** A name beside a file under which nobody else writes, on other machines neither, where processes may have the same number. */
export function temporaryFor(path: string): string {
  return join(
    dirname(path),
    `.${basename(path).slice(0, KEPT_OF_NAME)}.${process.pid}-${randomUUID().slice(0, 8)}.tmp`,
  );
}

/** Removes what writers that are gone left under temporary names. */
export function removeTemporaries(folder: string, isGone: (process: number) => boolean): void {
  for (const name of readdirSync(folder)) {
    const [, id] = /^\..+\.(\d+)-[0-9a-f]{8}\.tmp$/.exec(name) ?? [];
    if (id !== undefined && isGone(Number(id))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Writes the files into the folder, making it if needed, and removes what is named, as one change; returns the paths of the files.
 * One file alone is renamed into its place, several are a transaction.
 */
export function writeOutputs(folder: string, files: readonly OutputFile[], remove: readonly string[] = []): string[] {
  const [only] = files;
  const isOne = files.length === 1 && only !== undefined && remove.length === 0;
  const temporary = temporaryFor(join(folder, isOne ? only.name : "dtm-writing"));
  let bytes = 0;
  let isMade = false;
  try {
    makeFolder(folder);
    // A change that was made and not finished comes before this one.
    settle(folder);
    const inWay = files
      .map(({ name }) => join(folder, name))
      .find((path) => existsSync(path) && statSync(path).isDirectory());
    if (inWay !== undefined) throw new Error(`${inWay} is a folder`);
    const digests = new Map<string, string>();
    for (const { name, text, private: secret } of files) {
      const path = isOne ? temporary : stagedPath(temporary, name);
      makeFolder(dirname(path));
      const pieces = typeof text === "function" ? text(digests) : text;
      digests.set(
        name,
        writeThrough(path, pieces, secret === true ? 0o600 : 0o644, (size) => {
          bytes += size;
        }),
      );
    }
    if (isOne) {
      renameSync(temporary, join(folder, only.name));
      isMade = true;
      syncFolder(dirname(join(folder, only.name)));
    } else {
      makeFolder(temporary);
      chmodSync(temporary, 0o700);
      commit(folder, temporary, { files: files.map(({ name }) => name), remove }, () => {
        isMade = true;
      });
    }
  } catch (error) {
    if (isMade) throw new FileError(unsettled(folder, error));
    removeQuietly(temporary);
    const needed = `at least ${(bytes / 2 ** 20).toFixed(1)} MB are needed`;
    throw new FileError(`${folder} cannot be written: ${reason(error)} (${needed}). Existing files were not changed.`);
  }
  return files.map(({ name }) => join(folder, name));
}

/** What cannot be removed now is removed by the next who writes here. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Told is what went wrong before.
  }
}

/** Writes one file anywhere; refuses to overwrite unless forced. */
export function writeSingle(path: string, text: Pieces, force: boolean): string {
  checkOutputFile(path, force);
  return writeOutputs(dirname(path), [{ name: basename(path), text }])[0] ?? path;
}
