/**
 * Table → Cohort, or precise complaints. Each row gives one observation: id, time, value. Reading does not stop at the
 * first bad cell: all are collected, and the whole input is refused at the end unless leaving bad rows out was asked
 * for. A cell becomes exactly the number written in it or is reported; nothing is repaired in silence.
 */
import { type Cohort, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { censoringLimits, limitWords } from "../cohort/limits.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { type Complaint, checkGiven, type ErrorCode, showReceived } from "../errors.ts";
import { alikeIds, alikeWords } from "./alike-ids.ts";
import { placeOf } from "./cells.ts";
import { type Columns, cellPlace, type FoundColumns } from "./columns.ts";
import { EMPTY_FILE, howMany, refusal, were } from "./complaints.ts";
import { type Counted, countTimes } from "./count-times.ts";
import { readTableFile, readTableText, type TableSource } from "./formats.ts";
import { questionRemedy } from "./numbers.ts";
import type { CountedTimes } from "./origin.ts";
import type { ReadCohortOptions } from "./read-options.ts";
import { readRow } from "./read-row.ts";
import { createReading, type Reading, type SeriesReading, startTable, wantedColumns } from "./reading.ts";
import { exactRepeats, withoutPlaces } from "./repeats.ts";
import { type CountedConversion, conversionsOf, conversionWords, markerUnit } from "./row-units.ts";
import { lineOf, toCohort } from "./rows.ts";
import { findSuspicions } from "./suspicions.ts";
import type { TableEnd, TableReader, TableRow } from "./table.ts";
import { advised, complaintsOfCells } from "./throughout.ts";
import { refuseUnits } from "./unit-cells.ts";
import { areUnreadRefused, unreadFinding } from "./unread-markers.ts";
import { wideReader } from "./wide-reader.ts";

export interface ReadCohort {
  readonly cohort: Cohort;
  /** The columns read, for reading the next file alike: of the first marker, and of each, [K]. */
  readonly columns: Columns;
  readonly markerColumns: readonly Columns[];
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
  /** Every conversion of units with its count, none where all values are in the unit of their marker. */
  readonly conversions: readonly CountedConversion[];
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
  checkGiven("readCohort", { text, options });
  return readTableText(text, cohortReader(options), options, "readCohort");
}

/**
 * Reads a cohort from the bytes of a file, of any known format, plain or gzip, as they come; refuses as `readCohort`.
 * @throws DtmError as `readCohort`, and what the format refuses ("not-text", "not-utf8", "too-large").
 * @example
 * const { cohort } = await readCohortFile(createReadStream("visits.csv.gz"), { columns: { value: "fvc" } });
 */
export function readCohortFile(bytes: TableSource, options: ReadCohortOptions = {}): Promise<ReadCohort> {
  return readTableFile(bytes, cohortReader(options), options);
}

/**
 * Reads a cohort from rows of cells that are text already, as a format or a database hands them over; refuses as `readCohort`. Lines in complaints
 * count the rows, the header being the first.
 */
export function readCohortRows(
  header: readonly string[],
  rows: Iterable<readonly string[]>,
  options: ReadCohortOptions = {},
): ReadCohort {
  const reader = cohortReader(options);
  reader.start({ decimal: ".", notes: [] });
  let line = 1;
  let going = reader.row(header, line);
  for (const row of rows) {
    if (!going) break;
    going = reader.row(row, ++line);
  }
  return reader.finish({ blankLines: 0 });
}

function cohortReader(options: ReadCohortOptions): TableReader<ReadCohort> {
  if (options.wide !== undefined) return wideReader(options, finish);
  const reading = createReading(options);
  return {
    start: (table) => startTable(reading, table),
    row: (fields, line) => readRow(reading, fields, line),
    wanted: () => wantedColumns(reading),
    finish: (end) => finish(reading, end),
  };
}

function finish(reading: Reading, { fault, blankLines, notes = [] }: TableEnd): ReadCohort {
  const { structure, cells } = reading;
  if (fault !== undefined) structure.refuse(fault.where, ...fault.finding);
  const counted = checkTable(reading);
  // Where every row is bad, what is bad about them says more than that none is left.
  const leaveOut = reading.leaveOut && structure.numRefused() === 0 && reading.numTaken > 0;
  if (!leaveOut && structure.numRefused() + cells.numRefused() > 0) {
    throw refusal([
      ...structure.complaints(),
      ...complaintsOfCells(cells, { ...reading, isAnyGood: reading.numTaken > 0 }),
    ]);
  }
  return takeCohort(reading, reading.found!, counted, [...notes, ...describe(reading, blankLines), ...counted.notes]);
}

/** Judgements that need the whole table; and how its times were counted. */
function checkTable(reading: Reading): Counted {
  const { found, structure, marks } = reading;
  if (found === undefined) {
    if (structure.numRefused() === 0) structure.refuse({ line: 1 }, ...EMPTY_FILE);
    return { notes: [] };
  }
  if (reading.numRows === 0 && structure.numRefused() === 0) {
    const received = `only the columns ${Object.values(columnsOf(reading, found)[0]).join(", ")}`;
    structure.refuse({}, "no-rows", ["rows of observations", received, "Check the export."]);
  }
  const firstComma = cellPlace(found, marks.commaPosition, marks.commaLine);
  if (marks.commas > 0 && marks.points > 0) {
    structure.refuse(firstComma, "mixed-decimals", [
      "one decimal mark throughout",
      `${howMany(marks.commas, "number")} with a comma and ${marks.points} with a point`,
      "Write all numbers with a decimal point; if one of the marks separates thousands, say which (--thousands; thousands).",
    ]);
  }
  if (marks.unclear > 0 && marks.unclear === marks.commas) {
    structure.refuse(firstComma, "ambiguous-comma", [
      "numbers whose comma can only be a decimal mark",
      `${marks.unclear} like 1,234, none like 0,5 or 12,5`,
      questionRemedy("decimal"),
    ]);
  }
  if (marks.unclearPoints > 0 && marks.unclearPoints === marks.points && marks.commas === 0) {
    structure.refuse(cellPlace(found, marks.pointPosition, marks.pointLine), "ambiguous-comma", [
      "numbers whose point can only be a decimal mark, in a file with semicolons",
      `${marks.points} like 1.234, none like 0.5 or 12.5`,
      'If it separates thousands, say --thousands . (thousands: "."); if it is the decimal mark, --decimal . (decimal: ".").',
    ]);
  }
  refuseUnits(reading);
  askQuestions(reading);
  const counted = countTimes(reading, found);
  checkLevels(reading, found);
  const unread = unreadFinding(reading, found);
  if (unread !== undefined && areUnreadRefused(reading))
    structure.refuse(cellPlace(found, reading.unread.at, 1), ...unread);
  const empty = reading.numTaken === 0 && reading.numRows > 0;
  if (empty && structure.numRefused() + reading.cells.numRefused() === 0) {
    const received = `${howMany(reading.numRows, "row")}, none with a usable value`;
    structure.refuse({}, "no-rows", ["rows of observations", received, "Check the columns."]);
  }
  return counted;
}

/** One complaint for each kind of number that a word could explain. */
function askQuestions(reading: Reading): void {
  for (const [kind, { count, at, line, cells }] of reading.questions) {
    const listed = cells.map((cell) => `"${showReceived(cell)}"`).join(", ");
    const received = count > cells.length ? `${count} cells such as ${listed}` : listed;
    reading.structure.refuse(placeOf(reading, at, line), "not-a-number", [
      "plain numbers",
      received,
      questionRemedy(kind),
    ]);
  }
}

/** What was understood without being told, in sentences. */
function describe(reading: Reading, blankLines: number): string[] {
  const notes = [...reading.notes];
  if (reading.marks.commas > 0) notes.push("Numbers are written with a decimal comma.");
  notes.push(...(reading.found?.notes ?? []));
  if (blankLines > 0) notes.push(`${howMany(blankLines, "blank line")} ${were(blankLines)} skipped.`);
  if (reading.paddedIds.trimmed > 0)
    notes.push(`${howMany(reading.paddedIds.trimmed, "id")} ${were(reading.paddedIds.trimmed)} trimmed of spaces.`);
  return notes;
}

/** Every marker must be named by some row, where rows name them. */
function checkLevels({ series, options, others, structure, numRows }: Reading, found: FoundColumns): void {
  if (found.marker < 0 || numRows === 0 || options.mayLack === true) return;
  for (const [k, { column }] of (options.markers ?? []).entries()) {
    if (series[k].rows.length > 0) continue;
    const listed = [...others.keys()].slice(0, 10).map((level) => `"${showReceived(level)}"`);
    structure.refuse(cellPlace(found, found.marker, 1), "no-rows", [
      `rows of the marker "${showReceived(column)}" with a value`,
      listed.length === 0 ? "none" : `none, but rows of ${listed.join(", ")}`,
      "Write the marker as the table does.",
    ]);
  }
}

/** Names of the columns of each marker, and from when times were counted, [K]. */
function columnsOf(
  { series, options }: Reading,
  { header, positions, values, marker }: FoundColumns,
  { origin, dates }: CountedTimes = {},
): Columns[] {
  const since = { ...(origin === undefined ? {} : { origin }), ...(dates === undefined ? {} : { dates }) };
  const shared = { id: header[positions.id], time: header[positions.time], ...since };
  return series.map((_, k) => {
    const choice = options.markers?.[k].column ?? "";
    if (marker >= 0) return { ...shared, value: header[positions.value], marker: header[marker], level: choice.trim() };
    return { ...shared, value: values[k] < 0 ? choice : header[values[k]] };
  });
}

function takeCohort(reading: Reading, found: FoundColumns, counted: Counted, notes: string[]): ReadCohort {
  const { options, missing, paddedIds, cells, numRows, leftOutRows, others } = reading;
  const { positions } = found;
  const { keepRepeats = false } = options;
  const markerColumns = columnsOf(reading, found, counted);
  const codes = [...missing.codes].map(([code, count]) => `${count} with ${code}`);
  // Another marker of the row may have a value, so that no row is left out.
  if (missing.count === 0 && codes.length > 0) notes.push(`Cells taken as missing: ${codes.join(", ")}.`);
  if (missing.count > 0) {
    const told = codes.length === 0 ? "" : `, among their cells ${codes.join(", ")}`;
    const words = [
      "a value",
      `${howMany(missing.count, "row")} without one${told}`,
      missing.count === 1 ? "It was left out." : "These rows were left out.",
    ] as const;
    cells.warn(cellPlace(found, positions.value, missing.line), missing.count, "missing-value", words);
  }
  const parts = reading.series.map((series, k) => {
    const name = options.marker?.name ?? markerColumns[k].value;
    const own = counted.timeUnit === undefined ? series.marker : { ...series.marker, timeUnit: counted.timeUnit };
    const named = options.markers === undefined ? { ...own, name } : own;
    const marker = reading.units === undefined ? named : { ...named, unit: markerUnit(reading.units, k, named) };
    return withoutRepeats(series, toCohort(series.rows, marker), keepRepeats);
  });
  const conversions = conversionsOf(
    reading.units,
    parts.map(({ cohort }) => onlyMarker(cohort).marker.name),
  );
  notes.push(...conversions.map(conversionWords));
  const numOthers = [...others.values()].reduce((sum, count) => sum + count, 0);
  // Of a row with several markers the one that was repeated most often speaks for all.
  const repeatedMost = parts.reduce((most, part) => (part.repeated.length > most.repeated.length ? part : most));
  if (repeatedMost.repeated.length > 0) {
    const { repeated, lineAt } = repeatedMost;
    cells.warn(cellPlace(found, positions.id, lineAt(repeated[0])), repeated.length, "duplicate-rows", [
      "rows that differ",
      `${howMany(repeated.length, "exact repeat")} of another row (${lineWords(repeated.map(lineAt))})`,
      keepRepeats
        ? "Such rows are kept, as was asked for."
        : "Such rows are left out; if they are measurements, keep them (--keep-repeats; keepRepeats).",
    ]);
  }
  const leftOut = cells
    .warnings()
    .filter(({ code }) => code !== "duplicate-rows" || !keepRepeats)
    .map(({ code, count }) => ({ code, count: count ?? 1 }));
  if (numOthers > 0) {
    leftOut.push({ code: "other-marker", count: numOthers });
    const listed = [...others.keys()].slice(0, 10).map((level) => showReceived(level));
    notes.push(`${howMany(numOthers, "row")} of other markers (${listed.join(", ")}) ${were(numOthers)} passed over.`);
  }
  const merged = paddedIds.merged.size;
  if (merged > 0) {
    cells.warn(cellPlace(found, positions.id, paddedIds.line), merged, "id-whitespace", [
      "ids written one way",
      `${howMany(merged, "id")} written with and without spaces`,
      "They were trimmed and taken as the same individual.",
    ]);
  }
  for (const { cohort } of parts) {
    const series = onlyMarker(cohort);
    const limits = censoringLimits(series);
    if (limits.length === 0) continue;
    const count = limits.reduce((sum, limit) => sum + limit.count, 0);
    const name = showReceived(series.marker.name);
    notes.push(
      `${count} of ${series.values.length} values of ${name} are given as below or above a limit: ${limitWords(limits)}. They are taken as that, not as numbers.`,
    );
  }
  const unread = unreadFinding(reading, found);
  if (unread !== undefined) cells.warn(cellPlace(found, reading.unread.at, 1), reading.numTaken, ...unread);
  warnOfSuspicions(reading, found, parts, counted.origin !== undefined);
  const cohort = parts.length === 1 ? parts[0].cohort : combineMarkers(parts.map((part) => part.cohort));
  const alike = alikeIds(cohort.ids);
  if (alike.count > 0) {
    const line = firstLine(parts, alike.pairs[0][1]);
    cells.warn(cellPlace(found, positions.id, line), alike.count, "alike-ids", alikeWords(alike));
  }
  return {
    cohort,
    columns: markerColumns[0],
    markerColumns,
    numRows,
    numRowsLeftOut: numRows - numRowsKept(reading, parts),
    leftOut,
    leftOutRows,
    complaints: advised(cells, { ...reading, isAnyGood: true }),
    conversions,
    warnings: cells.warnings(),
    notes,
  };
}

/** The cohort of one marker without exact repeats, the row of each observation, and which rows were repeats. */
interface MarkerPart {
  readonly cohort: Cohort;
  readonly order: Int32Array;
  /** Rows, ascending. */
  readonly repeated: readonly number[];
  readonly lineAt: (row: number) => number;
}

function withoutRepeats(
  { rows }: SeriesReading,
  { cohort, order }: { readonly cohort: Cohort; readonly order: Int32Array },
  keepRepeats: boolean,
): MarkerPart {
  const repeats = exactRepeats(onlyMarker(cohort));
  const repeated = repeats.map((k) => order[k]).sort((a, b) => a - b);
  const left = withoutPlaces(onlyMarker(cohort), order, keepRepeats ? [] : repeats);
  const lineAt = (row: number) => lineOf(rows, row);
  return { cohort: { ids: cohort.ids, markers: [left.series] }, order: left.order, repeated, lineAt };
}

/** Rows of which an observation is in the cohort. */
function numRowsKept({ numTaken }: Reading, parts: readonly MarkerPart[]): number {
  if (parts.length === 1) return numObservations(parts[0].cohort);
  const lines = (of: (part: MarkerPart) => Iterable<number>) =>
    parts.flatMap((part) => Array.from(of(part), part.lineAt));
  const repeated = new Set(lines(({ repeated }) => repeated));
  if (repeated.size > 0) for (const line of lines(({ order }) => order)) repeated.delete(line);
  return numTaken - repeated.size;
}

/** Warnings of every marker; of times, which markers share by their rows, the one with the highest count. */
function warnOfSuspicions(
  { cells, options }: Reading,
  found: FoundColumns,
  parts: readonly MarkerPart[],
  isCounted: boolean,
): void {
  const ofTimes = new Map<string, Parameters<typeof cells.warn>>();
  for (const [k, { cohort, order, lineAt }] of parts.entries()) {
    const series = onlyMarker(cohort);
    if (series.times.length === 0) continue;
    const linesOf = (rows: readonly number[]) => lineWords([...rows].sort((a, b) => a - b).map(lineAt));
    const named = found.marker < 0 ? {} : { marker: options.markers?.[k].column };
    findSuspicions(series, order, linesOf, (role, firstRow, count, code, words) => {
      // Visits before an origin that was chosen are told by a note.
      if (isCounted && code === "negative-time") return;
      const at = role === "value" && found.marker < 0 ? found.values[k] : found.positions[role];
      const where = { ...cellPlace(found, at, lineAt(firstRow)), ...named };
      if (role !== "time" || found.marker >= 0 || parts.length === 1) cells.warn(where, count, code, words);
      else if (count > (ofTimes.get(code)?.[1] ?? 0)) ofTimes.set(code, [where, count, code, words]);
    });
  }
  for (const warning of ofTimes.values()) cells.warn(...warning);
}

/** Line of the first row of an individual. */
function firstLine(parts: readonly MarkerPart[], id: string): number {
  const lines = parts.flatMap(({ cohort, order, lineAt }) => {
    const i = cohort.ids.indexOf(id);
    const { offsets } = onlyMarker(cohort);
    return i < 0 ? [] : Array.from(order.subarray(offsets[i], offsets[i + 1]), lineAt);
  });
  return lines.reduce((least, line) => Math.min(least, line));
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
