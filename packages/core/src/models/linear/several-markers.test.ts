import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { designMatrix } from "../../basis/bspline.ts";
import { type BasisStatistics, basisStatistics, unmeasured } from "../../basis/statistics.ts";
import { type Cohort, makeCohort } from "../../cohort/cohort.ts";
import { combineMarkers, markerCohort } from "../../cohort/several-markers.ts";
import { levelNoise, noiseLevel, whiteNoise } from "../../noise/noise.ts";
import { cholesky, logDetFromCholesky, solveLowerInPlace } from "../../numeric/cholesky.ts";
import { dot, multiply, multiplyTransposed } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { prepareMarkers } from "../choose-noise.ts";
import { fitFpca, fitLinear, fitLmm } from "../linear-models.ts";
import { factorCovariance } from "./canonical.ts";
import { linearProblem, maximizeCovariance, maximizeLoadings, runEm } from "./em.ts";
import { scoreOf } from "./expectation.ts";
import { covarianceGradient, individualLogLikelihoods, logLikelihood } from "./likelihood.ts";
import { fitLmmStatistics, publishedStart } from "./lmm.ts";
import { createExpectationStep } from "./passes.ts";
import { logPrior, withPrior } from "./prior.ts";
import { linearLogLikelihoods, linearParameters, linearPlaces, scoreCourse } from "./scores.ts";
import { type LinearParameters, splitRows } from "./stack.ts";
import { standardProblem } from "./standardize.ts";
import { fitLinearModels, markerStarts } from "./start.ts";

/** Two markers whose levels go together, the second 40 times as large; a third of individuals lack it. */
function twoMarkers(numIndividuals = 40, seed = 3): Cohort {
  const random = createRandom(seed);
  const rows = [0, 1].map(() => ({ ids: [] as string[], times: [] as number[], values: [] as number[] }));
  for (let i = 0; i < numIndividuals; i++) {
    const x = random.normal();
    rows.forEach(({ ids, times, values }, k) => {
      const own = random.normal();
      const n = k === 1 && i % 3 === 0 ? 0 : 2 + random.integer(5);
      for (let j = 0; j < n; j++) {
        const t = 10 * random.uniform();
        ids.push(`P${100 + i}`);
        times.push(t);
        values.push((k === 0 ? 1 : 40) * (3 + x + own * (t / 10) + 0.4 * random.normal()));
      }
    });
  }
  return combineMarkers(rows.map((columns, k) => makeCohort(columns, { name: `marker ${k}` })));
}

const cohort = twoMarkers();
const { statistics } = prepareMarkers(cohort, { numBasis: 4, degree: 2 });
const D = 8;
const total = (each: Float64Array) => each.reduce((sum, v) => sum + v, 0);

function parametersOf(rank: number, seed = 1): LinearParameters {
  const random = createRandom(seed);
  const unit = (k: number) => (k < 4 ? 1 : 40);
  return {
    meanCoefficients: Float64Array.from({ length: D }, (_, k) => unit(k) * (3 + 0.2 * random.normal())),
    noises: [whiteNoise(0.2), whiteNoise(300)],
    factor: Float64Array.from({ length: D * rank }, (_, e) => 0.7 * unit(Math.floor(e / rank)) * random.normal()),
    rank,
  };
}

/** log p(y_i) by the covariance of all values of one individual. */
function denseLogDensity(i: number, { factor, rank, meanCoefficients, noises }: LinearParameters): number {
  const means = splitRows(statistics, meanCoefficients);
  const factors = splitRows(statistics, factor);
  const parts = cohort.markers.map(({ offsets, times, values }, k) => {
    const B = designMatrix(statistics[k].basis, times.slice(offsets[i], offsets[i + 1]));
    const n = B.length / 4;
    const fitted = multiply(B, means[k], n, 4, 1);
    return {
      BL: Array.from(multiply(B, factors[k], n, 4, rank)),
      residual: Array.from(values.slice(offsets[i], offsets[i + 1]), (y, j) => y - fitted[j]),
      noise: new Array<number>(n).fill(noiseLevel(noises[k])),
    };
  });
  const BL = Float64Array.from(parts.flatMap((part) => part.BL));
  const residual = Float64Array.from(parts.flatMap(({ residual: own }) => own));
  const noise = parts.flatMap((part) => part.noise);
  const n = residual.length;
  const V = multiplyTransposed(BL, BL, n, rank, n);
  for (let j = 0; j < n; j++) V[j * n + j] += noise[j];
  const C = cholesky(V, n);
  solveLowerInPlace(C, n, residual);
  return -0.5 * (n * Math.log(2 * Math.PI) + logDetFromCholesky(C, n) + dot(residual, residual));
}

