/** Times of visits as they are typed: numbers in the unit of the model, or dates, counted as the model's own were. */
import { DAYS_PER, dayNumber, readDate, timeUnitOf } from "@trajectory-maps/core/ingest";

/** How a model counts its times. */
export interface TimeRule {
  /** "years"; empty if unknown. */
  readonly unit: string;
  /** From when: "first" (visit), "date:2010-01-31", "column:onset", or undefined where times were numbers. */
  readonly origin?: string;
}

export interface ReadTimes {
  /** As numbers in the unit of the model, in text; empty for rows without one, as typed where it cannot be read. */
  readonly times: readonly string[];
  readonly isDated: boolean;
  /** The day that dates are counted from, and the days of a unit; null for numbers. */
  readonly counted: { readonly origin: number; readonly days: number } | null;
  /** What the date that times are counted from is called where the reader has to give it: "onset"; null where it is known. */
  readonly wanted: string | null;
  readonly complaints: readonly string[];
}

const ISO = "Write dates as 2024-03-31.";

export function readTimes(cells: readonly string[], rule: TimeRule, start = ""): ReadTimes {
  const complaints: string[] = [];
  const days = cells.map((cell, k) => {
    const day = dayOf(cell.trim());
    if (typeof day === "string") complaints.push(`Visit ${k + 1} is left out: ${day} ${ISO}`);
    return day;
  });
  const isDated = days.some((day) => day !== null);
  if (!isDated) return { times: cells.map((cell) => cell.trim()), isDated, counted: null, wanted: null, complaints };
  const unit = timeUnitOf(rule.unit);
  if (unit === undefined) {
    const said = "The model does not say in which unit its times are: type times as numbers.";
    return { times: cells.map(() => ""), isDated, counted: null, wanted: null, complaints: [said] };
  }
  days.forEach((day, k) => {
    if (day === null && cells[k].trim() !== "") {
      complaints.push(`Visit ${k + 1} is left out: it has a number among dates. ${ISO}`);
    }
  });
  const [kind, said = ""] = (rule.origin ?? "first").split(/:(.*)/s);
  const known = days.filter((day) => typeof day === "number");
  const given = kind === "date" ? dayOf(said) : start.trim() === "" ? null : dayOf(start.trim());
  if (typeof given === "string") complaints.push(`The date that times are counted from: ${given} ${ISO}`);
  const wanted = kind === "column" ? said : null;
  const first = kind === "column" || known.length === 0 ? null : Math.min(...known);
  const origin = typeof given === "number" ? given : first;
  if (origin === null && typeof given !== "string" && wanted !== null) {
    complaints.push(`Times of this model are counted from ${wanted}: give its date.`);
  }
  const count = (day: number | string | null) =>
    typeof day !== "number" || origin === null ? "" : String(Number(((day - origin) / DAYS_PER[unit]).toFixed(6)));
  const counted = origin === null ? null : { origin, days: DAYS_PER[unit] };
  return { times: days.map(count), isDated, counted, wanted, complaints };
}

/** The day of a date, a sentence about one that is not clear, or null for what is none. */
function dayOf(cell: string): number | string | null {
  const date = readDate(cell);
  if (date === undefined) return null;
  if (date.kind === "day") return date.day;
  if (date.kind === "ordered") {
    const { first, second, year } = date;
    if (first > 12 && second <= 12) return dayNumber(year, second, first);
    if (second > 12 && first <= 12) return dayNumber(year, first, second);
    if (first === second) return dayNumber(year, first, second);
    return `${cell} may begin with the day or with the month.`;
  }
  return date.kind === "month" ? `${cell} has no day.` : `${cell} cannot be read as a date.`;
}
