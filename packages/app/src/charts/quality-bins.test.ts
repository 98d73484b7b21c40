import { describe, expect, it } from "vitest";
import { binWords, timeBins } from "./quality-bins.ts";

describe("timeBins", () => {
  it("counts every observation once, in half years", () => {
    const times = [0, 0.49, 0.5, 3.2, 9.99, 10];
    const bins = timeBins(times, "years");
    expect(bins).toHaveLength(20);
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(times.length);
    expect(bins[0]).toEqual({ from: 0, to: 0.5, count: 2 });
    expect(bins[19]).toEqual({ from: 9.5, to: 10, count: 2 });
    expect(binWords(bins, "years")).toBe("by half year, 0 to 10");
  });

  it("takes round spans for other units, times before the origin included", () => {
    const bins = timeBins([-20, 0, 700], "days");
    expect(bins[0].from).toBeLessThanOrEqual(-20);
    expect(bins.at(-1)?.to).toBeGreaterThanOrEqual(700);
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(3);
    expect(binWords(bins, "days")).toBe("by 50 days, -50 to 700");
  });

  it("stands for one time, and for none", () => {
    expect(timeBins([3, 3], "")).toEqual([{ from: 3, to: 4, count: 2 }]);
    expect(timeBins([], "years")).toEqual([]);
    expect(binWords([], "years")).toBe("");
  });
});
