/** Times of a whole table: dates judged by their column and turned into numbers since an origin, numbers less one where that is asked for. */
import { showReceived, type Where } from "../errors.ts";
import { DAYS_PER, TIME_UNITS, timeUnitOf } from "./calendar.ts";
import { placeOf, takeOrigin } from "./cells.ts";
import { columnsNamed } from "./column-names.ts";
import type { FoundColumns } from "./columns.ts";
import type { Finding } from "./complaints.ts";
import { type DateReading, dayOfCode, isYear, judgeColumn } from "./date-column.ts";
import { readNumber } from "./numbers.ts";
import { type CountedTimes, describeTimes, type Origin, parseOrigin } from "./origin.ts";
import type { Reading } from "./reading.ts";
import { appendRow, createRows, lineOf, type Rows } from "./rows.ts";
import { lineOf as lineOfSubject } from "./subjects-table.ts";

/** How times were counted. */
export interface Counted extends CountedTimes {
  /** Unit of times, where they were dates. */
  readonly timeUnit?: string;
  readonly notes: readonly string[];
}

/** Judges the times and counts them; what cannot be is refused as a whole. */
export function countTimes(reading: Reading, found: FoundColumns): Counted {
  const { structure, times, options } = reading;
  const dates = judgeColumn(times, found.header[found.positions.time], () => timesOf(reading));
  const refuse = (line: number, ...finding: Finding) =>
    structure.refuse(placeOf(reading, found.positions.time, line), ...finding);
  if (dates !== undefined && "finding" in dates) {
    refuse(dates.line, ...dates.finding);
    return { notes: [] };
  }
  const line = dates === undefined ? times.numbers.line : Math.max(times.dates.line, times.numbers.line);
  const rule = ruleFor(reading, dates !== undefined);
  if (rule === undefined) {
    if (dates !== undefined) {
      const remedy =
        'Say from when they are counted: --origin first, --origin column:NAME or --origin date:2010-01-31 (origin: "first").';
      refuse(line, "dates-need-origin", ["times as numbers, as before", `${times.dates.count} dates`, remedy]);
    }
    const { origin, dates: were } = options.columns ?? {};
    const isOther = dates === undefined && origin !== undefined && were === true;
    const unit = reading.series[0].marker.timeUnit;
    return {
      notes: isOther
        ? [`Times are numbers here, taken as they are. Before: ${describeTimes({ origin, dates: were }, unit)}`]
        : [],
    };
  }
  const origin = parseOrigin(rule);
  if (origin.kind === "date" && dates === undefined) {
    const remedy = "Leave --origin out, or give dates as times.";
    refuse(line, "mixed-time", ["dates, since the origin is one", "numbers", remedy]);
    return { notes: [] };
  }
  const unit = unitOf(reading, dates !== undefined);
  if (unit === undefined) {
    const asked = showReceived(reading.series[0].marker.timeUnit);
    const words = [
      `times in ${TIME_UNITS.join(", ")}, with dates`,
      `"${asked}"`,
      "Say --time-unit years (timeUnit).",
    ] as const;
    refuse(line, "dates-need-origin", words);
    return { notes: [] };
  }
  const toDay = (code: number) => (dates === undefined ? code : dayOfCode(code, dates));
  const origins = originsOf(reading, found, origin, dates, toDay);
  if (origins === undefined || !(reading.leaveOut || reading.cells.numRefused() === 0)) return { notes: [] };
  const numBefore = apply(reading, (individual, code) => (toDay(code) - origins[individual]) / unit.days);
  const counted = { origin: rule, ...(dates === undefined ? {} : { dates: true as const, timeUnit: unit.name }) };
  const isChosen = dates !== undefined && options.origin === undefined && options.columns?.origin === undefined;
  const choice = isChosen ? " Choose otherwise by --origin and --time-unit (origin, timeUnit)." : "";
  const notes = [...(dates?.notes ?? []), describeTimes(counted, unit.name) + choice];
  if (numBefore > 0) notes.push(`${numBefore} observations before the origin have negative times.`);
  return { ...counted, notes };
}

/** What every time was taken as. */
function* timesOf({ series }: Reading): Generator<number> {
  for (const { rows } of series) {
    for (const { times, length } of rows.blocks) {
      for (let j = 0; j < length; j++) yield times[j];
    }
  }
}

