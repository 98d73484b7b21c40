/**
 * Text → Cohort, or precise complaints. Each row gives one observation: id, time, value. Reading does not stop at the
 * first bad cell: all are collected, and the whole input is refused at the end unless leaving bad rows out was asked
 * for. A cell becomes exactly the number written in it or is reported; nothing is repaired in silence.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { type Complaint, showReceived } from "../errors.ts";
import type { Columns, FoundColumns, Role } from "./columns.ts";
import { refusal } from "./complaints.ts";
import { type Delimiter, forEachRecord, guessDelimiter } from "./csv.ts";
import { FORMATS } from "./decode.ts";
import { createPlainReader } from "./plain-rows.ts";
import { type ReadCohortOptions, type Reading, readRecord, startReading } from "./reading.ts";
import { toCohort } from "./rows.ts";
import { findSuspicions } from "./suspicions.ts";

export type { Columns } from "./columns.ts";
export { showComplaints } from "./complaints.ts";
export { DELIMITERS, type Delimiter } from "./csv.ts";
export { type DecodedText, decodePieces, decodeText } from "./decode.ts";
export type { ReadCohortOptions } from "./reading.ts";

export interface ReadCohort {
  readonly cohort: Cohort;
  /** The columns read, for reading the next file alike. */
  readonly columns: Columns;
  /** Rows in the file, blank lines apart. */
  readonly numRows: number;
  /** Rows left out, because the value is missing or because that was asked for. */
  readonly numRowsLeftOut: number;
  /** Why rows were left out: codes of what was found in them, with how often. */
  readonly leftOut: readonly { readonly code: string; readonly count: number }[];
  /** One per kind, with its count and first place. */
  readonly warnings: readonly Complaint[];
  /** What was understood without being said: delimiter, columns, blank lines, in sentences. */
  readonly notes: readonly string[];
}

/** Characters looked at before the first record is read: what kind of file it is, and what separates its columns. */
const HEAD = 1 << 16;

/**
 * Reads a cohort from delimited text, whole or in pieces of any length; throws a DtmError with every complaint if the
 * text is refused. Given in pieces (`decodePieces`), the text is never held as a whole: 20 bytes a row are.
 */
export function readCohort(text: string | Iterable<string>, options: ReadCohortOptions = {}): ReadCohort {
  const pieces = (typeof text === "string" ? [text] : text)[Symbol.iterator]();
  let head = "";
  let next = pieces.next();
  for (; !next.done; next = pieces.next()) {
    head += next.value;
    if (head.length >= HEAD && head.trim() !== "") break;
  }
  const delimiter = options.delimiter ?? guessDelimiter(head);
  const reading = startReading(options, delimiter);
  checkIsText(head, reading);
  const onRecord = (fields: readonly string[], line: number) => readRecord(reading, fields, line);
  const { fault, blankLines } = forEachRecord(
    watched(head, pieces, reading),
    delimiter,
    onRecord,
    createPlainReader(reading, delimiter),
  );
  if (fault !== undefined) {
    const unclosed = fault.code === "unclosed-quote";
    reading.structure.refuse(
      {
        code: fault.code,
        expected: unclosed ? "a closing quote" : "a delimiter or line end after the closing quote",
        received: unclosed ? "the end of the file" : "more text",
        remedy: 'Close the quote; inside a quoted cell, write a quote as "".',
      },
      { line: fault.line, columnNumber: fault.field },
    );
  }
  checkTable(reading);
  const { structure, cells } = reading;
  const leaveOut = options.onBad === "leave-out" && structure.numRefused() === 0;
  if (!leaveOut && structure.numRefused() + cells.numRefused() > 0) {
    throw refusal([...structure.complaints(), ...cells.complaints()]);
  }
  return finish(reading, reading.found!, describe(reading, head, delimiter, blankLines));
}

/** All pieces of the text, each looked through for NUL before its records are read. */
function* watched(head: string, pieces: Iterator<string>, reading: Reading): Generator<string> {
  reading.hasNul = head.includes("\u0000");
  yield head;
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    reading.hasNul ||= next.value.includes("\u0000");
    yield next.value;
  }
}

