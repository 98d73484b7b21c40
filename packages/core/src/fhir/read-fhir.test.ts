/** Each trap of FHIR by a resource made for it: taken, left out or refused, and told. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

import { type ReadFhirOptions, readFhir } from "./read-fhir.ts";

const CREATININE = { coding: [{ system: "http://loinc.org", code: "2160-0", display: "Creatinine" }] };
const quantity = (value: number, code = "mg/dL") => ({ value, unit: code, system: "http://unitsofmeasure.org", code });

type Resource = Record<string, unknown>;
let serial = 0;
const observation = (given: Resource = {}): Resource => ({
  resourceType: "Observation",
  id: `o${++serial}`,
  status: "final",
  code: CREATININE,
  subject: { reference: "Patient/a" },
  effectiveDateTime: "2020-03-05",
  valueQuantity: quantity(1),
  ...given,
});
const without = (resource: Resource, ...keys: readonly string[]) =>
  Object.fromEntries(Object.entries(resource).filter(([key]) => !keys.includes(key)));

const bytesOf = (text: string) => [new TextEncoder().encode(text)];
const source = (resources: readonly unknown[], name = "Observation.ndjson") => ({
  name,
  bytes: bytesOf(resources.map((resource) => JSON.stringify(resource)).join("\n")),
});
const read = (resources: readonly unknown[], options: Partial<ReadFhirOptions> = {}) =>
  readFhir([source(resources)], { markers: [{ codes: ["2160-0"] }], ...options });
const told = (lines: readonly { code: string; count: number }[]) =>
  Object.fromEntries(lines.map(({ code, count }) => [code, count]));
const values = (cohort: { markers: readonly { values: Float64Array }[] }, k = 0) =>
  Array.from(cohort.markers[k].values);

/** One good value and the resource in question: what is told of it. */
const alone = async (given: Resource, options: Partial<ReadFhirOptions> = {}) => {
  const { cohort, told: lines } = await read([observation({ subject: { reference: "Patient/z" } }), given], options);
  return { values: values(cohort), ids: cohort.ids, told: told(lines), times: Array.from(cohort.markers[0].times) };
};

describe("status", () => {
  it.each([
    ["entered-in-error", "entered-in-error"],
    ["cancelled", "cancelled"],
    ["preliminary", "preliminary"],
    ["registered", "registered"],
    ["unknown", "other-status"],
    ["made-up", "other-status"],
  ])("%s is left out and told", async (status, code) => {
    const found = await alone(observation({ status }));
    expect(found).toMatchObject({ ids: ["z"], told: { [code]: 1 } });
  });

  it.each(["final", "amended", "corrected"])("%s is taken", async (status) => {
    expect((await alone(observation({ status }))).ids).toEqual(["a", "z"]);
  });

  it("takes preliminary results by choice", async () => {
    const found = await alone(observation({ status: "preliminary" }), { status: ["final", "preliminary"] });
    expect(found.ids).toEqual(["a", "z"]);
  });
});

