/**
 * One pass over the records of a table: the header names the columns, each later record becomes an observation or a
 * complaint. What needs the whole table (dates, decimal marks) is counted here and judged by `readCohort`.
 */
import { applyTransform, DEFAULT_MARKER, type Marker } from "../cohort/marker.ts";
import { showReceived } from "../errors.ts";
import { type Columns, type FoundColumns, findColumns, type Role } from "./columns.ts";
import { type ComplaintBook, createComplaintBook, type Finding } from "./complaints.ts";
import type { Delimiter } from "./csv.ts";
import { addId, findId } from "./id-table.ts";
import { commaMayBeThousands, dateKind, explainNumber, isMissing, readNumber, readPlainDigits } from "./numbers.ts";
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

/** Characters of the longest id that is read. */
export const MAX_ID_LENGTH = 1000;

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
  /** Ids with spaces round them: how those were written whose first writing had some, by number. */
  readonly paddedIds: { trimmed: number; written: Map<number, string>; merged: Set<number>; line: number };
  /** The id of the row before, as it was written: rows of one individual often stand together. */
  readonly lastId: { written: string; individual: number };
  readonly missing: { count: number; line: number };
  /** Decimal marks seen; commas that may as well separate thousands are counted by themselves too. */
  readonly marks: { points: number; commas: number; commaLine: number; commaRole: Role; unclear: number };
  readonly times: { numbers: number; numberLine: number; dates: number; dateLine: number; date: string };
  /** Whether the text holds a NUL anywhere; records are then looked through for it. */
  hasNul: boolean;
  header: readonly string[];
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
    paddedIds: { trimmed: 0, written: new Map(), merged: new Set(), line: 0 },
    lastId: { written: "", individual: -1 },
    missing: { count: 0, line: 0 },
    marks: { points: 0, commas: 0, commaLine: 0, commaRole: "value", unclear: 0 },
    times: { numbers: 0, numberLine: 0, dates: 0, dateLine: 0, date: "" },
    hasNul: false,
    header: [],
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
  if (reading.hasNul && header.some((name) => name.includes("\u0000"))) {
    refuseNul(reading, reading.structure, header, line);
    return false;
  }
  if ("names" in found) {
    reading.found = found;
    reading.numFields = header.length;
    reading.header = header;
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
  if (reading.hasNul && fields.some((field) => field.includes("\u0000"))) {
    refuseNul(reading, reading.cells, fields, line);
    return;
  }
  const { positions } = found;
  const valueField = fields[positions.value];
  const timeField = fields[positions.time];
  let value = readPlainDigits(valueField);
  let time = readPlainDigits(timeField);
  if (Number.isNaN(value) || Number.isNaN(time) || reading.decimal !== ".") {
    const valueCell = valueField.trim();
    const timeCell = timeField.trim();
    const noValue = isMissing(valueCell);
    if (noValue) {
      if (reading.missing.count === 0) reading.missing.line = line;
      reading.missing.count++;
    }
    value = noValue ? Number.NaN : readCell(reading, "value", valueCell, line);
    time = noValue && isMissing(timeCell) ? Number.NaN : readTime(reading, timeCell, line);
  } else {
    countNumberTime(reading, line);
  }
  // The id comes last: a line of units is better told by its words than by its empty id.
  const individual = readId(reading, fields[positions.id], line);
  if (individual < 0 || Number.isNaN(time) || Number.isNaN(value)) return;
  const { transform } = reading.marker;
  if (transform !== "identity" && !Number.isFinite(applyTransform(transform, value))) {
    complain(reading, "value", line, {
      code: "transform-domain",
      expected: `a value that has a ${transform}`,
      received: showReceived(valueField.trim()),
      remedy:
        "Leave such rows out, or choose another transform (log1p and sqrt take 0; logit takes shares between 0 and 1).",
    });
    return;
  }
  appendRow(reading.rows, individual, time, value, line);
}

/** A NUL is never text: the file is binary, damaged, or in an encoding of two bytes a letter. */
function refuseNul(reading: Reading, book: ComplaintBook, fields: readonly string[], line: number): void {
  const k = fields.findIndex((field) => field.includes("\u0000"));
  const name = reading.header[k] === undefined ? {} : { column: reading.header[k].trim() };
  book.refuse(
    {
      code: "control-character",
      expected: "printable characters",
      received: `"${showReceived(fields[k])}"`,
      remedy: "Remove the control character, or export the file anew as UTF-8.",
    },
    { line, ...name, columnNumber: k + 1 },
  );
}

/** The number of the row's id, or -1 after a complaint. */
function readId(reading: Reading, written: string, line: number): number {
  const { paddedIds, lastId, rows } = reading;
  if (written === lastId.written && lastId.individual >= 0) return lastId.individual;
  const id = written.trim();
  let individual = findId(rows.ids, id);
  const isNew = individual < 0;
  if (isNew) {
    const complaint = faultOfId(id);
    if (complaint !== undefined) {
      complain(reading, "id", line, complaint);
      return -1;
    }
    individual = addId(rows.ids, id);
  }
  if (id !== written) {
    paddedIds.trimmed++;
    if (isNew) paddedIds.written.set(individual, written);
  } else {
    lastId.written = written;
    lastId.individual = individual;
  }
  if (!isNew && (paddedIds.written.get(individual) ?? id) !== written) {
    if (paddedIds.merged.size === 0) paddedIds.line = line;
    paddedIds.merged.add(individual);
  }
  return individual;
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
    if (!Number.isNaN(time)) countNumberTime(reading, line);
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

/** Counts a time that is a number. */
export function countNumberTime({ times }: Reading, line: number): void {
  if (times.numbers === 0) times.numberLine = line;
  times.numbers++;
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
      if (commaMayBeThousands(cell)) marks.unclear++;
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
