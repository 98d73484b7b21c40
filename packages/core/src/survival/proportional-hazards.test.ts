import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { testProportionalHazards } from "./proportional-hazards.ts";

/** Hazard exp(b x) until time 0.5 and exp(later x) after it. */
function study(n: number, b: number, later: number, seed: number) {
  const random = createRandom(seed);
  const X = Float64Array.from({ length: 2 * n }, () => random.normal());
  const times = Array.from({ length: n }, (_, i) => {
    const e = -Math.log(1 - random.uniform());
    const early = Math.exp(b * X[2 * i]);
    return e < 0.5 * early ? e / early : 0.5 + (e - 0.5 * early) / Math.exp(later * X[2 * i]);
  });
  return { data: { times: times.map((t) => Math.min(t, 3)), events: times.map((t) => (t < 3 ? 1 : 0)) }, X };
}

describe("testProportionalHazards", () => {
  it("rejects 5% of studies with proportional hazards", () => {
    let rejected = 0;
    for (let seed = 0; seed < 300; seed++) {
      const { data, X } = study(80, 0.5, 0.5, 50 + seed);
      if (testProportionalHazards(data, X, 2).tests[0].global.pValue < 0.05) rejected++;
    }
    // 5% ± 3 binomial standard errors of 300 studies.
    expect(rejected / 300).toBeLessThan(0.088);
    expect(rejected / 300).toBeGreaterThan(0.012);
  });

  it("finds the term whose effect turns round, by either look at time", () => {
    const { data, X } = study(400, 0.8, -0.8, 1);
    const { tests } = testProportionalHazards(data, X, 2);
    expect(tests.map(({ transform }) => transform)).toEqual(["km", "identity"]);
    for (const { terms, global } of tests) {
      expect(terms[0].pValue).toBeLessThan(1e-10);
      expect(terms[1].pValue).toBeGreaterThan(0.01);
      expect(global).toMatchObject({ degrees: 2 });
      expect(global.statistic).toBeGreaterThan(terms[0].statistic - 1e-9);
    }
  });

  it("has scaled residuals around the coefficient, which fall where the effect does", () => {
    const { data, X } = study(400, 0.8, -0.8, 2);
    const { residuals } = testProportionalHazards(data, X, 2);
    const mean = (keep: (t: number) => boolean) => {
      const chosen = Array.from(residuals.times.keys()).filter((j) => keep(residuals.times[j]));
      return chosen.reduce((s, j) => s + residuals.sums[2 * j], 0) / chosen.length;
    };
    // Expected 0.8 and −0.8; about 150 events on each side leave a standard error of 0.1.
    expect(mean((t) => t < 0.5)).toBeGreaterThan(0.4);
    expect(mean((t) => t > 0.5)).toBeLessThan(-0.4);
  });

  it("says nothing where all events are at one time", () => {
    const data = { times: [1, 1, 2, 2, 2], events: [1, 1, 0, 0, 0] };
    const { tests } = testProportionalHazards(data, Float64Array.of(1, 0, 1, 0, 0.5), 1);
    expect(tests[0].global.pValue).toBeNaN();
  });
});
