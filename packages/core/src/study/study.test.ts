import { describe, expect, it } from "vitest";
import { plainOutcomes } from "../associate/outcomes.ts";
import { makeCohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { stabilityWord } from "../map/clusters/stability.ts";
import { groupPlaces } from "../map/groups.ts";
import { markerModel } from "../models/fit.ts";
import { fitFpca } from "../models/fit-models.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { refitPart, studyStability } from "./group-stability.ts";
import { landmarkSurvival } from "./landmark-survival.ts";
import { refitLike } from "./refit.ts";
import { followUpColumns, readFollowUp, readSubjects } from "./subjects.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 120, seed: 4 });
const fpca = fitFpca(cohort, { rank: 2 });
const placements = embed(fpca, cohort);
const groups = groupPlaces(fpca, placements, { numGroups: 3 });
const m = numIndividuals(cohort);

describe("refitLike", () => {
  it("gives the same model again on the same individuals", () => {
    const again = refitLike(fpca, cohort);
    expect(again.kind).toBe("fpca");
    markerModel(again).mean.coefficients.forEach((v, k) => {
      expect(v).toBeCloseTo(markerModel(fpca).mean.coefficients[k], 6);
    });
    expect(markerModel(again).noise.variance).toBeCloseTo(markerModel(fpca).noise.variance, 6);
  });
});

describe("studyStability", () => {
  it("does not depend on how the resamples are run", async () => {
    const options = { numResamples: 3, seed: 2 };
    const inTurn = await studyStability(fpca, cohort, groups.labels, 3, options);
    const late = await studyStability(fpca, cohort, groups.labels, 3, {
      ...options,
      jobs: 2,
      // The first task answers last, as may happen with threads.
      run: async (task) => {
        await new Promise((done) => setTimeout(done, task.seed % 2 === 0 ? 30 : 1));
        return refitPart(task);
      },
    });
    expect(late).toEqual(inTurn);
    expect(inTurn.adjustedRand).toHaveLength(3);
  });

  it("is high for groups that are far apart and about zero for groups made at random", async () => {
    const random = createRandom(1);
    const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
    for (let i = 0; i < 60; i++) {
      for (let t = 0; t < 4; t++) {
        rows.ids.push(`p${100 + i}`);
        rows.times.push(t);
        rows.values.push((i % 3) * 30 + (i % 2) * 2 * t + random.normal());
      }
    }
    const apart = makeCohort(rows);
    const model = fitFpca(apart, { rank: 2 });
    const found = groupPlaces(model, embed(model, apart), { numGroups: 3 });
    const options = { numResamples: 3 };
    const stable = await studyStability(model, apart, found.labels, 3, options);
    expect(stable.meanAdjustedRand).toBeGreaterThan(0.6);
    expect(stable.verdict).toBe(stabilityWord(stable.meanAdjustedRand));
    // Levels and slopes are both planted: refits to 80% find the same plane.
    expect(Math.min(...stable.mapAgreement)).toBeGreaterThan(0.95);
    const chance = Int32Array.from({ length: numIndividuals(apart) }, () => random.integer(3));
    expect((await studyStability(model, apart, chance, 3, options)).meanAdjustedRand).toBeLessThan(0.3);
  });
});

describe("landmarkSurvival", () => {
  const random = createRandom(9);
  const times = Float64Array.from({ length: m }, (_, i) => placements.lastTime[i] + 10 * random.uniform());
  const events = Float64Array.from({ length: m }, () => (random.uniform() < 0.5 ? 1 : 0));
  const study = { model: fpca, cohort, groups };

  it("counts everybody once: in a curve or left out for a reason", async () => {
    const result = await landmarkSurvival(study, "death", { times, events }, 3);
    const { unknown, eventBefore, censoredBefore, noVisitBefore } = result.leftOut;
    expect(result.numIndividuals + unknown + eventBefore + censoredBefore + noVisitBefore).toBe(m);
    expect(result.curves.reduce((s, c) => s + c.numIndividuals, 0)).toBe(result.numIndividuals);
    expect(result.curves.map((c) => c.group)).toEqual(result.groups.map((g) => g.group));
    const named = [...result.groups, ...result.emptyGroups].map(({ group }) => group).sort((a, b) => a - b);
    expect(named).toEqual(groups.groups.map((_, g) => g));
  });

  it("adjusts Cox and what the place adds for covariates, and counts who lacks one", async () => {
    const age = Float64Array.from({ length: m }, (_, i) => (i < 4 ? Number.NaN : ((i * 7) % 40) / 20 - 1));
    const adjustment = { names: ["age"], columns: [{ name: "age", values: age }], leftOut: 4 };
    const [plain, adjusted] = await Promise.all(
      [study, { ...study, adjustment }].map((one) => landmarkSurvival(one, "death", { times, events }, 3)),
    );
    expect(plain).toMatchObject({ adjustedFor: [], withoutCovariates: 0, placeTest: plain.cox.likelihoodRatio });
    expect(adjusted).toMatchObject({ adjustedFor: ["age"], withoutCovariates: 4, coxCovariates: ["age"] });
    const total = Object.values(adjusted.leftOut).reduce((sum, n) => sum + n, adjusted.numIndividuals + 4);
    expect(total).toBe(m);
    expect(adjusted.cox.terms).toHaveLength(3);
    expect(adjusted.placeTest.degrees).toBe(2);
    expect(adjusted.placeTest.statistic).toBeLessThanOrEqual(adjusted.cox.likelihoodRatio.statistic);
    expect(adjusted.mapTest.numIndividuals).toBe(plain.mapTest.numIndividuals - 4);
  });

  it("has curves of competing events that share everybody out, and censors them elsewhere", async () => {
    const other = { times, events: Float64Array.from(events, (e, i) => (e === 0 && i % 3 === 0 ? 1 : 0)) };
    const plain = await landmarkSurvival(study, "death", { times, events }, 3);
    const result = await landmarkSurvival(study, "death", { times, events }, 3, {
      competing: [{ name: "transplant", followUp: other }],
      riskTimes: [2, 5],
    });
    expect(plain.competing).toBeNull();
    expect(result.competing?.names).toEqual(["transplant"]);
    expect(result.competing?.curves.map((c) => c.group)).toEqual(result.curves.map((c) => c.group));
    for (const { survival, causes } of result.competing?.curves ?? []) {
      survival.forEach((S, j) => {
        expect(S + causes[0].incidence[j] + causes[1].incidence[j]).toBeCloseTo(1, 12);
      });
    }
    // Both events are at the times of follow-up: hazards of death are what they are with transplants censored.
    expect(result.cox).toEqual(plain.cox);
    expect(result.risk?.calibration.map(({ time }) => time)).toEqual([2, 5]);
    for (const [k, { overall }] of (result.risk?.calibration ?? []).entries()) {
      const total = result.competing?.curves.reduce((sum, c) => sum + c.numIndividuals, 0);
      expect(overall.numIndividuals).toBe(total);
      expect(overall.predicted).toBeGreaterThan(k === 0 ? 0 : (result.risk?.calibration[0].overall.predicted ?? 1));
    }
  });

  it("tests proportional hazards and pools Cox over draws of the places", async () => {
    const result = await landmarkSurvival(study, "death", { times, events }, 3);
    expect(result.proportionalHazards.map(({ transform, terms }) => [transform, terms.length])).toEqual([
      ["km", 2],
      ["identity", 2],
    ]);
    expect(result.pooledCox?.visits).toMatchObject({ draws: 20, given: "visits" });
    for (const [c, term] of (result.pooledCox?.event.terms ?? []).entries()) {
      // Events were dealt out at random: pooled and plug-in agree within their errors, and the pooled error is no smaller.
      expect(Math.abs(term.estimate - result.cox.terms[c].coefficient)).toBeLessThan(2 * term.standardError);
      expect(term.missingInformation).toBeGreaterThan(0);
    }
    // Nothing to find: cross-fitted concordance is chance, within four standard errors.
    const { value, standardError } = result.risk?.concordance ?? { value: Number.NaN, standardError: Number.NaN };
    expect(Math.abs(value - 0.5)).toBeLessThan(4 * standardError);
    expect(await landmarkSurvival(study, "death", { times, events }, 3)).toEqual(result);
  });

  it("says nothing of risks with few events", async () => {
    const few = events.map((_, i) => (i % 20 === 0 ? 1 : 0));
    const result = await landmarkSurvival(study, "death", { times, events: few }, 3);
    expect(result).toMatchObject({ risk: null, pooledCox: null });
  });

  it("names the groups that nobody joins at the landmark", async () => {
    // At a landmark before the second visits everyone stands near the middle; a region far away stays empty.
    const K = groups.groups.length;
    const far = { ...groups.groups[0], letter: "Z", name: "alone" };
    const { regions } = groups;
    const another = {
      ...regions,
      numGroups: K + 1,
      weights: Float64Array.of(...regions.weights, regions.weights[0]),
      means: Float64Array.of(...regions.means, 50, 50),
      covariances: Float64Array.of(...regions.covariances, 1, 0, 0, 1),
    };
    const result = await landmarkSurvival(
      { ...study, groups: { ...groups, regions: another, groups: [...groups.groups, far] } },
      "death",
      { times, events },
      1,
    );
    expect(result.emptyGroups).toContainEqual({ group: K, letter: "Z", name: "alone" });
    expect(result.curves.map((c) => c.group)).not.toContain(K);
  });

  it("does not look beyond the landmark: later values change nothing", async () => {
    const series = onlyMarker(cohort);
    const values = series.values.map((v, j) => (series.times[j] > 3 ? 200 - v : v));
    const other = { ...cohort, markers: [{ ...series, values }] };
    const changed = await landmarkSurvival({ ...study, cohort: other }, "death", { times, events }, 3);
    // The test on the whole map is the one part that reads later values.
    expect({ ...changed, mapTest: null }).toEqual({
      ...(await landmarkSurvival(study, "death", { times, events }, 3)),
      mapTest: null,
    });
  });
});

describe("tables of individuals", () => {
  const text = "patient_id;stage;dead;weeks\nA;2;1;10\nB;;0;\nC;3;0;7,5\n";
  const { table, notes } = readSubjects(text, { decimal: "," });

  it("are read with the id column guessed aloud, and outcomes of two plain values are found", () => {
    expect(table.ids).toEqual(["A", "B", "C"]);
    expect(notes).toEqual(['Column "patient_id" is taken as id.']);
    expect(plainOutcomes(table)).toEqual(["dead"]);
  });

  it("give follow-up with empty cells as unknown", () => {
    const { times, events } = readFollowUp(table, "weeks", Uint8Array.of(0, 1, 255), ["C", "A", "Z"]);
    expect(Array.from(times)).toEqual([7.5, 10, Number.NaN]);
    expect(Array.from(events)).toEqual([0, 1, Number.NaN]);
  });

  it("are refused by name: unknown columns, ragged rows, empty ids, times that are none", () => {
    expect(() => readSubjects(text, { id: "who" })).toThrow(/a column "who" with the ids.*patient_id/);
    expect(() => readSubjects("id,a\nx,1,2\n")).toThrow(/line 2: expected 2 fields/);
    expect(() => readSubjects("id,a\n,1\n")).toThrow(/expected an id/);
    expect(() => readFollowUp(table, "months", new Uint8Array(1), ["A"])).toThrow(/"months"/);
    const bad = readSubjects("id,weeks\nA,soon\n").table;
    expect(() => readFollowUp(bad, "weeks", new Uint8Array(1), ["A"])).toThrow(/line 2.*"soon"/);
    const rows = Array.from({ length: 9 }, (_, i) => `p${i},${i + 1},${i / 2}`).join("\n");
    const numbered = readSubjects(`id,row,years\n${rows}\n`).table;
    expect(() => readFollowUp(numbered, "row", new Uint8Array(9), numbered.ids)).toThrow(/"row", received ids or/);
    expect(readFollowUp(numbered, "years", new Uint8Array(9), numbered.ids).times[8]).toBe(4);
  });

  it("refuses columns that cannot be the follow-up of the visits, and offers only those that can", () => {
    const ids = Array.from({ length: 40 }, (_, i) => `p${i}`);
    const visits = {
      offsets: ids.map((_, i) => 2 * i).concat(80),
      times: ids.flatMap((_, i) => [0, 1 + (i % 9)]),
    };
    const rows = ids.map((id, i) => `${id},${(1.5 + (i % 9)).toFixed(1)},${30.5 + ((i * 7) % 40)},${1 + (i % 4)},2`);
    const { table } = readSubjects(["id,years,age,stage,visits", ...rows].join("\n"));
    const labels = Uint8Array.from(ids, (_, i) => i % 2);
    expect(followUpColumns(table, labels, ids, visits)).toEqual(["years"]);
    expect(() => readFollowUp(table, "age", labels, ids, visits)).toThrow(
      /"age".*end at 9, received a median of 5.*age/,
    );
    expect(() => readFollowUp(table, "stage", labels, ids, visits)).toThrow(/"stage".*reach the last visit/);
    expect(readFollowUp(table, "years", labels, ids, visits).times[0]).toBe(1.5);
  });
});
