import { describe, expect, it } from "vitest";
import { seemsToEndAbove, seemsToEndAtZero } from "./lowest-value.ts";

type Asked = Parameters<typeof seemsToEndAtZero>[0];
const quality = (lowest: number, highest: number, marker: Partial<Asked["marker"]> = {}): Asked => ({
  marker: { name: "skin score", unit: "", timeUnit: "years", transform: "identity", ...marker },
  values: { mean: 0, sd: 1, quantiles: [lowest, lowest, highest, highest, highest] },
});

describe("seemsToEndAtZero", () => {
  it("holds where no value is below 0 and some are near it", () => {
    expect(seemsToEndAtZero(quality(0, 51))).toBe(true);
    expect(seemsToEndAtZero(quality(1, 41))).toBe(true);
    expect(seemsToEndAtZero(quality(3, 41))).toBe(false);
    expect(seemsToEndAtZero(quality(-0.1, 41))).toBe(false);
  });

  it("follows what was said", () => {
    expect(seemsToEndAtZero(quality(0, 51, { limits: [0, null] }))).toBe(true);
    expect(seemsToEndAtZero(quality(0, 51, { limits: [null, 51] }))).toBe(true);
    expect(seemsToEndAtZero(quality(1, 51, { limits: [1, null] }))).toBe(false);
    expect(seemsToEndAtZero(quality(0.1, 51, { transform: "log" }))).toBe(false);
  });
});

describe("seemsToEndAbove", () => {
  const score = (upper: number, marker: Partial<Asked["marker"]> = {}) => {
    const { values, ...rest } = quality(0, 3, marker);
    return { ...rest, values: { ...values, quantiles: [0, 0, 1, upper, 3] } as const };
  };

  it("holds where a quarter of the values are the highest", () => {
    expect(seemsToEndAbove(score(3))).toBe(true);
    expect(seemsToEndAbove(score(2))).toBe(false);
  });

  it("follows what was said, and asks nothing of a single value", () => {
    expect(seemsToEndAbove(score(3, { limits: [0, 3] }))).toBe(true);
    expect(seemsToEndAbove(score(3, { limits: [0, 4] }))).toBe(false);
    expect(seemsToEndAbove(score(3, { transform: "log1p" }))).toBe(false);
    expect(seemsToEndAbove(quality(3, 3))).toBe(false);
  });
});
