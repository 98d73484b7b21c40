import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { type BasisStatistics, basisStatistics } from "../../basis/statistics.ts";
import { type CohortColumns, makeCohort } from "../../cohort/cohort.ts";
import { idAt, idList } from "../../cohort/ids.ts";
import { DtmError } from "../../errors.ts";
import { createRandom } from "../../numeric/random.ts";
import type { FitProgress } from "../fit.ts";
import { mapMoments } from "../gp/sparse-map.ts";
import { linearStart } from "../linear/start.ts";
import type { MapStart } from "../map-start.ts";
import { logLikelihoods, makeMixture } from "../mixture/mixture.ts";
import { startBatch } from "./batch.ts";
import { createEngine, placeMeans, restoreMap, startAnchor } from "./engine.ts";
import type { DtmModel } from "./model.ts";
import { fitDtmFrom, resumeDtm, startDtm } from "./run.ts";
import { type DtmOptions, dtmSettings } from "./settings.ts";
import { placesFromPosterior } from "./starting-places.ts";
import { firstState } from "./state.ts";

/** Three groups of courses that no linear model holds (falling, late falling, flat), with levels and noise. */
function columnsOf(numIndividuals: number, seed = 1): CohortColumns {
  const random = createRandom(seed);
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < numIndividuals; i++) {
    const group = random.integer(3);
    const level = 80 + 8 * random.normal();
    const n = 1 + random.integer(7);
    for (let j = 0; j < n; j++) {
      const t = 10 * random.uniform();
      const fall = group === 0 ? 3 * t : group === 1 ? 7 * Math.max(0, t - 5) : 0;
      ids.push(`P${String(i).padStart(4, "0")}`);
      times.push(t);
      values.push(level - fall + 3 * random.normal());
    }
  }
  return { ids, times, values };
}

function problemOf(columns: CohortColumns, mapDimension = 2, mean: "scalar" | "spline" = "scalar") {
  const cohort = makeCohort(columns);
  const statistics = basisStatistics(cohort, bsplineBasis(cohort.times));
  return { cohort, statistics, start: linearStart(statistics, { mapDimension, mean }) };
}

/** Small and quick: a coarse lattice and nine inducing places. */
const quick = { nodes: { step: 0.5 }, inducing: { perDimension: 3 } } as const;

/** A model without the time it took. */
const timeless = (model: DtmModel): DtmModel => ({ ...model, record: { ...model.record, milliseconds: {} } });

const { cohort, statistics, start } = problemOf(columnsOf(70));

function fit(options: DtmOptions = {}, from: MapStart = start, data: BasisStatistics = statistics): DtmModel {
  return fitDtmFrom(data, from, { ...quick, ...options });
}

