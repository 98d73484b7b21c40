import { describe, expect, it } from "vitest";
import { associate } from "../associate/association.ts";
import { makeCohort, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform, TRANSFORMS } from "../cohort/marker.ts";
import { splitCohort } from "../cohort/split.ts";
import { heldOutLogLikelihood } from "../evaluate/held-out.ts";
import { groupPlaces } from "../map/groups.ts";
import { fitDtm, fitFpca } from "../models/fit-models.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { refitLike } from "./refit.ts";
import { agreementOf, type SensitivityOptions, studySensitivity } from "./sensitivity.ts";
import { sensitivityVerdict } from "./sensitivity-result.ts";
import { runStudyTask } from "./tasks.ts";
import { changeVisits, logJacobians, variantsOf } from "./variants.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 4 });
const m = cohort.ids.length;
const model = fitFpca(cohort, { rank: 2 });
const placements = embed(model, cohort);
const made = groupPlaces(model, placements, { numGroups: 3 });
const groups = { labels: made.labels, numGroups: 3, method: made.method };
const study = (options: SensitivityOptions) => studySensitivity({ model, cohort, placements, groups }, options);

describe("variantsOf", () => {
  const names = (fitted: TrajectoryModel, family: Parameters<typeof variantsOf>[2]) =>
    variantsOf(fitted, cohort, family).variants.map(({ name }) => name);

  it("changes one choice at a time, as far as model and values allow", () => {
    expect(names(model, { families: ["dimension"] })).toEqual(["1 dimension", "3 dimensions"]);
    expect(names(model, { families: ["basis"] })).toEqual([4, 6, 7].map((size) => `${size} basis functions`));
    expect(names(model, { families: ["mean", "residual"] })).toEqual(["mean curve"]);
    expect(names(model, { families: ["noise"] })).toEqual(["level noise", "serial noise", "level+serial noise"]);
    expect(names(model, { families: ["transform"] })).toEqual(["log scale", "sqrt scale"]);
    expect(names(model, { families: ["covariates"] })).toEqual([]);
  });

  it("offers no scale that values do not have, nor a root of 0, and says why", () => {
    const rows = { ids: ["a", "a", "b"], times: [0, 1, 0], values: [0, 3, 2] };
    const withZero = variantsOf(model, makeCohort(rows), { families: ["transform"] });
    expect(withZero.variants.map(({ name }) => name)).toEqual(["log1p scale"]);
    expect(withZero.leftOut.map(({ name }) => name)).toEqual(["log scale", "sqrt scale"]);
  });

  it("takes another seed only where a refit draws anything", () => {
    const seedOf = (fitted: TrajectoryModel, of = cohort) => {
      const { variants, leftOut } = variantsOf(fitted, of, { families: ["seed"] });
      return [...variants.map(({ name }) => name), ...leftOut.map(({ reason }) => reason)];
    };
    const ofSize = (size: number) => {
      const ids = Array.from({ length: size }, (_, i) => `p${i}`);
      return makeCohort({ ids, times: ids.map((_, i) => i % 9), values: ids.map((_, i) => i % 7) });
    };
    const nothing = ["this fit draws nothing at random"];
    expect(seedOf(model)).toEqual(nothing);
    expect(refitLike(model, cohort, { seed: 2 }).markers).toEqual(refitLike(model, cohort, { seed: 1 }).markers);
    const map = { ...model, kind: "dtm" } as unknown as TrajectoryModel;
    expect(seedOf(map)).toEqual(["another seed"]);
    expect(seedOf(map, ofSize(5001))).toEqual(nothing);
    expect(seedOf(map, ofSize(50_001))).toEqual(["another seed"]);
    expect(seedOf(model, ofSize(50_001))).toEqual(["another seed"]);
    const published = (schedule: string) => ({ ...model, kind: "dtm-paper", schedule }) as unknown as TrajectoryModel;
    expect(["batch", "coordinate"].flatMap((schedule) => seedOf(published(schedule)))).toEqual([
      ...nothing,
      ...nothing,
    ]);
    expect(seedOf(published("paper"))).toEqual(["another seed"]);
  });

  it("neither drops nor shifts a tail that has no visits", () => {
    const rows = { ids: ["a", "a", "b", "b"], times: [0, 1, 1, 1], values: [1, 2, 3, 4] };
    const { variants, leftOut } = variantsOf(model, makeCohort(rows), { families: ["tail", "shift"] });
    expect(variants).toEqual([]);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      "no visit is later",
      "too few distinct times are left",
      "no visit is later",
    ]);
  });

  it("takes fewer basis functions where a dropped tail leaves fewer times, and says so", () => {
    const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
    for (const id of ["a", "b", "c"]) {
      for (let t = 0; t < 6; t++) {
        rows.ids.push(id);
        rows.times.push(t);
        rows.values.push(t);
      }
    }
    const [until] = variantsOf(model, makeCohort(rows), { families: ["tail"], tail: 0.8 }).variants;
    expect(until).toMatchObject({
      visits: { kind: "until", time: 4 },
      note: expect.stringMatching(/^4 basis functions/),
    });
    expect(until.refit?.basis?.map(({ numBasis }) => numBasis)).toEqual([4]);
  });

  it("refuses what it does not know", () => {
    expect(() => variantsOf(model, cohort, { families: ["colour" as "noise"] })).toThrow(/families among dimension/);
    expect(() => variantsOf(model, cohort, { tail: 1 })).toThrow(/a tail between 0 and 1/);
  });
});

