import { describe, expect, it } from "vitest";
import { simulateCohort } from "../simulate/cohorts.ts";
import { fitDtm } from "./fit-models.ts";
import { fallbackWeight, forecastGuard, guardFor } from "./forecast-guard.ts";
import { fitLmm } from "./linear-models.ts";
import { placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";
import { predictChange } from "./predicting/change.ts";

describe("predict with a guard", () => {
  it("gives all weight to the mixed model where nobody is left, and little where many are", () => {
    expect(fallbackWeight(0)).toBe(1);
    expect(fallbackWeight(97)).toBeCloseTo(0.03, 12);
  });

  const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 3 });
  const model = fitDtm(cohort, { restarts: 0 });
  const mixedModel = fitLmm(cohort, { mean: "spline" });
  const history = { times: [0.5, 1, 1.5], values: [82, 80, 79] };
  const [placement, fallback] = [placeIndividual(model, history), placeIndividual(mixedModel, history)];
  const full = forecastGuard(model, cohort, { mixedModel });

  it("is the map where many were followed and the mixed model where nobody was", () => {
    const [map, linear] = [predict(model, placement, [2]), predict(mixedModel, fallback, [2])];
    const { locations, lastTimes } = full.followUp;
    const many = {
      ...full,
      followUp: { lastTimes: lastTimes.map(() => 99), locations: locations.map((_, k) => placement.location[k % 2]) },
    };
    const none = { ...full, followUp: { locations, lastTimes: lastTimes.map(() => 0) } };
    const guarded = (guard: typeof full) => predict(model, placement, [2], { guard: { guard, fallback } });
    expect(guarded(none).median[0]).toBeCloseTo(linear.median[0], 6);
    expect(guarded(none).upper[0]).toBeCloseTo(linear.upper[0], 6);
    expect(guarded(none).extrapolated[0]).toBe(1);
    expect(Math.abs(guarded(many).median[0] - map.median[0])).toBeLessThan(0.2);
    expect(guarded(many).extrapolated[0]).toBe(0);
    expect(guarded(many).support![0]).toBeGreaterThan(20);
  });

  it("falls in support with time, and keeps within the limits of the marker", () => {
    const [part] = model.markers;
    const limited = { ...model, markers: [{ ...part, marker: { ...part.marker, limits: [75, 80] } }] } as typeof model;
    const { support, mean, lower, upper, median, simultaneous } = predict(limited, placement, [2, 4, 6, 9], {
      guard: { guard: full, fallback },
      simultaneous: true,
    });
    for (let k = 1; k < 4; k++) expect(support![k]).toBeLessThanOrEqual(support![k - 1]);
    for (const series of [mean, lower, upper, median, simultaneous!.lower, simultaneous!.upper])
      for (const v of series) expect(v >= 75 && v <= 80).toBe(true);
    const { lower: least, upper: most } = predictChange(limited, placement, 0, 9);
    expect(least >= -5 && most <= 5).toBe(true);
  });

  it("does not extrapolate the mixed model: its course is held where few of the cohort are left", () => {
    const { lastTimes } = full.followUp;
    expect(lastTimes.filter((t) => t >= full.followedTo).length).toBe(0.1 * lastTimes.length);
    const none = { ...full, followUp: { ...full.followUp, lastTimes: lastTimes.map(() => 0) } };
    const late = full.followedTo + 2;
    const nobody = { times: [], values: [] };
    const guarded = predict(model, placeIndividual(model, nobody), [full.followedTo, late], {
      guard: guardFor(none, nobody),
    });
    expect(guarded.modelWeight).toEqual(Float64Array.of(0, 0));
    expect(guarded.upper[1]).toBe(guarded.upper[0]);
    expect(guarded.extrapolated).toEqual(Uint8Array.of(1, 1));
    // Who was seen later than that tells more: the course is held from the last visit on.
    const seen = { times: [1, late], values: [80, 40] };
    const [at, after] = predict(model, placeIndividual(model, seen), [late, late + 1], {
      guard: guardFor(none, seen),
    }).median;
    expect(after).toBe(at);
    expect(at).toBeLessThan(60);
  });

  it("works for somebody without visits", () => {
    const nobody = { times: [], values: [] };
    const { median, extrapolated } = predict(model, placeIndividual(model, nobody), [1], {
      guard: { guard: full, fallback: placeIndividual(mixedModel, nobody) },
    });
    expect(median[0]).toBeGreaterThan(60);
    expect(extrapolated[0]).toBe(0);
  });
});
