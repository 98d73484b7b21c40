/**
 * A cell as a date, as it is written: what is certain of it by itself, and what only its column can tell (whether the day or the
 * month comes first). The day is that of the calendar where the visit was: a time of day and an offset behind it are checked and
 * passed over, so that 23:30-05:00 is not the next day.
 */
import { dayNumber, FIRST_YEAR, isDate, LAST_YEAR } from "./calendar.ts";
import { isWeekday, monthNamed } from "./month-names.ts";

export const DATE_ORDERS = ["dmy", "mdy", "ymd"] as const;
/** Order of day, month and year. */
export type DateOrder = (typeof DATE_ORDERS)[number];

/** What a cell says. `timed`: a time of day stands behind it. */
export type WrittenDate =
  | { readonly kind: "day"; readonly day: number; readonly timed: boolean }
  /** Two numbers of which one is the day, and a year of four digits. */
  | {
      readonly kind: "ordered";
      readonly first: number;
      readonly second: number;
      readonly year: number;
      readonly timed: boolean;
    }
  /** Three numbers of two digits; `order` where a month is written as a word. */
  | {
      readonly kind: "short";
      readonly parts: readonly [number, number, number];
      readonly timed: boolean;
      readonly order?: "dmy";
    }
  /** A month without a day. */
  | { readonly kind: "month"; readonly year: number; readonly month: number }
  /** The form of a date, but none of the calendar. */
  | { readonly kind: "none" };

const CLOCK =
  /^(?:[T :]|, )\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([ap]\.?m\.?)?\s*(?:Z|UTC|GMT|[+-](\d{2}):?(\d{2})?)?(?:\[[\w/+-]+\])?$/i;
const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/;
const YEAR_LAST = /^(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4})(?!\d)/;
const SHORT = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{2})(?!\d)/;
const MONTH_WORD = String.raw`(\p{L}{3,10})\.?`;
const OF = String.raw`(?:\s(?:de|di|do)\s)?`;
const NAMED_MONTH = new RegExp(
  String.raw`^(\d{1,2})(?:st|nd|rd|th|er|º|°)?[-/. ]{0,2}${OF}${MONTH_WORD}[-/, ]{0,2}${OF}(\d{4}|\d{2})(?!\d)`,
  "iu",
);
const MONTH_FIRST = new RegExp(String.raw`^${MONTH_WORD}[- ](\d{1,2})(?:st|nd|rd|th)?,?[- ](\d{4})(?!\d)`, "iu");
const ONLY_MONTH = new RegExp(
  String.raw`^(\d{4})[-/](\d{1,2})$|^(\d{1,2})[-/](\d{4})$|^${MONTH_WORD}(?:[- ]|${OF})(\d{4})$`,
  "iu",
);
/** A day of the week before a date, and what is behind it. */
const WEEKDAY = /^(\p{L}{2,10}(?:-feira)?)(?:[.,]{1,2}\s*|\s+)(?=\S)/iu;

/** The day of a date such as 2020-01-31 and nothing else, without looking further; NaN for all other cells. */
export function isoDay(cell: string): number {
  if (cell.length !== 10 || cell.charCodeAt(4) !== 45 || cell.charCodeAt(7) !== 45) return Number.NaN;
  const year = digits(cell, 0, 4);
  const month = digits(cell, 5, 7);
  const day = digits(cell, 8, 10);
  // What is no digit gives NaN, of which no comparison holds.
  return isDate(year, month, day) ? dayNumber(year, month, day) : Number.NaN;
}

function digits(cell: string, from: number, to: number): number {
  let number = 0;
  for (let k = from; k < to; k++) {
    const digit = cell.charCodeAt(k) - 48;
    number = digit >= 0 && digit <= 9 ? 10 * number + digit : Number.NaN;
  }
  return number;
}

