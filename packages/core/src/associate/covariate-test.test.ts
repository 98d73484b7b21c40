import { describe, expect, it } from "vitest";
import { codeCovariates } from "../covariates/code.ts";
import { withCovariates } from "../covariates/covariates.ts";
import { fitDtm } from "../models/fit-models.ts";
import { fitLmm } from "../models/linear-models.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { placeShifts, remainingInPlaces, scoreCovariate, screenCovariates } from "./covariate-test.ts";

const random = createRandom(4);
const n = 60;
const shifts = Float64Array.from({ length: 2 * n }, () => random.normal());
const z = Float64Array.from({ length: n }, (_, i) => (i % 2) - 0.5);

describe("scoreCovariate", () => {
  it("is S'V⁻¹S of the stacked scores", () => {
    const mean = [0, 1].map((a) => shifts.filter((_, e) => e % 2 === a).reduce((s, v) => s + v, 0) / n);
    const s = [0, 1].map((a) => Array.from(z, (v, i) => v * (shifts[2 * i + a] - mean[a])));
    const sum = (x: readonly number[]) => x.reduce((total, v) => total + v, 0);
    const V = (a: number, b: number) => sum(s[a].map((v, i) => v * s[b][i]));
    const [S0, S1] = s.map(sum);
    const T = (V(1, 1) * S0 * S0 - 2 * V(0, 1) * S0 * S1 + V(0, 0) * S1 * S1) / (V(0, 0) * V(1, 1) - V(0, 1) ** 2);
    const test = scoreCovariate({ mapDimension: 2, shifts }, z, { draws: 4999 });
    expect(test.statistic).toBeCloseTo(T, 10);
    expect(test.degrees).toBe(2);
    // Draws and χ² agree where individuals are many.
    expect(Math.abs(test.p - test.chiSquareP)).toBeLessThan(0.03);
    expect(scoreCovariate({ mapDimension: 2, shifts }, z, { draws: 4999 })).toEqual(test);
  });

  it("does not depend on turns and scales of the map, nor on how levels are coded", () => {
    const [c, s] = [Math.cos(1), Math.sin(1)];
    const turned = shifts.map((_, e) => {
      const [x, y] = [shifts[e - (e % 2)], shifts[e - (e % 2) + 1]];
      return e % 2 === 0 ? 3 * (c * x - s * y) : s * x + c * y;
    });
    const test = scoreCovariate({ mapDimension: 2, shifts }, z, { draws: 99 });
    const other = scoreCovariate(
      { mapDimension: 2, shifts: turned },
      z.map((v) => -4 * v),
      { draws: 99 },
    );
    expect(other.statistic).toBeCloseTo(test.statistic, 10);
    expect(other.p).toBe(test.p);
  });

  it("leaves out an axis on which nobody stands apart", () => {
    const flat = Float64Array.from({ length: 3 * n }, (_, e) =>
      e % 3 === 2 ? 0 : shifts[2 * Math.floor(e / 3) + (e % 3)],
    );
    const test = scoreCovariate({ mapDimension: 3, shifts: flat }, z, { draws: 99 });
    expect(test.degrees).toBe(2);
    expect(test.statistic).toBeCloseTo(scoreCovariate({ mapDimension: 2, shifts }, z, { draws: 99 }).statistic, 10);
  });
});

