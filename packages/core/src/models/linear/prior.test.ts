import { describe, expect, it } from "vitest";
import { bsplineBasis } from "../../basis/knots.ts";
import { varianceAboutLines } from "../../basis/noise-prior.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { type Cohort, makeCohort, onlyMarker, selectIndividuals } from "../../cohort/cohort.ts";
import { heldOutLogLikelihood } from "../../evaluate/held-out.ts";
import { noiseLevel, whiteNoise } from "../../noise/noise.ts";
import { createRandom } from "../../numeric/random.ts";
import { simulateCohort } from "../../simulate/cohorts.ts";
import { markerModel } from "../fit.ts";
import { fitLmm } from "../linear-models.ts";
import { linearProblem, maximizeCovariance, maximizeLoadings, runEm } from "./em.ts";
import { scoreOf } from "./expectation.ts";
import { logLikelihood } from "./likelihood.ts";
import { type LmmModel, lmmParameters } from "./lmm.ts";
import { expectPrior, logPrior, noPrior, weakPrior, withPrior } from "./prior.ts";
import type { LinearParameters } from "./stack.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 30, seed: 4 });
const statistics = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times));

function parametersOf(rank: number): LinearParameters {
  const random = createRandom(rank);
  const factor = Float64Array.from({ length: 5 * rank }, () => 6 * random.normal());
  return { meanCoefficients: new Float64Array(5).fill(78), noises: [whiteNoise(21)], factor, rank };
}

describe("varianceAboutLines", () => {
  it("is the residual variance of straight lines fitted to each individual with three values or more", () => {
    const { offsets, times, values } = onlyMarker(cohort);
    let squares = 0;
    let freedom = 0;
    for (let i = 0; i < offsets.length - 1; i++) {
      const n = offsets[i + 1] - offsets[i];
      if (n < 3) continue;
      const t = times.subarray(offsets[i], offsets[i + 1]);
      const y = values.subarray(offsets[i], offsets[i + 1]);
      const mean = (x: Float64Array) => x.reduce((sum, v) => sum + v, 0) / n;
      const [tm, ym] = [mean(t), mean(y)];
      const slope = t.reduce((s, v, j) => s + (v - tm) * (y[j] - ym), 0) / t.reduce((s, v) => s + (v - tm) ** 2, 0);
      squares += y.reduce((s, v, j) => s + (v - ym - slope * (t[j] - tm)) ** 2, 0);
      freedom += n - 2;
    }
    expect(varianceAboutLines(statistics) / (squares / freedom)).toBeCloseTo(1, 9);
  });

  it("does not depend on from when times count", () => {
    const { times, values } = onlyMarker(cohort);
    const ids = cohort.ids.flatMap((id, i) => Array<string>(statistics.counts[i]).fill(id));
    for (const since of [2e3, 1.5e9, -1e12]) {
      // On a grid of powers of two, so that visits stay as far apart as they were to the last digit.
      const moved = makeCohort({ ids, times: Array.from(times, (t) => Math.round(t * 1024) / 1024 + since), values });
      const near = makeCohort({ ids, times: Array.from(times, (t) => Math.round(t * 1024) / 1024), values });
      const [there, here] = [moved, near].map((own) =>
        varianceAboutLines(basisStatistics(own, bsplineBasis(onlyMarker(own).times))),
      );
      expect(there / here).toBeCloseTo(1, 9);
    }
  });

  it("is taken about own means where nobody has three values", () => {
    const pairs = makeCohort({ ids: ["a", "a", "b", "b"], times: [0, 1, 0, 2], values: [1, 3, 4, 4] });
    const basis = bsplineBasis([0, 1, 2], { numBasis: 2, degree: 1 });
    expect(varianceAboutLines(basisStatistics(pairs, basis))).toBeCloseTo(1, 12);
  });
});

