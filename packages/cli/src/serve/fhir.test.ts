/** Bodies of FHIR as requests: codes, units, origins, patients, and what is told. */
import { type Cohort, fitFpca, simulateCohort } from "@trajectory-maps/core";
import { patientModel } from "@trajectory-maps/core/study";
import { describe, expect, it } from "vitest";
import { queryValues, readResources } from "./fhir.ts";
import type { ServedModel } from "./models.ts";
import { placeSomebody } from "./place.ts";
import { placeQuery } from "./schemas.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 40, seed: 3 });
const [series] = cohort.markers;
const marker = { ...series!.marker, name: "creatinine", unit: "mg/dL" };
const own: Cohort = { ...cohort, markers: [{ ...series!, marker, values: series!.values.map((v) => v / 80) }] };
const model = fitFpca(own);
const markers = [{ ...marker, times: [0, 10], limits: [0, null], calibrated: false }];
const info = { name: "run", kind: "fpca", dimension: 2, individuals: 40, markers, covariates: [], groups: [] };
const served: ServedModel = { info: { ...info, guarded: false }, model, patient: patientModel(model) };
/** The same model, which counts its times from elsewhere. */
const counted = (origin: string): ServedModel => {
  const [only] = model.markers;
  const columns = { id: "id", time: "time", value: "value", origin, dates: true as const };
  return { ...served, model: { ...model, markers: [{ ...only!, columns }] } };
};

interface Given {
  readonly day?: string;
  readonly value?: number;
  readonly unit?: string;
  readonly patient?: string;
  readonly [field: string]: unknown;
}

function observation({ day = "2020-01-01", value = 1, unit = "mg/dL", patient = "a", ...rest }: Given) {
  return {
    resourceType: "Observation",
    status: "final",
    code: { coding: [{ system: "http://loinc.org", code: "2160-0" }] },
    subject: { reference: `Patient/${patient}` },
    effectiveDateTime: day,
    valueQuantity: { value, unit, ...(unit !== "" && { code: unit }), system: "http://unitsofmeasure.org" },
    ...rest,
  };
}

const bundle = (...given: readonly Given[]) => ({
  resourceType: "Bundle",
  type: "collection",
  entry: given.map((one) => ({ resource: observation(one) })),
});

function read(body: unknown, query: Record<string, string | string[]> = {}, by = served) {
  const asked = Object.entries({ code: "2160-0", ...query }).map(([name, value]) => [name, [value].flat()] as const);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readResources(by, new TextEncoder().encode(text), placeQuery.parse(queryValues(Object.fromEntries(asked))));
}

const FIRST = { day: "2020-01-01", value: 1.1 };
const SECOND = { day: "2021-07-01T08:30:00+02:00", value: 1.3 };
/** Days of SECOND after FIRST over those of a year. */
const LATER = 547 / 365.25;

describe("a body of FHIR", () => {
  it("is the request of its values, whose place and forecast it has", async () => {
    const { request, resources } = await read(bundle(SECOND, FIRST), { at: "3,5", rate: "true", threshold: "2" });
    expect(request).toEqual({
      visits: [
        { time: 0, value: 1.1, marker: "creatinine" },
        { time: LATER, value: 1.3, marker: "creatinine" },
      ],
      ...{ at: [3, 5], rate: true, threshold: { value: 2 } },
    });
    expect(resources).toMatchObject({ visits: 2, told: [] });
    expect(placeSomebody(served, request).forecasts[0]?.rows).toHaveLength(2);
  });

  it("may be lines of resources", async () => {
    const lines = [FIRST, SECOND].map((one) => JSON.stringify(observation(one))).join("\n");
    expect((await read(lines)).request).toEqual((await read(bundle(FIRST, SECOND))).request);
  });

  it("has values in the unit of the model, or is refused", async () => {
    const { request, resources } = await read(bundle(FIRST, { ...SECOND, value: 88.4, unit: "umol/L" }));
    // 113.12 g/mol.
    expect(request.visits[1]?.value).toBeCloseTo(88.4 * 0.011312, 5);
    expect(resources.notes.join(" ")).toContain("umol/L");
    await expect(read(bundle(FIRST, { ...SECOND, unit: "kg" }))).rejects.toMatchObject({
      problem: { code: "other-unit" },
    });
    await expect(read(bundle({ ...FIRST, unit: "" }))).rejects.toMatchObject({
      status: 422,
      problem: { code: "missing-unit", remedy: "Give it, or say what no unit means (unitMeans==mg/dL in the query)." },
    });
    const meant = await read(bundle({ ...FIRST, unit: "" }), { unitMeans: "=mg/dL" });
    expect(meant.request.visits[0]?.value).toBe(1.1);
  });

  it("says of a model without a unit in which its values came", async () => {
    const [only] = model.markers;
    const unsaid = { ...model, markers: [{ ...only!, marker: { ...marker, unit: "" } }] };
    const { resources } = await read(bundle(FIRST), {}, { ...served, model: unsaid });
    expect(resources.notes.at(-1)).toContain("the model says no unit; values were taken as they came, in mg/dL.");
  });

  it("has limits of detection as limits", async () => {
    const { request } = await read(
      bundle(FIRST, { ...SECOND, valueQuantity: { value: 0.3, comparator: "<", unit: "mg/dL" } }),
    );
    expect(request.visits[1]?.value).toBe("<0.3");
  });

  it("tells what was left out, without options of the command line", async () => {
    const { resources } = await read(
      bundle(FIRST, { status: "preliminary" }, { status: "entered-in-error" }, { effectiveDateTime: "2020" }),
    );
    expect(resources.visits).toBe(1);
    expect(resources.told).toEqual([
      { code: "entered-in-error", count: 1, what: "Observations entered in error", done: "left out" },
      { code: "preliminary", count: 1, what: "preliminary Observations", done: "left out" },
      { code: "partial-date", count: 1, what: "dates without a day", done: "left out" },
    ]);
  });
});

