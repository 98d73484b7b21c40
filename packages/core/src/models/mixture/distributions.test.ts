import { describe, expect, it } from "vitest";
import { designMatrix } from "../../basis/bspline.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { createRandom } from "../../numeric/random.ts";
import { crossingGrid, firstCrossing } from "./crossing.ts";
import {
  mixtureCdf,
  mixtureCrps,
  mixtureLogDensity,
  mixtureMean,
  mixtureVariance,
  type NormalMixture,
} from "./normal-mixture.ts";
import { dropLightNodes, highestDensityNodes } from "./place.ts";
import { mixtureQuantile } from "./quantiles.ts";
import { simultaneousBand } from "./simultaneous.ts";

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
});

describe("simultaneousBand", () => {
  it("holds the wanted share of whole curves and is wider than the pointwise band", () => {
    const random = createRandom(4);
    const S = 4000;
    const T = 12;
    const curve = () => {
      const [level, slope] = [random.normal(), random.normal()];
      return Array.from({ length: T }, (_, t) => level + (slope * t) / T + 0.3 * random.normal());
    };
    const draws = Float64Array.from(Array.from({ length: S }, curve).flat());
    const band = simultaneousBand(draws, S, T, 0.9);
    let inside = 0;
    for (let s = 0; s < S; s++) {
      if (curve().every((v, t) => v >= band.lower[t] && v <= band.upper[t])) inside++;
    }
    expect(inside / S).toBeGreaterThan(0.87);
    expect(inside / S).toBeLessThan(0.925);
    // Pointwise 90 % of N(0, 1 + 0.09) at t = 0 would be ±1.717.
    expect(band.upper[0]).toBeGreaterThan(1.8);
  });
});

describe("firstCrossing", () => {
  const basis = bsplineBasis(Float64Array.from({ length: 101 }, (_, k) => k / 10));
  const grid = crossingGrid(basis, 2);
  const rows = designMatrix(basis, grid);

  it("finds where a straight line crosses", () => {
    // Greville points reproduce linear functions: w_k = average of the inner knots.
    const greville = Float64Array.from({ length: 5 }, (_, k) => (basis.knots[k + 1] + basis.knots[k + 2]) / 2);
    expect(firstCrossing(basis, greville, 0, 7.3, "up", grid, rows)).toBeCloseTo(7.3, 9);
    expect(firstCrossing(basis, greville, 0, 7.3, "down", grid, rows)).toBe(2);
    expect(firstCrossing(basis, greville, 0, 11, "up", grid, rows)).toBe(Number.POSITIVE_INFINITY);
  });

  it("takes the first of several crossings and starts at the time given", () => {
    const wave = Float64Array.of(0, 4, -4, 4, 0);
    const t = firstCrossing(basis, wave, 0, 0, "down", grid, rows);
    const before = designMatrix(basis, [t - 1e-6, t + 1e-6]);
    const at = (k: number) => wave.reduce((s, w, j) => s + w * before[k * 5 + j], 0);
    expect(at(0)).toBeGreaterThan(0);
    expect(at(1)).toBeLessThan(0);
    expect(t).toBeGreaterThan(2);
    expect(t).toBeLessThan(6);
  });
});

describe("dropLightNodes", () => {
  it("keeps the heaviest nodes in order, and drops the first of equal weights first", () => {
    const weights = Float64Array.of(0.1, 0.3, 0.1, 0.4, 0.1);
    const rows = new Float64Array(5);
    const nodes = Int32Array.of(10, 11, 12, 13, 14);
    const posterior = { weights, nodes, locations: rows, means: rows, covariances: rows, logLikelihood: -1 };
    const { nodes: kept, weights: rest } = dropLightNodes(posterior, 0.25);
    expect([...kept]).toEqual([11, 13, 14]);
    expect(rest[1]).toBeCloseTo(0.5, 14);
    expect([...dropLightNodes(posterior, 0).nodes]).toEqual([10, 11, 12, 13, 14]);
    expect([...dropLightNodes(posterior, 2).nodes]).toEqual([13]);
  });
});
