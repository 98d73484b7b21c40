import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { markerModel } from "./fit.ts";
import { fitLmm } from "./linear-models.ts";

describe("the basis of a fit", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 1 });

  it("has as many functions as given knots ask for", () => {
    for (const knots of [[3], [2, 5], [2, 4, 6]]) {
      const { basis } = markerModel(fitLmm(cohort, { knots }));
      expect(basis.numBasis).toBe(knots.length + 3);
      expect(Array.from(basis.knots.subarray(3, 3 + knots.length))).toEqual(knots);
    }
  });

  it("is refused where it is larger than any course can carry", () => {
    expect(() => fitLmm(cohort, { numBasis: 60 })).toThrow(/at most 20 basis functions, received 60/);
  });
});

describe("a cohort of limits", () => {
  const ids = ["a", "b", "c", "d"].flatMap((id) => [id, id, id]);
  const below = (numMeasured: number) =>
    makeCohort(
      {
        ids,
        times: ids.map((_, j) => j % 3),
        values: ids.map(() => 10),
        censored: ids.map((_, j) => (j < numMeasured ? 0 : -1)),
      },
      { name: "crp" },
    );

  it("is refused where nothing, or one value, was measured", () => {
    expect(() => fitLmm(below(0))).toThrow(/values of crp that differ, received none: 12 of 12 values are below/);
    expect(() => fitLmm(below(1))).toThrow(/received one, 10: 11 of 12 values are below/);
  });
});
