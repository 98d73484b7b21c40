import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { functionalDistribution } from "./curve-distribution.ts";
import { mixtureCdf, mixtureMean, mixtureVariance } from "./normal-mixture.ts";
import type { CoefficientPosterior } from "./posterior.ts";
import { mixtureQuantiles } from "./quantiles.ts";
import { courseQuantiles, roomOf, startLevels, takeFunctional } from "./wasm-course.ts";

/** K nodes with random moments; means spread by `apart`. */
function randomPosterior(K: number, d: number, apart: number, seed: number): CoefficientPosterior {
  const random = createRandom(seed);
  const raw = Float64Array.from({ length: K }, () => Math.exp(3 * random.normal()));
  const total = raw.reduce((a, b) => a + b, 0);
  const covariances = new Float64Array(K * d * d);
  for (let k = 0; k < K; k++) {
    const R = Float64Array.from({ length: d * d }, () => random.normal());
    for (let a = 0; a < d; a++) {
      for (let b = 0; b < d; b++) {
        for (let c = 0; c < d; c++) covariances[(k * d + a) * d + b] += R[a * d + c] * R[b * d + c];
      }
    }
  }
  return {
    nodes: Int32Array.from({ length: K }, (_, k) => k),
    weights: raw.map((w) => w / total),
    locations: new Float64Array(2 * K),
    means: Float64Array.from({ length: K * d }, () => apart * random.normal()),
    covariances,
    logLikelihood: 0,
  };
}

function everyNode({ weights }: CoefficientPosterior) {
  return { positions: Int32Array.from(weights, (_, k) => k), weights };
}

const LEVELS = [0.5, 0.05, 0.95, 0.001];

describe("functionals of a curve in WebAssembly", () => {
  it.each([
    [1, 2, 1, 0],
    [7, 3, 1, 0.5],
    [50, 5, 20, 0],
    [131, 6, 3, 2],
  ])("have the moments and quantiles of the TypeScript ones: %i nodes, d = %i", (K, d, apart, noise) => {
    const random = createRandom(K);
    const posterior = randomPosterior(K, d, apart, K + d);
    const beta = Float64Array.from({ length: d }, () => 10 * random.normal());
    const room = roomOf(posterior, everyNode(posterior), d);
    const levels = startLevels(LEVELS);
    const found = new Float64Array(LEVELS.length);
    for (let t = 0; t < 5; t++) {
      // Some entries are zero, as in a row of a basis.
      const row = Float64Array.from({ length: d }, (_, a) => ((a + t) % 3 === 0 && a > 0 ? 0 : random.normal()));
      const expected = functionalDistribution(posterior, beta, row, 0, noise);
      const value = takeFunctional(room, beta, row, 0, noise);
      const spread = Math.sqrt(mixtureVariance(expected));
      expect(Math.abs(value.mean - mixtureMean(expected)) / spread).toBeLessThan(1e-12);
      expect(value.variance / spread ** 2).toBeCloseTo(1, 11);
      courseQuantiles(room, levels, t, found);
      const quantiles = mixtureQuantiles(expected, LEVELS);
      for (let j = 0; j < LEVELS.length; j++) {
        expect(Math.abs(found[j] - quantiles[j]) / spread).toBeLessThan(1e-9);
        expect(mixtureCdf(expected, found[j])).toBeCloseTo(LEVELS[j], 9);
      }
    }
  });

  it("find quantiles in the gap between far components, and beside a component that is nearly a point", () => {
    const posterior = {
      ...randomPosterior(3, 1, 1, 1),
      weights: Float64Array.of(0.5, 0.25, 0.25),
      means: Float64Array.of(-50, 50, 60),
      covariances: Float64Array.of(1, 1, 1e-18),
    };
    const room = roomOf(posterior, everyNode(posterior), 1);
    const one = Float64Array.of(1);
    const { components } = takeFunctional(room, Float64Array.of(0), one, 0, 0);
    const found = new Float64Array(4);
    courseQuantiles(room, startLevels([0.499999, 0.500001, 0.75 - 1e-6, 0.8]), 0, found);
    expect(Math.abs(found[0] - -45.3888)).toBeLessThan(1e-3);
    expect(Math.abs(found[1] - 45.5351)).toBeLessThan(1e-3);
    expect(Math.abs(found[2] - 54.4652)).toBeLessThan(1e-3);
    expect(found[3]).toBeCloseTo(60, 8);
    expect([...components.weights.subarray(3)]).toEqual([0]);
  });
});
