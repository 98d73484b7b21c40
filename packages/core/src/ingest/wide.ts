/**
 * Tables with one row per individual and a column for each time: fvc_0, fvc_6, fvc_12; 2019, 2020; month0, month6; v1_fvc, v2_fvc. Names are
 * split into a marker and a time (wide-names.ts); the table is then read as if each time had a row of its own. A column that looks like a time of a
 * marker and is not read is named.
 */
import { showReceived } from "../errors.ts";
import { type TimeUnit, timeUnitOf } from "./calendar.ts";
import { columnsNamed, usualColumns } from "./column-names.ts";
import { isMissing } from "./numbers.ts";
import { inOneUnit, isDated, matchPattern, type Split, signed, splitName } from "./wide-names.ts";

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
  /** Columns that look like times of a marker, but are not read. */
  readonly unread: readonly string[];
  /** What was understood, in sentences. */
  readonly notes: readonly string[];
}

export interface WidePoint {
  readonly time: string;
  readonly timeColumn: number;
  readonly columns: readonly number[];
}

/**
 * The layout of a wide table by the names of its columns; undefined if they show none. Without patterns the marker with the most times is
 * taken, and those that share at least half of their times with it. Times whose unit the names say are counted in `asked` if that is given.
 */
export function findWide(
  header: readonly string[],
  wide: true | string = true,
  asked?: TimeUnit,
): WideLayout | undefined {
  const names = header.map((name) => name.trim());
  const patterns = wide === true ? [] : wide.split(",").map((pattern) => pattern.trim());
  const ids = usualColumns(names, "id");
  const doubtful = wide === true ? withTwoNumbers(names) : new Set<string>();
  const written = signed(names).map((name, k) => {
    if (ids.includes(k) || doubtful.has(names[k])) return undefined;
    if (wide === true) return splitName(name);
    return patterns.map((pattern) => matchPattern(name, pattern)).find((split) => split !== undefined);
  });
  const splits = inOneUnit(written, asked);
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
  const unread = new Set(unreadOf(names, written, taken, ids));
  const named = names.filter((name) => doubtful.has(name) || unread.has(name));
  return layoutOf(names, splits, taken, named);
}

const TWO_NUMBERS = /^(?:(.*\p{L}.*?)_+)?(?:m|mo|months?|y|yrs?|years?|w|wks?|weeks?|d|days?)?(\d{1,3})_(\d+)\D*$/iu;
/** Digits behind a decimal point, as people write times. */
const DECIMALS = /^(?:\d|25|50|75)$/;

/**
 * Names such as fvc_0_5, fvc_1_0 and fvc_1_5: times with a decimal point, which many programs do not take in names, or markers fvc_0 and fvc_1 at times 0 and 5.
 * Nobody says which but a pattern: fvc_* for the first, fvc_0_*,fvc_1_* for the others.
 */
function withTwoNumbers(names: readonly string[]): Set<string> {
  const found = names.flatMap((name) => {
    const [, beginning = "", first, second] = TWO_NUMBERS.exec(name) ?? [];
    return first === undefined ? [] : [{ name, beginning: beginning.toLowerCase(), first, second }];
  });
  const isDoubtful = (of: string) => {
    const alike = found.filter(({ beginning }) => beginning === of);
    return new Set(alike.map(({ first }) => first)).size > 1 && alike.every(({ second }) => DECIMALS.test(second));
  };
  return new Set(found.filter(({ beginning }) => isDoubtful(beginning)).map(({ name }) => name));
}

/** Words of times that only the protocol of a study can date. */
const UNDATED = /(?:^|[\s_.-])(?:screening|scr|sc|pre|post|follow[\s_.-]?up|fu|last|final|eos|eot)(?:[\s_.-]|$)/i;

/**
 * Columns that look like times and are none of those taken: of names with a time if another one is of the same marker or they say it by a word, of
 * others those of a taken marker (fvc_screening; fvc_pre beside fvc_post6), or of an unknown time where names are times alone (screening).
 */
