import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { gaussFeatures, gradientOuterIntegral, innerProduct, sumFeatures } from "./gauss-grid.ts";
import { addPhaseFeatures, phaseFeatures, phaseProduct } from "./phase-grid.ts";

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
  const features = gaussFeatures(z, n, q);
  return (i: number, j: number) => innerProduct(sumFeatures(features, i, i + 1), sumFeatures(features, j, j + 1));
};

const phaseKernel = (z: Float64Array, n: number, q: number) => {
  const features = phaseFeatures(z, n, q);
  return (i: number, j: number) => {
    const cells = new Float64Array(features.numCells);
    addPhaseFeatures(features, Int32Array.of(j), 0, 1, cells);
    return phaseProduct(features, i, cells);
  };
};

describe("gaussFeatures", () => {
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
    const all = sumFeatures(gaussFeatures(Float64Array.of(0, 0, 1, 1, 3, -1), 3, 2), 0, 3);
    const expected = 3 + 2 * (Math.exp(-1) + Math.exp(-5) + Math.exp(-4));
    expect(Math.abs(innerProduct(all, all) - expected)).toBeLessThan(1e-7);
  });

  it("need no cells between far outliers", () => {
    const z = Float64Array.of(0, 0, 0, 1e6, -1e6, 0, 3, 0, 0, 0, 1, 1);
    expect(gaussFeatures(z, 4, 3).layout.numCells).toBeLessThanOrEqual(4 * 15 ** 3);
    expect(worstPair(z, 4, 3, fineKernel(z, 4, 3))).toBeLessThan(1e-5);
    expect(worstPair(z, 4, 3, phaseKernel(z, 4, 3))).toBeLessThan(0.02);
  });
});

describe("phaseFeatures", () => {
  it.each([1, 2, 3])(
    "have the Gaussian kernel as inner product to 2 %% of its peak, the peak exactly (%i dimensions)",
    (q) => {
      const random = createRandom(5);
      const z = Float64Array.from({ length: 30 * q }, () => 2 * random.normal());
      const kernel = phaseKernel(z, 30, q);
      expect(worstPair(z, 30, q, kernel)).toBeLessThan(0.02);
      for (let i = 0; i < 30; i++) expect(kernel(i, i)).toBeCloseTo(1, 12);
    },
  );

  it("hold at the edges of a step", () => {
    const z = Float64Array.of(0, 0.8, -0.8, 1.6, 0.8 - 1e-16, 1e-17);
    expect(worstPair(z, 6, 1, phaseKernel(z, 6, 1))).toBeLessThan(0.01);
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
