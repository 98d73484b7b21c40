/**
 * One pass over the records of a table: the header names the columns, each later record becomes an observation or a
 * complaint. What needs the whole table (dates, decimal marks) is counted here and judged by `readCohort`.
 */
import { applyTransform, DEFAULT_MARKER, type Marker } from "../cohort/marker.ts";
import { showReceived } from "../errors.ts";
import { type Columns, type FoundColumns, findColumns, type Role } from "./columns.ts";
import { type ComplaintBook, createComplaintBook, type Finding } from "./complaints.ts";
import type { Delimiter } from "./csv.ts";
import { dateKind, explainNumber, isMissing, readNumber } from "./numbers.ts";
import { appendRow, createRows, type Rows } from "./rows.ts";

export interface ReadCohortOptions {
  /** Names of the columns; those not given are guessed from usual names. */
  readonly columns?: Partial<Columns>;
  /** Name, units and transform of the marker; its name defaults to that of the value column. */
  readonly marker?: Partial<Marker>;
  /** Default: the one seen most often in the first line. */
  readonly delimiter?: Delimiter;
  /** Decimal mark. Default: a point; a comma is also understood where it does not separate columns. */
  readonly decimal?: "." | ",";
  /** What to do with rows that hold something unreadable. Default "refuse": the whole input, with every complaint. */
  readonly onBad?: "refuse" | "leave-out";
  /** Physical lines to skip (a second line with units, say). */
  readonly skipLines?: readonly number[];
  /** Range the marker can take; values outside are warned of. */
  readonly range?: readonly [number, number];
  /** Name of the file, for complaints. */
  readonly file?: string;
}

const MAX_ID_LENGTH = 1000;

/** Everything gathered while reading. */
export interface Reading {
  readonly options: ReadCohortOptions;
  readonly marker: Marker;
  readonly decimal: "." | "," | "either";
  readonly skip: ReadonlySet<number>;
  /** Faults that make the whole input unreadable. */
  readonly structure: ComplaintBook;
  /** Faults of single rows, which may be left out. */
  readonly cells: ComplaintBook;
  readonly rows: Rows;
  /** By trimmed id: the id itself and how it was written first. */
  readonly ids: Map<string, { readonly id: string; readonly written: string }>;
  readonly paddedIds: { trimmed: number; merged: Set<string>; line: number };
  readonly missing: { count: number; line: number };
  readonly marks: { points: number; commas: number; commaLine: number; commaRole: Role };
  readonly times: { numbers: number; numberLine: number; dates: number; dateLine: number; date: string };
  found: FoundColumns | undefined;
  numFields: number;
  numRows: number;
  firstRow: number;
}

export function startReading(options: ReadCohortOptions, delimiter: Delimiter): Reading {
  return {
    options,
    marker: { ...DEFAULT_MARKER, ...options.marker },
    decimal: options.decimal ?? (delimiter === "," ? "." : "either"),
    skip: new Set(options.skipLines),
    structure: createComplaintBook(options.file),
    cells: createComplaintBook(options.file),
    rows: createRows(),
    ids: new Map(),
    paddedIds: { trimmed: 0, merged: new Set(), line: 0 },
    missing: { count: 0, line: 0 },
    marks: { points: 0, commas: 0, commaLine: 0, commaRole: "value" },
    times: { numbers: 0, numberLine: 0, dates: 0, dateLine: 0, date: "" },
    found: undefined,
    numFields: 0,
    numRows: 0,
    firstRow: 0,
  };
}

/** Reads one record (the header first); false once reading cannot go on. */
export function readRecord(reading: Reading, fields: readonly string[], line: number): boolean {
  if (reading.skip.has(line)) return true;
  if (reading.found === undefined) return readHeader(reading, fields, line);
  readRow(reading, reading.found, fields, line);
  return true;
}

function readHeader(reading: Reading, header: readonly string[], line: number): boolean {
  const found = findColumns(header, reading.options.columns ?? {}, line);
  if ("names" in found) {
    reading.found = found;
    reading.numFields = header.length;
    return true;
  }
  for (const { code, expected, received, remedy, where } of found) {
    reading.structure.refuse({ code, expected, received, remedy }, where);
  }
  return false;
}

