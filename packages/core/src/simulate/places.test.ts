import { describe, expect, it } from "vitest";
import { numIndividuals } from "../cohort/cohort.ts";
import { numMeasured } from "../cohort/several-markers.ts";
import { codeCovariates } from "../covariates/code.ts";
import { MARKER_RELATIONS, simulatePlaces } from "./places.ts";

const mean = (x: ArrayLike<number>) => Array.from(x).reduce((sum, v) => sum + v, 0) / x.length;
const correlation = (a: readonly number[], b: readonly number[]) => {
  const [ma, mb] = [mean(a), mean(b)];
  const product = (x: readonly number[], mx: number, y: readonly number[], my: number) =>
    x.reduce((sum, v, i) => sum + (v - mx) * (y[i] - my), 0);
  return product(a, ma, b, mb) / Math.sqrt(product(a, ma, a, ma) * product(b, mb, b, mb));
};
const axis = (places: Float64Array, a: number) => Array.from(places).filter((_, e) => e % 2 === a);

describe("simulatePlaces", () => {
  it("relates the places of markers as stated", () => {
    const expected = { "same-place": [1, 1], "one-axis": [1, 0], unrelated: [0, 0] } as const;
    for (const relation of MARKER_RELATIONS) {
      const { places, cohort } = simulatePlaces({ relation, numIndividuals: 2000, numMarkers: 3, seed: 3 });
      expect(cohort.markers.map(({ marker }) => marker.name)).toEqual(["marker 1", "marker 2", "marker 3"]);
      expect(numMeasured(cohort)).toEqual([2000, 2000, 2000]);
      // Three standard errors of a correlation of 0 among 2,000.
      for (const a of [0, 1]) {
        const found = [1, 2].map((k) => correlation(axis(places[0], a), axis(places[k], a)));
        for (const r of found) expect(Math.abs(r - expected[relation][a])).toBeLessThan(0.07);
      }
    }
  });

  it("measures each marker at times of its own, one visit or more, with values about the stated curves", () => {
    const { cohort, places } = simulatePlaces({ noiseSd: 0, numIndividuals: 3000, seed: 2 });
    const [first, second] = cohort.markers;
    expect(first.times).not.toEqual(second.times);
    const m = numIndividuals(cohort);
    expect(Math.abs(first.times.length / m - 4)).toBeLessThan(5 * Math.sqrt(3 / m));
    // Level and slope have an own part of sd 0.3; slopes count by 2(t − ½), of variance 1/3.
    const own = Array.from({ length: m }, (_, i) => {
      const j = first.offsets[i];
      const [u1, u2] = [places[0][2 * i], places[0][2 * i + 1]];
      const slope = 1.2 * u2 + 0.6 * u1 ** 2 - 0.6;
      return first.values[j] - 10 - 2 * Math.tanh(u1) - 2 * slope * (first.times[j] - 0.5);
    });
    expect(Math.abs(mean(own))).toBeLessThan(5 * Math.sqrt(0.12 / m));
    expect(mean(own.map((v) => v * v))).toBeGreaterThan(0.09);
    expect(mean(own.map((v) => v * v))).toBeLessThan(0.18);
  });

  it("draws covariates that shift places or the mean, one that only doubles visits, and two that do nothing", () => {
    const shifted = simulatePlaces({ covariates: "places", numIndividuals: 4000, seed: 5 });
    const { values, coding } = codeCovariates(shifted.subjects, shifted.cohort.ids, {
      covariates: shifted.subjects.columns,
    });
    expect(coding.columns.map(({ name }) => name)).toEqual(["c1", "c2", "c3", "c4", "c5"]);
    const z = (c: number) => Array.from(values).filter((_, e) => e % 5 === c);
    const slopes = [0, 1, 2, 3, 4].map((c) =>
      [0, 1].map((a) => mean(z(c).map((v, i) => v * shifted.places[0][2 * i + a]))),
    );
    const expected = [
      [0.5, 0],
      [0, -0.3],
      [0, 0],
      [0, 0],
      [0, 0],
    ];
    // Five standard errors, 5/√4000.
    for (let c = 0; c < 5; c++)
      for (const a of [0, 1]) expect(Math.abs(slopes[c][a] - expected[c][a])).toBeLessThan(0.08);
    const { offsets } = shifted.cohort.markers[0];
    const visits = Array.from(shifted.cohort.ids, (_, i) => offsets[i + 1] - offsets[i]);
    const often = shifted.subjects.columns[2].cells;
    const [some, many] = ["0", "1"].map((yes) => mean(visits.filter((_, i) => often[i] === yes)));
    expect(some).toBeGreaterThan(2.9);
    expect(some).toBeLessThan(3.1);
    expect(many).toBeGreaterThan(5.6);
    expect(Math.max(...visits)).toBe(9);
    const moved = simulatePlaces({ covariates: "mean", numIndividuals: 4000, seed: 5, noiseSd: 0 });
    const null_ = simulatePlaces({ covariates: "none", numIndividuals: 4000, seed: 5, noiseSd: 0 });
    expect(moved.places).toEqual(null_.places);
    expect(moved.subjects).toEqual(null_.subjects);
    // The values of both differ by the effect alone; within an individual they are in order of time, then value.
    const j = moved.cohort.markers[0].offsets[17];
    const t = moved.cohort.markers[0].times[j];
    const effect = 0.4 * z(0)[17] + 0.4 * z(1)[17] * 2 * (t - 0.5);
    expect(moved.cohort.markers[0].values[j] - null_.cohort.markers[0].values[j]).toBeCloseTo(effect, 9);
  });

  it("gives the same bits for the same seed, and refuses what is out of range", () => {
    const options = { covariates: "mean", numMarkers: 2, relation: "unrelated" } as const;
    expect(simulatePlaces({ ...options, seed: 4 })).toEqual(simulatePlaces({ ...options, seed: 4 }));
    expect(simulatePlaces({ seed: 4 }).cohort).not.toEqual(simulatePlaces({ seed: 5 }).cohort);
    expect(() => simulatePlaces({ numMarkers: 0 })).toThrow(/numMarkers from 1, received 0/);
    expect(() => simulatePlaces({ relation: "twin" as "unrelated" })).toThrow(/same-place, one-axis, unrelated/);
  });
});
