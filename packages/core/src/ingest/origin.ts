/**
 * From when times are counted: the first visit of each individual, a column of visits or individuals (onset, diagnosis, birth), or a
 * date. With dates a time is (day − day of the origin)/(days of the unit); with numbers it is the number less that of the origin.
 */
import { checkOption } from "../errors.ts";
import { DAYS_PER, timeUnitOf, writeDay } from "./calendar.ts";
import { isoDay } from "./written-dates.ts";

export type Origin =
  | { readonly kind: "first" }
  | { readonly kind: "column"; readonly column: string }
  | { readonly kind: "date"; readonly day: number };

/** The origin that "first", "column:NAME" or "date:2010-01-01" names. */
export function parseOrigin(text: string): Origin {
  if (text === "first") return { kind: "first" };
  const column = /^column:(.+)$/s.exec(text)?.[1]?.trim();
  if (column !== undefined && column !== "") return { kind: "column", column };
  const day = isoDay(/^date:\s*(.*)$/.exec(text)?.[1]?.trim() ?? "");
  const expected = "first, column:NAME or a date as date:2010-01-31";
  checkOption(!Number.isNaN(day), "origin", expected, text, "");
  return { kind: "date", day };
}

/** The origin in words: "the first visit of each individual". */
export function originWords(text: string): string {
  const origin = parseOrigin(text);
  switch (origin.kind) {
    case "first":
      return "the first visit of each individual";
    case "column":
      return `"${origin.column}" of each individual`;
    case "date":
      return writeDay(origin.day);
  }
}

/** What is kept of how times were counted, in columns and model files. */
export interface CountedTimes {
  /** As it is asked for: first, column:NAME or date:2010-01-31. */
  readonly origin?: string;
  /** Whether times were dates; numbers less an origin otherwise. */
  readonly dates?: true;
}

/** How times are counted, as a sentence; empty where the table gave numbers as they are. */
export function describeTimes({ origin, dates }: CountedTimes, timeUnit: string): string {
  if (origin === undefined) return "";
  const unit = timeUnitOf(timeUnit);
  const known = unit !== undefined && (unit === "years" || unit === "months") ? ` (of ${DAYS_PER[unit]} days)` : "";
  const counted =
    dates === true ? `${unit ?? timeUnit}${known}, by calendar days` : timeUnit === "" ? "numbers" : timeUnit;
  return `Times are ${counted}, since ${originWords(origin)}.`;
}