/** From when times are counted: as asked, or as a table before was where its times were of the same kind; dates from the first visit. */
function ruleFor({ options }: Reading, areDates: boolean): string | undefined {
  const { origin: asked, columns: { origin: before, dates: wereDates = false } = {} } = options;
  if (asked !== undefined) return asked === "none" ? undefined : asked;
  if (before !== undefined) return wereDates === areDates ? before : undefined;
  return areDates ? "first" : undefined;
}

function unitOf({ series }: Reading, areDates: boolean): { readonly name: string; readonly days: number } | undefined {
  const asked = series[0].marker.timeUnit;
  if (!areDates) return { name: asked, days: 1 };
  const name = asked.trim() === "" ? "years" : timeUnitOf(asked);
  return name === undefined ? undefined : { name, days: DAYS_PER[name] };
}

/** Origin of each individual as a day or number, [m]; undefined if it was refused. */
function originsOf(
  reading: Reading,
  found: FoundColumns,
  origin: Origin,
  dates: DateReading | undefined,
  toDay: (code: number) => number,
): Float64Array | undefined {
  const { ids } = reading.series[0].rows;
  const origins = new Float64Array(ids.size).fill(Number.NaN);
  if (origin.kind === "date") return origins.fill(origin.day);
  if (origin.kind === "first") {
    eachRow(reading, (individual, code) => {
      const day = toDay(code);
      if (!(origins[individual] <= day)) origins[individual] = day;
    });
    return origins;
  }
  const place = reading.origin.at >= 0 ? { at: reading.origin.at } : takeSubjects(reading, found, origin.column);
  if (place === undefined) return undefined;
  const { column, codes, contradicted, lines } = reading.origin;
  const where = (line: number): Where => ("at" in place ? placeOf(reading, place.at, line) : { ...place, line });
  const refuse = (line: number, ...finding: Finding) => {
    reading.structure.refuse(where(line), ...finding);
    return undefined;
  };
  if (contradicted.count > 0) {
    const id = [...ids.keys()][contradicted.individual];
    const received = `another for "${showReceived(id)}" on line ${lines[contradicted.individual]}${contradicted.count > 1 ? `, and ${contradicted.count - 1} more such rows` : ""}`;
    const words = [
      "one origin for each individual",
      received,
      "Give each individual one, the same in all rows.",
    ] as const;
    return refuse(contradicted.line, "contradicting-origin", words);
  }
  const known = codes.filter((code) => !Number.isNaN(code));
  const judged = judgeColumn(column, origin.column, () => known);
  if (judged !== undefined && "finding" in judged) return refuse(judged.line, ...judged.finding);
  const isYears = dates !== undefined && judged === undefined && known.every(isYear);
  if (isYears && known.length > 0 && reading.options.partialDates !== "middle") {
    const remedy = 'Take years at 1 July (--partial-dates middle; partialDates: "middle"), or give the dates.';
    const words = ["dates with month and day", `years alone, such as "${known[0]}"`, remedy] as const;
    return refuse(column.numbers.line, "partial-date", words);
  }
  if (known.length > 0 && !isYears && (judged === undefined) !== (dates === undefined)) {
    const [expected, received] = dates === undefined ? ["numbers", "dates"] : ["dates", "numbers"];
    const words = [
      `${expected}, as the times are`,
      received,
      "Name a column that is written as the times are.",
    ] as const;
    return refuse(Math.max(column.dates.line, column.numbers.line), "mixed-time", words);
  }
  const years: DateReading = { order: "ymd", compact: false, notes: [] };
  const day = (code: number) => (dates === undefined ? code : dayOfCode(code, judged ?? years));
  codes.forEach((code, individual) => {
    if (!Number.isNaN(code)) origins[individual] = day(code);
  });
  return lacking(reading, origins, origin.column, where) ? undefined : origins;
}

