import { describe, expect, it } from "vitest";
import { sortedQuantile } from "../numeric/select.ts";
import { bsplineBasis } from "./knots.ts";

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
