import { describe, expect, it } from "vitest";
import { niceStep, roundSpan, roundTicks, ticksOf } from "./ticks.ts";

describe("ticks", () => {
  it("are multiples of a round step, free of rounding dust", () => {
    expect(niceStep(10, 5)).toBe(2);
    expect(niceStep(0.9, 5)).toBe(0.2);
    expect(ticksOf(-0.1, 0.35, 0.1)).toEqual([-0.1, 0, 0.1, 0.2, 0.3]);
    expect(Object.is(ticksOf(-1, 1, 1)[1], 0)).toBe(true);
  });

  it("lie inside any range, two or more of them", () => {
    for (const [low, high] of [
      [18, 122],
      [0.02, 0.031],
      [-5, 5],
      [1234, 1238],
    ]) {
      const ticks = roundTicks(low, high, 3);
      expect(ticks.length).toBeGreaterThanOrEqual(2);
      for (const tick of ticks) expect(tick >= low - 1e-9 && tick <= high + 1e-9).toBe(true);
    }
  });

  it("ends that are nearly round become round, others stay", () => {
    expect(roundSpan(0.02, 9.97, 5)).toEqual([0, 10]);
    expect(roundSpan(0.7, 9.97, 5)).toEqual([0.7, 10]);
  });
});
