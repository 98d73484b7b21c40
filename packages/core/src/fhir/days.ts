/** Days of the calendar as FHIR writes them: the local day as written, whatever the time zone behind it. */

import { dayNumber, isDate } from "../ingest/calendar.ts";
import type { DateOptions } from "../ingest/date-column.ts";

/** What is done with a date without a day or month, as in tables: taken at the middle of its month or year, or left out. */
export type PartialDates = DateOptions["partialDates"];

const WRITTEN = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T.*)?)?)?$/;

/** The day that a date or instant is on, as 2020-01-31; or why there is none. */
export function dayOf(written: string, partial: PartialDates): string | "partial-date" | "no-such-date" {
  const found = WRITTEN.exec(written.trim());
  if (found === null) return "no-such-date";
  const [, year, month, day] = found;
  if (month !== undefined && (Number(month) < 1 || Number(month) > 12)) return "no-such-date";
  if (day !== undefined) {
    const isOne = isDate(Number(year), Number(month), Number(day));
    return isOne ? `${year}-${month}-${day}` : "no-such-date";
  }
  if (partial === undefined) return "partial-date";
  return month === undefined ? `${year}-07-01` : `${year}-${month}-15`;
}

/** Whether a text is a day and not a reason for having none. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}

/** The number of a day that is written as 2020-01-31. */
export function numberOf(day: string): number {
  const [year, month, date] = day.split("-").map(Number);
  return dayNumber(year, month, date);
}
