import { describe, expect, it } from "vitest";
import { numIndividuals } from "../cohort/cohort.ts";
import { codeCovariates } from "../covariates/code.ts";
import { fitFpca } from "../models/fit-models.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { adjustmentOf, NO_ADJUSTMENT } from "./adjustment.ts";
import { associate, checkAdjustable } from "./association.ts";
import { testEvent } from "./event-test.ts";
import { comparePredictors } from "./predictors.ts";
import { scoreOf, withoutCovariates } from "./score-test.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 160, seed: 3 });
const m = numIndividuals(cohort);
const model = fitFpca(cohort, { rank: 2 });
const placements = embed(model, cohort);
const random = createRandom(5);
/** Age goes with the first axis, the outcome and the hazard with age alone; the first eight individuals have no age. */
const axis = placements.location.filter((_, e) => e % 2 === 0);
const sd = Math.sqrt(axis.reduce((s, v) => s + v * v, 0) / m);
const age = Array.from(axis, (x) => 50 + 10 * (x / sd) + 3 * random.normal());
const death = Uint8Array.from(age, (a) => (random.uniform() < 1 / (1 + Math.exp(-(a - 50) / 6)) ? 1 : 0));
const times = age.map((a) => -8 * Math.log(1 - random.uniform()) * Math.exp(-(a - 50) / 12));
const table = {
  ids: cohort.ids,
  columns: [
    { name: "age", cells: age.map((a, i) => (i < 8 ? "" : a.toFixed(2))) },
    { name: "sex", cells: age.map((_, i) => (i % 2 === 0 ? "f" : "m")) },
    { name: "two", cells: age.map((_, i) => String(i % 2)) },
  ],
  lines: age.map((_, i) => i + 2),
};
const covariatesOf = (...names: string[]) =>
  codeCovariates(table, cohort.ids, { covariates: names.map((name) => ({ name })), effect: "level" });
const adjustment = adjustmentOf(covariatesOf("age", "sex"), m);
const input = { model, placements, cohort, outcomes: [{ name: "death", labels: death }] };
const options = { draws: 199, seed: 2 };

describe("adjustmentOf", () => {
  it("has numbers with their squares, levels as 0 and 1 about their mean, and gaps for those who lack one", () => {
    expect(adjustment.names).toEqual(["age", "sex"]);
    expect(adjustment.columns.map(({ name }) => name)).toEqual(["age", "age²", "sex: m"]);
    expect(adjustment.leftOut).toBe(8);
    const [own, square, sex] = adjustment.columns.map(({ values }) => values);
    for (let i = 0; i < m; i++) expect(square[i]).toEqual(i < 8 ? Number.NaN : own[i] * own[i]);
    expect(sex[9] - sex[8]).toBeCloseTo(1, 12);
  });

  it("has no square of a number with two values, which is a line again", () => {
    expect(adjustmentOf(covariatesOf("two"), m).columns.map(({ name }) => name)).toEqual(["two"]);
  });

  it("has cubes of numbers in a large study, where there are values enough", () => {
    const ids = Array.from({ length: 500 }, (_, i) => `p${i}`);
    const column = (name: string, values: number) => ({ name, cells: ids.map((_, i) => String(i % values)) });
    const columns = [column("age", 50), column("stage", 3)];
    const coded = codeCovariates({ ids, columns, lines: ids.map((_, i) => i + 2) }, ids, {
      covariates: [{ name: "age" }, { name: "stage", kind: "number" }],
    });
    const names = adjustmentOf(coded, 500).columns.map(({ name }) => name);
    expect(names).toEqual(["age", "age²", "age³", "stage", "stage²"]);
  });
});

describe("an adjusted association", () => {
  it("no longer finds what only a covariate made", async () => {
    const plain = await associate(input, options);
    const adjusted = await associate({ ...input, adjustment }, options);
    expect(plain.outcomes[0].p).toBe(1 / 200);
    expect(adjusted.outcomes[0].p).toBeGreaterThan(0.05);
    expect(adjusted).toMatchObject({ adjustedFor: ["age", "sex"], leftOut: 8 });
    expect(plain).toMatchObject({ adjustedFor: [], leftOut: 0 });
    const [found] = adjusted.outcomes;
    expect(found.leftOut).toBe(8);
    expect(found.cases + found.controls + found.missing + found.leftOut).toBe(m);
    expect(found.representations.fpca.kde).toBeNull();
    expect(plain.outcomes[0].effect.auc.lower).toBeGreaterThan(0.6);
    expect(found.effect.auc.lower).toBeLessThan(0.5);
    expect(found.predictors.rows.map(({ predictors }) => predictors)).toEqual([
      "covariates",
      "last value",
      "visits only",
      "place",
      "covariates, last value and visits",
      "covariates, last value, visits and place",
    ]);
    expect(found.predictors.verdict).toContain("covariates, last value and visits");
  });

  it("without covariates is the unadjusted one, bit for bit", async () => {
    expect(await associate({ ...input, adjustment: NO_ADJUSTMENT }, options)).toEqual(await associate(input, options));
  });

  it("refuses an outcome that the covariates determine", async () => {
    const outcomes = [{ name: "sex", labels: Uint8Array.from({ length: m }, (_, i) => i % 2) }];
    const refused = {
      code: "determined-label",
      message: expect.stringMatching(/received "sex", which they \(age, sex\) determine/),
    };
    let computed = 0;
    const onProgress = () => void computed++;
    const both = [...input.outcomes, ...outcomes];
    await expect(associate({ ...input, outcomes: both, adjustment }, { ...options, onProgress })).rejects.toMatchObject(
      refused,
    );
    expect(computed).toBe(0);
    expect(() => checkAdjustable(both, adjustment)).toThrow(/Leave it out of the outcomes/);
    expect(() => checkAdjustable(input.outcomes, adjustment)).not.toThrow();
  });

  it("holds for the time to an event, and for what the place adds to it", async () => {
    const followUp = { times: times.map((t) => Math.min(t, 30)), events: times.map((t) => (t < 30 ? 1 : 0)) };
    expect((await testEvent(model, cohort, followUp, options)).p).toBe(1 / 200);
    const adjusted = await testEvent(model, cohort, followUp, options, adjustment);
    expect(adjusted.p).toBeGreaterThan(0.05);
    expect(adjusted.numIndividuals).toBe(m - 8);
    const { rows, added } = comparePredictors(cohort, placements, followUp, 1, adjustment);
    expect(rows[0].value).toBeGreaterThan(0.6);
    expect(added.lower).toBeLessThanOrEqual(0);
  });
});

describe("withoutCovariates", () => {
  it("leaves features that do not go with the covariates, and gives the score of residual labels", () => {
    const [c, z] = [1, 2].map(() => Float64Array.from({ length: 40 }, () => random.normal()));
    const features = Float64Array.from({ length: 80 }, () => random.normal());
    const left = withoutCovariates(features, 40, [c]);
    const mean = c.reduce((s, v) => s + v, 0) / 40;
    for (const f of [0, 1]) {
      expect(c.reduce((s, v, i) => s + (v - mean) * left[2 * i + f], 0)).toBeCloseTo(0, 10);
    }
    const [whole, rest] = [scoreOf(features, z, [c]), scoreOf(left, z, [c])];
    for (const f of [0, 1]) expect(rest.sum[f]).toBeCloseTo(whole.sum[f], 10);
  });
});
