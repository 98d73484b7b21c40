/** What the exit code of `dtm` means, and which error gives which. */
export const EXIT = {
  ok: 0,
  internal: 1,
  usage: 2,
  data: 3,
  file: 4,
  numerical: 5,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something the caller typed cannot be done. */
export class UsageError extends Error {}

/** A file or folder could not be read or written. */
export class FileError extends Error {}

/** A fit that did not converge, under --strict; everything has been written. */
export class NotConvergedError extends Error {}

/** Work stopped by a signal, after what could be kept was kept. */
export class StoppedError extends Error {
  readonly signal: "SIGINT" | "SIGTERM";

  constructor(signal: "SIGINT" | "SIGTERM", message: string) {
    super(message);
    this.signal = signal;
  }
}

/** Codes of the core by what they tell of; all others tell of the data. */
const INTERNAL = new Set(["shape", "state", "not-fitted", "empty-group"]);
const NUMERICAL = new Set([
  "not-positive-definite",
  "no-convergence",
  "not-monotone",
  "singular-covariance",
  "collinear",
  "no-information",
  "bandwidth",
  "not-finite",
]);
const USAGE = new Set(["option", "unknown-model", "map-dimension", "extrapolation", "basis-too-large", "no-lattice"]);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof FileError) return EXIT.file;
  if (error instanceof NotConvergedError) return EXIT.numerical;
  if (error instanceof StoppedError) return error.signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
  const code = coreCode(error);
  if (code === undefined) return EXIT.internal;
  if (code === "cancelled") return EXIT.interrupted;
  // A complaint has a place in a file: whatever its kind, it tells of the data.
  if (hasComplaints(error)) return EXIT.data;
  if (USAGE.has(code)) return EXIT.usage;
  if (NUMERICAL.has(code)) return EXIT.numerical;
  return INTERNAL.has(code) ? EXIT.internal : EXIT.data;
}

/** What went wrong, with its code at the end, as complaints about a file have it already. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = coreCode(error);
  return code === undefined || message.endsWith(`[${code}]`) || hasComplaints(error) ? message : `${message} [${code}]`;
}

/** The code of a DtmError, known by its name: wrong usage is told without loading the core. */
function coreCode(error: unknown): string | undefined {
  return error instanceof Error && error.name === "DtmError" && "code" in error ? String(error.code) : undefined;
}

function hasComplaints(error: unknown): boolean {
  const { complaints } = error as { complaints?: unknown };
  return Array.isArray(complaints) && complaints.length > 0;
}
