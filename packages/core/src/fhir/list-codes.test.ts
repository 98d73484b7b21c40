import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { listFhirCodes } from "./list-codes.ts";
import { readFhir } from "./read-fhir.ts";
import { isFhirFile } from "./recognise.ts";

const LOINC = "http://loinc.org";
let serial = 0;

function observation(person: string, code: string, value: number, more: object = {}): object {
  return {
    resourceType: "Observation",
    id: `o${++serial}`,
    status: "final",
    code: { coding: [{ system: LOINC, code, display: `test ${code}` }] },
    subject: { reference: `Patient/${person}` },
    effectiveDateTime: "2020-01-02",
    valueQuantity: { value, unit: "mg/dL" },
    ...more,
  };
}

const bytes = (text: string) => [new TextEncoder().encode(text)];
const ndjson = (...resources: object[]) => resources.map((one) => JSON.stringify(one)).join("\n");
const file = (text: string) => [{ name: "x.ndjson", bytes: bytes(text) }];

describe("codes of resources", () => {
  it("are listed with values, individuals and units, those of most individuals first", async () => {
    const twice = observation("a", "1", 5, { id: "twice" });
    const text = ndjson(
      observation("a", "2", 1),
      observation("a", "1", 1),
      observation("b", "1", 2, { valueQuantity: { value: 88, unit: "umol/L" } }),
      observation("b", "1", 2, { status: "cancelled" }),
      observation("c", "3", 2, { valueQuantity: undefined, valueString: "positive" }),
      twice,
      twice,
    );
    const { codes } = await listFhirCodes(file(text));
    expect(codes).toEqual([
      {
        code: "loinc|1",
        name: "test 1",
        values: 3,
        individuals: 2,
        units: [
          { unit: "mg/dL", count: 2 },
          { unit: "umol/L", count: 1 },
        ],
      },
      { code: "loinc|2", name: "test 2", values: 1, individuals: 1, units: [{ unit: "mg/dL", count: 1 }] },
    ]);
    // As many as are read of a code that was listed.
    const { cohort } = await readFhir(file(text), { markers: [{ codes: ["loinc|2"] }] });
    expect(cohort.markers[0].values).toHaveLength(1);
  });

  it("of components and of text are listed where these are taken", async () => {
    const pressure = {
      ...observation("a", "85354-9", 0, { valueQuantity: undefined }),
      component: [{ code: { coding: [{ code: "8480-6" }] }, valueQuantity: { value: 120, unit: "mmHg" } }],
    };
    const written = observation("a", "9", 0, { valueQuantity: undefined, valueString: "<5 mg/L" });
    const codesOf = async (options: object) =>
      (await listFhirCodes(file(ndjson(pressure, written)), options)).codes.map(({ code }) => code);
    expect(await codesOf({})).toEqual(["8480-6"]);
    expect(await codesOf({ strings: true })).toEqual(["8480-6", "loinc|9"]);
  });

  it("stand beside conditions that are confirmed, and the number of patients and deaths", async () => {
    const condition = (person: string, verification: string) => ({
      resourceType: "Condition",
      verificationStatus: { coding: [{ code: verification }] },
      code: { coding: [{ system: "http://snomed.info/sct", code: "44054006" }], text: "Diabetes" },
      subject: { reference: `Patient/${person}` },
    });
    const entry = [
      { resourceType: "Patient", id: "a", deceasedDateTime: "2021-05-01" },
      { resourceType: "Patient", id: "b" },
      condition("a", "confirmed"),
      condition("b", "refuted"),
      observation("a", "1", 1),
    ].map((resource) => ({ resource }));
    const bundle = JSON.stringify({ resourceType: "Bundle", entry }, null, 2);
    expect(await listFhirCodes(file(bundle))).toMatchObject({
      codes: [{ code: "loinc|1" }],
      conditions: [{ code: "snomed|44054006", name: "Diabetes", individuals: 1 }],
      patients: 2,
      deaths: 1,
    });
  });
});

describe("a file of resources", () => {
  const lines = ndjson(observation("a", "1", 1), observation("b", "1", 1));
  const bundle = { entry: [{ resource: observation("a", "1", 1) }], resourceType: "Bundle" };
  it.each([
    ["NDJSON", lines],
    ["a Bundle", JSON.stringify(bundle)],
    ["a Bundle over lines", JSON.stringify(bundle, null, 2)],
    ["a list", `[${JSON.stringify(bundle)}]`],
  ])("is known by its beginning: %s, plain or gzip", async (_, text) => {
    expect(await isFhirFile(bytes(text), "x")).toBe(true);
    expect(await isFhirFile([gzipSync(text)], "x.gz")).toBe(true);
  });

  it.each([
    ["a table as NDJSON", '{"id":"a","time":0,"value":1}\n{"id":"a","time":1,"value":2}'],
    ["a table with a resource in a cell", '{"id":"a","payload":{"resourceType":"Patient"}}\n{"id":"b"}'],
    ["a list of rows", '[{"id":"a","time":0,"value":1}]'],
    ["a saved model", '{"format":"dtm-model","model":{"kind":"dtm"}}'],
    ["CSV that speaks of one", 'id,note\na,"{""resourceType"": ""Patient""}"'],
    ["nothing", ""],
  ])("is not taken for another: %s", async (_, text) => {
    expect(await isFhirFile(bytes(text), "x")).toBe(false);
  });
});
