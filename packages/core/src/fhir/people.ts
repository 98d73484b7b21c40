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
import { isModified } from "./observations.ts";
import { personOf, type Servers, seeServer, serverOf, subjectOf, versionKey } from "./references.ts";
import type { Found } from "./resources.ts";
import { count, type Tally } from "./told.ts";
import { compareVersions } from "./versions.ts";

interface Person {
  readonly id: string;
  readonly server: string;
  readonly isModified: boolean;
  readonly isLinked: boolean;
  readonly meta: Meta | undefined;
  readonly sex: string;
  readonly birth: string | undefined;
  /** The day of death, "unknown" for one of an unknown day, undefined for the living. */
  readonly death: string | undefined;
}

interface Onset {
  readonly meta: Meta | undefined;
  readonly id: string;
  readonly server: string;
  readonly wanted: number;
  /** Undefined if no day is known. */
  readonly day: string | undefined;
  readonly told:
    | "modifier-condition"
    | "refuted-condition"
    | "unconfirmed-condition"
    | "condition-recorded"
    | "condition-without-day"
    | undefined;
}

/** What is known of people, gathered while reading. */
export interface People {
  /** By server and id. */
  readonly patients: Map<string, Person>;
  /** Servers of ids of patients, of all resources. */
  readonly servers: Servers;
  readonly conditions: readonly (readonly WantedCode[])[];
  readonly onsets: Map<string, Onset>;
  /** The first server of each Condition. */
  readonly firstServers: Map<string, string>;
}

export function createPeople(conditions: readonly (readonly WantedCode[])[]): People {
  return { patients: new Map(), servers: new Map(), conditions, onsets: new Map(), firstServers: new Map() };
}

export function takePatient({ patients, servers }: People, { resource, fullUrl }: Found, partial: PartialDates): void {
  const patient = resource as Patient;
  const id = patient.id ?? fullUrl?.replace(/^urn:uuid:/, "");
  if (id === undefined) return;
  const server = serverOf(fullUrl);
  const key = `${server} ${id}`;
  seeServer(servers, { id, server });
  const known = patients.get(key);
  if (known !== undefined && compareVersions(patient.meta, known.meta) < 0) return;
  const day = (written: string | undefined) => {
    const found = written === undefined ? "" : dayOf(written, partial);
    return isDay(found) ? found : undefined;
  };
  const { deceasedBoolean, deceasedDateTime } = patient;
  const isDead = deceasedDateTime !== undefined || deceasedBoolean === true;
  patients.set(key, {
    id,
    server,
    isModified: isModified(patient),
    isLinked: known?.isLinked === true || (patient.link ?? []).length > 0,
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

export function takeCondition(
  { conditions, servers, onsets, firstServers }: People,
  found: Found,
  partial: PartialDates,
): void {
  const condition = found.resource as Condition;
  const wanted = conditions.map((codes) => hasCode(condition.code, codes)).indexOf(true);
  const subject = subjectOf(condition.subject, found.patients, found.fullUrl);
  if (wanted < 0 || "reason" in subject) return;
  seeServer(servers, subject);
  const key = versionKey(firstServers, condition.id ?? found.fullUrl ?? `#${onsets.size}`, found.fullUrl);
  const known = onsets.get(key);
  if (known !== undefined && compareVersions(condition.meta, known.meta) < 0) return;
  const doubt = doubtOf(condition);
  const onset = condition.onsetDateTime ?? condition.onsetPeriod?.start;
  const day = [onset, condition.recordedDate]
    .map((written) => (written === undefined ? "" : dayOf(written, partial)))
    .find(isDay);
  const told =
    doubt ?? (day === undefined ? "condition-without-day" : onset === undefined ? "condition-recorded" : undefined);
  onsets.set(key, { meta: condition.meta, id: subject.id, server: subject.server, wanted, day, told });
}

/** Why a Condition does not count; undefined for one that is confirmed, or of which nothing is said. */
export function doubtOf(
  condition: Condition,
): "modifier-condition" | "refuted-condition" | "unconfirmed-condition" | undefined {
  if (isModified(condition)) return "modifier-condition";
  const verification = condition.verificationStatus?.coding?.[0]?.code ?? "confirmed";
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
  { patients: known, servers, conditions, onsets }: People,
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
  const ofPerson = firstOnsets(onsets, servers, tally);
  const patients = peopleOf(known, servers);
  for (const [i, id] of ids.entries()) {
    const { first, last, time = 0 } = followed.get(id)!;
    const origin = numberOf(first) - Math.round(time * DAYS_PER[unit]);
    const since = (day: string) => String((numberOf(day) - origin) / DAYS_PER[unit]);
    const person = patients.get(id);
    const isRead = person !== undefined && !person.isModified;
    if (person === undefined && patients.size > 0) count(tally, "no-patient");
    if (person?.isLinked) count(tally, "linked-patient");
    if (person?.isModified) count(tally, "modifier-patient");
    if (patients.size > 0) {
      put("sex", i, isRead ? person.sex : "");
      put("age", i, !isRead || person.birth === undefined ? "" : ageAt(person.birth, first));
      const death = isRead ? person.death : undefined;
      const isUsable = death === undefined || (death !== "unknown" && death >= first);
      if (!isUsable) count(tally, death === "unknown" ? "death-without-day" : "death-before");
      const isKnown = isRead && isUsable;
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

/** The newest of each patient, by who is meant. */
function peopleOf(patients: ReadonlyMap<string, Person>, servers: Servers): Map<string, Person> {
  const people = new Map<string, Person>();
  for (const person of patients.values()) {
    const name = personOf(servers, person);
    if (name === undefined) continue;
    const known = people.get(name);
    if (known === undefined || compareVersions(person.meta, known.meta) >= 0) people.set(name, person);
  }
  return people;
}

/** The first onset of each condition in each individual, by number of the condition and id. */
function firstOnsets(
  onsets: ReadonlyMap<string, Onset>,
  servers: Servers,
  tally: Tally,
): Map<string, { readonly day: string | undefined }> {
  const first = new Map<string, { readonly day: string | undefined }>();
  for (const { id, server, wanted, day, told } of onsets.values()) {
    const person = personOf(servers, { id, server });
    if (told !== undefined) count(tally, told);
    const isLeftOut = told === "modifier-condition" || told === "refuted-condition" || told === "unconfirmed-condition";
    if (isLeftOut || person === undefined) continue;
    const key = `${wanted} ${person}`;
    const known = first.get(key);
    // One of an unknown day may have been the first.
    const earlier = day === undefined || (known?.day !== undefined && day < known.day);
    if (known === undefined || earlier) first.set(key, { day });
  }
  return first;
}
