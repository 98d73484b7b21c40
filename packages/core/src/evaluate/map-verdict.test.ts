import { describe, expect, it } from "vitest";
import { type Cohort, selectVisits } from "../cohort/cohort.ts";
import { readCohort } from "../ingest/read-cohort.ts";
import type { StartResult } from "../models/fit.ts";
import { fitDtm } from "../models/fit-models.ts";
import { fitLmm } from "../models/linear-models.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { compareModels } from "./compare.ts";
import { chanceShare } from "./explains.ts";
import { fitEnd, mapVerdict, verdictOnMap } from "./map-verdict.ts";
import type { Comparison } from "./summarize-folds.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 2 });
const fitted = fitDtm(cohort, { seed: 1, tolerance: 0.1, nodes: { step: 0.5 }, restarts: 1 });

const start = (bound: number, agreement: number): StartResult => ({
  name: "random places 1",
  bound,
  agreement,
  sameMap: agreement >= 0.9,
  similarBound: bound >= -2,
});
const withStarts = (...starts: StartResult[]) => ({ ...fitted, record: { ...fitted.record, converged: true, starts } });
const lightOf = (verdict: ReturnType<typeof mapVerdict>, name: string) => verdict.lights.find((l) => l.name === name);

describe("the verdict on a map", () => {
  it("is unknown, not good, before it was compared on held-out individuals", () => {
    const verdict = mapVerdict(withStarts(start(0, 1), start(-0.1, 0.99)));
    expect(verdict.state).toBe("unknown");
    expect(verdict.lights.map(({ state }) => state)).toEqual(["good", "good", "unknown", "unknown"]);
  });

  it("is never good where most individuals were seen once, and says so", () => {
    const once = selectVisits(cohort, (n, _, i) => (i % 10 === 0 ? n : 1));
    const seen = fitDtm(once, { seed: 1, tolerance: 0.1, nodes: { step: 0.5 }, restarts: 0 });
    const better = { differences: [{ model: "dtm", reference: "lmm", mean: 1, lower: 0.5, upper: 1.5 }], models: [] };
    for (const evidence of [null, better]) {
      const verdict = mapVerdict(seen, evidence);
      expect(verdict.state === "caution" || verdict.state === "poor").toBe(true);
      expect(lightOf(verdict, "explains")?.sentence).toMatch(/5\d of 60 individuals have one observation/);
    }
    expect(lightOf(mapVerdict(fitted, better), "explains")?.state).toBe("good");
  });

  it("is to be read with care where the fit has not settled, and says so first", () => {
    const ended = (verdict: string) =>
      mapVerdict({ ...fitted, record: { ...fitted.record, converged: false, verdict } });
    const verdict = ended("Stopped at 3.");
    expect([verdict.state, verdict.colour]).toEqual(["caution", "amber"]);
    expect(verdict.headline).toBe("Read with care: the fit has not settled. Stopped at 3.");
    expect(ended("Stopped after 9 iterations with the noise at its lower limit.").words).toBe(
      "Do not read: no map fits these data best",
    );
  });

  it("takes the worse of what starts and refits say, and says that first", () => {
    const starts = (refits: number[], ...told: StartResult[]) =>
      lightOf(mapVerdict(withStarts(...told), null, refits), "starts");
    const agreeing = [start(0, 1), start(-1, 0.95)];
    expect(starts([0.95, 0.9, 0.97], ...agreeing)?.state).toBe("good");
    expect(starts([0.95, 0.7, 0.6], ...agreeing)?.state).toBe("caution");
    expect(starts([0.95, 0.7, 0.6], ...agreeing)?.sentence).toMatch(
      /^Refits to 80% of the individuals give places with R² 0.70 \(median; 0.60 to 0.95 over 3\): the map depends/,
    );
    expect(starts([0.4, 0.3, 0.97], ...agreeing)?.state).toBe("poor");
    expect(starts([0.95], start(0, 1), start(-1, 0.5))).toMatchObject({ state: "caution", brief: "starts disagree" });
    // Refits of a fit from one start have one start: they cannot tell what others would find.
    expect(starts([0.95], start(0, 1))).toMatchObject({ state: "unknown", brief: "one start only" });
    expect(starts([0.6], start(0, 1))?.state).toBe("caution");
  });

  it("tells starts that agree from worse ones and from rivals", () => {
    const state = (...starts: StartResult[]) => lightOf(mapVerdict(withStarts(...starts)), "starts")?.state;
    expect(state(start(0, 1), start(-1, 0.95), start(-20, 0.3))).toBe("good");
    expect(state(start(0, 1), start(-8, 0.5), start(-20, 0.3))).toBe("caution");
    expect(state(start(0, 1), start(-1, 0.5), start(-20, 0.3))).toBe("caution");
    expect(state(start(0, 1))).toBe("unknown");
    const told = (...starts: StartResult[]) => lightOf(mapVerdict(withStarts(...starts)), "starts")?.sentence;
    expect(told(start(0, 1), start(-1, 0.95))).toBe("Both starts found the same map.");
    expect(told(start(0, 1), start(-1, 0.95), start(-20, 0.3))).toBe(
      "2 of 3 starts found the same map; the other one ended lower.",
    );
    expect(told(start(0, 1), start(-1, 0.95), start(-20, 0.3), start(-30, 0.3))).toMatch(/; the others ended lower\.$/);
    expect(told(start(0, 1), start(-8, 0.5))).toMatch(
      /^Only the start from .* found this map; the other one ended on another map, lower by 8\.0\. More starts/,
    );
  });

  it("reads a comparison: gain over the mixed model and coverage", async () => {
    const comparison = await compareModels(cohort, { folds: 2, models: ["lmm", "dtm"], seed: 1 });
    const changed = (mean: number, half: number, p90: number, count = 400): Comparison => ({
      ...comparison,
      differences: comparison.differences.map((d) => ({ ...d, mean, lower: mean - half, upper: mean + half })),
      models: comparison.models.map((m) => ({
        ...m,
        coverage: { ...m.coverage, p90 },
        forecast: { ...m.forecast, count },
      })),
    });
    const states = (c: Comparison) =>
      mapVerdict(withStarts(start(0, 1), start(0, 1)), c).lights.map(({ state }) => state);
    expect(states(changed(0.5, 0.1, 0.9)).slice(2)).toEqual(["good", "good"]);
    expect(states(changed(0.05, 0.1, 0.83)).slice(2)).toEqual(["caution", "caution"]);
    expect(states(changed(-0.5, 0.1, 0.6)).slice(2)).toEqual(["caution", "poor"]);
    // Bands that are too wide give no false certainty.
    expect(states(changed(0.5, 0.1, 0.99)).slice(3)).toEqual(["caution"]);
    // All of ten is no evidence that intervals are too wide, one in ten is evidence that they are too narrow.
    expect(states(changed(0.5, 0.1, 1, 10)).slice(3)).toEqual(["unknown"]);
    expect(states(changed(0.5, 0.1, 0.1, 10)).slice(3)).toEqual(["poor"]);
    expect(mapVerdict(withStarts(start(0, 1), start(0, 1)), changed(0.5, 0.1, 0.9)).headline).toBe("Reliable map.");
  });

  it("calls a map that carries nothing what it is", () => {
    const empty = { ...fitted, markers: fitted.markers.map((m) => ({ ...m, varianceShare: 0 })) };
    expect(lightOf(mapVerdict(empty), "explains")).toMatchObject({
      state: "poor",
      sentence: expect.stringContaining("0%"),
    });
  });

  it("is carried by the verdict of a comparison where the map explains nothing", () => {
    const better = "The map (dtm) predicts new individuals better than the linear mixed model.";
    expect(verdictOnMap(better, mapVerdict(fitted))).toBe(better);
    const empty = { ...fitted, markers: fitted.markers.map((m) => ({ ...m, varianceShare: 0 })) };
    const told = verdictOnMap(better, mapVerdict(empty));
    expect(told).toBe(`${better} The map explains nothing beyond the average course: do not read it.`);
    expect(verdictOnMap(told, mapVerdict(empty))).toBe(told);
  });

  it("is grey where the average course predicts as well as the mixed model and the map", () => {
    const against = (population: number, map: number) => ({
      differences: [
        { model: "population", reference: "lmm", mean: population, lower: population - 0.1, upper: population + 0.1 },
        { model: "dtm", reference: "lmm", mean: map, lower: map - 0.1, upper: map + 0.1 },
      ],
      models: [],
    });
    const said = (population: number, map: number) => {
      const { colour, words } = mapVerdict(withStarts(start(0, 1), start(0, 1)), against(population, map));
      return [colour, words];
    };
    expect(said(0, 0)).toEqual(["grey", "Do not read: explains nothing beyond the average course"]);
    expect(said(-2, 0)).toEqual(["amber", "Read with care: no gain over a mixed model shown"]);
    expect(said(0, 0.5)).toEqual(["amber", "Read with care: forecasts not checked yet"]);
  });

  it("is never kinder than the verdict of the comparison", () => {
    const light = (likelihood: [number, number], crps: [number, number] | null) => {
      const [lower, upper] = likelihood;
      const nextCrps = crps && { lower: crps[0], upper: crps[1] };
      const own = { model: "dtm", reference: "lmm", mean: (lower + upper) / 2, lower, upper, nextCrps };
      return lightOf(mapVerdict(fitted, { differences: [own], models: [] }), "explains");
    };
    expect(light([-1, 2], [0.1, 0.2])).toMatchObject({ state: "caution", brief: "a mixed model predicts better" });
    expect(light([-1, 2], [0.1, 0.2])?.sentence).toMatch(
      /^The mixed model forecasts next visits of new individuals better/,
    );
    expect(light([-1, 2], [-0.2, -0.1])?.sentence).toMatch(/but no gain in likelihood is shown: \+0\.50/);
    expect(light([-2, -1], [-0.2, -0.1])).toMatchObject({ brief: "a lower likelihood than a mixed model" });
    expect(light([-2, -1], [-0.2, 0.1])?.sentence).toMatch(/^The mixed model has a higher likelihood/);
    expect(light([-2, -1], null)?.sentence).toMatch(/^The mixed model predicts new individuals better/);
    expect(light([1, 2], [0.1, 0.2])).toMatchObject({ state: "caution", brief: "forecasts worse than a mixed model" });
    expect(light([1, 2], [-0.1, 0.2])).toMatchObject({ state: "good" });
    // No minus before a zero, and no end that touches zero by rounding alone.
    expect(light([-0.003, 0.5], null)?.sentence).toContain("+0.248 (95% CI −0.003 to +0.500)");
  });

  it("says yes of bands that cover 88 to 92%, roughly of 85 to 95%, no below and above", () => {
    const of = (p90: number, count = 10_000) => {
      const models = [{ model: "dtm", coverage: { p90 }, forecast: { count } }];
      const light = lightOf(mapVerdict(fitted, { differences: [], models }), "covers");
      return [light?.state, light?.answer];
    };
    expect(lightOf(mapVerdict(fitted), "covers")?.title).toBe("90% bands cover 88 to 92%");
    expect([of(0.876), of(0.9), of(0.924)]).toEqual(new Array(3).fill(["good", "yes"]));
    expect([of(0.85), of(0.874), of(0.926), of(0.95)]).toEqual(new Array(4).fill(["caution", "roughly"]));
    expect([of(0.84), of(0.97)]).toEqual([
      ["caution", "no, too narrow"],
      ["caution", "no, too wide"],
    ]);
    // The number that is told is the one that is judged.
    expect([of(0.804), of(0.796)]).toEqual(new Array(2).fill(["poor", "no, too narrow"]));
    expect(of(0.87, 200)).toEqual(["caution", "roughly"]);
    expect(of(0.82, 40)).toEqual(["unknown", "too few to tell"]);
  });

  it("says where bands that cover enough on average are too narrow", () => {
    const of = (p90: number, ...byKnown: [from: number, to: number, count: number, p90: number][]) => {
      const classes = byKnown.map(([from, to, count, share]) => ({ from, to, count, p90: share }));
      const models = [{ model: "dtm", coverage: { p90 }, forecast: { count: 2000 }, nextVisit: { byKnown: classes } }];
      return lightOf(mapVerdict(fitted, { differences: [], models }), "covers");
    };
    expect(of(0.91, [1, 1, 211, 0.758], [2, 2, 208, 0.84], [3, 4, 404, 0.91])).toMatchObject({
      state: "caution",
      answer: "not where 1 visit is known",
      brief: "90% bands cover 76% where 1 visit is known",
      sentence:
        "90% bands of held-out forecasts hold 91% of the values that came. Where 1 visit is known they hold 76% of 211 next visits.",
    });
    expect(of(0.86, [9, 16, 400, 0.8])).toMatchObject({ state: "caution", answer: "roughly" });
    expect(of(0.86, [9, 16, 400, 0.8])?.sentence).toContain("Where 9 to 16 visits are known they hold 80% of 400");
    expect(of(0.7, [1, 1, 400, 0.6])?.state).toBe("poor");
    // By chance, and by little.
    expect(of(0.91, [1, 1, 60, 0.8])?.state).toBe("good");
    expect(of(0.91, [1, 1, 10_000, 0.86])?.state).toBe("good");
  });

  it("has the end of a mixed model as its record says it: no places move there", () => {
    const model = fitLmm(cohort, { mapDimension: 2 });
    expect(mapVerdict(model).lights.map(({ sentence }) => sentence)).toEqual([model.record.verdict]);
    expect(model.record.verdict).toContain("log-likelihood");
  });

  it("keeps the coverage of the bands that are given by default, whatever calibrated ones hold where asked for", () => {
    const calibrated = (own: number) => ({
      ...fitted,
      calibration: {
        ...{ levels: [0.9], knownFrom: [1], horizonFrom: [0], numIndividuals: 200, classes: [] },
        coverage: { own, calibrated: 0.91 },
      },
    });
    const compared = (p90: number) => ({
      differences: [],
      models: [{ model: "dtm", coverage: { p90 }, forecast: { count: 400 } }],
    });
    const light = (own: number, p90?: number) =>
      lightOf(mapVerdict(calibrated(own), p90 === undefined ? null : compared(p90)), "covers");
    const asked =
      "Calibrated 90% bands held 91%; dtm predict gives them where they are asked for (--interval conformal).";
    expect(light(0.7)).toMatchObject({
      state: "poor",
      sentence: `The model's own 90% bands held 70% of later values of individuals who were not in the fit. ${asked}`,
    });
    expect(light(0.9, 0.8)).toMatchObject({
      state: "poor",
      sentence: `90% bands of held-out forecasts hold 80% of the values that came. ${asked}`,
    });
    expect(light(0.7, 0.9)?.state).toBe("poor");
    expect(light(0.9, 0.9)?.state).toBe("good");
  });

  it("has one colour, and words with the reason, for every state", () => {
    const told = mapVerdict(withStarts(start(0, 1), start(-1, 0.5)));
    expect([told.colour, told.advice, told.reason, told.words]).toEqual([
      "amber",
      "Read with care",
      "starts disagree",
      "Read with care: starts disagree",
    ]);
    for (const { title, answer, brief, evidence } of told.lights) {
      for (const words of [title, answer, brief, evidence.command]) expect(words).not.toBe("");
    }
  });
});