describe("changeVisits", () => {
  const series = onlyMarker(cohort);

  it("cuts visits after a time, or everybody's last", () => {
    const early = onlyMarker(changeVisits(cohort, { kind: "until", time: 3 }));
    expect(early.times).toEqual(series.times.filter((t) => t <= 3));
    const shorter = changeVisits(cohort, { kind: "without-last" });
    expect(numObservations(shorter)).toBe(numObservations(cohort) - m);
  });

  it("leaves out individuals seen once", () => {
    const rows = { ids: ["a", "a", "b", "c", "c"], times: [0, 1, 0, 0, 2], values: [1, 2, 3, 4, 5] };
    expect(changeVisits(makeCohort(rows), { kind: "without-singles" }).ids).toEqual(["a", "c"]);
  });

  it("shifts measured values after a time on the scale of the model, and no limits", () => {
    const columns = { ids: ["a", "a", "a"], times: [0, 1, 2], values: [2, 2, 2], censored: [0, 0, -1] };
    const positive = makeCohort(columns, { transform: "log" });
    const moved = onlyMarker(changeVisits(positive, { kind: "shift", after: 0.5, by: [0.1] }));
    expect([...moved.values].map((v) => v / 2)).toEqual([1, expect.closeTo(Math.exp(0.1), 12), 1]);
  });
});

describe("logJacobians", () => {
  it("are the logs of the slopes of the transform, by finite differences", () => {
    for (const transform of TRANSFORMS) {
      const y = 0.37;
      const columns = { ids: ["a", "a"], times: [0, 1], values: [y, y] };
      const h = 1e-6;
      const slope = (applyTransform(transform, y + h) - applyTransform(transform, y - h)) / (2 * h);
      // Differences of step 1e-6 are good to about 1e-9.
      expect(logJacobians(makeCohort(columns, { transform }))[0]).toBeCloseTo(2 * Math.log(slope), 7);
    }
  });
});

describe("agreementOf", () => {
  const all = Int32Array.from({ length: m }, (_, i) => i);
  const { location } = placements;

  it("sees no difference between places that are turned, mirrored, scaled and moved", () => {
    const turned = location.map((_, e) => {
      const [x, y] = location.subarray(e - (e % 2), e - (e % 2) + 2);
      return e % 2 === 0 ? 3 - 2 * (0.6 * x - 0.8 * y) : 1 + 2 * (0.8 * x + 0.6 * y);
    });
    const found = agreementOf({ location: turned, mapDimension: 2 }, placements, all);
    expect(found.correlation).toBeCloseTo(1, 10);
    expect(found.scale).toBeCloseTo(0.5, 10);
    expect(found.p90).toBeLessThan(1e-9);
  });

  it("of a map of one dimension has what the other axis held as distance", () => {
    // Uncorrelated axes: the first is kept as it is, and the second is the distance.
    const square = { mapDimension: 2, location: Float64Array.of(2, 1, 2, -1, -2, 1, -2, -1) };
    const line = { mapDimension: 1, location: Float64Array.of(2, 2, -2, -2) };
    const found = agreementOf(line, square, Int32Array.of(0, 1, 2, 3));
    expect([found.median, found.p90, found.scale]).toEqual([1, 1, 1].map((v) => expect.closeTo(v, 10)));
    expect(found.correlation).toBeCloseTo(Math.sqrt(0.8), 10);
  });
});

describe("refitLike", () => {
  it("keeps residual and priors of a map, unless one is to be changed", () => {
    const map = fitDtm(cohort, { mapDimension: 1, residual: "none", priors: "none", noise: "white", restarts: 0 });
    const again = refitLike(map, cohort, { restarts: 0 });
    expect(again.record.options).toEqual(map.record.options);
    expect(again.record.trace.at(-1)).toBeCloseTo(map.record.trace.at(-1)!, 8);
    const other = refitLike(map, cohort, { restarts: 0, change: { residual: "full" } });
    expect(other.record.options).toEqual({ ...map.record.options, residual: "full" });
  });
});

