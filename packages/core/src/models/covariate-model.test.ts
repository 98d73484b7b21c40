import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { MAP_KERNEL } from "../associate/place-features.ts";
import { posteriorFeatures } from "../associate/posterior-features.ts";
import { selectIndividuals } from "../cohort/cohort.ts";
import { codeCovariates } from "../covariates/code.ts";
import { encodeFor, withCovariates } from "../covariates/covariates.ts";
import { forecastScores } from "../evaluate/forecast.ts";
import { heldOutLogLikelihood } from "../evaluate/held-out.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { modelFor } from "./covariate-model.ts";
import { fitDtm } from "./fit-models.ts";
import { embed, placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";
import { loadModel, saveModel } from "./save.ts";

const simulated = simulatePlaces({ numIndividuals: 150, seed: 5, covariates: "places" });
const { cohort } = simulated;
const names = simulated.subjects!.columns.slice(0, 2).map((column) => column.name);
const covariates = codeCovariates(simulated.subjects!, cohort.ids, {
  covariates: names.map((name) => ({ name })),
  effect: "places",
});
const described = withCovariates(cohort, covariates);
const model = fitDtm(described, { nodes: { step: 0.4 }, restarts: 0 });
const { coding } = covariates;
/** The covariates of an individual as a table has them. */
const cells = (i: number) =>
  Object.fromEntries(
    simulated
      .subjects!.columns.slice(0, 2)
      .map(({ name, cells: all }) => [name, all[simulated.subjects!.ids.indexOf(cohort.ids[i])]]),
  );

describe("a model with covariates that shift places", () => {
  it("places a cohort and its individuals alike", () => {
    const all = embed(model, described);
    const { offsets, times, values } = cohort.markers[0];
    for (const i of [0, 7]) {
      const row = cells(i);
      const z = encodeFor(coding, row);
      expect(relativeError(z, covariates.values.subarray(i * z.length, (i + 1) * z.length))).toBeLessThan(1e-9);
      const visits = {
        times: times.subarray(offsets[i], offsets[i + 1]),
        values: values.subarray(offsets[i], offsets[i + 1]),
      };
      const one = placeIndividual(modelFor(model, row), visits);
      expect(relativeError(one.location, all.location.subarray(2 * i, 2 * i + 2))).toBeLessThan(1e-8);
      expect(one.logLikelihood).toBeCloseTo(all.logLikelihood[i], 8);
      const same = placeIndividual(model, visits, { covariates: { coding, values: z } });
      expect(relativeError(same.location, one.location)).toBeLessThan(1e-8);
      const [a, b] = [one, same].map((placed) => predict(modelFor(model, row), placed, [1, 3]).median);
      expect(relativeError(b, a)).toBeLessThan(1e-8);
    }
  });

  it("says where people with these covariates are before anything is measured", () => {
    const nobody = { times: [], values: [] };
    const [low, high] = [-1, 1].map((z) => {
      const row = { ...cells(0), [names[0]]: coding.columns[0].center + z * 2 * coding.columns[0].scale };
      return placeIndividual(modelFor(model, row), nobody);
    });
    const distance = Math.hypot(low.location[0] - high.location[0], low.location[1] - high.location[1]);
    const length = Math.hypot(model.shift!.loadings[0], model.shift!.loadings[coding.columns.length]);
    expect(distance).toBeGreaterThan(3 * length);
    expect(distance).toBeLessThan(4.1 * length);
    expect(predict(modelFor(model, cells(0)), low, [1]).median[0]).not.toBe(
      predict(modelFor(model, cells(0)), high, [1]).median[0],
    );
  });

  it("is scored, forecast from and tested with everyone's own prior of places", () => {
    const { logLikelihood } = heldOutLogLikelihood(model, described);
    expect(relativeError(logLikelihood, embed(model, described).logLikelihood)).toBeLessThan(1e-9);
    const forecasts = forecastScores(model, described);
    expect(forecasts.logDensity.every(Number.isFinite)).toBe(true);
    const [features] = posteriorFeatures(model, described, [MAP_KERNEL]);
    expect(features.rows.every(Number.isFinite)).toBe(true);
    const average = features.prior.map((_, f) => {
      const all = Array.from({ length: 150 }, (__, i) => features.rows[i * features.numFeatures + f]);
      return all.reduce((sum, v) => sum + v, 0) / 150;
    });
    // Posteriors average to the priors.
    expect(relativeError(average, features.prior)).toBeLessThan(0.2);
  });

  it("is the same after it was saved", () => {
    const again = loadModel(saveModel(model));
    expect({ ...again, record: null }).toEqual({ ...model, record: null });
  });

  it("refuses to place without them, and names them", () => {
    expect(() => embed(model, cohort)).toThrow(new RegExp(names[0]));
    expect(() => placeIndividual(model, { times: [1], values: [2] })).toThrow(/covariates/);
    expect(() => modelFor(model, {})).toThrow(new RegExp(names[0]));
    const some = embed(model, selectIndividuals(described, [3, 4, 5]));
    expect(relativeError(some.location, embed(model, described).location.subarray(6, 12))).toBeLessThan(1e-12);
  });
});

describe("covariates far outside those fitted", () => {
  const far = { ...cells(0), [names[0]]: 1e9 };

  it("make every forecast one that is extrapolated", () => {
    const own = modelFor(model, far);
    const someone = placeIndividual(own, { times: [], values: [] });
    expect(own.farCovariates).toEqual([names[0]]);
    expect([...predict(own, someone, [0.3, 0.6]).extrapolated]).toEqual([1, 1]);
    const usual = modelFor(model, cells(0));
    expect([...predict(usual, someone, [0.3, 0.6]).extrapolated]).toEqual([0, 0]);
    expect(loadModel(saveModel(own))).not.toHaveProperty("farCovariates");
  });

  it("are named with the places of a cohort", () => {
    const values = covariates.values.slice();
    values.set(encodeFor(coding, far));
    const placed = embed(model, { ...described, covariates: { coding, values } });
    expect(placed.farCovariates?.[0]).toEqual([names[0]]);
    expect(placed.farCovariates?.slice(1).flat()).toEqual([]);
  });
});