/** What a trimmed cell says as a date; undefined if it does not have the form of one. */
export function readDate(cell: string): WrittenDate | undefined {
  const iso = isoDay(cell);
  if (!Number.isNaN(iso)) return { kind: "day", day: iso, timed: false };
  if (cell.length < 5 || cell.length > 50) return undefined;
  const weekday = WEEKDAY.exec(cell);
  if (weekday !== null && isWeekday(weekday[1])) {
    const behind = readDate(cell.slice(weekday[0].length));
    if (behind !== undefined) return behind;
  }
  const yearFirst = YEAR_FIRST.exec(cell);
  if (yearFirst !== null)
    return certain(cell, yearFirst, Number(yearFirst[1]), Number(yearFirst[3]), Number(yearFirst[4]));
  const yearLast = YEAR_LAST.exec(cell);
  if (yearLast !== null) return ordered(cell, yearLast);
  const named = NAMED_MONTH.exec(cell);
  if (named !== null && monthNamed(named[2]) > 0) {
    const [day, month, year] = [Number(named[1]), monthNamed(named[2]), Number(named[3])];
    if (named[3].length === 4) return certain(cell, named, year, month, day);
    const timed = clockBehind(cell, named[0].length);
    if (timed === undefined) return undefined;
    return timed === "none" ? { kind: "none" } : { kind: "short", parts: [day, month, year], timed, order: "dmy" };
  }
  const monthFirst = MONTH_FIRST.exec(cell);
  if (monthFirst !== null && monthNamed(monthFirst[1]) > 0) {
    return certain(cell, monthFirst, Number(monthFirst[3]), monthNamed(monthFirst[1]), Number(monthFirst[2]));
  }
  const short = SHORT.exec(cell);
  if (short !== null) {
    const timed = clockBehind(cell, short[0].length);
    if (timed === undefined) return undefined;
    return timed === "none"
      ? { kind: "none" }
      : { kind: "short", parts: [Number(short[1]), Number(short[3]), Number(short[4])], timed };
  }
  return onlyMonth(cell);
}

/** A date whose year, month and day are told apart by how it is written. */
function certain(
  cell: string,
  { 0: found }: RegExpExecArray,
  year: number,
  month: number,
  day: number,
): WrittenDate | undefined {
  const timed = clockBehind(cell, found.length);
  if (timed === undefined) return undefined;
  return timed !== "none" && isDate(year, month, day)
    ? { kind: "day", day: dayNumber(year, month, day), timed }
    : { kind: "none" };
}

function ordered(cell: string, found: RegExpExecArray): WrittenDate | undefined {
  const timed = clockBehind(cell, found[0].length);
  if (timed === undefined) return undefined;
  const [first, second, year] = [Number(found[1]), Number(found[3]), Number(found[4])];
  const possible = isDate(year, second, first) || isDate(year, first, second);
  return timed !== "none" && possible ? { kind: "ordered", first, second, year, timed } : { kind: "none" };
}

/** Whether a time of day stands behind a date; "none" if there is no such time, undefined if it is something else. */
function clockBehind(cell: string, at: number): boolean | "none" | undefined {
  if (at === cell.length) return false;
  const clock = CLOCK.exec(cell.slice(at));
  if (clock === null) return undefined;
  const [hours, minutes, seconds] = [Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0)];
  const most = clock[4] === undefined ? 24 : 12;
  const isTime = hours <= most && minutes < 60 && seconds <= 60 && (hours < 24 || minutes + seconds === 0);
  return isTime && Number(clock[5] ?? 0) <= 18 && Number(clock[6] ?? 0) < 60 ? true : "none";
}

function onlyMonth(cell: string): WrittenDate | undefined {
  const found = ONLY_MONTH.exec(cell);
  if (found === null) return undefined;
  const year = Number(found[1] ?? found[4] ?? found[6]);
  const month = found[5] === undefined ? Number(found[2] ?? found[3]) : monthNamed(found[5]);
  if (found[5] !== undefined && month === 0) return undefined;
  const isMonth = year >= FIRST_YEAR && year <= LAST_YEAR && month >= 1 && month <= 12;
  return isMonth ? { kind: "month", year, month } : { kind: "none" };
}

/** The day of two numbers and a year in an order; NaN if there is none. */
export function inOrder(order: DateOrder, first: number, second: number, year: number): number {
  const [day, month] = order === "mdy" ? [second, first] : [first, second];
  return order !== "ymd" && isDate(year, month, day) ? dayNumber(year, month, day) : Number.NaN;
}

/** The day of three numbers of two digits; years up to `pivot` are of 2000 and on, others of 1900 and on. */
export function shortDay(order: DateOrder, parts: readonly [number, number, number], pivot: number): number {
  const [a, b, c] = parts;
  const short = order === "ymd" ? a : c;
  const year = short + (short <= pivot ? 2000 : 1900);
  if (order === "ymd") return isDate(year, b, c) ? dayNumber(year, b, c) : Number.NaN;
  return inOrder(order, a, b, year);
}

/** The day of a number such as 20200131; NaN if it is none. */
export function compactDay(number: number): number {
  if (!Number.isInteger(number) || number < FIRST_YEAR * 10_000) return Number.NaN;
  const [year, month, day] = [Math.floor(number / 10_000), Math.floor(number / 100) % 100, number % 100];
  return isDate(year, month, day) ? dayNumber(year, month, day) : Number.NaN;
}