/** Refuses a cohort some of whom have no origin, or leaves them out where that was asked for; returns whether it is refused. */
function lacking(reading: Reading, origins: Float64Array, column: string, where: (line: number) => Where): boolean {
  const rows = new Map<number, number>();
  const all = new Set<number>();
  eachRow(reading, (individual) => {
    all.add(individual);
    if (Number.isNaN(origins[individual])) rows.set(individual, (rows.get(individual) ?? 0) + 1);
  });
  if (rows.size === 0) return false;
  const ids = [...reading.series[0].rows.ids.keys()];
  const shown = [...rows.keys()].slice(0, 3).map((i) => `"${showReceived(ids[i])}"`);
  const more = rows.size > shown.length ? ` and ${rows.size - shown.length} more` : "";
  const received = `none for ${rows.size} of ${all.size} individuals (${shown.join(", ")}${more})`;
  const { line: _, ...place } = where(0);
  const leaveOut = reading.leaveOut && rows.size < all.size;
  const remedy = leaveOut ? "They were left out." : "Fill the cells, or leave these individuals out (--leave-out-bad).";
  const words = [`an origin in "${showReceived(column)}" for everybody`, received, remedy] as const;
  if (!leaveOut) {
    reading.structure.refuse(place, "missing-origin", words);
    return true;
  }
  reading.cells.warn(
    place,
    [...rows.values()].reduce((sum, n) => sum + n, 0),
    "missing-origin",
    words,
  );
  const lines = new Set<number>();
  for (const series of reading.series) {
    keepRows(series.rows, (individual) => !rows.has(individual));
    for (let row = 0; row < series.rows.length; row++) lines.add(lineOf(series.rows, row));
  }
  reading.numTaken = lines.size;
  return false;
}

/** Takes the origins of individuals from their own table; undefined after a complaint. */
function takeSubjects(
  reading: Reading,
  found: FoundColumns,
  name: string,
): { readonly file?: string; readonly column: string; readonly columnNumber: number } | undefined {
  const { subjects } = reading.options;
  const names = subjects?.columns.map((column) => column.name) ?? [];
  const [at = -1] = columnsNamed(names, name);
  if (subjects === undefined || at < 0) {
    const listed = [...found.header, ...names].slice(0, 30).map((one) => `"${showReceived(one)}"`);
    const remedy =
      subjects === undefined
        ? "Name a column of the visits, or add the table of individuals that has it (--subjects FILE)."
        : "Name a column of visits or individuals.";
    const words = [
      `a column "${showReceived(name)}" as origin of time`,
      `the columns ${listed.join(", ")}`,
      remedy,
    ] as const;
    reading.structure.refuse({ line: 1 }, "missing-column", words);
    return undefined;
  }
  const { ids } = reading.series[0].rows;
  const place = { file: subjects.file ?? "the table of individuals", column: names[at], columnNumber: at + 1 };
  const decimal = subjects.decimal ?? ".";
  subjects.ids.forEach((id, row) => {
    const individual = ids.get(id);
    if (individual === undefined) return;
    const line = lineOfSubject(subjects, row);
    const cell = (subjects.columns[at].cells[row] ?? "").trim();
    const fault = takeOrigin(reading.origin, individual, cell, line, (text) => readNumber(text, decimal));
    if (fault !== undefined) reading.cells.refuse({ ...place, line }, ...fault);
  });
  return place;
}

function eachRow({ series }: Reading, visit: (individual: number, code: number) => void): void {
  for (const { rows } of series) {
    for (const { individuals, times, length } of rows.blocks) {
      for (let j = 0; j < length; j++) visit(individuals[j], times[j]);
    }
  }
}

/** Puts counted times into the place of what was read; returns how many are negative. */
function apply({ series }: Reading, time: (individual: number, code: number) => number): number {
  let numBefore = 0;
  for (const { rows } of series) {
    for (const { individuals, times, length } of rows.blocks) {
      for (let j = 0; j < length; j++) {
        times[j] = time(individuals[j], times[j]);
        if (times[j] < 0) numBefore++;
      }
    }
  }
  return numBefore;
}

/** Rows of some individuals alone, with their lines. */
function keepRows(rows: Rows, isKept: (individual: number) => boolean): void {
  const kept = createRows();
  let row = 0;
  for (const { individuals, times, values, censored, length } of rows.blocks) {
    for (let j = 0; j < length; j++, row++) {
      if (isKept(individuals[j]))
        appendRow(kept, individuals[j], times[j], values[j], lineOf(rows, row), censored?.[j] ?? 0);
    }
  }
  rows.blocks = kept.blocks;
  rows.length = kept.length;
  rows.lastLine = kept.lastLine;
  rows.jumps = kept.jumps;
}
