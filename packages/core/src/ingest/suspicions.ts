/**
 * What is allowed but deserves a look: several values at one time, codes that stand for "missing", values and times far from
 * others, two units in one column, times that are day numbers of a spreadsheet. Nothing is changed or removed; each kind gives one warning with a count.
 */
import type { MarkerSeries } from "../cohort/cohort.ts";
import { valueLimits } from "../cohort/marker.ts";
import { type ErrorCode, showReceived } from "../errors.ts";
import type { Role } from "./column-names.ts";
import { type Finding, howMany, type Words } from "./complaints.ts";
import { findOutliers } from "./outliers.ts";
import { furtherValues } from "./repeats.ts";
import { sampleOf } from "./sample.ts";
import { findTwoUnits, unitsRemedy } from "./two-units.ts";
import { compactDay } from "./written-dates.ts";

/**
 * Numbers that people and programs write for "missing": nines, eights and sevens, with the last digit for other reasons (98, 997), and the ends of
 * whole numbers of 2 and 4 bytes, Stata's among them.
 */
const MISSING_CODES: readonly number[] = [
  ...[9, 99, 999, 9999, 99999, 999999, 88, 888, 8888, 77, 777, 7777, 97, 98, 997, 998, 9997, 9998],
  ...[32741, 32767, 32768, 2147483621, 2147483647, 2147483648],
].flatMap((code) => [-code, code]);

/** A value or time this many interquartile ranges beyond the quartiles is told whoever has it; skewed laboratory values stay inside. */
const FAR = 50;

/** Takes a warning: in which column, the first row, how many rows, and what was found. */
export type Warn = (role: Role, firstRow: number, count: number, ...finding: Finding) => void;

/**
 * One warning per kind. `order` [N] says which row stands at each place of the cohort; `linesOf` names the lines of some rows in
 * words.
 */
export function findSuspicions(
  series: MarkerSeries,
  order: Int32Array,
  linesOf: (rows: readonly number[]) => string,
  warn: Warn,
): void {
  const { times, values } = series;
  /** How many observations, and the first row of the file with its place, for which something holds. */
  const countWhere = (holds: (k: number) => boolean): { count: number; row: number; at: number } => {
    let count = 0;
    let at = -1;
    for (let k = 0; k < times.length; k++) {
      if (!holds(k)) continue;
      if (at < 0 || order[k] < order[at]) at = k;
      count++;
    }
    return { count, row: order[at], at };
  };
  const tell = (code: ErrorCode, role: Role, found: { readonly count: number; readonly row: number }, words: Words) => {
    if (found.count > 0) warn(role, found.row, found.count, code, words);
  };

  const further = furtherValues(series, order);
  tell("same-time", "time", further, [
    "one value for an individual at a time",
    `${further.count} more ${further.count === 1 ? "value" : "values"} at a time already seen, in ${howMany(further.individuals, "individual")}`,
    "All are kept as repeated measurements.",
  ]);
  const negative = countWhere((k) => times[k] < 0);
  tell("negative-time", "time", negative, [
    "times from 0 on",
    `${negative.count} below 0, the first ${times[negative.at]}`,
    "Check the origin of time.",
  ]);
  const days = times.every((time) => time >= 20_000 && time <= 80_000);
  tell("spreadsheet-dates", "time", { count: days ? times.length : 0, row: 0 }, [
    "times such as years of follow-up",
    `numbers near ${times[0]}`,
    "They look like day numbers of a spreadsheet: format the cells as dates there, or subtract the origin.",
  ]);
  const dates = times.every((time) => !Number.isNaN(compactDay(time)));
  tell("spreadsheet-dates", "time", { count: dates ? times.length : 0, row: 0 }, [
    "times such as years of follow-up",
    `numbers such as ${times[0]}`,
    'They look like dates; if they are, say so: --date-order ymd (dateOrder: "ymd").',
  ]);
  const moments = times.every(isMoment);
  tell("spreadsheet-dates", "time", { count: moments ? times.length : 0, row: 0 }, [
    "times such as years of follow-up",
    `numbers such as ${times[0]}`,
    "They look like moments: seconds or milliseconds since 1970, or dates with a time of day such as 202001311030. Write them as dates, such as 2020-01-31.",
  ]);
  const sample = sampleOf(series);
  const [early, late] = farLimits(sample.times.slice().sort());
  const farTime = countWhere((k) => times[k] < early || times[k] > late);
  tell("far-time", "time", farTime, [
    `times near the others (${early.toPrecision(3)} to ${late.toPrecision(3)})`,
    `${farTime.count} far away, the first ${showReceived(String(times[farTime.at]))}`,
    "Check it for a slip of the pen: courses are drawn over the whole range of times. Nothing was removed.",
  ]);
  const sorted = sample.values.slice().sort();
  const suspected = suspectedCodes(values);
  for (const code of suspected) {
    const found = countWhere((k) => values[k] === code);
    tell("suspected-missing-code", "value", found, [
      "measured values",
      `${code} in ${howMany(found.count, "row")}, apart from all other values`,
      "If it means missing, empty these cells.",
    ]);
  }
  const [low, high] = farLimits(sorted);
  const units = findTwoUnits(sorted, series, suspected);
  const isFar = farFrom(series, { sample, sorted, suspected, units });
  const far = countWhere(isFar);
  const farRows = far.count === 0 ? [] : Array.from(order.filter((_, k) => isFar(k)));
  const beyond = values.some((v) => v < low || v > high);
  const others = beyond
    ? `, and near all others (${Number(low.toPrecision(3))} to ${Number(high.toPrecision(3))})`
    : "";
  tell("outlier", "value", far, [
    `values near those of the same individual before and after${others}`,
    `${far.count} far away, the first ${showReceived(String(values[far.at]))} (${linesOf(farRows)})`,
    "Check for a slip of the pen or another unit; nothing was removed.",
  ]);
  if (units !== undefined) {
    const { numSmall, numLarge, ratio, numBoth, split } = units;
    const odd = countWhere((k) => values[k] > 0 && values[k] > split !== numSmall < numLarge);
    tell("two-units", "value", { count: Math.min(numSmall, numLarge), row: odd.row }, [
      "values in one unit",
      `${numSmall} small and ${numLarge} large values with nothing between, their medians ` +
        `${Number(ratio.toPrecision(3))} times apart, both in ${numBoth} individuals`,
      `${unitsRemedy(units, series.marker)} Nothing was changed.`,
    ]);
  }
  const [least, most] = valueLimits(series.marker);
  const outside = countWhere((k) => values[k] < least || values[k] > most);
  tell("out-of-range", "value", outside, [
    `values from ${least} to ${most}`,
    String(values[outside.at]),
    "Check unit and column.",
  ]);
}

