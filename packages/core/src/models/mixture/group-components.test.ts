import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { groupComponents } from "./group-components.ts";
import { mixtureMean, mixtureVariance, type NormalMixture } from "./normal-mixture.ts";
import { mixtureQuantile } from "./quantiles.ts";

function randomMixture(K: number, seed: number): NormalMixture {
  const random = createRandom(seed);
  const raw = Float64Array.from({ length: K }, () => random.uniform() ** 4);
  const total = raw.reduce((a, b) => a + b, 0);
  return {
    weights: raw.map((w) => w / total),
    means: raw.map((_, k) => 70 + 25 * Math.sin(k) + 5 * random.normal()),
    sds: raw.map(() => 3 + 2 * random.uniform()),
  };
}

describe("groupComponents", () => {
  it.each([1, 2, 3])("keeps mean and variance exactly and quantiles to a hundredth of the spread (seed %i)", (seed) => {
    const mixture = randomMixture(800, seed);
    const grouped = groupComponents(mixture);
    expect(grouped.weights.length).toBeLessThan(200);
    expect(mixtureMean(grouped)).toBeCloseTo(mixtureMean(mixture), 9);
    expect(mixtureVariance(grouped)).toBeCloseTo(mixtureVariance(mixture), 7);
    const spread = Math.sqrt(mixtureVariance(mixture));
    for (const p of [0.05, 0.5, 0.95]) {
      expect(Math.abs(mixtureQuantile(grouped, p) - mixtureQuantile(mixture, p))).toBeLessThan(0.01 * spread);
    }
  });

  it("leaves a mixture alone that it could not make much smaller", () => {
    const mixture = { weights: Float64Array.of(0.5, 0.5), means: Float64Array.of(0, 9), sds: Float64Array.of(1, 1) };
    expect(groupComponents(mixture)).toBe(mixture);
  });
});
