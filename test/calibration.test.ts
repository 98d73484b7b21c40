/**
 * A small calibration (the large one is docs/calibration.md): coverage and rejection rates of a few cells lie in binomial bounds. What
 * bounds are worth is shown by faults put in on purpose: bands and regions a fifth too narrow and tests with 10% errors lie outside.
 */
import { describe, expect, it } from "vitest";
import { testKernel } from "../packages/core/src/associate/place-features.ts";
import { posteriorFeatures } from "../packages/core/src/associate/posterior-features.ts";
import { approximateP, scoreOf } from "../packages/core/src/associate/score-test.ts";
import { type Forecaster, modelForecaster } from "../packages/core/src/evaluate/forecast.ts";
import { fitDtm, simulateCohort } from "../packages/core/src/index.ts";
import type { PlacePosterior } from "../packages/core/src/models/mixture/posterior.ts";
import { takeRows } from "../packages/core/src/numeric/matrix.ts";
import { createRandom, type Random } from "../packages/core/src/numeric/random.ts";
import { fitCox } from "../packages/core/src/survival/cox.ts";
import { logRank } from "../packages/core/src/survival/log-rank.ts";
import { testProportionalHazards } from "../packages/core/src/survival/proportional-hazards.ts";
import { drawFamily } from "../studies/shared/families.ts";
import { countForecasts, countRegions, type Inside, LEVELS, shareInside } from "../studies/shared/inside.ts";

/** A smaller map than the default. */
const law = fitDtm(simulateCohort("pfvc", { seed: 3, numIndividuals: 150 }).cohort, {
  ...{ nodes: { step: 0.25 }, inducing: { perDimension: 4 }, restarts: 0, noise: "white", seed: 3 },
});
/** Once in about 16,000 draws is a share so many standard errors away by chance. */
const REACH = 4;
/** Width of bands and regions with the fault, by what it should be. */
const NARROWER = 0.8;

/** Levels whose share of all classes together is further from them than chance lets expect. */
const offLevels = (classes: readonly Inside[]) =>
  LEVELS.filter((level, a) => {
    const { percent, error } = shareInside([classes[classes.length - 1]], a);
    return Math.abs(percent - 100 * level) > REACH * error;
  });

describe("coverage on data of the model", () => {
  const test = drawFamily(law, 200, [2, 14], 11);

  it("50 and 90% bands of next visits hold what they say; bands a fifth too narrow do not", () => {
    const narrow =
      (own: Forecaster): Forecaster =>
      (cohort, tasks) => {
        const forecast = own(cohort, tasks);
        return (task) => (observation) => {
          const { weights, means, sds } = forecast(task)(observation);
          const middle = weights.reduce((sum, w, k) => sum + w * means[k], 0);
          const nearer = means.map((v) => middle + NARROWER * (v - middle));
          return { weights, means: nearer, sds: sds.map((v) => NARROWER * v) };
        };
      };
    expect(offLevels(countForecasts(test, modelForecaster(law)))).toEqual([]);
    expect(offLevels(countForecasts(test, narrow(modelForecaster(law))))).toEqual([0.5, 0.9]);
  });

  it("50 and 90% regions hold the true place; regions a fifth too narrow do not", () => {
    const narrow = (posterior: PlacePosterior): PlacePosterior => {
      const sharper = posterior.weights.map((w) => w ** (1 / NARROWER ** 2));
      const total = sharper.reduce((sum, w) => sum + w, 0);
      return { ...posterior, weights: sharper.map((w) => w / total) };
    };
    const few = drawFamily(law, 300, [3, 3], 12);
    expect(offLevels(countRegions(law, few, true, 13))).toEqual([]);
    expect(offLevels(countRegions(law, few, true, 13, narrow))).toEqual([0.5, 0.9]);
  });
});

describe("tests where there is nothing", () => {
  const STUDIES = 1000;
  /** Tests whose share of p ≤ level is further from 5% than chance lets expect, for two levels: as it is, and with 10% errors. */
  function offTests(study: (random: Random) => Record<string, number>): string[][] {
    const found = Array.from({ length: STUDIES }, (_, k) => study(createRandom(1000 + k)));
    const reach = REACH * Math.sqrt(0.05 * 0.95 * STUDIES);
    return [0.05, 0.1].map((level) =>
      Object.keys(found[0]).filter(
        (name) => Math.abs(found.filter((p) => p[name] <= level).length - 0.05 * STUDIES) > reach,
      ),
    );
  }

  it("an outcome on whole posteriors, groups seen 2 and 8 times", () => {
    const pools = [2, 8].map((n) => {
      const { cohort } = drawFamily(law, 600, [n, n], 20 + n);
      return posteriorFeatures(law, cohort, [testKernel(2)])[0];
    });
    const F = pools[0].numFeatures;
    const labels = Uint8Array.from({ length: 80 }, (_, i) => (i < 40 ? 1 : 0));
    const study = (random: Random) => {
      const rows = pools.map(({ rows }) => takeRows(rows, F, random.permutation(600).subarray(0, 40)));
      return { outcome: approximateP(scoreOf(Float64Array.from([...rows[0], ...rows[1]]), labels)) };
    };
    expect(offTests(study)).toEqual([[], ["outcome"]]);
  });

  it("log-rank, Cox and proportional hazards, half of them followed for half of the time", () => {
    const n = 120;
    const study = (random: Random) => {
      const X = Float64Array.from({ length: 2 * n }, () => random.normal());
      const ends = Float64Array.from({ length: n }, (_, i) => (i % 2 === 0 ? 1 : 2));
      const times = ends.map((end) => Math.min(end, -Math.log(1 - random.uniform())));
      const followUp = { times, events: times.map((t, i) => (t < ends[i] ? 1 : 0)) };
      const groups = Int32Array.from({ length: n }, (_, i) => (X[2 * i] < 0 ? 0 : 1));
      const [{ global }] = testProportionalHazards(followUp, X, 2, { transforms: ["km"] }).tests;
      return {
        groups: logRank(followUp, groups, 2).pValue,
        places: fitCox(followUp, X, 2).likelihoodRatio.pValue,
        proportional: global.pValue,
      };
    };
    expect(offTests(study)).toEqual([[], ["groups", "places", "proportional"]]);
  });
});
