/**
 * The one normal form of cells: every reader of files and databases that has typed values hands them over as text written
 * so, and all checks of cells are then the same everywhere.
 *   numbers     the shortest decimal text that reads back as the same number; of 32-bit numbers as the same 32-bit number
 *   BigInt      its digits
 *   decimals    their digits without zeros at the end
 *   dates       2020-01-31; with a time of day other than midnight 2020-01-31T10:15:00; as written, without time zone
 *   truth       true or false
 *   nothing     an empty cell: null, undefined, NaN
 */
import { showReceived } from "../errors.ts";
import { withoutZeros } from "../numeric/decimals.ts";
import { refusalAt } from "./complaints.ts";

/** Writes the values of one column; undefined for what is no plain value. */
export type CellWriter = (value: unknown) => string | undefined;

/** A value as text; undefined for lists, objects and bytes, which are no cells. */
export function cellText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  if (value === null || value === undefined) return "";
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  return value instanceof Date ? dateText(value.getTime()) : undefined;
}

/** Milliseconds since 1970 as a day, with the time of day where it is not midnight. */
export function dateText(milliseconds: number): string {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return "";
  const [day, time] = date.toISOString().slice(0, -1).split("T");
  return time === "00:00:00.000" ? day : `${day}T${time.replace(/\.000$/, "")}`;
}

/** What is said of columns of moments in UTC: their days are not those of the place where they were written. */
export function utcNotes(columns: Iterable<string>): string[] {
  return [...columns].map(
    (name) =>
      `Moments of "${showReceived(name)}" are kept in UTC: the day is that of UTC, which near midnight is not the local one.`,
  );
}

/** What is said of columns of moments whose type names a time zone. */
export function zoneNotes(zones: ReadonlyMap<string, string>): string[] {
  return [...zones].map(
    ([name, zone]) =>
      `Days of "${showReceived(name)}" are those of ${showReceived(zone)}, the time zone of the column.`,
  );
}

/** Milliseconds of a day as 10:15:00. */
export function clockText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(11, 19);
}

/** Refuses spans of time, which a number alone does not tell. */
export function spanColumn(type: string, column: string, at: number, file?: string) {
  return refusalAt({ line: 1, column, columnNumber: at + 1 }, file, "unsupported-type", [
    "numbers, text, dates or times of day",
    `the type ${type} in "${showReceived(column)}"`,
    "Write spans of time as numbers in one unit, such as days.",
  ]);
}

/** A 32-bit number as the shortest text that reads back as it: 0.1, not 0.10000000149011612. */
export function singleText(value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return cellText(value);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

/** A number with a decimal point in its digits, without zeros at the end: 1.50 is 1.5, 2.00 is 2. */
export function decimalText(digits: string): string {
  return withoutZeros(digits);
}

/** The text of a cell, or a refusal with its place. `line` counts the header as 1. */
export function plainCell(text: string | undefined, column: string, at: number, line: number, file?: string): string {
  if (text !== undefined) return text;
  throw nestedCell(column, at, line, file);
}

export function nestedCell(column: string, at: number, line: number, file?: string) {
  return refusalAt({ line, column, columnNumber: at + 1 }, file, "nested-cell", [
    "one number, text or date in each cell",
    `a list, an object or bytes in "${showReceived(column)}"`,
    "Write one row for each observation, or leave the column out.",
  ]);
}

/** Refuses whole numbers that lost digits, so that two ids never become one. */
export function inexactNumber(value: number, column: string, at: number, line: number, file?: string) {
  return refusalAt({ line, column, columnNumber: at + 1 }, file, "inexact-number", [
    "whole numbers of at most 15 digits",
    String(value),
    "Write long numbers, such as ids, as text.",
  ]);
}

/** Whether a number is whole and so large that its neighbours cannot be told from it. */
export function isInexact(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER && Number.isInteger(value);
}
