/** The front door of the library stays one that can be learned. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as core from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { ROOT } from "./root.ts";

const SOURCES = join(ROOT, "packages", "core", "src");
const door = readFileSync(join(SOURCES, "index.ts"), "utf8");
const exported = [...door.matchAll(/^export (?:type )?\{([^}]*)\} from "(.*)";$/gm)].flatMap(([, names, file]) =>
  names.split(",").map((name) => ({ name: name.trim().replace(/^type /, ""), file })),
);

it("has about 35 names", () => {
  expect(door.match(/^export/gm)).toHaveLength(new Set(exported.map(({ file }) => file)).size);
  expect(exported.length).toBeLessThanOrEqual(40);
});

it("says of every function how it is used", () => {
  const functions = exported.filter(({ name }) => {
    const value = (core as Record<string, unknown>)[name];
    return typeof value === "function" && !/^[A-Z]/.test(name);
  });
  const silent = functions.filter(({ name, file }) => {
    const text = readFileSync(join(SOURCES, file), "utf8");
    const at = text.search(new RegExp(`^export (async )?function ${name}\\b`, "m"));
    return !text.slice(text.lastIndexOf("/**", at), at).includes("@example");
  });
  expect(functions.length).toBeGreaterThan(15);
  expect(silent.map(({ name }) => name)).toEqual([]);
});

/** Calls that lack an argument, each as a program without types might make it. */
const { cohort } = core.simulateCohort("pfvc", { numIndividuals: 12 });
const model = core.fitLmm(cohort, { numBasis: 3 });
const someone = core.placeIndividual(model, { times: [0], values: [80] });
const WELL: Readonly<Record<string, readonly unknown[]>> = {
  associate: [{ cohort, outcomes: [], placements: core.embed(model, cohort) }, {}],
  makeCohort: [{ ids: ["a"], times: [0], values: [1] }, {}],
  numIndividuals: [cohort],
  selectIndividuals: [cohort, [0]],
  splitCohort: [cohort, 2],
  compareModels: [cohort, {}],
  heldOutLogLikelihood: [model, cohort, {}],
  mapVerdict: [model],
  readCohort: ["id,time,value\na,0,1\n", {}],
  groupPlaces: [model, core.embed(model, cohort), {}],
  markerModel: [model],
  fitDtm: [cohort, {}],
  resumeDtm: [cohort, {}, {}],
  startDtm: [cohort, {}],
  fitFpca: [cohort, {}],
  fitLmm: [cohort, {}],
  embed: [model, cohort, {}],
  placeIndividual: [model, { times: [0], values: [80] }, {}],
  predict: [model, someone, [1], {}],
  predictCrossing: [model, someone, { threshold: 50 }],
  loadModel: [core.saveModel(model)],
  saveModel: [model],
  simulateCohort: ["pfvc", {}],
  simulateFromModel: [model, cohort, {}],
  simulatePlaces: [{}],
};

it("refuses null wherever an argument stands, and undefined where it is needed, with an error of its own", async () => {
  const functions = Object.entries(core).filter(([name, value]) => typeof value === "function" && /^[a-z]/.test(name));
  expect(functions.map(([name]) => name).sort()).toEqual(Object.keys(WELL).sort());
  for (const [name, call] of functions as [string, (...given: unknown[]) => unknown][]) {
    const well = WELL[name]!;
    const lacking = well.map((_, k) => well.map((value, j) => (j === k ? null : value)));
    // What has a default may be left out.
    const empty = name === "simulatePlaces" ? [] : [well.map(() => undefined)];
    for (const given of [...lacking, ...empty]) {
      const refused = await Promise.resolve()
        .then(() => call(...given))
        .then(
          () => "nothing",
          (error: unknown) => error,
        );
      expect(refused, `${name}(${given.map(String).join(", ")})`).toBeInstanceOf(core.DtmError);
    }
  }
});

