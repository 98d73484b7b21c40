/** What the user says about a table: which column is which, and what is measured. Pure, so that it can be tested. */
import type { Marker } from "@trajectory-maps/core";
import { type Limits, type TablePreview, TRANSFORMS, type Transform } from "@trajectory-maps/core/ingest";
import type { ReadChoice } from "../../worker/api.ts";
import { modelParts, text } from "./model-text.ts";
import { isDated, readForm, type SaidForm } from "./table-form.ts";

const ROLES = ["id", "time", "value"] as const;
export type Role = (typeof ROLES)[number];
/** A column may also name the marker of each row, for tables with one value column. */
export type Use = Role | "names" | "none";

/** A table as the user describes it; −1 for a column not yet chosen. */
export interface TableChoice {
  readonly positions: { readonly id: number; readonly time: number; readonly value: number };
  readonly timeUnit: string;
  readonly markerName: string;
  readonly markerUnit: string;
  readonly transform: Transform;
  readonly limits: Limits;
  readonly decimal: "auto" | "." | ",";
  /** How it is written otherwise, and from when times are counted. */
  readonly form: SaidForm;
  /** Whether rows that repeat another exactly are read. */
  readonly keepRepeats: boolean;
  /** Markers beside the first, which the fields above describe. */
  readonly others: readonly MarkerRow[];
  /** The column that names the marker of each row, −1 if none does, and how the first is written there. */
  readonly namesColumn: number;
  readonly level: string;
}

/** One of several markers: its value column, or how it is written in the column of names. */
export interface MarkerRow {
  readonly column: number;
  readonly level: string;
  readonly name: string;
  readonly unit: string;
  readonly transform: Transform;
}

export const TIME_UNITS = ["years", "months", "weeks", "days", ""] as const;

/** The first choice for a table: the guesses of the preview, units from the names of columns. */
export function guessChoice({ columns, guesses }: TablePreview): TableChoice {
  const at = (role: Role) => guesses.find((guess) => guess.role === role)?.column ?? -1;
  const positions = { id: at("id"), time: at("time"), value: at("value") };
  const marker = splitUnit(columns[positions.value]?.name ?? "");
  return {
    positions,
    timeUnit: timeUnitFor(columns[positions.time]),
    markerName: marker.name,
    markerUnit: marker.unit,
    transform: "identity",
    limits: [null, null],
    decimal: "auto",
    form: {},
    keepRepeats: false,
    others: [],
    namesColumn: -1,
    level: "",
  };
}

/** Unit of time of a column: dates are counted in years unless another unit is chosen. */
function timeUnitFor(column: TablePreview["columns"][number] | undefined): string {
  return column?.dates === undefined ? guessTimeUnit(column?.name ?? "") : "years";
}

/** Names that say nothing of which marker it is; the same as on the command line. */
const ANY_MARKER = ["value", "y", "measurement", "result"];

/**
 * The choice with the columns and the marker a saved model was made with, so that it can place the table. What the table
 * itself says otherwise stays (a column of another name, a unit in brackets, months): nobody is placed by the wrong marker.
 */
export function choiceForModel(choice: TableChoice, table: TablePreview, modelText: string): TableChoice {
  const { columns } = table;
  const [{ marker, columns: names }] = modelParts(modelText);
  const at = (name: unknown, otherwise: number) => {
    const found = columns.findIndex((column) => column.name === name);
    return found < 0 ? otherwise : found;
  };
  const { id, time, value } = choice.positions;
  const positions = { id: at(names.id, id), time: at(names.time, time), value: at(names.value, value) };
  const column = columns[positions.value]?.name ?? "";
  const said = splitUnit(column);
  const own = [marker.name, names.value ?? marker.name].map((name) => text(name, "").toLowerCase());
  const same = [column, said.name].some((name) => own.includes(name.toLowerCase()));
  const open = [said.name.toLowerCase(), ...own].some((name) => ANY_MARKER.includes(name));
  const clock = columns[positions.time]?.name ?? "";
  const dated = isDated({ ...choice, positions }, table);
  const timeUnit = dated ? "years" : guessTimeUnit(clock);
  // Times are counted as those of the model were; where it does not say how, dates cannot be.
  const origin = (names.dates === true) === dated ? text(names.origin, "none") : "none";
  return {
    ...withMarker(choice, marker),
    positions,
    form: { ...choice.form, origin },
    markerName: same || open ? text(marker.name, choice.markerName) : said.name,
    markerUnit: said.unit !== "" && column !== names.value ? said.unit : text(marker.unit, choice.markerUnit),
    timeUnit: timeUnit !== "years" && clock !== names.time ? timeUnit : text(marker.timeUnit, choice.timeUnit),
  };
}

