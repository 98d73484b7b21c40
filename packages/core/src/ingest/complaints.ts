/**
 * Collecting complaints about an input: all are counted, a limited number of each kind is kept, so that memory does
 * not grow with the number of bad cells. Reading goes on after a complaint; the verdict is given at the end.
 */
import { type Complaint, DtmError, type ErrorCode, showComplaint, type Where } from "../errors.ts";

/** Complaints of one kind written out in a message. */
const SHOWN_PER_KIND = 20;
/** Complaints of one kind kept for `DtmError.complaints`; beyond that they are only counted. */
const KEPT_PER_KIND = 1000;

/** "1 row", "3 rows". */
export function howMany(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

export const were = (count: number) => (count === 1 ? "was" : "were");

/** What a complaint says. */
export type Words = readonly [expected: string, received: string, remedy: string];

/** A complaint apart from its place. */
export type Finding = readonly [code: ErrorCode, words: Words];

/** What is said of a file without rows, the header included. */
export const EMPTY_FILE: Finding = [
  "empty-file",
  ["a header and rows", "nothing", "Check the file and how it was exported."],
];

/** What is said of a row with more or fewer fields than the header. */
export function raggedRow(numFields: number, expected: number): Finding {
  const remedy = "Check this line for missing or extra delimiters, and quote cells that contain one.";
  return ["ragged-row", [`${expected} fields, as in the first line`, String(numFields), remedy]];
}

/** Complaints found while reading one input, by kind, in order of appearance. */
export interface ComplaintBook {
  /** Adds a complaint that refuses the input. */
  refuse(where: Where, ...finding: Finding): void;
  /** Adds a warning that stands for `count` rows. */
  warn(where: Where, count: number, ...finding: Finding): void;
  /** How many complaints refuse the input. */
  numRefused(): number;
  /** How many of them have a code and are about a column. */
  numIn(code: ErrorCode, columnNumber: number | undefined): number;
  /** Every kept complaint, kinds in order of appearance; the first of each kind carries the kind's `count`. */
  complaints(): Complaint[];
  /** One warning per kind of complaint, at its first place with its count, as where rows are left out; then all warnings. */
  warnings(): Complaint[];
  /** Throws a DtmError with all complaints if there is one. */
  throwIfRefused(): void;
}

/** Complaints of one code: those kept, all, and how many are about each column. */
interface Kind {
  readonly kept: Complaint[];
  total: number;
  readonly columns: Map<number | undefined, number>;
}

const newKind = (): Kind => ({ kept: [], total: 0, columns: new Map() });

export function createComplaintBook(file?: string): ComplaintBook {
  const kinds = new Map<string, Kind>();
  const warned: Complaint[] = [];
  const numRefused = () => [...kinds.values()].reduce((sum, kind) => sum + kind.total, 0);
  const complaints = () =>
    [...kinds.values()].flatMap(({ kept, total }) => kept.map((c, k) => (k === 0 ? { ...c, count: total } : c)));
  return {
    refuse: (where, code, words) => {
      const kind = kinds.get(code) ?? newKind();
      kinds.set(code, kind);
      kind.total++;
      kind.columns.set(where.columnNumber, (kind.columns.get(where.columnNumber) ?? 0) + 1);
      if (kind.kept.length < KEPT_PER_KIND) kind.kept.push(complaint("refuse", inFile(where, file), code, words));
    },
    warn: (where, count, code, words) => warned.push({ ...complaint("warn", inFile(where, file), code, words), count }),
    numRefused,
    numIn: (code, columnNumber) => kinds.get(code)?.columns.get(columnNumber) ?? 0,
    complaints,
    warnings: () => [...[...kinds.values()].map(({ kept: [first], total }) => leftOut(first, total)), ...warned],
    throwIfRefused: () => {
      if (numRefused() > 0) throw refusal(complaints());
    },
  };
}

/** What was refused as a warning, where such rows are left out: the first of them speaks for all. */
function leftOut(first: Complaint, count: number): Complaint {
  const received = count === 1 ? first.received : `${first.received}, the first of ${count}`;
  return { ...first, severity: "warn", received, remedy: `Such rows are left out. ${first.remedy}`, count };
}

/** The error for refused input: code of the first kind, every complaint, and a message that shows twenty per kind. */
export function refusal(complaints: readonly Complaint[]): DtmError {
  return new DtmError(complaints[0].code, showComplaints(complaints), complaints);
}

/** The error for input that is refused for one reason. */
export function refusalAt(where: Where, file: string | undefined, ...[code, words]: Finding): DtmError {
  return refusal([complaint("refuse", inFile(where, file), code, words)]);
}

/** A complaint of four parts. */
export function complaint(
  severity: Complaint["severity"],
  where: Where,
  code: ErrorCode,
  [expected, received, remedy]: Words,
): Complaint {
  return { code, severity, expected, received, where, remedy };
}

function inFile(where: Where, file: string | undefined): Where {
  return file === undefined ? where : { file, ...where };
}

/** Complaints as lines of text: at most twenty of each kind, then "and 312 more of this kind". */
export function showComplaints(complaints: readonly Complaint[]): string {
  const lines: string[] = [];
  for (const code of new Set(complaints.map((complaint) => complaint.code))) {
    const kind = complaints.filter((complaint) => complaint.code === code);
    const shown = kind.slice(0, SHOWN_PER_KIND);
    for (const complaint of shown) lines.push(`${showComplaint(complaint)} [${code}]`);
    // A single complaint with a count already speaks for all of its kind.
    const total = kind.length === 1 ? 1 : Math.max(kind.length, kind[0].count ?? 0);
    if (total > shown.length) lines.push(`... and ${total - shown.length} more [${code}]`);
  }
  return lines.join("\n");
}
