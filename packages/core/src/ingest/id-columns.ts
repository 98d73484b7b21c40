/**
 * Columns of a table of individuals that name them instead of describing them: no time, no colour, no outcome, no characteristic.
 *   the ids of the table, row by row;
 *   values that are never shared and stand under a usual name of an id, or one that ends in id, mrn or number;
 *   whole numbers that are never shared and lie close together: running numbers. Times in whole months can do that by chance in a
 *   small table, so that fewer than 20 have to rise from row to row as well.
 */
import { usualColumns } from "./column-names.ts";
import { isMissing, readNumber } from "./numbers.ts";
import type { SubjectsTable } from "./subjects-table.ts";

/** Fewer values than these number nothing. */
const FEWEST = 6;
/** From so many on, whole numbers within twice their count that never repeat are no accident. */
const MANY = 20;
const ID_NAME = /(^|[^a-z])(id|mrn|nr|no|number)$|[a-z]I[dD]$/;

/** Whether column `k` names the individuals of the table. */
export function namesIndividuals(table: SubjectsTable, k: number): boolean {
  const { ids, columns } = table;
  const { name, cells } = columns[k];
  const cell = (row: number) => (cells[row] ?? "").trim();
  if (ids.every((id, row) => cell(row) === id)) return true;
  // One row of each individual: further ones may repeat what is its own.
  const seen = new Set<string>();
  const filled = [...ids.keys()]
    .filter((row) => !seen.has(ids[row]) && seen.add(ids[row]))
    .map(cell)
    .filter((text) => !isMissing(text));
  if (filled.length < FEWEST || new Set(filled).size < filled.length) return false;
  const trimmed = name.trim();
  if (usualColumns([trimmed], "id").length > 0 || ID_NAME.test(trimmed) || ID_NAME.test(trimmed.toLowerCase())) {
    // A number with decimals is measured, whatever its name.
    return filled.every((text) => !/^\d+[.,]\d+$/.test(text));
  }
  const numbers = filled.map((text) => readNumber(text, table.decimal ?? "."));
  if (!numbers.every(Number.isInteger)) return false;
  const [low, high] = numbers.reduce(([l, h], x) => [Math.min(l, x), Math.max(h, x)], [Infinity, -Infinity]);
  const rises = numbers.every((x, row) => row === 0 || x > numbers[row - 1]);
  return high - low < 2 * numbers.length && (rises || numbers.length >= MANY);
}

/** Names of the columns that can be times of follow-up: numbers from 0 on that do not name individuals. */
export function timeColumns(table: SubjectsTable): string[] {
  return table.columns.flatMap(({ name, cells }, k) => {
    const filled = cells.filter((cell) => !isMissing(cell.trim()));
    const areTimes = filled.every((cell) => readNumber(cell.trim(), table.decimal ?? ".") >= 0);
    return filled.length > 0 && areTimes && !namesIndividuals(table, k) ? [name] : [];
  });
}
