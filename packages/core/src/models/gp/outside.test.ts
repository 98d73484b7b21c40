import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { outsidePlaces } from "./outside.ts";
import type { SparseMap } from "./sparse-map.ts";

/** A map of which only kernel and inducing points matter, and places spread wider than they are. */
function example(q: number, seed: number) {
  const random = createRandom(seed);
  const p = 7;
  const kernel = {
    kind: "rbf",
    signalVariance: 1,
    lengthscales: Float64Array.from({ length: q }, (_, c) => 0.4 + 0.3 * c),
    jitter: 1e-6,
  } as unknown as SparseMap["kernel"];
  const inducingLocations = Float64Array.from({ length: p * q }, () => random.normal());
  const empty = new Float64Array(0);
  const map: SparseMap = {
    kernel,
    mapDimension: q,
    numInducing: p,
    numBasis: 0,
    inducingLocations,
    inducingMean: empty,
    inducingCovariance: empty,
  };
  return { map, locations: Float64Array.from({ length: 500 * q }, () => 2 * random.normal()) };
}

describe("outsidePlaces", () => {
  it.each([1, 2, 3])("are those further than a length-scale from every inducing point, q = %i", (q) => {
    const { map, locations } = example(q, 10 + q);
    const lengthscales = (map.kernel as { lengthscales: Float64Array }).lengthscales;
    const outside = outsidePlaces(map, locations);
    outside.forEach((found, k) => {
      const near = Array.from({ length: map.numInducing }, (_, j) =>
        Math.hypot(
          ...Array.from(lengthscales, (l, c) => (locations[k * q + c] - map.inducingLocations[j * q + c]) / l),
        ),
      );
      expect(found).toBe(Math.min(...near) > 1 ? 1 : 0);
    });
    expect(outside.reduce((s, v) => s + v, 0)).toBeGreaterThan(25);
    expect(outside.reduce((s, v) => s + v, 0)).toBeLessThan(495);
  });

  it("count a place exactly a length-scale away as inside", () => {
    const { map } = example(1, 3);
    const alone = { ...map, numInducing: 1, inducingLocations: Float64Array.of(0.25) };
    expect([...outsidePlaces(alone, Float64Array.of(0.25 + 0.4, 0.25 + 0.41))]).toEqual([0, 1]);
  });
});
