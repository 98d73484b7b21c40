/**
 * Writing files, all or none: everything is written under temporary names beside its goal, and only then renamed, so
 * that a crash or a full disk leaves the old files whole.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { FileError, UsageError } from "../exit-codes.ts";
import { reason } from "./read.ts";

export interface OutputFile {
  readonly name: string;
  readonly text: string;
}

/** Refuses, before any work is done, to overwrite files that exist. */
export function checkOutputs(folder: string, names: readonly string[], force: boolean): void {
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

/** Writes the files into the folder, making it if needed; returns their paths. */
export function writeOutputs(folder: string, files: readonly OutputFile[]): string[] {
  const waiting = files.map(({ name, text }) => {
    const path = join(folder, name);
    return { path, temporary: join(folder, `.${name}.${process.pid}.tmp`), text };
  });
  try {
    mkdirSync(folder, { recursive: true });
    for (const { temporary, text } of waiting) writeFileSync(temporary, text);
    for (const { temporary, path } of waiting) renameSync(temporary, path);
  } catch (error) {
    for (const { temporary } of waiting) rmSync(temporary, { force: true });
    throw new FileError(`${folder} cannot be written: ${reason(error)}. Files already there are as they were.`);
  }
  return waiting.map(({ path }) => path);
}
