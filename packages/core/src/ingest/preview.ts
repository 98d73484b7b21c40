/**
 * A first look at a table before it is read: columns with their first cells, and which of them hold individual, time and
 * marker, each guess with its reason. Usual names decide first (as in `readCohort`); where names say nothing, contents do:
 * an id repeats over rows and need not be a number, time grows along an individual's rows, the marker is the number left.
 */

import { findColumns, type Role } from "./columns.ts";
import { type Delimiter, forEachRecord, guessDelimiter } from "./csv.ts";
import { isMissing, readNumber } from "./numbers.ts";

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
  readonly delimiter: Delimiter;
  readonly columns: readonly ColumnPreview[];
  /** The first rows, as text. */
  readonly rows: readonly (readonly string[])[];
  /** Rows looked at. */
  readonly numRowsSeen: number;
  readonly guesses: readonly ColumnGuess[];
}

export interface PreviewOptions {
  readonly delimiter?: Delimiter;
  /** Rows shown. Default 20. */
  readonly numRows?: number;
  /** Rows looked at for guesses. Default 2,000. */
  readonly numRowsSeen?: number;
}

/** Looks at the head of a table. Never refuses: what is wrong is said when the table is read. */
export function previewTable(text: string, options: PreviewOptions = {}): TablePreview {
  const { delimiter = guessDelimiter(text), numRows = 20, numRowsSeen = 2000 } = options;
  let header: readonly string[] | undefined;
  const rows: (readonly string[])[] = [];
  forEachRecord(text, delimiter, (fields) => {
    if (header === undefined) header = fields.map((name) => name.trim());
    else rows.push(fields.slice());
    return rows.length < numRowsSeen;
  });
  const names = header ?? [];
  const columns = names.map((name, k) => describeColumn(name, rows, k));
  return {
    delimiter,
    columns,
    rows: rows.slice(0, numRows),
    numRowsSeen: rows.length,
    guesses: guessColumns(names, columns, rows),
  };
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
  return { name, numeric: filled === 0 ? 0 : numbers / filled, empty: 1 - filled / n, distinct: seen.size };
}

function isNumber(cell: string): boolean {
  return !Number.isNaN(readNumber(cell, ".")) || !Number.isNaN(readNumber(cell, ","));
}

/** A share that still counts as "numbers", with some text among them. */
const MOSTLY = 0.8;

function guessColumns(
  names: readonly string[],
  columns: readonly ColumnPreview[],
  rows: readonly (readonly string[])[],
): ColumnGuess[] {
  const taken = new Set<number>();
  const guesses: ColumnGuess[] = [];
  const take = (role: Role, column: number, reason: string) => {
    if (column >= 0) taken.add(column);
    guesses.push({ role, column, reason });
  };
  const byName = (role: Role) => {
    // Found one role at a time, so that one odd name does not hide the others.
    const found = findColumns(names, { id: names[0], time: names[0], value: names[0], [role]: undefined }, 1);
    return "positions" in found && !taken.has(found.positions[role]) ? found.positions[role] : -1;
  };
  const n = rows.length;
  const share = (k: number) => `${Math.round((100 * columns[k].distinct) / Math.max(n, 1))}%`;

  let id = names.filter((name) => name !== "").length > 1 ? byName("id") : -1;
  if (id >= 0) take("id", id, `its name is usual; ${columns[id].distinct} different ones in ${n} rows`);
  else {
    id = best(columns, (c, k) =>
      taken.has(k) || c.empty > 0.2 ? -1 : repeats(c, n) + (c.numeric < MOSTLY ? 1 : 0) + wordScore(c.name, ID_WORDS),
    );
    take("id", id, id < 0 ? "no column repeats as an id would" : `unique per row ${share(id)}, looks like an id`);
  }
  let time = byName("time");
  if (time >= 0) take("time", time, "its name is usual");
  else {
    time = best(columns, (c, k) =>
      taken.has(k) || c.numeric < MOSTLY ? -1 : growth(rows, id, k) + wordScore(c.name, TIME_WORDS),
    );
    take("time", time, time < 0 ? "no column of numbers grows along rows" : `grows along the rows of an individual`);
  }
  const value = byName("value");
  if (value >= 0) take("value", value, "its name is usual");
  else {
    const rest = best(columns, (c, k) =>
      taken.has(k) || c.name === "" || c.numeric < MOSTLY
        ? -1
        : c.distinct / Math.max(n, 1) - c.empty + (varies(rows, id, k) ? 1 : 0),
    );
    take("value", rest, rest < 0 ? "no column of numbers is left" : "numbers that change between visits");
  }
  return guesses;
}

const ID_WORDS = /\b(id|nr|no|code|patient|subject|person|record|mrn|pseudonym|name)\b/;
const TIME_WORDS = /\b(time|year|years|yrs|month|months|day|days|week|weeks|age|visit|since|t|date)\b/;

function wordScore(name: string, words: RegExp): number {
  return words.test(name.toLowerCase().replace(/[^a-z]+/g, " ")) ? 0.5 : 0;
}

/** High for columns whose cells come more than once but are still many. */
function repeats(column: ColumnPreview, n: number): number {
  if (column.distinct < 2 || column.distinct >= n) return column.distinct >= n ? 0.1 : -1;
  const perCell = n / column.distinct;
  return perCell >= 1.3 && column.distinct >= Math.min(5, n / 2) ? 1 : 0.2;
}

/** Share of neighbouring rows of one individual along which a column grows. */
function growth(rows: readonly (readonly string[])[], id: number, k: number): number {
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
function varies(rows: readonly (readonly string[])[], id: number, k: number): boolean {
  return rows.some((row, r) => r > 0 && (id < 0 || row[id] === rows[r - 1][id]) && row[k] !== rows[r - 1][k]);
}

function numberOf(cell: string | undefined): number {
  const text = (cell ?? "").trim();
  const plain = readNumber(text, ".");
  return Number.isNaN(plain) ? readNumber(text, ",") : plain;
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
