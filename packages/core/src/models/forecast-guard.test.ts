import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { fitDtm } from "./fit-models.ts";
import { fallbackWeight, followUpSupport, forecastGuard } from "./forecast-guard.ts";
import { fitLmm } from "./linear-models.ts";
import { placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";

describe("followUpSupport", () => {
  const guard = {
    locations: Float64Array.of(0, 0, 0.3, 0, 3, 3),
    lastTimes: Float64Array.of(2, 8, 10),
  };
  const exactly = { location: Float64Array.of(0, 0), covariance: new Float64Array(4) };

  it("counts individuals near the place that are still seen", () => {
    const support = followUpSupport(guard, exactly);
    const near = Math.exp((-0.5 * 0.09) / 0.25);
    const far = Math.exp((-0.5 * 18) / 0.25);
    expect(support(1)).toBeCloseTo(1 + near + far, 12);
    expect(support(2)).toBeCloseTo(1 + near + far, 12);
    expect(support(5)).toBeCloseTo(near + far, 12);
    expect(support(9)).toBeCloseTo(far, 12);
    expect(support(11)).toBe(0);
  });

  it("is the average over an uncertain place", () => {
    const covariance = Float64Array.of(0.5, 0.2, 0.2, 0.3);
    const support = followUpSupport(guard, { location: Float64Array.of(0.1, -0.2), covariance })(5);
    const random = createRandom(1);
    let sum = 0;
    for (let s = 0; s < 40_000; s++) {
      const [a, b] = [random.normal(), random.normal()];
      const x = 0.1 + Math.sqrt(0.5) * a;
      const y = -0.2 + (0.2 / Math.sqrt(0.5)) * a + Math.sqrt(0.3 - 0.08) * b;
      for (const [u, v] of [
        [0.3, 0],
        [3, 3],
      ]) {
        sum += Math.exp((-0.5 * ((x - u) ** 2 + (y - v) ** 2)) / 0.25) / 40_000;
      }
    }
    // Three standard errors of 40,000 draws between 0 and 1.
    expect(Math.abs(support - sum)).toBeLessThan(0.0075);
  });

  it("gives all weight to the mixed model where nobody is left, and little where many are", () => {
    expect(fallbackWeight(0)).toBe(1);
    expect(fallbackWeight(97)).toBeCloseTo(0.03, 12);
  });
});

describe("predict with a guard", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 3 });
  const model = fitDtm(cohort);
  const mixedModel = fitLmm(cohort, { mean: "spline" });
  const history = { times: [0.5, 1, 1.5], values: [82, 80, 79] };
  const [placement, fallback] = [placeIndividual(model, history), placeIndividual(mixedModel, history)];
  const full = forecastGuard(model, mixedModel, cohort);

  it("is the map where many were followed and the mixed model where nobody was", () => {
    const [map, linear] = [predict(model, placement, [2]), predict(mixedModel, fallback, [2])];
    const many = {
      ...full,
      lastTimes: full.lastTimes.map(() => 99),
      locations: full.locations.map((_, k) => placement.location[k % 2]),
    };
    const none = { ...full, lastTimes: full.lastTimes.map(() => 0) };
    const guarded = (guard: typeof full) => predict(model, placement, [2], { guard: { guard, fallback } });
    expect(guarded(none).median[0]).toBeCloseTo(linear.median[0], 6);
    expect(guarded(none).upper[0]).toBeCloseTo(linear.upper[0], 6);
    expect(guarded(none).extrapolated[0]).toBe(1);
    expect(Math.abs(guarded(many).median[0] - map.median[0])).toBeLessThan(0.2);
    expect(guarded(many).extrapolated[0]).toBe(0);
    expect(guarded(many).support![0]).toBeGreaterThan(20);
  });

  it("falls in support with time, and keeps within the limits of the marker", () => {
    const { support, lower, upper, median } = predict(model, placement, [2, 4, 6, 9], {
      guard: { guard: full, fallback },
      limits: [75, 80],
    });
    for (let k = 1; k < 4; k++) expect(support![k]).toBeLessThanOrEqual(support![k - 1]);
    for (const series of [lower, upper, median]) for (const v of series) expect(v >= 75 && v <= 80).toBe(true);
    expect(() => predict(model, placement, [2], { limits: [3, 1] })).toThrow(/low < high/);
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
