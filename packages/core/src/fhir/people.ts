/**
 * Patients and Conditions as a table of individuals: age and sex at the first value, death, conditions with their onset. Times are counted as those of the
 * values are; who had no event was followed until the last value. `condition_X_new` and `condition_X_time` are for the time to a
 * first onset after the first value: empty for those who had it before.
 */
import type { Condition, Meta, Patient } from "fhir/r4";
import { DAYS_PER, type TimeUnit } from "../ingest/calendar.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { hasCode, type WantedCode } from "./codes.ts";
import { dayOf, isDay, numberOf, type PartialDates } from "./days.ts";
import { subjectOf } from "./references.ts";
import type { Found } from "./resources.ts";
import { count, type Tally } from "./told.ts";
import { compareVersions } from "./versions.ts";

interface Person {
  readonly meta: Meta | undefined;
  readonly sex: string;
  readonly birth: string | undefined;
  /** The day of death, "unknown" for one of an unknown day, undefined for the living. */
  readonly death: string | undefined;
}

interface Onset {
  readonly meta: Meta | undefined;
  readonly id: string;
  readonly wanted: number;
  /** Undefined if no day is known. */
  readonly day: string | undefined;
  readonly told:
    | "refuted-condition"
    | "unconfirmed-condition"
    | "condition-recorded"
    | "condition-without-day"
    | undefined;
}

/** What is known of people, gathered while reading. */
export interface People {
  readonly patients: Map<string, Person>;
  readonly linked: Set<string>;
  readonly conditions: readonly (readonly WantedCode[])[];
  readonly onsets: Map<string, Onset>;
}

export function createPeople(conditions: readonly (readonly WantedCode[])[]): People {
  return { patients: new Map(), linked: new Set(), conditions, onsets: new Map() };
}

export function takePatient({ patients, linked }: People, { resource, fullUrl }: Found, partial: PartialDates): void {
  const patient = resource as Patient;
  const id = patient.id ?? fullUrl?.replace(/^urn:uuid:/, "");
  if (id === undefined) return;
  const known = patients.get(id);
  if (known !== undefined && compareVersions(patient.meta, known.meta) < 0) return;
  if ((patient.link ?? []).length > 0) linked.add(id);
  const day = (written: string | undefined) => {
    const found = written === undefined ? "" : dayOf(written, partial);
    return isDay(found) ? found : undefined;
  };
  const { deceasedBoolean, deceasedDateTime } = patient;
  const isDead = deceasedDateTime !== undefined || deceasedBoolean === true;
  patients.set(id, {
    meta: patient.meta,
    sex: patient.gender ?? "",
    // A year of birth is enough for an age: its middle.
    birth: patient.birthDate === undefined ? undefined : (day(patient.birthDate) ?? middleOf(patient.birthDate)),
    death: isDead ? (day(deceasedDateTime) ?? "unknown") : undefined,
  });
}

function middleOf(written: string): string | undefined {
  const found = dayOf(written, "middle");
  return isDay(found) ? found : undefined;
}

export function takeCondition({ conditions, onsets }: People, found: Found, partial: PartialDates): void {
  const condition = found.resource as Condition;
  const wanted = conditions.map((codes) => hasCode(condition.code, codes)).indexOf(true);
  const subject = subjectOf(condition.subject, found.patients);
  if (wanted < 0 || "reason" in subject) return;
  const key = condition.id ?? found.fullUrl ?? `#${onsets.size}`;
  const known = onsets.get(key);
  if (known !== undefined && compareVersions(condition.meta, known.meta) < 0) return;
  const doubt = doubtOf(condition);
  const onset = condition.onsetDateTime ?? condition.onsetPeriod?.start;
  const day = [onset, condition.recordedDate]
    .map((written) => (written === undefined ? "" : dayOf(written, partial)))
    .find(isDay);
  const told =
    doubt ?? (day === undefined ? "condition-without-day" : onset === undefined ? "condition-recorded" : undefined);
  onsets.set(key, { meta: condition.meta, id: subject.id, wanted, day, told });
}

