/** An Observation as values of the markers asked for, each with its day and unit; or why it gives none. */
import type { CodeableConcept, Observation, ObservationComponent, Quantity } from "fhir/r4";
import { writeDay } from "../ingest/calendar.ts";
import { unitsContradict } from "../units/convert.ts";
import { hasCode, type WantedCode } from "./codes.ts";
import { dayOf, isDay, numberOf, type PartialDates } from "./days.ts";
import { subjectOf } from "./references.ts";
import type { Found } from "./resources.ts";
import type { ToldCode } from "./told.ts";

export const PERIOD_RULES = ["start", "middle", "end"] as const;
export type PeriodRule = (typeof PERIOD_RULES)[number];

/** Statuses of R4 that stand for a result. */
export const USUAL_STATUS: readonly string[] = ["final", "amended", "corrected"];

export interface ObservationRules {
  /** Codes of each marker, [K]. */
  readonly markers: readonly (readonly WantedCode[])[];
  readonly status: readonly string[];
  readonly partialDates: PartialDates;
  readonly period: PeriodRule;
  /** Whether numbers in valueString are taken. */
  readonly strings: boolean;
}

/** One value, as cells of a table. */
export interface ValueRow {
  readonly id: string;
  /** Address of the server that the id is of, "" if it is not said. */
  readonly server: string;
  readonly day: string;
  readonly marker: number;
  readonly value: string;
  readonly unit: string;
}

/** What an Observation gives: rows, and what is told of it. */
export interface Taken {
  readonly rows: readonly ValueRow[];
  readonly told: readonly ToldCode[];
  /** How what is measured is called there. */
  readonly names: readonly { readonly marker: number; readonly name: string }[];
}

/** The values of an Observation; undefined if it has no code that was asked for. */
export function takeObservation(found: Found, rules: ObservationRules): Taken | undefined {
  const observation = found.resource as Observation;
  const wanted = wantedParts(observation, rules);
  if (wanted.length === 0) return undefined;
  const names = wanted.map(({ marker, part }) => ({ marker, name: nameOf(part) }));
  const status = statusOf(observation, rules);
  const leave = (code: ToldCode): Taken => ({ rows: [], told: [code], names });
  if (status !== undefined) return leave(status);
  if (isModified(observation)) return leave("modifier-extension");
  const rows: ValueRow[] = [];
  const told: ToldCode[] = [];
  for (const { marker, part, kind, isTwice } of wanted) {
    const { row, told: ofPart } = takePart(found, { part, kind }, rules);
    told.push(...ofPart);
    if (row === undefined) continue;
    if (isTwice) told.push("two-markers");
    rows.push({ ...row, marker });
  }
  return { rows, told, names };
}

/** Concepts of an Observation with a number by the rules, each with its value; none of one whose status is not taken. */
export function numbersOf(found: Found, rules: ObservationRules): { readonly part: Part; readonly row: PartRow }[] {
  const observation = found.resource as Observation;
  if (statusOf(observation, rules) !== undefined || isModified(observation)) return [];
  return partsOf(observation).flatMap((own) => {
    const { row } = takePart(found, own, rules);
    return row === undefined ? [] : [{ part: own.part, row }];
  });
}

type PartRow = Omit<ValueRow, "marker">;

/** The value of a part with subject and day, and what is told of it. */
function takePart(
  { resource, fullUrl, patients }: Found,
  { part, kind }: OwnPart,
  rules: ObservationRules,
): { readonly row?: PartRow; readonly told: readonly ToldCode[] } {
  const observation = resource as Observation;
  // Contained members have what the panel says where they say nothing.
  const own = kind === "contained" ? { ...observation, ...withoutUndefined(part as Observation) } : observation;
  if (kind === "contained" && (part as Observation).status !== undefined) {
    const ofPart = statusOf(own, rules);
    if (ofPart !== undefined) return { told: [ofPart] };
  }
  if (isModified(part)) return { told: ["modifier-extension"] };
  const subject = subjectOf(own.subject, patients, fullUrl);
  if ("reason" in subject) return { told: [subject.reason] };
  const time = timeOf(own, rules);
  if (time.day === undefined) return { told: time.told };
  const value = cellOf(part, rules.strings);
  const told = [...time.told, ...value.told];
  if (value.cell === undefined) return { told };
  if ((part.code?.coding?.length ?? 0) > 1) told.push("several-codings");
  if (kind !== "own") told.push(kind);
  return { row: { id: subject.id, server: subject.server, day: time.day, value: value.cell, unit: value.unit }, told };
}

/** A part of an Observation that may have a value: itself, a component, a contained member. */
type Part = ObservationComponent | Observation;

interface OwnPart {
  readonly part: Part;
  readonly kind: "own" | "component" | "contained";
}

interface WantedPart extends OwnPart {
  readonly marker: number;
  /** Whether it has codes of another marker too. */
  readonly isTwice: boolean;
}

/** Whether an extension that is not known here may change the meaning of what it stands in: such must not be read. */
export function isModified(element: { readonly modifierExtension?: readonly unknown[] }): boolean {
  return (element.modifierExtension ?? []).length > 0;
}