describe("the bound of a fit", () => {
  const cases: readonly DtmOptions[] = [
    {},
    { residual: "none" },
    { residual: "diagonal" },
    { residual: "full" },
    { cap: Number.POSITIVE_INFINITY },
    { learn: false },
    { mean: "spline" },
  ];
  for (const options of cases) {
    it(`never falls and settles: ${JSON.stringify(options)}`, () => {
      const { record, bound } = fit(options);
      for (let k = 1; k < record.trace.length; k++) {
        expect(record.trace[k]).toBeGreaterThanOrEqual(record.trace[k - 1] - 1e-8 * Math.abs(bound));
      }
      expect(record.trace.at(-1)).toBe(bound);
      expect(record.trace.at(-1)).toBeGreaterThan(record.trace[0]);
      expect(record.converged).toBe(true);
      expect(record.verdict).toMatch(/^Converged: after \d+ iterations/);
      expect(record.warnings.filter((w) => w.includes("fell"))).toEqual([]);
    });
  }

  it("never falls on the line either", () => {
    const line = problemOf(columnsOf(60, 5), 1);
    const { record, mapDimension, map } = fitDtmFrom(line.statistics, line.start, { mapDimension: 1 });
    for (let k = 1; k < record.trace.length; k++) expect(record.trace[k]).toBeGreaterThanOrEqual(record.trace[k - 1]);
    expect(mapDimension).toBe(1);
    expect(map.numInducing).toBe(9);
  });

  it("is higher with a residual effect than without, and higher still with a free one", () => {
    const none = fit({ residual: "none" }).bound;
    const capped = fit().bound;
    const free = fit({ cap: Number.POSITIVE_INFINITY }).bound;
    expect(capped).toBeGreaterThan(none);
    expect(free).toBeGreaterThan(capped - 0.1);
  });

  it("is the same without residual effect and with one that is allowed to be next to nothing", () => {
    const none = fit({ residual: "none", learn: false, maxIterations: 10 });
    const tiny = fit({ cap: 1e-12, learn: false, maxIterations: 10 });
    expect(Math.abs(none.bound - tiny.bound)).toBeLessThan(1e-6 * Math.abs(none.bound));
    expect(none.varianceShare).toBe(1);
  });

  it("tends to the log-likelihood of the linear mixed model as the map vanishes and the residual is its Σ", () => {
    const d = statistics.basis.numBasis;
    const settings = dtmSettings({ ...quick, cap: 1 }, "scalar", statistics.numIndividuals);
    const engine = createEngine(statistics, startAnchor(start, d), settings);
    const mixture = makeMixture({
      numBasis: d,
      mapDimension: 0,
      locations: new Float64Array(0),
      logWeights: new Float64Array(1),
      means: new Float64Array(d),
      covariances: engine.reference,
      meanCoefficients: start.mean.coefficients,
      noiseVariance: start.noiseVariance,
    });
    const logLikelihood = logLikelihoods(mixture, statistics).reduce((s, v) => s + v, 0);
    const gaps = [1e-4, 1e-6, 1e-8].map((share) => {
      const state = firstState(start, settings, d);
      state.signalVariance *= share;
      startBatch(engine, state, placesFromPosterior(start.locationMean, start.locationCovariance, 2));
      return logLikelihood - state.trace[0];
    });
    expect(gaps[0]).toBeGreaterThan(0);
    expect(gaps[1] / gaps[0]).toBeCloseTo(0.01, 3);
    expect(Math.abs(gaps[2])).toBeLessThan(1e-3);
  });
});

