import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { undoTransform } from "../cohort/marker.ts";
import { createRandom } from "../numeric/random.ts";
import { fitLmm } from "./fit-models.ts";
import { placeIndividual } from "./place.ts";
import { drawCurves, predict } from "./predict.ts";

describe("predict on the logit scale", () => {
  const random = createRandom(3);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < 40; i++) {
    const [level, slope] = [1.5 * random.normal(), 0.4 * random.normal()];
    for (let t = 0; t < 5; t++) {
      rows.ids.push(`p${10 + i}`);
      rows.times.push(t);
      rows.values.push(undoTransform("logit", level + slope * t + 0.3 * random.normal()));
    }
  }
  const model = fitLmm(makeCohort(rows, { transform: "logit" }), { numBasis: 3 });
  const someone = placeIndividual(model, { times: [0, 1], values: [0.2, 0.35] });

  it("has means and standard deviations that draws confirm", () => {
    const times = [0, 2, 4];
    const { mean, sd } = predict(model, someone, times, { interval: "curve" });
    const numDraws = 20_000;
    const draws = drawCurves(model, someone, times, { numDraws, seed: 8 });
    times.forEach((_, k) => {
      const column = Array.from({ length: numDraws }, (_, s) => draws[s * 3 + k]);
      const average = column.reduce((a, b) => a + b, 0) / numDraws;
      const spread = Math.sqrt(column.reduce((a, b) => a + (b - average) ** 2, 0) / (numDraws - 1));
      // Five standard errors of the mean; two per cent for the standard deviation.
      expect(Math.abs(mean[k] - average)).toBeLessThan((5 * spread) / Math.sqrt(numDraws));
      expect(Math.abs(sd[k] / spread - 1)).toBeLessThan(0.02);
    });
  });

  it("stays between 0 and 1, and its rate is that of the logistic curve", () => {
    const { lower, upper, median } = predict(model, someone, [0, 4]);
    for (const k of [0, 1]) {
      expect(lower[k]).toBeGreaterThan(0);
      expect(upper[k]).toBeLessThan(1);
      expect(median[k]).toBeGreaterThan(lower[k]);
    }
    const h = 1e-3;
    const { rate } = predict(model, someone, [2], { rate: true, numDraws: 4000 });
    const near = predict(model, someone, [2 - h, 2 + h], { interval: "curve" });
    const difference = (near.mean[1] - near.mean[0]) / (2 * h);
    expect(Math.abs(rate!.mean[0] - difference)).toBeLessThan(0.1 * rate!.sd[0]);
  });
});

describe("limits of the marker", () => {
  const random = createRandom(5);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < 30; i++) {
    const [level, slope] = [20 + 3 * random.normal(), -4 + random.normal()];
    for (let t = 0; t < 5; t++) {
      rows.ids.push(`p${10 + i}`);
      rows.times.push(t);
      rows.values.push(level + slope * t + random.normal());
    }
  }
  const of = (limits: readonly [number | null, number | null]) => makeCohort(rows, { name: "score", limits });

  it("that no value keeps are refused by a fit", () => {
    for (const limits of [
      [100, 200],
      [null, -50],
    ] as const) {
      expect(() => fitLmm(of(limits), { numBasis: 3 })).toThrow(/score within its limits, .* all outside/);
    }
    expect(() => fitLmm(of([10, 15]), { numBasis: 3 })).not.toThrow();
  });

  it("beyond which a whole forecast lies are told, where its band has no width", () => {
    const model = fitLmm(of([15, null]), { numBasis: 3 });
    const someone = placeIndividual(model, { times: [0, 1], values: [20, 15] });
    const { lower, upper, beyondLimits } = predict(model, someone, [0, 4]);
    expect([...beyondLimits]).toEqual([0, 1]);
    expect([lower[1], upper[1]]).toEqual([15, 15]);
    expect(upper[0]).toBeGreaterThan(lower[0]);
    expect([...predict(fitLmm(of([null, null]), { numBasis: 3 }), someone, [0, 4]).beyondLimits]).toEqual([0, 0]);
  });
});