function wantedParts(observation: Observation, { markers }: ObservationRules): WantedPart[] {
  return partsOf(observation).flatMap((own) => {
    // All are asked, so that every system is seen.
    const has = markers.map((codes) => hasCode(own.part.code, codes));
    const marker = has.indexOf(true);
    return marker < 0 ? [] : [{ ...own, marker, isTwice: has.lastIndexOf(true) > marker }];
  });
}

function partsOf(observation: Observation): OwnPart[] {
  const components = ({ component = [] }: Observation) =>
    component.map((part): OwnPart => ({ part, kind: "component" }));
  const contained = (observation.contained ?? []).filter(
    (member): member is Observation => member.resourceType === "Observation",
  );
  return [
    { part: observation, kind: "own" },
    ...components(observation),
    ...contained.flatMap((part): OwnPart[] => [{ part, kind: "contained" }, ...components(part)]),
  ];
}

function statusOf({ status }: Pick<Observation, "status">, rules: ObservationRules): ToldCode | undefined {
  if (rules.status.includes(status)) return undefined;
  switch (status) {
    case "entered-in-error":
    case "cancelled":
    case "preliminary":
    case "registered":
      return status;
    default:
      return "other-status";
  }
}

interface FoundDay {
  readonly day?: string;
  readonly told: readonly ToldCode[];
}

/** The day of an Observation, as it is written where it was made. */
function timeOf(observation: Observation, { partialDates, period }: ObservationRules): FoundDay {
  const { effectiveDateTime, effectiveInstant, effectivePeriod, effectiveTiming } = observation;
  const read = (written: string, ...told: readonly ToldCode[]): FoundDay => {
    const day = dayOf(written, partialDates);
    if (!isDay(day)) return { told: [day as ToldCode] };
    return { day, told: written.trim().length < 10 ? [...told, "completed-date"] : told };
  };
  const written = effectiveDateTime ?? effectiveInstant;
  if (written !== undefined) return read(written);
  if (effectivePeriod !== undefined) {
    const { start, end } = effectivePeriod;
    if (start === undefined && end === undefined) return { told: ["no-time"] };
    if (period !== "middle" || start === undefined || end === undefined) {
      return read((period === "end" ? (end ?? start) : (start ?? end))!, "period");
    }
    const [from, to] = [read(start), read(end)];
    if (from.day === undefined || to.day === undefined) return { told: [...from.told, ...to.told].slice(0, 1) };
    const middle = Math.floor((numberOf(from.day) + numberOf(to.day)) / 2);
    return { day: writeDay(middle), told: ["period"] };
  }
  if (effectiveTiming !== undefined) {
    const events = effectiveTiming.event ?? [];
    return events.length === 1 ? read(events[0], "timing") : { told: ["several-times"] };
  }
  return { told: ["no-time"] };
}

interface FoundValue {
  readonly cell?: string;
  readonly unit: string;
  readonly told: readonly ToldCode[];
}

const UCUM = "http://unitsofmeasure.org";
const NUMBER_TEXT = /^\s*(<=?|>=?|≤|≥)?\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$/;

/** The value of a part as a cell, with its unit. */
function cellOf(part: Part, strings: boolean): FoundValue {
  const none = (...told: readonly ToldCode[]): FoundValue => ({ unit: "", told });
  if (part.valueQuantity?.value !== undefined) return quantityOf(part.valueQuantity);
  if (part.valueInteger !== undefined) return { cell: String(part.valueInteger), unit: "", told: [] };
  if (part.valueString !== undefined) {
    const text = NUMBER_TEXT.exec(part.valueString);
    if (text === null) return none("not-a-number");
    if (!strings) return none("string");
    const [, sign = "", number, unit] = text;
    return { cell: sign + number, unit, told: sign === "" ? ["string-taken"] : ["string-taken", "limit"] };
  }
  if (part.valueSampledData !== undefined) return none("sampled");
  if (part.dataAbsentReason !== undefined) return none("absent");
  if (Object.keys(part).some((key) => /^value[A-Z]/.test(key) && key !== "valueQuantity")) return none("not-a-number");
  const { hasMember = [], component = [] } = part as Partial<Observation>;
  // A panel asked for by its own code, as blood pressure, has its values below.
  return none(hasMember.length > 0 || component.length > 0 ? "panel" : "no-value");
}

function quantityOf({ value, comparator, unit, system, code }: Quantity): FoundValue {
  const sign = comparator ?? "";
  // The code of UCUM is what the unit is; the text beside it is for people.
  const written = system === UCUM ? (code ?? unit) : (unit ?? code);
  if (typeof value !== "number" || !["", "<", "<=", ">", ">="].includes(sign)) {
    return { unit: "", told: [typeof value === "number" ? "other-comparator" : "not-a-number"] };
  }
  if (system === UCUM && code !== undefined && unit !== undefined && unitsContradict(code, unit)) {
    return { unit: "", told: ["unit-contradiction"] };
  }
  return { cell: sign + String(value), unit: written ?? "", told: sign === "" ? [] : ["limit"] };
}

/** How what is measured is called there; empty if it has no name. */
export function nameOf({ code }: { readonly code?: CodeableConcept }): string {
  return code?.text ?? code?.coding?.find(({ display }) => display !== undefined)?.display ?? "";
}

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>;
}