describe("a fitted map", () => {
  const model = fit();

  it("puts twins at the same place and takes no notice of row order, bit for bit", () => {
    const columns = columnsOf(40, 3);
    const last = columns.ids.at(-1);
    const rows = columns.ids.flatMap((id, j) => (id === last ? [j] : []));
    const twins: CohortColumns = {
      ids: [...columns.ids, ...rows.map(() => "P9999")],
      times: [...Array.from(columns.times), ...rows.map((j) => columns.times[j])],
      values: [...Array.from(columns.values), ...rows.map((j) => columns.values[j])],
    };
    const order = createRandom(9).permutation(twins.ids.length);
    const shuffled: CohortColumns = {
      ids: Array.from(order, (j) => twins.ids[j]),
      times: Array.from(order, (j) => twins.times[j]),
      values: Array.from(order, (j) => twins.values[j]),
    };
    const [a, b] = [twins, shuffled].map((c) => problemOf(c));
    const fitted = [a, b].map((p) => timeless(fitDtmFrom(p.statistics, p.start, quick)));
    expect(fitted[1]).toEqual(fitted[0]);

    const run = startDtm(a.statistics, a.start, quick);
    while (run.step());
    const { settings, anchor, state } = run.snapshot();
    const engine = createEngine(a.statistics, anchor, settings);
    restoreMap(engine, state);
    const places = placeMeans(engine, state);
    const m = a.statistics.numIndividuals;
    const [x, y] = [idList(a.cohort.ids).indexOf(last ?? ""), m - 1];
    expect(idAt(a.cohort.ids, y)).toBe("P9999");
    for (let c = 0; c < 2; c++) expect(Math.abs(places[2 * x + c] - places[2 * y + c])).toBeLessThan(1e-12);
  });

  for (const [scale, shift] of [
    [2 ** 40, 0],
    [1e-12, 0],
    [1, 2 ** 40],
    [-3, 100],
  ]) {
    it(`follows values scaled by ${scale} and shifted by ${shift}`, () => {
      const columns = columnsOf(70);
      // Whole multiples of 2^-10 survive a shift by 2^40 (about 1e12) without rounding.
      const rounded = Float64Array.from(columns.values, (v) => Math.round(v * 2 ** 10) / 2 ** 10);
      const plain = problemOf({ ...columns, values: rounded });
      const moved = problemOf({ ...columns, values: rounded.map((v) => scale * v + shift) });
      const a = fit({}, plain.start, plain.statistics);
      const b = fit({}, moved.start, moved.statistics);
      const N = plain.statistics.numObservations;
      // Looser than rounding: a shift by 1e12 costs digits of the statistics.
      const tolerance = 1e-5;
      expect(Math.abs(b.bound + N * Math.log(Math.abs(scale)) - a.bound)).toBeLessThan(0.01);
      expect(Math.abs(b.noiseVariance / scale ** 2 / a.noiseVariance - 1)).toBeLessThan(tolerance);
      expect(Math.abs((b.residual.tau ?? 0) - (a.residual.tau ?? 1))).toBeLessThan(tolerance);
      expect(Math.abs(b.varianceShare - a.varianceShare)).toBeLessThan(1e-3);
      const level = (m: DtmModel) => m.mean.coefficients[0];
      const spread = Math.sqrt(a.noiseVariance);
      expect(Math.abs((level(b) - shift) / scale - level(a))).toBeLessThan(1e-2 * spread);
    });
  }

  it("reports share, τ, cap, length-scale and trace, and the share is that of its formula", () => {
    const { residual, varianceShare, nodes, averageGram, map } = model;
    const d = model.basis.numBasis;
    const n = nodes.logWeights.length;
    const { means } = mapMoments(map, nodes.locations, n);
    let carried = 0;
    let rest = 0;
    for (let k = 0; k < d; k++) {
      for (let l = 0; l < d; l++) {
        let [both, one, other] = [0, 0, 0];
        for (let g = 0; g < n; g++) {
          const w = Math.exp(nodes.logWeights[g]);
          both += w * means[g * d + k] * means[g * d + l];
          one += w * means[g * d + k];
          other += w * means[g * d + l];
        }
        carried += averageGram[k * d + l] * (both - one * other);
        rest += averageGram[k * d + l] * residual.covariance[k * d + l];
      }
    }
    expect(varianceShare).toBeCloseTo(carried / (carried + rest), 10);
    expect(residual.kind).toBe("capped");
    expect(residual.cap).toBe(0.2);
    expect(residual.tau).toBeGreaterThan(0);
    expect(residual.tau).toBeLessThanOrEqual(0.2);
    expect(residual.atCap).toBe(residual.tau === 0.2);
    // The weights of the observed times add up to one, because the basis does.
    expect(averageGram.reduce((s, v) => s + v, 0)).toBeCloseTo(1, 10);
  });

  it("is plain data that survives a structured clone", () => {
    expect(structuredClone(model)).toEqual(model);
    expect(() => JSON.stringify(model.record)).not.toThrow();
  });

  it("holds nothing of single individuals", () => {
    const m = statistics.numIndividuals;
    const lengths = [model.map.inducingMean, model.nodes.logWeights, model.averageGram].map((a) => a.length);
    expect(lengths).not.toContain(m);
    expect(JSON.stringify(model.record)).not.toContain(idAt(cohort.ids, 3));
  });

  it("stays finite on values without noise, and says why the noise stopped falling", () => {
    const columns = columnsOf(18, 4);
    const exact = columns.ids.map((id, j) => Number(id.slice(1)) * 3 + 0.5 * Math.round(columns.times[j]));
    const times = Array.from(columns.times, (t) => Math.round(t));
    const clean = problemOf({ ids: columns.ids, times, values: exact });
    for (const residual of ["full", "capped"] as const) {
      const { bound, noiseVariance, record } = fit({ residual, maxIterations: 60 }, clean.start, clean.statistics);
      expect(Number.isFinite(bound)).toBe(true);
      expect(noiseVariance).toBeGreaterThan(0);
      expect(record.warnings.some((w) => w.includes("noise variance"))).toBe(true);
    }
  });

  it("says that places explain little when the residual has taken the variance", () => {
    const random = createRandom(2);
    // Independent levels without any pattern in time: a free Σ_e holds them all.
    const ids: string[] = [];
    const times: number[] = [];
    const values: number[] = [];
    for (let i = 0; i < 60; i++) {
      const level = 10 * random.normal();
      for (let j = 0; j < 4; j++) {
        ids.push(`P${i}`);
        times.push(10 * random.uniform());
        values.push(level + random.normal());
      }
    }
    const flat = problemOf({ ids, times, values });
    const full = fit({ residual: "full", maxIterations: 150 }, flat.start, flat.statistics);
    expect(full.varianceShare).toBeLessThan(0.5);
    expect(full.record.warnings.some((w) => w.includes("explain little"))).toBe(true);
  });
});

