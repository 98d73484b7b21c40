import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import {
  COARSE,
  featureProduct,
  fineAccuracy,
  type GridFeatures,
  gaussFeatures,
  gradientOuterIntegral,
  innerProduct,
  sumFeatures,
} from "./gauss-grid.ts";

/** Worst error of φ_i'φ_j against exp(−½|z_i − z_j|²). */
function worstPair(features: GridFeatures, z: Float64Array, n: number, q: number): number {
  let worst = 0;
  for (let j = 0; j < n; j++) {
    const cells = sumFeatures(features, Int32Array.of(j));
    for (let i = 0; i < n; i++) {
      let r = 0;
      for (let k = 0; k < q; k++) r += (z[i * q + k] - z[j * q + k]) ** 2;
      worst = Math.max(worst, Math.abs(featureProduct(features, i, cells) - Math.exp(-0.5 * r)));
    }
  }
  return worst;
}

describe("gaussFeatures", () => {
  it.each([
    [1, 1e-8],
    [2, 1e-8],
    [3, 1e-5],
  ])("have the Gaussian kernel as inner product, in %i dimensions to %f", (q, tolerance) => {
    const random = createRandom(4);
    const n = 25;
    const z = Float64Array.from({ length: n * q }, () => 2 * random.normal());
    expect(worstPair(gaussFeatures(z, n, q, fineAccuracy(q)), z, n, q)).toBeLessThan(tolerance);
    expect(worstPair(gaussFeatures(z, n, q, COARSE), z, n, q)).toBeLessThan(0.02);
  });

  it("sum to the sum over pairs", () => {
    const z = Float64Array.of(0, 0, 1, 1, 3, -1);
    const features = gaussFeatures(z, 3, 2, fineAccuracy(2));
    const all = sumFeatures(features);
    const expected = 3 + 2 * (Math.exp(-1) + Math.exp(-5) + Math.exp(-4));
    expect(Math.abs(innerProduct(all, all) - expected)).toBeLessThan(1e-7);
  });

  it("need no cells between far outliers", () => {
    const z = Float64Array.of(0, 0, 0, 1e6, -1e6, 0, 3, 0, 0, 0, 1, 1);
    const features = gaussFeatures(z, 4, 3, fineAccuracy(3));
    expect(features.layout.numCells).toBeLessThan(4 * 15 ** 3 + 1);
    expect(worstPair(features, z, 4, 3)).toBeLessThan(1e-5);
  });
});

describe("gradientOuterIntegral", () => {
  it("is the closed form for one point: ∫ ∇F∇F' = (π/2)^{q/2} I", () => {
    const out = gradientOuterIntegral(Float64Array.of(0.3, -0.2), 1, 2);
    expect(out[0]).toBeCloseTo(Math.PI / 2, 6);
    expect(out[3]).toBeCloseTo(Math.PI / 2, 6);
    expect(Math.abs(out[1])).toBeLessThan(1e-6);
  });
});
