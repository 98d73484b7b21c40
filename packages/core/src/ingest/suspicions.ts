/**
 * What is allowed but deserves a look: repeated rows, codes that stand for "missing", values far from all others,
 * times that are day numbers of a spreadsheet. Nothing is changed or removed; each kind gives one warning with a count.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { type Complaint, showReceived, type Where } from "../errors.ts";
import type { Columns } from "./columns.ts";
import type { Rows } from "./rows.ts";

/** Numbers that people write for "missing", by size. */
const MISSING_CODES = [9, 99, 999, 9999, 99999].flatMap((code) => [-code, code]);

/** A value this many interquartile ranges beyond the quartiles is told; skewed laboratory values stay well inside. */
const FAR = 50;

export interface SuspicionContext {
  readonly columns: Columns;
  readonly columnNumbers: { readonly id: number; readonly time: number; readonly value: number };
  readonly file?: string;
  /** Range the marker can take, if stated. */
  readonly range?: readonly [number, number];
}

export function findSuspicions(rows: Rows, cohort: Cohort, context: SuspicionContext): Complaint[] {
  const at = (role: keyof Columns, line: number): Where => ({
    ...(context.file === undefined ? {} : { file: context.file }),
    line,
    column: context.columns[role],
    columnNumber: context.columnNumbers[role] + 1,
  });
  const warning = (
    code: string,
    role: keyof Columns,
    row: number,
    count: number,
    [expected, received, remedy]: readonly [string, string, string],
  ): Complaint => ({ code, severity: "warn", expected, received, remedy, where: at(role, rows.lines[row]), count });
  const warnings: Complaint[] = [];
  const repeats = findRepeats(rows, cohort);
  if (repeats.duplicates > 0) {
    warnings.push(
      warning("duplicate-rows", "id", repeats.firstDuplicate, repeats.duplicates, [
        "rows that differ",
        `${repeats.duplicates} exact repeats of another row`,
        "They are kept; remove them if they are copies.",
      ]),
    );
  }
  if (repeats.sameTime > 0) {
    warnings.push(
      warning("same-time", "time", repeats.firstSameTime, repeats.sameTime, [
        "one value for an individual at a time",
        `${repeats.sameTime} more values at a time already seen, in ${repeats.sameTimeIndividuals} individuals`,
        "All are kept as repeated measurements.",
      ]),
    );
  }
  const { times, values, length } = rows;
  const negative = countWhere(length, (j) => times[j] < 0);
  if (negative.count > 0) {
    warnings.push(
      warning("negative-time", "time", negative.first, negative.count, [
        "times from 0 on",
        `${negative.count} below 0, the first ${times[negative.first]}`,
        "Check the origin of time.",
      ]),
    );
  }
  if (length > 0 && countWhere(length, (j) => times[j] < 20_000 || times[j] > 80_000).count === 0) {
    warnings.push(
      warning("spreadsheet-dates", "time", 0, length, [
        "times such as years of follow-up",
        `numbers near ${times[0]}`,
        "They look like day numbers of a spreadsheet; subtract the origin.",
      ]),
    );
  }
  for (const code of suspectedCodes(values)) {
    const found = countWhere(length, (j) => values[j] === code);
    warnings.push(
      warning("suspected-missing-code", "value", found.first, found.count, [
        "measured values",
        `${code} in ${found.count} rows, apart from all other values`,
        "If it means missing, empty these cells.",
      ]),
    );
  }
  const [low, high] = farLimits(values);
  const codes = new Set(MISSING_CODES);
  const far = countWhere(length, (j) => (values[j] < low || values[j] > high) && !codes.has(values[j]));
  if (far.count > 0) {
    warnings.push(
      warning("outlier", "value", far.first, far.count, [
        `values near the others (${low.toPrecision(3)} to ${high.toPrecision(3)})`,
        showReceived(String(values[far.first])),
        "Check it for a slip of the pen or another unit; nothing was removed.",
      ]),
    );
  }
  const range = context.range;
  if (range !== undefined) {
    const outside = countWhere(length, (j) => values[j] < range[0] || values[j] > range[1]);
    if (outside.count > 0) {
      warnings.push(
        warning("out-of-range", "value", outside.first, outside.count, [
          `values from ${range[0]} to ${range[1]}`,
          String(values[outside.first]),
          "Check unit and column.",
        ]),
      );
    }
  }
  return warnings;
}

function countWhere(length: number, holds: (row: number) => boolean): { count: number; first: number } {
  let count = 0;
  let first = -1;
  for (let j = 0; j < length; j++) {
    if (!holds(j)) continue;
    if (first < 0) first = j;
    count++;
  }
  return { count, first };
}

/** Neighbours in the cohort's order (id, time, value) tell repeats; the row is then looked up for its line. */
function findRepeats(rows: Rows, cohort: Cohort) {
  let duplicates = 0;
  let sameTime = 0;
  let sameTimeIndividuals = 0;
  let firstDuplicate = rows.length;
  let firstSameTime = rows.length;
  const repeated = { duplicate: new Set<string>(), sameTime: new Set<string>() };
  for (let i = 0; i < cohort.ids.length; i++) {
    const before = sameTime;
    for (let j = cohort.offsets[i] + 1; j < cohort.offsets[i + 1]; j++) {
      if (cohort.times[j] !== cohort.times[j - 1]) continue;
      const same = cohort.values[j] === cohort.values[j - 1];
      if (same) duplicates++;
      else sameTime++;
      (same ? repeated.duplicate : repeated.sameTime).add(cohort.ids[i]);
    }
    if (sameTime > before) sameTimeIndividuals++;
  }
  // Second visit to a (time) or (time, value) of the individuals concerned, in the order of the file.
  const seen = new Set<string>();
  const seenTimes = new Map<string, number>();
  for (let j = 0; j < rows.length; j++) {
    const id = rows.ids[j];
    const inDuplicate = repeated.duplicate.has(id);
    if (!inDuplicate && !repeated.sameTime.has(id)) continue;
    const key = `${id}\u0000${rows.times[j]}`;
    const row = `${key}\u0000${rows.values[j]}`;
    if (seen.has(row)) firstDuplicate = Math.min(firstDuplicate, j);
    else if (seenTimes.has(key)) firstSameTime = Math.min(firstSameTime, j);
    seen.add(row);
    seenTimes.set(key, j);
  }
  return { duplicates, sameTime, sameTimeIndividuals, firstDuplicate, firstSameTime };
}

/** Codes that occur at least twice while every other value lies on one side of them, far away. */
function suspectedCodes(values: Float64Array): number[] {
  return MISSING_CODES.filter((code) => {
    let count = 0;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const value of values) {
      if (value === code) count++;
      else if (value < low || value > high) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    if (count < 2 || low > high) return false;
    const span = Math.max(high - low, Math.abs(high), Math.abs(low)) / 2;
    return code < low - span || code > high + span;
  });
}

/** Limits beyond which a value is far from all others, from the quartiles. */
function farLimits(values: Float64Array): readonly [number, number] {
  const sorted = values.slice().sort();
  const [q1, q3] = [sorted[Math.floor(sorted.length / 4)], sorted[Math.floor((3 * sorted.length) / 4)]];
  const reach = FAR * (q3 - q1);
  return reach > 0 ? [q1 - reach, q3 + reach] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
}
