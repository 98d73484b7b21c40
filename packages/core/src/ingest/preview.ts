/**
 * A first look at a table before it is read: columns with their first cells, and which of them hold individual, time and
 * marker, each guess with its reason. Usual names decide first (as in `readCohort`); where names say nothing, contents do:
 * an id repeats over rows and need not be a number, time grows along an individual's rows, the marker is a number that
 * is left, changes between visits and does not merely count along with time.
 * The same look tells what a screen has to ask: how ambiguous dates would be read each way, whether columns are times of a wide table,
 * and whether the table is of visits or of individuals.
 */

import { checkNames, optionNames } from "../errors.ts";
import { hasWordOf, type Role, usualColumns } from "./column-names.ts";
import { findColumns } from "./columns.ts";
import { EMPTY_FILE, refusal, refusalAt } from "./complaints.ts";
import { readTableFile, readTableText, type TableSource } from "./formats.ts";
import { isClock, isMissing, mayBeThousands, readComparator, readNumber } from "./numbers.ts";
import { type DatesPreview, previewDates } from "./preview-dates.ts";
import { previewUnits, type UnitsPreview } from "./preview-units.ts";
import type { Sheets, TableOptions, TableReader } from "./table.ts";
import { type TableKind, tableKind } from "./table-kind.ts";
import { type Thousands, thousandsMark } from "./thousands.ts";
import { findWide, type WideLayout, wideRow } from "./wide.ts";

export interface ColumnPreview {
  readonly name: string;
  /** Share of filled cells that are numbers, and of all cells that are empty, over the rows looked at. */
  readonly numeric: number;
  readonly empty: number;
  /** Distinct filled cells among the rows looked at. */
  readonly distinct: number;
  /** These cells in the order of the file where they are text and few, such as names of markers; none otherwise. */
  readonly levels: readonly string[];
  /** How its cells are read as dates, where most are. */
  readonly dates?: DatesPreview;
  /** The mark between thousands of its numbers, where that is what it must be: readers are asked to say so (`thousands`). */
  readonly thousands?: Thousands;
  /** First cells with that mark; without one, cells such as 1,234 whose comma separates thousands or decimals, where no cell tells which. */
  readonly marked?: readonly string[];
}

export interface ColumnGuess {
  readonly role: Role;
  /** Position of the column, −1 if nothing fits. */
  readonly column: number;
  /** Why, in a few words. */
  readonly reason: string;
}

export interface TablePreview {
  readonly columns: readonly ColumnPreview[];
  /** The first rows, as text. */
  readonly rows: readonly (readonly string[])[];
  /** Rows looked at. */
  readonly numRowsSeen: number;
  readonly guesses: readonly ColumnGuess[];
  /** Positions of columns that could be markers beside the guessed one: numbers that change between visits. */
  readonly otherMarkers: readonly number[];
  /** What the table is of: visits, individuals, or individuals with a column for each time. */
  readonly kind: TableKind;
  /** The table as one row per visit, if columns look like times of a marker: `wide` of `readCohort` reads it so. */
  readonly wide?: WidePreview;
  /** What was understood without being said: delimiter, encoding, in sentences. */
  readonly notes: readonly string[];
  /** Sheets of a workbook, and the one that is read. */
  readonly sheets?: Sheets;
  /** How letters are encoded, as `encoding` takes it; of text with delimiters alone. */
  readonly encoding?: string;
  /** Columns with the unit of each value. */
  readonly units: readonly UnitsPreview[];
}

/** A wide table as the long one that it stands for. */
export interface WidePreview
  extends Pick<WideLayout, "header" | "markers" | "time" | "unit" | "notes">,
    Pick<TablePreview, "columns" | "rows" | "numRowsSeen" | "guesses" | "otherMarkers" | "units"> {}

export interface PreviewOptions extends TableOptions {
  /** Rows shown. Default 20. */
  readonly numRows?: number;
  /** Rows looked at for guesses. Default 2,000, of wide tables fewer, a hundred at least. */
  readonly numRowsSeen?: number;
  /** Columns that are times of a marker, as `readCohort` takes it. Default: those found by their names. */
  readonly wide?: true | string;
}

/** Cells that guesses rest on: what takes a tenth of a second to look through. */
const CELLS_SEEN = 200_000;