describe.each([8, 2])("the likelihood of two markers under a model of rank %i", (rank) => {
  const p = parametersOf(rank);

  it("is the density of all values with their full covariance", () => {
    const each = individualLogLikelihoods(statistics, p);
    expect(
      relativeError(
        each,
        Float64Array.from(each, (_, i) => denseLogDensity(i, p)),
      ),
    ).toBeLessThan(1e-11);
  });

  it.each(["wasm", "typescript"] as const)("has the gradient of central differences (%s)", (kernels) => {
    const x = Float64Array.from([...p.meanCoefficients, ...p.noises.map((n) => Math.log(noiseLevel(n))), ...p.factor]);
    const at = (y: Float64Array): LinearParameters => ({
      meanCoefficients: y.slice(0, D),
      noises: Array.from(y.slice(D, D + 2), (level) => whiteNoise(Math.exp(level))),
      factor: y.slice(D + 2),
      rank,
    });
    const expected = createExpectationStep(statistics, { kernels })(p);
    expect(expected.logLikelihood).toBeCloseTo(logLikelihood(statistics, p), 8);
    const score = scoreOf(expected, p, statistics);
    const gradient = Float64Array.from([...score.meanCoefficients, ...score.logNoiseLevels, ...score.factor]);
    expectGradient((y) => logLikelihood(statistics, at(y)), x, gradient);
  });

  it("has the derivative by Σ: variance added along u gains u'Du", () => {
    const gradient = covarianceGradient(statistics, p);
    const u = Float64Array.from({ length: D }, (_, k) => (k < 4 ? 1 : 30) * Math.cos(k));
    const epsilon = 1e-6;
    const factor = new Float64Array(D * (rank + 1));
    for (let k = 0; k < D; k++) {
      factor.set(p.factor.subarray(k * rank, (k + 1) * rank), k * (rank + 1));
      factor[k * (rank + 1) + rank] = Math.sqrt(epsilon) * u[k];
    }
    const gain = logLikelihood(statistics, { ...p, factor, rank: rank + 1 }) - logLikelihood(statistics, p);
    expect(gain / epsilon / dot(u, multiply(gradient, u, D, D, 1))).toBeCloseTo(1, 3);
  });

  it("is raised by every EM step, with priors too", () => {
    for (const priors of ["none", "weak"] as const) {
      const problem = standardProblem(statistics, "spline", {}, priors);
      const maximize = rank === D ? maximizeCovariance : maximizeLoadings;
      const first = publishedStart(problem);
      const factor = first.factor.filter((_, e) => e % D < rank);
      const options = { maxEmIterations: 60, emTolerance: 0 };
      const { parameters, trace } = runEm(problem, { ...first, factor, rank }, maximize, options); // throws if it falls
      expect(trace.at(-1)!).toBeGreaterThan(trace[0] + 10);
      const h = 1e-5;
      const score = scoreOf(problem.expect(parameters), parameters, problem.statistics);
      const slope = withPrior(problem.prior, parameters, score).logNoiseLevels[1];
      const at = (by: number) => {
        const [one, two] = parameters.noises;
        const moved = { ...parameters, noises: [one, whiteNoise(noiseLevel(two) * Math.exp(by))] };
        return logLikelihood(problem.statistics, moved) + logPrior(problem.prior, moved);
      };
      expect(Math.abs(slope - (at(h) - at(-h)) / (2 * h))).toBeLessThan(1e-4);
    }
  });
});

describe("markers together", () => {
  const p = parametersOf(D);
  const one = (k: number): LinearParameters => ({
    meanCoefficients: splitRows(statistics, p.meanCoefficients)[k],
    noises: [p.noises[k]],
    factor: splitRows(statistics, p.factor)[k],
    rank: D,
  });

  it("have the likelihood of one where the other was not measured", () => {
    const [first, second] = statistics;
    expect(
      relativeError(
        individualLogLikelihoods([first, unmeasured(second)], p),
        individualLogLikelihoods([first], one(0)),
      ),
    ).toBeLessThan(1e-11);
    expect(
      relativeError(
        individualLogLikelihoods([unmeasured(first), second], p),
        individualLogLikelihoods([second], one(1)),
      ),
    ).toBeLessThan(1e-11);
  });

  it("have the sum of likelihoods where they are independent", () => {
    const factor = p.factor.map((l, e) => (Math.floor(e / D) < 4 === e % D < 4 ? l : 0));
    const sum = [0, 1].map((k) =>
      logLikelihood([statistics[k]], { ...one(k), factor: splitRows(statistics, factor)[k] }),
    );
    expect(relativeError([logLikelihood(statistics, { ...p, factor })], [sum[0] + sum[1]])).toBeLessThan(1e-12);
  });

  it("refuse statistics of other individuals, and a stack of noise with levels", () => {
    const few = randomCohort({ numIndividuals: 4 }).statistics;
    expect(() => logLikelihood([statistics[0], few], p)).toThrow(/same individuals, received .* 40, 4 individuals/);
    expect(() => covarianceGradient(statistics, { ...p, noises: [p.noises[0], levelNoise(1, 0.5)] })).toThrow(
      /expected noise of one level, received white, level/,
    );
  });
});

