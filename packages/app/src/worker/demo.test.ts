import * as core from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { DEMO_SEED, pack, packDemo } from "../../demo.mjs";
import { EXAMPLE_SEEDS, unpack, unpackDemo } from "./demo.ts";

describe("the packed demo", () => {
  const { cohort } = core.simulateCohort("pfvc", { seed: DEMO_SEED, numIndividuals: 60 });
  const { fitted, groups } = unpackDemo(packDemo(core, cohort), cohort.ids);

  it("is of the cohort that the page draws anew", () => {
    expect(EXAMPLE_SEEDS.pfvc).toBe(DEMO_SEED);
  });

  it("holds the model that fitting gives, to the last bit", () => {
    const model = core.fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1 });
    expect(core.saveModel(fitted.model)).toBe(core.saveModel(model));
  });

  it("holds the places of that model with 16 bits of precision", () => {
    const exact = core.embed(fitted.model, cohort);
    expect(fitted.placements.ids).toEqual(cohort.ids);
    expect(fitted.placements.numObservations).toEqual(exact.numObservations);
    exact.location.forEach((x, k) => {
      // Half a unit in the 16th bit, and the rounding to single precision before.
      expect(Math.abs(fitted.placements.location[k] - x)).toBeLessThanOrEqual((2 ** -16 + 1e-7) * Math.abs(x));
    });
  });

  it("holds the groups of those places", () => {
    const exact = core.groupPlaces(fitted.model, core.embed(fitted.model, cohort), { numGroups: "auto", seed: 1 });
    expect(groups.labels).toEqual(exact.labels);
    expect(groups.regions).toEqual(exact.regions);
    expect(groups.groups.map((group) => group.name)).toEqual(exact.groups.map((group) => group.name));
  });
});

describe("pack and unpack", () => {
  it("bring plain data back, typed arrays of any alignment included", () => {
    const shifted = new Float64Array([9, 1.5, -2.25, 0]).subarray(1);
    const data = { list: [1, "two", null], flag: true, ints: Int32Array.of(-1, 7), bytes: Uint8Array.of(255), shifted };
    expect(unpack(JSON.parse(JSON.stringify(pack(data))))).toEqual({
      ...data,
      shifted: Float64Array.of(1.5, -2.25, 0),
    });
  });
});
