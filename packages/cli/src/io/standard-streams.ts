/**
 * Standard output and standard error. A result is printed whole or the program fails: only a reader who has seen enough (head, less)
 * is no failure. What is said beside results may be lost without harm.
 */
import { fstatSync, fsyncSync, writeFileSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { FileError } from "../exit-codes.ts";
import { codeOf, reason } from "./read.ts";

const OUT = 1;

/** Prints a result. */
export type Print = (text: string) => void;

/** Writes to standard output; into a file all of it, or the reason why not is thrown. */
export function printOut(text: string): void {
  if (!isWrittenAtOnce()) {
    process.stdout.write(text);
    return;
  }
  try {
    // The stream of a file takes a part that was written for the whole; this goes on until all is.
    writeFileSync(OUT, text);
    // Some disks tell only now that they are full.
    if (fstatSync(OUT).isFile()) fsyncSync(OUT);
  } catch (error) {
    if (codeOf(error) !== "EPIPE") throw lost(error);
  }
}

/** A file, or a device that is no terminal. */
function isWrittenAtOnce(): boolean {
  try {
    const about = fstatSync(OUT);
    return about.isFile() || (about.isCharacterDevice() && !isatty(OUT));
  } catch {
    return false;
  }
}

/** Listens for what goes wrong in the streams; `onLost` hears that a result was cut. */
export function guardStreams(onLost: (error: FileError) => void): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error) => {
    if (codeOf(error) !== "EPIPE") onLost(lost(error));
  });
}

function lost(error: unknown): FileError {
  return new FileError(
    `Standard output cannot be written: ${reason(error)}. What was printed is not whole. Make room, or name a file on another disk with -o where the command takes one.`,
  );
}
