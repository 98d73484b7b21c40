import { describe, expect, it } from "vitest";
import { poolEstimates } from "./rubin.ts";

describe("poolEstimates", () => {
  it("is the calculation by hand", () => {
    // Q̄ = 2.7/4, W = 0.195/4, B = (0.175² + 0.025² + 0.075² + 0.225²)/3, T = W + 5/4 B; the rest by R's qt and pt.
    const pooled = poolEstimates([0.5, 0.7, 0.6, 0.9], [0.04, 0.05, 0.045, 0.06], { completeDegrees: 50 });
    expect(pooled.estimate).toBeCloseTo(0.675, 12);
    expect(pooled.withinVariance).toBeCloseTo(0.04875, 12);
    expect(pooled.betweenVariance).toBeCloseTo(0.0875 / 3, 12);
    expect(pooled.standardError ** 2).toBeCloseTo(0.0852083333333, 12);
    expect(pooled.degrees).toBeCloseTo(10.2718760443, 9);
    expect(pooled.missingInformation).toBeCloseTo(0.51408932882, 10);
    expect(pooled.lower).toBeCloseTo(0.0269217946002, 9);
    expect(pooled.pValue).toBeCloseTo(0.0426856074906, 9);
  });

  it("has Rubin's degrees of freedom with infinitely many for complete data", () => {
    const { degrees, withinVariance: W, betweenVariance: B } = poolEstimates([1, 2, 3], [1, 1, 1]);
    expect([W, B]).toEqual([1, 1]);
    // λ = (4/3)/(1 + 4/3) = 4/7, ν = 2/λ².
    expect(degrees).toBeCloseTo(2 / (4 / 7) ** 2, 12);
  });

  it("is the analysis itself where draws do not differ", () => {
    const pooled = poolEstimates([0.4, 0.4], [0.01, 0.01]);
    expect(pooled).toMatchObject({ estimate: 0.4, betweenVariance: 0, missingInformation: 0 });
    expect(pooled.upper).toBeCloseTo(0.4 + 1.959964 * 0.1, 6);
  });

  it("refuses a single draw", () => {
    expect(() => poolEstimates([1], [1])).toThrow(/two or more/);
  });
});
