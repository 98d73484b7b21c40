import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortedQuantile } from "../numeric/select.ts";
import { bsplineBasis, roundKnots } from "./knots.ts";

describe("sortedQuantile", () => {
  it("is R's type 7", () => {
    // quantile(c(1, 2, 4, 8), c(0, .25, .5, .9, 1), type = 7)
    const x = [1, 2, 4, 8];
    expect([0, 0.25, 0.5, 1].map((p) => sortedQuantile(x, p))).toEqual([1, 1.75, 3, 8]);
    expect(sortedQuantile(x, 0.9)).toBeCloseTo(6.8, 14);
    expect(sortedQuantile([3], 0.7)).toBe(3);
  });
});

describe("bsplineBasis", () => {
  it("puts interior knots at percentiles of all times, ties counted, in any order of rows", () => {
    const times = [5, 0, 1, 1, 1, 2, 10];
    const basis = bsplineBasis(times, { numBasis: 4, degree: 2 });
    expect(basis.placement).toBe("percentiles");
    expect(Array.from(basis.knots)).toEqual([0, 0, 0, 1, 10, 10, 10]);
    expect(bsplineBasis(times.reverse(), { numBasis: 4, degree: 2 })).toEqual(basis);
  });

  it("falls back to percentiles of distinct times when ties make knots coincide", () => {
    const times = [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    const basis = bsplineBasis(times, { numBasis: 5, degree: 2 });
    expect(basis.placement).toBe("distinct-percentiles");
    const interior = Array.from(basis.knots.slice(3, 5));
    expect(interior[0]).toBeCloseTo(4 / 3, 14);
    expect(interior[1]).toBeCloseTo(8 / 3, 14);
  });

  it("falls back to equal spacing when a given domain leaves the times to one side", () => {
    const basis = bsplineBasis([1, 2, 3], { numBasis: 5, degree: 2, domain: [5, 11] });
    expect(basis.placement).toBe("equal");
    expect(Array.from(basis.knots)).toEqual([5, 5, 5, 7, 9, 11, 11, 11]);
  });

  it("keeps a given domain", () => {
    const basis = bsplineBasis([1, 2, 3], { numBasis: 3, degree: 2, domain: [0, 12] });
    expect(Array.from(basis.knots)).toEqual([0, 0, 0, 12, 12, 12]);
  });

  it("refuses sizes, degrees and domains that make no basis, naming the limit", () => {
    expect(() => bsplineBasis([0, 1], { numBasis: 2, degree: 2 })).toThrow(/at least degree \+ 1 = 3, received 2/);
    expect(() => bsplineBasis([0, 1], { degree: 4 })).toThrow(/degree 1, 2 or 3, received 4/);
    expect(() => bsplineBasis([2, 2, 2])).toThrow(/more than one time/);
    expect(() => bsplineBasis([0, 1], { domain: [3, 3] })).toThrow(/first < last/);
    expect(() => bsplineBasis([])).toThrow(/first < last/);
  });
});

describe("roundKnots", () => {
  it("holds all times between knots that are nobody's visit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -50, max: 400, noNaN: true }), { minLength: 12, maxLength: 60 }),
        fc.constantFrom(1e-6, 1, 1e5),
        (raw, scale) => {
          const times = raw.map((t) => scale * (t + 0.0012345));
          if (new Set(times).size < 12) return;
          const exact = bsplineBasis(times);
          const { knots, degree, numBasis } = roundKnots(exact);
          expect(knots[degree]).toBeLessThanOrEqual(Math.min(...times));
          expect(knots[numBasis]).toBeGreaterThanOrEqual(Math.max(...times));
          const range = exact.knots[numBasis] - exact.knots[degree];
          knots.forEach((t, k) => {
            expect(Math.abs(t - exact.knots[k])).toBeLessThan(0.011 * range);
            if (k > 0) expect(t).toBeGreaterThanOrEqual(knots[k - 1]);
          });
        },
      ),
      { numRuns: 300, seed: 2 },
    );
    const { knots } = roundKnots(bsplineBasis([0.123, 1.2345, 2.3456, 3.7, 5.43217, 6.5, 7.7, 8.9, 9.98765]));
    expect([...knots].map(String).every((text) => text.length <= 4)).toBe(true);
  });

  it("moves no end that is round already: the first and last time of whole months and of years with two decimals", () => {
    const months = [3, 5, 8, 13, 14, 23, 27, 31, 36, 48, 51];
    const years = months.map((t) => Math.round((100 * t) / 12) / 100);
    for (const times of [months, years]) {
      const exact = bsplineBasis(times);
      const ends = ({ knots }: typeof exact) => [knots[0], knots.at(-1)];
      expect(ends(roundKnots(exact))).toEqual([times[0], times.at(-1)]);
      // What to do about it: a wider range, which stays as it was asked for.
      const domain = [0, times === months ? 60 : 5] as const;
      expect(ends(roundKnots(bsplineBasis(times, { domain }), domain))).toEqual(domain);
    }
  });
});
