import { describe, expect, it } from "vitest";
import { makeCohort, onlyMarker, selectIndividuals } from "../cohort/cohort.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { fitDtm } from "./fit-models.ts";
import { fitLmm } from "./linear-models.ts";
import { placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";
import { predictChange } from "./predicting/change.ts";
import { predictCrossing } from "./predicting/crossing.ts";
import { loadModel, saveModel } from "./save.ts";
import { suspectVisits } from "./suspect-visits.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 3 });
const model = fitDtm(cohort, { restarts: 0, noise: "white" });
const linear = fitLmm(cohort, { mean: "spline" });

describe("visits that are probably wrong", () => {
  it.each([
    ["a map", model],
    ["a map with levels of noise", fitDtm(cohort, { restarts: 0, noise: "level" })],
    ["a mixed model", linear],
  ] as const)("are told with a placement by %s", (_, by) => {
    const { suspects } = placeIndividual(by, { id: "p1", times: [0, 1, 2], values: [80, 800, 78] });
    expect(suspects).toHaveLength(1);
    const [{ id, time, value, expected, probability }] = suspects!;
    expect([id, time, value]).toEqual(["p1", 1, 800]);
    expect(Math.abs(expected - 79)).toBeLessThan(10);
    expect(probability).toBeGreaterThan(0.99);
  });

  it("are told of a single visit, and of none where values are usual", () => {
    expect(placeIndividual(model, { times: [1], values: [800] }).suspects).toHaveLength(1);
    expect(placeIndividual(model, { times: [0, 1, 2], values: [80, 79, 78] }).suspects).toBeUndefined();
    expect(placeIndividual(model, { times: [], values: [] }).suspects).toBeUndefined();
  });

  it("are few in the cohort of the fit, and all found where some were planted", () => {
    const { offsets, times, values, marker } = onlyMarker(cohort);
    expect(suspectVisits(model, cohort).length).toBeLessThan(0.01 * values.length);
    const ids = cohort.ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id));
    const typed = values.map((v, j) => (j % 50 === 7 ? 10 * v : v));
    const found = suspectVisits(model, makeCohort({ ids, times, values: typed }, marker));
    const planted = Array.from(typed).filter((_, j) => j % 50 === 7);
    expect(planted.every((v) => found.some(({ value }) => value === v))).toBe(true);
  });

  it("are told by their marker where there are several", () => {
    const { cohort: two } = simulatePlaces({ numIndividuals: 60, numMarkers: 2, seed: 2 });
    const both = fitDtm(two, { restarts: 0 });
    const [first, second] = two.markers.map(({ marker }) => marker.name);
    const usual = (k: number) => ({ times: [0.1], values: [two.markers[k].values[0]] });
    const wrong = { times: [0.1, 0.5], values: [two.markers[1].values[0], 100] };
    const { suspects } = placeIndividual(both, { markers: { [first]: usual(0), [second]: wrong } });
    expect(suspects?.map(({ marker, value }) => [marker, value])).toEqual([[second, 100]]);
  });
});

describe("what a library call refuses", () => {
  const someone = placeIndividual(model, { id: "p1", times: [0, 1], values: [80, 79] });

  it("a placement by another model, and takes one by the same model from its file", () => {
    const other = fitDtm(
      selectIndividuals(
        cohort,
        Int32Array.from({ length: 100 }, (_, i) => i),
      ),
      { restarts: 0 },
    );
    for (const ask of [
      () => predict(other, someone, [2]),
      () => predictCrossing(other, someone, { threshold: 60 }),
      () => predictChange(other, someone, 0, 2),
    ]) {
      expect(ask).toThrow(
        /expected an individual placed by this model .*received "p1" placed by another .*placeIndividual/,
      );
    }
    const loaded = loadModel(saveModel(model));
    expect(predict(loaded, someone, [2]).median[0]).toBeCloseTo(predict(model, someone, [2]).median[0], 9);
  });

  it("histories that are none, and individuals that a cohort does not have", () => {
    expect(() => placeIndividual(model, {} as never)).toThrow(
      /expected times of .* as a list of numbers, received none/,
    );
    expect(() => placeIndividual(model, { times: [0] } as never)).toThrow(
      /expected values .*received none among \{ times \}/,
    );
    expect(() => placeIndividual(model, { times: 1, values: 80 } as never)).toThrow(/received number/);
    expect(() => placeIndividual(model, "p1" as never)).toThrow(/expected a history, received text \("p1"\)/);
    expect(() => selectIndividuals(cohort, [0, 150])).toThrow(/whole numbers from 0 to 149, received 150/);
    expect(() => selectIndividuals(cohort, [0.5])).toThrow(/received 0.5/);
    expect(() => selectIndividuals(cohort, [-1])).toThrow(/received -1/);
    expect(() => selectIndividuals(cohort, [3, 3])).toThrow(/every individual once, received 3 twice/);
  });
});
