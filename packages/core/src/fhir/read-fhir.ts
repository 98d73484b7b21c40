/**
 * FHIR R4 → Cohort: Observations of the codes asked for become rows of text (id, time, value, unit), which are read as those of any table;
 * Patients and Conditions become a table of individuals. What is left out or decided on the way is counted and told. Memory holds the
 * values that are kept and one entry for each Observation of these codes, not the files.
 */
import type { Meta, Observation } from "fhir/r4";
import type { Marker } from "../cohort/marker.ts";
import { checkNames, checkOption, DtmError, optionNames } from "../errors.ts";
import type { TimeUnit } from "../ingest/calendar.ts";
import { complaint, howMany } from "../ingest/complaints.ts";
import { type ReadCohort, readCohortRows } from "../ingest/read-cohort.ts";
import type { ReadCohortOptions } from "../ingest/read-options.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { unitCode } from "../units/aliases.ts";
import { findAnalyte } from "../units/analytes.ts";
import { createConverter } from "../units/convert.ts";
import type { UnitConverter } from "../units/unit-converter.ts";
import { refuseMixed, wantedCode } from "./codes.ts";
import type { PartialDates } from "./days.ts";
import {
  type ObservationRules,
  type PeriodRule,
  type Taken,
  takeObservation,
  USUAL_STATUS,
  type ValueRow,
} from "./observations.ts";
import { createPeople, type Followed, type People, subjectsTable, takeCondition, takePatient } from "./people.ts";
import { personOf, seeServer, subjectOf, versionKey } from "./references.ts";
import { type Counts, type FhirSource, type Found, resourcesOf } from "./resources.ts";
import { count, doneWords, type Tally, type ToldLine, toldLines, toldWords } from "./told.ts";
import { compareVersions } from "./versions.ts";

/** A marker: its codes, any of which measures it, and what a marker may say of itself. */
export interface FhirMarker extends Partial<Marker> {
  /** "2160-0", or with its system "loinc|2160-0" or "http://loinc.org|2160-0". */
  readonly codes: readonly string[];
  /** Name or code of the analyte, for conversions of units. Default: that of the first code that is known. */
  readonly analyte?: string;
}

export interface ReadFhirOptions
  extends Pick<ReadCohortOptions, "onBad" | "keepRepeats" | "mayLack" | "origin" | "subjects"> {
  readonly markers: readonly FhirMarker[];
  /** Conditions to tell of in the table of individuals; codes of each, any of which is it. */
  readonly conditions?: readonly (readonly string[])[];
  /** Statuses that are taken. Default: final, amended, corrected. */
  readonly status?: readonly string[];
  /** Dates without a day: taken at the middle of their month or year. Default: left out. */
  readonly partialDates?: PartialDates;
  /** Which day of an effective period is taken. Default "start". */
  readonly period?: PeriodRule;
  /** Whether numbers in valueString are taken. Default false. */
  readonly strings?: boolean;
  /** Units that are meant otherwise than they are written; the key "" stands for none. */
  readonly meant?: Readonly<Record<string, string>>;
  /** Whether values without a unit are refused even if none has one. Default false. */
  readonly needUnits?: boolean;
  /** The id of the one patient whose Observations are taken; those of others are passed over. Default: all. */
  readonly patient?: string;
  /** Unit of the times, which are counted from the `origin`: by default the first value of the individual. Default "years". */
  readonly timeUnit?: TimeUnit;
}

const FHIR_OPTIONS = optionNames<ReadFhirOptions>({
  ...{
    markers: true,
    conditions: true,
    status: true,
    partialDates: true,
    period: true,
    strings: true,
    meant: true,
    patient: true,
    needUnits: true,
  },
  ...{ timeUnit: true, onBad: true, keepRepeats: true, mayLack: true, origin: true, subjects: true },
});

/** A cohort, what was told on the way, and the table of its individuals. */
export interface ReadFhir extends ReadCohort {
  readonly told: readonly ToldLine[];
  readonly subjects: SubjectsTable;
}

/**
 * Reads files of FHIR R4 as a cohort: Observations as values, Patients and Conditions as a table of individuals.
 * @throws DtmError "not-json", "mixed-systems", "no-rows", and as `readCohort`.
 * @example
 * const { cohort, told } = await readFhir([{ name: "Observation.ndjson", bytes }], { markers: [{ codes: ["2160-0"] }] });
 */
