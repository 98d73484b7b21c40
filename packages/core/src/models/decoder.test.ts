import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { createRandom } from "../numeric/random.ts";
import { makeDecoder } from "./decoder.ts";
import { markerModel } from "./fit.ts";
import { fitDtm, fitFpca, fitLmm } from "./fit-models.ts";
import { mapMoments } from "./gp/sparse-map.ts";
import { scoreCourse } from "./linear/scores.ts";
import { isMapModel } from "./model.ts";
import { fitLocation } from "./orient.ts";

const random = createRandom(5);
const cohort = makeCohort({
  ids: Array.from({ length: 160 }, (_, k) => `p${100 + (k >> 2)}`),
  times: Array.from({ length: 160 }, () => 10 * random.uniform()),
  values: Array.from({ length: 160 }, (_, k) => (k >> 2) / 10 + random.normal()),
});

describe("makeDecoder", () => {
  it.each([
    ["a map", () => fitDtm(cohort, { restarts: 0, maxIterations: 3, nodes: { step: 0.5 } })],
    ["the published map", () => fitDtm(cohort, { kind: "dtm-paper", maxIterations: 2 })],
    ["the linear mixed model", () => fitLmm(cohort)],
    ["principal components", () => fitFpca(cohort)],
  ])("gives the course that belongs to a shown place: %s", (_, fit) => {
    const model = fit();
    const decoder = makeDecoder(model);
    const [mean, covariance] = [new Float64Array(5), new Float64Array(25)];
    const shown = Float64Array.of(0.7, -1.1);
    decoder.decodeInto(shown, mean, covariance);
    const x = fitLocation(model.orientation, shown, 2);
    const expected = isMapModel(model)
      ? mapMoments(markerModel(model).map, x, 1)
      : { means: scoreCourse(model, x), covariances: [] };
    for (let k = 0; k < 5; k++)
      expect(mean[k]).toBeCloseTo(markerModel(model).mean.coefficients[k] + expected.means[k], 12);
    for (let k = 0; k < 25; k++) {
      const residual = model.kind === "dtm" ? markerModel(model).residual.covariance[k] : 0;
      expect(covariance[k]).toBeCloseTo((expected.covariances[k] ?? 0) + residual, 12);
    }
  });
});
