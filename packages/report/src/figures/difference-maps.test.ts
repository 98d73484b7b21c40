import { describe, expect, it } from "vitest";
import { differencePanel } from "./difference-maps.ts";
import { valueAt } from "./land.ts";

// A share that grows to the right only, on 3 × 2 points; nothing is known at the lower right.
const MAP = {
  axes: [
    [0, 1, 2],
    [0, 1],
  ],
  share: [0.1, 0.1, 0.5, 0.5, Number.NaN, 0.9],
  individuals: [20, 20, 20, 20, Number.NaN, 20],
  difference: [-0.3, -0.3, 0.1, 0.1, Number.NaN, 0.5],
  halfWidth: [0.2, 0.2, 0.2, 0.2, Number.NaN, 0.2],
};
const BOX = { x0: -1, x1: 3, y0: -1, y1: 2 };

describe("differencePanel", () => {
  const panel = differencePanel("title", "note", MAP, BOX);

  it("keeps the first axis horizontal, and goes on flat beyond the lattice", () => {
    expect(valueAt(panel.share, 0, 1)).toBeCloseTo(0.1, 1);
    expect(valueAt(panel.share, 1, 1)).toBeCloseTo(0.5, 1);
    expect(valueAt(panel.share, 2, 1)).toBeCloseTo(0.9, 1);
    expect(valueAt(panel.share, 2.9, 1.9)).toBeCloseTo(0.9, 8);
    expect(valueAt(panel.share, -0.9, 0.5)).toBeCloseTo(0.1, 8);
  });

  it("fills what is unknown from its neighbours, so that no line runs along its border, and leaves nobody there", () => {
    for (const grid of [panel.share, panel.above, panel.below]) expect(grid.values.every(Number.isFinite)).toBe(true);
    expect(valueAt(panel.share, 2, 0)).toBeCloseTo(0.7, 1);
    expect(valueAt(panel.individuals, 2, 0)).toBeLessThan(1);
  });

  it("is above the band where the difference is, and below it likewise", () => {
    expect(valueAt(panel.above, 2.5, 1.5)).toBeCloseTo(0.3, 8);
    expect(valueAt(panel.below, -0.5, 0.5)).toBeCloseTo(0.1, 8);
    expect(valueAt(panel.above, 1, 0.5)).toBeLessThan(0);
    expect(valueAt(panel.below, 1, 0.5)).toBeLessThan(0);
  });

  it("reads null, as a file has it, like a number that does not exist", () => {
    const share = [...MAP.share] as (number | null)[];
    share[4] = null;
    const read = differencePanel("title", "note", { ...MAP, share: share as number[] }, BOX);
    expect(read.share.values).toEqual(panel.share.values);
  });
});