export async function readFhir(
  sources: Iterable<FhirSource> | AsyncIterable<FhirSource>,
  options: ReadFhirOptions,
): Promise<ReadFhir> {
  checkNames("readFhir", options, FHIR_OPTIONS);
  const { markers, conditions = [], partialDates, timeUnit = "years" } = options;
  checkOption(markers.length > 0, "readFhir", "codes of at least one marker", "none", "Name the codes.");
  const wanted = markers.map(({ codes }) => codes.map(wantedCode));
  const gathering = createGathering(
    {
      markers: wanted,
      status: options.status ?? USUAL_STATUS,
      partialDates,
      period: options.period ?? "start",
      strings: options.strings ?? false,
    },
    createPeople(conditions.map((codes) => codes.map(wantedCode))),
  );
  const codes = wanted.flat().map(({ code }) => code);
  for await (const source of sources) {
    for await (const found of resourcesOf(source, codes, gathering.counts)) {
      if (!isOfAnother(found, options.patient)) gather(gathering, found, partialDates);
    }
  }
  refuseMixed([...wanted.flat(), ...gathering.people.conditions.flat()]);
  const rows = settle(gathering).filter(({ id }) => options.patient === undefined || id === options.patient);
  if (rows.length === 0) throw nothingFound(gathering, codes);
  const described = describeMarkers(gathering, rows, options);
  const followed = followUp(rows, described);
  const read = readCohortRows(header(markers), cells(rows, markers.length > 1), {
    ...described.options,
    origin: options.origin ?? "first",
    ...(options.subjects === undefined ? {} : { subjects: options.subjects }),
    file: "FHIR resources",
    columns: { id: "id", time: "time", value: "value" },
    ...(options.onBad === undefined ? {} : { onBad: options.onBad }),
    ...(options.keepRepeats === undefined ? {} : { keepRepeats: options.keepRepeats }),
    mayLack: options.mayLack ?? false,
  });
  const subjects = subjectsTable(gathering.people, counted(followed, read), timeUnit, gathering.tally);
  const told = toldLines(gathering.tally);
  return { ...read, notes: [...told.map(toldWords), ...read.notes], told, subjects };
}

/** What is gathered while reading. */
interface Gathering {
  readonly rules: ObservationRules;
  readonly people: People;
  readonly counts: Counts;
  readonly tally: Tally;
  /** The newest version of each Observation, by id. */
  readonly observations: Map<string, { readonly meta: Meta | undefined; readonly taken: Taken }>;
  /** The first server of each Observation. */
  readonly firstServers: Map<string, string>;
  /** Other Observations that were parsed. */
  others: number;
}

function createGathering(rules: ObservationRules, people: People): Gathering {
  const counts = { passedOver: 0, notResources: 0 };
  return { rules, people, counts, tally: new Map(), observations: new Map(), firstServers: new Map(), others: 0 };
}

/** Whether an Observation is of another patient; one that does not say of whom may be a version that was withdrawn. */
function isOfAnother({ resource, fullUrl, patients }: Found, patient: string | undefined): boolean {
  if (patient === undefined || resource.resourceType !== "Observation") return false;
  const subject = subjectOf(resource.subject, patients, fullUrl);
  return "id" in subject && subject.id !== patient;
}

function gather(gathering: Gathering, found: Found, partialDates: PartialDates): void {
  const { resourceType } = found.resource;
  if (resourceType === "Patient") takePatient(gathering.people, found, partialDates);
  else if (resourceType === "Condition") takeCondition(gathering.people, found, partialDates);
  else if (resourceType === "Observation") gatherObservation(gathering, found);
}

function gatherObservation(gathering: Gathering, found: Found): void {
  const { observations, tally } = gathering;
  const { id, meta, status } = found.resource as Observation;
  const wanted = takeObservation(found, gathering.rules);
  const isWithdrawn = status === "entered-in-error" && id !== undefined;
  // What was withdrawn may have lost its code, but not its id.
  if (wanted === undefined) gathering.others++;
  if (wanted === undefined && !isWithdrawn) return;
  const taken = wanted ?? NOTHING;
  const own = id ?? found.fullUrl?.replace(/^urn:uuid:/, "") ?? `#${observations.size}`;
  const key = versionKey(gathering.firstServers, own, found.fullUrl);
  const known = observations.get(key);
  if (known !== undefined) {
    const order = compareVersions(meta, known.meta);
    const isSame = order === 0 && JSON.stringify(known.taken.rows) === JSON.stringify(taken.rows);
    count(tally, isSame ? "same-version" : "older-version");
    if (order < 0 || isSame) return;
  }
  observations.set(key, { meta, taken });
}

const NOTHING: Taken = { rows: [], told: [], names: [] };

/** The rows of all newest versions; what is told of these is counted. */
function settle({ observations, people: { servers }, tally, counts }: Gathering): ValueRow[] {
  const rows: ValueRow[] = [];
  for (const { taken } of observations.values()) for (const row of taken.rows) seeServer(servers, row);
  const shared = [...servers.values()].filter((of) => of.size > 1).length;
  if (shared > 0) count(tally, "two-servers", shared);
  for (const { taken } of observations.values()) {
    for (const row of taken.rows) {
      const id = personOf(servers, row);
      if (id === undefined) count(tally, "unknown-server");
      else rows.push(id === row.id ? row : { ...row, id });
    }
    for (const code of taken.told) count(tally, code);
  }
  if (counts.notResources > 0) count(tally, "not-resource", counts.notResources);
  return rows;
}

