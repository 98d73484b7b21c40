import { describe, expect, it } from "vitest";
import { makeCohort, onlyMarker } from "../cohort/cohort.ts";
import { TRANSFORMS, undoSlope, undoTransform } from "../cohort/marker.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { courseReader, courseTimes } from "./course.ts";
import { makeDecoder } from "./decoder.ts";
import { fitDtm, fitFpca, fitLmm } from "./fit-models.ts";
import type { TrajectoryModel } from "./model.ts";
import { placementAt } from "./place.ts";
import { predict } from "./predict.ts";

const { cohort: plain } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const idsOf = () =>
  plain.ids.flatMap((id, i) =>
    Array.from({ length: onlyMarker(plain).offsets[i + 1] - onlyMarker(plain).offsets[i] }, () => id),
  );
/** The same visits as a marker that is modelled on the log scale. */
const logged = makeCohort(
  { ids: idsOf(), times: onlyMarker(plain).times, values: onlyMarker(plain).values.map((v) => Math.exp(v / 40)) },
  { name: "bilirubin", unit: "mg/dl", timeUnit: "years", transform: "log" },
);
const quick = { seed: 1, tolerance: 0.1, restarts: 0 };
const kinds: Readonly<Record<string, () => TrajectoryModel>> = {
  dtm: () => fitDtm(plain, quick),
  "dtm of one dimension": () => fitDtm(plain, { ...quick, mapDimension: 1 }),
  "dtm-paper of three dimensions": () =>
    fitDtm(plain, { kind: "dtm-paper", seed: 1, maxIterations: 2, mapDimension: 3 }),
  "dtm of a log marker": () => fitDtm(logged, quick),
  "dtm-paper": () => fitDtm(plain, { kind: "dtm-paper", seed: 1, maxIterations: 5 }),
  fpca: () => fitFpca(plain, { seed: 1 }),
  lmm: () => fitLmm(plain, { seed: 1 }),
};

describe("the course at a place", () => {
  for (const [name, fit] of Object.entries(kinds)) {
    it(`equals predict at that place (${name})`, () => {
      const model = fit();
      const decoder = makeDecoder(model);
      const times = courseTimes(model, 23);
      const read = courseReader(decoder, times);
      const q = model.mapDimension;
      for (const place of [
        [0, 0, 0],
        [1.3, -0.7, 0.4],
        [-2, 0.25, -1],
      ].map((p) => p.slice(0, q))) {
        const ours = read(place);
        const theirs = predict(model, placementAt(model, place), times, { interval: "curve" });
        for (const key of ["median", "lower", "upper"] as const) {
          ours[key].forEach((v, t) => void expect(Math.abs(v - theirs[key][t])).toBeLessThan(1e-9 * (1 + Math.abs(v))));
        }
      }
    });
  }
});

describe("undoSlope", () => {
  it("is the derivative of undoTransform", () => {
    const h = 1e-6;
    for (const transform of TRANSFORMS) {
      for (const z of [0.3, 1.7]) {
        const difference = (undoTransform(transform, z + h) - undoTransform(transform, z - h)) / (2 * h);
        expect(undoSlope(transform, z)).toBeCloseTo(difference, 7);
      }
    }
  });
});
