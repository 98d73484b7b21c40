import { describe, expect, it } from "vitest";
import { gridLocations } from "../gp/inducing.ts";
import { detectGrid } from "./grid.ts";

describe("detectGrid", () => {
  it("recognises every grid of gridLocations", () => {
    for (const q of [1, 2, 3]) {
      for (const perDimension of [1, 2, 3, 5]) {
        const p = perDimension ** q;
        const grid = detectGrid(gridLocations(q, perDimension, 1.7), p, q);
        expect(grid?.counts).toEqual(new Int32Array(q).fill(perDimension));
      }
    }
  });

  it("finds counts, corners and spacings of their own in each dimension, also descending ones", () => {
    const Z = new Float64Array(24);
    for (let a = 0; a < 3; a++) {
      for (let b = 0; b < 4; b++) {
        Z[2 * (4 * a + b)] = -1 + 0.3 * a;
        Z[2 * (4 * a + b) + 1] = 5 - 0.7 * b;
      }
    }
    const grid = detectGrid(Z, 12, 2);
    expect(grid?.counts).toEqual(Int32Array.of(3, 4));
    expect(grid?.spacing[0]).toBeCloseTo(0.3, 14);
    expect(grid?.spacing[1]).toBeCloseTo(-0.7, 14);
    expect(grid?.first).toEqual(Float64Array.of(-1, 5));
  });

  it("refuses shuffled, shifted, uneven and repeated places", () => {
    const moved = (change: (Z: Float64Array) => void) => {
      const Z = gridLocations(2, 3);
      change(Z);
      return detectGrid(Z, 9, 2);
    };
    expect(moved(() => {})).not.toBeNull();
    expect(moved((Z) => Z.set([...Z.subarray(4, 6), ...Z.subarray(2, 4)], 2))).toBeNull();
    expect(moved((Z) => Z.fill(Z[9] + 1e-9, 9, 10))).toBeNull();
    expect(moved((Z) => Z.set(Z.map((z, k) => (k % 2 === 0 ? Math.exp(z) : z))))).toBeNull();
    expect(moved((Z) => Z.fill(0))).toBeNull();
    expect(detectGrid(gridLocations(2, 3).subarray(0, 16), 8, 2)).toBeNull();
  });
});