/** Why a Condition does not count; undefined for one that is confirmed, or of which nothing is said. */
export function doubtOf({ verificationStatus }: Condition): "refuted-condition" | "unconfirmed-condition" | undefined {
  const verification = verificationStatus?.coding?.[0]?.code ?? "confirmed";
  if (verification === "entered-in-error" || verification === "refuted") return "refuted-condition";
  return verification === "confirmed" ? undefined : "unconfirmed-condition";
}

/** First and last day with a value. */
export interface Followed {
  readonly first: string;
  last: string;
  /** Time of the first value, as the cohort counts it. */
  time?: number;
}

/** The table of individuals with values, in the order of their ids. */
export function subjectsTable(
  { patients, linked, conditions, onsets }: People,
  followed: ReadonlyMap<string, Followed>,
  unit: TimeUnit,
  tally: Tally,
): SubjectsTable {
  const ids = [...followed.keys()].sort((a, b) => (a < b ? -1 : 1));
  const columns = new Map<string, string[]>();
  const put = (name: string, i: number, cell: string) => {
    if (!columns.has(name)) columns.set(name, new Array(ids.length).fill(""));
    columns.get(name)![i] = cell;
  };
  const ofPerson = firstOnsets(onsets, tally);
  for (const [i, id] of ids.entries()) {
    const { first, last, time = 0 } = followed.get(id)!;
    const origin = numberOf(first) - Math.round(time * DAYS_PER[unit]);
    const since = (day: string) => String((numberOf(day) - origin) / DAYS_PER[unit]);
    const person = patients.get(id);
    if (person === undefined && patients.size > 0) count(tally, "no-patient");
    if (linked.has(id)) count(tally, "linked-patient");
    if (patients.size > 0) {
      put("sex", i, person?.sex ?? "");
      put("age", i, person?.birth === undefined ? "" : ageAt(person.birth, first));
      const death = person?.death;
      const isUsable = death === undefined || (death !== "unknown" && death >= first);
      if (!isUsable) count(tally, death === "unknown" ? "death-without-day" : "death-before");
      const isKnown = person !== undefined && isUsable;
      put("death", i, isKnown ? (death === undefined ? "0" : "1") : "");
      put("death_time", i, isKnown ? since(death ?? last) : "");
    }
    for (const [k, codes] of conditions.entries()) {
      const name = `condition_${codes.map(({ code }) => code).join("_")}`;
      const onset = ofPerson.get(`${k} ${id}`);
      const isNew = onset?.day !== undefined && onset.day > first;
      put(name, i, onset === undefined ? "0" : "1");
      put(`${name}_new`, i, onset === undefined ? "0" : isNew ? "1" : "");
      put(`${name}_time`, i, onset === undefined ? since(last) : isNew ? since(onset.day!) : "");
    }
  }
  return {
    file: "FHIR resources",
    ids,
    columns: [{ name: "id", cells: ids }, ...[...columns].map(([name, cells]) => ({ name, cells }))],
  };
}

/** Years between two days, to the hundredth. */
function ageAt(birth: string, day: string): string {
  return String(Number(((numberOf(day) - numberOf(birth)) / DAYS_PER.years).toFixed(2)));
}

/** The first onset of each condition in each individual, by number of the condition and id. */
function firstOnsets(
  onsets: ReadonlyMap<string, Onset>,
  tally: Tally,
): Map<string, { readonly day: string | undefined }> {
  const first = new Map<string, { readonly day: string | undefined }>();
  for (const { id, wanted, day, told } of onsets.values()) {
    if (told !== undefined) count(tally, told);
    if (told === "refuted-condition" || told === "unconfirmed-condition") continue;
    const key = `${wanted} ${id}`;
    const known = first.get(key);
    // One of an unknown day may have been the first.
    const earlier = day === undefined || (known?.day !== undefined && day < known.day);
    if (known === undefined || earlier) first.set(key, { day });
  }
  return first;
}