describe("times", () => {
  const at = async (given: Resource, options: Partial<ReadFhirOptions> = {}) => {
    const first = observation({ effectiveDateTime: "2020-01-01" });
    const { cohort, told: lines } = await read(
      [first, without(observation({ valueQuantity: quantity(2), ...given }), "effectiveDateTime")],
      { timeUnit: "days", ...options },
    );
    return { day: cohort.markers[0].times[1], told: told(lines) };
  };
  const dated = (effectiveDateTime: string, options: Partial<ReadFhirOptions> = {}) =>
    read(
      [
        observation({ effectiveDateTime: "2020-01-01" }),
        observation({ effectiveDateTime, valueQuantity: quantity(2) }),
      ],
      {
        timeUnit: "days",
        ...options,
      },
    );

  it("are local calendar days as written", async () => {
    expect((await dated("2020-01-31T23:30:00-05:00")).cohort.markers[0].times[1]).toBe(30);
    expect((await dated("2020-01-31T00:30:00+14:00")).cohort.markers[0].times[1]).toBe(30);
    expect((await dated("2020-03-01")).cohort.markers[0].times[1]).toBe(60);
  });

  it("are years since the first value by default", async () => {
    const { cohort, notes } = await dated("2021-01-01", { timeUnit: "years" });
    expect(cohort.markers[0].times[1]).toBe(366 / 365.25);
    expect(cohort.markers[0].marker.timeUnit).toBe("years");
    expect(notes).toContainEqual(expect.stringContaining("since the first visit"));
  });

  it("are those of instants, periods and timings of one event", async () => {
    expect(await at({ effectiveInstant: "2020-01-11T10:00:00.123Z" })).toEqual({ day: 10, told: {} });
    const effectivePeriod = { start: "2020-01-11", end: "2020-01-21" };
    expect(await at({ effectivePeriod })).toEqual({ day: 10, told: { period: 1 } });
    expect((await at({ effectivePeriod }, { period: "middle" })).day).toBe(15);
    expect((await at({ effectivePeriod }, { period: "end" })).day).toBe(20);
    expect((await at({ effectivePeriod: { end: "2020-01-21" } })).day).toBe(20);
    expect(await at({ effectiveTiming: { event: ["2020-01-06"] } })).toEqual({ day: 5, told: { timing: 1 } });
  });

  it.each([
    [{ effectiveTiming: { event: ["2020-01-06", "2020-01-07"] } }, "several-times"],
    [{ effectiveTiming: { repeat: {} } }, "several-times"],
    [{}, "no-time"],
    [{ effectivePeriod: {} }, "no-time"],
    [{ effectiveInstant: "yesterday" }, "no-such-date"],
    [{ effectiveInstant: "2021-02-29" }, "no-such-date"],
  ])("%j is left out", async (given, code) => {
    expect(await at(given)).toEqual({ day: undefined, told: { [code]: 1 } });
  });

  it("without a day are left out, or taken by one rule", async () => {
    expect(await at({ effectiveInstant: "2020-03" })).toEqual({ day: undefined, told: { "partial-date": 1 } });
    expect(await at({ effectiveInstant: "2020-03" }, { partialDates: "middle" })).toEqual({
      day: 74,
      told: { "completed-date": 1 },
    });
    expect((await at({ effectiveInstant: "2020" }, { partialDates: "middle" })).day).toBe(182);
  });
});

describe("values", () => {
  it("with a comparator are limits", async () => {
    const limit = { ...quantity(0.3), comparator: "<" };
    const { cohort, told: lines } = await read([observation(), observation({ valueQuantity: limit })]);
    expect(Array.from(cohort.markers[0].censored!)).toEqual([-1, 0]);
    expect(told(lines)).toEqual({ limit: 1 });
    const other = await alone(observation({ valueQuantity: { ...limit, comparator: "ad" } }));
    expect(other.told).toEqual({ "other-comparator": 1 });
  });

  it.each([
    [{ dataAbsentReason: { coding: [{ code: "unknown" }] } }, "absent"],
    [{ valueString: "1.4" }, "string"],
    [{ valueString: "haemolysed" }, "not-a-number"],
    [{ valueCodeableConcept: { text: "high" } }, "not-a-number"],
    [{ valueBoolean: true }, "not-a-number"],
    [{ valueSampledData: { period: 1, dimensions: 1, origin: { value: 0 } } }, "sampled"],
    [{ hasMember: [{ reference: "Observation/x" }] }, "panel"],
    [{}, "no-value"],
  ])("%j is left out", async (given, code) => {
    const found = await alone(without(observation(given), "valueQuantity"));
    expect(found).toMatchObject({ ids: ["z"], told: { [code]: 1 } });
  });

  it("in text are taken by choice, with their unit and sign", async () => {
    const text = (valueString: string) => without(observation({ valueString }), "valueQuantity");
    const { cohort, told: lines } = await read([observation(), text("1.4 mg/dl"), text("< 0.5 mg/dL")], {
      strings: true,
    });
    expect(values(cohort)).toEqual([0.5, 1, 1.4]);
    expect(told(lines)).toEqual({ "string-taken": 2, limit: 1 });
  });

  it("may be whole numbers without a unit", async () => {
    const { cohort } = await read([without(observation({ valueInteger: 7 }), "valueQuantity")]);
    expect(values(cohort)).toEqual([7]);
    expect(cohort.markers[0].marker.unit).toBe("");
  });

  it("of components and contained members are taken by their own code", async () => {
    const code = (text: string) => ({ coding: [{ system: "http://loinc.org", code: text }] });
    const pressure = without(
      observation({
        code: code("85354-9"),
        component: [
          { code: code("8480-6"), valueQuantity: quantity(120, "mm[Hg]") },
          { code: code("8462-4"), valueQuantity: quantity(80, "mm[Hg]") },
        ],
      }),
      "valueQuantity",
    );
    const systolic = await read([pressure], { markers: [{ codes: ["8480-6"] }] });
    expect(values(systolic.cohort)).toEqual([120]);
    expect(told(systolic.told)).toEqual({ component: 1 });
    const both = await read([pressure], {
      markers: [
        { codes: ["8480-6"], name: "systolic" },
        { codes: ["8462-4"], name: "diastolic" },
      ],
    });
    expect([values(both.cohort), values(both.cohort, 1)]).toEqual([[120], [80]]);
    expect(both.cohort.markers.map(({ marker }) => [marker.name, marker.unit])).toEqual([
      ["systolic", "mm[Hg]"],
      ["diastolic", "mm[Hg]"],
    ]);
    const member = {
      resourceType: "Observation",
      id: "m",
      status: "final",
      code: CREATININE,
      valueQuantity: quantity(3),
    };
    const panel = without(
      observation({ code: code("24323-8"), contained: [member], hasMember: [{ reference: "#m" }] }),
      "valueQuantity",
    );
    const found = await read([panel]);
    expect(values(found.cohort)).toEqual([3]);
    expect(found.cohort.ids).toEqual(["a"]);
    expect(told(found.told)).toEqual({ contained: 1 });
    const wrong = { ...member, status: "entered-in-error" };
    const error = without(observation({ code: code("24323-8"), contained: [wrong] }), "valueQuantity");
    expect((await alone(error)).told).toEqual({ "entered-in-error": 1 });
  });
});

