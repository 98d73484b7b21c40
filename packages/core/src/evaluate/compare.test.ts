import { describe, expect, it } from "vitest";
import { codeCovariates } from "../covariates/code.ts";
import { withCovariates } from "../covariates/covariates.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { compareModels } from "./compare.ts";
import { type ComparedModel, defaultModels } from "./compared-models.ts";
import type { ForecastScores } from "./forecast.ts";
import { type FoldResult, summarizeFolds } from "./summarize-folds.ts";
import { verdictOf } from "./verdict.ts";

const random = createRandom(3);
const SCORES = Array.from({ length: 40 }, () => random.normal());

/** Forecasts of two visits of each individual; CRPS lower by `gain`. */
function forecasts(size: number, gain: number, normal: () => number, pit: (k: number) => number): ForecastScores {
  const column = (value: (k: number) => number) => Float64Array.from({ length: 2 * size }, (_, k) => value(k));
  return {
    individual: Int32Array.from(column((k) => k >> 1)),
    known: Int32Array.from(column((k) => 1 + (k % 2))),
    times: column((k) => 1 + (k % 2)),
    horizon: column((k) => 1 + 0.01 * k),
    logDensity: column(() => -1),
    crps: column(() => 1 - gain + 0.01 * normal()),
    pit: column(pit),
    absoluteError: column(() => 1),
  };
}

/**
 * Scores of 40 individuals in five folds of one repeat, `gain` above the standard normal ones; their forecasts gain by
 * `crpsGain`.
 */
function folds(model: ComparedModel, repeat: number, gain: number, seed: number, crpsGain = gain, lastPit = 0.5) {
  const noise = createRandom(seed);
  return Array.from({ length: 5 }, (_, f): FoldResult => {
    const members = SCORES.map((_, i) => i).filter((i) => (i + repeat) % 5 === f);
    const scores = () =>
      forecasts(
        members.length,
        crpsGain,
        () => noise.normal(),
        (k) => (k % 2 === 0 ? 0.5 : lastPit),
      );
    return {
      model,
      fold: 5 * repeat + f,
      ids: members.map((i) => `p${i}`),
      visits: new Int32Array(members.length).fill(3),
      logLikelihood: Float64Array.from(members, (i) => SCORES[i] + gain + 0.1 * noise.normal()),
      numObservations: 3 * members.length,
      later: scores(),
      next: scores(),
    };
  });
}

function compareWith(gain: number, repeats: number) {
  const results = Array.from({ length: repeats }, (_, r) => [
    ...folds("lmm", r, 0, 1),
    ...folds("dtm", r, gain, 2),
  ]).flat();
  return summarizeFolds(results, { models: ["lmm", "dtm"], folds: 5, repeats });
}

