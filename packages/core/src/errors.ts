/**
 * The one error type of the library. Each error has a stable code and says four things:
 * what was expected, what was received, where, and what to do about it.
 */
import { ERROR_CODES, type ErrorCode, type ErrorKind } from "./error-codes.ts";

export { ERROR_CODES, type ErrorCode, type ErrorKind };

/** A position in an input file: physical line (1-based) and column, by name and number (1-based). */
export interface Where {
  readonly file?: string;
  readonly line?: number;
  readonly column?: string;
  readonly columnNumber?: number;
  /** Which marker, in a table with one column for the values of all. */
  readonly marker?: string;
}

/** One complaint about an input: refused or only warned of. */
export interface Complaint {
  readonly code: ErrorCode;
  readonly severity: "refuse" | "warn";
  readonly expected: string;
  readonly received: string;
  readonly where: Where;
  readonly remedy: string;
  /** How many there are of this kind when one complaint stands for all of them; `where` is then the first. */
  readonly count?: number;
}

/** An error with a stable code; `complaints` holds every position when an input was refused. */
export class DtmError extends Error {
  override readonly name = "DtmError";
  readonly code: ErrorCode;
  readonly complaints: readonly Complaint[];

  constructor(code: ErrorCode, message: string, complaints: readonly Complaint[] = []) {
    super(message);
    this.code = code;
    this.complaints = complaints;
  }

  /** What the code tells of. */
  get kind(): ErrorKind {
    return ERROR_CODES[this.code].kind;
  }
}

/** A received cell made safe to show: clipped to 40 characters, control characters as escapes. */
export function showReceived(text: string): string {
  let shown = "";
  for (const char of text) {
    const code = char.codePointAt(0)!;
    // Beside control characters, marks that turn the direction of text, and separators that may end a line.
    const escaped =
      code < 0x20 ||
      (code >= 0x7f && code < 0xa0) ||
      [0x061c, 0x200e, 0x200f, 0xfeff].includes(code) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069);
    shown += escaped ? `\\u${code.toString(16).padStart(4, "0")}` : char;
    if (shown.length > 40) return `${shown.slice(0, 39)}…`;
  }
  return shown;
}

/** The position in words, e.g. `visits.csv, line 7, column "value" (3)`. */
export function showWhere(where: Where): string {
  const parts: string[] = [];
  if (where.file !== undefined) parts.push(where.file);
  if (where.line !== undefined) parts.push(`line ${where.line}`);
  if (where.column !== undefined) {
    const number = where.columnNumber === undefined ? "" : ` (${where.columnNumber})`;
    parts.push(`column "${showReceived(where.column)}"${number}`);
  }
  if (where.marker !== undefined) parts.push(`marker "${showReceived(where.marker)}"`);
  return parts.join(", ");
}

/** A complaint as one sentence group: where, expected, received, remedy. */
export function showComplaint(complaint: Complaint): string {
  const place = showWhere(complaint.where);
  const start = place === "" ? "" : `${place}: `;
  return `${start}expected ${complaint.expected}, received ${complaint.received}. ${complaint.remedy}`;
}

/** Throws a DtmError with code `option` unless `ok`; for the range checks at the door. */
export function checkOption(ok: boolean, where: string, expected: string, received: unknown, remedy: string): void {
  if (!ok) throw new DtmError("option", `${where}: expected ${expected}, received ${String(received)}. ${remedy}`);
}

/** Throws a DtmError unless all arguments are there: for callers whom no compiler warns. */
export function checkGiven(where: string, given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    if (value !== null && value !== undefined) continue;
    throw new DtmError(
      "not-given",
      `${where}: expected ${name}, received ${value}. Give it, or leave out what is optional.`,
    );
  }
}

/** Throws a DtmError with code `shape` unless `ok`: for an argument that is something else than the function takes. */
export function checkForm(ok: boolean, where: string, expected: string, received: unknown, remedy: string): void {
  if (!ok) throw new DtmError("shape", `${where}: expected ${expected}, received ${showForm(received)}. ${remedy}`);
}

/** What something is, in few words: its kind, and the names in it or its size. */
export function showForm(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return `text ("${showReceived(value)}")`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `${typeof value} ${showReceived(String(value))}`;
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes (${value.constructor.name})`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Date) return "a Date";
  const names = Object.keys(value).slice(0, 9).join(", ");
  return names === "" ? "{}" : `{ ${showReceived(names)} }`;
}

/** Whether something is an object with names in it: no list, date or bytes, and nothing that is null. */
export function isNamed(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/**
 * A list of finite numbers from a caller whom no compiler warns: an array or a typed array of numbers, of which nothing is made a number.
 * Throws a DtmError "shape" for what is no list, and "not-finite" for what in it is no finite number.
 */
export function checkNumbers(where: string, what: string, given: unknown): ArrayLike<number> {
  const isTyped = ArrayBuffer.isView(given) && !(given instanceof DataView);
  checkForm(isTyped || Array.isArray(given), where, `${what} as a list of numbers`, given, "Give [0, 1.5, 2].");
  const list = given as ArrayLike<unknown>;
  for (let k = 0; k < list.length; k++) {
    if (Number.isFinite(list[k])) continue;
    const received = typeof list[k] === "number" ? String(list[k]) : showForm(list[k]);
    throw new DtmError(
      "not-finite",
      `${where}: expected ${what} as finite numbers, received ${received} at position ${k}. Give numbers, or leave out what is missing.`,
    );
  }
  return list as ArrayLike<number>;
}

/** Throws a DtmError with code `option` for a seed that is no whole number. */
export function checkSeed(where: string, seed: unknown): void {
  if (seed === undefined) return;
  checkOption(Number.isSafeInteger(seed), where, "a whole number as seed", seed, "Use 1.");
}

/** Throws a DtmError with code `option` for an option that is not among the known ones: a slip of the pen would be ignored in silence. */
export function checkNames(where: string, options: object, known: readonly string[]): void {
  if (!isNamed(options)) {
    const remedy = `Give them by name, such as { ${known[0]}: … }.`;
    throw new DtmError("option", `${where}: expected options, received ${showForm(options)}. ${remedy}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue;
    const nearest = nearestName(known, name);
    const hint = nearest === undefined ? `It has: ${known.join(", ")}.` : `Did you mean "${nearest}"?`;
    throw new DtmError("option", `${where}: expected options that it has, received "${showReceived(name)}". ${hint}`);
  }
}

/** Names of all options of a type: the compiler refuses a list that lacks one or has another. */
export function optionNames<Options>(names: Readonly<Record<keyof Options, true>>): readonly string[] {
  return Object.keys(names);
}

/** The name with the fewest edits from `wanted`, if they are few beside its length. */
export function nearestName(names: readonly string[], wanted: string): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, wanted.length / 2);
  for (const name of names.slice(0, 200)) {
    if (name === "" || name.length > 60) continue;
    const edits = editDistance(name.toLowerCase(), wanted.toLowerCase());
    if (edits < fewest) {
      best = name;
      fewest = edits;
    }
  }
  return best;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length];
}

/** What `work` gives, or undefined where its numbers break down: for what can be done without. */
export function withoutBreakdown<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof DtmError && error.kind === "numerical") return undefined;
    throw error;
  }
}