describe("a run", () => {
  const options: readonly DtmOptions[] = [
    { ...quick },
    { inducing: { perDimension: 3 }, nodes: { step: 0.29 } },
    { ...quick, schedule: "svi", maxIterations: 8, batchSize: 20 },
    { ...quick, restarts: 2, maxIterations: 12 },
    { ...quick, residual: "diagonal", mean: "spline" },
  ];
  for (const option of options) {
    it(`resumes from a cloned snapshot at any step, bit for bit: ${JSON.stringify(option)}`, () => {
      const whole = startDtm(statistics, start, option);
      const snapshots = [whole.snapshot()];
      while (whole.step()) snapshots.push(whole.snapshot());
      const expected = timeless(whole.finish());
      const chosen = [0, 1, Math.floor(snapshots.length / 3), Math.floor(snapshots.length / 2), snapshots.length - 1];
      for (const at of chosen) {
        const resumed = resumeDtm(statistics, structuredClone(snapshots[at]));
        while (resumed.step());
        expect(timeless(resumed.finish())).toEqual(expected);
      }
    });
  }

  it("can be finished on the way and goes on undisturbed", () => {
    for (const option of options.slice(0, 3)) {
      const run = startDtm(statistics, start, option);
      for (let k = 0; k < 5; k++) run.step();
      const early = run.finish();
      expect(early.record.verdict).toMatch(/^Stopped on request after 5/);
      expect(early.record.converged).toBe(false);
      while (run.step());
      expect(timeless(run.finish())).toEqual(timeless(fitDtmFrom(statistics, start, option)));
      expect(early.bound).toBeLessThan(run.finish().bound);
    }
  });

  it("goes through a coarse lattice first when the one asked for is fine, and tells", () => {
    const model = fitDtmFrom(statistics, start, { inducing: { perDimension: 3 } });
    expect(model.nodes.logWeights.length).toBe(797);
    expect(model.record.verdict).toMatch(/on a coarser lattice/);
    const direct = fitDtmFrom(statistics, start, { inducing: { perDimension: 3 }, nodes: { step: 0.31 } });
    expect(Math.abs(model.bound - direct.bound)).toBeLessThan(1);
  });

  it("stops at the limit of iterations and says so", () => {
    const { record } = fit({ maxIterations: 3 });
    expect(record.iterations).toBe(3);
    expect(record.converged).toBe(false);
    expect(record.verdict).toMatch(/limit of 3 iterations.*maxIterations/);
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
    const run = startDtm(statistics, start, { ...quick, signal, onProgress: (p) => seen.push(p) });
    run.step();
    run.step();
    expect(seen.map((p) => p.iteration)).toEqual([1, 2]);
    expect(seen[1].value).toBeGreaterThan(seen[0].value);
    expect(run.progress()).toEqual(seen[1]);
    signal.aborted = true;
    expect(() => run.step()).toThrow(/cancelled/);
  });

  it("has nothing to finish before its first step", () => {
    expect(() => startDtm(statistics, start, quick).finish()).toThrow(DtmError);
  });

  it("refuses other data, other starts, three dimensions and options out of range", () => {
    const other = problemOf(columnsOf(50, 8));
    const snapshot = startDtm(statistics, start, quick).snapshot();
    expect(() => resumeDtm(other.statistics, snapshot)).toThrow(/same data/);
    expect(() => startDtm(other.statistics, start, quick)).toThrow(/same statistics/);
    expect(() => startDtm(statistics, start, { mapDimension: 3 })).toThrow(/dtm-paper/);
    expect(() => startDtm(statistics, start, { cap: 0 })).toThrow(/cap above 0/);
    expect(() => startDtm(statistics, start, { lengthscale: 100 })).toThrow(/lengthscale/);
    expect(() => startDtm(statistics, start, { maxIterations: 0 })).toThrow(/maxIterations/);
    expect(() => startDtm(statistics, start, { residual: "some" as "none" })).toThrow(/residual/);
  });
});

