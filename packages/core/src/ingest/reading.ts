/**
 * One pass over the rows of a table: the first names the columns, each later one becomes an observation or a complaint.
 * What needs the whole table (dates, decimal marks) is counted here and judged by `readCohort`.
 */
import { applyTransform, checkMarker, DEFAULT_MARKER, type Marker } from "../cohort/marker.ts";
import { showReceived } from "../errors.ts";
import { type Columns, cellPlace, type FoundColumns, findColumns, type Role } from "./columns.ts";
import { type ComplaintBook, createComplaintBook, type Finding, raggedRow } from "./complaints.ts";
import { commaMayBeThousands, dateKind, explainNumber, isMissing, readNumber } from "./numbers.ts";
import { addId, appendRow, createRows, type Rows } from "./rows.ts";
import type { TableOptions, TableRow, TableStart } from "./table.ts";

export interface ReadCohortOptions extends TableOptions {
  /** Names of the columns; those not given are guessed from usual names. */
  readonly columns?: Partial<Columns>;
  /** Whether all columns are guessed if those named are not there. Default: the table is refused. */
  readonly orGuess?: boolean;
  /** Name, units, transform and limits of the marker; its name defaults to that of the value column. */
  readonly marker?: Partial<Marker>;
  /** Decimal mark. Default: a point; a comma is also understood where it does not separate columns. */
  readonly decimal?: "." | ",";
  /** What to do with rows that hold something unreadable. Default "refuse": the whole input, with every complaint. */
  readonly onBad?: "refuse" | "leave-out";
  /** Keep rows that repeat another exactly (id, time and value). Default: they are left out, and that is told. */
  readonly keepRepeats?: boolean;
  /** Physical lines to skip (a second line with units, say). */
  readonly skipLines?: readonly number[];
}

/** Characters of the longest id that is read. */
const MAX_ID_LENGTH = 1000;
/** Rows left out that are kept as they are written, to be shown. */
const LEFT_OUT_KEPT = 1000;

/** Everything gathered while reading. */
export interface Reading {
  readonly options: ReadCohortOptions;
  readonly marker: Marker;
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
  /** The first rows left out. */
  readonly leftOutRows: TableRow[];
  decimal: "." | "," | "either";
  /** What was understood without being said, in sentences. */
  notes: readonly string[];
  header: readonly string[];
  found: FoundColumns | undefined;
  numRows: number;
  firstRow: number;
}

export function createReading(options: ReadCohortOptions): Reading {
  return {
    options,
    marker: checkMarker("readCohort", { ...DEFAULT_MARKER, ...options.marker }),
    skip: new Set(options.skipLines),
    structure: createComplaintBook(options.file),
    cells: createComplaintBook(options.file),
    rows: createRows(),
    paddedIds: { trimmed: 0, written: new Map(), merged: new Set(), line: 0 },
    lastId: { written: "", individual: -1 },
    missing: { count: 0, line: 0 },
    marks: { points: 0, commas: 0, commaLine: 0, commaRole: "value", unclear: 0 },
    times: { numbers: 0, numberLine: 0, dates: 0, dateLine: 0, date: "" },
    leftOutRows: [],
    decimal: ".",
    notes: [],
    header: [],
    found: undefined,
    numRows: 0,
    firstRow: 0,
  };
}

export function startTable(reading: Reading, { decimal, notes }: TableStart): void {
  reading.decimal = reading.options.decimal ?? decimal;
  reading.notes = notes;
}

/** Reads one row (the header first); false once reading cannot go on. */
export function readRow(reading: Reading, fields: readonly string[], line: number): boolean {
  if (reading.skip.has(line)) return true;
  if (reading.found === undefined) return readHeader(reading, fields, line);
  reading.numRows++;
  if (reading.firstRow === 0) reading.firstRow = line;
  const taken = readObservation(reading, reading.found, fields, line);
  if (!taken && reading.leftOutRows.length < LEFT_OUT_KEPT) reading.leftOutRows.push({ line, cells: fields });
  return true;
}

function readHeader(reading: Reading, header: readonly string[], line: number): boolean {
  const { columns = {}, orGuess = false } = reading.options;
  let found = findColumns(header, columns, line);
  if (orGuess && !("names" in found) && found[0].code === "missing-column") found = findColumns(header, {}, line);
  if (refuseNul(reading, reading.structure, header, line)) return false;
  if ("names" in found) {
    reading.found = found;
    reading.header = header;
    return true;
  }
  for (const { code, expected, received, remedy, where } of found) {
    reading.structure.refuse(where, code, [expected, received, remedy]);
  }
  return false;
}

/** Adds the observation of a row, or complaints about it; returns whether it was added. */
function readObservation(reading: Reading, found: FoundColumns, fields: readonly string[], line: number): boolean {
  if (fields.length !== reading.header.length) {
    reading.cells.refuse({ line }, ...raggedRow(fields.length, reading.header.length));
    return false;
  }
  if (refuseNul(reading, reading.cells, fields, line)) return false;
  const { positions } = found;
  const value = readValue(reading, fields[positions.value].trim(), line);
  const time = readTime(reading, fields[positions.time].trim(), line, value === undefined);
  // The id comes last: a line of units is better told by its words than by its empty id.
  const individual = readId(reading, fields[positions.id], line);
  if (individual < 0 || value === undefined || Number.isNaN(time) || Number.isNaN(value)) return false;
  const { transform } = reading.marker;
  if (transform !== "identity" && !Number.isFinite(applyTransform(transform, value))) {
    complain(reading, "value", line, "transform-domain", [
      `a value that has a ${transform}`,
      showReceived(fields[positions.value].trim()),
      "Leave such rows out, or choose another transform (log1p and sqrt take 0; logit takes shares between 0 and 1).",
    ]);
    return false;
  }
  appendRow(reading.rows, individual, time, value, line);
  return true;
}

