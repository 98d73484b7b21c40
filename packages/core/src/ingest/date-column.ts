/**
 * A column that may hold dates, cell by cell. What a cell cannot say by itself (which of two numbers is the day) is kept as a code until the
 * whole column has been seen: one cell above 12 decides for all, two that contradict each other refuse the column, and where none
 * decides one question is asked. Codes of dates lie beyond any number that could stand beside them:
 *   a day         10⁷ + days since 1970
 *   two numbers   10⁹ + 10⁴ year + 10² first + second
 *   swapped       2·10⁹ + 10⁴ year + 10² month + day, of dates such as 2020-05-03 that may have to be swapped back
 *   a year alone  the year
 */
import { showReceived } from "../errors.ts";
import { dayNumber, FIRST_YEAR, LAST_YEAR, writeDay } from "./calendar.ts";
import type { Finding } from "./complaints.ts";
import { compactDay, type DateOrder, inOrder, isoDay, readDate, shortDay, type WrittenDate } from "./written-dates.ts";

export interface DateOptions {
  /** Order of day, month and year where a date does not say it; "ymd" also reads 20200131. Default: what the column shows. */
  readonly dateOrder?: DateOrder;
  /** Two-digit years up to this one are of 2000 and on, others of 1900 and on. Default: such years are refused. */
  readonly yearPivot?: number;
  /** "middle": months and years without a day are taken at their middle (the 15th; 1 July). Default: they are refused. */
  readonly partialDates?: "middle";
  /**
   * Columns whose dates such as 2020-05-03 are all on days up to 12 had day and month swapped by a spreadsheet: they are swapped back. Default: such
   * a column is refused where it shows.
   */
  readonly swappedDates?: true;
}

/** Cells of one kind: how many, and the first of them. */
interface Seen {
  count: number;
  line: number;
  cells: string[];
}

export interface DateColumn {
  readonly options: DateOptions;
  /** Whether rows that cannot be read are left out: then each cell is complained of by itself. */
  readonly leaveOut: boolean;
  readonly dates: Seen;
  readonly numbers: Seen;
  /** Dates that can only be read day first, only month first, and the marks between their numbers: 22.08.2015 says nothing of 05/08/2015. */
  readonly dmy: Seen;
  readonly mdy: Seen;
  readonly deciding: Set<string>;
  /** Dates that can be read either way, by their mark. */
  readonly open: Map<string, Seen>;
  /** Dates such as 2020-01-31 on days up to 12, and on later ones. */
  early: number;
  late: number;
  readonly partial: Seen;
  readonly short: Seen;
  /** Dates with a time of day behind them. */
  timed: number;
  /** Whether a number was so large that it looks like the code of a date. */
  large: boolean;
}

/** First cells of a kind that are kept to be shown. */
const CELLS_SHOWN = 3;
/** Dates on early days alone beside as many texts on late days alone: by chance about once in 1,300 columns. */
const SWAPPED = 5;
const DAY_CODE = 1e7;
const ORDERED_CODE = 1e9;
const SWAPPED_CODE = 2e9;
/** Below the code of any day. */
const FIRST_CODE = 9e6;

export function createDateColumn(options: DateOptions, leaveOut: boolean): DateColumn {
  const seen = (): Seen => ({ count: 0, line: 0, cells: [] });
  return {
    options: {
      ...(options.dateOrder === undefined ? {} : { dateOrder: options.dateOrder }),
      ...(options.yearPivot === undefined ? {} : { yearPivot: options.yearPivot }),
      ...(options.partialDates === undefined ? {} : { partialDates: options.partialDates }),
      ...(options.swappedDates === undefined ? {} : { swappedDates: options.swappedDates }),
    },
    leaveOut,
    dates: seen(),
    numbers: seen(),
    dmy: seen(),
    mdy: seen(),
    deciding: new Set(),
    open: new Map(),
    early: 0,
    late: 0,
    partial: seen(),
    short: seen(),
    timed: 0,
    large: false,
  };
}

/** Notes a cell that is a number. */
export function takeNumber(column: DateColumn, number: number, cell: string, line: number): void {
  const { numbers } = column;
  if (number >= FIRST_CODE) column.large = true;
  if (numbers.count++ > 0) return;
  numbers.line = line;
  numbers.cells.push(cell);
}