function nothingFound({ tally, counts, others }: Gathering, codes: readonly string[]): DtmError {
  const told = toldLines(tally).map((line) => `${line.count} ${line.what} (${doneWords(line)})`);
  const numOthers = others + counts.passedOver;
  const passed = numOthers === 0 && told.length > 0 ? [] : [`${howMany(numOthers, "Observation")} of other codes`];
  const isEmpty = numOthers === 0 && told.length === 0;
  const [expected, received] = [
    `Observations of ${codes.join(", ")} with values`,
    isEmpty ? "no Observations" : [...told, ...passed].join(", "),
  ];
  const remedy = "Check the codes: dtm inspect --fhir without --code lists those that are there (listFhirCodes).";
  const message = `Expected ${expected}, received ${received}. ${remedy}`;
  return new DtmError("no-rows", message, [complaint("refuse", {}, "no-rows", [expected, received, remedy])]);
}

/** First and last day of each individual with a value whose unit can be taken. */
function followUp(rows: readonly ValueRow[], { converters, hasUnits }: Described): Map<string, Followed> {
  const followed = new Map<string, Followed>();
  for (const { id, day, unit, marker } of rows) {
    if (hasUnits && "reason" in converters[marker].conversion(unit)) continue;
    const known = followed.get(id);
    if (known === undefined) followed.set(id, { first: day, last: day });
    else if (day < known.first) followed.set(id, { first: day, last: known.last });
    else if (day > known.last) known.last = day;
  }
  return followed;
}

/** The individuals of the cohort, with the time of their first value. */
function counted(followed: ReadonlyMap<string, Followed>, { cohort }: ReadCohort): Map<string, Followed> {
  const all = new Map<string, Followed>();
  for (const [i, id] of cohort.ids.entries()) {
    const times = cohort.markers.flatMap(({ offsets, times: own }) =>
      offsets[i] < offsets[i + 1] ? [own[offsets[i]]] : [],
    );
    const known = followed.get(id);
    if (known !== undefined) all.set(id, { ...known, time: Math.min(...times) });
  }
  return all;
}

function header(markers: readonly FhirMarker[]): string[] {
  return ["id", "time", "value", "unit", ...(markers.length > 1 ? ["marker"] : [])];
}

/** Rows as cells of a table. */
function* cells(rows: readonly ValueRow[], isNamed: boolean): Generator<readonly string[]> {
  for (const { id, day, value, unit, marker } of rows) {
    yield isNamed ? [id, day, value, unit, String(marker)] : [id, day, value, unit];
  }
}

/** Markers as a reading takes them, and what brings their values to one unit. */
interface Described {
  readonly options: ReadCohortOptions;
  readonly converters: readonly UnitConverter[];
  readonly hasUnits: boolean;
}

/** Markers with names, and units: the one asked for, else the one that most values have. */
function describeMarkers(
  { observations, rules }: Gathering,
  rows: readonly ValueRow[],
  { markers, meant = {}, timeUnit = "years", needUnits = false }: ReadFhirOptions,
): Described {
  const names = new Map<number, string>();
  for (const { taken } of observations.values()) {
    for (const { marker, name } of taken.names) if (!names.has(marker) && name !== "") names.set(marker, name);
  }
  const described = markers.map(({ codes, analyte, ...given }, k) => {
    const to = given.unit || mostFrequentUnit(rows, k, meant);
    const known = analyte ?? codes.find((code) => findAnalyte(bareCode(code)) !== undefined);
    return {
      marker: { timeUnit, ...given, name: given.name ?? names.get(k) ?? codes[0], unit: to },
      converter: createConverter({ to, ...(known === undefined ? {} : { analyte: bareCode(known) }), meant }),
    };
  });
  const hasUnits = needUnits || rows.some(({ unit }) => unit !== "") || meant[""] !== undefined;
  const converters = described.map(({ converter }) => converter);
  const units = hasUnits ? { units: { converters, columns: ["unit"] } } : {};
  const several = {
    markers: described.map(({ marker }, k) => ({ ...marker, column: String(k) })),
    markerColumn: "marker",
  };
  const asked = rules.markers.length === 1 ? { marker: described[0].marker } : several;
  return { options: { ...units, ...asked }, converters, hasUnits };
}

const bareCode = (code: string) => code.slice(code.lastIndexOf("|") + 1).trim();

/** The unit of most values of a marker, as it is written most often; "" if none has one. */
function mostFrequentUnit(rows: readonly ValueRow[], k: number, meant: Readonly<Record<string, string>>): string {
  const counts = new Map<string, { total: number; readonly written: Map<string, number> }>();
  for (const { unit, marker } of rows) {
    const text = meant[unit] ?? unit;
    if (marker !== k || text === "") continue;
    const read = unitCode(text);
    const code = "code" in read ? read.code : text;
    const known = counts.get(code) ?? { total: 0, written: new Map<string, number>() };
    counts.set(code, known);
    known.total++;
    known.written.set(text, (known.written.get(text) ?? 0) + 1);
  }
  // Of equals the first by its letters, whatever the order of files.
  const most = <T>(entries: Iterable<readonly [string, T]>, size: (value: T) => number) =>
    [...entries].sort(([a, x], [b, y]) => size(y) - size(x) || (a < b ? -1 : 1))[0];
  const top = most(counts, ({ total }) => total);
  return top === undefined ? "" : most(top[1].written, (n) => n)[0];
}
