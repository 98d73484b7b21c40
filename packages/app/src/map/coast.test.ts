import { fitDtm, simulateCohort } from "@trajectory-maps/core";
import { createRandom } from "@trajectory-maps/core/models";
import { describe, expect, it } from "vitest";
import { landOfPlacements } from "./coast.ts";
import { groundOf } from "./scene.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 40, seed: 3 });
const fit = (mapDimension: 1 | 2 | 3) => {
  const common = { mean: "scalar", seed: 1, maxIterations: 2, mapDimension } as const;
  return mapDimension === 3
    ? fitDtm(cohort, { ...common, kind: "dtm-paper" })
    : fitDtm(cohort, { ...common, restarts: 0 });
};

/** Placements of m individuals, of which only places and visits are looked at. */
function placed(m: number, q: number) {
  const random = createRandom(8);
  const column = () => new Float64Array(m);
  return {
    ids: Array.from({ length: m }, (_, i) => `P${i}`),
    mapDimension: q,
    numObservations: Int32Array.from({ length: m }, (_, i) => 1 + (i % 6)),
    location: Float64Array.from({ length: m * q }, () => random.normal()),
    covariance: new Float64Array(m * q * q),
    logLikelihood: column(),
    coefficients: column(),
    firstTime: column(),
    lastTime: column(),
    area50: column(),
    area90: column(),
    outsideMass: column(),
    numOutsideTimes: new Int32Array(m),
  };
}

describe("landOfPlacements", () => {
  it.each([
    [1, 300],
    [2, 300],
    [2, 50_100],
    [3, 300],
  ] as const)("is the land that a map of %i dimensions and %i individuals finds by itself", (q, m) => {
    const [model, placements] = [fit(q), placed(m, q)];
    const land = landOfPlacements(placements);
    expect(land).toEqual(groundOf({ model, placements }).land);
    expect(groundOf({ model, placements, land }).land).toBe(land);
  });

  it("is not taken for the land of other axes", () => {
    const [model, placements] = [fit(3), placed(300, 3)];
    const axes = [1, 2] as const;
    const other = groundOf({ model, placements, axes }).land;
    expect(groundOf({ model, placements, axes, land: landOfPlacements(placements) }).land).toEqual(other);
  });
});
