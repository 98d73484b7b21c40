import { describe, expect, it } from "vitest";
import { gradientError } from "../../../../test/expect-gradient.ts";
import { createRandom } from "../numeric/random.ts";
import type { CoxRows } from "../survival/partial-likelihood.ts";
import { fitShrunk, linearPredictor, type Regression, ridgeObjective } from "./shrunk-regression.ts";

const KINDS = ["signal", "noise", "noise", "noise"];

/** Events that go with the first of four predictors, times in falling order. */
function draw(n: number, seed: number, slope = 1): CoxRows {
  const random = createRandom(seed);
  const p = KINDS.length;
  const X = Float64Array.from({ length: n * p }, () => random.normal());
  const events = Float64Array.from({ length: n }, (_, i) =>
    random.uniform() < 1 / (1 + Math.exp(-slope * X[i * p])) ? 1 : 0,
  );
  return { n, p, X, events, times: Float64Array.from({ length: n }, (_, i) => n - i) };
}

describe("ridgeObjective", () => {
  it.each(["logistic", "cox"] as const)("has the gradient and Hessian of its value: %s", (regression) => {
    const rows = draw(40, 3);
    const objective = ridgeObjective(rows, regression);
    const size = regression === "cox" ? 4 : 5;
    const beta = Float64Array.from({ length: size }, (_, c) => 0.3 * c - 0.5);
    const at = (x: Float64Array) => {
      const gradient = new Float64Array(size);
      const hessian = new Float64Array(size * size);
      return { value: objective(x, 0, gradient, hessian), gradient, hessian };
    };
    const { gradient, hessian } = at(beta);
    expect(gradientError((x) => at(x).value, beta, gradient)).toBeLessThan(1e-7);
    for (let c = 0; c < size; c++) {
      const row = hessian.subarray(c * size, (c + 1) * size);
      expect(gradientError((x) => at(x).gradient[c], beta, row as Float64Array)).toBeLessThan(1e-7);
    }
  });
});

describe("fitShrunk", () => {
  it.each(["logistic", "cox"] as const)(
    "keeps the kind that says something and shrinks the others: %s",
    (regression) => {
      const rows = draw(400, 5);
      const beta = fitShrunk(rows, KINDS, regression);
      // One kind for all: noise is shrunk as little as the signal.
      const even = fitShrunk(rows, ["all", "all", "all", "all"], regression);
      expect(beta[0]).toBeGreaterThan(regression === "logistic" ? 0.75 : 0.25);
      const noise = (b: Float64Array) => Math.hypot(b[1], b[2], b[3]);
      expect(noise(beta)).toBeLessThan(0.5 * noise(even));
    },
  );

  it("is the maximum of the likelihood where there is much to learn from", () => {
    const rows = draw(20_000, 7);
    const beta = fitShrunk(rows, KINDS, "logistic");
    expect(beta[0]).toBeCloseTo(1, 1);
    expect(Math.abs(beta[4])).toBeLessThan(0.05);
  });

  it("is finite where a predictor separates, where one repeats another, and without any", () => {
    const rows = draw(30, 2);
    const separated = { ...rows, events: rows.events.map((_, i) => (rows.X[i * 4] > 0 ? 1 : 0)) };
    const repeated = { ...rows, X: rows.X.map((v, k) => (k % 4 === 1 ? rows.X[k - 1] : v)) };
    for (const regression of ["logistic", "cox"] as Regression[]) {
      for (const hard of [separated, repeated]) {
        expect(fitShrunk(hard, KINDS, regression).every(Number.isFinite)).toBe(true);
      }
      const none = { ...rows, p: 0, X: new Float64Array(0) };
      expect(linearPredictor(none, fitShrunk(none, [], regression))).toEqual(new Float64Array(30));
    }
  });
});
