import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { pooledGram } from "../../basis/statistics.ts";
import { createRandom } from "../../numeric/random.ts";
import { fitLmmStatistics } from "./lmm.ts";
import { createLowRankWorkspace, createScore, type LowRankParameters, logLikelihoodScore } from "./low-rank.ts";
import { createScorer } from "./scorer.ts";

function randomParameters(d: number, r: number, seed: number, triangular: boolean): LowRankParameters {
  const random = createRandom(seed);
  const factor = Float64Array.from({ length: d * r }, () => 2 * random.normal());
  if (triangular) for (let k = 0; k < d; k++) for (let a = k + 1; a < r; a++) factor[k * r + a] = 0;
  const meanCoefficients = Float64Array.from({ length: d }, () => 20 + random.normal());
  return { meanCoefficients, noiseVariance: 0.01 + random.uniform(), factor, rank: r };
}

const CASES = [
  { numBasis: 5, degree: 2, r: 5, numIndividuals: 12 },
  { numBasis: 5, degree: 2, r: 2, numIndividuals: 13 },
  { numBasis: 7, degree: 3, r: 3, numIndividuals: 401 },
  { numBasis: 3, degree: 1, r: 1, numIndividuals: 1 },
  { numBasis: 4, degree: 1, r: 4, numIndividuals: 30 },
];

describe("createScorer", () => {
  it.each(CASES)("gives value and derivatives of logLikelihoodScore in WebAssembly: %o", (options) => {
    const { numBasis: d, r } = options;
    const { statistics } = randomCohort({ ...options, maxObservations: 9, seed: 3 });
    const gram = pooledGram(statistics);
    const scoreAt = createScorer(statistics, r, gram, "wasm");
    const [found, expected] = [createScore(d), createScore(d)];
    for (let seed = 0; seed < 6; seed++) {
      const p = randomParameters(d, r, seed, seed % 2 === 0);
      const value = logLikelihoodScore(statistics, p, gram, expected, createLowRankWorkspace(d, r));
      expect(Math.abs(scoreAt(p, found) - value)).toBeLessThan(1e-12 * (1 + Math.abs(value)));
      expect(relativeError(found.residual, expected.residual)).toBeLessThan(1e-9);
      expect(relativeError(found.covariance, expected.covariance)).toBeLessThan(1e-9);
      expect(relativeError([found.logNoiseVariance], [expected.logNoiseVariance])).toBeLessThan(1e-9);
    }
  });

  it("says NaN where the noise is negligible or a trial overflows, then goes on as before", () => {
    const { statistics } = randomCohort({ seed: 6 });
    const scoreAt = createScorer(statistics, 5, pooledGram(statistics), "wasm");
    const score = createScore(5);
    const p = randomParameters(5, 5, 7, true);
    const value = scoreAt(p, score);
    expect(value).toBeLessThan(0);
    expect(scoreAt({ ...p, noiseVariance: 0 }, score)).toBeNaN();
    expect(scoreAt({ ...p, factor: p.factor.map((l) => 1e170 * l) }, score)).toBeNaN();
    expect(scoreAt(p, score)).toBe(value);
  });

  it("leads to the same maximum in both kernels, which the record names", () => {
    const { statistics } = randomCohort({ numIndividuals: 80, seed: 11 });
    const fast = fitLmmStatistics(statistics, { kernels: "wasm" });
    const plain = fitLmmStatistics(statistics, { kernels: "typescript" });
    expect(fast.record.kernels).toBe("wasm-simd");
    expect(plain.record.kernels).toBe("typescript");
    expect(Math.abs(fast.record.trace.at(-1)! - plain.record.trace.at(-1)!)).toBeLessThan(1e-5);
  });
});
