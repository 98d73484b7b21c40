import { describe, expect, it } from "vitest";
import { columnsOf, problemOf, quick, timeless } from "../../../../../test/dtm-problem.ts";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { turnedDistance } from "../../numeric/procrustes.ts";
import type { FitProgress } from "../fit.ts";
import { markerModel } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import type { DtmModel } from "./model.ts";
import { fitDtmFrom, resumeDtm, startDtm } from "./run.ts";
import { type DtmOptions, dtmSettings } from "./settings.ts";

const { statistics, start } = problemOf(columnsOf(70));

function fit(options: DtmOptions = {}, from: MapStart = start, data: BasisStatistics = statistics): DtmModel {
  return fitDtmFrom([data], from, { ...quick, ...options });
}

describe("a run", () => {
  const options: readonly DtmOptions[] = [
    { ...quick },
    { inducing: { perDimension: 3 }, nodes: { step: 0.29 }, restarts: 0 },
    { ...quick, schedule: "svi", maxIterations: 8, batchSize: 20 },
    { ...quick, restarts: 2, maxIterations: 12 },
    { ...quick, residual: "diagonal", mean: "spline" },
  ];
  for (const option of options) {
    it(`resumes from a cloned snapshot at any step, bit for bit: ${JSON.stringify(option)}`, () => {
      const whole = startDtm([statistics], start, option);
      const snapshots = [whole.snapshot()];
      while (!whole.step().done) snapshots.push(whole.snapshot());
      const expected = timeless(whole.finish());
      const chosen = [0, 1, Math.floor(snapshots.length / 3), Math.floor(snapshots.length / 2), snapshots.length - 1];
      for (const at of chosen) {
        const resumed = resumeDtm([statistics], structuredClone(snapshots[at]));
        while (!resumed.step().done);
        expect(timeless(resumed.finish())).toEqual(expected);
      }
    });
  }

  it("can be finished on the way and goes on undisturbed", () => {
    for (const option of options.slice(0, 3)) {
      const run = startDtm([statistics], start, option);
      for (let k = 0; k < 5; k++) run.step();
      const early = run.finish();
      expect(early.record.verdict).toMatch(/^Stopped on request after 5/);
      expect(early.record.converged).toBe(false);
      while (!run.step().done);
      expect(timeless(run.finish())).toEqual(timeless(fitDtmFrom([statistics], start, option)));
      expect(early.bound).toBeLessThan(run.finish().bound);
    }
  });

  it("tells how far places are still expected to move, and stops each stage at its limit", () => {
    const run = startDtm([statistics], start, { inducing: { perDimension: 3 }, tolerance: 0.003, restarts: 0 });
    const told = [run.step()];
    while (!told[told.length - 1].done) told.push(run.step());
    const coarse = told.filter(({ stage }) => stage === "map, coarse lattice");
    const fine = told.filter(({ stage }) => stage === "map");
    expect(coarse.length).toBeGreaterThan(0);
    expect(coarse.map(({ movement }) => movement?.limit)).toEqual(coarse.map(() => 0.05));
    expect(fine.map(({ movement }) => movement?.limit)).toEqual(fine.map(() => 0.003));
    expect(fine[0].movement?.remaining).toBeNaN();
    expect(fine.at(-1)?.movement?.remaining).toBeLessThan(0.003);
    expect(run.finish().record.verdict).toMatch(/less than 0.003 of their standard deviation/);
  });

  it("has settled: a fit a hundred times tighter moves places by less than a twentieth of a standard deviation", () => {
    const places = [1, 0.01].map((factor) => {
      const run = startDtm([statistics], start, { inducing: { perDimension: 3 }, tolerance: 0.01 * factor });
      while (!run.step().done);
      return run.places();
    });
    expect(turnedDistance(places[0], places[1], 2)).toBeLessThan(0.05);
  });

  it("goes through a coarse lattice first when the one asked for is fine, and tells", () => {
    const model = fitDtmFrom([statistics], start, { inducing: { perDimension: 3 } });
    expect(model.nodes.logWeights.length).toBe(797);
    expect(model.record.verdict).toMatch(/on a coarser lattice/);
    const direct = fitDtmFrom([statistics], start, { inducing: { perDimension: 3 }, nodes: { step: 0.31 } });
    expect(Math.abs(model.bound - direct.bound)).toBeLessThan(1);
  });

  it("stops at the limit of iterations and says so", () => {
    const { record } = fit({ maxIterations: 3 });
    expect(record.iterations).toBe(3);
    expect(record.converged).toBe(false);
    expect(record.verdict).toMatch(/limit of 3 iterations.*maxIterations/);
  });

  it("does not call a fit settled whose noise has fallen to its lower limit", () => {
    // Two levels without noise, and a residual that takes up the rest: curves pass through all observations.
    const columns = columnsOf(40);
    const exact = { ...columns, values: columns.ids.map((id) => (Number(id.slice(1)) % 2 === 0 ? 80 : 60)) };
    const { statistics: data, start: from } = problemOf(exact);
    const { record } = fit(
      { residual: "full" },
      { ...from, markers: [{ ...from.markers[0], noise: whiteNoise(1) }] },
      data,
    );
    expect(record.converged).toBe(false);
    expect(record.verdict).toMatch(/noise at its lower limit/);
    expect(record.warnings.join(" ")).toMatch(/held at its lower limit/);
  });

  it("gives the same bits for the same seed", () => {
    for (const option of [{}, { schedule: "svi", maxIterations: 6 }, { restarts: 2, maxIterations: 10 }] as const) {
      expect(timeless(fit({ ...option, seed: 4 }))).toEqual(timeless(fit({ ...option, seed: 4 })));
    }
    const [a, b] = [1, 2].map((seed) => fit({ schedule: "svi", maxIterations: 6, batchSize: 20, seed }));
    expect(a.bound).not.toBe(b.bound);
  });

  it("reports progress and can be cancelled", () => {
    const seen: FitProgress[] = [];
    const signal = { aborted: false };
    const run = startDtm([statistics], start, { ...quick, signal, onProgress: (p) => seen.push(p) });
    run.step();
    run.step();
    expect(seen.map((p) => p.iteration)).toEqual([1, 2]);
    expect(seen[1].value).toBeGreaterThan(seen[0].value);
    expect(run.progress()).toEqual(seen[1]);
    signal.aborted = true;
    expect(() => run.step()).toThrow(/cancelled/);
  });

  it("has nothing to finish before its first step", () => {
    expect(() => startDtm([statistics], start, quick).finish()).toThrow(DtmError);
  });

  it("refuses other data, other starts, three dimensions and options out of range", () => {
    const other = problemOf(columnsOf(50, 8));
    const snapshot = startDtm([statistics], start, quick).snapshot();
    expect(() => resumeDtm([other.statistics], snapshot)).toThrow(/same data/);
    expect(() => startDtm([other.statistics], start, quick)).toThrow(/same statistics/);
    expect(() => startDtm([statistics], start, { mapDimension: 3 })).toThrow(/dtm-paper/);
    expect(() => startDtm([statistics], start, { cap: 0 })).toThrow(/cap above 0/);
    expect(() => startDtm([statistics], start, { lengthscale: 100 })).toThrow(/lengthscale/);
    expect(() => startDtm([statistics], start, { maxIterations: 0 })).toThrow(/maxIterations/);
    expect(() => startDtm([statistics], start, { residual: "some" as "none" })).toThrow(/residual/);
  });
});

