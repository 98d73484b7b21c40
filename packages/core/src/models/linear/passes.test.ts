import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { scrambledHost } from "../../../../../test/shard-host.ts";
import { pooledGram, selectStatistics } from "../../basis/statistics.ts";
import { levelNoise, noiseLevel, whiteNoise } from "../../noise/noise.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import { fitFpca, fitLmm } from "../linear-models.ts";
import { embed } from "../place.ts";
import { expectationSums, unpackExpectation } from "./expectation.ts";
import { logLikelihood } from "./likelihood.ts";
import { allEffects, createExpectationStep, totalLogLikelihood } from "./passes.ts";
import { effectPosterior } from "./posterior.ts";
import { linearLogLikelihood, linearParameters, linearPlaces } from "./scores.ts";

const { cohort, statistics } = randomCohort({ numIndividuals: 5203, maxObservations: 6, seed: 4 });
const lmm = fitLmm(cohort, { maxEvaluations: 6 });
const parameters = linearParameters(lmm);
const [noise] = parameters.noises;

describe("passes of a linear fit in blocks", () => {
  it.each(["wasm", "typescript"] as const)("sum to those over everybody at once (%s)", (kernels) => {
    const found = createExpectationStep([statistics], { kernels })(parameters);
    const whole = unpackExpectation(
      statistics,
      5,
      expectationSums(statistics, { ...parameters, noise }),
      pooledGram(statistics),
    );
    for (const name of ["effects", "secondMoment", "firstMoment", "cross", "residual"] as const) {
      expect(relativeError(found[name], whole[name])).toBeLessThan(1e-10);
    }
    expect(
      relativeError([found.logLikelihood, ...found.sumSquares], [whole.logLikelihood, ...whole.sumSquares]),
    ).toBeLessThan(1e-12);
  });

  it("give the same bits wherever blocks are worked on", () => {
    const { record: _, ...here } = lmm;
    for (const numWorkers of [1, 3]) {
      const { record: __, ...there } = fitLmm(cohort, { maxEvaluations: 6, shards: scrambledHost(numWorkers) });
      expect(there).toEqual(here);
    }
    const shards = scrambledHost(2);
    expect(linearPlaces(lmm, [statistics], shards)).toEqual(linearPlaces(lmm, [statistics]));
    expect(allEffects([statistics], parameters, undefined, shards)).toEqual(effectPosterior([statistics], parameters));
    expect(linearLogLikelihood(lmm, [statistics], { shards })).toBe(linearLogLikelihood(lmm, [statistics]));
  });

  it("say that the noise is negligible, wherever it happens", () => {
    for (const kernels of ["wasm", "typescript"] as const) {
      const expectStep = createExpectationStep([statistics], { kernels, shards: scrambledHost(2) });
      expect(expectStep({ ...parameters, noises: [whiteNoise(0)] }).logLikelihood).toBeNaN();
    }
  });
});

describe("linearLogLikelihood", () => {
  it("is the sum of what embed finds", () => {
    const { statistics: few, cohort: small } = randomCohort({ numIndividuals: 60, seed: 8 });
    const { basis } = few;
    for (const model of [fitLmm(small, { basis }), fitFpca(small, { basis })]) {
      const sum = embed(model, small).logLikelihood.reduce((s, v) => s + v, 0);
      expect(relativeError([linearLogLikelihood(model, [few])], [sum])).toBeLessThan(1e-11);
    }
    expect(linearLogLikelihood(lmm, [statistics])).toBeCloseTo(logLikelihood([statistics], parameters), 6);
  });

  it("is that of the definition where noise has levels, and of several markers", () => {
    const few = selectStatistics(statistics, [0, 1, 7, 11, 12, 5000]);
    const leveled = { ...parameters, noises: [levelNoise(noiseLevel(noise), 0.5)] };
    const total = totalLogLikelihood([few], leveled);
    expect(relativeError([total], [logLikelihood([few], leveled)])).toBeLessThan(1e-11);
    const { meanCoefficients: mean, factor: L } = parameters;
    const factor = Float64Array.from({ length: 50 }, (_, e) => (e < 25 ? L[e] : -2 * L[e - 25]));
    const both = { meanCoefficients: joinFloats([mean, mean]), factor, rank: 5 };
    for (const noises of [
      [noise, whiteNoise(3 * noiseLevel(noise))],
      [noise, levelNoise(noiseLevel(noise), 0.5)],
    ]) {
      const markers = [few, few];
      const own = totalLogLikelihood(markers, { ...both, noises });
      expect(relativeError([own], [logLikelihood(markers, { ...both, noises })])).toBeLessThan(1e-11);
    }
  });
});

describe("fitFpca beside a linear mixed model", () => {
  it("ends where it ends alone", () => {
    const { cohort: small, statistics: few } = randomCohort({ numIndividuals: 150, seed: 2 });
    const { basis } = few;
    const mixed = fitLmm(small, { basis });
    const alone = fitFpca(small, { basis });
    const beside = fitFpca(small, { lmm: mixed, statistics: few });
    expect(linearLogLikelihood(beside, [few])).toBeCloseTo(linearLogLikelihood(alone, [few]), 4);
    expect(relativeError(beside.loadings, alone.loadings)).toBeLessThan(1e-3);
  });

  it("refuses statistics of another cohort, and a model of another basis", () => {
    const { cohort: small } = randomCohort({ numIndividuals: 40, seed: 2 });
    expect(() => fitLmm(small, { statistics })).toThrow(/40 individuals .* received those of 5203/);
    expect(() => fitFpca(small, { lmm: fitLmm(small, { numBasis: 4 }) })).toThrow(
      /start of rank 2, or 5 .* received 4/,
    );
  });
});