function checkIsText(text: string, reading: Reading): void {
  const start = text.slice(0, 300).trimStart().toLowerCase();
  const refuse = (code: string, expected: string, received: string, remedy: string) => {
    reading.structure.refuse({ code, expected, received, remedy }, { line: 1 });
    reading.structure.throwIfRefused();
  };
  const table = "a table as text (CSV)";
  if (start.startsWith("<!doctype") || start.startsWith("<html")) {
    refuse("not-text", table, "what looks like a web page", "Was a login page saved in place of the file?");
  }
  if (/^\ufeff?(?:\{\s*"|\[\s*[{[\]])/.test(start)) {
    refuse("unsupported-format", table, "what looks like JSON", `Export the table; what is read: ${FORMATS}.`);
  }
  if (start.startsWith("pk\u0003\u0004")) {
    refuse("not-text", table, "what looks like a workbook", "Open it in the spreadsheet and export as CSV.");
  }
  if (start === "" && text.trim() === "") {
    refuse("empty-file", "a header and rows", "nothing", "Check the file and how it was exported.");
  }
}

/** Judgements that need the whole table. */
function checkTable(reading: Reading): void {
  const { found, structure, marks, times, options } = reading;
  if (found === undefined) return;
  const place = (role: Role, line: number) => ({
    line,
    column: found.names[role],
    columnNumber: found.positions[role] + 1,
  });
  if (reading.numRows === 0 && structure.numRefused() === 0) {
    const received = `only the columns ${Object.values(found.names).join(", ")}`;
    structure.refuse({ code: "no-rows", expected: "rows of observations", received, remedy: "Check the export." }, {});
  }
  if (marks.commas > 0 && marks.points > 0) {
    structure.refuse(
      {
        code: "mixed-decimals",
        expected: "one decimal mark throughout",
        received: `${marks.commas} numbers with a comma and ${marks.points} with a point`,
        remedy: "Write all numbers with a decimal point, without thousands separators.",
      },
      place(marks.commaRole, marks.commaLine),
    );
  }
  if (marks.unclear > 0 && marks.unclear === marks.commas) {
    structure.refuse(
      {
        code: "ambiguous-comma",
        expected: "numbers whose comma can only be a decimal mark",
        received: `${marks.unclear} like 1,234, none like 0,5 or 12,5`,
        remedy: 'If it is a decimal comma, say so (decimal: ","); thousands separators must go.',
      },
      place(marks.commaRole, marks.commaLine),
    );
  }
  if (times.dates > 0) {
    const mixed = times.numbers > 0;
    structure.refuse(
      {
        code: mixed ? "mixed-time" : "dates-need-origin",
        expected: mixed ? "times that are all numbers" : "times as numbers since an origin",
        received: `${times.dates} dates, the first "${showReceived(times.date)}"`,
        remedy: mixed
          ? "Turn all times into numbers since one origin."
          : "Turn dates into years since the first observation, since onset (a column), or since a fixed date.",
      },
      place("time", Math.max(times.dateLine, times.numberLine)),
    );
  }
  const empty = reading.rows.length === 0 && reading.numRows > 0;
  if (empty && structure.numRefused() === 0 && (options.onBad === "leave-out" || reading.cells.numRefused() === 0)) {
    const received = `${reading.numRows} rows, none with a usable value`;
    structure.refuse({ code: "no-rows", expected: "rows of observations", received, remedy: "Check the columns." }, {});
  }
}

/** What was understood without being told, in sentences. */
function describe(reading: Reading, head: string, delimiter: Delimiter, blankLines: number): string[] {
  const notes: string[] = [];
  const names: Record<Delimiter, string> = { ",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars" };
  if (reading.options.delimiter === undefined && delimiter !== ",") {
    notes.push(`Columns are separated by ${names[delimiter]}.`);
  }
  if (reading.marks.commas > 0) notes.push("Numbers are written with a decimal comma.");
  if (head.startsWith("\ufeff")) notes.push("A byte-order mark was dropped.");
  notes.push(...(reading.found?.notes ?? []));
  if (blankLines > 0) notes.push(`${blankLines} blank lines were skipped.`);
  if (reading.paddedIds.trimmed > 0) notes.push(`${reading.paddedIds.trimmed} ids were trimmed of spaces.`);
  return notes;
}

function finish(reading: Reading, found: FoundColumns, notes: string[]): ReadCohort {
  const { rows, options, missing, paddedIds, cells } = reading;
  const marker = { ...reading.marker, name: options.marker?.name ?? found.names.value };
  const { cohort, order } = toCohort(rows, marker);
  const warnings = cells.asWarnings();
  const file = options.file === undefined ? {} : { file: options.file };
  const warn = (
    role: Role,
    line: number,
    count: number,
    code: string,
    expected: string,
    received: string,
    remedy: string,
  ) =>
    warnings.push({
      code,
      severity: "warn",
      expected,
      received,
      remedy,
      where: { ...file, line, column: found.names[role], columnNumber: found.positions[role] + 1 },
      count,
    });
  if (missing.count > 0) {
    const received = `${missing.count} rows without one`;
    warn("value", missing.line, missing.count, "missing-value", "a value", received, "These rows were left out.");
  }
  const leftOut = warnings.map(({ code, count }) => ({ code, count: count ?? 1 }));
  if (paddedIds.merged.size > 0) {
    const received = `${paddedIds.merged.size} ids written with and without spaces`;
    const remedy = "They were trimmed and taken as the same individual.";
    warn("id", paddedIds.line, paddedIds.merged.size, "id-whitespace", "ids written one way", received, remedy);
  }
  warnings.push(
    ...findSuspicions(rows, cohort, order, {
      columns: found.names,
      columnNumbers: found.positions,
      ...file,
      ...rangeOf(options),
    }),
  );
  const numRowsLeftOut = reading.numRows - rows.length;
  return { cohort, columns: found.names, numRows: reading.numRows, numRowsLeftOut, leftOut, warnings, notes };
}

/** How many rows were left out and why, for the record of a fit; undefined if none were. */
export function leftOutNote(read: Pick<ReadCohort, "numRows" | "numRowsLeftOut" | "leftOut">): string | undefined {
  if (read.numRowsLeftOut === 0) return undefined;
  const reasons = read.leftOut.map(({ code, count }) => `${code} ${count}`).join(", ");
  return `${read.numRowsLeftOut} of ${read.numRows} rows were left out (${reasons}).`;
}

function rangeOf(options: ReadCohortOptions): { range?: readonly [number, number] } {
  return options.range === undefined ? {} : { range: options.range };
}