/** What of a table says which of its values are far from the others. */
interface Usual {
  readonly sample: MarkerSeries;
  readonly sorted: Float64Array;
  readonly suspected: readonly number[];
  readonly units: ReturnType<typeof findTwoUnits>;
}

/** Whether the value at a place of the cohort is told as far from the others. */
function farFrom(series: MarkerSeries, { sample, sorted, suspected, units }: Usual): (k: number) => boolean {
  const { values, censored } = series;
  const [low, high] = farLimits(sorted);
  const codes = new Set(suspected);
  const slips = new Set(units === undefined ? findOutliers(series, sample) : []);
  return (k) =>
    (slips.has(k) || values[k] < low || values[k] > high) && !codes.has(values[k]) && (censored?.[k] ?? 0) === 0;
}

/** Whether the value at a place of a cohort is one that its table is told to have far from the others. */
export function isFarValue(series: MarkerSeries): (k: number) => boolean {
  const sample = sampleOf(series);
  const sorted = sample.values.slice().sort();
  const suspected = suspectedCodes(series.values);
  return farFrom(series, { sample, sorted, suspected, units: findTwoUnits(sorted, series, suspected) });
}

/** Whether a number can be a moment from 1980 to 2100 in seconds, milli-, micro- or nanoseconds since 1970, or a date with hours and minutes. */
function isMoment(time: number): boolean {
  const inSeconds = [1, 1e3, 1e6, 1e9].some((per) => time >= 3.15e8 * per && time < 4.11e9 * per);
  return inSeconds || [1e4, 1e6].some((clock) => !Number.isNaN(compactDay(Math.floor(time / clock))));
}

/** Codes that occur at least twice while every value that is no code lies on one side of them, far away. */
function suspectedCodes(values: Float64Array): number[] {
  const counts = new Map(MISSING_CODES.map((code) => [code, 0]));
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    const count = counts.get(value);
    if (count !== undefined) counts.set(value, count + 1);
    else {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  const span = Math.max(high - low, Math.abs(high), Math.abs(low)) / 2;
  return MISSING_CODES.filter((code) => counts.get(code)! > 1 && (code < low - span || code > high + span));
}

/** Limits beyond which a number is far from all others, from the quartiles. */
function farLimits(sorted: Float64Array): readonly [number, number] {
  const [q1, q3] = [sorted[Math.floor(sorted.length / 4)], sorted[Math.floor((3 * sorted.length) / 4)]];
  const reach = FAR * (q3 - q1);
  return reach > 0 ? [q1 - reach, q3 + reach] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
}
