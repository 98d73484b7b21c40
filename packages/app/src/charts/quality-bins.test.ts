import { describe, expect, it } from "vitest";
import { binWords, timeBins, valueScale } from "./quality-bins.ts";

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

describe("valueScale", () => {
  it("puts equal steps of the model's scale at equal distances, with round labels that have room", () => {
    for (const [transform, low, middle, high] of [
      ["log", 0.1, 1, 10],
      ["log1p", 0, 9, 99],
      ["sqrt", 0, 25, 100],
      ["logit", 0.1, 0.5, 0.9],
    ] as const) {
      const x = valueScale([low, high], 40, 440, transform);
      expect(x(low)).toBeCloseTo(40, 9);
      expect(x(middle)).toBeCloseTo(240, 9);
      expect(x(high)).toBeCloseTo(440, 9);
      expect(x.ticks.length).toBeGreaterThan(2);
      expect(x.ticks.every((tick, k) => k === 0 || x(tick) - x(x.ticks[k - 1]) >= 20)).toBe(true);
      expect(x.ticks.every((tick) => tick >= low && tick <= high && Number(tick.toPrecision(3)) === tick)).toBe(true);
    }
  });

  it("is plain where the transform does not take an end, and where there is none", () => {
    expect(valueScale([0, 10], 0, 100, "log")(5)).toBeCloseTo(50, 9);
    expect(valueScale([0.5, 2], 0, 100, "logit")(1.25)).toBeCloseTo(50, 9);
    expect(valueScale([0, 10], 0, 100)(5)).toBeCloseTo(50, 9);
  });
});
