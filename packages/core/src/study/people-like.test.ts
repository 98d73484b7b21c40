import { describe, expect, it } from "vitest";
import { fitDtm } from "../models/fit-models.ts";
import { placeIndividual } from "../models/place.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { cameNext, overlapOf, peopleLike, placesKnownAt } from "./people-like.ts";

const sure = { location: [0.3, -0.2], covariance: [0.04, 0.01, 0.01, 0.09] };

describe("overlapOf", () => {
  it("is 1 for the same posterior, symmetric, and the integral of √(pq)", () => {
    expect(overlapOf(sure, sure, 2)).toBeCloseTo(1, 10);
    const other = { location: [0.6, 0.1], covariance: [0.2, 0, 0, 0.1] };
    expect(overlapOf(sure, other, 2)).toBeCloseTo(overlapOf(other, sure, 2), 12);
    // One dimension against a sum over a fine grid.
    const [a, b] = [
      { location: [0], covariance: [0.5] },
      { location: [1], covariance: [2] },
    ];
    const density = (x: number, m: number, v: number) =>
      Math.exp((-0.5 * (x - m) ** 2) / v) / Math.sqrt(2 * Math.PI * v);
    let sum = 0;
    for (let x = -12; x < 12; x += 0.001) sum += 0.001 * Math.sqrt(density(x, 0, 0.5) * density(x, 1, 2));
    // The little that keeps exact places defined changes the sixth digit.
    expect(overlapOf(a, b, 1)).toBeCloseTo(sum, 5);
  });

  it("takes somebody of whom little is known for less alike than somebody a little apart", () => {
    const vague = { location: sure.location, covariance: [1, 0, 0, 1] };
    const apart = { location: [0.4, -0.1], covariance: sure.covariance };
    expect(overlapOf(sure, vague, 2)).toBeLessThan(overlapOf(sure, apart, 2));
  });
});

describe("peopleLike", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 80, seed: 3 });
  const model = fitDtm(cohort, { noise: "white", restarts: 0 });
  const known = placesKnownAt(model, cohort, 2);

  it("chooses by what was known at the time alone", () => {
    const [series] = cohort.markers;
    const changed = { ...series, values: series.values.map((v, j) => (series.times[j] > 2 ? v - 30 : v)) };
    const later = placesKnownAt(model, { ...cohort, markers: [changed] }, 2);
    expect(later.places.location).toEqual(known.places.location);
    expect(known.positions.length).toBeLessThan(80);
    const first = (i: number) => series.times[series.offsets[i]];
    expect(Array.from(known.positions).every((i) => first(i) <= 2)).toBe(true);
  });

  it("compares with some at random where there are many", () => {
    const some = placesKnownAt(model, cohort, 2, 30);
    expect(some.positions.length).toBeLessThanOrEqual(30);
    expect(Array.from(some.positions).every((i) => known.positions.includes(i))).toBe(true);
  });

  it("finds an individual itself unless it is left out, and then others, the most alike first", () => {
    const i = known.positions[0];
    const [{ offsets, times, values }] = cohort.markers;
    const seen = Array.from(times.subarray(offsets[i], offsets[i + 1])).filter((t) => t <= 2).length;
    const own = placeIndividual(model, {
      times: times.slice(offsets[i], offsets[i] + seen),
      values: values.slice(offsets[i], offsets[i] + seen),
    });
    expect(peopleLike(known, own)[0].individual).toBe(i);
    const others = peopleLike(known, own, 5, i);
    expect(others).toHaveLength(5);
    expect(others.some(({ individual }) => individual === i)).toBe(false);
    expect(others.map(({ overlap }) => overlap)).toEqual([...others].map((o) => o.overlap).sort((a, b) => b - a));
  });
});

describe("cameNext", () => {
  const series = {
    marker: { name: "m", unit: "", timeUnit: "years", transform: "identity" as const },
    offsets: Int32Array.of(0, 3, 5),
    times: Float64Array.of(0, 1, 4, 0, 3),
    values: Float64Array.of(80, 58, 70, 90, 85),
  };

  it("counts who was followed to the end of the span, and who had a value beyond the threshold within it", () => {
    const cohort = { ids: ["a", "b"], markers: [series] };
    const span = { from: 0, threshold: 60, direction: "down" as const };
    expect(cameNext(cohort, [0, 1], 0, { ...span, to: 3 })).toMatchObject({ followed: 2, crossed: 1 });
    expect(cameNext(cohort, [0, 1], 0, { ...span, to: 3.5 })).toMatchObject({ followed: 1, crossed: 1 });
    const { crossed, later } = cameNext(cohort, [0, 1], 0, { ...span, from: 1, to: 4 });
    expect(crossed).toBe(0);
    expect(later.map(({ times }) => [...times])).toEqual([[4], [3]]);
  });
});
