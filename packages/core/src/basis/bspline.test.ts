import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkBasis } from "../../../../oracles/check/basis.ts";
import { type Basis, basisDomain, designMatrix, evaluateActive, evaluateBasis, evaluateDerivative } from "./bspline.ts";
import { bsplineBasis } from "./knots.ts";

const TIMES = [0, 0.1, 0.4, 0.5, 0.9, 1.3, 1.7, 2, 2.2, 3.1, 4.4, 4.9, 6, 7.5, 8.1, 9];
const SIZES = [1, 2, 3].flatMap((degree) => [degree + 1, degree + 2, 6, 9].map((numBasis) => ({ degree, numBasis })));

const row = (basis: Basis, t: number) => {
  const out = new Float64Array(basis.numBasis);
  evaluateBasis(basis, t, out);
  return out;
};
const slope = (basis: Basis, t: number) => {
  const out = new Float64Array(basis.numBasis);
  evaluateDerivative(basis, t, out);
  return out;
};
const sum = (x: Float64Array) => x.reduce((s, v) => s + v, 0);

describe.each(SIZES)("bsplineBasis of degree $degree and size $numBasis", ({ degree, numBasis }) => {
  const basis = bsplineBasis(TIMES, { degree, numBasis });
  const [a, b] = basisDomain(basis);
  const grid = Array.from({ length: 201 }, (_, k) => a + ((b - a) * k) / 200);

  it("is nonnegative and sums to one inside its domain", () => {
    for (const t of grid) {
      const values = row(basis, t);
      expect(Math.abs(sum(values) - 1)).toBeLessThan(1e-14);
      for (const v of values) expect(v).toBeGreaterThanOrEqual(0);
    }
  });

  it("is clamped: only the first function at the start, only the last at the end, constant outside", () => {
    const unit = (k: number) => Array.from({ length: numBasis }, (_, j) => (j === k ? 1 : 0));
    expect(Array.from(row(basis, a))).toEqual(unit(0));
    expect(Array.from(row(basis, b))).toEqual(unit(numBasis - 1));
    expect(row(basis, a - 5)).toEqual(row(basis, a));
    expect(row(basis, b + 5)).toEqual(row(basis, b));
  });

  it("reproduces straight lines from the averages of its knots (Greville)", () => {
    const nodes = Float64Array.from(
      { length: numBasis },
      (_, j) => sum(basis.knots.slice(j + 1, j + 1 + degree)) / degree,
    );
    for (const t of grid) {
      expect(Math.abs(row(basis, t).reduce((s, v, j) => s + v * nodes[j], 0) - t)).toBeLessThan(1e-13);
    }
  });

  it("has derivatives that agree with differences inside, and one-sided ones at both ends", () => {
    const h = 1e-6;
    const interior = Array.from(basis.knots).filter((knot) => knot > a && knot < b);
    for (const t of grid) {
      // A piecewise linear function has no derivative at an interior knot.
      if (degree === 1 && interior.some((knot) => Math.abs(knot - t) < 2 * h)) continue;
      const low = Math.max(t - h, a);
      const high = Math.min(t + h, b);
      const [up, down] = [row(basis, high), row(basis, low)];
      const exact = slope(basis, t);
      // One-sided differences are exact to O(h · second derivative) only.
      const tolerance = low < t && t < high ? 1e-7 : 1e-4;
      for (let j = 0; j < numBasis; j++) {
        expect(Math.abs((up[j] - down[j]) / (high - low) - exact[j])).toBeLessThan(tolerance);
      }
    }
  });

  it("has derivatives that sum to zero, and none outside its domain", () => {
    for (const t of grid) expect(Math.abs(sum(slope(basis, t)))).toBeLessThan(1e-12);
    expect(Array.from(slope(basis, a - 0.1))).toEqual(new Array(numBasis).fill(0));
    expect(Array.from(slope(basis, b + 0.1))).toEqual(new Array(numBasis).fill(0));
    expect(slope(basis, a)[0]).toBeLessThan(0);
    expect(slope(basis, b)[numBasis - 1]).toBeGreaterThan(0);
  });

  it("gives the same numbers active, whole and as a design matrix", () => {
    const active = new Float64Array(degree + 1 + 2);
    for (const t of grid) {
      const first = evaluateActive(basis, t, active, 2);
      const whole = row(basis, t);
      for (let j = 0; j < numBasis; j++) {
        const inside = j >= first && j <= first + degree;
        expect(whole[j]).toBe(inside ? active[2 + j - first] : 0);
      }
    }
    const B = designMatrix(basis, grid);
    expect(B.subarray(7 * numBasis, 8 * numBasis)).toEqual(row(basis, grid[7]));
    const D = designMatrix(basis, grid, true);
    expect(D.subarray(7 * numBasis, 8 * numBasis)).toEqual(slope(basis, grid[7]));
  });
});

describe("evaluateBasis", () => {
  it("sums to one for any knots and any time, repeated interior knots included", () => {
    const cases = fc.record({
      degree: fc.integer({ min: 1, max: 3 }),
      interior: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 6 }),
      t: fc.double({ min: -2, max: 12, noNaN: true }),
    });
    fc.assert(
      fc.property(cases, ({ degree, interior, t }) => {
        const end = (x: number) => new Array<number>(degree + 1).fill(x);
        const knots = Float64Array.from([...end(0), ...interior.sort((x, y) => x - y), ...end(10)]);
        const basis: Basis = { degree, numBasis: interior.length + degree + 1, knots, placement: "given" };
        expect(Math.abs(sum(row(basis, t)) - 1)).toBeLessThan(1e-13);
      }),
    );
  });

  it("agrees with the oracle's basis fixtures", () => {
    const fixture = JSON.parse(readFileSync(new URL("../../../../fixtures/basis.json", import.meta.url), "utf8"));
    const checks = checkBasis(fixture);
    expect(checks.length).toBe(2 * fixture.cases.length);
    for (const check of checks) expect(check.error).toBeLessThan(1e-14);
  });
});
