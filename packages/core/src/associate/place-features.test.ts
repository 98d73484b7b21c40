import { describe, expect, it } from "vitest";
import { gaussHermite } from "../numeric/quadrature.ts";
import { createRandom } from "../numeric/random.ts";
import { featureDegrees, MAP_KERNEL, type PlaceKernel, placeFeatures, testKernel } from "./place-features.ts";

describe("placeFeatures", () => {
  const random = createRandom(1);
  /** Largest error of the kernel between places within 2 of the middle. */
  const worst = (q: number, kernel: PlaceKernel) => {
    const places = Float64Array.from(
      { length: 40 * q },
      () => Math.max(-2, Math.min(2, random.normal())) / Math.sqrt(q),
    );
    const psi = placeFeatures(places, q, kernel);
    const F = psi.length / 40;
    let error = 0;
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 40; j++) {
        let [dot, distance] = [0, 0];
        for (let f = 0; f < F; f++) dot += psi[i * F + f] * psi[j * F + f];
        for (let c = 0; c < q; c++) distance += (places[i * q + c] - places[j * q + c]) ** 2;
        error = Math.max(error, Math.abs(dot - Math.exp(-distance / (2 * kernel.width ** 2))));
      }
    }
    return error;
  };

  it("multiplies out to the Gaussian kernel, the better the higher the degree", () => {
    // What is left out by degree: docs/math/association.md §2.
    expect(worst(1, testKernel(1))).toBeLessThan(2e-3);
    expect(worst(2, testKernel(2))).toBeLessThan(4e-3);
    expect(worst(3, testKernel(3))).toBeLessThan(4e-2);
    expect(worst(2, MAP_KERNEL)).toBeLessThan(4e-2);
    expect(worst(2, { width: 1, degree: 30 })).toBeLessThan(1e-9);
  });

  it("are orthogonal under the prior", () => {
    const { nodes, weights } = gaussHermite(60);
    const psi = placeFeatures(nodes, 1, { width: 1, degree: 5 });
    for (let a = 0; a < 6; a++) {
      for (let b = 0; b < a; b++) {
        let s = 0;
        for (let k = 0; k < weights.length; k++) s += weights[k] * psi[k * 6 + a] * psi[k * 6 + b];
        expect(s).toBeCloseTo(0, 10);
      }
    }
  });

  it("gives the same kernel after any turn of the map", () => {
    const [x, y] = [Float64Array.of(0.7, -1.2), Float64Array.of(-0.4, 0.5)];
    const turn = (p: Float64Array) => Float64Array.of(0.6 * p[0] - 0.8 * p[1], 0.8 * p[0] + 0.6 * p[1]);
    const kernel = (a: Float64Array, b: Float64Array) => {
      const psi = placeFeatures(b, 2, testKernel(2));
      return placeFeatures(a, 2, testKernel(2)).reduce((s, v, f) => s + v * psi[f], 0);
    };
    expect(kernel(turn(x), turn(y))).toBeCloseTo(kernel(x, y), 12);
  });

  it("come by total degree, first axis falling", () => {
    expect(featureDegrees(2, 2)).toEqual([
      [0, 0],
      [1, 0],
      [0, 1],
      [2, 0],
      [1, 1],
      [0, 2],
    ]);
    expect([1, 2, 3].map((q) => featureDegrees(q, testKernel(q).degree).length)).toEqual([10, 55, 84]);
  });
});