describe("the stochastic schedule", () => {
  it("comes near the bound of whole passes", () => {
    const large = problemOf(columnsOf(600, 11));
    const batch = fitDtmFrom([large.statistics], large.start, quick);
    const svi = fitDtmFrom([large.statistics], large.start, { ...quick, schedule: "svi" });
    expect(svi.bound).toBeLessThan(batch.bound + 0.5);
    expect(Math.abs(svi.bound - batch.bound)).toBeLessThan(0.005 * Math.abs(batch.bound));
    expect(svi.record.verdict).toMatch(/passes/);
    expect(svi.record.options.batchSize).toBe(128);
    expect(relativeError([markerModel(svi).noise.variance], [markerModel(batch).noise.variance])).toBeLessThan(0.05);
  });
});

describe("the stochastic schedule of a large cohort", () => {
  const large = problemOf(columnsOf(600, 11));
  const options = { ...quick, schedule: "svi", sampleSize: 300 } as const;

  it("settles on a sample, visits everybody last, comes near whole passes and says so", () => {
    const batch = fitDtmFrom([large.statistics], large.start, quick);
    const svi = fitDtmFrom([large.statistics], large.start, { ...options, tolerance: 1e-4 });
    expect(Math.abs(svi.bound - batch.bound)).toBeLessThan(0.005 * Math.abs(batch.bound));
    expect(svi.record.converged).toBe(true);
    expect(svi.record.verdict).toMatch(/all but the last over a random 300 individuals/);
    expect(svi.record.options).toMatchObject({ sampleSize: 300, batchSize: 128 });
  });

  it("goes on from a snapshot with the same bits, on the sample and after it", () => {
    const whole = timeless(fitDtmFrom([large.statistics], large.start, { ...options, maxIterations: 9 }));
    const run = startDtm([large.statistics], large.start, { ...options, maxIterations: 9 });
    const snapshots = [];
    do snapshots.push(structuredClone(run.snapshot()));
    while (!run.step().done);
    for (const stored of [snapshots[3], snapshots[8]]) {
      const resumed = resumeDtm([large.statistics], stored);
      while (!resumed.step().done);
      expect(timeless(resumed.finish())).toEqual(whole);
    }
  });

  it("chooses minibatches above 50,000 individuals and a sample from twice its size on", () => {
    expect(dtmSettings({}, start, 50_000)).toMatchObject({ schedule: "batch" });
    expect(dtmSettings({}, start, 50_001)).toMatchObject({ schedule: "svi", sampleSize: 50_001, batchSize: 3126 });
    expect(dtmSettings({}, start, 131_072)).toMatchObject({ sampleSize: 65_536, batchSize: 4096 });
    expect(dtmSettings({ schedule: "batch" }, start, 1_000_000)).toMatchObject({ schedule: "batch" });
  });
});

