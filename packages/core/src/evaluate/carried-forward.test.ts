import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { createRandom } from "../numeric/random.ts";
import { carriedForward, carriedLogLikelihoods, varianceAt, variogramOf } from "./carried-forward.ts";
import { centralCoverage, laterVisits, nextVisits, scoreForecasts } from "./forecast.ts";

/** Random walks with variance 4 per unit of time and noise of variance 1, seen at random times. */
function walks(numIndividuals: number, seed: number) {
  const random = createRandom(seed);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < numIndividuals; i++) {
    let level = 50;
    let t = 0;
    for (let j = 0; j < 6; j++) {
      rows.ids.push(`p${i}`);
      rows.times.push(t);
      rows.values.push(level + random.normal());
      const step = 0.2 + 2 * random.uniform();
      t += step;
      level += 2 * Math.sqrt(step) * random.normal();
    }
  }
  return makeCohort(rows);
}

describe("last value carried forward", () => {
  const variogram = variogramOf(walks(800, 1));

  it("learns the mean squared difference by distance: 2 + 4h for a walk with noise", () => {
    // 12,000 pairs in 20 classes of 600, dependent within individuals: the standard error is some 8% of the value.
    for (const h of [1, 3, 6]) expect(Math.abs(varianceAt(variogram, h) / (2 + 4 * h) - 1)).toBeLessThan(0.15);
    for (let c = 1; c < variogram.variances.length; c++) {
      expect(variogram.variances[c]).toBeGreaterThan(variogram.variances[c - 1]);
    }
  });

  it("takes all pairs at one distance together when visits are on a schedule", () => {
    const random = createRandom(3);
    const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
    const squares = [0, 0, 0];
    for (let i = 0; i < 200; i++) {
      const y = [random.normal(), random.normal(), 3 * random.normal()];
      y.forEach((value, j) => {
        rows.ids.push(`p${i}`);
        rows.times.push(0.1 * (j + 1)); // 0.1, 0.2, 0.30000000000000004: distances equal but for rounding
        rows.values.push(value);
      });
      squares[1] += (y[1] - y[0]) ** 2 + (y[2] - y[1]) ** 2;
      squares[2] += (y[2] - y[0]) ** 2;
    }
    const scheduled = variogramOf(makeCohort(rows));
    expect(varianceAt(scheduled, 0.1) / (squares[1] / 400)).toBeCloseTo(1, 10);
    expect(varianceAt(scheduled, 0.2) / (squares[2] / 200)).toBeCloseTo(1, 10);
  });

  it("is constant beyond the distances seen, and has a floor where values do not differ", () => {
    expect(varianceAt(variogram, 1e3)).toBe(variogram.variances.at(-1));
    expect(varianceAt(variogram, 0)).toBe(variogram.variances[0]);
    const flat = makeCohort({ ids: ["a", "a", "b", "b"], times: [0, 1, 0, 1], values: [1, 1, 2, 2] });
    expect(variogramOf(flat).variances[0]).toBeGreaterThan(0);
  });

  it("covers what comes next and later as promised", () => {
    const cohort = walks(800, 2);
    for (const tasks of [nextVisits(cohort), laterVisits(cohort)]) {
      const { pit } = scoreForecasts(cohort, tasks, carriedForward(variogram));
      // At least 2,400 forecasts; three standard errors of an independent sample are 0.02, visits of one individual depend.
      expect(Math.abs(centralCoverage(pit, 0.9) - 0.9)).toBeLessThan(0.03);
      expect(Math.abs(centralCoverage(pit, 0.5) - 0.5)).toBeLessThan(0.05);
    }
  });

  it("has a likelihood of the first visit times each later one given the one before", () => {
    const cohort = makeCohort({ ids: ["a", "a", "b"], times: [0, 1, 0], values: [3, 5, 7] });
    const v = varianceAt(variogram, 1);
    const [a, b] = carriedLogLikelihoods(variogram, cohort, Float64Array.of(-2, -3));
    expect(a).toBeCloseTo(-2 - 0.5 * (Math.log(2 * Math.PI * v) + 4 / v), 12);
    expect(b).toBe(-3);
  });

  it("forecasts every visit but the first, from all before it", () => {
    const cohort = makeCohort({ ids: ["a", "a", "a", "b"], times: [0, 1, 2, 0], values: [3, 5, 7, 1] });
    expect(nextVisits(cohort)).toEqual([
      { individual: 0, known: 1, from: 1, to: 2 },
      { individual: 0, known: 2, from: 2, to: 3 },
    ]);
    expect(laterVisits(cohort)).toEqual([{ individual: 0, known: 2, from: 2, to: 3 }]);
  });
});
