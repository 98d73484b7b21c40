/**
 * Names of columns of wide tables as marker and time: fvc_6, month6, v1_fvc, fvc_2019Q1. A period of the calendar (a quarter, half-year or month with its
 * year) is taken at its first day. What says a time that is unknown (fvc_screening) is no time.
 */
import { DAYS_PER, dayNumber, isDate, type TimeUnit, timeUnitOf, UNIT_WORDS, writeDay } from "./calendar.ts";
import { monthNamed } from "./month-names.ts";

/** A name of a column as marker and time. */
export interface Split {
  readonly stem: string;
  readonly time: string;
  /** The word beside the number: month, v; "date" for a day of the calendar, "period" for the first of a period. */
  readonly word: string;
}

/** Stands for a minus, which belongs to the number behind another gap or in front: fvc_-6, but not fvc-6. */
const MINUS = "~";
const NUMBER = String.raw`(${MINUS}?\d{1,6}(?:[.,]\d+)?)`;
const UNITS = Object.values(UNIT_WORDS).join("|").replace("|a|", "|");
const WORDS = `${UNITS}|visits?|v|time|tp|t|q|quarters?|quartal|trimestre`;
const GAP = String.raw`[\s_.\-]`;
const WORD_BEFORE = new RegExp(`^(?:(.*?)${GAP}+)?(${WORDS})${GAP}*${NUMBER}$`, "i");
const WORD_BEHIND = new RegExp(`^(.*?)${GAP}*${NUMBER}${GAP}*(${UNITS})$`, "i");
const LAST = new RegExp(`^(.*?)${GAP}*${NUMBER}$`, "i");
const FIRST = new RegExp(`^(${WORDS})?${GAP}*${NUMBER}${GAP}+(.+)$`, "i");
const BASELINE = new RegExp(`^(?:(.*?)${GAP}+)?(?:baseline|bl|basale?|inclusion|ausgangswert)$`, "i");

/** Periods of the calendar: 2019-01-31, 2019Q1, Q1 2019, 2019-H2, 2019-06, 06/2019, Jun 2019. */
const PERIODS = [
  String.raw`\d{4}-\d{2}-\d{2}`,
  String.raw`\d{4}${GAP}?[QTHS][1-4]`,
  String.raw`[QTHS][1-4]${GAP}?\d{4}`,
  String.raw`[1-4][QTHS]${GAP}?\d{4}`,
  String.raw`\d{4}[-_/]\d{2}`,
  String.raw`\d{1,2}/\d{4}`,
  String.raw`\d{2}[-.](?:19|20)\d{2}`,
  String.raw`\p{L}{3,10}${GAP}?\d{4}`,
  String.raw`\d{4}${GAP}?\p{L}{3,10}`,
];
const PERIOD_LAST = PERIODS.map((period) => new RegExp(`^(?:|(.*?)${GAP}+|(.*?\\p{L})(?=\\d))(${period})$`, "iu"));
const PERIOD_FIRST = PERIODS.map((period) => new RegExp(`^(${period})${GAP}+(.+)$`, "iu"));

/** Days whose order of day and month no name says, as 03/05/2019; and what has the form of a month and is none, as 13/2019. */
const UNORDERED = /\d{1,2}([-/.])\d{1,2}\1\d{4}/;
const NO_MONTH = /\d{1,2}\/\d{4}$/;

/** The first day of a period as it is written in a name; undefined if it is none. */
function firstDay(text: string): string | undefined {
  const [day, month, year] = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? text.split("-").map(Number).reverse()
    : [1, monthOf(text), Number(/\d{4}/.exec(text)![0])];
  return isDate(year, month, day) ? writeDay(dayNumber(year, month, day)) : undefined;
}

/** The first month of a period with a year of four digits; 0 if it is none. */
function monthOf(text: string): number {
  const rest = text.replace(/\d{4}/, "").replace(/[\s_.\-/]/g, "");
  if (/^\d+$/.test(rest)) return Number(rest);
  const part = Number(/\d/.exec(rest)?.[0] ?? 0);
  if (part === 0) return monthNamed(rest);
  if (/[qt]/i.test(rest)) return 3 * part - 2;
  return part <= 2 ? 6 * part - 5 : 0;
}

function splitPeriod(name: string): Split | undefined {
  const found = (stem: string | undefined, text: string): Split | undefined => {
    const time = firstDay(text);
    return time === undefined ? undefined : { stem: stem ?? "", time, word: time === text ? "date" : "period" };
  };
  for (const [k, last] of PERIOD_LAST.entries()) {
    const behind = last.exec(name);
    const before = PERIOD_FIRST[k].exec(name);
    const split = (behind && found(behind[1] ?? behind[2], behind[3])) ?? (before && found(before[2], before[1]));
    if (split) return split;
  }
  return undefined;
}

