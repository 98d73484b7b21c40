/** Cells of a row of visits: the number of its individual, its time and values, or complaints about them. */
import { showReceived } from "../errors.ts";
import { cellPlace } from "./columns.ts";
import type { Finding } from "./complaints.ts";
import { commaMayBeThousands, dateKind, explainNumber, isMissing, readComparator, readNumber } from "./numbers.ts";
import type { Reading } from "./reading.ts";
import { addId } from "./rows.ts";

/** Characters of the longest id that is read. */
const MAX_ID_LENGTH = 1000;

/** The number of the row's id, or -1 after a complaint. */
export function readId(reading: Reading, written: string, line: number): number {
  const { paddedIds, lastId } = reading;
  const { rows } = reading.series[0];
  if (written === lastId.written && lastId.individual >= 0) return lastId.individual;
  const id = written.trim();
  const known = rows.ids.get(id);
  const isNew = known === undefined;
  const fault = isNew ? faultOfId(id) : undefined;
  if (fault !== undefined) {
    complain(reading, reading.found!.positions.id, line, ...fault);
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

/** The number of the value cell of marker k, NaN after a complaint, infinite if it is missing; a limit says so in `sides`. */
export function readValue(reading: Reading, k: number, at: number, cell: string, line: number): number {
  const value = readMarked(reading, at, cell, line);
  reading.sides[k] = 0;
  if (!Number.isNaN(value)) return value;
  const censored = readComparator(cell);
  const limit = censored === undefined ? Number.NaN : readMarked(reading, at, censored.rest, line);
  if (!Number.isNaN(limit)) {
    reading.sides[k] = censored!.side;
    return limit;
  }
  return isMissing(cell) ? Number.POSITIVE_INFINITY : complainOfNumber(reading, at, cell, line);
}

/** The number of a time cell, NaN after a complaint; a time may be missing where the value is. */
export function readTime(reading: Reading, cell: string, line: number, valueIsMissing: boolean): number {
  const { times } = reading;
  const at = reading.found!.positions.time;
  const time = readMarked(reading, at, cell, line);
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
    complain(reading, at, line, "missing-time", ["a time", received, remedy]);
  } else if (date === undefined) {
    complainOfNumber(reading, at, cell, line);
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
    complain(reading, at, line, ...finding);
  }
  return Number.NaN;
}

/** The number of a cell, NaN if it is none; where both decimal marks are possible they are counted, and judged at the end. */
export function readMarked(reading: Reading, at: number, cell: string, line: number): number {
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
    marks.commaPosition = at;
  }
  marks.commas++;
  if (commaMayBeThousands(cell)) marks.unclear++;
  return withComma;
}

function complainOfNumber(reading: Reading, at: number, cell: string, line: number): number {
  const what = at === reading.found!.positions.time ? "time" : "value";
  const [code, [expected, received, remedy]] = explainNumber(cell, what, reading.decimal === "," ? "," : ".");
  const second = line === reading.firstRow ? " If this line holds units, skip it (skipLines)." : "";
  complain(reading, at, line, code, [expected, received, remedy + second]);
  return Number.NaN;
}

export function complain(reading: Reading, at: number, line: number, ...finding: Finding): void {
  reading.cells.refuse(cellPlace(reading.found!, at, line), ...finding);
}
