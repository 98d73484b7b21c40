/**
 * Tables with one row per individual and a column for each time: fvc_0, fvc_6, fvc_12; 2019, 2020; month0, month6; v1_fvc, v2_fvc. Names are
 * split into a marker and a time; the table is then read as if each time had a row of its own.
 */
import { DAYS_PER, type TimeUnit, timeUnitOf } from "./calendar.ts";
import { columnsNamed, usualColumns } from "./column-names.ts";
import { isMissing } from "./numbers.ts";
import { readDate } from "./written-dates.ts";

export interface WideLayout {
  /** Names of the long table: columns as they are, the time, one of each marker. */
  readonly header: readonly string[];
  /** Markers by their names, in the order of the table. */
  readonly markers: readonly string[];
  /** Name of the column of times in the long table. */
  readonly time: string;
  /** Unit that the names say, if they do. */
  readonly unit: TimeUnit | undefined;
  /** Positions of the columns that are taken as they are. */
  readonly kept: readonly number[];
  /** For each time: how it is written as a cell, or the position of the column with it, and the column of each marker (−1: none). */
  readonly points: readonly WidePoint[];
  /** What was understood, in sentences. */
  readonly notes: readonly string[];
}

export interface WidePoint {
  readonly time: string;
  readonly timeColumn: number;
  readonly columns: readonly number[];
}

/** A name of a column as marker and time. */
interface Split {
  readonly stem: string;
  readonly time: string;
  /** The word beside the number: month, v. */
  readonly word: string;
}

/** Stands for a minus, which belongs to the number behind another gap or in front: fvc_-6, but not fvc-6. */
const MINUS = "~";
const NUMBER = String.raw`(${MINUS}?\d{1,6}(?:[.,]\d+)?)`;
const UNITS = "months?|mon|mo|m|years?|yrs?|y|weeks?|wks?|w|days?|d";
const WORDS = `${UNITS}|visits?|v|time|tp|t`;
const GAP = String.raw`[\s_.\-]`;
const WORD_BEFORE = new RegExp(`^(?:(.*?)${GAP}+)?(${WORDS})${GAP}*${NUMBER}$`, "i");
const WORD_BEHIND = new RegExp(`^(.*?)${GAP}*${NUMBER}${GAP}*(${UNITS})$`, "i");
const LAST = new RegExp(`^(.*?)${GAP}*${NUMBER}$`, "i");
const FIRST = new RegExp(`^(${WORDS})?${GAP}*${NUMBER}${GAP}+(.+)$`, "i");
const BASELINE = new RegExp(`^(?:(.*?)${GAP}+)?(?:baseline|bl)$`, "i");

