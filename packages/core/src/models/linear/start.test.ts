import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { DtmError, type ErrorCode } from "../../errors.ts";
import type { FitProgress } from "../fit.ts";
import { markerModel } from "../fit.ts";
import { factorCovariance } from "./canonical.ts";
import { fitFpcaStatistics } from "./fpca.ts";
import { logLikelihood } from "./likelihood.ts";
import { fitLmmStatistics } from "./lmm.ts";
import { effectPosterior } from "./posterior.ts";
import { fitLinearModels, linearStart, mapStart } from "./start.ts";

const { statistics } = randomCohort({ seed: 61, numIndividuals: 120, rank: 3 });
const m = statistics.numIndividuals;

describe.each(["scalar", "spline"] as const)("linearStart with a %s mean", (mean) => {
  it("is within 0.1 of the mixed model's maximum and has its covariance", () => {
    const start = linearStart([statistics], { mapDimension: 2, mean });
    const lmm = fitLmmStatistics([statistics], { mean });
    const factor = lmm.covarianceFactor;
    const best = lmm.record.trace.at(-1)!;
    const shared = { meanCoefficients: start.markers[0].mean.coefficients, noises: [start.markers[0].noise] };
    expect(logLikelihood([statistics], { ...shared, factor, rank: 5 })).toBeGreaterThan(best - 0.1);
    expect(relativeError(start.markers[0].covariance, factorCovariance(factor, 5, 5))).toBeLessThan(0.05);
    expect(start.markers[0].mean.kind).toBe(mean);
  });

  it("gives the posterior of places under the reduced-rank model, in canonical orientation", () => {
    const start = linearStart([statistics], { mapDimension: 2, mean, tolerance: 1e-9 });
    const fpca = fitFpcaStatistics([statistics], { rank: 2, mean, tolerance: 1e-9 });
    const { mean: x, covariance } = effectPosterior([statistics], {
      meanCoefficients: markerModel(fpca).mean.coefficients,
      noises: [markerModel(fpca).noise],
      factor: fpca.loadings,
      rank: 2,
    });
    expect(relativeError(start.locationMean, x)).toBeLessThan(1e-3);
    expect(relativeError(start.locationCovariance, covariance)).toBeLessThan(1e-3);
  });

  it("gives scores of unit variance", () => {
    const { scores } = linearStart([statistics], { mapDimension: 3, mean });
    for (let c = 0; c < 3; c++) {
      let s = 0;
      for (let i = 0; i < m; i++) s += scores![i * 3 + c] ** 2 / m;
      expect(s).toBeCloseTo(1, 9);
    }
  });
});

describe("fitLinearModels", () => {
  const failing = (code: ErrorCode) => {
    const onProgress = ({ stage }: FitProgress) => {
      if (stage === "functional principal components") throw new DtmError(code, "It fell.");
    };
    return fitLinearModels([statistics], { mapDimension: 2, onProgress });
  };

  it("leaves out scores that are not asked for, and nothing else", () => {
    const models = fitLinearModels([statistics], { mapDimension: 2 });
    const { scores, ...start } = mapStart([statistics], models);
    expect(scores?.length).toBe(2 * statistics.numIndividuals);
    expect(mapStart([statistics], models, undefined, false)).toEqual({ ...start, scores: null });
  });

  it("leaves out components that cannot be fitted; a map then starts from the scores of the mixed model", () => {
    const models = failing("not-monotone");
    expect(models.fpca).toBeUndefined();
    expect(models.leftOut).toEqual(["Functional principal components could not be fitted and are left out: It fell."]);
    const start = mapStart([statistics], models);
    expect(start.locationMean).toEqual(start.scores);
    expect(start.warnings).toEqual(models.leftOut);
    expect(fitLinearModels([statistics], { mapDimension: 2 }).leftOut).toEqual([]);
  });

  it("is cancelled as a whole", () => {
    expect(() => failing("cancelled")).toThrow("It fell.");
  });
});

describe("linearStart", () => {
  it("is the same on every call, and reports both models", () => {
    const stages = new Set<string>();
    const onProgress = (p: FitProgress) => stages.add(p.stage);
    const first = linearStart([statistics], { mapDimension: 2, onProgress });
    expect(linearStart([statistics], { mapDimension: 2 })).toEqual(first);
    expect([...stages].at(0)).toBe("linear mixed model");
    expect([...stages].at(-1)).toBe("functional principal components");
  });

  it("can be the published one, by EM alone", () => {
    const published = linearStart([statistics], { mapDimension: 2, algorithm: "em" });
    const quick = linearStart([statistics], { mapDimension: 2 });
    expect(relativeError(published.markers[0].covariance, quick.markers[0].covariance)).toBeLessThan(0.1);
    expect(relativeError(published.locationMean, quick.locationMean)).toBeLessThan(0.05);
    expect(relativeError([published.markers[0].noise.variance], [quick.markers[0].noise.variance])).toBeLessThan(0.05);
    expect(published.markers[0].covariance).not.toEqual(quick.markers[0].covariance);
  });

  it("refuses more dimensions than basis functions", () => {
    expect(() => linearStart([statistics], { mapDimension: 6 })).toThrow(/mapDimension from 1 to 5/);
  });
});

describe("linearStart of a sample", () => {
  it("is near the start of everybody, places everybody and repeats itself", () => {
    const large = randomCohort({ seed: 62, numIndividuals: 1500, rank: 3 }).statistics;
    const all = linearStart([large], { mapDimension: 2 });
    const some = linearStart([large], { mapDimension: 2, sampleSize: 700 });
    expect(some.locationMean).toHaveLength(2 * 1500);
    expect(some.locationCovariance).toHaveLength(4 * 1500);
    // Half the individuals: parameters within their standard errors, a few percent.
    expect(relativeError([some.markers[0].noise.variance], [all.markers[0].noise.variance])).toBeLessThan(0.1);
    expect(relativeError(some.markers[0].covariance, all.markers[0].covariance)).toBeLessThan(0.25);
    expect(linearStart([large], { mapDimension: 2, sampleSize: 700 })).toEqual(some);
    expect(linearStart([large], { mapDimension: 2, sampleSize: 1500 })).toEqual(all);
  });
});
