import { describe, expect, it } from "vitest";
import { productRule } from "../../../../test/product-rule.ts";
import { gaussHermite } from "./quadrature.ts";
import {
  chisquareQuantile,
  LOG_2PI,
  logSumExp,
  normalCdf,
  normalQuantile,
  studentQuantile,
  studentTwoSided,
} from "./special.ts";
import { compensatedSum } from "./sum.ts";

describe("logSumExp", () => {
  it("agrees with the plain formula where that is safe", () => {
    const x = [0.3, -1.2, 2.5];
    expect(logSumExp(x)).toBeCloseTo(Math.log(x.reduce((s, v) => s + Math.exp(v), 0)), 14);
  });

  it("neither overflows nor underflows, and shifts with its arguments", () => {
    expect(logSumExp([1000, 1000])).toBeCloseTo(1000 + Math.LN2, 12);
    expect(logSumExp([-1e5, -1e5 - 1])).toBeCloseTo(-1e5 + Math.log1p(Math.exp(-1)), 9);
  });

  it("is minus infinity for nothing, and reads only the range asked for", () => {
    expect(logSumExp([])).toBe(Number.NEGATIVE_INFINITY);
    expect(logSumExp([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY])).toBe(Number.NEGATIVE_INFINITY);
    expect(logSumExp([99, 1, 2, 99], 1, 3)).toBeCloseTo(Math.log(Math.E + Math.E ** 2), 14);
  });
});

describe("compensatedSum", () => {
  it("keeps what plain summation loses", () => {
    expect(compensatedSum([1, 1e100, 1, -1e100])).toBe(2);
    const x = new Float64Array(1_000_001).fill(0.1);
    expect(compensatedSum(x)).toBe(100000.1);
    expect(x.reduce((s, v) => s + v, 0)).not.toBe(100000.1);
  });
});

describe("distributions", () => {
  it("agree with tabulated values", () => {
    expect(normalCdf(1.959963984540054)).toBeCloseTo(0.975, 14);
    expect(normalQuantile(0.95)).toBeCloseTo(1.6448536269514722, 13);
    expect(chisquareQuantile(0.95, 1)).toBeCloseTo(normalQuantile(0.975) ** 2, 10);
    // Two degrees of freedom: −2 log(1 − p).
    expect(chisquareQuantile(0.9, 2)).toBeCloseTo(-2 * Math.log(0.1), 10);
    expect(LOG_2PI).toBeCloseTo(1.8378770664093453, 15);
  });

  it("undo each other for every probability we use", () => {
    for (const p of [1e-5, 0.005, 0.2, 0.5, 0.95, 0.999]) expect(normalCdf(normalQuantile(p)) / p).toBeCloseTo(1, 10);
  });
});

describe.each([1, 2, 5, 20, 40])("gaussHermite with %i nodes", (n) => {
  const { nodes, weights } = gaussHermite(n);

  it("integrates powers of a standard normal exactly up to degree 2n−1", () => {
    let moment = 1; // E x^(2k) = (2k−1)!!
    for (let power = 0; power <= Math.min(2 * n - 1, 20); power++) {
      if (power > 0 && power % 2 === 0) moment *= power - 1;
      const expected = power % 2 === 0 ? moment : 0;
      const scale = nodes.reduce((s, x, k) => s + weights[k] * Math.abs(x) ** power, 0);
      const sum = nodes.reduce((s, x, k) => s + weights[k] * x ** power, 0);
      expect(Math.abs(sum - expected)).toBeLessThan(1e-12 * Math.max(1, scale));
    }
  });

  it("has a product rule for two dimensions, first dimension slowest", () => {
    const product = productRule({ nodes, weights }, 2);
    expect(logSumExp(product.logWeights)).toBeCloseTo(0, 12);
    expect(product.nodes[2 * (n - 1)]).toBe(nodes[0]);
    expect(product.nodes[2 * (n - 1) + 1]).toBe(nodes[n - 1]);
  });
});

describe("Student's t", () => {
  it("has R's tails and quantiles", () => {
    const tails = [
      [2, 3, 0.139325968558843],
      [0.1, 7.5, 0.92296533206779],
      [-6, 40, 4.72645513278821e-7],
      [2.5, 300, 0.0129531092043192],
      [1, 0.7, 0.550386672519971],
    ];
    for (const [t, degrees, p] of tails) expect(studentTwoSided(t, degrees) / p).toBeCloseTo(1, 9);
    expect(studentTwoSided(0, 5)).toBe(1);
    expect(studentTwoSided(1.96, Number.POSITIVE_INFINITY)).toBeCloseTo(2 * normalCdf(-1.96), 14);
    for (const [degrees, t] of [
      [3, 3.18244630528371],
      [5, 2.57058183563631],
      [7.5, 2.33303962686497],
    ]) {
      expect(studentQuantile(0.975, degrees)).toBeCloseTo(t, 9);
      expect(studentQuantile(0.025, degrees)).toBeCloseTo(-t, 9);
    }
  });
});
