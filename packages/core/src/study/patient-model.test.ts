import { describe, expect, it } from "vitest";
import { combineMarkers } from "../cohort/several-markers.ts";
import { mixtureMembership } from "../map/clusters/gaussian-mixture.ts";
import { fitDtm } from "../models/fit-models.ts";
import { embed, placeIndividual } from "../models/place.ts";
import { predict } from "../models/predict.ts";
import { saveModel } from "../models/save.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { followedAt, patientModel, readPatientModel, writePatientModel } from "./patient-model.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 80, seed: 3 });
const model = fitDtm(cohort, { noise: "white", restarts: 0 });
const places = embed(model, cohort);
/** Of 60 clustered, 5 made the Gaussian of B and 8 that of D, which others joined. */
const groups = {
  groups: [30, 7, 28, 15].map((size, g) => ({ letter: "ABCD"[g], name: `group ${"ABCD"[g]}`, size })),
  regions: {
    numGroups: 4,
    dimension: 2,
    weights: Float64Array.of(26 / 60, 5 / 60, 21 / 60, 8 / 60),
    means: Float64Array.of(-1, 0, 0, 2, 1, 0, 0, -2),
    covariances: Float64Array.from([1, 2, 3, 4].flatMap((k) => [0.1 * k, 0.01, 0.01, 0.2])),
  },
  clustered: 60,
};

describe("patientModel", () => {
  const made = patientModel(model, { places, groups });
  const text = writePatientModel(made);

  it("comes back from its file with the same model, to the last bit", () => {
    const read = readPatientModel(text);
    expect(saveModel(read.model)).toBe(saveModel(model));
    const visits = { times: [0, 1], values: [80, 76] };
    expect(placeIndividual(read.model, visits).location).toEqual(placeIndividual(model, visits).location);
    expect(read.regions).toEqual(made.regions);
    expect(text.length).toBeLessThan(0.65 * saveModel(model).length);
  });

  it("rounds the largest part of three markers: the file is half as long, and forecasts are the same to a millionth", () => {
    const parts = [3, 4, 5].map((seed) => {
      const { markers } = simulateCohort("pfvc", { numIndividuals: 40, seed }).cohort;
      return {
        ids: cohort.ids.slice(0, 40),
        markers: [{ ...markers[0], marker: { ...markers[0].marker, name: `m${seed}` } }],
      };
    });
    const three = fitDtm(combineMarkers(parts), { noise: "white", restarts: 0, maxIterations: 3 });
    const packed = writePatientModel(patientModel(three));
    expect(packed.length).toBeLessThan(0.3 * saveModel(three).length);
    const read = readPatientModel(packed).model;
    const visits = { markers: { m3: { times: [0, 1], values: [80, 76] } } };
    const band = (own: typeof three) =>
      predict(own, placeIndividual(own, visits), [1, 4, 8], { marker: "m4", level: 0.9 });
    const [before, after] = [band(three), band(read as typeof three)];
    for (const k of [0, 1, 2]) {
      expect(after.median[k] / before.median[k]).toBeCloseTo(1, 6);
      expect(after.lower[k] / before.lower[k]).toBeCloseTo(1, 6);
    }
  });

  it("is a model file too, without groups and follow-up", () => {
    const read = readPatientModel(saveModel(model));
    expect(read.groups).toEqual([]);
    expect(followedAt(read, [0, 0])).toBeNaN();
  });

  it("holds nothing of single individuals: no ids, no small groups, no exact times", () => {
    expect(made.groups.map(({ letter }) => letter)).toEqual(["A", "C"]);
    expect(made.regions?.numGroups).toBe(2);
    expect(text).not.toContain("group B");
    expect(cohort.ids.filter((id) => text.includes(id))).toEqual([]);
    expect(made.followed?.steps.every((n) => Number.isInteger(n) && n >= 0 && n <= 20)).toBe(true);
  });

  it("shares a place among the groups it tells as all groups together would without the others", () => {
    const points = Float64Array.of(-0.4, 0.1, 0.2, -0.7);
    const whole = mixtureMembership(groups.regions, points);
    const told = mixtureMembership(made.regions!, points);
    for (const i of [0, 1]) {
      const [a, c] = [whole[4 * i], whole[4 * i + 2]];
      expect(told[2 * i]).toBeCloseTo(a / (a + c), 12);
      expect(told[2 * i + 1]).toBeCloseTo(c / (a + c), 12);
    }
    expect(made.regions?.weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
  });

  it("tells the time of follow-up of the nearest place, and of places beyond the lattice that of its rim", () => {
    const { axis, first, step, steps } = made.followed!;
    expect(followedAt(made, [axis[9] + 0.01, axis[10]])).toBe(first + step * steps[9 * axis.length + 10]);
    expect(followedAt(made, [9, -9])).toBe(first + step * steps[(axis.length - 1) * axis.length]);
  });
});