function see(seen: Seen, cell: string, line: number): void {
  if (seen.count === 0) seen.line = line;
  if (seen.count < CELLS_SHOWN && !seen.cells.includes(cell)) seen.cells.push(cell);
  seen.count++;
}

/** The code of a trimmed cell that is a date; NaN if the column is asked about it later; a finding, or undefined if it is no date. */
export function takeDate(column: DateColumn, cell: string, line: number): number | Finding | undefined {
  const iso = isoDay(cell);
  if (!Number.isNaN(iso)) {
    if (column.dates.count++ === 0) {
      column.dates.line = line;
      column.dates.cells.push(cell);
    }
    if (cell.slice(8) > "12") column.late++;
    else column.early++;
    if (column.options.swappedDates && cell.slice(8) <= "12") return SWAPPED_CODE + Number(cell.replaceAll("-", ""));
    return DAY_CODE + iso;
  }
  const written = readDate(cell);
  if (written === undefined) return undefined;
  if (written.kind === "none")
    return noSuchDate(cell, "Correct the date; if it stands for a missing one, leave the cell empty.");
  see(column.dates, cell, line);
  if (written.kind !== "month" && written.timed) column.timed++;
  switch (written.kind) {
    case "day":
      return DAY_CODE + written.day;
    case "month":
      see(column.partial, cell, line);
      if (column.options.partialDates === "middle") return DAY_CODE + dayNumber(written.year, written.month, 15);
      return column.leaveOut ? partialDate([cell], 1) : Number.NaN;
    case "short":
      return takeShort(column, written, cell, line);
    case "ordered":
      return takeOrdered(column, written, cell, line);
  }
}

type Written<Kind> = Extract<WrittenDate, { readonly kind: Kind }>;

function takeShort(column: DateColumn, written: Written<"short">, cell: string, line: number): number | Finding {
  const { yearPivot, dateOrder } = column.options;
  const order = written.order ?? dateOrder;
  if (yearPivot === undefined || order === undefined) {
    see(column.short, cell, line);
    return Number.NaN;
  }
  const day = shortDay(order, written.parts, yearPivot);
  return Number.isNaN(day) ? notInOrder(cell, order) : DAY_CODE + day;
}

function takeOrdered(column: DateColumn, written: Written<"ordered">, cell: string, line: number): number | Finding {
  const { first, second, year } = written;
  const { dateOrder } = column.options;
  if (dateOrder !== undefined) {
    const day = inOrder(dateOrder, first, second, year);
    return Number.isNaN(day) ? notInOrder(cell, dateOrder) : DAY_CODE + day;
  }
  if (first === second) return DAY_CODE + inOrder("dmy", first, second, year);
  const mark = /\d([-/.])/.exec(cell)![1];
  if (first > 12 || second > 12) {
    column.deciding.add(mark);
    see(first > 12 ? column.dmy : column.mdy, cell, line);
  } else {
    const open = column.open.get(mark) ?? { count: 0, line: 0, cells: [] };
    column.open.set(mark, open);
    see(open, cell, line);
  }
  return ORDERED_CODE + 10_000 * year + 100 * first + second;
}

const ORDER_WORDS: Readonly<Record<DateOrder, string>> = {
  dmy: "day, month, year",
  mdy: "month, day, year",
  ymd: "year, month, day",
};

function notInOrder(cell: string, order: DateOrder): Finding {
  const received = `"${showReceived(cell)}"`;
  return [
    "no-such-date",
    [`a date in the order ${ORDER_WORDS[order]}`, received, "Correct the date, or the order (--date-order)."],
  ];
}

function noSuchDate(cell: string, remedy: string): Finding {
  return ["no-such-date", [`a date of the calendar, ${FIRST_YEAR} to ${LAST_YEAR}`, `"${showReceived(cell)}"`, remedy]];
}

function partialDate(cells: readonly string[], count: number): Finding {
  return [
    "partial-date",
    [
      "dates with a day",
      `${count} without one, such as ${quoted(cells)}`,
      'Take months at the 15th and years at 1 July (--partial-dates middle; partialDates: "middle"), or give the day.',
    ],
  ];
}

function quoted(cells: readonly string[]): string {
  return cells.map((cell) => `"${showReceived(cell)}"`).join(", ");
}

