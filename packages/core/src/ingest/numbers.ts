/**
 * Cells as numbers. A cell becomes exactly the number written in it (the nearest double) or is reported: no hex, no
 * underscores, no text behind the digits, no thousands separators, nothing that would turn into 0 or infinity, by itself or squared.
 */
import { COMPUTABLE_SIZES, isComputable } from "../cohort/marker.ts";
import { type ErrorCode, showReceived } from "../errors.ts";
import type { Finding } from "./complaints.ts";
import { isMissingNumber, missingCode } from "./missing-codes.ts";
import { monthNamed } from "./month-names.ts";
import { thousandsMark } from "./thousands.ts";
import { readDate } from "./written-dates.ts";

/** Cells that mean "missing", without regard to case; what statistical programs write for it is in missing-codes.ts. */
const MISSING_MARKS = ["", "na", "n/a", "nan", "null", "."] as const;

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WITH_COMMA = /^[+-]?(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?$/;

/** The minus of typesetting, which some programs write. */
const MINUS = "\u2212";

/** Whether a trimmed cell is one of the marks of a missing number. */
export function isMissing(cell: string): boolean {
  if (cell.length <= 4 && (MISSING_MARKS as readonly string[]).includes(cell.toLowerCase())) return true;
  return missingCode(cell) !== undefined;
}

/** The number written in a trimmed cell with the given decimal mark; NaN if it is not in full one that can be computed with. */
export function readNumber(cell: string, decimal: "." | ","): number {
  const plain = withPoint(cell, decimal);
  if (plain === undefined) return cell.includes(MINUS) ? readNumber(cell.replaceAll(MINUS, "-"), decimal) : Number.NaN;
  const value = Number(plain);
  if (!isComputable(value) || (value === 0 && hasDigits(plain)) || isMissingNumber(value)) return Number.NaN;
  return value;
}

/** Comparators before a limit, as they are and as web pages escape them. */
const COMPARATOR = /^(?:(<=?|≤|&lt;=?|&le;)|>=?|≥|&gt;=?|&ge;)\s*/;

/** A cell such as "< 0.3" or "≥50": below (−1) or above (1) the number behind; undefined for any other. */
export function readComparator(cell: string): { readonly side: -1 | 1; readonly rest: string } | undefined {
  const found = COMPARATOR.exec(cell);
  if (found === null) return undefined;
  return { side: found[1] === undefined ? 1 : -1, rest: cell.slice(found[0].length) };
}

/** The cell with a point as its decimal mark, if it is a number in full; a point is no decimal mark beside commas. */
function withPoint(cell: string, decimal: "." | ","): string | undefined {
  if (decimal === ".") return PLAIN.test(cell) ? cell : undefined;
  return WITH_COMMA.test(cell) ? cell.replace(",", ".") : undefined;
}

/** Whether the mark of a number may as well separate thousands: 1,234 and 1.234, but not 0,234 or 12,5. */
export function mayBeThousands(cell: string): boolean {
  return /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(cell);
}

/** Whether the mantissa has a digit other than 0. */
function hasDigits(plain: string): boolean {
  return /[1-9]/.test(plain.replace(/[eE].*$/, ""));
}

/** What to say about a trimmed cell for which `readNumber` gave NaN; `what` is "value" or "time". */
export function explainNumber(cell: string, what: string, decimal: "." | ","): Finding {
  const received = `"${showReceived(cell)}"`;
  const expected = `a number as ${what}`;
  const plain = withPoint(cell, decimal);
  const finding = (code: ErrorCode, remedy: string): Finding => [code, [expected, received, remedy]];
  if (plain !== undefined) {
    return Math.abs(Number(plain)) < 1
      ? finding(
          "underflow",
          `It is too small to be computed with (numbers are ${COMPUTABLE_SIZES}); give the values in another unit.`,
        )
      : finding(
          "not-finite",
          `It is too large to be computed with (numbers are ${COMPUTABLE_SIZES}); give the values in another unit.`,
        );
  }
  if (/^[+-]?inf(?:inity)?$/i.test(cell)) {
    return finding("not-finite", "Give a finite number, or leave the cell empty if it is missing.");
  }
  if (readComparator(cell) !== undefined) {
    const remedy =
      what === "time"
        ? "Give the time itself, or leave the row out."
        : "Write the limit behind the sign, such as <0.3.";
    return finding("censored-value", remedy);
  }
  return finding("not-a-number", remedyFor(cell, what, decimal));
}

/** What stands behind a number: a unit or a percent sign. */
const UNIT_BEHIND = /^[+-]?\d[\d.,]*\s*(%|percent|[\p{L}µ°][\p{L}µ°/%²³\d.^*-]*)$/iu;
/** Weeks of a year, and months without a day or with two digits of the year: 2018-W15, Apr-18. */
const WEEK = /^\d{4}[-\s]?W\d{1,2}(?:-\d)?$/i;
const SHORT_MONTH = /^(?:(\p{L}{3,10})\.?[-/ '’]{1,2}\d{2}|\d{2}[-/ ](\p{L}{3,10}))$/u;
const TRUTH = /^(?:true|false|yes|no)$/i;

/** What to say of a cell whose form is known, so that all cells of the form get the same words. */
function remedyOfForm(cell: string, what: string): string | undefined {
  const [, month] = (SHORT_MONTH.exec(cell) ?? []).filter((part) => part !== undefined);
  if (WEEK.test(cell) || (month !== undefined && monthNamed(month) > 0)) {
    return "These look like weeks, or months without a day or a full year: write dates as 2020-01-31.";
  }
  const behind = UNIT_BEHIND.exec(cell)?.[1];
  if (behind === "%" || behind === "percent") {
    return "Write the numbers without the sign, so that 69% is 69, and say the unit: --unit % (unit).";
  }
  if (behind !== undefined && what === "time") {
    return "Write the numbers alone, all in one unit, and say which: --time-unit years, for example (timeUnit).";
  }
  if (behind !== undefined)
    return "Write the numbers alone, all in one unit, and say which: --unit mg/dL, for example.";
  if (TRUTH.test(cell)) return "A marker is measured: name a column of numbers, or write 1 for true and 0 for false.";
  return undefined;
}

function remedyFor(cell: string, what: string, decimal: "." | ","): string {
  if (/^#(?:N\/A|DIV\/0!|REF!|VALUE!|NAME\?|NUM!|NULL!)/i.test(cell)) {
    return "This is an error of a spreadsheet; mend the formula there, or leave the cell empty.";
  }
  const question = questionOf(cell, decimal);
  if (question !== undefined) return questionRemedy(question);
  if (decimal === "," && PLAIN.test(cell)) {
    return "The decimal mark is a comma here: write the number with one, and without thousands separators.";
  }
  if (/^[+-]?(?:0x|0b|0o)/i.test(cell) || cell.includes("_")) return "Write the number in plain decimal digits.";
  const known = remedyOfForm(cell, what);
  if (known !== undefined) return known;
  if (/\d/.test(cell)) return "Write the number alone, without unit or sign of another kind.";
  return `Give a number, or leave the cell empty if it is missing (${MISSING_MARKS.filter((m) => m !== "").join(", ")} and .a to .z also mean missing).`;
}

/** A time of day or a number of hours, and what looks like a date in words that are not known. */
const CLOCK = /^\d{1,4}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]\.?m\.?)?$/i;
const UNKNOWN_DATE = /^(?:\p{L}+[.,]?\s+)?\d{1,2}[-/. ]*\p{L}[\p{L}. ]*[-/, ]*\d{4}$/u;

/** Whether a trimmed cell is a time of day, such as 10:30. */
export function isClock(cell: string): boolean {
  return CLOCK.test(cell);
}

/** What can be asked about a cell that is no number: which mark separates thousands, whether a comma is the decimal mark, why it is a date or a time of day. */
export function questionOf(cell: string, decimal: "." | ","): string | undefined {
  const mark = thousandsMark(cell);
  if (mark !== undefined) return mark;
  if (readDate(cell) !== undefined) return "date";
  if (isClock(cell)) return "clock";
  if (UNKNOWN_DATE.test(cell)) return "unknown-date";
  return decimal === "." && cell.includes(",") && WITH_COMMA.test(cell) ? "decimal" : undefined;
}

/** What answers the question. */
export function questionRemedy(question: string): string {
  if (question === "clock")
    return "These are times of day, or hours and minutes; name the column with the days (--time; columns), or write hours as numbers.";
  if (question === "unknown-date")
    return "These look like dates in words of another language: write them as 2020-01-31.";
  if (question === "date") return "These look like dates; are the columns swapped?";
  return question === "decimal"
    ? 'If this is a decimal comma, say so (--decimal ,; decimal: ","); if it separates thousands, --thousands , (thousands).'
    : `If these are thousands separators, say so: --thousands "${question}" (thousands: "${question}").`;
}
