import { fitDtm, simulateCohort, type TrajectoryModel } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { boundsOfPasses, gainsOf, recentGain, segmentsOf, shownRange } from "./trace.ts";

describe("segmentsOf", () => {
  it("numbers passes through the stages of one start", () => {
    expect(segmentsOf([[1, 2, 3]], [3.5, 4], 5)).toEqual([
      { first: 1, values: [1, 2, 3] },
      { first: 4, values: [3.5, 4] },
    ]);
  });

  it("end with the pass that was the last, also where a bound before the first was told", () => {
    expect(segmentsOf([], [9, 10, 11, 12], 3)).toEqual([{ first: 1, values: [10, 11, 12] }]);
    expect(segmentsOf([[1, 2]], [3, 4], 3)).toEqual([
      { first: 1, values: [1, 2] },
      { first: 3, values: [4] },
    ]);
    expect(segmentsOf([], [1, 2], 40)).toEqual([{ first: 39, values: [1, 2] }]);
  });
});

describe("boundsOfPasses", () => {
  it("has a bound before the first pass and one after each, and not that of placing everybody by the published model", () => {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: 25, seed: 1 });
    const model = fitDtm(cohort, { kind: "dtm-paper", schedule: "batch", mapDimension: 3, maxIterations: 4 });
    const bounds = boundsOfPasses(model);
    expect(bounds).toHaveLength(model.record.iterations + 1);
    expect(model.record.trace).toHaveLength(bounds.length + 1);
    expect(boundsOfPasses({ ...model, kind: "dtm" } as unknown as TrajectoryModel)).toHaveLength(bounds.length + 1);
  });
});

describe("shownRange", () => {
  it("fills the height with the last nine tenths of passes", () => {
    const values = Array.from({ length: 100 }, (_, k) => k);
    const [low, high] = shownRange([{ first: 1, values }]);
    expect(low).toBeCloseTo(10 - 0.06 * 89, 9);
    expect(high).toBeCloseTo(99 + 0.06 * 89, 9);
  });

  it("never hides the last twenty passes", () => {
    for (const n of [1, 2, 19, 20, 21, 22, 40, 300]) {
      const values = Array.from({ length: n }, (_, k) => -1000 / (k + 1));
      const [low, high] = shownRange([{ first: 1, values }]);
      for (const value of values.slice(-20)) {
        expect(value).toBeGreaterThanOrEqual(low);
        expect(value).toBeLessThanOrEqual(high);
      }
    }
  });
});

describe("gains", () => {
  it("stay within stages and leave out losses", () => {
    const segments = [
      { first: 1, values: [0, 4, 5] },
      { first: 4, values: [1, 0.5, 2] },
    ];
    expect(gainsOf(segments)).toEqual([
      { pass: 2, gain: 4 },
      { pass: 3, gain: 1 },
      { pass: 6, gain: 1.5 },
    ]);
  });

  it("are averaged over the last passes", () => {
    expect(recentGain([0, 10, 11, 12, 13, 14, 15])).toBe(1);
    expect(recentGain([3])).toBeNull();
  });
});
