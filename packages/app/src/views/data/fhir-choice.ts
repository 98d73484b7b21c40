/** What the user says about files of FHIR resources: which codes are markers, which conditions are outcomes. Pure, so that it can be tested. */
import type { Marker } from "@trajectory-maps/core";
import type { FhirListing, ListedCode } from "@trajectory-maps/core/fhir";
import { type TimeUnit, type Transform, timeUnitOf } from "@trajectory-maps/core/ingest";
import type { FhirChoice, FhirRules } from "../../worker/api.ts";

/** A code that was chosen. Codes of one name are read as one marker, with unit and transform of the first. */
export interface CodeRow {
  readonly code: string;
  readonly name: string;
  /** The unit that values are brought to. */
  readonly unit: string;
  readonly transform: Transform;
  /** Units that are meant otherwise than they are written. */
  readonly meant: Readonly<Record<string, string>>;
}

/** Resources as the user describes them. */
export interface CodesChoice {
  readonly rows: readonly CodeRow[];
  readonly conditions: readonly string[];
  readonly timeUnit: TimeUnit;
  readonly preliminary: boolean;
  readonly strings: boolean;
  readonly middle: boolean;
  readonly keepRepeats: boolean;
}

/** Markers of a saved model, in their order, and from when its times are counted. */
export interface WaitingModel {
  readonly markers: readonly Partial<Marker>[];
  readonly origin: string;
}

/** The first choice: the only code, if there is one; else it is asked for. */
export function firstChoice({ codes }: FhirListing, model: WaitingModel | null): CodesChoice {
  const none: CodesChoice = {
    rows: [],
    conditions: [],
    timeUnit: timeUnitOf(model?.markers[0]?.timeUnit ?? "") ?? "years",
    preliminary: false,
    strings: false,
    middle: false,
    keepRepeats: false,
  };
  const [only, ...others] = codes;
  return only === undefined || others.length > 0 ? none : toggleCode(none, only, model);
}

/** The choice with a code more or less; with a model the codes are its markers, in their order. */
export function toggleCode(
  choice: CodesChoice,
  { code, name, units }: ListedCode,
  model: WaitingModel | null,
): CodesChoice {
  const { rows } = choice;
  if (rows.some((row) => row.code === code)) return { ...choice, rows: rows.filter((row) => row.code !== code) };
  const own = model?.markers[rows.length] ?? {};
  const row: CodeRow = {
    code,
    name: own.name ?? (name === "" ? code : name),
    unit: own.unit ?? units.find(({ unit }) => unit !== "")?.unit ?? "",
    transform: own.transform ?? "identity",
    meant: {},
  };
  return { ...choice, rows: [...rows, row] };
}

/** The choice with something else said of a code. */
export function describeCode(choice: CodesChoice, code: string, change: Partial<Omit<CodeRow, "code">>): CodesChoice {
  return { ...choice, rows: choice.rows.map((row) => (row.code === code ? { ...row, ...change } : row)) };
}

/** The choice with a condition more or less. */
export function toggleCondition(choice: CodesChoice, code: string): CodesChoice {
  const { conditions } = choice;
  const others = conditions.filter((known) => known !== code);
  return { ...choice, conditions: others.length < conditions.length ? others : [...conditions, code] };
}

/** What is taken besides final results with a day and a number. */
export function rulesOf({ preliminary, strings, middle }: CodesChoice): FhirRules {
  return {
    ...(preliminary ? { status: ["final", "amended", "corrected", "preliminary"] } : {}),
    ...(middle ? { partialDates: "middle" as const } : {}),
    strings,
  };
}

/** Rows of each marker: those of one name together. */
export function markersOf({ rows }: CodesChoice): (readonly CodeRow[])[] {
  const markers = new Map<string, CodeRow[]>();
  for (const row of rows) {
    const name = row.name.trim();
    markers.set(name, [...(markers.get(name) ?? []), row]);
  }
  return [...markers.values()];
}

/** What is still to be said before the values can be checked; null if nothing is. */
export function openCodes(choice: CodesChoice, model: WaitingModel | null): string | null {
  const { length } = markersOf(choice);
  if (model !== null && length !== model.markers.length) {
    const names = model.markers.map(({ name = "" }) => name).join(", ");
    return `Choose the codes of the model's markers, in their order: ${names}.`;
  }
  return length === 0 ? "Choose at least one code." : null;
}

/** The choice as the reader takes it. */
export function readCodes(choice: CodesChoice, model: WaitingModel | null): FhirChoice {
  const { rows, conditions, timeUnit, keepRepeats } = choice;
  const markers = markersOf(choice).map(([first, ...others], k) => {
    const { code, name, unit, transform } = first!;
    const { limits } = model?.markers[k] ?? {};
    return {
      codes: [code, ...others.map((other) => other.code)],
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      unit: unit.trim(),
      transform,
      ...(limits === undefined ? {} : { limits }),
    };
  });
  return {
    fhir: {
      ...rulesOf(choice),
      markers,
      conditions: conditions.map((code) => [code]),
      meant: Object.assign({}, ...rows.map(({ meant }) => meant)) as Record<string, string>,
      timeUnit,
      origin: model?.origin ?? "first",
      mayLack: model !== null,
    },
    ...(keepRepeats ? { keepRepeats } : {}),
  };
}

/** Codes or conditions whose code or name holds the text. */
export function withText<T extends { readonly code: string; readonly name: string }>(
  all: readonly T[],
  text: string,
): T[] {
  const wanted = text.trim().toLowerCase();
  return all.filter(({ code, name }) => `${code} ${name}`.toLowerCase().includes(wanted));
}