it("refuses arguments of another kind with an error of its own", async () => {
  const strange = ["x", 3, true, [], [1], new Date(0), new Uint8Array(3), { a: 1 }, 1n, () => 1];
  for (const [name, call] of Object.entries(core).filter(([name]) => name in WELL)) {
    const well = WELL[name]!;
    for (const given of well.flatMap((_, k) => strange.map((odd) => well.map((own, j) => (j === k ? odd : own))))) {
      const found = await Promise.resolve()
        .then(() => (call as (...given: readonly unknown[]) => unknown)(...given))
        .catch((error: unknown) => error);
      // Some are what the function takes: text that is a table, a number of folds.
      if (found instanceof Error)
        expect(found, `${name}(${given.map(String).join(", ")})`).toBeInstanceOf(core.DtmError);
    }
  }
});

describe("ordinary mistakes", () => {
  const text = core.saveModel(model);
  const table = "id,time,value\na,0,1\n";
  const call = (f: (...given: never[]) => unknown, ...given: unknown[]) => f(...(given as never[]));
  const MISTAKES: Readonly<Record<string, readonly [string, () => unknown]>> = {
    "times that are not numbers": ["not-finite", () => call(core.predict, model, someone, [null])],
    "times as empty text": ["not-finite", () => call(core.predict, model, someone, [""])],
    "times that are dates": [
      "not-finite",
      () => call(core.placeIndividual, model, { times: [new Date()], values: [70] }),
    ],
    "times that are true": ["not-finite", () => call(core.placeIndividual, model, { times: [true], values: [70] })],
    "values of a cohort that are true": [
      "not-finite",
      () => call(core.makeCohort, { ids: ["a"], times: [0], values: [true] }),
    ],
    "big integers": ["not-finite", () => call(core.placeIndividual, model, { times: [0n], values: [70n] })],
    "one time without a list": ["shape", () => call(core.predict, model, someone, 2)],
    "a number as options": ["option", () => call(core.predict, model, someone, [2], 5)],
    "a seed that is text": ["option", () => call(core.predict, model, someone, [2], { seed: "x", simultaneous: true })],
    "a seed that is no whole number": ["option", () => call(core.fitDtm, cohort, { seed: 1.5 })],
    "thresholds that are none": ["option", () => call(core.predictCrossing, model, someone, { threshold: true })],
    "a model that JSON.parse read": [
      "shape",
      () => call(core.placeIndividual, JSON.parse(text), { times: [0], values: [70] }),
    ],
    "the model in it": ["shape", () => call(core.predict, JSON.parse(text).model, someone, [2])],
    "a model file as an object": ["shape", () => call(core.loadModel, JSON.parse(text))],
    "nothing as a model": ["shape", () => call(core.saveModel, {})],
    "nothing as a model of one marker": ["shape", () => call(core.markerModel, {})],
    "nothing as a placement": ["shape", () => call(core.predict, model, {}, [2])],
    "nothing as a cohort": ["shape", () => call(core.embed, model, {})],
    "text as a cohort": ["shape", () => call(core.embed, model, table)],
    "bytes as a table": ["shape", () => call(core.readCohort, new TextEncoder().encode(table))],
    "a number as a table": ["shape", () => call(core.readCohort, 3)],
    "columns by number": ["shape", () => call(core.readCohort, table, { columns: { id: 0 } })],
    "a decimal mark that is none": ["option", () => call(core.readCohort, table, { decimal: 5 })],
  };

  it.each(Object.entries(MISTAKES))("are refused by their code: %s", (_, [code, mistake]) => {
    expect(mistake).toThrow(expect.objectContaining({ name: "DtmError", code }));
  });

  it("say what to do about them", () => {
    expect(MISTAKES["bytes as a table"]![1]).toThrow(/received 20 bytes \(Uint8Array\).*"utf8".*readCohortFile/);
    expect(MISTAKES["a model that JSON.parse read"]![1]).toThrow(/loadModel\(text\), not JSON.parse/);
  });
});