/**
 * Looks at the head of a table. Refuses what can be no table with a header, whatever the columns; all else that is wrong is
 * said when the table is read.
 * @throws DtmError "empty-file", "no-header" or that of a broken quote.
 */
export function previewTable(text: string, options: PreviewOptions = {}): TablePreview {
  return readTableText(text, previewReader(options), options, "previewTable");
}

/**
 * Looks at the head of a file of any known format, plain or gzip; no more of it is read.
 * @throws DtmError as `previewTable`, and what the format refuses ("not-text", "too-large").
 * @example
 * const { columns, guesses } = await previewFile(blob.stream());
 */
export function previewFile(bytes: TableSource, options: PreviewOptions = {}): Promise<TablePreview> {
  return readTableFile(bytes, previewReader(options), options);
}

const PREVIEW_OPTIONS = optionNames<PreviewOptions>({
  ...{ numRows: true, numRowsSeen: true, wide: true, delimiter: true, sheet: true, file: true, encoding: true },
});

function previewReader(options: PreviewOptions): TableReader<TablePreview> {
  checkNames("previewTable", options, PREVIEW_OPTIONS);
  const { numRows = 20, numRowsSeen, file, wide: patterns = true } = options;
  let names: readonly string[] | undefined;
  let most = 0;
  const rows: (readonly string[])[] = [];
  let notes: readonly string[] = [];
  let sheets: Sheets | undefined;
  return {
    start: (table) => {
      notes = table.notes;
      sheets = table.sheets;
    },
    row: (fields) => {
      if (names === undefined) {
        names = fields.map((name) => name.trim());
        most = numRowsSeen ?? Math.min(2000, Math.max(100, Math.floor(CELLS_SEEN / names.length)));
      } else rows.push(fields);
      return rows.length < most;
    },
    finish: ({ fault, notes: more = [], encoding }) => {
      if (names === undefined) {
        const { finding, where } = fault ?? { finding: EMPTY_FILE, where: { line: 1 } };
        throw refusalAt(where, file, ...finding);
      }
      const columns = names.map((name, k) => describeColumn(name, rows, k));
      const guesses = guessColumns(names, columns, rows.length);
      checkHeader(names, guesses, file);
      const shown = { rows: rows.slice(0, numRows), numRowsSeen: rows.length };
      const otherMarkers = furtherMarkers(columns, guesses);
      const wide = previewWide(findWide(names, patterns), rows, numRows, most);
      const ids = columns[guesses.find(({ role }) => role === "id")!.column]?.cells;
      return {
        columns: columns.map(({ about }) => about),
        ...shown,
        guesses,
        otherMarkers,
        kind: tableKind(ids, wide !== undefined),
        ...(wide === undefined ? {} : { wide }),
        notes: [...notes, ...more],
        ...(sheets === undefined ? {} : { sheets }),
        ...(encoding === undefined ? {} : { encoding }),
        units: previewUnits(columns),
      };
    },
  };
}

function previewWide(
  layout: WideLayout | undefined,
  rows: readonly (readonly string[])[],
  numRows: number,
  most: number,
): WidePreview | undefined {
  if (layout === undefined) return undefined;
  const { header, markers, time, unit, notes, kept, points } = layout;
  const width = Math.max(...kept, ...points.flatMap((point) => [point.timeColumn, ...point.columns]));
  const whole = rows.filter((fields) => fields.length > width);
  const long: string[][] = [];
  for (const fields of whole) {
    if (long.length >= most) break;
    for (const point of points) {
      const row = wideRow(layout, point, fields);
      if (row !== undefined) long.push(row);
    }
  }
  const columns = header.map((name, k) => describeColumn(name, long, k));
  const [id] = guessColumns(header.slice(0, kept.length), columns.slice(0, kept.length), long.length);
  const guesses: ColumnGuess[] = [
    id,
    { role: "time", column: kept.length, reason: "from the names of columns" },
    { role: "value", column: kept.length + 1, reason: "a column for each time" },
  ];
  return {
    ...{ header, markers, time, unit, notes, guesses },
    columns: columns.map(({ about }) => about),
    rows: long.slice(0, numRows),
    numRowsSeen: long.length,
    otherMarkers: markers.slice(1).map((_, k) => kept.length + 2 + k),
    units: [],
  };
}

