import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { locationMoments } from "./place.ts";

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