/** Complains of a NUL, which is never text: the file is binary, damaged, or in an encoding of two bytes a letter. */
function refuseNul(reading: Reading, book: ComplaintBook, fields: readonly string[], line: number): boolean {
  const k = fields.findIndex((field) => field.includes("\u0000"));
  if (k < 0) return false;
  const name = reading.header[k] === undefined ? {} : { column: reading.header[k].trim() };
  book.refuse({ line, ...name, columnNumber: k + 1 }, "control-character", [
    "printable characters",
    `"${showReceived(fields[k])}"`,
    "Remove the control character, or export the file anew as UTF-8.",
  ]);
  return true;
}

/** The number of the row's id, or -1 after a complaint. */
function readId(reading: Reading, written: string, line: number): number {
  const { paddedIds, lastId, rows } = reading;
  if (written === lastId.written && lastId.individual >= 0) return lastId.individual;
  const id = written.trim();
  const known = rows.ids.get(id);
  const isNew = known === undefined;
  const fault = isNew ? faultOfId(id) : undefined;
  if (fault !== undefined) {
    complain(reading, "id", line, ...fault);
    return -1;
  }
  const individual = known ?? addId(rows, id);
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
    return ["missing-id", ["an id", "an empty cell", "Give every observation the id of its individual."]];
  }
  if (id.length > MAX_ID_LENGTH) {
    const received = `${id.length} characters, "${showReceived(id)}"`;
    return ["field-too-long", [`an id of at most ${MAX_ID_LENGTH} characters`, received, "Check the columns."]];
  }
  for (let k = 0; k < id.length; k++) {
    const code = id.charCodeAt(k);
    if ((code >= 0x20 && code !== 0x7f) || code === 0x09 || code === 0x0a) continue;
    const remedy = "Remove the control character.";
    return ["control-character", ["an id of printable characters", `"${showReceived(id)}"`, remedy]];
  }
  return undefined;
}

/** The number of a value cell, NaN after a complaint, undefined if it is missing. */
function readValue(reading: Reading, cell: string, line: number): number | undefined {
  const value = readMarked(reading, "value", cell, line);
  if (!Number.isNaN(value)) return value;
  if (!isMissing(cell)) return complainOfNumber(reading, "value", cell, line);
  if (reading.missing.count === 0) reading.missing.line = line;
  reading.missing.count++;
  return undefined;
}

/** The number of a time cell, NaN after a complaint; a time may be missing where the value is. */
function readTime(reading: Reading, cell: string, line: number, valueIsMissing: boolean): number {
  const { times } = reading;
  const time = readMarked(reading, "time", cell, line);
  if (!Number.isNaN(time)) {
    if (times.numbers === 0) times.numberLine = line;
    times.numbers++;
    return time;
  }
  const date = dateKind(cell);
  if (isMissing(cell)) {
    if (valueIsMissing) return Number.NaN;
    const received = cell === "" ? "an empty cell" : `"${cell}"`;
    const remedy = "Give every value its time, or leave the row out.";
    complain(reading, "time", line, "missing-time", ["a time", received, remedy]);
  } else if (date === undefined) {
    complainOfNumber(reading, "time", cell, line);
  } else if (date === "iso") {
    if (times.dates === 0) {
      times.dateLine = line;
      times.date = cell;
    }
    times.dates++;
  } else {
    const received = `"${showReceived(cell)}"`;
    const finding: Finding =
      date === "no-such-date"
        ? ["no-such-date", ["a date of the calendar", received, "Correct the date."]]
        : ["ambiguous-date", ["a number, or a date such as 2020-01-31", received, "Write dates as year-month-day."]];
    complain(reading, "time", line, ...finding);
  }
  return Number.NaN;
}

/** The number of a cell, NaN if it is none; where both decimal marks are possible they are counted, and judged at the end. */
function readMarked(reading: Reading, role: "time" | "value", cell: string, line: number): number {
  const { marks, decimal } = reading;
  const number = readNumber(cell, decimal === "," ? "," : ".");
  if (decimal !== "either") return number;
  if (!Number.isNaN(number)) {
    if (cell.includes(".")) marks.points++;
    return number;
  }
  const withComma = readNumber(cell, ",");
  if (Number.isNaN(withComma)) return Number.NaN;
  if (marks.commas === 0) {
    marks.commaLine = line;
    marks.commaRole = role;
  }
  marks.commas++;
  if (commaMayBeThousands(cell)) marks.unclear++;
  return withComma;
}

function complainOfNumber(reading: Reading, role: "time" | "value", cell: string, line: number): number {
  const [code, [expected, received, remedy]] = explainNumber(cell, role, reading.decimal === "," ? "," : ".");
  const second = line === reading.firstRow ? " If this line holds units, skip it (skipLines)." : "";
  complain(reading, role, line, code, [expected, received, remedy + second]);
  return Number.NaN;
}

function complain(reading: Reading, role: Role, line: number, ...finding: Finding): void {
  reading.cells.refuse(cellPlace(reading.found!, role, line), ...finding);
}