describe("restarts", () => {
  it("are two up to 5,000 individuals, none above", () => {
    expect(dtmSettings({}, start, 5_000).restarts).toBe(2);
    expect(dtmSettings({}, start, 5_001).restarts).toBe(0);
  });

  it("keep the largest bound, of nearly equal ones the earliest", () => {
    const columns = columnsOf(50, 6);
    const p = problemOf(columns);
    const single = fitDtmFrom([p.statistics], p.start, quick);
    const several = fitDtmFrom([p.statistics], p.start, { ...quick, restarts: 3 });
    expect(several.bound).toBeGreaterThanOrEqual(single.bound);
    const run = startDtm([p.statistics], p.start, { ...quick, restarts: 3 });
    while (!run.step().done);
    const bounds = run.snapshot().finished.map((f) => f.bound);
    expect(bounds.length).toBe(4);
    const kept = bounds.reduce((best, bound) => (bound > best + 0.1 ? bound : best));
    expect(several.bound).toBe(kept);
    expect(several.bound).toBeGreaterThan(Math.max(...bounds) - 0.2);
    expect(bounds[0]).toBe(single.bound);
  });

  it("leave the model of the first start to be read while the others run, and one cut short out of the comparison", () => {
    const p = problemOf(columnsOf(50, 6));
    const run = startDtm([p.statistics], p.start, { ...quick, restarts: 1 });
    let progress = run.step();
    while (!progress.startDone) progress = run.step();
    expect([progress.startsLeft, progress.done]).toEqual([1, false]);
    const single = fitDtmFrom([p.statistics], p.start, { ...quick, restarts: 0 });
    for (let k = 0; k < 3; k++) {
      const first = run.finish();
      expect(first.bound).toBe(single.bound);
      expect([first.record.verdict, first.record.starts]).toEqual([single.record.verdict, undefined]);
      run.step();
    }
    while (!run.step().done);
    expect(run.finish().record.starts).toHaveLength(2);
  });
});