describe("studySensitivity", () => {
  it("of the model as it was finds the same places, groups, scores and p-values", async () => {
    const random = createRandom(2);
    const map = fitDtm(cohort, { mapDimension: 1, noise: "white" });
    const placed = embed(map, cohort);
    const own = groupPlaces(map, placed, { numGroups: 3 });
    const labels = Uint8Array.from(placed.location, (x) => (x + random.normal() > 0 ? 1 : 0));
    const outcomes = [{ name: "far", labels }];
    const input = { model: map, cohort, placements: placed, outcomes };
    const tested = await associate(input, { draws: 199, seed: 3 });
    const found = await studySensitivity(
      { ...input, groups: { labels: own.labels, numGroups: 3, method: own.method } },
      { families: ["seed"], folds: 2, draws: 199, testSeed: 3 },
    );
    const [variant] = found.variants;
    expect(variant.places!.p90).toBeLessThan(1e-6);
    expect(variant.adjustedRand).toBe(1);
    expect(variant.score!.mean).toBeCloseTo(0, 8);
    expect(variant.outcomes).toEqual([{ outcome: "far", p: tested.outcomes[0].p }]);
    expect(found.run.outcomes).toEqual(variant.outcomes);
    expect(found.verdict).toContain("Groups hold (ARI >= 0.8) in 1 of 1 variants");
  });

  it("scores a variant as a fit to the other folds does, paired by individual", async () => {
    const { variants, run } = await study({ families: ["dimension"], folds: 3, seed: 5 });
    const { basis } = model.markers[0];
    const scores = (rank: number) =>
      splitCohort(cohort, 3, 5).flatMap(({ train, test }) => [
        ...heldOutLogLikelihood(fitFpca(train, { rank, basis, seed: 5 }), test).logLikelihood,
      ]);
    const [one, two] = [scores(1), scores(2)];
    const differences = one.map((score, i) => score - two[i]);
    const mean = differences.reduce((sum, d) => sum + d, 0) / m;
    const sd = Math.sqrt(differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (m - 1));
    expect(variants[0].score!.mean).toBeCloseTo(mean, 8);
    expect(variants[0].score!.se).toBeCloseTo(sd / Math.sqrt(m), 8);
    expect(run.perIndividual).toBeCloseTo(two.reduce((sum, v) => sum + v, 0) / m, 8);
  });

  it("compares scales by the density of the values as measured, the same either way", async () => {
    const random = createRandom(8);
    const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
    for (let i = 0; i < 60; i++) {
      const [level, slope] = [random.normal(), 0.5 * random.normal()];
      for (let t = 0; t < 6; t++) {
        rows.ids.push(`p${100 + i}`);
        rows.times.push(t);
        rows.values.push(Math.exp(level + (slope * t) / 5 + 0.2 * random.normal()));
      }
    }
    const difference = async (transform: "identity" | "log") => {
      const own = makeCohort(rows, { transform });
      const fitted = fitFpca(own, { rank: 1, numBasis: 3 });
      const placed = embed(fitted, own);
      const input = { model: fitted, cohort: own, placements: placed, groups: { ...groups, labels: [], numGroups: 1 } };
      const { variants } = await studySensitivity(input, { families: ["transform"], folds: 2 });
      const found = variants.find(({ name }) => name === (transform === "log" ? "identity scale" : "log scale"))!;
      expect(found.scoreNote).toContain("Jacobian");
      expect(found.adjustedRand).toBeNull();
      return found.score!;
    };
    const [toLog, toIdentity] = [await difference("identity"), await difference("log")];
    // Values are lognormal: the log scale is the right one.
    expect(toLog.lower).toBeGreaterThan(0);
    expect(toIdentity.mean).toBeCloseTo(-toLog.mean, 6);
  });

  it("says where scores do not compare, and what could not be fitted", async () => {
    const { variants } = await study({ families: ["tail", "shift"], folds: 2 });
    expect(variants.map(({ score }) => score)).toEqual([null, null, null, null]);
    for (const { scoreNote } of variants) expect(scoreNote).toContain("Not comparable: other visits");
    const broken = await study({
      families: ["dimension", "mean"],
      folds: 0,
      run: (task) =>
        task.kind === "variant" && task.part.variant.family === "mean" ? { failed: "too few." } : runStudyTask(task),
    });
    const [other, , mean] = broken.variants;
    expect(mean).toMatchObject({ name: "mean curve", failed: "too few.", places: null, score: null });
    expect(broken.verdict).toContain("Could not be fitted: mean curve.");
    expect(broken.verdict).not.toContain("Another seed alone");
    const moved = {
      ...other,
      family: "seed",
      adjustedRand: 0.7,
      places: { ...other.places!, correlation: 0.88 },
    } as const;
    expect(sensitivityVerdict([moved], broken.run)).toContain("Another seed alone gives ARI 0.70, correlation 0.88: ");
  });

  it("says so where there is nothing to change", async () => {
    const { variants, leftOut, verdict } = await study({ families: ["seed"], folds: 0 });
    expect([variants, leftOut.length, verdict]).toEqual([[], 1, "Nothing could be changed."]);
  });

  it("does not depend on how the pieces are run", async () => {
    const options = { families: ["mean", "singles"] as const, folds: 2 };
    let late = 0;
    const shared = await study({
      ...options,
      jobs: 4,
      // The first tasks answer last, as may happen with threads.
      run: async (task) => {
        await new Promise((done) => setTimeout(done, 20 - 4 * Math.min(4, late++)));
        return runStudyTask(task);
      },
    });
    expect(shared).toEqual(await study(options));
  });
});
