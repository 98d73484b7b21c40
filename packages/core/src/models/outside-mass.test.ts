import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import type { SparseMap } from "./gp/sparse-map.ts";
import { inducingDistance } from "./model.ts";
import { outsideMass, outsidePlaces } from "./outside-mass.ts";

/** A map of which only kernel and inducing places matter, and a posterior spread wider than they are. */
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
  const K = 500;
  const raw = Float64Array.from({ length: K }, () => random.uniform());
  const total = raw.reduce((s, w) => s + w, 0);
  const posterior = {
    nodes: Int32Array.from({ length: K }, (_, k) => k),
    weights: raw.map((w) => w / total),
    locations: Float64Array.from({ length: K * q }, () => 2 * random.normal()),
    logLikelihood: 0,
  };
  return { map, posterior };
}

describe("outsideMass", () => {
  it.each([1, 2, 3])("adds up the nodes further than a length-scale from every inducing place, q = %i", (q) => {
    const { map, posterior } = example(q, 10 + q);
    let expected = 0;
    for (let k = 0; k < posterior.weights.length; k++) {
      if (inducingDistance(map, posterior.locations, k * q) > 1) expected += posterior.weights[k];
    }
    expect(expected).toBeGreaterThan(0.05);
    expect(expected).toBeLessThan(0.99);
    expect(outsideMass(posterior, outsidePlaces(map, posterior.locations))).toBeCloseTo(expected, 13);
  });

  it("counts a node exactly a length-scale away as inside", () => {
    const { map } = example(1, 3);
    const alone = { ...map, numInducing: 1, inducingLocations: Float64Array.of(0.25) };
    expect([...outsidePlaces(alone, Float64Array.of(0.25 + 0.4, 0.25 + 0.41))]).toEqual([0, 1]);
  });
});
