import { beforeAll, describe, expect, it } from "vitest";
import { numIndividuals } from "../cohort/cohort.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { fitsNoCourse } from "./course-fit.ts";
import { fitDtm } from "./fit-models.ts";
import type { TrajectoryModel } from "./model.ts";
import { placeIndividual } from "./place.ts";

let model: TrajectoryModel;
const { cohort } = simulateCohort("pfvc", { numIndividuals: 80, seed: 3 });

beforeAll(() => {
  model = fitDtm(cohort, { noise: "white", restarts: 0 });
});

describe("courseFit", () => {
  it("tells a slip of the hand that a map places with certainty at its rim", () => {
    const slip = placeIndividual(model, { times: [0, 2], values: [92, 700] });
    expect(fitsNoCourse(slip)).toBe(true);
    expect(slip.suspects?.map(({ value }) => value)).toContain(700);
    expect(fitsNoCourse(placeIndividual(model, { times: [0, 2], values: [92, 70] }))).toBe(false);
  });

  it("tells a single value that is far from all others", () => {
    expect(fitsNoCourse(placeIndividual(model, { times: [1], values: [400] }))).toBe(true);
    expect(placeIndividual(model, { times: [], values: [] }).courseFit).toBe(1);
  });

  it("tells hardly anybody of the cohort that the map was fitted to", () => {
    const [{ offsets, times, values }] = cohort.markers;
    const odd = Array.from({ length: numIndividuals(cohort) }, (_, i) => {
      const [from, to] = [offsets[i], offsets[i + 1]];
      return placeIndividual(model, { times: times.slice(from, to), values: values.slice(from, to) });
    }).filter(fitsNoCourse);
    expect(odd.length).toBeLessThanOrEqual(1);
  });

  it("does not take unsteady measurements for an odd course where individuals differ in their noise", () => {
    const level = fitDtm(cohort, { noise: "level", restarts: 0 });
    const unsteady = { times: [0, 0.5, 1, 1.5, 2, 2.5], values: [92, 74, 90, 72, 91, 75] };
    const [same, differing] = [model, level].map((own) => placeIndividual(own, unsteady).courseFit);
    expect(differing).toBeGreaterThan(same);
  });
});