describe("times of a body of FHIR", () => {
  const times = async (query: Record<string, string>, by?: ServedModel) =>
    (await read(bundle(FIRST, SECOND), query, by)).request.visits.map(({ time }) => time);

  it("are counted as those of the model, or from a day in the query", async () => {
    expect(await times({})).toEqual([0, LATER]);
    expect(await times({ origin: "2019-01-01" })).toEqual([365 / 365.25, 912 / 365.25]);
    expect(await times({}, counted("date:2019-01-01"))).toEqual([365 / 365.25, 912 / 365.25]);
    expect(await times({ origin: "first" }, counted("date:2019-01-01"))).toEqual([0, LATER]);
  });

  it("need the day where the model counts from one of each individual", async () => {
    await expect(times({}, counted("column:onset"))).rejects.toMatchObject({
      problem: { code: "option", where: "query.origin", expected: expect.stringContaining('"onset"') },
    });
    expect(await times({ origin: "2020-01-01" }, counted("column:onset"))).toEqual([0, LATER]);
    await expect(times({ origin: "soon" })).rejects.toMatchObject({
      problem: { code: "option", where: "query.origin", expected: "first, or a day such as 2010-01-31" },
    });
  });

  it("need a unit that the calendar knows", async () => {
    const [only] = model.markers;
    const unsaid = { ...model, markers: [{ ...only!, marker: { ...marker, timeUnit: "" } }] };
    const by = { ...served, model: unsaid };
    await expect(times({}, by)).rejects.toMatchObject({ problem: { where: "query.timeUnit" } });
    expect((await times({ timeUnit: "days" }, by))[1]).toBe(547);
  });
});

describe("patients of a body of FHIR", () => {
  const both = bundle(FIRST, { ...SECOND, patient: "b" }, { ...SECOND, value: 9, unit: "kg", patient: "c" });

  it("are one, or one is chosen, and nothing of the others matters", async () => {
    await expect(read(bundle(FIRST, { ...SECOND, patient: "b" }))).rejects.toMatchObject({
      status: 422,
      problem: { code: "several-patients", received: "those of 2", remedy: "Choose one by patient=ID in the query." },
    });
    const { request } = await read(both, { patient: "b" });
    expect(request.visits).toEqual([{ time: 0, value: 1.3, marker: "creatinine" }]);
    await expect(read(both, { patient: "z" })).rejects.toMatchObject({ problem: { code: "no-rows" } });
  });

  it("keep a withdrawal that does not say of whom", async () => {
    const withdrawn = { id: "x", meta: { versionId: "2" }, status: "entered-in-error", subject: undefined };
    const given = bundle(FIRST, { ...SECOND, id: "x", meta: { versionId: "1" } }, withdrawn);
    expect((await read(given, { patient: "a" })).request.visits).toHaveLength(1);
  });
});

describe("a query beside a body of FHIR", () => {
  it("is refused where it does not fit", async () => {
    const fits = (given: Record<string, string[]>) => placeQuery.safeParse(queryValues(given)).success;
    const odd: Record<string, string[]>[] = [
      {},
      { code: ["1"], level: [""] },
      { code: ["1"], level: ["2"] },
      { code: ["1"], at: ["1,x"] },
      { code: ["1"], patient: ["a", "b"] },
      { code: ["1"], rate: ["maybe"] },
      { code: ["1"], other: ["1"] },
    ];
    expect(odd.filter(fits)).toEqual([]);
    expect(fits({ code: ["2160-0"], at: ["1", "2,3"], level: ["0.8"], rate: ["false"] })).toBe(true);
    await expect(read(bundle(FIRST), { code: ["1", "2"] })).rejects.toMatchObject({ problem: { where: "query.code" } });
    await expect(read(bundle(FIRST), { code: "718-7" })).rejects.toMatchObject({ problem: { code: "no-rows" } });
    await expect(read(bundle(FIRST), { covariate: "age" })).rejects.toMatchObject({
      problem: { where: "query.covariate" },
    });
    const asked = await read(bundle(FIRST), { covariate: ["age=54", "sex=f"] });
    expect(asked.request.covariates).toEqual({ age: "54", sex: "f" });
  });

  it("is answered in words of a request", async () => {
    const other = await read(bundle(FIRST), { code: "718-7" }).catch(({ status, problem }) => ({ status, ...problem }));
    expect(other).toMatchObject({ status: 422, where: "body", received: "1 Observation of other codes" });
    expect(other.remedy).toContain("code and patient in the query");
    expect(JSON.stringify(other)).not.toMatch(/dtm|--|listFhirCodes|table/);
    for (const body of ["", " \n"]) {
      await expect(read(body)).rejects.toMatchObject({ status: 400, problem: { received: "an empty body" } });
    }
    await expect(read(bundle())).rejects.toMatchObject({ problem: { received: "no Observations" } });
  });

  it("does not unpack bodies", async () => {
    const packed = new Uint8Array([0x1f, 0x8b, 8, 0]);
    await expect(readResources(served, packed, { code: ["2160-0"] })).rejects.toMatchObject({ status: 400 });
  });
});