describe.each(["none", "weak"] as const)("fitLmm of two markers, priors %s", (priors) => {
  const options = { priors, mean: "spline", numBasis: 4, tolerance: 1e-9 } as const;
  const model = fitLmm(cohort, options);
  const best = model.record.trace.at(-1)!;

  it("ends at a maximum, above the markers fitted one by one", () => {
    expect(model.record.converged).toBe(true);
    const single = [0, 1].map((k) => fitLmm(markerCohort(cohort, k), options));
    const alone = single.reduce((sum, { record }) => sum + record.trace.at(-1)!, 0);
    expect(best).toBeGreaterThan(alone + 1);
    if (priors === "none") {
      expect(total(linearLogLikelihoods(model, statistics))).toBeCloseTo(best, 6);
      const score = scoreOf(
        linearProblem(statistics, "spline").expect(linearParameters(model)),
        linearParameters(model),
        statistics,
      );
      for (const slope of score.logNoiseLevels) expect(Math.abs(slope)).toBeLessThan(1e-2);
    }
  });

  it("is the same in whatever order and unit the markers are given", () => {
    const [first, second] = cohort.markers;
    const scale = 0.013;
    const scaled = { ...second, values: second.values.map((v) => scale * v - 5) };
    const other = fitLmm({ ids: cohort.ids, markers: [scaled, first] }, options);
    const N = second.values.length;
    expect(other.record.trace.at(-1)! + N * Math.log(scale)).toBeCloseTo(best, 5);
    const places = linearPlaces(model, statistics).mean;
    const turned = linearPlaces(
      other,
      prepareMarkers({ ids: cohort.ids, markers: [scaled, first] }, options).statistics,
    ).mean;
    // Axes may be mirrored.
    const sign = (c: number) => Math.sign(places.reduce((sum, v, e) => sum + (e % 2 === c ? v * turned[e] : 0), 0));
    const signs = [sign(0), sign(1)];
    expect(
      relativeError(
        places,
        turned.map((v, e) => v * signs[e % 2]),
      ),
    ).toBeLessThan(2e-3);
  });

  it("has scores of unit variance, and the course of a place goes back to it", () => {
    const places = linearPlaces(model, statistics).mean;
    for (let c = 0; c < 2; c++) {
      expect(places.reduce((sum, v, e) => sum + (e % 2 === c ? v * v : 0), 0) / 40).toBeCloseTo(1, 9);
    }
    const x = Float64Array.of(0.7, -1.2);
    const w = scoreCourse(model, x).map((v, k) => v - model.scoreCenter[k]);
    const back = multiply(w, model.scoreLoadings, 1, D, 2);
    expect(relativeError(back, x)).toBeLessThan(1e-9);
  });
});

describe("linear models of two markers as a start", () => {
  it("give mean, noise and covariance of each marker", () => {
    const models = fitLinear(cohort, { numBasis: 4 });
    const Sigma = factorCovariance(models.lmm.covarianceFactor, D, D);
    markerStarts(models.lmm).forEach(({ covariance, mean, noise }, k) => {
      expect(noise).toEqual(models.lmm.markers[k].noise);
      expect(mean.coefficients).toHaveLength(4);
      const block = Float64Array.from(
        { length: 16 },
        (_, e) => Sigma[(4 * k + Math.floor(e / 4)) * D + 4 * k + (e % 4)],
      );
      expect(relativeError(covariance, block)).toBeLessThan(1e-12);
    });
    expect(models.lmm.record.options.numBasis).toEqual([4, 4]);
    // Of full rank both models are one.
    const full = fitFpca(cohort, { numBasis: 4, rank: D, lmm: models.lmm });
    expect(full.record.trace.at(-1)!).toBeCloseTo(models.lmm.record.trace.at(-1)!, 3);
    expect(models.fpca!.record.trace.at(-1)!).toBeLessThan(full.record.trace.at(-1)!);
  });

  it("are fitted marker by marker where they have more than 40 coefficients", () => {
    const bases = cohort.markers.map((_, k) => prepareMarkers(markerCohort(cohort, k), { numBasis: 15 }).statistics[0]);
    const many: BasisStatistics[] = [...bases, basisStatistics(markerCohort(cohort, 0), bases[0].basis)];
    expect(() => fitLmmStatistics(many)).toThrow(/at most 40 basis functions of all markers together, received 45/);
    const models = fitLinearModels(many, { mapDimension: 2, priors: "weak", maxEvaluations: 20 });
    expect(models.fpca).toBeUndefined();
    expect(models.leftOut.join()).toContain("at most 40 basis functions");
    expect(models.lmm.record.verdict).toContain("each marker has a mixed model of its own");
    const alone = fitLmmStatistics([many[1]], { priors: "weak", maxEvaluations: 20 });
    expect(markerStarts(models.lmm)[1].noise).toEqual(alone.markers[0].noise);
    expect(linearPlaces(models.lmm, many).mean.every(Number.isFinite)).toBe(true);
  });
});
