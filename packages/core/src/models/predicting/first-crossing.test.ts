import { describe, expect, it } from "vitest";
import { designMatrix } from "../../basis/bspline.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { crossingGrid, firstCrossing } from "./first-crossing.ts";

describe("firstCrossing", () => {
  const basis = bsplineBasis(Float64Array.from({ length: 101 }, (_, k) => k / 10));
  const grid = crossingGrid(basis, 2);
  const rows = designMatrix(basis, grid);

  it("finds where a straight line crosses", () => {
    // Greville points reproduce linear functions: w_k = average of the inner knots.
    const greville = Float64Array.from({ length: 5 }, (_, k) => (basis.knots[k + 1] + basis.knots[k + 2]) / 2);
    expect(firstCrossing(basis, greville, 7.3, "up", grid, rows)).toBeCloseTo(7.3, 9);
    expect(firstCrossing(basis, greville, 7.3, "down", grid, rows)).toBe(2);
    expect(firstCrossing(basis, greville, 11, "up", grid, rows)).toBe(Number.POSITIVE_INFINITY);
  });

  it("takes the first of several crossings and starts at the time given", () => {
    const wave = Float64Array.of(0, 4, -4, 4, 0);
    const t = firstCrossing(basis, wave, 0, "down", grid, rows);
    const before = designMatrix(basis, [t - 1e-6, t + 1e-6]);
    const at = (k: number) => wave.reduce((s, w, j) => s + w * before[k * 5 + j], 0);
    expect(at(0)).toBeGreaterThan(0);
    expect(at(1)).toBeLessThan(0);
    expect(t).toBeGreaterThan(2);
    expect(t).toBeLessThan(6);
  });
});