describe("units", () => {
  it("are brought to the most frequent, or to the one asked for, by the analyte of the code", async () => {
    const all = [
      observation(),
      observation({ effectiveDateTime: "2020-03-06", valueQuantity: quantity(88.4017, "umol/L") }),
      observation({ effectiveDateTime: "2020-03-07", valueQuantity: { value: 176.8034, unit: "µmol/L" } }),
      observation({ effectiveDateTime: "2020-03-08", valueQuantity: { value: 3, unit: "mg/dl" } }),
      observation({ effectiveDateTime: "2020-03-09" }),
    ];
    const { cohort, conversions } = await read(all);
    expect(values(cohort).map((value) => Number(value.toFixed(4)))).toEqual([1, 1, 2, 3, 1]);
    expect(cohort.markers[0].marker.unit).toBe("mg/dL");
    expect(conversions.map(({ from, count }) => [from, count])).toEqual([
      ["mg/dl", 1],
      ["umol/L", 1],
      ["µmol/L", 1],
    ]);
    const moles = await read(all, { markers: [{ codes: ["2160-0"], unit: "umol/L" }] });
    expect(values(moles.cohort)[0]).toBeCloseTo(88.4017, 4);
  });

  it("that are lacking, unknown or of another kind are refused, or taken as they are said to be meant", async () => {
    const none = observation({ effectiveDateTime: "2020-04-01", valueQuantity: { value: 2 } });
    await expect(read([observation(), none])).rejects.toThrow(/missing-unit/);
    const meant = await read([observation(), none], { meant: { "": "mg/dL" } });
    expect(values(meant.cohort)).toEqual([1, 2]);
    expect((await read([observation(), none], { onBad: "leave-out" })).leftOut).toEqual([
      { code: "missing-unit", count: 1 },
    ]);
    const egfr = { coding: [{ system: "http://loinc.org", code: "33914-3" }] };
    const mixed = ["mL/min", "mL/min", "mL/min/{1.73_m2}"].map((unit, k) =>
      observation({ code: egfr, effectiveDateTime: `2020-04-0${k + 1}`, valueQuantity: quantity(60, unit) }),
    );
    const markers = [{ codes: ["33914-3"] }];
    await expect(read(mixed, { markers })).rejects.toThrow(/other-unit/);
    const same = await read(mixed, { markers, meant: { "mL/min": "mL/min/{1.73_m2}" } });
    expect(values(same.cohort)).toEqual([60, 60, 60]);
    expect(same.cohort.markers[0].marker.unit).toBe("mL/min/{1.73_m2}");
  });

  it("never become others by being dimensionless", async () => {
    const code = { coding: [{ system: "http://loinc.org", code: "4548-4" }] };
    const two = [
      observation({ code, valueQuantity: quantity(6.5, "%") }),
      observation({ code, effectiveDateTime: "2021-01-01", valueQuantity: quantity(7, "%") }),
      observation({ code, effectiveDateTime: "2022-01-01", valueQuantity: quantity(47.545, "mmol/mol") }),
    ];
    const { cohort } = await read(two, { markers: [{ codes: ["4548-4"] }] });
    expect(values(cohort).map((value) => Number(value.toFixed(6)))).toEqual([6.5, 7, 6.5]);
  });
});