describe("a cohort of noise", () => {
  /** Values without any structure, or about a mean curve that everyone shares. */
  function noise(numIndividuals: number, most: number, seed: number, slope: number): Cohort {
    const random = createRandom(seed);
    const rows = Array.from({ length: numIndividuals }, (_, i) =>
      Array.from({ length: 1 + Math.floor(most * random.uniform()) }, (__, j) => {
        const time = j + random.uniform();
        return `p${i},${time},${50 + slope * time + 10 * random.normal()}`;
      }),
    );
    const text = ["id,time,value", ...rows.flat()].join("\n");
    const marker = { name: "value", unit: "", timeUnit: "years", transform: "identity" } as const;
    return readCohort(text, { columns: { id: "id", time: "time", value: "value" }, marker, file: "noise.csv" }).cohort;
  }

  it.each([
    [40, 6, 0],
    [40, 6, -3],
    [100, 3, -3],
  ])(
    "of %i individuals with up to %i visits and a common slope of %f is grey before anything is checked",
    (m, most, slope) => {
      const model = fitDtm(noise(m, most, 1, slope), { seed: 1, restarts: 0 });
      expect(mapVerdict(model).words).toBe("Do not read: explains nothing beyond the average course");
    },
  );

  it("is told by what chance gives: less with more individuals and visits, everything where nobody was seen twice", () => {
    const record = (numIndividuals: number, numObservations: number) => ({
      ...fitted.record,
      numIndividuals,
      numObservations,
    });
    expect(chanceShare(record(100, 100))).toBe(1);
    expect(chanceShare(record(100, 500))).toBeCloseTo(Math.sqrt(2 / (100 * 5 * 4)), 12);
    expect(chanceShare(record(1000, 5000))).toBeLessThan(chanceShare(record(100, 500)));
  });
});

describe("fitEnd", () => {
  it("says of a fit that ran to its end that it settled", () => {
    const said = (verdict: string) => fitEnd({ converged: true, verdict });
    expect(said("Converged: after 20 EM steps a round of steps gained less than 1e-6 in log-likelihood.")).toBe(
      "Settled",
    );
    expect(said("Settled: after 12 passes the bound, estimated from minibatches, rose by less than 0.1 a pass.")).toBe(
      "Settled",
    );
    expect(said("Finished the 20 planned epochs; in the last one the bound settled: 0.001%.")).toBe("Settled");
  });

  it("says of other fits what they lack", () => {
    const said = (verdict: string) => fitEnd({ converged: false, verdict });
    expect(said("Stopped at the limit of 9 iterations before the map had settled.")).toBe("Not settled");
    expect(said("Finished the 20 planned epochs; in the last one the bound still moved: 0.4%.")).toBe("Not settled");
    expect(
      said("Stopped after 9 iterations with the noise at its lower limit: the bound has no maximum for these data."),
    ).toBe("Stopped");
  });
});
