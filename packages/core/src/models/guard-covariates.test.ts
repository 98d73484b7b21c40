/** Forecasts of people who differ in a covariate of strong effect: with a guard they follow theirs, and a population holds them all. */
import { describe, expect, it } from "vitest";
import { makeCohort, onlyMarker } from "../cohort/cohort.ts";
import { codeCovariates } from "../covariates/code.ts";
import { withCovariates } from "../covariates/covariates.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { modelAt } from "./covariate-model.ts";
import { fitDtm } from "./fit-models.ts";
import { forecastGuard, guardFor } from "./forecast-guard.ts";
import { placeIndividual } from "./place.ts";
import { predictPopulation } from "./population.ts";
import { predict } from "./predict.ts";

const EFFECT = 60;
const { cohort: plain } = simulateCohort("pfvc", { numIndividuals: 100, seed: 3 });
const { offsets, times, values } = onlyMarker(plain);
const isB = (i: number) => i % 4 === 0;
const ids = plain.ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id));
const moved = values.map((v, j) => v + (isB(plain.ids.indexOf(ids[j])) ? EFFECT : 0));
const cohort = makeCohort({ ids, times, values: moved }, onlyMarker(plain).marker);
const cells = plain.ids.map((_, i) => (isB(i) ? "b" : "a"));
const table = { ids: plain.ids, columns: [{ name: "kind", cells }] };
const nobody = { times: [], values: [] };

describe.each(["level", "places"] as const)("a guard of a map with a covariate that changes %s", (effect) => {
  const covariates = codeCovariates(table as never, cohort.ids, { covariates: [{ name: "kind" }], effect });
  const described = withCovariates(cohort, covariates);
  const model = fitDtm(described, { restarts: 0, noise: "white" });
  const guard = forecastGuard(model, described);
  const rowOf = (i: number) => covariates.values.slice(i, i + 1);
  const forecast = (i: number, at: number[], followUp = guard.followUp) => {
    const own = modelAt(model, rowOf(i));
    const someone = placeIndividual(own, nobody);
    return predict(own, someone, at, { guard: guardFor({ ...guard, followUp }, nobody, rowOf(i)) });
  };

  it("has the covariate in the mean of its mixed model, which forecasts follow", () => {
    expect(guard.mixedModel.effects?.form).toBe(effect === "level" ? "level" : "level-and-rate");
    // Nobody is left to support the map: everything is the mixed model's.
    const followUp = { ...guard.followUp, lastTimes: guard.followUp.lastTimes.map(() => 0) };
    const [b, a] = [0, 1].map((i) => forecast(i, [1, 4], followUp));
    expect(b.modelWeight).toEqual(Float64Array.of(0, 0));
    for (const t of [0, 1]) expect(Math.abs(b.median[t] - a.median[t] - EFFECT)).toBeLessThan(15);
  });

  it("refuses to guard somebody whose covariates are not given", () => {
    expect(() => guardFor(guard, nobody)).toThrow(/Expected the covariates kind, received none/);
  });

  it("averages a population over the covariates of the cohort", () => {
    const at = [1, 3];
    const found = predictPopulation(model, described, at, { guard, level: 0.9 });
    const [b, a] = [0, 1].map((i) => forecast(i, at));
    for (const t of [0, 1]) {
      expect(found.mean[t]).toBeCloseTo(0.25 * b.mean[t] + 0.75 * a.mean[t], 6);
      const within = 0.25 * b.sd[t] ** 2 + 0.75 * a.sd[t] ** 2;
      const between = 0.25 * 0.75 * (b.mean[t] - a.mean[t]) ** 2;
      expect(found.sd[t] ** 2).toBeCloseTo(within + between, 4);
      expect(found.support![t]).toBeCloseTo(0.25 * b.support![t] + 0.75 * a.support![t], 9);
    }
    expect(found.upper[0]).toBeGreaterThan(a.upper[0]);
    expect(() => predictPopulation(model, plain, at)).toThrow(/Expected the covariates kind/);
  });
});
