/** Cells of a row of visits: the number of its individual, its time and values, or complaints about them. */
import { showReceived, type Where } from "../errors.ts";
import { cellPlace } from "./columns.ts";
import type { Finding } from "./complaints.ts";
import { takeDate, takeNumber } from "./date-column.ts";
import { missingCode } from "./missing-codes.ts";
import {
  explainNumber,
  isClock,
  isMissing,
  mayBeThousands,
  questionOf,
  readComparator,
  readNumber,
} from "./numbers.ts";
import type { Reading } from "./reading.ts";
import { addId } from "./rows.ts";
import { withoutThousands } from "./thousands.ts";

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
  if (LOST_LETTER.test(id)) {
    const remedy =
      "It was lost where the table was written or converted: write it anew as UTF-8, lest two ids become one.";
    return ["not-utf8", ["an id without a letter that was lost", `"${showReceived(id)}"`, remedy]];
  }
  return undefined;
}

/** What stands for letters that could not be read, and halves of letters, which no file can keep: all of them are written alike. */
const LOST_LETTER = /\ufffd|\p{Cs}/u;

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
  if (!isMissing(cell)) return complainOfNumber(reading, at, cell, line, "value");
  const program = missingCode(cell);
  if (program !== undefined) {
    const { codes } = reading.missing;
    const code = `${cell.toLowerCase()} (${program})`;
    if (codes.size < CODES_KEPT || codes.has(code)) codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  return Number.POSITIVE_INFINITY;
}

/** Kinds of codes that are told apart: there are not many more. */
const CODES_KEPT = 30;

/** The number of a time cell, of a date its code; NaN after a complaint. A time may be missing where the value is. */
export function readTime(reading: Reading, cell: string, line: number, valueIsMissing: boolean): number {
  const { times } = reading;
  const at = reading.found!.positions.time;
  // A column that has begun with dates will go on with them.
  const first = times.dates.count > 0 ? takeDate(times, cell, line) : undefined;
  if (typeof first === "number") return first;
  const time = readMarked(reading, at, cell, line);
  if (!Number.isNaN(time)) {
    takeNumber(times, time, cell, line);
    return time;
  }
  if (isMissing(cell)) {
    if (valueIsMissing) return Number.NaN;
    const received = cell === "" ? "an empty cell" : `"${cell}"`;
    const remedy = "Give every value its time, or leave the row out.";
    complain(reading, at, line, "missing-time", ["a time", received, remedy]);
    return Number.NaN;
  }
  const date = first ?? takeDate(times, cell, line);
  if (typeof date === "number") return date;
  if (date === undefined && (times.dates.count === 0 || isClock(cell)))
    return complainOfNumber(reading, at, cell, line, "time");
  const remedy = "Write it as 2020-01-31, or leave the row out.";
  const other: Finding = ["no-such-date", ["a date, as in rows before", `"${showReceived(cell)}"`, remedy]];
  complain(reading, at, line, ...(date ?? other));
  return Number.NaN;
}

/** Notes the origin of an individual; a finding if the cell can be none. `number` reads one. */
export function takeOrigin(
  { column, codes, lines, contradicted }: Reading["origin"],
  individual: number,
  cell: string,
  line: number,
  number: (cell: string) => number,
): Finding | undefined {
  if (isMissing(cell)) return undefined;
  let code = number(cell);
  if (Number.isNaN(code)) {
    const date = takeDate(column, cell, line);
    if (date === undefined) {
      const remedy = "Give a date such as 2020-01-31, or a number where times are numbers.";
      return ["not-a-number", ["a date or a number as origin of time", `"${showReceived(cell)}"`, remedy]];
    }
    if (typeof date !== "number") return date;
    code = date;
  } else takeNumber(column, code, cell, line);
  while (codes.length <= individual) codes.push(Number.NaN);
  if (Number.isNaN(codes[individual])) {
    codes[individual] = code;
    lines[individual] = line;
  } else if (codes[individual] !== code && contradicted.count++ === 0) {
    contradicted.individual = individual;
    contradicted.line = line;
  }
  return undefined;
}

/** Notes the origin that a row of visits gives for its individual. */
export function readOrigin(reading: Reading, individual: number, written: string, line: number): void {
  const { origin } = reading;
  const found = takeOrigin(origin, individual, written.trim(), line, (cell) =>
    readMarked(reading, origin.at, cell, line),
  );
  if (found !== undefined) complain(reading, origin.at, line, ...found);
}

/** The number of a cell, NaN if it is none; where both decimal marks are possible they are counted, and judged at the end. */
function readMarked(reading: Reading, at: number, written: string, line: number): number {
  const { marks, decimal, thousands } = reading;
  const cell = thousands === undefined ? written : withoutThousands(written, thousands);
  const number = readNumber(cell, decimal === "," ? "," : ".");
  if (decimal !== "either") return number;
  if (!Number.isNaN(number)) {
    if (cell.includes(".")) countPoint(reading, at, cell, line);
    return number;
  }
  const withComma = readNumber(cell, ",");
  if (Number.isNaN(withComma)) return Number.NaN;
  if (marks.commas === 0) {
    marks.commaLine = line;
    marks.commaPosition = at;
  }
  marks.commas++;
  if (mayBeThousands(cell)) marks.unclear++;
  return withComma;
}

function countPoint({ marks, groups }: Reading, at: number, cell: string, line: number): void {
  if (marks.points === 0) {
    marks.pointLine = line;
    marks.pointPosition = at;
  }
  marks.points++;
  if (groups && mayBeThousands(cell)) marks.unclearPoints++;
}

function complainOfNumber(reading: Reading, at: number, cell: string, line: number, what: "value" | "time"): number {
  const decimal = reading.decimal === "," ? "," : ".";
  const kind = reading.leaveOut ? undefined : questionOf(cell, decimal);
  if (kind !== undefined) {
    ask(reading, kind, at, cell, line);
    return Number.NaN;
  }
  complain(reading, at, line, ...explainNumber(cell, what, decimal));
  return Number.NaN;
}

/** Cells of a question that are shown. */
const CELLS_SHOWN = 3;

function ask({ questions }: Reading, kind: string, at: number, cell: string, line: number): void {
  const question = questions.get(kind) ?? { count: 0, at, line, cells: [] };
  questions.set(kind, question);
  question.count++;
  if (question.cells.length < CELLS_SHOWN && !question.cells.includes(cell)) question.cells.push(cell);
}

export function complain(reading: Reading, at: number, line: number, ...finding: Finding): void {
  reading.cells.refuse(placeOf(reading, at, line), ...finding);
}

/** Where a cell of the row that is being read stands in its file. */
export function placeOf({ found, placeInWide }: Reading, at: number, line: number): Where {
  const wide = placeInWide?.(at);
  return wide === undefined ? cellPlace(found!, at, line) : { line, ...wide };
}
