import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { gradientOuterIntegral, gridPairSums } from "./gauss-grid.ts";

describe("gridPairSums", () => {
  it.each([
    [1, 1e-14],
    [2, 2e-8],
    [3, 1e-5],
  ])("are the sums over pairs, in %i dimensions to %f for each pair", (q, tolerance) => {
    const random = createRandom(4);
    const z = Float64Array.from({ length: 15 * q }, () => 2 * random.normal());
    const kernel = (i: number, j: number) => {
      let r = 0;
      for (let k = 0; k < q; k++) r += (z[i * q + k] - z[j * q + k]) ** 2;
      return Math.exp(-0.5 * r);
    };
    let [within, across] = [0, 0];
    for (let i = 0; i < 9; i++) {
      for (let j = 0; j < 9; j++) within += kernel(i, j);
      for (let j = 9; j < 15; j++) across += kernel(i, j);
    }
    const sums = gridPairSums(z, q, 9, 0)!;
    expect(Math.abs(sums.within - within)).toBeLessThan(81 * tolerance);
    expect(Math.abs(sums.across - across)).toBeLessThan(54 * tolerance);
  });

  it("leave few, four dimensions and far outliers to sums over pairs", () => {
    expect(gridPairSums(new Float64Array(6000), 2, 10)).toBeUndefined();
    expect(gridPairSums(new Float64Array(12_004), 4, 10)).toBeUndefined();
    expect(gridPairSums(Float64Array.of(0, 0, 0, 1e6, -1e6, 0, 3, 0, 0), 3, 1, 0)).toBeUndefined();
  });
});

describe("gradientOuterIntegral", () => {
  it("is the closed form for one point: ∫ ∇F∇F' = (π/2)^{q/2} I", () => {
    const out = gradientOuterIntegral(Float64Array.of(0.3, -0.2), 2, 0)!;
    expect(out[0]).toBeCloseTo(Math.PI / 2, 6);
    expect(out[3]).toBeCloseTo(Math.PI / 2, 6);
    expect(Math.abs(out[1])).toBeLessThan(1e-6);
  });
});