/** A number may be the name of some column; as that of the marker it is the first visit, and would be lost. */
function checkHeader(names: readonly string[], guesses: readonly ColumnGuess[], file: string | undefined): void {
  const marker = names[guesses.find(({ role }) => role === "value")!.column] ?? "";
  if (marker === "" || !Number.isFinite(Number(marker))) return;
  const found = findColumns(names, {}, 1, file);
  if (!("header" in found) && found[0].code === "no-header") throw refusal(found);
}

/** A column over the rows looked at. */
interface Column {
  readonly about: ColumnPreview;
  /** Cells without space around them, [n]. */
  readonly cells: readonly string[];
  /** Cells as numbers, of dates the days since 1970, for telling which rows are later; NaN for all others, [n]. */
  readonly numbers: Float64Array;
  /** Share of filled cells that are dates. */
  readonly dates: number;
}

function describeColumn(name: string, rows: readonly (readonly string[])[], k: number): Column {
  const cells = rows.map((row) => (row[k] ?? "").trim());
  const filled = cells.filter((cell) => !isMissing(cell));
  const share = (holds: (cell: string) => boolean) => filled.filter(holds).length / Math.max(filled.length, 1);
  const n = Math.max(rows.length, 1);
  const numeric = share((cell) => !Number.isNaN(numberOf(cell)));
  const different = [...new Set(filled)];
  const levels = numeric < MOSTLY && different.length <= MOST_LEVELS ? different : [];
  const dates = previewDates(filled);
  const isDated = dates !== undefined && dates.about.share >= MOSTLY;
  const { thousands, marked } = isDated ? { thousands: undefined, marked: [] } : marksOf(different);
  return {
    about: {
      name,
      numeric,
      empty: (n - filled.length) / n,
      distinct: different.length,
      levels: isDated ? [] : levels,
      ...(isDated ? { dates: dates.about } : {}),
      ...(thousands === undefined ? {} : { thousands }),
      ...(marked.length === 0 ? {} : { marked: marked.slice(0, MARKED_SHOWN) }),
    },
    cells,
    numbers: Float64Array.from(cells, (cell) => dates?.dayOf(cell) ?? numberOf(cell)),
    dates: dates?.about.share ?? 0,
  };
}

/** The number of a cell with either decimal mark, of a limit the limit; NaN if it is none. */
function numberOf(cell: string): number {
  const written = readComparator(cell)?.rest ?? cell;
  const plain = readNumber(written, ".");
  return Number.isNaN(plain) ? readNumber(written, ",") : plain;
}

/** The mark between thousands of different cells, if it can be nothing else, and cells with it; or cells whose comma may be either. */
function marksOf(cells: readonly string[]): { readonly thousands: Thousands | undefined; readonly marked: string[] } {
  const sure = cells.map(thousandsMark).find((mark) => mark !== undefined);
  if (sure !== undefined) return { thousands: sure, marked: cells.filter((cell) => thousandsMark(cell) === sure) };
  const unclear = cells.filter((cell) => cell.includes(",") && mayBeThousands(readComparator(cell)?.rest ?? cell));
  const decimals = (mark: string) => (cell: string) =>
    cell.includes(mark) && !unclear.includes(cell) && !Number.isNaN(numberOf(cell));
  if (unclear.length === 0 || cells.some(decimals(","))) return { thousands: undefined, marked: [] };
  return { thousands: cells.some(decimals(".")) ? "," : undefined, marked: unclear };
}

/** Cells shown whose mark is asked about. */
const MARKED_SHOWN = 3;
/** A share that still counts as "numbers", with some text among them. */
const MOSTLY = 0.8;
/** A column that grows along this share of neighbouring rows counts time, whatever its name. */
const ALWAYS = 0.98;
/** Score above which a column is a measurement and changes between visits. */
const VARIES = 2;
/** Different cells of a text column that may be named one by one. */
const MOST_LEVELS = 30;
/** Cells that differ, from which on a column is a measurement rather than a code. */
const MANY = 8;