/** Whether a number can be a year in a column of dates. */
export function isYear(number: number): boolean {
  return Number.isInteger(number) && number >= FIRST_YEAR && number <= LAST_YEAR;
}

/** How a column of dates is read. */
export interface DateReading {
  /** Order of day and month where cells do not say it. */
  readonly order: DateOrder;
  /** Whether its numbers are dates such as 20200131. */
  readonly compact: boolean;
  /** Whether dates such as 2020-05-03 are read with day and month swapped. */
  readonly swapped?: boolean;
  /** What is worth telling, in sentences. */
  readonly notes: readonly string[];
}

/** What is to be said of a column of dates as a whole, at a line of it. */
export interface DateFault {
  readonly line: number;
  readonly finding: Finding;
}

/**
 * How a column is read once all of it was seen: as numbers (undefined), as dates, or a fault that refuses it. `codes` gives what its cells were
 * taken as; `name` is that of the column.
 */
export function judgeColumn(
  column: DateColumn,
  name: string,
  codes: () => Iterable<number>,
): DateReading | DateFault | undefined {
  const { dates, numbers, options } = column;
  if (dates.count === 0) return judgeNumbers(column, name, codes);
  const plain = numbers.count === 0 ? [] : Array.from(codes()).filter((code) => code < FIRST_CODE);
  if (column.large || !plain.every(isYear)) {
    const received = `${dates.count} dates, the first ${quoted(dates.cells.slice(0, 1))} on line ${dates.line}, and ${numbers.count} numbers, the first on line ${numbers.line}`;
    const finding: Finding = ["mixed-time", ["all dates or all numbers", received, "Write all of them in one way."]];
    return { line: Math.max(dates.line, numbers.line), finding };
  }
  return (
    faultOfForms(column, plain.length) ??
    faultOfOrder(column) ?? {
      order: options.dateOrder ?? (column.mdy.count > 0 ? "mdy" : "dmy"),
      compact: false,
      swapped: isSwapped(column),
      notes: notesOf(column, plain.length),
    }
  );
}

/** Whether dates are swapped back: asked for, and none is on a later day than 12. */
function isSwapped({ options, early, late }: DateColumn): boolean {
  return options.swappedDates === true && early > 0 && late === 0;
}

/** A column of numbers may be one of dates such as 20200131: if that is asked for, or name and all numbers say so. */
function judgeNumbers(
  { numbers, options }: DateColumn,
  name: string,
  codes: () => Iterable<number>,
): DateReading | DateFault | undefined {
  const asked = options.dateOrder === "ymd";
  if (numbers.count === 0 || !(asked || saysDate(name))) return undefined;
  let bad: number | undefined;
  for (const code of codes()) {
    if (!Number.isNaN(compactDay(code))) continue;
    // Eight digits are a date that is none; anything else is a number.
    if (!asked && !(Number.isInteger(code) && code >= 1e7 && code < 1e8)) return undefined;
    bad ??= code;
  }
  if (bad !== undefined) {
    const remedy = asked
      ? "Correct it, or leave --date-order ymd out."
      : "Correct it; 20200131 is read as a date here.";
    return { line: numbers.line, finding: noSuchDate(String(bad), remedy) };
  }
  return { order: "ymd", compact: true, notes: ["Numbers such as 20200131 are read as dates."] };
}

/** Whether the name of a column says that it holds dates. */
export function saysDate(name: string): boolean {
  return /dat(?:e|um)|\bdob\b|fecha/i.test(name);
}

function faultOfForms(
  { short, partial, numbers, options, leaveOut }: DateColumn,
  numYears: number,
): DateFault | undefined {
  if (short.count > 0) {
    const remedy =
      "Write years with four digits; or say the order and the last year that is of 2000 and on: --date-order dmy --year-pivot 30 (dateOrder, yearPivot).";
    const received = `${short.count} with two, such as ${quoted(short.cells)}`;
    return { line: short.line, finding: ["short-year", ["dates with four digits of the year", received, remedy]] };
  }
  const without = (leaveOut ? 0 : partial.count) + numYears;
  if (without === 0 || options.partialDates === "middle") return undefined;
  const cells = partial.count > 0 ? partial.cells : numbers.cells;
  return { line: partial.count > 0 ? partial.line : numbers.line, finding: partialDate(cells, without) };
}

