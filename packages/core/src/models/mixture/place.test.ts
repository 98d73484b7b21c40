import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { heavyNodes, lightNodes, locationMoments } from "./place.ts";

/** Random weights that sum to one, and random places. */
function example(K: number, q: number) {
  const random = createRandom(K + q);
  const raw = Float64Array.from({ length: K }, () => Math.exp(4 * random.normal()));
  const total = raw.reduce((a, b) => a + b, 0);
  return {
    nodes: Int32Array.from({ length: K }, (_, k) => k),
    weights: raw.map((w) => w / total),
    locations: Float64Array.from({ length: K * q }, () => 3 + random.normal()),
    logLikelihood: 0,
  };
}

describe("locationMoments", () => {
  it.each([1, 2, 3])("are the weighted mean and covariance of the places, q = %i", (q) => {
    const posterior = example(41, q);
    const { mean, covariance } = locationMoments(posterior, q);
    for (let a = 0; a < q; a++) {
      for (let b = 0; b < q; b++) {
        let [ma, product] = [0, 0];
        posterior.weights.forEach((w, k) => {
          ma += w * posterior.locations[k * q + a];
          product += w * posterior.locations[k * q + a] * posterior.locations[k * q + b];
        });
        expect(mean[a]).toBeCloseTo(ma, 13);
        expect(covariance[a * q + b]).toBeCloseTo(product - mean[a] * mean[b], 12);
      }
    }
  });
});

describe("lightNodes", () => {
  it.each([0, 1e-6, 0.01, 0.4, 0.9999])(
    "leaves out the lightest nodes up to a mass of %d, as sorting would",
    (mass) => {
      const { weights } = example(300, 2);
      const ascending = weights.slice().sort();
      let count = 0;
      let held = 0;
      while (count < 299 && held + ascending[count] <= mass) held += ascending[count++];
      const light = lightNodes(weights, mass);
      expect(light.count).toBe(count);
      expect(light.mass).toBeCloseTo(held, 12);
      const kept = heavyNodes(weights, mass);
      expect([...kept.positions].map((k) => weights[k]).sort((a, b) => a - b)).toEqual([...ascending.subarray(count)]);
      expect(kept.weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    },
  );

  it("leaves the last of equal nodes", () => {
    expect([...heavyNodes(Float64Array.of(0.25, 0.25, 0.25, 0.25), 0.6).positions]).toEqual([2, 3]);
    expect([...heavyNodes(Float64Array.of(0.25, 0.25, 0.25, 0.25), 1).positions]).toEqual([3]);
  });
});