/** A guess for each role, one after the other: by a usual name, else the column of the highest score from 0 on. */
function guessColumns(names: readonly string[], columns: readonly Column[], n: number): ColumnGuess[] {
  const taken: number[] = [];
  const guess = (
    role: Role,
    score: (column: Column) => number,
    reasons: { readonly found: (column: Column) => string; readonly none: string },
  ): ColumnGuess => {
    const named = byName(names, role, role === "time" ? clocksOf(columns) : []);
    const isNamed = named >= 0 && !taken.includes(named);
    const column = isNamed ? named : best(columns.map((c, k) => (taken.includes(k) ? -1 : score(c))));
    taken.push(column);
    const more = role === "id" && isNamed ? `; ${columns[named].about.distinct} different ones in ${n} rows` : "";
    const reason = column < 0 ? reasons.none : reasons.found(columns[column]);
    return { role, column, reason: isNamed ? `its name is usual${more}` : reason };
  };
  const id = guess("id", ({ about }) => idScore(about, n), {
    found: ({ about }) => `unique per row ${Math.round((100 * about.distinct) / Math.max(n, 1))}%, looks like an id`,
    none: "no column repeats as an id would",
  });
  const ids = columns[id.column]?.cells;
  const time = guess("time", (column) => timeScore(column, ids), {
    found: () => "grows along the rows of an individual",
    none: "no column of numbers grows along rows",
  });
  const value = guess("value", (column) => valueScore(column, ids), {
    found: () => "numbers that change between visits",
    none: "no column of numbers is left",
  });
  return [id, time, value];
}

/** Columns that vary between visits as a marker does, the guessed ones apart. */
function furtherMarkers(columns: readonly Column[], guesses: readonly ColumnGuess[]): number[] {
  const taken = guesses.map(({ column }) => column);
  const ids = columns[guesses.find(({ role }) => role === "id")!.column]?.cells;
  return columns.flatMap((column, k) => (!taken.includes(k) && valueScore(column, ids) > VARIES ? [k] : []));
}

/** High for columns whose cells come more than once but are still many. */
function idScore({ name, numeric, empty, distinct }: ColumnPreview, n: number): number {
  if (empty > 0.2) return -1;
  const words = (numeric < MOSTLY ? 1 : 0) + wordScore(name, "id");
  if (distinct < 2 || distinct >= n) return words + (distinct >= n && n > 0 ? 0.1 : -1);
  return words + (n / distinct >= 1.3 && distinct >= Math.min(5, n / 2) ? 1 : 0.2);
}

function timeScore(column: Column, ids: readonly string[] | undefined): number {
  if (column.about.numeric < MOSTLY && column.dates < MOSTLY) return -1;
  const score = growth(column, ids) + wordScore(column.about.name, "time");
  return score > 0.5 ? score : -1;
}

function valueScore(column: Column, ids: readonly string[] | undefined): number {
  const { name, numeric, distinct, empty } = column.about;
  if (name === "" || numeric < MOSTLY || distinct < 2) return -1;
  if (growth(column, ids) >= ALWAYS) return 0;
  const { cells } = column;
  const measured = distinct >= Math.min(MANY, Math.max(cells.length / 4, 2)) ? 1 : 0;
  const varies = cells.some((cell, r) => r > 0 && isSame(ids, r) && cell !== cells[r - 1]);
  return 1 + measured + (varies ? 1 : 0) - empty;
}

/** Share of neighbouring rows of one individual along which a column grows. */
function growth({ numbers }: Column, ids: readonly string[] | undefined): number {
  const steps = numbers.map((x, r) => (r > 0 && isSame(ids, r) ? x - numbers[r - 1] : Number.NaN));
  const pairs = steps.filter((step) => !Number.isNaN(step));
  return pairs.filter((step) => step > 0).length / Math.max(pairs.length, 1);
}

/** Whether row r is of the same individual as the row before. */
function isSame(ids: readonly string[] | undefined, r: number): boolean {
  return ids === undefined || ids[r] === ids[r - 1];
}

/** Columns of times of day, which are no times of visits. */
function clocksOf(columns: readonly Column[]): number[] {
  return columns.flatMap(({ cells }, k) => (isClock(cells.find((cell) => !isMissing(cell)) ?? "") ? [k] : []));
}

/** Position of the column with a usual name of a role, −1 if none or two have it. */
function byName(names: readonly string[], role: Role, taken: readonly number[]): number {
  const found = usualColumns(names, role, taken);
  return found.length === 1 ? found[0] : -1;
}

const wordScore = (name: string, role: "id" | "time") => (hasWordOf(name, role) ? 0.5 : 0);

/** Position of the largest score, −1 if all are negative; of equals the first: tables put what matters to the left. */
function best(scores: readonly number[]): number {
  const top = scores.reduce((a, b) => Math.max(a, b), -1);
  return top >= 0 ? scores.indexOf(top) : -1;
}
