/**
 * Writing files, all or none: everything is written under temporary names beside its goal, and only then renamed, so
 * that a crash or a full disk leaves the old files whole. Private files are readable by their owner alone.
 */
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { FileError, UsageError } from "../exit-codes.ts";
import { reason } from "./read.ts";

export interface OutputFile {
  /** Path inside the folder, with "/" between parts. */
  readonly name: string;
  /** Text or bytes; text of any length may come in pieces. */
  readonly text: string | Uint8Array | Iterable<string>;
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

/** A name beside a file under which nobody else writes, on other machines neither, where processes may have the same number. */
export function temporaryFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}-${randomUUID().slice(0, 8)}.tmp`);
}

/** Writes the files into the folder, making it if needed; returns their paths. */
export function writeOutputs(folder: string, files: readonly OutputFile[]): string[] {
  const waiting = files.map(({ name, text, private: secret }) => {
    const path = join(folder, name);
    const temporary = temporaryFor(path);
    return { path, temporary, text, mode: secret === true ? 0o600 : 0o644 };
  });
  let bytes = 0;
  try {
    mkdirSync(folder, { recursive: true });
    for (const { path, temporary, text, mode } of waiting) {
      mkdirSync(dirname(path), { recursive: true });
      for (const size of writePieces(temporary, text, mode)) bytes += size;
    }
    for (const { temporary, path } of waiting) renameSync(temporary, path);
  } catch (error) {
    for (const { temporary } of waiting) rmSync(temporary, { force: true });
    const needed = `at least ${(bytes / 2 ** 20).toFixed(1)} MB are needed`;
    throw new FileError(`${folder} cannot be written: ${reason(error)} (${needed}). Existing files were not changed.`);
  }
  return waiting.map(({ path }) => path);
}

/** Writes a file piece by piece and tells the size of each before it is written. */
function* writePieces(path: string, text: OutputFile["text"], mode: number): Generator<number> {
  const file = openSync(path, "w", mode);
  try {
    for (const piece of typeof text === "string" || text instanceof Uint8Array ? [text] : text) {
      yield typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
      writeFileSync(file, piece);
    }
  } finally {
    closeSync(file);
  }
}

/** Writes one file anywhere; refuses to overwrite unless forced. */
export function writeSingle(path: string, text: string, force: boolean): string {
  checkOutputs(dirname(path), [basename(path)], force);
  return writeOutputs(dirname(path), [{ name: basename(path), text }])[0] ?? path;
}

/** Removes a file that is no longer true; nothing happens if it is not there. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
}
