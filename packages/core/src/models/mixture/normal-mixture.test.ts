import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import {
  blendMixtures,
  blendSums,
  mergeMixture,
  mixtureCdf,
  mixtureCrps,
  mixtureLogDensity,
  mixtureMean,
  mixtureQuantile,
  mixtureVariance,
  type NormalMixture,
  normalSums,
} from "./normal-mixture.ts";
import { highestDensityNodes } from "./place.ts";

const mixture: NormalMixture = {
  weights: Float64Array.of(0.5, 0.3, 0.2),
  means: Float64Array.of(-1, 2, 9),
  sds: Float64Array.of(0.7, 1.5, 0.2),
};

/** ∫ f over a range wide enough for the mixture, by Simpson's rule. */
function integrate(f: (y: number) => number, a = -12, b = 16, n = 40_000): number {
  const h = (b - a) / n;
  let s = f(a) + f(b);
  for (let k = 1; k < n; k++) s += (k % 2 === 1 ? 4 : 2) * f(a + k * h);
  return (s * h) / 3;
}

describe("a mixture of normals", () => {
  it("blended with another has the sums of both", () => {
    const other = { weights: Float64Array.of(1), means: Float64Array.of(4), sds: Float64Array.of(3) };
    const whole = normalSums(
      blendMixtures([
        [0.8, mixture],
        [0.2, other],
      ]),
    );
    const [expected, found] = [new Float64Array(2), new Float64Array(2)];
    for (const y of [-3, 0, 2.5, 11]) {
      whole(y, expected);
      blendSums(0.8, normalSums(mixture), 0.2, normalSums(other))(y, found);
      expect(found[0]).toBeCloseTo(expected[0], 14);
      expect(found[1]).toBeCloseTo(expected[1], 14);
    }
  });

  it("has a density that integrates to its cdf, mean and variance", () => {
    const density = (y: number) => Math.exp(mixtureLogDensity(mixture, y));
    expect(integrate(density)).toBeCloseTo(1, 9);
    expect(integrate(density, -12, 1)).toBeCloseTo(mixtureCdf(mixture, 1), 9);
    expect(integrate((y) => y * density(y))).toBeCloseTo(mixtureMean(mixture), 8);
    expect(integrate((y) => (y - mixtureMean(mixture)) ** 2 * density(y))).toBeCloseTo(mixtureVariance(mixture), 7);
  });

  it("has quantiles that invert the cdf, also in gaps and tails", () => {
    for (const p of [1e-9, 0.001, 0.05, 0.4999, 0.5, 0.79, 0.8, 0.81, 0.95, 1 - 1e-9]) {
      expect(Math.abs(mixtureCdf(mixture, mixtureQuantile(mixture, p)) - p)).toBeLessThan(1e-9);
    }
  });

  it("has quantiles that invert the cdf for mixtures of hundreds of components", () => {
    const random = createRandom(8);
    for (let trial = 0; trial < 60; trial++) {
      const K = 1 + random.integer(400);
      const weights = Float64Array.from({ length: K }, () => random.gamma(0.3) + 1e-9);
      const total = weights.reduce((s, w) => s + w, 0);
      const many: NormalMixture = {
        weights: weights.map((w) => w / total),
        means: Float64Array.from({ length: K }, () => 3 * random.normal()),
        sds: Float64Array.from({ length: K }, () => 0.05 + random.uniform()),
      };
      for (const p of [0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975]) {
        expect(Math.abs(mixtureCdf(many, mixtureQuantile(many, p)) - p)).toBeLessThan(1e-8);
      }
    }
  });

  it("has quantiles in the gap between far components, and beside a component that is nearly a point", () => {
    const far: NormalMixture = {
      weights: Float64Array.of(0.5, 0.25, 0.25),
      means: Float64Array.of(-50, 50, 60),
      sds: Float64Array.of(1, 1, 1e-9),
    };
    expect(mixtureQuantile(far, 0.499999)).toBeCloseTo(-45.3888, 3);
    expect(mixtureQuantile(far, 0.500001)).toBeCloseTo(45.5351, 3);
    expect(mixtureQuantile(far, 0.75 - 1e-6)).toBeCloseTo(54.4652, 3);
    expect(mixtureQuantile(far, 0.8)).toBeCloseTo(60, 8);
  });

  it("scores by the integral definition of the CRPS", () => {
    for (const y of [-3, 0.4, 5, 9.1]) {
      const left = integrate((z) => mixtureCdf(mixture, z) ** 2, -20, y);
      const right = integrate((z) => (mixtureCdf(mixture, z) - 1) ** 2, y, 30);
      expect(mixtureCrps(mixture, y)).toBeCloseTo(left + right, 7);
    }
  });
});

describe("highestDensityNodes", () => {
  it("is the smallest set that holds the level, heaviest first", () => {
    const weights = Float64Array.of(0.05, 0.4, 0.15, 0.3, 0.1);
    expect(Array.from(highestDensityNodes(weights, 0.5))).toEqual([1, 3]);
    expect(Array.from(highestDensityNodes(weights, 0.9))).toEqual([1, 3, 2, 4]);
  });

  it("keeps its moments when near components are merged, and nearly its quantiles", () => {
    const random = createRandom(5);
    const K = 6000;
    const total = K * 0.5;
    const many: NormalMixture = {
      weights: Float64Array.from({ length: K }, (_, k) => (k % 2 === 0 ? 0.2 : 0.8) / total),
      means: Float64Array.from({ length: K }, () => 1000 + random.normal()),
      sds: Float64Array.from({ length: K }, () => Math.exp(0.5 * random.normal())),
    };
    const merged = mergeMixture(many, 0.2);
    expect(merged.weights.length).toBeLessThan(K / 5);
    expect(mixtureMean(merged)).toBeCloseTo(mixtureMean(many), 9);
    expect(mixtureVariance(merged)).toBeCloseTo(mixtureVariance(many), 9);
    const width = mixtureQuantile(many, 0.95) - mixtureQuantile(many, 0.05);
    for (const p of [0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975]) {
      expect(Math.abs(mixtureQuantile(merged, p) - mixtureQuantile(many, p))).toBeLessThan(1e-3 * width);
    }
    expect(mergeMixture(mixture, 0.2).sds.length).toBe(3);
    expect(mixtureCrps(mergeMixture(mixture, 0.2), 3)).toBeCloseTo(mixtureCrps(mixture, 3), 12);
  });
});