function splitName(written: string): Split | undefined {
  const name = written.replace(/(^|[\s_.])-(?=\d)/, `$1${MINUS}`);
  const dated = /^(.*?)[\s_]*(\d{4}-\d{2}-\d{2})$/.exec(name);
  if (dated !== null && readDate(dated[2])?.kind === "day") return { stem: dated[1], time: dated[2], word: "date" };
  const split = (stem = "", time = "", word = "") => ({
    stem,
    time: time.replace(",", ".").replace(MINUS, "-"),
    word: word.toLowerCase(),
  });
  const before = WORD_BEFORE.exec(name);
  if (before !== null) return split(before[1], before[3], before[2]);
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
function signed(names: readonly string[]): string[] {
  return names.map((name) => {
    const [, before, behind] = /^(.*[a-z])-(\d.*)$/i.exec(name) ?? [];
    const isMinus = before && names.some((other) => other.startsWith(before) && /^\d/.test(other.slice(before.length)));
    return isMinus ? `${before}${MINUS}${behind}` : name;
  });
}

/** A name as a pattern such as fvc_* has it; undefined if it is not of the pattern, or its * no number or date. */
function matchPattern(name: string, pattern: string): Split | undefined {
  const [before = "", ...rest] = pattern.split("*");
  const behind = rest.join("*");
  const fits = name.length > before.length + behind.length && name.startsWith(before) && name.endsWith(behind);
  if (!fits) return undefined;
  const split = splitName(name.slice(before.length, name.length - behind.length));
  if (split === undefined || split.stem !== "") return undefined;
  const stem = `${before}${behind === "" || before === "" ? "" : "_"}${behind}`.replace(/^[\s_.-]+|[\s_.-]+$/g, "");
  return { ...split, stem };
}

/**
 * Names of one marker that say several units (6wk, 3mo, 1yr) as days; those that say a unit beside a number without one are no series.
 * A number 0 needs none.
 */
function inOneUnit(splits: readonly (Split | undefined)[]): readonly (Split | undefined)[] {
  const saidOf = ({ time, word }: Split) => timeUnitOf(word) ?? (Number(time) === 0 ? undefined : "");
  const said = new Map<string, Set<string>>();
  for (const split of splits) {
    const unit = split && saidOf(split);
    if (unit === undefined) continue;
    const stem = split!.stem.toLowerCase();
    said.set(stem, (said.get(stem) ?? new Set()).add(unit));
  }
  const several = [...said.values()].some((units) => units.size > 1 && !units.has(""));
  return splits.map((split) => {
    const units = split && said.get(split.stem.toLowerCase());
    if (split === undefined || units === undefined) return split;
    if (units.has("") && units.size > 1) return undefined;
    const unit = timeUnitOf(split.word);
    if (!several || unit === undefined) return split;
    const days = Number((Number(split.time) * DAYS_PER[unit]).toFixed(4));
    return { ...split, time: String(days), word: "days" };
  });
}

/**
 * The layout of a wide table by the names of its columns; undefined if they show none. Without patterns the marker with the most times is
 * taken, and those that share at least half of their times with it.
 */
export function findWide(header: readonly string[], wide: true | string = true): WideLayout | undefined {
  const names = header.map((name) => name.trim());
  const patterns = wide === true ? [] : wide.split(",").map((pattern) => pattern.trim());
  const ids = usualColumns(names, "id");
  const written = signed(names).map((name, k) => {
    if (ids.includes(k)) return undefined;
    if (wide === true) return splitName(name);
    return patterns.map((pattern) => matchPattern(name, pattern)).find((split) => split !== undefined);
  });
  const splits = inOneUnit(written);
  const stems = new Map<string, Map<string, number>>();
  for (const [k, split] of splits.entries()) {
    if (split === undefined) continue;
    const times = stems.get(split.stem.toLowerCase()) ?? new Map<string, number>();
    stems.set(split.stem.toLowerCase(), times);
    const key = timeKey(split.time);
    // Two columns for one time are no series.
    times.set(key, times.has(key) ? -1 : k);
  }
  const series = [...stems].filter(([, times]) => times.size > 1 && ![...times.values()].includes(-1));
  const longest = series.reduce<Map<string, number>>(
    (most, [, times]) => (times.size > most.size ? times : most),
    new Map(),
  );
  const shared = (times: Map<string, number>) => [...times.keys()].filter((time) => longest.has(time)).length;
  const taken = wide === true ? series.filter(([, times]) => 2 * shared(times) >= times.size) : series;
  if (taken.length === 0) return undefined;
  return layoutOf(names, splits, taken);
}

const isDated = (time: string) => /\d-/.test(time);

/** One time, however it is written: 06 is 6. */
function timeKey(time: string): string {
  return isDated(time) ? time : String(Number(time));
}

function layoutOf(
  names: readonly string[],
  splits: readonly (Split | undefined)[],
  taken: readonly (readonly [string, ReadonlyMap<string, number>])[],
): WideLayout | undefined {
  // A column of dates or times for each visit (date_1, fvc_1) says the time better than its number.
  const isClock = ([stem]: (typeof taken)[number]) => taken.length > 1 && usualColumns([stem], "time").length > 0;
  const clock = taken.find(isClock);
  const markers = taken.filter((one) => one !== clock);
  const points = [...new Set(markers.flatMap(([, times]) => [...times.keys()]))];
  points.sort((a, b) => (isDated(a) || isDated(b) ? (a < b ? -1 : 1) : Number(a) - Number(b)));
  const used = new Set(taken.flatMap(([, times]) => [...times.values()]));
  const kept = names.flatMap((_, k) => (used.has(k) ? [] : [k]));
  const stemName = (times: ReadonlyMap<string, number>) => splits[[...times.values()][0]]!.stem;
  const keptNames = kept.map((k) => names[k]);
  const free = (name: string): string => (columnsNamed(keptNames, name).length > 0 ? free(`${name}_`) : name);
  const markerNames = markers.map(([, times]) => free(stemName(times) || "value"));
  const time = free(clock === undefined ? "time" : stemName(clock[1]));
  const words = [...new Set([...used].map((k) => splits[k]!.word))];
  const units = [...new Set(words.flatMap((word) => timeUnitOf(word) ?? []))];
  const listed = points.length > 6 ? `${points.slice(0, 5).join(", ")} ... ${points.at(-1)}` : points.join(", ");
  const notes = [
    `One row per individual is read as one row per visit: ${markerNames.map((name) => `"${name}"`).join(", ")} at ${listed}.`,
  ];
  if (clock !== undefined) notes.push(`Times are those of the columns "${names[[...clock[1].values()][0]]}" and on.`);
  else if (words.some((word) => /^(?:visits?|v|tp)$/.test(word))) notes.push("Numbers of visits are taken as times.");
  return {
    header: [...keptNames, time, ...markerNames],
    markers: markerNames,
    time,
    unit: units.length === 1 && clock === undefined ? units[0] : undefined,
    kept,
    points: points.map((point) => ({
      time: point,
      timeColumn: clock?.[1].get(point) ?? -1,
      columns: markers.map(([, times]) => times.get(point) ?? -1),
    })),
    notes,
  };
}

/** The row of one time as the long table has it; undefined if nothing was measured then. */
export function wideRow({ kept }: WideLayout, point: WidePoint, fields: readonly string[]): string[] | undefined {
  const cells = point.columns.map((k) => (k < 0 ? "" : fields[k]));
  if (cells.every((cell) => isMissing(cell.trim()))) return undefined;
  return [...kept.map((k) => fields[k]), point.timeColumn < 0 ? point.time : fields[point.timeColumn], ...cells];
}

/** Position in the wide table of a column of the long one, of the row of one time; −1 if it stands in none. */
export function wideColumn({ kept }: WideLayout, point: WidePoint, at: number): number {
  if (at < kept.length) return kept[at];
  return at === kept.length ? point.timeColumn : (point.columns[at - kept.length - 1] ?? -1);
}
