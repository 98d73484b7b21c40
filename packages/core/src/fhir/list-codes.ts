/**
 * What can be asked of resources: the codes of Observations that have numbers, with how many, of how many individuals and in which units;
 * the codes of Conditions. Every Observation is parsed; memory holds ids and counts, not the files. An id counts once, by its first version.
 */
import type { CodeableConcept, Condition, Observation, Patient } from "fhir/r4";
import { writtenCode } from "./codes.ts";
import { nameOf, numbersOf, type ObservationRules, USUAL_STATUS } from "./observations.ts";
import { doubtOf } from "./people.ts";
import { subjectOf } from "./references.ts";
import { type FhirSource, type Found, resourcesOf } from "./resources.ts";

export interface ListedCode {
  /** As a marker takes it: "loinc|2160-0", or the code alone where it has no system. */
  readonly code: string;
  /** What it is called most often; empty if it has no name. */
  readonly name: string;
  readonly values: number;
  readonly individuals: number;
  /** Units as they are written, the most frequent first; "" for none. */
  readonly units: readonly { readonly unit: string; readonly count: number }[];
}

export interface ListedCondition extends Pick<ListedCode, "code" | "name" | "individuals"> {}

/** What resources hold: codes and conditions, those of most individuals first. */
export interface FhirListing {
  readonly codes: readonly ListedCode[];
  readonly conditions: readonly ListedCondition[];
  readonly patients: number;
  readonly deaths: number;
}

type ListOptions = Partial<Pick<ObservationRules, "status" | "partialDates" | "period" | "strings">>;

/**
 * Lists the codes that can be asked for in files of FHIR R4.
 * @throws DtmError "not-json", "not-utf8", "too-large".
 * @example
 * const { codes } = await listFhirCodes([{ name: "Observation.ndjson", bytes }]);
 */
export async function listFhirCodes(
  sources: Iterable<FhirSource> | AsyncIterable<FhirSource>,
  { status = USUAL_STATUS, partialDates, period = "start", strings = false }: ListOptions = {},
): Promise<FhirListing> {
  const rules: ObservationRules = { markers: [], status, partialDates, period, strings };
  const codes = new Map<string, Counting>();
  const conditions = new Map<string, Counting>();
  const [observed, patients, deaths] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for await (const source of sources) {
    for await (const found of resourcesOf(source, "all", { passedOver: 0, notResources: 0 })) {
      switch (found.resource.resourceType) {
        case "Observation":
          if (isNew(observed, found)) countObservation(codes, found, rules);
          break;
        case "Condition":
          countCondition(conditions, found);
          break;
        case "Patient": {
          const {
            id = found.fullUrl ?? `#${patients.size}`,
            deceasedBoolean,
            deceasedDateTime,
          } = found.resource as Patient;
          patients.add(id);
          if (deceasedDateTime !== undefined || deceasedBoolean === true) deaths.add(id);
        }
      }
    }
  }
  return {
    codes: listed(codes).map(({ code, values, individuals, name, units }) => ({
      ...{ code, name, values, individuals },
      units: ranked(units).map(([unit, count]) => ({ unit, count })),
    })),
    conditions: listed(conditions).map(({ code, name, individuals }) => ({ code, name, individuals })),
    patients: patients.size,
    deaths: deaths.size,
  };
}

interface Counting {
  values: number;
  readonly individuals: Set<string>;
  readonly names: Map<string, number>;
  readonly units: Map<string, number>;
}

function isNew(seen: Set<string>, { resource: { id }, fullUrl }: Found): boolean {
  const key = id ?? fullUrl;
  if (key === undefined) return true;
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}

function countObservation(codes: Map<string, Counting>, found: Found, rules: ObservationRules): void {
  for (const { part, row } of numbersOf(found, rules)) {
    for (const counting of countingsOf(codes, (part as Observation).code)) {
      counting.values++;
      counting.individuals.add(`${row.server} ${row.id}`);
      add(counting.names, nameOf(part));
      add(counting.units, row.unit);
    }
  }
}

function countCondition(conditions: Map<string, Counting>, { resource, fullUrl, patients }: Found): void {
  const condition = resource as Condition;
  const subject = subjectOf(condition.subject, patients, fullUrl);
  if ("reason" in subject || doubtOf(condition) !== undefined) return;
  for (const counting of countingsOf(conditions, condition.code)) {
    counting.individuals.add(`${subject.server} ${subject.id}`);
    add(counting.names, nameOf(condition));
  }
}

/** The countings of all codes of a concept, each once. */
function countingsOf(codes: Map<string, Counting>, concept: CodeableConcept | undefined): Counting[] {
  const keys = new Set(
    (concept?.coding ?? []).flatMap(({ system = "", code }) => (code === undefined ? [] : [writtenCode(system, code)])),
  );
  return [...keys].map((key) => {
    const known = codes.get(key) ?? { values: 0, individuals: new Set(), names: new Map(), units: new Map() };
    codes.set(key, known);
    return known;
  });
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Keys of counts, the most frequent first; of equals the first by its letters. */
function ranked(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

function listed(codes: ReadonlyMap<string, Counting>) {
  return [...codes]
    .map(([code, { values, individuals, names, units }]) => {
      const [name = ""] = ranked(names).find(([known]) => known !== "") ?? [];
      return { code, name, values, individuals: individuals.size, units };
    })
    .sort((a, b) => b.individuals - a.individuals || b.values - a.values || (a.code < b.code ? -1 : 1));
}
