/**
 * Table → Cohort, or precise complaints. Each row gives one observation: id, time, value. Reading does not stop at the
 * first bad cell: all are collected, and the whole input is refused at the end unless leaving bad rows out was asked
 * for. A cell becomes exactly the number written in it or is reported; nothing is repaired in silence.
 */
import { type Cohort, onlyMarker } from "../cohort/cohort.ts";
import { type Complaint, type ErrorCode, showReceived } from "../errors.ts";
import { type Columns, cellPlace, type FoundColumns } from "./columns.ts";
import { EMPTY_FILE, refusal } from "./complaints.ts";
import { type ByteSource, readTableFile, readTableText } from "./formats.ts";
import { createReading, type ReadCohortOptions, type Reading, readRow, startTable } from "./reading.ts";
import { exactRepeats, withoutPlaces } from "./repeats.ts";
import { lineOf, toCohort } from "./rows.ts";
import { findSuspicions } from "./suspicions.ts";
import type { TableEnd, TableReader, TableRow } from "./table.ts";

export interface ReadCohort {
  readonly cohort: Cohort;
  /** The columns read, for reading the next file alike. */
  readonly columns: Columns;
  /** Rows in the file, blank lines apart. */
  readonly numRows: number;
  /** Rows left out: without a value, exact repeats, and bad ones where that was asked for. */
  readonly numRowsLeftOut: number;
  /** Why rows were left out: codes of what was found in them, with how often. */
  readonly leftOut: readonly { readonly code: ErrorCode; readonly count: number }[];
  /** The first thousand of them but for exact repeats, as they are written. */
  readonly leftOutRows: readonly TableRow[];
  /** Every kept complaint about a row that was left out because that was asked for. */
  readonly complaints: readonly Complaint[];
  /** One per kind, with its count and first place. */
  readonly warnings: readonly Complaint[];
  /** What was understood without being said: delimiter, columns, blank lines, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Reads a cohort from delimited text, whole or in pieces of any length; throws a DtmError with every complaint if the
 * text is refused. Given in pieces, the text is never held as a whole: 20 bytes a row are.
 * @throws DtmError with every complaint, each with line and column, and the code of the first.
 * @example
 * const { cohort, warnings } = readCohort("id,time,value\na,0,80\na,1,77\nb,0,91\n", { marker: { name: "FVC" } });
 */
export function readCohort(text: string | Iterable<string>, options: ReadCohortOptions = {}): ReadCohort {
  return readTableText(text, cohortReader(options), options);
}

/**
 * Reads a cohort from the bytes of a file, of any known format, plain or gzip, as they come; refuses as `readCohort`.
 * @throws DtmError as `readCohort`, and what the format refuses ("not-text", "not-utf8", "too-large").
 * @example
 * const { cohort } = await readCohortFile(createReadStream("visits.csv.gz"), { columns: { value: "fvc" } });
 */
export function readCohortFile(bytes: ByteSource, options: ReadCohortOptions = {}): Promise<ReadCohort> {
  return readTableFile(bytes, cohortReader(options), options);
}

function cohortReader(options: ReadCohortOptions): TableReader<ReadCohort> {
  const reading = createReading(options);
  return {
    start: (table) => startTable(reading, table),
    row: (fields, line) => readRow(reading, fields, line),
    finish: (end) => finish(reading, end),
  };
}

function finish(reading: Reading, { fault, blankLines }: TableEnd): ReadCohort {
  const { structure, cells, options } = reading;
  if (fault !== undefined) structure.refuse(fault.where, ...fault.finding);
  checkTable(reading);
  const leaveOut = options.onBad === "leave-out" && structure.numRefused() === 0;
  if (!leaveOut && structure.numRefused() + cells.numRefused() > 0) {
    throw refusal([...structure.complaints(), ...cells.complaints()]);
  }
  return takeCohort(reading, reading.found!, describe(reading, blankLines));
}

/** Judgements that need the whole table. */
function checkTable(reading: Reading): void {
  const { found, structure, marks, times, options } = reading;
  if (found === undefined) {
    if (structure.numRefused() === 0) structure.refuse({ line: 1 }, ...EMPTY_FILE);
    return;
  }
  if (reading.numRows === 0 && structure.numRefused() === 0) {
    const received = `only the columns ${Object.values(found.names).join(", ")}`;
    structure.refuse({}, "no-rows", ["rows of observations", received, "Check the export."]);
  }
  const firstComma = cellPlace(found, marks.commaRole, marks.commaLine);
  if (marks.commas > 0 && marks.points > 0) {
    structure.refuse(firstComma, "mixed-decimals", [
      "one decimal mark throughout",
      `${marks.commas} numbers with a comma and ${marks.points} with a point`,
      "Write all numbers with a decimal point, without thousands separators.",
    ]);
  }
  if (marks.unclear > 0 && marks.unclear === marks.commas) {
    structure.refuse(firstComma, "ambiguous-comma", [
      "numbers whose comma can only be a decimal mark",
      `${marks.unclear} like 1,234, none like 0,5 or 12,5`,
      'If it is a decimal comma, say so (decimal: ","); thousands separators must go.',
    ]);
  }
  if (times.dates > 0) {
    const mixed = times.numbers > 0;
    const where = cellPlace(found, "time", Math.max(times.dateLine, times.numberLine));
    structure.refuse(where, mixed ? "mixed-time" : "dates-need-origin", [
      mixed ? "times that are all numbers" : "times as numbers since an origin",
      `${times.dates} dates, the first "${showReceived(times.date)}"`,
      mixed
        ? "Turn all times into numbers since one origin."
        : "Turn dates into years since the first observation, since onset (a column), or since a fixed date.",
    ]);
  }
  const empty = reading.rows.length === 0 && reading.numRows > 0;
  if (empty && structure.numRefused() === 0 && (options.onBad === "leave-out" || reading.cells.numRefused() === 0)) {
    const received = `${reading.numRows} rows, none with a usable value`;
    structure.refuse({}, "no-rows", ["rows of observations", received, "Check the columns."]);
  }
}

/** What was understood without being told, in sentences. */
function describe(reading: Reading, blankLines: number): string[] {
  const notes = [...reading.notes];
  if (reading.marks.commas > 0) notes.push("Numbers are written with a decimal comma.");
  notes.push(...(reading.found?.notes ?? []));
  if (blankLines > 0) notes.push(`${blankLines} blank lines were skipped.`);
  if (reading.paddedIds.trimmed > 0) notes.push(`${reading.paddedIds.trimmed} ids were trimmed of spaces.`);
  return notes;
}

function takeCohort(reading: Reading, found: FoundColumns, notes: string[]): ReadCohort {
  const { rows, options, missing, paddedIds, cells, numRows, leftOutRows } = reading;
  const marker = { ...reading.marker, name: options.marker?.name ?? found.names.value };
  const all = toCohort(rows, marker);
  const repeats = exactRepeats(onlyMarker(all.cohort));
  const repeated = repeats.map((k) => all.order[k]).sort((a, b) => a - b);
  const { keepRepeats = false } = options;
  const { series, order } = withoutPlaces(onlyMarker(all.cohort), all.order, keepRepeats ? [] : repeats);
  const cohort = { ids: all.cohort.ids, markers: [series] };
  const linesOf = (some: readonly number[]) =>
    lineWords([...some].sort((a, b) => a - b).map((row) => lineOf(rows, row)));
  if (missing.count > 0) {
    const words = ["a value", `${missing.count} rows without one`, "These rows were left out."] as const;
    cells.warn(cellPlace(found, "value", missing.line), missing.count, "missing-value", words);
  }
  if (repeated.length > 0) {
    cells.warn(cellPlace(found, "id", lineOf(rows, repeated[0])), repeated.length, "duplicate-rows", [
      "rows that differ",
      `${repeated.length} exact repeats of another row (${linesOf(repeated)})`,
      keepRepeats ? "They are kept, as was asked for." : "They were left out; keep them if they are measurements.",
    ]);
  }
  const leftOut = cells
    .warnings()
    .filter(({ code }) => code !== "duplicate-rows" || !keepRepeats)
    .map(({ code, count }) => ({ code, count: count ?? 1 }));
  const merged = paddedIds.merged.size;
  if (merged > 0) {
    cells.warn(cellPlace(found, "id", paddedIds.line), merged, "id-whitespace", [
      "ids written one way",
      `${merged} ids written with and without spaces`,
      "They were trimmed and taken as the same individual.",
    ]);
  }
  findSuspicions(series, order, linesOf, (role, firstRow, count, ...finding) =>
    cells.warn(cellPlace(found, role, lineOf(rows, firstRow)), count, ...finding),
  );
  return {
    cohort,
    columns: found.names,
    numRows,
    numRowsLeftOut: numRows - series.times.length,
    leftOut,
    leftOutRows,
    complaints: cells.complaints(),
    warnings: cells.warnings(),
    notes,
  };
}

/** Lines written out at most. */
const LINES_SHOWN = 5;

/** "line 7", "lines 7, 12 and 30", "lines 7, 12, 30, 31, 40 and 12 more". */
function lineWords(lines: readonly number[]): string {
  const shown = lines.slice(0, LINES_SHOWN).map(String);
  const more = lines.length - shown.length;
  const last = more > 0 ? `${more} more` : (shown.pop() ?? "");
  return `line${lines.length === 1 ? "" : "s"} ${shown.length === 0 ? last : `${shown.join(", ")} and ${last}`}`;
}

/** How many rows were left out and why, for the record of a fit; undefined if none were. */
export function leftOutNote(read: Pick<ReadCohort, "numRows" | "numRowsLeftOut" | "leftOut">): string | undefined {
  if (read.numRowsLeftOut === 0) return undefined;
  const reasons = read.leftOut.map(({ code, count }) => `${code} ${count}`).join(", ");
  return `${read.numRowsLeftOut} of ${read.numRows} rows were left out (${reasons}).`;
}
