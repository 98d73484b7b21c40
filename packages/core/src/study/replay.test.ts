import { describe, expect, it } from "vitest";
import { fitDtm } from "../models/fit-models.ts";
import { placeIndividual } from "../models/place.ts";
import { predict } from "../models/predict.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { replayForecasts } from "./replay.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const model = fitDtm(cohort, { noise: "white", restarts: 0 });
const [{ offsets, times, values }] = cohort.markers;

describe("replayForecasts", () => {
  const { visits, classes, individuals } = replayForecasts(model, cohort);

  it("forecasts every visit but the first from those before it, as predict does", () => {
    const expected = cohort.ids.reduce((sum, _, i) => sum + Math.max(offsets[i + 1] - offsets[i] - 1, 0), 0);
    expect([visits.length, individuals]).toEqual([expected, 60]);
    const one = visits.find(({ known }) => known === 2)!;
    const at = offsets[one.individual];
    const seen = { times: times.slice(at, at + 2), values: values.slice(at, at + 2) };
    const { median, lower } = predict(model, placeIndividual(model, seen), [times[at + 2]]);
    expect([one.median, one.lower, one.value]).toEqual([median[0], lower[0], values[at + 2]]);
  });

  it("counts how often the band held by visits known, and holds about as often as it says in-sample", () => {
    expect(classes.reduce((sum, { count }) => sum + count, 0)).toBe(visits.length);
    const held = classes.reduce((sum, { inside }) => sum + inside, 0);
    expect(held).toBe(visits.filter(({ inside }) => inside).length);
    // Four standard errors of 319 forecasts at 90%.
    expect(Math.abs(held / visits.length - 0.9)).toBeLessThan(0.07);
  });

  it("looks at some people at random where there are many", () => {
    expect(replayForecasts(model, cohort, { most: 10 }).individuals).toBe(10);
  });
});
