import { describe, expect, it } from "vitest";
import { approximateP, scoreOf } from "../associate/score-test.ts";
import { onlyMarker } from "../cohort/cohort.ts";
import { DEFAULT_MARKER } from "../cohort/marker.ts";
import { fitDtm, fitFpca } from "../models/fit-models.ts";
import { embed } from "../models/place.ts";
import { columnMeans, covarianceOf } from "../numeric/moments.ts";
import { createRandom } from "../numeric/random.ts";
import { normalCdf, normalQuantile } from "../numeric/special.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { drawVisits, fitDesign, type StudyDesign } from "./design.ts";
import { placesOf } from "./design-places.ts";
import { drawOutcome, interceptOf, type OutcomeLink, risksOf } from "./outcome-links.ts";
import { studyPower } from "./power.ts";
import { powerCurve, smallestEffect, solveProbit } from "./power-curve.ts";
import { drawStudy, type simulateStudy } from "./power-replicate.ts";
import { runStudyTask } from "./tasks.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 80, seed: 3 });
const model = fitDtm(cohort, { restarts: 0, noise: "white", nodes: { step: 0.5 } });
const design: StudyDesign = { numIndividuals: 60, visits: { times: [0, 1, 2, 4], missing: 0.2, jitter: 0.1 } };

describe("designs", () => {
  const window = [0, 10] as const;
  const schedule = { times: [0, 1, 2, 3], missing: 0.3, jitter: 0.05, dropout: 0.2 };
  const drawn = onlyMarker(drawVisits({ numIndividuals: 20_000, visits: schedule }, DEFAULT_MARKER, window, 7));

  it("miss visits and lose individuals at the stated rates, but for the first visit", () => {
    const near = (t: number) => drawn.times.filter((v) => Math.abs(v - t) < 0.4).length / 20_000;
    expect(near(0)).toBe(1);
    // P(visit at t) = 0.7 exp(−0.2 t); 4 standard errors of a share are at most 0.014.
    for (const t of [1, 2, 3]) expect(Math.abs(near(t) - 0.7 * Math.exp(-0.2 * t))).toBeLessThan(0.014);
  });

  it("take the times of a table as they are, and draw another number from them", () => {
    const histories = [Float64Array.of(0, 1), Float64Array.of(0, 2, 5)];
    const times = (numIndividuals: number) =>
      onlyMarker(drawVisits({ numIndividuals, visits: histories }, DEFAULT_MARKER, window, 1));
    expect([...times(2).times]).toEqual([0, 1, 0, 2, 5]);
    const { offsets } = times(1000);
    const long = Array.from({ length: 1000 }, (_, i) => offsets[i + 1] - offsets[i]).filter((n) => n === 3).length;
    expect(Math.abs(long - 500)).toBeLessThan(4 * Math.sqrt(250));
  });

  it("leave out visits beyond the model's times, and refuse a design that has most of them there", () => {
    const ten = (times: number[]) => Array.from({ length: 10 }, () => Float64Array.from(times));
    const visits = [...ten([0, 5, 12]), Float64Array.of(11)];
    const { design: kept, outside } = fitDesign({ numIndividuals: 11, visits }, window);
    expect(outside).toEqual({ visits: 11, of: 31, individuals: 1 });
    expect(kept.numIndividuals).toBe(10);
    // A hundredth of the range is moved to its edge.
    expect(fitDesign({ numIndividuals: 10, visits: ten([-0.1, 10.1]) }, window).outside.visits).toBe(0);
    const months = { numIndividuals: 50, visits: { times: [0, 6, 9, 24] } };
    expect(fitDesign(months, window)).toMatchObject({ outside: { visits: 1, of: 4, individuals: 0 } });
    expect(() => fitDesign({ ...months, visits: { times: [0, 6, 12, 24] } }, window)).toThrow(
      /between 0 and 10.*2 of 4/,
    );
  });

  it.each([
    [{ times: [] }, /times of visits/],
    [{ times: [0, 0, 1] }, /differ/],
    [{ times: [0], missing: 1 }, /missed/],
    [{ times: [0], dropout: -1 }, /dropout/],
    [{ times: [0], jitter: Number.NaN }, /jitter/],
  ])("refuse a schedule out of range: %o", (visits, words) => {
    expect(() => fitDesign({ numIndividuals: 20, visits }, window)).toThrow(words);
  });
});

const ALONG: OutcomeLink = { kind: "most-resolved", direction: Float64Array.of(1, 0), cut: null, effects: [] };

describe("outcomes that go with the place", () => {
  it("have the risk asked for, whatever the effect", () => {
    const random = createRandom(5);
    const u = Float64Array.from({ length: 100_000 }, () => random.normal());
    for (const effect of [0, 1, 3]) {
      const labels = drawOutcome(u, interceptOf(ALONG, effect, 0.2), effect, random);
      expect(Math.abs(labels.reduce((s, v) => s + v, 0) / u.length - 0.2)).toBeLessThan(4 * Math.sqrt(0.16 / u.length));
    }
    const cut = normalQuantile(0.7);
    const { lower, upper } = risksOf({ ...ALONG, kind: "groups", cut }, 1.2, 0.25);
    expect(0.7 * lower + 0.3 * upper).toBeCloseTo(0.25, 10);
    expect(Math.log(upper / (1 - upper)) - Math.log(lower / (1 - lower))).toBeCloseTo(1.2, 8);
  });

  it("part the places of those with and without it by the log odds ratio, as discriminant analysis has it", () => {
    // Exact for Gaussian classes; for a small effect the logistic population is one to second order.
    expect(risksOf(ALONG, 0.1, 0.3).placeDifference).toBeCloseTo(0.1, 3);
  });

  it("are found as often as the closed form says where the direction is seen without error", () => {
    // One feature, u itself: T/V is χ²₁ with noncentrality β² m π(1 − π) for small β, so power is Φ(β√(m π(1−π)) − 1.96).
    const [m, risk, studies] = [1000, 0.3, 400];
    const effect = 2.5 / Math.sqrt(m * risk * (1 - risk));
    const random = createRandom(11);
    let found = 0;
    for (let s = 0; s < studies; s++) {
      const u = Float64Array.from({ length: m }, () => random.normal());
      const labels = drawOutcome(u, interceptOf(ALONG, effect, risk), effect, random);
      if (approximateP(scoreOf(u, labels)) <= 0.05) found++;
    }
    const expected = normalCdf(2.5 - normalQuantile(0.975));
    expect(Math.abs(found / studies - expected)).toBeLessThan(3.5 * Math.sqrt((expected * (1 - expected)) / studies));
  });
});

