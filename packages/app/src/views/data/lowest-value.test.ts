import { describe, expect, it } from "vitest";
import { seemsToEndAtZero } from "./lowest-value.ts";

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
