import { embed, fitDtm, simulateCohort } from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { landOfPlacements } from "../map/coast.ts";
import { prepare, spreadOf } from "./prepare.ts";

describe("spreadOf", () => {
  it("is the least, the median and the values that one in two hundred is beyond", () => {
    const values = Float64Array.from({ length: 1001 }, (_, k) => ((k * 379) % 1001) - 300);
    expect(spreadOf(values)).toEqual({ least: -300, low: -295, median: 200, high: 695 });
    expect(spreadOf(Float64Array.of(4, 1, 3, 2)).median).toBe(2.5);
  });
});

describe("prepare", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 30, seed: 2 });
  const model = fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1, maxIterations: 2 });
  const placements = embed(model, cohort);

  it("leaves small cohorts to the page", () => {
    expect(prepare(cohort, placements)).toBeNull();
  });

  it("finds the land and the spread of large ones", () => {
    const m = 3001;
    const many = {
      ...placements,
      ids: Array.from({ length: m }, (_, i) => `P${i}`),
      numObservations: new Int32Array(m).fill(2),
      location: Float64Array.from({ length: 2 * m }, (_, k) => Math.sin(k)),
    };
    expect(prepare(cohort, many)).toEqual({
      land: landOfPlacements(many),
      values: [spreadOf(onlyMarker(cohort).values)],
    });
  });
});
