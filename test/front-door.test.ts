/** The front door of the library stays one that can be learned. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as core from "@trajectory-maps/core";
import { expect, it } from "vitest";
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