describe("the stochastic schedule", () => {
  it("comes near the bound of whole passes", () => {
    const large = problemOf(columnsOf(600, 11));
    const batch = fitDtmFrom(large.statistics, large.start, quick);
    const svi = fitDtmFrom(large.statistics, large.start, { ...quick, schedule: "svi" });
    expect(svi.bound).toBeLessThan(batch.bound + 0.5);
    expect(Math.abs(svi.bound - batch.bound)).toBeLessThan(0.005 * Math.abs(batch.bound));
    expect(svi.record.verdict).toMatch(/passes/);
    expect(svi.record.options.batchSize).toBe(128);
    expect(relativeError([svi.noiseVariance], [batch.noiseVariance])).toBeLessThan(0.05);
  });
});

describe("the stochastic schedule of a large cohort", () => {
  const large = problemOf(columnsOf(600, 11));
  const options = { ...quick, schedule: "svi", sampleSize: 300 } as const;

  it("settles on a sample, visits everybody last, comes near whole passes and says so", () => {
    const batch = fitDtmFrom(large.statistics, large.start, quick);
    const svi = fitDtmFrom(large.statistics, large.start, { ...options, tolerance: 1e-4 });
    expect(Math.abs(svi.bound - batch.bound)).toBeLessThan(0.005 * Math.abs(batch.bound));
    expect(svi.record.converged).toBe(true);
    expect(svi.record.verdict).toMatch(/all but the last over a random 300 individuals/);
    expect(svi.record.options).toMatchObject({ sampleSize: 300, batchSize: 128 });
  });

  it("goes on from a snapshot with the same bits, on the sample and after it", () => {
    const whole = timeless(fitDtmFrom(large.statistics, large.start, { ...options, maxIterations: 9 }));
    const run = startDtm(large.statistics, large.start, { ...options, maxIterations: 9 });
    const snapshots = [];
    do snapshots.push(structuredClone(run.snapshot()));
    while (run.step());
    for (const stored of [snapshots[3], snapshots[8]]) {
      const resumed = resumeDtm(large.statistics, stored);
      while (resumed.step());
      expect(timeless(resumed.finish())).toEqual(whole);
    }
  });

  it("chooses minibatches above 50,000 individuals and a sample from twice its size on", () => {
    expect(dtmSettings({}, "scalar", 50_000)).toMatchObject({ schedule: "batch" });
    expect(dtmSettings({}, "scalar", 50_001)).toMatchObject({ schedule: "svi", sampleSize: 50_001, batchSize: 3126 });
    expect(dtmSettings({}, "scalar", 131_072)).toMatchObject({ sampleSize: 65_536, batchSize: 4096 });
    expect(dtmSettings({ schedule: "batch" }, "scalar", 1_000_000)).toMatchObject({ schedule: "batch" });
  });
});

describe("restarts", () => {
  it("keep the largest bound", () => {
    const columns = columnsOf(50, 6);
    const p = problemOf(columns);
    const single = fitDtmFrom(p.statistics, p.start, quick);
    const several = fitDtmFrom(p.statistics, p.start, { ...quick, restarts: 3 });
    expect(several.bound).toBeGreaterThanOrEqual(single.bound);
    const run = startDtm(p.statistics, p.start, { ...quick, restarts: 3 });
    while (run.step());
    const bounds = run.snapshot().finished.map((f) => f.bound);
    expect(bounds.length).toBe(4);
    expect(several.bound).toBe(Math.max(...bounds));
    expect(bounds[0]).toBe(single.bound);
  });
});
