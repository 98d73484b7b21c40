import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { gridLocations, kmeansLocations, placeInducing } from "./inducing.ts";
import { rbfKernel } from "./kernel.ts";
import { factorKernel, stableKernel } from "./stable-kernel.ts";

describe("inducing points", () => {
  const random = createRandom(4);
  const X = Float64Array.from({ length: 400 }, () => random.normal());

  it("are grids with spacing at most 1 by default", () => {
    for (const [q, count, step] of [
      [1, 9, 0.5],
      [2, 25, 1],
      [3, 64, 1],
    ] as const) {
      const { locations, count: p } = placeInducing({ placement: "grid" }, q, X, 1);
      expect(p).toBe(count);
      // The last dimension runs fastest.
      expect(locations[2 * q - 1] - locations[q - 1]).toBeCloseTo(step, 12);
    }
    expect(Array.from(gridLocations(1, 3, 1))).toEqual([-1, 0, 1]);
  });

  it("by k-means are deterministic, sorted, inside the cloud and follow its clusters", () => {
    const Z = kmeansLocations(X, 2, 10, 7);
    expect(kmeansLocations(X, 2, 10, 7)).toEqual(Z);
    for (let j = 1; j < 10; j++) expect(Z[2 * j]).toBeGreaterThanOrEqual(Z[2 * j - 2]);
    const three = Float64Array.from({ length: 90 }, (_, i) => 5 * (Math.floor(i / 30) - 1) + 0.01 * random.normal());
    const centres = kmeansLocations(three, 1, 3, 1);
    for (const [k, c] of [-5, 0, 5].entries()) expect(centres[k]).toBeCloseTo(c, 1);
  });

  it("refuse more k-means centres than there are distinct places", () => {
    expect(() => kmeansLocations(Float64Array.of(1, 1, 2), 1, 3, 1)).toThrow(/between 1 and 2/);
  });
});

describe("stableKernel", () => {
  it("keeps a jitter that works and says nothing", () => {
    const { kernel, warning } = stableKernel(rbfKernel(2, 3, 1), gridLocations(2, 5), 25, 2);
    expect(kernel.jitter).toBe(1e-6);
    expect(warning).toBeNull();
  });

  it("raises the jitter tenfold until the matrix factors, and says so", () => {
    // Three equal places: singular without jitter, lost in rounding at 1e-17.
    const Z = Float64Array.of(0.3, 0.3, 0.3);
    expect(factorKernel(rbfKernel(1, 1, 1, 1e-17), Z, 3, 1)).toBeNull();
    const { kernel, warning } = stableKernel(rbfKernel(1, 1, 1, 1e-17), Z, 3, 1);
    expect(kernel.jitter).toBeGreaterThan(1e-17);
    expect(kernel.jitter).toBeLessThan(1e-14);
    expect(warning).toMatch(/raised from 1e-17/);
  });

  it("inverts what it factors", () => {
    const factor = factorKernel(rbfKernel(1, 2, 1), gridLocations(1, 4), 4, 1)!;
    let worst = 0;
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < 4; j++) {
        let s = i === j ? -1 : 0;
        for (let k = 0; k < 4; k++) s += factor.matrix[i * 4 + k] * factor.inverse[k * 4 + j];
        worst = Math.max(worst, Math.abs(s));
      }
    }
    expect(worst).toBeLessThan(1e-12);
  });
});
