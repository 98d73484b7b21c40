/** What the exit code of `dtm` means, and which error gives which. */
import type { DtmError } from "@trajectory-maps/core";

export const EXIT = {
  ok: 0,
  internal: 1,
  usage: 2,
  data: 3,
  file: 4,
  numerical: 5,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Exit codes of programs that a signal ended, as shells give them. */
const STOPPED = { SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

/** Something the caller typed cannot be done. */
export class UsageError extends Error {}

/** A file or folder could not be read or written. */
export class FileError extends Error {}

/** A fit that did not converge, under --strict; everything has been written. */
export class NotConvergedError extends Error {}

/** Work stopped by a signal, after what could be kept was kept. */
export class StoppedError extends Error {
  readonly signal: keyof typeof STOPPED;

  constructor(signal: keyof typeof STOPPED, message: string) {
    super(message);
    this.signal = signal;
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof FileError) return EXIT.file;
  if (error instanceof NotConvergedError) return EXIT.numerical;
  if (error instanceof StoppedError) return STOPPED[error.signal];
  if (isWithoutFolder(error)) return EXIT.file;
  if (!isCoreError(error)) return EXIT.internal;
  if (error.code === "cancelled") return EXIT.interrupted;
  // A complaint has a place in a file: whatever its kind, it tells of the data.
  if (error.complaints.length > 0) return EXIT.data;
  switch (error.kind) {
    case "option":
      return EXIT.usage;
    case "numerical":
      return EXIT.numerical;
    case "program":
      return EXIT.internal;
    default:
      return EXIT.data;
  }
}

/** What went wrong, with its code at the end, as complaints about a file have it already. */
export function messageOf(error: unknown): string {
  if (isWithoutFolder(error)) return "The folder that dtm was started in is gone. Change to one that is there.";
  const message = error instanceof Error ? error.message : String(error);
  if (!isCoreError(error) || error.complaints.length > 0 || message.endsWith(`[${error.code}]`)) return message;
  return `${message} [${error.code}]`;
}

/** The system's answer to a relative path where the working folder was removed. */
function isWithoutFolder(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

/** An error of the core, known by its name: wrong usage is told without loading the core. */
function isCoreError(error: unknown): error is DtmError {
  return error instanceof Error && error.name === "DtmError";
}
