import { describe, expect, it } from "vitest";
import { makeCohort } from "../../cohort/cohort.ts";
import { undoTransform } from "../../cohort/marker.ts";
import { createRandom } from "../../numeric/random.ts";
import { fitLmm } from "../fit-models.ts";
import { placeIndividual } from "../place.ts";
import { drawCurves, predict } from "../predict.ts";
import { predictBelow, predictChange, predictDifference } from "./change.ts";

function modelOf(transform: "identity" | "log") {
  const random = createRandom(5);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < 40; i++) {
    const [level, slope] = [2 + 0.5 * random.normal(), 0.2 * random.normal()];
    for (let t = 0; t < 5; t++) {
      rows.ids.push(`p${10 + i}`);
      rows.times.push(t);
      rows.values.push(undoTransform(transform, level + slope * t + 0.1 * random.normal()));
    }
  }
  return fitLmm(makeCohort(rows, { transform }), { numBasis: 3 });
}

describe.each(["identity", "log"] as const)("questions about a curve (%s)", (transform) => {
  const model = modelOf(transform);
  const undo = (v: number) => undoTransform(transform, v);
  const someone = placeIndividual(model, { times: [0, 1], values: [undo(2.2), undo(2.4)] });
  const other = placeIndividual(model, { times: [0, 1], values: [undo(1.2), undo(1.3)] });
  const numDraws = 40_000;

  it("predictBelow is one half at the median and agrees with the band", () => {
    const { median, lower } = predict(model, someone, [3], { interval: "curve", level: 0.9 });
    expect(predictBelow(model, someone, [3], median[0])[0]).toBeCloseTo(0.5, 6);
    expect(predictBelow(model, someone, [3], lower[0])[0]).toBeCloseTo(0.05, 6);
  });

  it("predictChange agrees with draws of the curve", () => {
    const change = predictChange(model, someone, 1, 4, { numDraws });
    const draws = drawCurves(model, someone, [1, 4], { numDraws, seed: 77 });
    const changes = Float64Array.from({ length: numDraws }, (_, s) => draws[2 * s + 1] - draws[2 * s]).sort();
    const spread = change.upper - change.lower;
    // Quantiles of 40,000 draws have standard errors of about 0.4% of the width.
    expect(Math.abs(change.median - changes[numDraws / 2])).toBeLessThan(0.02 * spread);
    expect(Math.abs(change.lower - changes[0.05 * numDraws])).toBeLessThan(0.02 * spread);
    expect(Math.abs(change.upper - changes[0.95 * numDraws])).toBeLessThan(0.02 * spread);
  });

  it("predictDifference changes its sign with the order and lies where the medians differ", () => {
    const [there] = predictDifference(model, someone, other, [2], { numDraws });
    const [back] = predictDifference(model, other, someone, [2], { numDraws });
    const spread = there.upper - there.lower;
    expect(Math.abs(there.median + back.median)).toBeLessThan(0.02 * spread);
    const a = predict(model, someone, [2], { interval: "curve" });
    const b = predict(model, other, [2], { interval: "curve" });
    expect(Math.abs(there.median - (a.median[0] - b.median[0]))).toBeLessThan(0.1 * spread);
    expect(there.lower).toBeLessThan(there.median);
    expect(spread).toBeGreaterThan(a.upper[0] - a.lower[0]);
  });
});

describe("predictBelow", () => {
  it("refuses a threshold that the transform cannot take", () => {
    const model = modelOf("log");
    const someone = placeIndividual(model, { times: [0], values: [5] });
    expect(() => predictBelow(model, someone, [1], -3)).toThrow(/domain of transform "log"/);
  });
});