describe("subjects", () => {
  it.each([
    [{ reference: "Patient/a" }, "a"],
    [{ reference: "Patient/a/_history/2" }, "a"],
    [{ reference: "https://server.test/fhir/Patient/a" }, "a"],
    [{ reference: "https://server.test/fhir/Patient/a/_history/2" }, "a"],
    [{ reference: "urn:uuid:6c5d9ca9" }, "6c5d9ca9"],
    [{ reference: "Patient?identifier=https://s.test|77" }, "77"],
    [{ identifier: { value: "77" } }, "77"],
  ])("%j is %s", async (subject, id) => {
    expect((await alone(observation({ subject }))).ids).toEqual([id, "z"].sort());
  });

  it.each([
    [{ reference: "Group/g" }, "not-a-patient"],
    [{ reference: "Device/d" }, "not-a-patient"],
    [{ reference: "#p" }, "not-a-patient"],
    [{}, "no-subject"],
    [undefined, "no-subject"],
  ])("%j is left out", async (subject, code) => {
    expect(await alone(observation({ subject }))).toMatchObject({ ids: ["z"], told: { [code]: 1 } });
  });
});

describe("codes", () => {
  const coded = (...coding: readonly { system: string; code: string }[]) => observation({ code: { coding } });

  it("of several codings count once", async () => {
    const two = coded({ system: "http://loinc.org", code: "2160-0" }, { system: "http://loinc.org", code: "38483-4" });
    const { cohort, told: lines } = await read([two], { markers: [{ codes: ["2160-0", "38483-4"] }] });
    expect(values(cohort)).toEqual([1]);
    expect(told(lines)).toEqual({ "several-codings": 1 });
    const markers = [
      { codes: ["2160-0"], name: "one" },
      { codes: ["38483-4"], name: "two" },
    ];
    const first = await read([two, coded({ system: "http://loinc.org", code: "38483-4" })], { markers });
    expect(told(first.told)).toMatchObject({ "two-markers": 1 });
  });

  it("of mixed systems ask for the system", async () => {
    const mixed = [coded({ system: "http://loinc.org", code: "1" }), coded({ system: "urn:local", code: "1" })];
    await expect(read(mixed, { markers: [{ codes: ["1"] }] })).rejects.toThrow(/loinc\|1/);
    const { cohort } = await read([...mixed], { markers: [{ codes: ["loinc|1"] }] });
    expect(values(cohort)).toEqual([1]);
    await expect(read(mixed, { markers: [{ codes: ["http://loinc.org|1"] }] })).resolves.toBeDefined();
  });

  it("that are not there are refused with what is", async () => {
    await expect(read([observation()], { markers: [{ codes: ["9"] }] })).rejects.toThrow(
      /1 Observation of other codes.*lists those that are there/,
    );
    await expect(read([], { markers: [{ codes: ["9"] }] })).rejects.toThrow("received no Observations.");
  });
});

