/**
 * Which column holds what. A name given is found as it is written, or without regard to case and surrounding space
 * when that is unambiguous; names not given are guessed from usual ones, and the guess is told.
 */
import { type Complaint, nearestName, showReceived, type Where } from "../errors.ts";
import { columnsNamed, hasWordOf, type Role, usualColumns, withoutUnit } from "./column-names.ts";
import { complaint, type Finding } from "./complaints.ts";
import { saysDate } from "./date-column.ts";
import { readNumber } from "./numbers.ts";
import type { CountedTimes } from "./origin.ts";
import { findWide, timesWords, unreadWords, type WideLayout } from "./wide.ts";

/** Names of the columns that hold a marker: three, and where several markers share them one more that says which. */
export interface Columns extends CountedTimes {
  readonly id: string;
  readonly time: string;
  readonly value: string;
  /** The column that names the marker of each row, and how the marker is written there. */
  readonly marker?: string;
  readonly level?: string;
}

export interface FoundColumns {
  /** All names, as they are written but for space around them. */
  readonly header: readonly string[];
  /** 0-based positions. */
  readonly positions: Readonly<Record<Role, number>>;
  /** Position of the value column of each marker, −1 if the table lacks it, [K]. */
  readonly values: readonly number[];
  /** Position of the column that names the marker of each row; −1 if each marker has a column of its own. */
  readonly marker: number;
  /** Position of a column whose name says dates beside one guessed as time, which may hold times of day; −1 if there is none. */
  readonly dates: number;
  /** Sentences for the reader: guesses, ignored columns. */
  readonly notes: readonly string[];
}

/** What is wanted of a table: names of its columns, those not given being guessed. */
export interface WantedColumns extends Partial<Pick<Columns, Role>> {
  /** Value columns of several markers, instead of `value`. */
  readonly values?: readonly string[];
  /** The column that names the marker of each row. */
  readonly marker?: string;
  /** Whether a table may lack the columns of some markers, though not of all. */
  readonly mayLack?: boolean;
}

/** Where a cell of a line is. */
export function cellPlace({ header }: FoundColumns, position: number, line: number): Where {
  return { line, column: header[position], columnNumber: position + 1 };
}

/** The columns, or complaints about the header. `line` is the header's line. */
export function findColumns(
  header: readonly string[],
  wanted: WantedColumns,
  line: number,
  file?: string,
): FoundColumns | readonly Complaint[] {
  const names = header.map((name) => name.trim());
  const complaints: Complaint[] = [];
  const notes: string[] = [];
  const { values: several = [wanted.value], mayLack = false } = wanted;
  const named = [wanted.id, wanted.time, ...several, wanted.marker].flatMap((name) =>
    name === undefined ? [] : columnsNamed(names, name),
  );
  const taken: number[] = [];
  const where = file === undefined ? { line } : { file, line };
  // A column that is named for something is guessed for something else only if there is no other: that is then refused.
  const guess = (role: Role) => {
    const free = usualColumns(names, role, [...new Set([...taken, ...named])]);
    return free.length > 0 ? free : usualColumns(names, role, taken);
  };
  const position = (role: Role, given: string | undefined): number => {
    const found = given === undefined ? guess(role) : columnsNamed(names, given);
    if (found.length === 1) {
      taken.push(found[0]);
      if (given === undefined) notes.push(`Column "${names[found[0]]}" is taken as ${role}.`);
      else if (names[found[0]] !== given) notes.push(`Column "${names[found[0]]}" is taken for "${given}".`);
    } else if (found.length > 1) {
      const place = { ...where, column: names[found[0]], columnNumber: found[0] + 1 };
      const expected = `one column "${showReceived(names[found[0]])}"`;
      const received = `${found.length}, at positions ${found.map((k) => k + 1).join(" and ")}`;
      const words = [expected, received, "Rename or remove all but one."] as const;
      complaints.push(complaint("refuse", place, "duplicate-column", words));
    } else {
      complaints.push(missingColumn(names, role, given, where, taken));
    }
    return found[0] ?? -1;
  };
  const [id, time] = [position("id", wanted.id), position("time", wanted.time)];
  const isOpen = wanted.time === undefined && time >= 0 && !saysDate(names[time]);
  const dated = isOpen ? usualColumns(names.map(dateName), "time", [...taken, ...named]) : [];
  const dates = dated.length === 1 ? dated[0] : -1;
  // Beside another time, dates are no marker.
  if (dates >= 0) taken.push(dates);
  const present = several.filter((name) => name !== undefined && columnsNamed(names, name).length > 0);
  const lacks = (name: string | undefined) => mayLack && present.length > 0 && !present.includes(name);
  const values = several.map((name) => (lacks(name) ? -1 : position("value", name)));
  const marker = wanted.marker === undefined ? -1 : position("value", wanted.marker);
  const wide =
    complaints.some((c) => c.code === "missing-column") && id >= 0 ? wideOf(names, wanted, time, values) : undefined;
  if (wide !== undefined) return [wideComplaint(wide, where)];
  if (complaints.some((c) => c.code === "missing-column") && looksLikeData(names)) {
    const expected = "a first line with the names of the columns";
    const remedy = "The first line looks like data; add a line such as id,time,value before it.";
    return [complaint("refuse", where, "no-header", [expected, `"${showReceived(names.join(" "))}"`, remedy])];
  }
  const twice = twoRolesFinding([
    { role: "id", at: id },
    { role: "time", at: time },
    ...values.map((at, k) => ({ role: wanted.values === undefined ? "value" : `marker "${several[k]}"`, at })),
    { role: "column of markers", at: marker },
  ]);
  if (twice !== undefined) {
    const place = { ...where, column: names[twice.at], columnNumber: twice.at + 1 };
    complaints.push(complaint("refuse", place, ...twice.finding));
  }
  if (complaints.length > 0) return complaints;
  const unnamed = names.indexOf("");
  if (unnamed >= 0) notes.push(`Column ${unnamed + 1} has no name and is ignored.`);
  for (const name of several.filter(lacks))
    notes.push(`There is no column "${name}": that marker is taken as not measured.`);
  const value = values.find((at) => at >= 0)!;
  return { header: names, positions: { id, time, value }, values, marker, dates, notes };
}