/** Marker and time of a name; undefined if it says no time. */
export function splitName(written: string): Split | undefined {
  if (UNORDERED.test(written)) return undefined;
  const period = splitPeriod(written);
  if (period !== undefined) return period;
  if (NO_MONTH.test(written)) return undefined;
  const name = written.replace(/(^|[\s_.])-(?=\d)/, `$1${MINUS}`);
  const split = (stem = "", time = "", word = "") => ({
    stem,
    time: time.replace(",", ".").replace(MINUS, "-"),
    word: word.toLowerCase(),
  });
  const before = WORD_BEFORE.exec(name);
  // q1 alone is an item rather than a quarter.
  if (before !== null && (before[1] !== undefined || before[2].toLowerCase() !== "q"))
    return split(before[1], before[3], before[2]);
  const behind = WORD_BEHIND.exec(name);
  if (behind !== null) return split(behind[1], behind[2], behind[3]);
  const first = FIRST.exec(name);
  const last = LAST.exec(name);
  if (last !== null) return split(last[1], last[2]);
  if (first !== null) return split(first[3], first[2], first[1]);
  const baseline = BASELINE.exec(name);
  return baseline === null ? undefined : split(baseline[1], "0");
}

/** Names in which a minus behind a letter is one: fvc_m-6 beside fvc_m0, where the letter needs no gap. */
export function signed(names: readonly string[]): string[] {
  return names.map((name) => {
    const [, before, behind] = /^(.*[a-z])-(\d.*)$/i.exec(name) ?? [];
    const isMinus = before && names.some((other) => other.startsWith(before) && /^\d/.test(other.slice(before.length)));
    return isMinus ? `${before}${MINUS}${behind}` : name;
  });
}

/** A name as a pattern such as fvc_* has it; undefined if it is not of the pattern, or its * no number or date. There 1_5 is 1.5. */
export function matchPattern(name: string, pattern: string): Split | undefined {
  const [before = "", ...rest] = pattern.split("*");
  const behind = rest.join("*");
  const fits = name.length > before.length + behind.length && name.startsWith(before) && name.endsWith(behind);
  if (!fits) return undefined;
  const split = splitName(
    name.slice(before.length, name.length - behind.length).replace(/^(-?\d{1,3})_(?=\d+\D*$)/, "$1."),
  );
  if (split === undefined || split.stem !== "") return undefined;
  const stem = `${before}${behind === "" || before === "" ? "" : "_"}${behind}`.replace(/^[\s_.-]+|[\s_.-]+$/g, "");
  return { ...split, stem };
}

/** Whether a time is a day of the calendar. */
export function isDated(time: string): boolean {
  return /\d-/.test(time);
}

/**
 * Names of one marker that say several units (6wk, 3mo, 1yr) in one, as all are where `asked` is a unit: in that, or in days. Those that say a unit
 * beside a number without one are no series, nor are dates beside numbers. A number 0 needs no unit.
 */
export function inOneUnit(splits: readonly (Split | undefined)[], asked?: TimeUnit): readonly (Split | undefined)[] {
  const saidOf = ({ time, word }: Split) =>
    isDated(time) ? "date" : (timeUnitOf(word) ?? (Number(time) === 0 ? undefined : ""));
  const said = new Map<string, Set<string>>();
  for (const split of splits) {
    const unit = split && saidOf(split);
    if (unit === undefined) continue;
    const stem = split!.stem.toLowerCase();
    said.set(stem, (said.get(stem) ?? new Set()).add(unit));
  }
  const isMixed = (units: ReadonlySet<string>) => units.size > 1 && (units.has("") || units.has("date"));
  const several = [...said.values()].some((units) => units.size > 1 && !isMixed(units));
  const to = asked ?? (several ? "days" : undefined);
  return splits.map((split) => {
    const units = split && said.get(split.stem.toLowerCase());
    if (split === undefined || units === undefined) return split;
    if (isMixed(units) || (units.has("date") && !isDated(split.time))) return undefined;
    const unit = timeUnitOf(split.word);
    if (to === undefined || unit === undefined || unit === to) return split;
    return { ...split, time: String(inUnit(Number(split.time), unit, to)), word: to };
  });
}

/** A time in another unit, without the digits that arithmetic adds. */
function inUnit(time: number, from: TimeUnit, to: TimeUnit): number {
  return Number(((time * DAYS_PER[from]) / DAYS_PER[to]).toPrecision(12));
}