function unreadOf(
  names: readonly string[],
  written: readonly (Split | undefined)[],
  taken: readonly (readonly [string, ReadonlyMap<string, number>])[],
  ids: readonly number[],
): string[] {
  const used = new Set([...taken.flatMap(([, times]) => [...times.values()]), ...ids]);
  const stems = taken.map(([stem]) => stem);
  const isOfTaken = (name: string) =>
    stems.some((stem) =>
      stem === ""
        ? UNDATED.test(name)
        : sharesBeginning(name, stem) ||
          (name.length > stem.length &&
            ((name.startsWith(stem) && /[\s_.-]/.test(name[stem.length])) ||
              (name.endsWith(stem) && /[\s_.-]/.test(name[name.length - stem.length - 1])))),
    );
  const numOf = (stem: string) => written.filter((split) => split?.stem.toLowerCase() === stem).length;
  return names.filter((name, k) => {
    if (used.has(k) || name === "") return false;
    if (stems.includes("") && !/\p{L}/u.test(name)) return true;
    const split = written[k];
    if (split === undefined) return isOfTaken(name.toLowerCase());
    const stem = split.stem.toLowerCase();
    return (
      stems.includes(stem) || numOf(stem) > 1 || (stem === "" && (split.word.length > 2 || Number(split.time) === 0))
    );
  });
}

/** Whether a name begins as that of a marker of several words does: fvc_pre beside fvc_post. */
function sharesBeginning(name: string, stem: string): boolean {
  const [beginning = ""] = /^\p{L}+[\s_.-]+(?=.)/u.exec(stem) ?? [];
  return beginning !== "" && usualColumns([beginning], "id").length === 0 && name.startsWith(beginning);
}

/** Columns named in a sentence. */
const NAMED = 8;

/** What is said of columns that are not read; "" if there are none. */
export function unreadWords({ unread }: Pick<WideLayout, "unread">): string {
  if (unread.length === 0) return "";
  const listed = unread.slice(0, NAMED).map((name) => `"${showReceived(name)}"`);
  const more = unread.length > NAMED ? ` and ${unread.length - NAMED} more` : "";
  return `Not read, as no time is known that fits: ${listed.join(", ")}${more}.`;
}

/** One time, however it is written: 06 is 6. */
function timeKey(time: string): string {
  return isDated(time) ? time : String(Number(time));
}

/** Times of a wide table as they are shown, with their unit if the names say one. */
export function timesWords(times: readonly string[], unit: TimeUnit | undefined): string {
  const shown = times.map((time) => (isDated(time) ? time : String(Number(Number(time).toPrecision(6)))));
  const listed = shown.length > 6 ? `${shown.slice(0, 5).join(", ")} ... ${shown.at(-1)}` : shown.join(", ");
  return unit === undefined ? listed : `${listed} ${unit}`;
}

function layoutOf(
  names: readonly string[],
  splits: readonly (Split | undefined)[],
  taken: readonly (readonly [string, ReadonlyMap<string, number>])[],
  unread: readonly string[],
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
  const unit = units.length === 1 && clock === undefined ? units[0] : undefined;
  const notes = [
    `One row per individual is read as one row per visit: ${markerNames.map((name) => `"${name}"`).join(", ")} at ${timesWords(points, unit)}.`,
  ];
  if (clock !== undefined) notes.push(`Times are those of the columns "${names[[...clock[1].values()][0]]}" and on.`);
  else if (words.some((word) => /^(?:visits?|v|tp)$/.test(word))) notes.push("Numbers of visits are taken as times.");
  else if (words.some((word) => /^(?:q|quar|trim)/.test(word))) notes.push("Numbers of quarters are taken as times.");
  if (words.includes("period")) notes.push("Quarters, half-years and months are taken at their first day.");
  if (unread.length > 0)
    notes.push(
      `${unreadWords({ unread })} Rename a column to read it, such as fvc_-1 for a screening one month before.`,
    );
  return {
    header: [...keptNames, time, ...markerNames],
    markers: markerNames,
    time,
    unit,
    kept,
    points: points.map((point) => ({
      time: point,
      timeColumn: clock?.[1].get(point) ?? -1,
      columns: markers.map(([, times]) => times.get(point) ?? -1),
    })),
    unread,
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
