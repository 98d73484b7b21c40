import { describe, expect, it } from "vitest";
import { andersonHistory, clearHistory, proposePoint, rememberStep } from "./anderson.ts";

/** A linear contraction M(x) = x* + A(x − x*) with factors 0.99, 0.9 and 0.5. */
const fixed = Float64Array.of(1, -2, 3);
const factors = [0.99, 0.9, 0.5];
const contract = (x: Float64Array) => x.map((v, k) => fixed[k] + factors[k] * (v - fixed[k]));
const distance = (x: Float64Array) => Math.hypot(...x.map((v, k) => v - fixed[k]));

const plain = (v: Float64Array) => v;

describe("Anderson acceleration", () => {
  it("solves a linear iteration of n dimensions in n + 1 differences", () => {
    const history = andersonHistory();
    let x: Float64Array = Float64Array.of(0, 0, 0);
    for (let step = 0; step < 5; step++) {
      const image = contract(x);
      rememberStep(history, x, image, 4);
      x = proposePoint(history, plain) ?? image;
    }
    expect(distance(x)).toBeLessThan(1e-5);
    let slow: Float64Array = Float64Array.of(0, 0, 0);
    for (let step = 0; step < 5; step++) slow = contract(slow);
    expect(distance(slow)).toBeGreaterThan(1);
  });

  it("proposes nothing from a single step, and nothing after forgetting", () => {
    const history = andersonHistory();
    rememberStep(history, Float64Array.of(0), Float64Array.of(1), 3);
    expect(proposePoint(history, plain)).toBeNull();
    rememberStep(history, Float64Array.of(1), Float64Array.of(1.5), 3);
    expect(proposePoint(history, plain)?.[0]).toBeCloseTo(2, 6);
    clearHistory(history);
    expect(proposePoint(history, plain)).toBeNull();
  });

  it("makes the residual least in the given metric", () => {
    // f = (1, 1) with ΔF = (1, −1): the least residual lies along the entry that weighs less.
    const history = andersonHistory();
    rememberStep(history, Float64Array.of(0, 0), Float64Array.of(0, 2), 3);
    rememberStep(history, Float64Array.of(0, 0), Float64Array.of(1, 1), 3);
    const weighted = (v: Float64Array) => Float64Array.of(3 * v[0] + v[1], v[0] + v[1]);
    // γ = ΔF'Wf/ΔF'WΔF = (3 + 1 − 1 − 1)/(3 − 2 + 1) = 1.
    const point = proposePoint(history, weighted);
    expect(point?.[0]).toBeCloseTo(0, 6);
    expect(point?.[1]).toBeCloseTo(2, 6);
    expect(proposePoint(history, plain)?.[0]).toBeCloseTo(1, 6);
  });

  it("keeps no more differences than its window", () => {
    const history = andersonHistory();
    for (let k = 0; k < 9; k++) rememberStep(history, Float64Array.of(k), Float64Array.of(k + 1), 3);
    expect(history.points.map((x) => x[0])).toEqual([5, 6, 7, 8]);
  });

  it("proposes nothing when residuals do not differ", () => {
    const history = andersonHistory();
    rememberStep(history, Float64Array.of(0), Float64Array.of(1), 3);
    rememberStep(history, Float64Array.of(1), Float64Array.of(2), 3);
    expect(proposePoint(history, plain)).toBeNull();
  });
});