function faultOfOrder({ dmy, mdy, deciding, open, early, late, options }: DateColumn): DateFault | undefined {
  if (dmy.count > 0 && mdy.count > 0) {
    const received =
      `${quoted(dmy.cells.slice(0, 1))} on line ${dmy.line}, which can only be day first, and ` +
      `${quoted(mdy.cells.slice(0, 1))} on line ${mdy.line}, which can only be month first`;
    const remedy =
      "Write all dates alike, best as 2020-01-31; with --date-order those of the other order are refused one by one.";
    const finding: Finding = ["mixed-dates", ["day and month in one order", received, remedy]];
    return { line: Math.max(dmy.line, mdy.line), finding };
  }
  const texts = mdy.count > 0 ? mdy : dmy;
  if (!options.swappedDates && open.size === 0 && late === 0 && Math.min(early, texts.count) >= SWAPPED) {
    const received = `${early} such as 2020-01-12, all on days up to 12, and ${texts.count} such as ${quoted(texts.cells)}, all on later ones`;
    const remedy = `A spreadsheet swaps day and month where it can: open the file there anew with this column as text, or have them swapped back (--swapped-dates; swappedDates). If all are right, say --date-order ${mdy.count > 0 ? "mdy" : "dmy"} (dateOrder).`;
    return { line: texts.line, finding: ["mixed-dates", ["dates written alike", received, remedy]] };
  }
  const unclear = [...open].find(([mark]) => !deciding.has(mark))?.[1];
  if (unclear === undefined) return undefined;
  const [first = ""] = unclear.cells;
  const ways = readings(first);
  const received = `${unclear.count} like ${quoted(unclear.cells)}: ${quoted([first])} is ${ways?.dmy} day first and ${ways?.mdy} month first`;
  const remedy = 'Say the order: --date-order dmy (day first) or mdy (dateOrder: "dmy" or "mdy").';
  return { line: unclear.line, finding: ["ambiguous-date", ["dates that can be read one way only", received, remedy]] };
}

/** How a cell would be read day first and month first, where that is open; undefined for all other cells. */
export function readings(
  cell: string,
): { readonly cell: string; readonly dmy: string; readonly mdy: string } | undefined {
  const written = readDate(cell);
  if (written?.kind !== "ordered") return undefined;
  const way = (order: DateOrder) => {
    const day = inOrder(order, written.first, written.second, written.year);
    return Number.isNaN(day) ? "no date" : writeDay(day);
  };
  return { cell, dmy: way("dmy"), mdy: way("mdy") };
}

function notesOf(column: DateColumn, numYears: number): string[] {
  const { dmy, mdy, timed, partial, early, options } = column;
  const notes: string[] = [];
  const [decides, word] = mdy.count > 0 ? [mdy, "month"] : [dmy, "day"];
  if (decides.count > 0) {
    notes.push(
      `Dates are read ${word} first: ${quoted(decides.cells.slice(0, 1))} on line ${decides.line} can only be that.`,
    );
  }
  if (timed > 0) notes.push("Times of day were passed over: visits count by calendar day, as written.");
  if (isSwapped(column)) notes.push(`Day and month of ${early} dates such as 2020-05-03 were swapped back.`);
  const middle = partial.count + numYears;
  if (middle > 0 && options.partialDates === "middle")
    notes.push(`${middle} dates without a day were taken at the middle of their month or year.`);
  return notes;
}

/** The day of what a cell was taken as, once the column is judged. */
export function dayOfCode(code: number, { order, compact, swapped }: DateReading): number {
  if (compact) return compactDay(code);
  if (code >= SWAPPED_CODE) {
    const [year, month, day] = numbersOf(code - SWAPPED_CODE);
    return swapped ? dayNumber(year, day, month) : dayNumber(year, month, day);
  }
  if (code >= ORDERED_CODE) {
    const [year, first, second] = numbersOf(code - ORDERED_CODE);
    return inOrder(order, first, second, year);
  }
  return code >= FIRST_CODE ? code - DAY_CODE : dayNumber(code, 7, 1);
}

/** The numbers of 10⁴ a + 10² b + c. */
function numbersOf(parts: number): readonly [number, number, number] {
  return [Math.floor(parts / 10_000), Math.floor(parts / 100) % 100, parts % 100];
}