describe("versions", () => {
  const version = (versionId: string | undefined, value: number, given: Resource = {}) =>
    observation({ id: "v", valueQuantity: quantity(value), ...(versionId && { meta: { versionId } }), ...given });

  it("of one id: the newest is kept, whatever the order and the file", async () => {
    for (const order of [
      [1, 2, 10],
      [10, 1, 2],
      [2, 10, 1],
    ]) {
      const { cohort, told: lines } = await readFhir(
        order.map((v, k) => source([version(String(v), v)], `${k}.ndjson`)),
        { markers: [{ codes: ["2160-0"] }] },
      );
      expect(values(cohort)).toEqual([10]);
      expect(told(lines)).toEqual({ "older-version": 2 });
    }
  });

  it("go by lastUpdated where there is no number, and a withdrawn one takes its value with it", async () => {
    const meta = (lastUpdated: string) => ({ meta: { lastUpdated } });
    const [old, young] = [meta("2020-01-01T00:00:00Z"), meta("2020-01-02T00:00:00+05:00")];
    expect(values((await read([version(undefined, 2, young), version(undefined, 1, old)])).cohort)).toEqual([2]);
    const found = await alone(version("2", 5, { status: "entered-in-error" }));
    expect(found.ids).toEqual(["z"]);
    const { cohort } = await read([version("1", 5), version("2", 5, { status: "entered-in-error" }), observation()]);
    expect(values(cohort)).toEqual([1]);
  });

  it("that are withdrawn without their code take their value with them too, in either order", async () => {
    const gone = { resourceType: "Observation", id: "v", status: "entered-in-error", meta: { versionId: "2" } };
    for (const order of [
      [version("1", 5), gone],
      [gone, version("1", 5)],
    ]) {
      const { cohort, told: lines } = await read([...order, observation()]);
      expect(values(cohort)).toEqual([1]);
      expect(told(lines)).toEqual({ "older-version": 1 });
    }
  });

  it("that are equal count once", async () => {
    const { cohort, told: lines } = await read([version("1", 5), version("1", 5)]);
    expect(values(cohort)).toEqual([5]);
    expect(told(lines)).toEqual({ "same-version": 1 });
  });
});

describe("files", () => {
  const patient = { resourceType: "Patient", id: "a", gender: "female", birthDate: "1960-03-05" };
  const bundle = {
    resourceType: "Bundle",
    type: "transaction",
    entry: [
      { fullUrl: "urn:uuid:p", resource: patient },
      { fullUrl: "urn:uuid:1", resource: without(observation({ subject: { reference: "urn:uuid:p" } }), "id") },
    ],
  };
  const options: ReadFhirOptions = { markers: [{ codes: ["2160-0"] }] };

  it("may be Bundles, written over many lines or in one, arrays, NDJSON of Bundles, packed or cut anywhere", async () => {
    const texts = [
      JSON.stringify(bundle),
      JSON.stringify(bundle, null, 2),
      JSON.stringify([bundle]),
      `${JSON.stringify(bundle)}\n`,
    ];
    for (const text of texts) {
      const bytes = new TextEncoder().encode(text);
      const cut = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, k) => bytes.subarray(7 * k, 7 * k + 7));
      for (const blocks of [[bytes], cut, [new Uint8Array(gzipSync(text))]]) {
        const { cohort, subjects } = await readFhir([{ name: "b.json", bytes: blocks }], options);
        expect(cohort.ids).toEqual(["a"]);
        expect(subjects.columns.map(({ name, cells }) => [name, cells[0]])).toEqual([
          ["id", "a"],
          ["sex", "female"],
          ["age", "60"],
          ["death", "0"],
          ["death_time", "0"],
        ]);
      }
    }
  });

  it("are read whatever else speaks of an Observation", async () => {
    const condition = {
      resourceType: "Condition",
      id: "c",
      code: { coding: [{ code: "44" }] },
      subject: { reference: "Patient/a" },
      evidence: [{ detail: [{ type: "Observation", reference: "Observation/x" }] }],
    };
    const { subjects } = await read([observation(), condition], { conditions: [["44"]] });
    expect(subjects.columns.find(({ name }) => name === "condition_44")?.cells).toEqual(["1"]);
  });

  it("that are broken say where, and documents that are none are passed over", async () => {
    const broken = { name: "o.ndjson", bytes: bytesOf(`${JSON.stringify(observation())}\n{"resourceType":"Patient",`) };
    await expect(readFhir([broken], options)).rejects.toThrow(/o\.ndjson, line 2/);
    const { told: lines } = await read([observation(), { licence: "none" }]);
    expect(told(lines)).toEqual({ "not-resource": 1 });
  });
});