describe("power curves", () => {
  const effects = [0.2, 0.4, 0.6, 0.8, 1, 1.4];
  const truth = effects.map((b) => normalCdf(-2 + 4 * b));

  it("give back the effect of a probit, and its interval holds it", () => {
    const exact = (normalQuantile(0.8) + 2) / 4;
    expect(solveProbit(effects, truth, 0.8)).toBeCloseTo(exact, 6);
    const random = createRandom(2);
    const shares = Array.from({ length: 80 }, () =>
      truth.map((p) => Array.from({ length: 10 }, () => Number(random.uniform() < p)).reduce((s, v) => s + v, 0) / 10),
    );
    const found = smallestEffect(effects, shares, 0.8, 1)!;
    expect(found.lower).toBeLessThan(exact);
    expect(found.upper).toBeGreaterThan(exact);
    expect(found.upper - found.lower).toBeLessThan(0.08);
    const [point] = powerCurve(
      [0.2],
      shares.map(([s]) => [s]),
    );
    expect(Math.abs(point.power - truth[0])).toBeLessThan(4 * point.standardError);
  });

  it("have no smallest effect where none reaches the power", () => {
    expect(solveProbit(effects, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0.8)).toBeNull();
  });
});

describe("studyPower", () => {
  it("resolves the share of the prior variance that posterior means have: law of total variance", () => {
    const { cohort: many } = drawStudy({ model, design: { ...design, numIndividuals: 3000 } } as never, 1);
    const placements = embed(model, many);
    const { directions, all, classes } = placesOf(placements);
    const spread = covarianceOf(placements.location, 3000, 2, columnMeans(placements.location, 3000, 2));
    // The lattice of the prior is coarse, and a variance of 3,000 places has a standard error of 0.026 of itself.
    expect(Math.abs((spread[0] + spread[3]) / 2 - all.resolved)).toBeLessThan(0.05);
    expect(directions[0].resolved).toBeGreaterThan(directions[1].resolved);
    expect(directions[0].resolved + directions[1].resolved).toBeCloseTo(2 * all.resolved, 10);
    // More visits, smaller regions.
    const radii = classes.map(({ radius }) => radius.median);
    expect(radii).toEqual([...radii].sort((a, b) => b - a));
  });

  it("keeps the level without an effect, grows with effect and size, and ends at one", async () => {
    const options = { map: "known", replicates: 20, numOutcomes: 20, effects: [0, 0.7, 2.5] } as const;
    const small = await studyPower(model, design, options);
    const large = await studyPower(model, { ...design, numIndividuals: 180 }, options);
    for (const { curve } of [...small.links, ...large.links]) {
      const [none] = curve;
      // 400 outcomes on 20 cohorts: 4 standard errors of 5%, and the approximation of small p-values.
      expect(Math.abs(none.power - 0.05)).toBeLessThan(4 * Math.sqrt(0.0475 / 400) + 0.005);
      expect(curve[2].power).toBeGreaterThan(curve[1].power);
    }
    for (const l of [0, 1, 2]) expect(large.links[l].curve[1].power).toBeGreaterThan(small.links[l].curve[1].power);
    expect(large.links[0].curve[2].power).toBeGreaterThan(0.99);
    expect(large.links[0].smallest!.effect).toBeLessThan(small.links[0].smallest!.effect);
    // The direction that is resolved best needs the smaller effect.
    expect(large.links[0].smallest!.effect).toBeLessThan(large.links[1].smallest!.effect);
    for (const { inSds } of large.forecasts.widths) expect(inSds).toBeLessThan(3.29);
  });

  it("does not depend on how studies are run, and fits a map to each unless told otherwise", async () => {
    const options = { replicates: 2, numOutcomes: 4, effects: [0, 1.5], seed: 9 };
    const inTurn = await studyPower(model, design, options);
    const asTasks = await studyPower(model, design, {
      ...options,
      jobs: 2,
      run: (plan, seed) =>
        runStudyTask({ kind: "power", shared: structuredClone(plan), part: { seed } }) as ReturnType<
          typeof simulateStudy
        >,
    });
    expect(asTasks).toEqual(inTurn);
    expect(inTurn.map).toBe("fitted");
  });

  it("refuses models it cannot simulate places from, and numbers out of range", async () => {
    await expect(studyPower(fitFpca(cohort, { rank: 2 }), design)).rejects.toThrow(/a map of one or two/);
    await expect(studyPower(model, design, { risk: 1 })).rejects.toThrow(/risk/);
    await expect(studyPower(model, { ...design, numIndividuals: 3 })).rejects.toThrow(/from 10/);
  });
});