/** In which the table as described differs from a saved model, in words; empty if the model can place it. */
export function otherThanModel(choice: TableChoice, modelText: string): readonly string[] {
  const models = modelParts(modelText);
  const quoted = (words: string) => (words === "" ? "unknown" : `“${words}”`);
  return markerRows(choice).flatMap(({ name, unit, transform }) => {
    const { marker } = models.find((part) => part.marker.name === name.trim()) ?? models[0];
    const several = models.length > 1 ? `${name}: ` : "";
    const expected =
      models.length > 1 && marker.name !== name.trim()
        ? models.map((part) => part.marker.name).join(", ")
        : marker.name;
    const parts = [
      ["marker", name, expected],
      ["unit", unit, marker.unit],
      ["unit of time", choice.timeUnit, marker.timeUnit],
      ["transform", transform, marker.transform],
    ] as const;
    return parts.flatMap(([what, here, there]) =>
      typeof there === "string" && here.trim() !== there
        ? [`${several}${what} ${quoted(there)}, here ${quoted(here.trim())}`]
        : [],
    );
  });
}

/** The choice with the model's marker, after somebody has said that the column holds it. */
export function takeMarkerOf(choice: TableChoice, modelText: string): TableChoice {
  return withMarker(choice, modelParts(modelText)[0].marker);
}

/** The choice with the columns and the marker named on the command line; a column that is not there is to be chosen. */
export function choiceAsSaid(choice: TableChoice, preview: TablePreview, said: ReadChoice): TableChoice {
  const names = preview.columns.map(({ name }) => name);
  let chosen = choice;
  for (const role of ROLES) {
    const name = said.columns?.[role];
    if (name === undefined) continue;
    const column = names.indexOf(name);
    chosen =
      column < 0
        ? { ...chosen, positions: { ...chosen.positions, [role]: -1 } }
        : assign(chosen, column, role, preview);
  }
  const { decimal = chosen.decimal } = said;
  return { ...withMarker(chosen, { ...said.marker }), form: { ...chosen.form, ...formSaid(said) }, decimal };
}

const FORM_KEYS = (
  "sheet delimiter encoding thousands origin dateOrder yearPivot partialDates swappedDates wide" as const
).split(" ") as readonly Exclude<keyof SaidForm & keyof ReadChoice, "unitColumns">[];

/** The form of a table that is said with other things about it. */
export function formSaid(said: ReadChoice): SaidForm {
  return Object.fromEntries(FORM_KEYS.flatMap((key) => (said[key] === undefined ? [] : [[key, said[key]]])));
}

/** The choice with what is told of a marker. */
function withMarker(choice: TableChoice, marker: Readonly<Record<string, unknown>>): TableChoice {
  return {
    ...choice,
    markerName: text(marker.name, choice.markerName),
    markerUnit: text(marker.unit, choice.markerUnit),
    timeUnit: text(marker.timeUnit, choice.timeUnit),
    transform: TRANSFORMS.find((transform) => transform === marker.transform) ?? choice.transform,
    limits: numbersOf(marker.limits) ?? choice.limits,
  };
}

/** The limits in a model file, if there are any. */
function numbersOf(value: unknown): Limits | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [low, high] = value.map((end: unknown) => (typeof end === "number" ? end : null));
  return [low, high];
}

/** Unit of time from a column's name; years if it says nothing. */
export function guessTimeUnit(name: string): (typeof TIME_UNITS)[number] {
  return saidTimeUnit(name) ?? "years";
}

/** Unit of time that a column's name says; undefined if it says none. */
export function saidTimeUnit(name: string): (typeof TIME_UNITS)[number] | undefined {
  const words = name.toLowerCase().replace(/[^a-z]+/g, " ");
  if (/\b(mo|mos|month|months)\b/.test(words)) return "months";
  if (/\b(wk|wks|week|weeks)\b/.test(words)) return "weeks";
  if (/\b(d|day|days)\b/.test(words)) return "days";
  return /\b(y|yr|yrs|year|years)\b/.test(words) ? "years" : undefined;
}

/** A name that ends with a unit in brackets, in two: "FVC (% predicted)". */
export function splitUnit(name: string): { name: string; unit: string } {
  const found = /^(.+?)\s*[([]([^()[\]]+)[)\]]\s*$/.exec(name);
  return found === null || isRemark(found[2].trim()) ? { name, unit: "" } : { name: found[1], unit: found[2].trim() };
}

/** Words that units are made of: "percent predicted", "units per litre". */
const UNIT_WORDS =
  /\b(predicted|percent|per|units?|points?|score|steps|years?|months?|weeks?|days?|hours?|minutes?|cells?|copies|beats)\b/i;

/** Two words or more without a sign, a number or a word of a unit say something else: "(central reading)". */
function isRemark(text: string): boolean {
  return /^\p{L}{3,}( \p{L}{3,})+$/u.test(text) && !UNIT_WORDS.test(text);
}

