import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { codeCovariates } from "../covariates/code.ts";
import { withCovariates } from "../covariates/covariates.ts";
import { modelAt } from "../models/covariate-model.ts";
import { fitDtm } from "../models/fit-models.ts";
import { fitLinear } from "../models/linear-models.ts";
import { placeIndividual } from "../models/place.ts";
import { predict } from "../models/predict.ts";
import { simulateFromModel } from "./from-model.ts";
import { simulatePlaces } from "./places.ts";

const M = 1200;
const { cohort: bare, subjects } = simulatePlaces({
  covariates: "places",
  numMarkers: 2,
  numIndividuals: 120,
  seed: 3,
});
const coded = codeCovariates(subjects, bare.ids, { covariates: [{ name: "c1" }, { name: "c2", effect: "level" }] });
const cohort = withCovariates(bare, coded);

/** One visit of every marker at one time, everybody with the same covariates. */
function designAt(time: number, z: readonly number[]) {
  const ids = Array.from({ length: M }, (_, i) => `s${String(i).padStart(5, "0")}`);
  const columns = { ids, times: ids.map(() => time), values: ids.map(() => 1) };
  const both = combineMarkers(["marker 1", "marker 2"].map((name) => makeCohort(columns, { name })));
  const values = Float64Array.from({ length: 2 * M }, (_, e) => z[e % 2]);
  return { ...both, covariates: { coding: coded.coding, values } };
}

const linear = () => fitLinear(cohort, { mean: "spline", effects: "level-and-rate" }).lmm;

describe.each([
  ["map", () => fitDtm(cohort, { restarts: 0, maxIterations: 20 })],
  ["mixed model", linear],
])("individuals drawn from a %s of two markers with covariates", (_, fit) => {
  const model = fit();

  it("have the distribution that the model predicts for their covariates", () => {
    for (const z of [
      [1.2, -1],
      [-0.8, 1.5],
    ]) {
      const { cohort: drawn, locations } = simulateFromModel(model, designAt(0.3, z), { seed: 8 });
      const own = modelAt(model, Float64Array.from(z));
      const prior = placeIndividual(own, { markers: {} });
      expect(drawn.covariates?.values.length).toBe(2 * M);
      expect(locations.length).toBe(model.kind === "dtm" ? 2 * M : 0);
      drawn.markers.forEach(({ values, marker }) => {
        const { mean, sd } = predict(own, prior, [0.3], { marker: marker.name });
        const average = values.reduce((sum, v) => sum + v, 0) / M;
        const spread = Math.sqrt(values.reduce((sum, v) => sum + (v - average) ** 2, 0) / M);
        // Four standard errors.
        expect(Math.abs(average - mean[0])).toBeLessThan((4 * sd[0]) / Math.sqrt(M));
        expect(Math.abs(spread / sd[0] - 1)).toBeLessThan(4 / Math.sqrt(M));
      });
    }
  });
});
