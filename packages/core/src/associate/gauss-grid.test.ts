import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { gradientOuterIntegral, gridFeatures, innerProduct, sumFeatures } from "./gauss-grid.ts";

/** Worst error of a kernel against exp(−½|z_i − z_j|²) over all pairs. */
function worstPair(z: Float64Array, n: number, q: number, kernel: (i: number, j: number) => number): number {
  let worst = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let r = 0;
      for (let k = 0; k < q; k++) r += (z[i * q + k] - z[j * q + k]) ** 2;
      worst = Math.max(worst, Math.abs(kernel(i, j) - Math.exp(-0.5 * r)));
    }
  }
  return worst;
}

const fineKernel = (z: Float64Array, n: number, q: number) => {
  const features = gridFeatures(z, n, q, 0)!;
  return (i: number, j: number) => innerProduct(sumFeatures(features, i, i + 1), sumFeatures(features, j, j + 1));
};

describe("gridFeatures", () => {
  it.each([
    [1, 1e-14],
    [2, 2e-8],
    [3, 1e-5],
  ])("have the Gaussian kernel as inner product, in %i dimensions to %f", (q, tolerance) => {
    const random = createRandom(4);
    const z = Float64Array.from({ length: 15 * q }, () => 2 * random.normal());
    expect(worstPair(z, 15, q, fineKernel(z, 15, q))).toBeLessThan(tolerance);
  });

  it("sum to the sum over pairs", () => {
    const all = sumFeatures(gridFeatures(Float64Array.of(0, 0, 1, 1, 3, -1), 3, 2, 0)!, 0, 3);
    const expected = 3 + 2 * (Math.exp(-1) + Math.exp(-5) + Math.exp(-4));
    expect(Math.abs(innerProduct(all, all) - expected)).toBeLessThan(1e-7);
  });

  it("leave few, four dimensions and far outliers to sums over pairs", () => {
    expect(gridFeatures(new Float64Array(6000), 3000, 2)).toBeUndefined();
    expect(gridFeatures(new Float64Array(12_004), 3001, 4)).toBeUndefined();
    expect(gridFeatures(Float64Array.of(0, 0, 0, 1e6, -1e6, 0, 3, 0, 0), 3, 3, 0)).toBeUndefined();
  });
});

describe("gradientOuterIntegral", () => {
  it("is the closed form for one point: ∫ ∇F∇F' = (π/2)^{q/2} I", () => {
    const out = gradientOuterIntegral(Float64Array.of(0.3, -0.2), 1, 2, 0)!;
    expect(out[0]).toBeCloseTo(Math.PI / 2, 6);
    expect(out[3]).toBeCloseTo(Math.PI / 2, 6);
    expect(Math.abs(out[1])).toBeLessThan(1e-6);
  });
});