function readRow(reading: Reading, found: FoundColumns, fields: readonly string[], line: number): void {
  reading.numRows++;
  if (reading.firstRow === 0) reading.firstRow = line;
  if (fields.length !== reading.numFields) {
    reading.cells.refuse(
      {
        code: "ragged-row",
        expected: `${reading.numFields} fields, as in the first line`,
        received: String(fields.length),
        remedy: "Check this line for missing or extra delimiters, and quote cells that contain one.",
      },
      { line },
    );
    return;
  }
  const { positions } = found;
  const valueCell = fields[positions.value].trim();
  const timeCell = fields[positions.time].trim();
  const noValue = isMissing(valueCell);
  if (noValue) {
    if (reading.missing.count === 0) reading.missing.line = line;
    reading.missing.count++;
  }
  const value = noValue ? Number.NaN : readCell(reading, "value", valueCell, line);
  const time = noValue && isMissing(timeCell) ? Number.NaN : readTime(reading, timeCell, line);
  // The id comes last: a line of units is better told by its words than by its empty id.
  const id = readId(reading, fields[positions.id], line);
  if (id === undefined || Number.isNaN(time) || Number.isNaN(value)) return;
  if (!Number.isFinite(applyTransform(reading.marker.transform, value))) {
    complain(reading, "value", line, {
      code: "transform-domain",
      expected: `a value that has a ${reading.marker.transform}`,
      received: showReceived(valueCell),
      remedy:
        "Leave such rows out, or choose another transform (log1p and sqrt take 0; logit takes shares between 0 and 1).",
    });
    return;
  }
  appendRow(reading.rows, id, time, value, line);
}

function readId(reading: Reading, written: string, line: number): string | undefined {
  const id = written.trim();
  const complaint = faultOfId(id);
  if (complaint !== undefined) {
    complain(reading, "id", line, complaint);
    return undefined;
  }
  const { paddedIds } = reading;
  if (id !== written) paddedIds.trimmed++;
  const known = reading.ids.get(id);
  if (known === undefined) {
    reading.ids.set(id, { id, written });
    return id;
  }
  if (known.written !== written) {
    if (paddedIds.merged.size === 0) paddedIds.line = line;
    paddedIds.merged.add(id);
  }
  return known.id;
}

function faultOfId(id: string): Finding | undefined {
  if (id === "") {
    const remedy = "Give every observation the id of its individual.";
    return { code: "missing-id", expected: "an id", received: "an empty cell", remedy };
  }
  if (id.length > MAX_ID_LENGTH) {
    const received = `${id.length} characters, "${showReceived(id)}"`;
    return {
      code: "field-too-long",
      expected: `an id of at most ${MAX_ID_LENGTH} characters`,
      received,
      remedy: "Check the columns.",
    };
  }
  for (let k = 0; k < id.length; k++) {
    const code = id.charCodeAt(k);
    if (code >= 0x20 && code !== 0x7f) continue;
    if (code === 0x09 || code === 0x0a) continue;
    return {
      code: "control-character",
      expected: "an id of printable characters",
      received: `"${showReceived(id)}"`,
      remedy: "Remove the control character.",
    };
  }
  return undefined;
}

function readTime(reading: Reading, cell: string, line: number): number {
  const { times } = reading;
  if (isMissing(cell)) {
    complain(reading, "time", line, {
      code: "missing-time",
      expected: "a time",
      received: cell === "" ? "an empty cell" : `"${cell}"`,
      remedy: "Give every value its time, or leave the row out.",
    });
    return Number.NaN;
  }
  const date = dateKind(cell);
  if (date === undefined) {
    const time = readCell(reading, "time", cell, line);
    if (!Number.isNaN(time)) {
      if (times.numbers === 0) times.numberLine = line;
      times.numbers++;
    }
    return time;
  }
  if (date === "iso") {
    if (times.dates === 0) {
      times.dateLine = line;
      times.date = cell;
    }
    times.dates++;
  } else {
    const known = date === "no-such-date";
    complain(reading, "time", line, {
      code: known ? "no-such-date" : "ambiguous-date",
      expected: known ? "a date of the calendar" : "a number, or a date such as 2020-01-31",
      received: `"${showReceived(cell)}"`,
      remedy: known ? "Correct the date." : "Write dates as year-month-day.",
    });
  }
  return Number.NaN;
}

/** A number cell; where both marks are possible the marks are counted, and judged when all is read. */
function readCell(reading: Reading, role: "time" | "value", cell: string, line: number): number {
  const mark = reading.decimal === "," ? "," : ".";
  const number = readNumber(cell, mark);
  const { marks } = reading;
  if (!Number.isNaN(number)) {
    if (reading.decimal === "either" && cell.includes(".")) marks.points++;
    return number;
  }
  if (reading.decimal === "either") {
    const withComma = readNumber(cell, ",");
    if (!Number.isNaN(withComma)) {
      if (marks.commas === 0) {
        marks.commaLine = line;
        marks.commaRole = role;
      }
      marks.commas++;
      return withComma;
    }
  }
  const finding = explainNumber(cell, role, mark);
  const second = line === reading.firstRow ? " If this line holds units, skip it (skipLines)." : "";
  complain(reading, role, line, { ...finding, remedy: finding.remedy + second });
  return Number.NaN;
}

function complain(reading: Reading, role: Role, line: number, finding: Finding): void {
  const { names, positions } = reading.found!;
  reading.cells.refuse(finding, { line, column: names[role], columnNumber: positions[role] + 1 });
}
