import type { Placements } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import {
  fitRanks,
  followedAt,
  followedUntil,
  medianOf,
  rateOf,
  ratesByGroup,
  sampleOf,
  visitClass,
} from "./cohort-facts.ts";

const outcome: Outcome = {
  name: "ild",
  labels: Uint8Array.of(1, 0, 1, 255, 0, 1),
  cases: 3,
  controls: 2,
  missing: 1,
  caseMeans: "1",
  controlMeans: "0",
  notes: [],
};

function placed(x: readonly number[], visits: readonly number[], last: readonly number[]): Placements {
  const m = x.length;
  const none = () => new Float64Array(m);
  return {
    ids: x.map((_, i) => `p${i}`),
    mapDimension: 1,
    numObservations: Int32Array.from(visits),
    location: Float64Array.from(x),
    covariance: none(),
    logLikelihood: Float64Array.from(visits, (n, i) => -n * (1 + i)),
    coefficients: none(),
    firstTime: none(),
    lastTime: Float64Array.from(last),
    area50: none(),
    area90: none(),
    outsideMass: none(),
    numOutsideTimes: new Int32Array(m),
  };
}

describe("rates", () => {
  it("leave out individuals whose outcome is missing", () => {
    const rate = rateOf(outcome, (i) => i >= 2);
    expect(rate).toMatchObject({ cases: 2, known: 3 });
    expect(rate.lower).toBeLessThan(2 / 3);
    expect(rate.upper).toBeGreaterThan(2 / 3);
  });

  it("by group are the rates of each group's members", () => {
    const labels = [0, 0, 1, 1, 1, -1];
    const rates = ratesByGroup(outcome, labels, 2);
    for (const g of [0, 1]) expect(rates[g]).toEqual(rateOf(outcome, (i) => labels[i] === g));
  });

  it("of nobody are no number, with an interval that says nothing", () => {
    expect(rateOf(outcome, () => false)).toEqual({ cases: 0, known: 0, share: Number.NaN, lower: 0, upper: 1 });
  });
});

describe("courses of a selection", () => {
  it("end where too few are followed: half of a small selection", () => {
    const last = Float64Array.of(9, 8, 7, 6, 5, 4);
    expect(followedUntil(last, [0, 1, 2, 3, 4, 5])).toBe(7);
    expect(followedUntil(last, [0, 1])).toBe(9);
    expect(followedAt(last, [0, 1, 2, 5], [0, 5, 8, 10])).toEqual([4, 3, 2, 0]);
  });
});

describe("fit", () => {
  const placements = placed([0, 1, 1.1, 1.2, 5], [6, 4, 5, 9, 8], [1, 9, 2, 3, 4]);

  it("ranks the fit per visit among individuals with about as many visits", () => {
    const worseThan = fitRanks(placements);
    // Six, four and five visits are one class; per visit they fit at −1, −2 and −3.
    expect(worseThan(-4 * 2.5, 4)).toBeCloseTo(2 / 3, 12);
    expect(worseThan(-4 * 100, 4)).toBe(1);
    expect(worseThan(0, 0)).toBe(0);
  });
});

it("visitClass parts 1, 2–3, 4–7 and 8 or more", () => {
  expect([1, 2, 3, 4, 7, 8, 40].map(visitClass)).toEqual([0, 1, 1, 2, 2, 3, 3]);
});

it("sampleOf takes members evenly, and all of a few", () => {
  expect(sampleOf([5, 6, 7], 10)).toEqual([5, 6, 7]);
  expect(sampleOf([0, 1, 2, 3, 4, 5, 6, 7], 4)).toEqual([1, 3, 5, 7]);
});

it("medianOf is the middle, or midway between the two middles", () => {
  expect(medianOf([3, 1, 2])).toBe(2);
  expect(medianOf([4, 1, 2, 3])).toBe(2.5);
  expect(medianOf([])).toBeNaN();
});
