/**
 * A first look at a table before it is read: columns with their first cells, and which of them hold individual, time and
 * marker, each guess with its reason. Usual names decide first (as in `readCohort`); where names say nothing, contents do:
 * an id repeats over rows and need not be a number, time grows along an individual's rows, the marker is a number that
 * is left, changes between visits and does not merely count along with time.
 */

import { findColumns, type Role } from "./columns.ts";
import { EMPTY_FILE, refusal } from "./complaints.ts";
import { type ByteSource, readTableFile, readTableText } from "./formats.ts";
import { dateKind, isMissing, readNumber } from "./numbers.ts";
import type { TableOptions, TableReader } from "./table.ts";

export interface ColumnPreview {
  readonly name: string;
  /** Share of filled cells that are numbers, and of all cells that are empty, over the rows looked at. */
  readonly numeric: number;
  readonly empty: number;
  /** Distinct filled cells among the rows looked at. */
  readonly distinct: number;
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
}

export interface PreviewOptions extends TableOptions {
  /** Rows shown. Default 20. */
  readonly numRows?: number;
  /** Rows looked at for guesses. Default 2,000, of wide tables fewer, a hundred at least. */
  readonly numRowsSeen?: number;
}

/** Cells that guesses rest on: what takes a tenth of a second to look through. */
const CELLS_SEEN = 200_000;

/**
 * Looks at the head of a table. Refuses what can be no table with a header, whatever the columns; all else that is wrong is
 * said when the table is read.
 */
export function previewTable(text: string, options: PreviewOptions = {}): TablePreview {
  return readTableText(text, previewReader(options), options);
}

/** Looks at the head of a file of any known format, plain or gzip; no more of it is read. */
export function previewFile(bytes: ByteSource, options: PreviewOptions = {}): Promise<TablePreview> {
  return readTableFile(bytes, previewReader(options), options);
}

function previewReader({ numRows = 20, numRowsSeen, file }: PreviewOptions): TableReader<TablePreview> {
  let names: readonly string[] | undefined;
  let most = 0;
  const rows: (readonly string[])[] = [];
  return {
    start: () => {},
    row: (fields) => {
      if (names === undefined) {
        names = fields.map((name) => name.trim());
        most = numRowsSeen ?? Math.min(2000, Math.max(100, Math.floor(CELLS_SEEN / names.length)));
      } else rows.push(fields);
      return rows.length < most;
    },
    finish: ({ fault }) => {
      if (names === undefined) {
        const { finding, where } = fault ?? { finding: EMPTY_FILE, where: { line: 1 } };
        const named = file === undefined ? where : { file, ...where };
        throw refusal([{ ...finding, severity: "refuse", where: named }]);
      }
      const columns = names.map((name, k) => describeColumn(name, rows, k));
      const guesses = guessColumns(names, columns, rows);
      checkHeader(names, guesses, file);
      return { columns, rows: rows.slice(0, numRows), numRowsSeen: rows.length, guesses };
    },
  };
}

/** A number may be the name of some column; as that of the marker it is the first visit, and would be lost. */
function checkHeader(names: readonly string[], guesses: readonly ColumnGuess[], file: string | undefined): void {
  const marker = names[guesses.find(({ role }) => role === "value")!.column] ?? "";
  if (marker === "" || !Number.isFinite(Number(marker))) return;
  const found = findColumns(names, {}, 1, file);
  if (!("names" in found) && found[0].code === "no-header") throw refusal(found);
}

function describeColumn(name: string, rows: readonly (readonly string[])[], k: number): ColumnPreview {
  let filled = 0;
  let numbers = 0;
  const seen = new Set<string>();
  for (const row of rows) {
    const cell = (row[k] ?? "").trim();
    if (isMissing(cell)) continue;
    filled++;
    seen.add(cell);
    if (isNumber(cell)) numbers++;
  }
  const n = Math.max(rows.length, 1);
  return { name, numeric: filled === 0 ? 0 : numbers / filled, empty: (n - filled) / n, distinct: seen.size };
}

function isNumber(cell: string): boolean {
  return !Number.isNaN(readNumber(cell, ".")) || !Number.isNaN(readNumber(cell, ","));
}

/** A share that still counts as "numbers", with some text among them. */
const MOSTLY = 0.8;
/** A column that grows along this share of neighbouring rows counts time, whatever its name. */
const ALWAYS = 0.98;
/** Cells that differ, from which on a column is a measurement rather than a code. */
const MANY = 8;

type Cells = readonly (readonly string[])[];

function guessColumns(names: readonly string[], columns: readonly ColumnPreview[], rows: Cells): ColumnGuess[] {
  const n = rows.length;
  const id = guessId(names, columns, n);
  const time = guessTime(names, columns, rows, id.column);
  return [id, time, guessValue(names, columns, rows, id.column, time.column)];
}

function guessId(names: readonly string[], columns: readonly ColumnPreview[], n: number): ColumnGuess {
  const named = byName(names, "id");
  if (named >= 0) {
    return {
      role: "id",
      column: named,
      reason: `its name is usual; ${columns[named].distinct} different ones in ${n} rows`,
    };
  }
  const column = best(columns, (c) =>
    c.empty > 0.2 ? -1 : repeats(c, n) + (c.numeric < MOSTLY ? 1 : 0) + wordScore(c.name, ID_WORDS),
  );
  if (column < 0) return { role: "id", column, reason: "no column repeats as an id would" };
  const share = Math.round((100 * columns[column].distinct) / Math.max(n, 1));
  return { role: "id", column, reason: `unique per row ${share}%, looks like an id` };
}