describe.each([5, 2])("weak priors of a model of rank %i", (rank) => {
  const prior = weakPrior([statistics], [0]);
  const p = parametersOf(rank);

  it("are at most 0, and 0 where noise and covariance are those of the prior", () => {
    expect(logPrior(prior, p)).toBeLessThan(0);
    const { level } = prior.noises[0];
    const factor = Float64Array.from({ length: 25 }, (_, e) => (e % 6 === 0 ? Math.sqrt(level) : 0));
    expect(logPrior(prior, { ...p, noises: [whiteNoise(level)], factor, rank: 5 })).toBeCloseTo(0, 10);
    expect(logPrior(noPrior(1), p)).toBe(0);
  });

  it("have the slope that differences give", () => {
    const none = {
      meanCoefficients: new Float64Array(5),
      logNoiseLevels: new Float64Array(1),
      logSpread: 0,
      factor: new Float64Array(5 * rank),
    };
    const slope = withPrior(prior, p, none);
    const h = 1e-5;
    for (let e = 0; e < p.factor.length; e++) {
      const at = (by: number) => logPrior(prior, { ...p, factor: p.factor.map((v, k) => (k === e ? v + by : v)) });
      expect(slope.factor[e]).toBeCloseTo((at(h) - at(-h)) / (2 * h), 6);
    }
    const at = (by: number) => logPrior(prior, { ...p, noises: [whiteNoise(21 * Math.exp(by))] });
    expect(slope.logNoiseLevels[0]).toBeCloseTo((at(h) - at(-h)) / (2 * h), 6);
  });

  it("are raised by EM steps together with the likelihood, to where the slope is 0", () => {
    const problem = linearProblem([statistics], "scalar", {}, "weak");
    const step = rank === 5 ? maximizeCovariance : maximizeLoadings;
    const options = { maxEmIterations: 4000, emTolerance: 1e-13 };
    const { parameters, trace } = runEm(problem, p, step, options); // throws if it falls
    expect(trace.at(-1)).toBeCloseTo(logLikelihood([statistics], parameters) + logPrior(problem.prior, parameters), 8);
    const score = scoreOf(problem.expect(parameters), parameters, [statistics]);
    const slope = withPrior(problem.prior, parameters, score);
    expect(Math.abs(slope.logNoiseLevels[0])).toBeLessThan(1e-3);
    for (const g of slope.factor) expect(Math.abs(g)).toBeLessThan(2e-2);
  });

  it("have the effects of ỹ = Lv + e written out", () => {
    const { count, noise, total } = prior.covariance;
    const { effects, cross } = expectPrior(prior, p);
    // v | ỹ ~ N(Vỹ, I − VL): with ỹỹ' = tI on average, E vv' = I − VL + tVV'.
    let sum = 0;
    for (let a = 0; a < rank; a++) {
      for (let k = 0; k < 5; k++) sum += p.factor[k * rank + a] * (cross[a * 5 + k] / count / total);
    }
    const square = cross.reduce((s, v) => s + (v / count / total) ** 2, 0);
    const trace = Array.from({ length: rank }, (_, a) => effects[a * rank + a] / count).reduce((s, v) => s + v, 0);
    expect(trace).toBeCloseTo(rank - sum + total * square, 10);
    expect(noise).toBe(prior.noises[0].level);
  });
});

describe("fitLmm with weak priors", () => {
  const all = simulateCohort("pfvc", { numIndividuals: 400, seed: 2 }).cohort;
  const others = selectIndividuals(
    all,
    Array.from({ length: 100 }, (_, i) => 300 + i),
  );
  const first = (cohort: Cohort, n: number) =>
    selectIndividuals(
      cohort,
      Array.from({ length: n }, (_, i) => i),
    );

  it("gives sane scores to others from ten individuals, and says that it has priors", () => {
    const ten = selectIndividuals(
      all,
      Array.from({ length: 10 }, (_, i) => 200 + i),
    );
    const score = (model: LmmModel) => heldOutLogLikelihood(model, others).perIndividual;
    const small = fitLmm(ten);
    expect(score(small)).toBeGreaterThan(score(fitLmm(first(all, 300))) - 4);
    expect(score(small)).toBeGreaterThan(score(fitLmm(ten, { priors: "none" })) + 4);
    expect(small.record.verdict).toContain("With weak priors");
    expect(small.record.options.priors).toBe("weak");
  });

  it("is not felt in 300, and follows the unit of the values", () => {
    const cohort = first(all, 300);
    const weak = fitLmm(cohort);
    const none = fitLmm(cohort, { priors: "none" });
    expect(none.record.verdict).toContain("Maximum likelihood");
    const own = basisStatistics(cohort, markerModel(weak).basis);
    const lost = logLikelihood([own], lmmParameters(none)) - logLikelihood([own], lmmParameters(weak));
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThan(0.1);
    const { times, values, offsets } = onlyMarker(cohort);
    const ids = cohort.ids.flatMap((id, i) => Array<string>(offsets[i + 1] - offsets[i]).fill(id));
    const scaled = fitLmm(makeCohort({ ids, times, values: values.map((v) => 1000 * v) }));
    const ratio = noiseLevel(markerModel(scaled).noise) / noiseLevel(markerModel(weak).noise);
    expect(ratio / 1e6).toBeCloseTo(1, 4);
  });
});
