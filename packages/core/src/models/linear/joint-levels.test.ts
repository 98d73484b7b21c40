import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { type BasisStatistics, selectStatistics } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { combineMarkers, markerCohort } from "../../cohort/several-markers.ts";
import { drawNoise, levelNoise, noiseLevel, noiseLevels, noiseSpread, whiteNoise } from "../../noise/noise.ts";
import { createRandom } from "../../numeric/random.ts";
import { logSumExp } from "../../numeric/special.ts";
import { prepareMarkers } from "../choose-noise.ts";
import { fitFpca, fitLinear, fitLmm } from "../linear-models.ts";
import { levelLogLikelihoods, levelWeights } from "./joint-levels.ts";
import { individualLogLikelihoods } from "./likelihood.ts";
import { effectPosterior } from "./posterior.ts";
import { linearLogLikelihoods, linearPlaces } from "./scores.ts";
import type { LinearParameters } from "./stack.ts";

/** Two markers with related levels of their curves, noise levels of their own (ω = 0.9 and 0.6), the second lacking in a third. */
function simulated(m: number, seed: number) {
  const random = createRandom(seed);
  const rows = [0, 1].map(() => ({ ids: [] as string[], times: [] as number[], values: [] as number[] }));
  for (let i = 0; i < m; i++) {
    const x = random.normal();
    rows.forEach(({ ids, times, values }, k) => {
      const own = Float64Array.from({ length: k === 1 && i % 3 === 0 ? 0 : 4 + random.integer(6) }, () =>
        random.uniform(),
      );
      const noise = drawNoise(levelNoise(0.2, k === 0 ? 0.9 : 0.6), own, random);
      const slope = random.normal();
      own.forEach((t, j) => {
        ids.push(`P${1000 + i}`);
        times.push(10 * t);
        values.push((k === 0 ? 1 : 30) * (2 + x + slope * t + noise[j]));
      });
    });
  }
  return combineMarkers(rows.map((columns, k) => makeCohort(columns, { name: `marker ${k}` })));
}

const cohort = simulated(9, 3);
const { statistics } = prepareMarkers(cohort, { numBasis: 3 });
const random = createRandom(8);
const parameters: LinearParameters = {
  meanCoefficients: Float64Array.of(2, 2, 2, 60, 60, 60),
  noises: [levelNoise(0.2, 0.9), levelNoise(180, 0.6)],
  factor: Float64Array.from({ length: 36 }, (_, e) => (e < 18 ? 0.6 : 18) * random.normal()),
  rank: 6,
};
const one = (i: number): BasisStatistics[] => statistics.map((own) => selectStatistics(own, [i]));

describe("noise levels of several markers", () => {
  it("are summed over all combinations in the likelihood", () => {
    const [first, second] = parameters.noises.map(noiseLevels);
    const terms = Array.from(first.variances, (a, v) =>
      Array.from(second.variances, (b, u) => {
        const white = { ...parameters, noises: [whiteNoise(a), whiteNoise(b)] };
        return individualLogLikelihoods(statistics, white).map((l) => l + first.logWeights[v] + second.logWeights[u]);
      }),
    ).flat();
    const expected = Float64Array.from({ length: 9 }, (_, i) => logSumExp(terms.map((term) => term[i])));
    // Combinations that independent levels leave less than 1e-12 are left out, and with them some 1e-7.
    expect(relativeError(levelLogLikelihoods(statistics, parameters), expected)).toBeLessThan(1e-6);
    expect(individualLogLikelihoods(statistics, parameters)).toEqual(levelLogLikelihoods(statistics, parameters));
  });

  it("weigh values by E 1/λ given squares expected with these weights", () => {
    const weights = levelWeights(statistics, parameters);
    for (let i = 0; i < 9; i++) {
      const own = one(i);
      const noises = parameters.noises.map((noise, k) => whiteNoise(noiseLevel(noise) / weights[k][i]));
      const at = effectPosterior(own, { ...parameters, noises });
      const found = effectPosterior(own, parameters);
      // Weights end within 1e-5 of their fixed point.
      expect(relativeError(found.mean, at.mean)).toBeLessThan(1e-4);
      expect(relativeError(found.covariance, at.covariance)).toBeLessThan(1e-4);
    }
    // Nobody measured: the weights of the prior.
    const { variances, logWeights } = noiseLevels(levelNoise(1, 0.6));
    const prior = variances.reduce((sum, s, v) => sum + Math.exp(logWeights[v]) / s, 0);
    expect(weights[1][0]).toBeCloseTo(prior, 10);
  });

  it("are refused in the likelihood of more than three markers", () => {
    const four = { ...parameters, noises: [...parameters.noises, ...parameters.noises] };
    expect(() => levelLogLikelihoods([...statistics, ...statistics], four)).toThrow(/at most 3 markers, received 4/);
  });
});

describe("fits of several markers with noise levels", () => {
  const many = simulated(150, 5);
  const options = { numBasis: 3, mapDimension: 2 } as const;
  const own = prepareMarkers(many, { ...options, noise: "level" }).statistics;
  const total = (each: Float64Array) => each.reduce((sum, v) => sum + v, 0);
  const { lmm, fpca } = fitLinear(many, { ...options, noise: "level" });

  it("learn the spread of each marker and are more likely than white noise and than markers one by one", () => {
    expect(lmm.markers.map(({ noise }) => noise.kind)).toEqual(["level", "level"]);
    expect(Math.abs(noiseSpread(lmm.markers[0].noise) - 0.9)).toBeLessThan(0.25);
    expect(Math.abs(noiseSpread(lmm.markers[1].noise) - 0.6)).toBeLessThan(0.25);
    const level = total(linearLogLikelihoods(lmm, own));
    expect(level).toBeGreaterThan(total(linearLogLikelihoods(fitLmm(many, options), own)) + 20);
    const singles = many.markers.map((_, k) => {
      const model = fitLmm(markerCohort(many, k), { ...options, noise: "level" });
      return total(linearLogLikelihoods(model, [own[k]]));
    });
    expect(level).toBeGreaterThan(singles[0] + singles[1] + 20);
    expect(lmm.record.verdict).toContain("Levels of noise of individuals were weighed");
  });

  it("place individuals near where white noise places them", () => {
    const white = fitFpca(many, { numBasis: 3, rank: 2 });
    const [a, b] = [fpca!, white].map((model) => linearPlaces(model, own).mean);
    // The first axis is that of the shared level.
    const first = (x: Float64Array) => x.filter((_, e) => e % 2 === 0);
    const product = first(a).reduce((sum, v, i) => sum + v * first(b)[i], 0);
    const norm = (x: Float64Array) => Math.sqrt(first(x).reduce((sum, v) => sum + v * v, 0));
    expect(Math.abs(product) / norm(a) / norm(b)).toBeGreaterThan(0.85);
  });
});