function guessTime(names: readonly string[], columns: readonly ColumnPreview[], rows: Cells, id: number): ColumnGuess {
  const named = byName(names, "time");
  if (named >= 0 && named !== id) return { role: "time", column: named, reason: "its name is usual" };
  const column = best(columns, (c, k) => {
    if (k === id || (c.numeric < MOSTLY && !holdsDates(rows, k))) return -1;
    const score = growth(rows, id, k) + wordScore(c.name, TIME_WORDS);
    return score > 0.5 ? score : -1;
  });
  const reason = column < 0 ? "no column of numbers grows along rows" : "grows along the rows of an individual";
  return { role: "time", column, reason };
}

function guessValue(
  names: readonly string[],
  columns: readonly ColumnPreview[],
  rows: Cells,
  id: number,
  time: number,
): ColumnGuess {
  const named = byName(names, "value");
  if (named >= 0 && named !== id && named !== time) {
    return { role: "value", column: named, reason: "its name is usual" };
  }
  // Of columns equally good the first is taken: tables put what matters to the left.
  const column = best(columns, (c, k) => {
    if (k === id || k === time || c.name === "" || c.numeric < MOSTLY || c.distinct < 2) return -1;
    if (growth(rows, id, k) >= ALWAYS) return 0;
    const measured = c.distinct >= Math.min(MANY, Math.max(rows.length / 4, 2)) ? 1 : 0;
    return 1 + measured + (varies(rows, id, k) ? 1 : 0) - c.empty;
  });
  const reason = column < 0 ? "no column of numbers is left" : "numbers that change between visits";
  return { role: "value", column, reason };
}

/** Position of the column with a usual name of a role, −1 if none or two have it. */
function byName(names: readonly string[], role: Role): number {
  // One role at a time, with the others given, so that an odd name does not hide the rest.
  const given = { id: "\u00011", time: "\u00012", value: "\u00013" };
  const found = findColumns([...names, ...Object.values(given)], { ...given, [role]: undefined }, 1);
  return "positions" in found && found.positions[role] < names.length ? found.positions[role] : -1;
}

const ID_WORDS = /\b(id|nr|no|code|patient|subject|person|record|mrn|pseudonym|name)\b/;
const TIME_WORDS = /\b(time|year|years|yrs|month|months|day|days|week|weeks|age|visit|since|t|date)\b/;

function wordScore(name: string, words: RegExp): number {
  return words.test(name.toLowerCase().replace(/[^a-z]+/g, " ")) ? 0.5 : 0;
}

/** High for columns whose cells come more than once but are still many. */
function repeats(column: ColumnPreview, n: number): number {
  if (column.distinct < 2 || column.distinct >= n) return column.distinct >= n && n > 0 ? 0.1 : -1;
  const perCell = n / column.distinct;
  return perCell >= 1.3 && column.distinct >= Math.min(5, n / 2) ? 1 : 0.2;
}

/** Share of neighbouring rows of one individual along which a column grows. */
function growth(rows: Cells, id: number, k: number): number {
  let pairs = 0;
  let grown = 0;
  for (let r = 1; r < rows.length; r++) {
    if (id >= 0 && rows[r][id] !== rows[r - 1][id]) continue;
    const step = numberOf(rows[r][k]) - numberOf(rows[r - 1][k]);
    if (Number.isNaN(step)) continue;
    pairs++;
    if (step > 0) grown++;
  }
  return pairs === 0 ? 0 : grown / pairs;
}

/** Whether a column differs between rows of one individual. */
function varies(rows: Cells, id: number, k: number): boolean {
  return rows.some((row, r) => r > 0 && (id < 0 || row[id] === rows[r - 1][id]) && row[k] !== rows[r - 1][k]);
}

function holdsDates(rows: Cells, k: number): boolean {
  const filled = rows.map((row) => (row[k] ?? "").trim()).filter((cell) => !isMissing(cell));
  return filled.length > 0 && filled.filter((cell) => dateKind(cell) !== undefined).length >= MOSTLY * filled.length;
}

/** The cell as a number; of a date the days since 1970, for telling which rows are later. */
function numberOf(cell: string | undefined): number {
  const text = (cell ?? "").trim();
  const plain = readNumber(text, ".");
  if (!Number.isNaN(plain)) return plain;
  const comma = readNumber(text, ",");
  return Number.isNaN(comma) && dateKind(text) === "iso" ? Date.parse(text) / 86_400_000 : comma;
}

/** Position of the largest score, −1 if none is positive or zero. */
function best(columns: readonly ColumnPreview[], score: (column: ColumnPreview, k: number) => number): number {
  let at = -1;
  let top = 0;
  columns.forEach((column, k) => {
    const s = score(column, k);
    if (s >= 0 && (at < 0 || s > top)) {
      at = k;
      top = s;
    }
  });
  return at;
}
