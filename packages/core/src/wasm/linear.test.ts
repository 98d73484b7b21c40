import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../test/random-cohort.ts";
import { expectationSums } from "../models/linear/expectation.ts";
import { fitLmmStatistics } from "../models/linear/lmm.ts";
import type { LowRankParameters } from "../models/linear/low-rank.ts";
import { effectPosterior } from "../models/linear/posterior.ts";
import { levelNoise, noiseLevel, whiteNoise } from "../noise/noise.ts";
import { createRandom } from "../numeric/random.ts";
import { openLinearKernels } from "./linear.ts";

function randomParameters(d: number, r: number, seed: number, triangular: boolean): LowRankParameters {
  const random = createRandom(seed);
  const factor = Float64Array.from({ length: d * r }, () => 2 * random.normal());
  if (triangular) for (let k = 0; k < d; k++) for (let a = k + 1; a < r; a++) factor[k * r + a] = 0;
  const meanCoefficients = Float64Array.from({ length: d }, () => 20 + random.normal());
  return { meanCoefficients, noise: whiteNoise(0.01 + random.uniform()), factor, rank: r };
}

const CASES = [
  { numBasis: 5, degree: 2, r: 5, numIndividuals: 12 },
  { numBasis: 5, degree: 2, r: 2, numIndividuals: 13 },
  { numBasis: 7, degree: 3, r: 3, numIndividuals: 401 },
  { numBasis: 3, degree: 1, r: 1, numIndividuals: 1 },
  { numBasis: 4, degree: 1, r: 4, numIndividuals: 30 },
];

describe("openLinearKernels", () => {
  it.each(CASES)("gives the sums of expectationSums in WebAssembly: %o", (options) => {
    const { numBasis: d, r } = options;
    const { statistics } = randomCohort({ ...options, maxObservations: 9, seed: 3 });
    const { expect: kernel } = openLinearKernels(d, statistics.numBand, r);
    for (let seed = 0; seed < 6; seed++) {
      const p = randomParameters(d, r, seed, seed % 2 === 0);
      const [found, expected] = [kernel(statistics, p), expectationSums(statistics, p)];
      expect(relativeError(found.subarray(0, 1), expected.subarray(0, 1))).toBeLessThan(1e-12);
      expect(relativeError(found.subarray(1), expected.subarray(1))).toBeLessThan(1e-12);
    }
  });

  it.each(CASES)("gives the sums of expectationSums where noise has levels: %o", (options) => {
    const { numBasis: d, r } = options;
    const { statistics } = randomCohort({ ...options, maxObservations: 9, seed: 3 });
    const { expect: kernel } = openLinearKernels(d, statistics.numBand, r);
    for (let seed = 0; seed < 6; seed++) {
      const white = randomParameters(d, r, seed, seed % 2 === 0);
      const p = { ...white, noise: levelNoise(noiseLevel(white.noise), 0.3 + 0.3 * seed) };
      const [found, expected] = [kernel(statistics, p), expectationSums(statistics, p)];
      expect(found.length).toBe(expected.length);
      const pairs = 2 + d + r * d;
      for (const [from, to] of [
        [0, 1],
        [1, 2 + d],
        [2 + d, pairs],
        [pairs, pairs + (r * (r + 1)) / 2],
        [pairs, found.length],
      ]) {
        expect(relativeError(found.subarray(from, to), expected.subarray(from, to))).toBeLessThan(1e-9);
      }
      expect(kernel(statistics, white)).toEqual(openLinearKernels(d, statistics.numBand, r).expect(statistics, white));
    }
  });

  it.each(CASES)("gives the posteriors of the definition where noise has levels: %o", (options) => {
    const { numBasis: d, r } = options;
    const { statistics } = randomCohort({ ...options, maxObservations: 9, seed: 3 });
    for (let seed = 0; seed < 6; seed++) {
      const { noise: white, ...others } = randomParameters(d, r, seed, seed % 2 === 0);
      const p = { ...others, noises: [levelNoise(noiseLevel(white), 0.3 + 0.3 * seed)] };
      const [found, expected] = (["wasm", "typescript"] as const).map((kernels) =>
        effectPosterior([statistics], p, undefined, kernels),
      );
      expect(relativeError(found.mean, expected.mean)).toBeLessThan(1e-9);
      expect(relativeError(found.covariance, expected.covariance)).toBeLessThan(1e-9);
    }
  });

  it("says so where the noise is negligible or a trial overflows, then goes on as before", () => {
    const { statistics } = randomCohort({ seed: 6 });
    const { expect: kernel } = openLinearKernels(5, statistics.numBand, 5);
    const p = randomParameters(5, 5, 7, true);
    const before = kernel(statistics, p);
    expect(before[0]).toBeLessThan(0);
    expect(kernel(statistics, { ...p, noise: whiteNoise(0) })[0]).toBeNaN();
    expect(Number.isFinite(kernel(statistics, { ...p, factor: p.factor.map((l) => 1e170 * l) })[0])).toBe(false);
    expect(kernel(statistics, p)).toEqual(before);
  });

  it("leads to the same maximum in both kernels, which the record names", () => {
    const { statistics } = randomCohort({ numIndividuals: 80, seed: 11 });
    const fast = fitLmmStatistics([statistics], { kernels: "wasm" });
    const plain = fitLmmStatistics([statistics], { kernels: "typescript" });
    expect(fast.record.kernels).toBe("wasm-simd");
    expect(plain.record.kernels).toBe("typescript");
    expect(Math.abs(fast.record.trace.at(-1)! - plain.record.trace.at(-1)!)).toBeLessThan(1e-5);
  });
});