describe("summarizeFolds", () => {
  it("does not take an individual scored again for another one: intervals do not shrink with repeats", () => {
    const [one, four] = [compareWith(0.2, 1).differences[0], compareWith(0.2, 4).differences[0]];
    expect(four.se / one.se).toBeGreaterThan(0.45);
    const [first, pooled] = [compareWith(0.2, 1).models[0], compareWith(0.2, 4).models[0]];
    expect(pooled.subjectLogLik.se / pooled.subjectLogLik.sd).toBeCloseTo(1 / Math.sqrt(5), 10);
    expect(first.subjectLogLik.se / first.subjectLogLik.sd).toBeCloseTo(1 / Math.sqrt(5), 10);
  });

  it("says who predicts better with an interval of that sign", () => {
    expect(compareWith(0.5, 1).verdict).toMatch(
      /^The map \(dtm\) predicts new individuals better .* CI 0\.\d+ to 0\.\d+\)/,
    );
    expect(compareWith(-0.5, 1).verdict).toMatch(
      /^The linear mixed model predicts .* by 0\.\d+ .* CI 0\.\d+ to 0\.\d+\)/,
    );
  });

  const verdictWith = (gains: Partial<Record<ComparedModel, number>>) => {
    const models = Object.keys(gains) as ComparedModel[];
    const results = models.flatMap((model, k) => folds(model, 0, gains[model] ?? 0, 10 + k));
    return summarizeFolds(results, { models, folds: 5 }).verdict;
  };

  it("says where likelihood and forecasts part", () => {
    const parted = (gain: number, crpsGain: number) =>
      summarizeFolds([...folds("lmm", 0, 0, 1), ...folds("dtm", 0, gain, 2, crpsGain)], {
        models: ["lmm", "dtm"],
        folds: 5,
      }).verdict;
    expect(parted(0.5, 0)).toMatch(
      /^The map \(dtm\) has a higher likelihood than the linear mixed model for new individuals, but no gain in forecasts of their next visits is shown: log-likelihood higher by 0\.\d+ per individual .*, CRPS of the next visit (lower|higher) by/,
    );
    expect(parted(0.5, -0.2)).toMatch(
      / but worse forecasts .* CRPS .* higher by .*; for forecasts use the linear mixed model\.$/,
    );
    expect(parted(0, 0.2)).toMatch(
      /^The map \(dtm\) forecasts next visits of new individuals better than the linear mixed model, but no gain in likelihood is shown: log-likelihood (lower|higher) by/,
    );
    expect(parted(-0.5, -0.2)).toMatch(/^The linear mixed model predicts .* better than the map \(dtm\): use it/);
    expect(parted(0.5, 0.2)).toMatch(
      /predicts new individuals better .* CRPS of the next visit lower by 0\.\d+ \(95% CI 0\./,
    );
  });

  it("takes no wide interval for a fact, and names the score by which a model is worse", () => {
    const told = (likelihood: [number, number], crps: [number, number], model: ComparedModel = "dtm") => {
      const interval = ([lower, upper]: [number, number]) => ({ mean: (lower + upper) / 2, se: 1, lower, upper });
      const own = { model, reference: "lmm", ...interval(likelihood), nextCrps: interval(crps) } as const;
      const none = { model: "dtm", reference: "lmm", ...interval([1, 3]), nextCrps: interval([-3, -1]) } as const;
      return verdictOf(["lmm", "dtm", ...(model === "dtm" ? [] : [model])], "lmm", (of) => (of === model ? own : none));
    };
    expect(told([-11.89, 38.93], [-2, -1])).toBe(
      "The map (dtm) forecasts next visits of new individuals better than the linear mixed model, but no gain in likelihood is shown: log-likelihood higher by 13.52 per individual (95% CI −11.89 to 38.93), CRPS of the next visit lower by 1.5 (95% CI 1.0 to 2.0).",
    );
    expect(told([-2, -1], [-1, 1])).toMatch(
      /^The linear mixed model has a higher likelihood for new individuals than the map \(dtm\): use it/,
    );
    expect(told([-2, 1], [1, 2])).toMatch(
      /^The linear mixed model forecasts next visits of new individuals better than the map \(dtm\): use it/,
    );
    expect(told([-2, 1], [1, 2], "locf")).toMatch(
      /; the last value carried forward \(locf\), CRPS of the next visit higher by 1\.5 \(.*\), forecasts next visits worse than the map \(dtm\), but no loss in likelihood is shown\.$/,
    );
    expect(told([-2, -1], [-1, 2], "fpca")).toMatch(
      /; principal components \(fpca\), by 1\.50 .*, have a lower likelihood than the map \(dtm\), but no loss in forecasts is shown\.$/,
    );
  });

  it("gives ends of intervals as many digits as tell them from zero", () => {
    const told = (lower: number, upper: number, crps: [number, number]) => {
      const own = { model: "dtm", reference: "lmm", mean: (lower + upper) / 2, se: 1, lower, upper } as const;
      const nextCrps = { mean: (crps[0] + crps[1]) / 2, se: 1, lower: crps[0], upper: crps[1] };
      return verdictOf(["lmm", "dtm"], "lmm", () => ({ ...own, nextCrps }));
    };
    const text = told(0.004, 0.03, [-0.011, -0.0003]);
    expect(text).toContain("higher by 0.017 per individual (95% CI 0.004 to 0.030)");
    expect(text).toContain("lower by 0.0056 (95% CI 0.0003 to 0.0110)");
    expect(told(0, 0.03, [-1, 1])).toContain("(95% CI 0.00 to 0.03)");
  });

  it("names a carried value that forecasts better than the model to be used", () => {
    const results = [...folds("locf", 0, -1, 3, 0.4), ...folds("lmm", 0, 0, 1), ...folds("dtm", 0, 0.5, 2, 0.2)];
    expect(summarizeFolds(results, { models: ["locf", "lmm", "dtm"], folds: 5 }).verdict).toMatch(
      /; but the last value carried forward \(locf\), CRPS of the next visit lower by .*, forecasts next visits better\.$/,
    );
  });

  it("gives coverage by visits known and by horizon", () => {
    const [{ nextVisit, forecast }] = summarizeFolds(folds("lmm", 0, 0, 1, 0, 0.01), {
      models: ["lmm"],
      folds: 5,
    }).models;
    expect(nextVisit.byKnown.map(({ from, to, count, p90 }) => [from, to, count, p90])).toEqual([
      [1, 1, 40, 1],
      [2, 2, 40, 0],
    ]);
    expect(nextVisit.last).toEqual({ count: 40, below: 1, above: 0 });
    expect(forecast.byHorizon.map(({ count }) => count)).toEqual([20, 20, 20, 20]);
  });

  it("warns where last visits are missed to one side, and not otherwise", () => {
    const warned = (pit: number) =>
      summarizeFolds(folds("lmm", 0, 0, 1, 0, pit), { models: ["lmm"], folds: 5 }).warnings;
    expect(warned(0.5)).toEqual([]);
    expect(warned(0.01)[0].message).toMatch(/^Of 40 last visits 100% lie below and 0% above .* too high\.$/);
    expect(warned(0.99)[0].code).toBe("informative-dropout");
  });

  it("judges every model asked for against the one to be used, in one sentence", () => {
    expect(verdictWith({ line: -0.4, lmm: 0, fpca: 0.1, dtm: 0.5, classes: 0.5 })).toMatch(
      /^The map \(dtm\) predicts .* higher by 0\.5.*\); latent classes \(classes\), difference −?0\.0\d \(.*\), do as well as the map \(dtm\); straight lines \(line\) and principal components \(fpca\) do worse than the map \(dtm\) in likelihood and CRPS\.$/,
    );
    expect(verdictWith({ lmm: 0, dtm: 0.5, classes: 0.9 })).toMatch(
      /; but latent classes \(classes\), by 0\.[34].* per individual \(95% CI 0\..*\), do better still\.$/,
    );
    expect(verdictWith({ constant: -1, line: 0, lmm: 0, dtm: 0 })).toMatch(
      /^The linear mixed model suffices: the map \(dtm\) has a log-likelihood (?:higher|lower) by .*, which could be chance; straight lines \(line\), .* do as well as the linear mixed model; a constant level \(constant\) does worse than the linear mixed model in likelihood and CRPS\.$/,
    );
    // The sign is in the words: the interval is turned with them.
    const difference = { model: "dtm", reference: "lmm", mean: -0.41, se: 1.3, lower: -3.02, upper: 2.2 } as const;
    expect(verdictOf(["lmm", "dtm"], "lmm", () => ({ ...difference, nextCrps: null }))).toBe(
      "The linear mixed model suffices: the map (dtm) has a log-likelihood lower by 0.41 per individual (95% CI −2.20 to 3.02), which could be chance.",
    );
    expect(verdictWith({ line: 0, classes: 0.5 })).toMatch(
      /^Latent classes \(classes\) predict .* than straight lines/,
    );
    expect(verdictWith({ dtm: 0 })).toBe("Only dtm was scored: nothing to compare.");
  });
});

describe("a comparison of a cohort with covariates", () => {
  const { cohort: bare } = simulateCohort("pfvc", { numIndividuals: 30, seed: 6 });
  const cells = bare.ids.map((_, i) => String(i % 2));
  const table = { ids: bare.ids, lines: bare.ids.map((_, i) => i + 2), columns: [{ name: "arm", cells }] };
  const cohort = withCovariates(
    bare,
    codeCovariates(table, bare.ids, { covariates: [{ name: "arm", effect: "level" }] }),
  );

  it("has the map without them, the one of the cohort without covariates", () => {
    expect(defaultModels(cohort)).toContain("dtm-plain");
    expect(defaultModels(bare)).not.toContain("dtm-plain");
    const options = { folds: 2, mapDimension: 1, noise: "white" } as const;
    const [plain] = compareModels(cohort, { ...options, models: ["dtm-plain"] }).models;
    const [own] = compareModels(bare, { ...options, models: ["dtm"] }).models;
    expect({ ...plain, model: "dtm" }).toEqual(own);
  });
});
