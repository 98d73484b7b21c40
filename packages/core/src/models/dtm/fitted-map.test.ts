import { describe, expect, it } from "vitest";
import { columnsOf, problemOf, quick, timeless } from "../../../../../test/dtm-problem.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import type { CohortColumns } from "../../cohort/cohort.ts";
import { createRandom } from "../../numeric/random.ts";
import { markerModel } from "../fit.ts";
import { mapMoments } from "../gp/sparse-map.ts";
import type { MapStart } from "../map-start.ts";
import { logLikelihoods } from "../mixture/conditioner.ts";
import { makeMixture } from "../mixture/mixture.ts";
import { startBatch } from "./batch.ts";
import { createEngine, startAnchors } from "./engine.ts";
import type { DtmModel } from "./model.ts";
import { fitDtmFrom, startDtm } from "./run.ts";
import { type DtmOptions, dtmSettings } from "./settings.ts";
import { placesFromPosterior } from "./starting-places.ts";
import { firstState } from "./state.ts";

const { cohort, statistics, start } = problemOf(columnsOf(70));

function fit(options: DtmOptions = {}, from: MapStart = start, data: BasisStatistics = statistics): DtmModel {
  return fitDtmFrom([data], from, { ...quick, ...options });
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
      expect(record.verdict).toMatch(/^Settled: after \d+ iterations/);
      expect(record.warnings.filter((w) => w.includes("fell"))).toEqual([]);
    });
  }

  it("never falls on the line either", () => {
    const line = problemOf(columnsOf(60, 5), 1);
    const { record, mapDimension } = fitDtmFrom([line.statistics], line.start, { mapDimension: 1 });
    const { map } = markerModel(fitDtmFrom([line.statistics], line.start, { mapDimension: 1 }));
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
    expect(markerModel(none).varianceShare).toBe(1);
  });

  it("tends to the log-likelihood of the linear mixed model as the map vanishes and the residual is its Σ", () => {
    const d = statistics.basis.numBasis;
    const settings = dtmSettings({ ...quick, cap: 1 }, start, statistics.numIndividuals);
    const engine = createEngine([statistics], startAnchors(start), settings);
    const mixture = makeMixture({
      numBasis: d,
      mapDimension: 0,
      locations: new Float64Array(0),
      logWeights: new Float64Array(1),
      means: new Float64Array(d),
      covariances: engine.markers[0].anchor.reference,
      meanCoefficients: start.markers[0].mean.coefficients,
      noise: start.markers[0].noise,
    });
    const logLikelihood = logLikelihoods(mixture, statistics).reduce((s, v) => s + v, 0);
    const gaps = [1e-4, 1e-6, 1e-8].map((share) => {
      const state = firstState(start, settings);
      state.markers[0].signalVariance *= share;
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
    const fitted = [a, b].map((p) => timeless(fitDtmFrom([p.statistics], p.start, quick)));
    expect(fitted[1]).toEqual(fitted[0]);

    const run = startDtm([a.statistics], a.start, quick);
    while (!run.step().done);
    const places = run.places();
    const m = a.statistics.numIndividuals;
    const [x, y] = [a.cohort.ids.indexOf(last ?? ""), m - 1];
    expect(a.cohort.ids[y]).toBe("P9999");
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
      const a = fit({ tolerance: 1e-6 }, plain.start, plain.statistics);
      const b = fit({ tolerance: 1e-6 }, moved.start, moved.statistics);
      const N = plain.statistics.numObservations;
      // Looser than rounding: a shift by 1e12 costs digits of the statistics.
      const tolerance = 1e-5;
      expect(Math.abs(b.bound + N * Math.log(Math.abs(scale)) - a.bound)).toBeLessThan(0.01);
      expect(Math.abs(markerModel(b).noise.variance / scale ** 2 / markerModel(a).noise.variance - 1)).toBeLessThan(
        tolerance,
      );
      expect(Math.abs((markerModel(b).residual.tau ?? 0) - (markerModel(a).residual.tau ?? 1))).toBeLessThan(tolerance);
      expect(Math.abs(markerModel(b).varianceShare - markerModel(a).varianceShare)).toBeLessThan(1e-3);
      const level = (m: DtmModel) => markerModel(m).mean.coefficients[0];
      const spread = Math.sqrt(markerModel(a).noise.variance);
      expect(Math.abs((level(b) - shift) / scale - level(a))).toBeLessThan(1e-2 * spread);
    });
  }

  it("reports share, τ, cap, length-scale and trace, and the share is that of its formula", () => {
    const { nodes } = model;
    const { residual, map, varianceShare, averageGram } = markerModel(model);
    const d = markerModel(model).basis.numBasis;
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
    const lengths = [markerModel(model).map.inducingMean, model.nodes.logWeights, markerModel(model).averageGram].map(
      (a) => a.length,
    );
    expect(lengths).not.toContain(m);
    expect(JSON.stringify(model.record)).not.toContain(cohort.ids[3]);
  });

  it("stays finite on values without noise, and says why the noise stopped falling", () => {
    const columns = columnsOf(18, 4);
    const exact = columns.ids.map((id, j) => Number(id.slice(1)) * 3 + 0.5 * Math.round(columns.times[j]));
    const times = Array.from(columns.times, (t) => Math.round(t));
    const clean = problemOf({ ids: columns.ids, times, values: exact });
    for (const residual of ["full", "capped"] as const) {
      const { bound, record } = fit({ residual, maxIterations: 60 }, clean.start, clean.statistics);
      const { noise } = markerModel(fit({ residual, maxIterations: 60 }, clean.start, clean.statistics));
      expect(Number.isFinite(bound)).toBe(true);
      expect(noise.variance).toBeGreaterThan(0);
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
    expect(markerModel(full).varianceShare).toBeLessThan(0.5);
    expect(full.record.warnings.some((w) => w.includes("explain little"))).toBe(true);
  });
});