describe("screenCovariates", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 120, seed: 3 });
  const model = fitDtm(cohort, { seed: 1, restarts: 0 });
  const places = placeShifts(model, cohort);
  const right = Array.from(cohort.ids, (_, i) => places.shifts[2 * i] > 0);
  const cell = (of: (i: number) => string) => cohort.ids.map((_, i) => of(i));
  const table = {
    ids: cohort.ids,
    columns: [
      { name: "side", cells: cell((i) => (right[i] ? "right" : "left")) },
      { name: "coin", cells: cell((i) => (i < 5 ? "" : String(i % 7))) },
      { name: "same", cells: cell(() => "1") },
    ],
    lines: cell(() => "").map((_, i) => i + 2),
  };
  const names = ["side", "coin", "same"].map((name) => ({ name }));
  const tests = screenCovariates(places, table, { covariates: names }, { draws: 999 });

  it("finds what moves places and in which direction, and tests each covariate on those who have it", () => {
    const [side, coin, same] = tests;
    expect(side).toMatchObject({ covariate: "side", kind: "category", numIndividuals: 120, leftOut: 0, p: 1 / 1000 });
    expect(side.columns[0]).toMatchObject({ compared: "right against left", step: 1 });
    // 0 to 6 have a standard deviation of 2: the shift is told for the step that is said, as effects of a fit are.
    const { shift, step, compared } = coin.columns[0];
    const z = Array.from(cohort.ids.keys()).flatMap((i) => (i < 5 ? [] : [{ i, v: i % 7 }]));
    const center = z.reduce((s, { v }) => s + v, 0) / z.length;
    const squares = z.reduce((s, { v }) => s + (v - center) ** 2, 0);
    const slope = z.reduce((s, { i, v }) => s + (v - center) * places.shifts[2 * i], 0) / squares;
    expect(step).toBe(Number(Math.sqrt(squares / z.length).toPrecision(2)));
    expect(compared).toBe(`per ${step}`);
    expect(shift[0]).toBeCloseTo(step * slope, 10);
    // The difference of the two means, along the first axis.
    const mean = (on: boolean) => {
      const own = Array.from(cohort.ids.keys()).filter((i) => right[i] === on);
      return own.reduce((s, i) => s + places.shifts[2 * i], 0) / own.length;
    };
    expect(side.columns[0].shift[0]).toBeCloseTo(mean(true) - mean(false), 10);
    expect(Math.abs(side.columns[0].angle!)).toBeLessThan(30);
    expect(coin).toMatchObject({ kind: "number", numIndividuals: 115, leftOut: 5 });
    expect(coin.p).toBeGreaterThan(0.05);
    expect(same.untested).toMatch(/^expected same to differ/);
    expect(same.p).toBeNaN();
  });

  it("adjusts over those that were tested", () => {
    expect(tests[0].adjusted.holm).toBeCloseTo(2 / 1000, 12);
    expect(tests[2].adjusted.holm).toBeNaN();
  });

  it("refuses a column that is not there", () => {
    expect(() => screenCovariates(places, table, { covariates: [{ name: "sex" }] })).toThrow(/a column "sex"/);
  });

  it("takes the places of a mixed model from where nobody was seen", () => {
    const lmm = fitLmm(cohort);
    const own = placeShifts(lmm, cohort);
    const q = own.mapDimension;
    const mean = own.shifts.filter((_, e) => e % q === 0).reduce((s, v) => s + v, 0) / cohort.ids.length;
    const sd = Math.sqrt(own.shifts.filter((_, e) => e % q === 0).reduce((s, v) => s + v * v, 0) / cohort.ids.length);
    expect(Math.abs(mean)).toBeLessThan(0.2 * sd);
  });
});

describe("remainingInPlaces", () => {
  const { cohort, subjects } = simulatePlaces({ covariates: "places", numIndividuals: 250, seed: 2 });
  const fitted = (effect: "level" | "places") => {
    const names = ["c2", "c5"].map((name) => ({ name }));
    const own = withCovariates(cohort, codeCovariates(subjects, cohort.ids, { covariates: names, effect }));
    const model = fitDtm(own, { restarts: 0, nodes: { step: 0.5 }, inducing: { perDimension: 3 } });
    return remainingInPlaces(model, own, embed(model, own));
  };

  it("tells a covariate that moves places though its effect was put into the mean", () => {
    const [moves, nothing] = fitted("level");
    expect(moves).toMatchObject({ covariate: "c2" });
    expect(moves.p).toBeLessThan(0.01);
    expect(nothing.p).toBeGreaterThan(0.05);
  });

  it("says nothing of covariates that shift places", () => {
    expect(fitted("places")).toEqual([]);
  });
});