describe("outcomes", () => {
  const day = (effectiveDateTime: string, id = "a") =>
    observation({ effectiveDateTime, subject: { reference: `Patient/${id}` } });
  const condition = (given: Resource) => ({
    resourceType: "Condition",
    id: `c${++serial}`,
    code: { coding: [{ system: "http://snomed.info/sct", code: "44054006" }] },
    subject: { reference: "Patient/a" },
    onsetDateTime: "2021-01-01",
    ...given,
  });
  const table = async (...more: readonly unknown[]) => {
    const found = await read([day("2020-01-01"), day("2022-01-01"), ...more], {
      conditions: [["44054006"]],
      timeUnit: "days",
    });
    const { ids, columns } = found.subjects;
    const cells = Object.fromEntries(columns.map(({ name, cells: all }) => [name, all[ids.indexOf("a")]]));
    return { ...cells, told: told(found.told) } as Record<string, unknown>;
  };

  it("are deaths, and the last value for the living", async () => {
    const patient = (given: Resource) => ({ resourceType: "Patient", id: "a", ...given });
    expect(await table(patient({}))).toMatchObject({ death: "0", death_time: "731" });
    expect(await table(patient({ deceasedBoolean: false }))).toMatchObject({ death: "0" });
    expect(await table(patient({ deceasedDateTime: "2022-01-11T03:00:00Z" }))).toMatchObject({
      death: "1",
      death_time: "741",
    });
    expect(await table(patient({ deceasedBoolean: true }))).toMatchObject({
      death: "",
      told: { "death-without-day": 1 },
    });
    expect(await table(patient({ deceasedDateTime: "2019-01-11" }))).toMatchObject({
      death: "",
      told: { "death-before": 1 },
    });
    expect(await table({ resourceType: "Patient", id: "other" })).toMatchObject({
      death: "",
      told: { "no-patient": 1 },
    });
  });

  it("are counted from the same day as the values, whatever the origin and however values were left out", async () => {
    const patient = { resourceType: "Patient", id: "a", deceasedDateTime: "2022-01-11" };
    const all = [day("2020-01-01"), day("2022-01-01"), patient];
    const timesOf = async (resources: readonly unknown[], options: Partial<ReadFhirOptions>) => {
      const { cohort, subjects } = await read(resources, { timeUnit: "days", ...options });
      const death = subjects.columns.find(({ name }) => name === "death_time")?.cells[0];
      return [...cohort.markers[0].times, Number(death)];
    };
    expect(await timesOf(all, {})).toEqual([0, 731, 741]);
    expect(await timesOf(all, { origin: "date:2019-12-31" })).toEqual([1, 732, 742]);
    const odd = { ...day("2019-12-01"), valueQuantity: quantity(1, "furlong") };
    expect(await timesOf([odd, ...all], { onBad: "leave-out" })).toEqual([0, 731, 741]);
  });

  it("are conditions: ever, new after the first value, and when", async () => {
    const name = "condition_44054006";
    expect(await table()).toMatchObject({ [name]: "0", [`${name}_new`]: "0", [`${name}_time`]: "731" });
    expect(await table(condition({}))).toMatchObject({ [name]: "1", [`${name}_new`]: "1", [`${name}_time`]: "366" });
    const before = condition({ onsetDateTime: "2010-01-01" });
    expect(await table(before, condition({}))).toMatchObject({
      [name]: "1",
      [`${name}_new`]: "",
      [`${name}_time`]: "",
    });
    expect(await table(without(condition({ recordedDate: "2020-02-01" }), "onsetDateTime"))).toMatchObject({
      [`${name}_time`]: "31",
      told: { "condition-recorded": 1 },
    });
    const refuted = { verificationStatus: { coding: [{ code: "refuted" }] } };
    expect(await table(condition(refuted))).toMatchObject({ [name]: "0", told: { "refuted-condition": 1 } });
    const doubted = { verificationStatus: { coding: [{ code: "provisional" }] } };
    expect(await table(condition(doubted))).toMatchObject({ [name]: "0", told: { "unconfirmed-condition": 1 } });
    expect(await table(without(condition({}), "onsetDateTime"))).toMatchObject({
      [name]: "1",
      [`${name}_new`]: "",
      told: { "condition-without-day": 1 },
    });
  });
});

