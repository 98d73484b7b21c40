import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { riskSurface } from "./risk-surface.ts";

const random = createRandom(1);
const n = 400;
const x = Float64Array.from({ length: 2 * n }, () => random.normal());
/** Cases are common where the first coordinate is above 0.8. */
const planted = Uint8Array.from({ length: n }, (_, i) => (random.uniform() < (x[2 * i] > 0.8 ? 0.7 : 0.2) ? 1 : 0));
const coins = Uint8Array.from({ length: n }, () => (random.uniform() < 0.3 ? 1 : 0));

describe("riskSurface", () => {
  const surface = riskSurface({ locations: x, mapDimension: 2, labels: planted }, { permutations: 199, gridSize: 33 });

  it("is the kernel-weighted share of cases", () => {
    const { axes, share, bandwidth: H } = surface;
    const determinant = H[0] * H[3] - H[1] * H[2];
    for (const [a, b] of [
      [16, 16],
      [20, 14],
    ]) {
      let [C, N] = [0, 0];
      for (let i = 0; i < n; i++) {
        const u = axes[0][a] - x[2 * i];
        const v = axes[1][b] - x[2 * i + 1];
        const k = Math.exp((-0.5 * (H[3] * u * u - 2 * H[1] * u * v + H[0] * v * v)) / determinant);
        C += k * planted[i];
        N += k;
      }
      // Kernels are cut where they are 3e-4.
      expect(share[a * 33 + b]).toBeCloseTo(C / N, 2);
    }
  });

  it("lies outside its band where cases were planted, and nowhere without a relation", () => {
    const high = [...surface.outside.keys()].filter((c) => surface.outside[c] === 1);
    expect(high.length).toBeGreaterThan(20);
    for (const c of high) expect(surface.axes[0][Math.floor(c / 33)]).toBeGreaterThan(0.3);
    expect(surface.pValue).toBe(1 / 200);
    let alarms = 0;
    for (let seed = 0; seed < 10; seed++) {
      const labels = Uint8Array.from({ length: n }, () => (random.uniform() < 0.3 ? 1 : 0));
      const none = riskSurface({ locations: x, mapDimension: 2, labels }, { permutations: 99, gridSize: 17, seed });
      if (none.outside.some((o) => o !== 0)) alarms++;
      // Some place lies outside exactly if the largest deviation is beyond the critical one.
      expect(none.outside.some((o) => o !== 0)).toBe(none.pValue <= 0.05);
    }
    expect(alarms).toBeLessThanOrEqual(3);
  });

  it("leaves open where too few are near", () => {
    for (let c = 0; c < surface.share.length; c++) {
      expect(Number.isNaN(surface.share[c])).toBe(surface.individuals[c] < 10);
    }
    expect(Number.isNaN(surface.share[0])).toBe(true);
  });

  it("expects the share of each stratum, so that an outcome made by strata lies inside", () => {
    const strata = Int32Array.from({ length: n }, (_, i) => (x[2 * i] > 0 ? 1 : 0));
    const labels = Uint8Array.from(strata, (s) => (random.uniform() < (s === 1 ? 0.6 : 0.1) ? 1 : 0));
    const input = { locations: x, mapDimension: 2, labels };
    const options = { permutations: 199, gridSize: 17 };
    expect(riskSurface(input, options).pValue).toBeLessThan(0.02);
    expect(riskSurface({ ...input, strata }, options).pValue).toBeGreaterThan(0.05);
  });

  it.each([1, 3])("works in %i dimensions, with the same bits for the same seed", (q) => {
    const places = Float64Array.from({ length: n * q }, () => random.normal());
    const input = { locations: places, mapDimension: q, labels: coins };
    const a = riskSurface(input, { permutations: 49, gridSize: 9, seed: 3 });
    expect(a.share).toHaveLength(9 ** q);
    expect(riskSurface(input, { permutations: 49, gridSize: 9, seed: 3 })).toEqual(a);
  });

  it("refuses places that do not fit the labels", () => {
    expect(() => riskSurface({ locations: x, mapDimension: 2, labels: coins.subarray(1) })).toThrowError(
      expect.objectContaining({ code: "shape" }),
    );
  });
});