/** What a column is used for. */
export function roleOf({ positions, others, namesColumn }: TableChoice, column: number): Use {
  if (column === namesColumn) return "names";
  if (others.some((other) => other.column === column)) return "value";
  return ROLES.find((role) => positions[role] === column) ?? "none";
}

/** The choice with a column used for something else; whoever had that use before loses it, or takes the old one. */
export function assign(
  given: TableChoice,
  column: number,
  role: Role | "none",
  { columns }: Pick<TablePreview, "columns">,
): TableChoice {
  const choice = withoutOther(given, column);
  const positions = { ...choice.positions };
  const before = roleOf(choice, column);
  if (before !== "none" && before !== "names") positions[before] = role === "none" ? -1 : positions[role];
  if (role !== "none") positions[role] = column;
  const changed = (use: Role) => positions[use] !== choice.positions[use] && positions[use] >= 0;
  const marker = splitUnit(columns[positions.value]?.name ?? "");
  const { origin: _, ...form } = choice.form;
  return {
    ...choice,
    positions,
    // What was said of other times does not hold for these.
    ...(changed("time") ? { timeUnit: timeUnitFor(columns[positions.time]), form } : {}),
    ...(changed("value") ? { markerName: marker.name, markerUnit: marker.unit } : {}),
  };
}

/** The choice without a column among the further markers, or as that which names them. */
function withoutOther(choice: TableChoice, column: number): TableChoice {
  if (column === choice.namesColumn) return { ...choice, namesColumn: -1, level: "", others: [] };
  return { ...choice, others: choice.others.filter((other) => other.column !== column) };
}

/** What is still missing before the table can be checked, in words; null if nothing is. */
export function missingRole({ positions }: TableChoice): string | null {
  const words = { id: "individual", time: "time", value: "marker" };
  const missing = ROLES.filter((role) => positions[role] < 0).map((role) => words[role]);
  return missing.length === 0 ? null : `Choose the column for: ${missing.join(", ")}.`;
}

/** The choice as the reader takes it. */
export function readChoice(choice: TableChoice, table: TablePreview): ReadChoice {
  const { columns } = table;
  const { positions, markerName, markerUnit, timeUnit, transform, limits, keepRepeats } = choice;
  const name = (role: Role) => columns[positions[role]]?.name ?? "";
  const written = { ...readForm(choice, table), ...(keepRepeats ? { keepRepeats } : {}) };
  if (isSeveral(choice)) {
    const { id, time, value } = { id: name("id"), time: name("time"), value: name("value") };
    const long = choice.namesColumn >= 0;
    return {
      columns: long ? { id, time, value } : { id, time },
      markers: markerRows(choice).map(({ column, level, name: called, unit, transform: scale }) => {
        const source = long ? level : (columns[column]?.name ?? "");
        return { column: source, name: called.trim() || source, unit: unit.trim(), timeUnit, transform: scale };
      }),
      ...(long ? { markerColumn: columns[choice.namesColumn]?.name ?? "" } : {}),
      ...written,
    };
  }
  const marker: Marker = {
    name: markerName.trim() === "" ? name("value") : markerName.trim(),
    unit: markerUnit.trim(),
    timeUnit,
    transform,
    ...(limits.every((end) => end === null) ? {} : { limits }),
  };
  return {
    columns: { id: name("id"), time: name("time"), value: name("value") },
    marker,
    ...written,
  };
}

/** Whether the table is read with a list of markers. */
export function isSeveral({ others, namesColumn }: TableChoice): boolean {
  return others.length > 0 || namesColumn >= 0;
}

/** All markers chosen, the first as the fields of the choice describe it. */
export function markerRows(choice: TableChoice): readonly MarkerRow[] {
  const { positions, level, markerName: name, markerUnit: unit, transform, others } = choice;
  return [{ column: positions.value, level, name, unit, transform }, ...others];
}

/** What a marker is taken from: its column, or how it is written in the column of names. */
export function sourceOf({ column, level }: MarkerRow, { columns }: Pick<TablePreview, "columns">): string {
  return level === "" ? (columns[column]?.name ?? "") : level;
}

/** Columns of a wide table that are shown at once. */
export const COLUMNS_SHOWN = 40;

/** Positions of the columns to show: those in use, and as many others whose name holds the text, in the file's order. */
export function shownColumns(names: readonly string[], choice: TableChoice, text = ""): number[] {
  const all = [...names.keys()];
  if (names.length <= COLUMNS_SHOWN) return all;
  const used = new Set([...Object.values(choice.positions), choice.namesColumn, ...choice.others.map((o) => o.column)]);
  used.delete(-1);
  const wanted = text.trim().toLowerCase();
  const others = all.filter((k) => !used.has(k) && names[k].toLowerCase().includes(wanted));
  const shown = new Set([...used, ...others.slice(0, COLUMNS_SHOWN)]);
  return all.filter((k) => shown.has(k));
}