describe("what may change the meaning of a resource", () => {
  const modifierExtension = [{ url: "urn:local:not-done", valueBoolean: true }];

  it("leaves it out, and tells", async () => {
    expect(await alone(observation({ modifierExtension }))).toMatchObject({
      ids: ["z"],
      told: { "modifier-extension": 1 },
    });
    expect((await alone(observation({ modifierExtension: [] }))).ids).toEqual(["a", "z"]);
    const part = { code: CREATININE, valueQuantity: quantity(2), modifierExtension };
    const panel = without(observation({ code: { coding: [{ code: "panel" }] }, component: [part] }), "valueQuantity");
    expect(await alone(panel)).toMatchObject({ ids: ["z"], told: { "modifier-extension": 1 } });
  });

  it("in Patients and Conditions too", async () => {
    const patient = { resourceType: "Patient", id: "a", gender: "female", modifierExtension };
    const condition = {
      resourceType: "Condition",
      code: { coding: [{ code: "44" }] },
      subject: { reference: "Patient/a" },
      onsetDateTime: "2021-01-01",
      modifierExtension,
    };
    const { subjects, told: lines } = await read([observation(), patient, condition], { conditions: [["44"]] });
    const cell = (name: string) => subjects.columns.find((column) => column.name === name)?.cells[0];
    expect([cell("sex"), cell("death"), cell("condition_44")]).toEqual(["", "", "0"]);
    expect(told(lines)).toEqual({ "modifier-patient": 1, "modifier-condition": 1 });
  });
});

describe("the code and the text of a unit", () => {
  const united = (code: string, unit: string) => alone(observation({ valueQuantity: { ...quantity(2, code), unit } }));

  it.each([
    ["mg/dL", "mmol/L"],
    ["mg/dL", "g/L"],
    ["mg/dL", "mg/L"],
  ])("%s beside %s is left out and told", async (code, unit) => {
    expect(await united(code, unit)).toMatchObject({ ids: ["z"], told: { "unit-contradiction": 1 } });
  });

  it.each([
    ["mg/dL", "MG/DL"],
    ["mg/dL", "milligrams per decilitre"],
    ["mg/dL", "mg%"],
  ])("%s beside %s is taken", async (code, unit) => {
    expect((await united(code, unit)).ids).toEqual(["a", "z"]);
  });
});

describe("servers", () => {
  const bundle = (host: string, ...resources: readonly Resource[]) => ({
    resourceType: "Bundle",
    entry: resources.map((resource) => ({ fullUrl: `${host}/${resource.resourceType}/${resource.id}`, resource })),
  });
  const [one, other] = ["https://One.example/fhir", "http://other.example/fhir"];
  const patient = (gender: string) => ({ resourceType: "Patient", id: "a", gender });

  it("with one id of a patient have two individuals, by absolute and by relative references", async () => {
    const absolute = [one, other].map((host) => observation({ subject: { reference: `${host}/Patient/a` } }));
    const relative = [
      bundle(one, patient("female"), observation({ id: "1" })),
      bundle(other, patient("male"), observation({ id: "1" })),
    ];
    for (const resources of [absolute, relative]) {
      const { cohort, told: lines } = await readFhir(
        resources.map((resource, k) => source([resource], `${k}.json`)),
        { markers: [{ codes: ["2160-0"] }] },
      );
      expect(cohort.ids).toEqual(["one.example/fhir/Patient/a", "other.example/fhir/Patient/a"]);
      expect(told(lines)).toEqual({ "two-servers": 1 });
    }
    const { subjects } = await read(relative);
    expect(subjects.columns.find(({ name }) => name === "sex")?.cells).toEqual(["female", "male"]);
  });

  it("leave out what does not say whose it is, and are one where only one is named", async () => {
    const named = [one, other].map((host) => observation({ subject: { reference: `${host}/Patient/a` } }));
    const { cohort, told: lines } = await read([...named, observation()]);
    expect(cohort.ids).toHaveLength(2);
    expect(told(lines)).toEqual({ "two-servers": 1, "unknown-server": 1 });
    expect((await read([named[0], observation({ effectiveDateTime: "2021-01-01" })])).cohort.ids).toEqual(["a"]);
  });
});

it.each([
  ["a key twice", '"value":1,"value":2', /line 2.*twice/],
  ["lists without end", `"value":1,"x":${"[".repeat(9999)}${"]".repeat(9999)}`, /line 2.*nested more than 200 deep/],
])("%s in a resource is refused with its line", async (_, change, words) => {
  const text = JSON.stringify(observation()).replace('"value":1', change);
  const found = readFhir([{ name: "o.ndjson", bytes: bytesOf(`${JSON.stringify(observation())}\n${text}`) }], {
    markers: [{ codes: ["2160-0"] }],
  });
  await expect(found).rejects.toThrow(words);
});
