/** Whatever stands in the place of an element, a file is read or refused in words. */
import { expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { readFhir } from "./read-fhir.ts";
import { shaped } from "./shape.ts";

const concept = (code: string) => ({ coding: [{ system: "http://loinc.org", code }] });
const OBSERVATION = {
  resourceType: "Observation",
  id: "o",
  status: "final",
  meta: { versionId: "1", lastUpdated: "2020-01-01T00:00:00Z" },
  code: concept("2160-0"),
  subject: { reference: "Patient/a" },
  effectiveDateTime: "2020-01-01",
  effectivePeriod: { start: "2020-01-01" },
  valueQuantity: { value: 1, unit: "mg/dL", code: "mg/dL" },
  component: [{ code: concept("2160-0"), valueQuantity: { value: 1, unit: "mg/dL" } }],
  contained: [{ resourceType: "Observation", code: concept("2160-0") }],
};
const PATIENT = {
  resourceType: "Patient",
  id: "a",
  gender: "female",
  birthDate: "1960-03-05",
  deceasedDateTime: "2021",
};
const CONDITION = {
  resourceType: "Condition",
  code: concept("44054006"),
  subject: { reference: "Patient/a" },
  onsetDateTime: "2021-01-01",
  verificationStatus: concept("confirmed"),
};
const BUNDLE = {
  resourceType: "Bundle",
  entry: [{ fullUrl: "urn:uuid:p", resource: PATIENT }, { resource: OBSERVATION }],
};
const JUNK = [null, 5, "x", true, [], [null], [5], {}, { coding: [null] }];

/** Each document that has something else in the place of one of its elements. */
function* spoiled(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    const others = function* () {
      yield* JUNK;
      yield* spoiled(part);
    };
    for (const other of others()) {
      yield Array.isArray(value)
        ? value.map((own, k) => (String(k) === key ? other : own))
        : { ...value, [key]: other };
    }
  }
}

it.each([
  ["Observation", OBSERVATION],
  ["Observation by its period", { ...OBSERVATION, effectiveDateTime: undefined, valueQuantity: undefined }],
  ["Patient", PATIENT],
  ["Condition", CONDITION],
  ["Bundle", BUNDLE],
])("a spoiled %s ends in words", async (_, document) => {
  for (const other of spoiled(JSON.parse(JSON.stringify(document)))) {
    const text = [other, OBSERVATION, PATIENT].map((one) => JSON.stringify(one)).join("\n");
    const source = { name: "f", bytes: [new TextEncoder().encode(text)] };
    const read = readFhir([source], { markers: [{ codes: ["2160-0"] }], conditions: [["44054006"]] });
    const error = await read.then(() => undefined).catch((thrown) => thrown);
    if (error !== undefined) expect(error, JSON.stringify(other)).toBeInstanceOf(DtmError);
  }
});

it("leaves whole resources as they are, and takes numbers for ids", () => {
  for (const whole of [OBSERVATION, BUNDLE]) expect(shaped(whole)).toBe(whole);
  expect(shaped({ resourceType: "Patient", id: 17, gender: null })).toEqual({ resourceType: "Patient", id: "17" });
});
