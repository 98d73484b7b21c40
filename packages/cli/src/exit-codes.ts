/** What the exit code of `dtm` means, and which error gives which. */
import { DtmError } from "@trajectory-maps/core";

export const EXIT = { ok: 0, internal: 1, usage: 2, data: 3, file: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something the caller typed cannot be done. */
export class UsageError extends Error {}

/** A file or folder could not be read or written. */
export class FileError extends Error {}

/** Codes of the core that tell of a fault of ours rather than of the data. */
const INTERNAL = new Set(["shape", "not-positive-definite", "no-convergence"]);
const USAGE = new Set(["option", "unknown-model"]);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof FileError) return EXIT.file;
  if (!(error instanceof DtmError)) return EXIT.internal;
  if (error.code === "cancelled") return EXIT.interrupted;
  if (USAGE.has(error.code)) return EXIT.usage;
  return INTERNAL.has(error.code) ? EXIT.internal : EXIT.data;
}
