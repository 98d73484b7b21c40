import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../../test/expect-gradient.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { type Cohort, makeCohort, onlyMarker } from "../../cohort/cohort.ts";
import { drawNoise, levelNoise, noiseLevels, noiseSpread, whiteNoise } from "../../noise/noise.ts";
import { createRandom } from "../../numeric/random.ts";
import { logSumExp } from "../../numeric/special.ts";
import { markerModel } from "../fit.ts";
import { fitFpca, fitLmm } from "../linear-models.ts";
import { logLikelihoods } from "../mixture/conditioner.ts";
import { modelMixture } from "../model.ts";
import { modelStatistics } from "../new-individuals.ts";
import { embed, placeIndividual } from "../place.ts";
import { predict } from "../predict.ts";
import { loadModel, saveModel } from "../save.ts";
import { linearProblem, maximizeCovariance, maximizeLoadings, runEm } from "./em.ts";
import { scoreOf } from "./expectation.ts";
import { covarianceGradient, individualLogLikelihoods, logLikelihood } from "./likelihood.ts";
import { createExpectationStep } from "./passes.ts";
import { coefficientPosterior } from "./posterior.ts";

/** Lines with random level and slope, and noise whose level differs between individuals. */
function simulated(m: number, visits: number, spread: number, seed = 3): Cohort {
  const random = createRandom(seed);
  const ids: string[] = [];
  const [times, values]: number[][] = [[], []];
  for (let i = 0; i < m; i++) {
    const own = Float64Array.from({ length: visits }, () => 10 * random.uniform());
    const noise = drawNoise(levelNoise(1, spread), own, random);
    const [level, slope] = [20 + 4 * random.normal(), 0.6 * random.normal()];
    own.forEach((t, j) => {
      ids.push(String(i).padStart(4, "0"));
      times.push(t);
      values.push(level + slope * t + noise[j]);
    });
  }
  return makeCohort({ ids, times, values });
}

const cohort = simulated(60, 5, 0.9);
const statistics = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times, { numBasis: 4, degree: 2 }));
const d = 4;

function parameters(rank: number, spread = 0.8) {
  const random = createRandom(rank);
  const factor = Float64Array.from({ length: d * rank }, (_, e) =>
    e % rank <= Math.floor(e / rank) ? random.normal() : 0,
  );
  return { meanCoefficients: new Float64Array(d).fill(19), noises: [levelNoise(1.4, spread)], factor, rank };
}

describe("linear models whose individuals differ in their noise", () => {
  it("have likelihoods that sum those of white noise over the levels", () => {
    const p = parameters(4);
    const { variances, logWeights } = noiseLevels(p.noises[0]);
    const levels = Array.from(variances, (s) =>
      individualLogLikelihoods([statistics], { ...p, noises: [whiteNoise(s)] }),
    );
    const expected = individualLogLikelihoods([statistics], p).map((_, i) =>
      logSumExp(levels.map((own, k) => own[i] + logWeights[k])),
    );
    expect(relativeError(individualLogLikelihoods([statistics], p), expected)).toBeLessThan(1e-11);
  });

  it.each([4, 2])("have scores that differences confirm, log ω among them: rank %i", (rank) => {
    const p = parameters(rank);
    const at = (x: Float64Array) => ({
      ...p,
      meanCoefficients: x.slice(0, d),
      noises: [levelNoise(Math.exp(x[d]), Math.exp(x[d + 1]))],
      factor: x.slice(d + 2),
    });
    const x = Float64Array.from([...p.meanCoefficients, Math.log(1.4), Math.log(0.8), ...p.factor]);
    const expected = createExpectationStep([statistics], { kernels: "typescript" })(p);
    const score = scoreOf(expected, p, [statistics]);
    const gradient = [...score.meanCoefficients, ...score.logNoiseLevels, score.logSpread, ...score.factor];
    expectGradient((y) => logLikelihood([statistics], at(y)), x, Float64Array.from(gradient));
  });

  it("have the derivative by Σ that differences confirm", () => {
    const p = parameters(4);
    const D = covarianceGradient([statistics], p);
    const h = 1e-5;
    // Σ + h LL' has the root √(1 + h) L.
    const at = (by: number) =>
      logLikelihood([statistics], { ...p, factor: p.factor.map((v) => Math.sqrt(1 + by) * v) });
    let along = 0;
    for (let e = 0; e < d * d; e++) {
      for (let c = 0; c < d; c++) along += D[e] * p.factor[Math.floor(e / d) * d + c] * p.factor[(e % d) * d + c];
    }
    expect(along / ((at(h) - at(-h)) / (2 * h))).toBeCloseTo(1, 6);
  });

  it.each([
    ["mixed model", maximizeCovariance, 4],
    ["reduced rank", maximizeLoadings, 2],
  ] as const)("never lose likelihood in an EM step: %s", (_, maximize, rank) => {
    const { trace } = runEm(linearProblem([statistics], "scalar"), parameters(rank), maximize, {
      maxEmIterations: 30,
      emTolerance: 0,
    });
    for (let k = 1; k < trace.length; k++) expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1]);
  });

  it("have posteriors of coefficients with the moments of the mixture over levels", () => {
    const model = fitLmm(cohort, { noise: "level", numBasis: 4 });
    const [own] = modelStatistics(model, cohort);
    const mixture = modelMixture(model);
    const p = { ...parameters(4), noises: [markerModel(model).noise], factor: model.covarianceFactor };
    const posterior = coefficientPosterior([own], { ...p, meanCoefficients: markerModel(model).mean.coefficients });
    const { coefficients, logLikelihood: each } = embed(model, cohort);
    expect(relativeError(posterior.mean, coefficients)).toBeLessThan(1e-4);
    expect(relativeError(each, logLikelihoods(mixture, own))).toBeLessThan(1e-9);
  });

  it("learn ω, and find white noise where there is nothing to learn", () => {
    const many = simulated(250, 8, 0.9, 7);
    const [white, level] = (["white", "level"] as const).map((noise) => fitLmm(many, { noise }));
    expect(Math.abs(noiseSpread(markerModel(level).noise) - 0.9)).toBeLessThan(0.2);
    const gain = (of: typeof white) => embed(of, many).logLikelihood.reduce((sum, v) => sum + v, 0);
    expect(gain(level) - gain(white)).toBeGreaterThan(50);
    const same = fitLmm(simulated(120, 6, 0), { noise: "level" });
    expect(noiseSpread(markerModel(same).noise)).toBeLessThan(0.35);
  });

  it("fit components of lower rank from the mixed model", () => {
    const lmm = fitLmm(cohort, { noise: "level" });
    const fpca = fitFpca(cohort, { noise: "level", lmm, rank: 2 });
    expect(noiseSpread(markerModel(fpca).noise)).toBeGreaterThan(0.4);
  });

  it("forecast with heavier tails after one visit than after many, and are saved and loaded", () => {
    const model = fitLmm(cohort, { noise: "level" });
    const again = loadModel(saveModel(model));
    expect(markerModel(again).noise).toEqual(markerModel(model).noise);
    const steady = Array.from({ length: 12 }, (_, j) => 20 + 0.05 * (j % 2));
    const wild = Array.from({ length: 12 }, (_, j) => 20 + 8 * (j % 2));
    const times = steady.map((_, j) => 0.8 * j);
    const width = (values: readonly number[]) => {
      const { lower, upper } = predict(again, placeIndividual(again, { times, values }), [5]);
      return upper[0] - lower[0];
    };
    expect(width(wild)).toBeGreaterThan(4 * width(steady));
  });
});