/** A name that says dates, "" for others. */
const dateName = (name: string) => (saysDate(name) ? name : "");

/** The columns with the dates as time: what was guessed holds times of day. */
export function withDates(found: FoundColumns): FoundColumns {
  const [clock, date] = [found.positions.time, found.dates].map((at) => found.header[at]);
  const notes = found.notes.map((note) =>
    note === `Column "${clock}" is taken as time.`
      ? `Column "${date}" is taken as time; the times of day in "${clock}" are passed over.`
      : note,
  );
  return { ...found, positions: { ...found.positions, time: found.dates }, dates: -1, notes };
}

/** The complaint about a column that is asked for as more than one thing; undefined where each is one. */
export function twoRolesFinding(
  roles: readonly { readonly role: string; readonly at: number }[],
): { readonly finding: Finding; readonly at: number } | undefined {
  const twice = twoRoles(roles);
  if (twice === undefined) return undefined;
  const { at, roles: same } = twice;
  const received = `one as ${same.join(" and as ")}`;
  return { at, finding: ["two-roles", ["a column for each", received, "Name another column for one."]] };
}

/** The first position that is asked for as more than one thing. */
function twoRoles(roles: readonly { readonly role: string; readonly at: number }[]) {
  for (const { at } of roles) {
    const same = roles.filter((other) => other.at === at && at >= 0).map(({ role }) => role);
    if (same.length > 1) return { at, roles: same };
  }
  return undefined;
}

function missingColumn(
  names: readonly string[],
  role: Role,
  given: string | undefined,
  where: Complaint["where"],
  taken: readonly number[],
): Complaint {
  const listed = names.slice(0, 30).map((name) => `"${showReceived(name)}"`);
  const more = names.length > 30 ? ` and ${names.length - 30} more` : "";
  const nearest = nearestName(names, given ?? role);
  const hint = nearest === undefined ? "" : ` Did you mean "${showReceived(nearest)}"?`;
  const [likely] = names.filter(
    (name, k) => role !== "value" && !taken.includes(k) && hasWordOf(withoutUnit(name), role) && !/\p{C}/u.test(name),
  );
  const free = names.filter((name, k) => !taken.includes(k) && mayBeMarker(name));
  const choice =
    role === "value" && given === undefined && free.length > 1
      ? `Name it (--value ${shellWord(free[0])}), or several markers (--markers ${shellWord(free.slice(0, 3).map(listWord).join(","))}).`
      : role === "value" && given === undefined && free.length === 1
        ? `Name it (--value ${shellWord(free[0])}).`
        : likely !== undefined && given === undefined
          ? `Name the column that holds the ${role}, such as --${role} ${shellWord(likely)}.`
          : `Name the column that holds the ${role}.${hint}`;
  return complaint("refuse", where, "missing-column", [
    given === undefined ? `a column for the ${role}` : `a column "${showReceived(given)}"`,
    `the columns ${listed.join(", ")}${more}`,
    choice,
  ]);
}

/** Whether a column can be proposed for the value: one whose name says an id or a time is none, nor is one that cannot be typed. */
function mayBeMarker(name: string): boolean {
  const isUsual = (["id", "time"] as const).some(
    (role) => usualColumns([name], role).length > 0 || hasWordOf(withoutUnit(name), role),
  );
  return name !== "" && !isUsual && !/\p{C}/u.test(name);
}

/** A name in a list with commas: in double quotes where it holds a sign of the list. */
export function listWord(name: string): string {
  return /[,:"[\]]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** A word as it stands on a command line: in double quotes, which every shell knows, where these keep it as it is. */
export function shellWord(word: string): string {
  if (/^[\w.,-]+$/.test(word)) return word;
  return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : `"${word}"`;
}

/** The layout of what is no table of visits, if it looks like a wide one: an age at the first visit is not taken for a time. */
function wideOf(
  names: readonly string[],
  wanted: WantedColumns,
  time: number,
  values: readonly number[],
): WideLayout | undefined {
  if (wanted.time !== undefined || (time >= 0 && !values.includes(-1))) return undefined;
  const layout = findWide(names);
  return time < 0 || withoutUnit(names[time]).toLowerCase() === "age" || (layout?.points.length ?? 0) > 2
    ? layout
    : undefined;
}

/** What is asked about a table with one row per individual. */
function wideComplaint(layout: WideLayout, where: Complaint["where"]): Complaint {
  const { markers, points, unit } = layout;
  const listed = timesWords(
    points.map(({ time }) => time),
    unit,
  );
  const named = markers.map((name) => `"${showReceived(name)}"`).join(", ");
  const isDated = points.every(({ time }) => /\d-/.test(time));
  const inUnit = isDated
    ? ""
    : unit === undefined
      ? ", with --time-unit for what the numbers count"
      : `, in ${unit} or in --time-unit`;
  return complaint("refuse", where, "missing-column", [
    "one row per visit, with columns for id, time and value",
    `what looks like one row per individual: ${named} at ${listed}`,
    `If that is so, read it as one (--wide; wide: true)${inUnit}. Otherwise name the columns (--time, --value). ${unreadWords(layout)}`.trim(),
  ]);
}

function looksLikeData(names: readonly string[]): boolean {
  return names.some((name) => !Number.isNaN(readNumber(name, ".")));
}
