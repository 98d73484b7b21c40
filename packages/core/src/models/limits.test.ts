import { describe, expect, it } from "vitest";
import { designMatrix } from "../basis/bspline.ts";
import { basisStatistics } from "../basis/statistics.ts";
import { type Cohort, makeCohort, onlyMarker, selectIndividuals, selectVisits } from "../cohort/cohort.ts";
import { atLimits } from "../cohort/limits.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { DtmError } from "../errors.ts";
import { compareModels } from "../evaluate/compare.ts";
import { forecastScores } from "../evaluate/forecast.ts";
import { heldOutLogLikelihood } from "../evaluate/held-out.ts";
import { approximationOf, isApproximate, type Noise, whiteNoise } from "../noise/noise.ts";
import { bilinear, multiplyTransposed } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { normalCdf } from "../numeric/special.ts";
import { markerModel } from "./fit.ts";
import { fitDtm, fitFpca, fitLmm, resumeDtm, startDtm } from "./fit-models.ts";
import { logLikelihood } from "./linear/likelihood.ts";
import { linearParameters } from "./linear/scores.ts";
import { embed, placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";
import { loadModel, saveModel } from "./save.ts";

/** Curved courses with a level and a slope of their own; values below `limit` are hidden. */
function drawn(m: number, seed: number): Cohort {
  const random = createRandom(seed);
  const columns = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < m; i++) {
    const [level, slope] = [random.normal(), 0.4 * random.normal()];
    const n = 4 + Math.floor(5 * random.uniform());
    for (let j = 0; j < n; j++) {
      const t = 5 * random.uniform();
      columns.ids.push(`p${String(i).padStart(3, "0")}`);
      columns.times.push(t);
      columns.values.push(2 + level + (0.3 + slope) * t - 0.04 * t * t + 0.5 * random.normal());
    }
  }
  return makeCohort(columns, { name: "x" });
}

/** The cohort with everything below the limit given as below it. */
function hidden({ ids, markers: [series] }: Cohort, limit: number, factor = 1): Cohort {
  const owners = ids.flatMap((id, i) => new Array<string>(series.offsets[i + 1] - series.offsets[i]).fill(id));
  const values = series.values.map((v) => factor * Math.max(v, limit));
  const censored = Int8Array.from(series.values, (v) => (v < limit ? -1 : 0));
  return makeCohort({ ids: owners, times: series.times, values, censored }, series.marker);
}

const truth = drawn(150, 4);
const LIMIT = onlyMarker(truth).values.slice().sort()[Math.floor(0.35 * onlyMarker(truth).values.length)];
const cohort = hidden(truth, LIMIT);

describe("a mixed model of values of which 35% are hidden below a limit", () => {
  const mean = (of: Cohort) => {
    const model = fitLmm(of, { mean: "spline" });
    const { basis, mean: curve, noise } = markerModel(model);
    const B = designMatrix(basis, Float64Array.of(0.5, 1.5, 2.5, 3.5, 4.5));
    const at = Array.from({ length: 5 }, (_, t) =>
      curve.coefficients.reduce((sum, v, k) => sum + v * B[t * curve.coefficients.length + k], 0),
    );
    return { at, variance: noise.variance };
  };

  it("has the mean curve and the noise of the whole values, which limits taken for values have not", () => {
    const [whole, censored, substituted] = [truth, cohort, atLimits(cohort)].map(mean);
    const bias = (of: typeof whole) => of.at.map((v, t) => v - whole.at[t]);
    for (const b of bias(censored)) expect(Math.abs(b)).toBeLessThan(0.09);
    expect(Math.min(...bias(substituted))).toBeGreaterThan(0.28);
    expect(Math.abs(censored.variance / whole.variance - 1)).toBeLessThan(0.1);
    expect(substituted.variance / whole.variance).toBeLessThan(0.8);
  });

  it("is at the maximum of the likelihood with limits integrated over, sites taken anew for other parameters", () => {
    const model = fitLmm(cohort, { priors: "none" });
    const { basis, center, noise } = markerModel(model);
    const { meanCoefficients, factor, rank } = linearParameters(model);
    const at = (shift: number, ofNoise: number, ofEffects: number) => {
      const mean = meanCoefficients.map((v) => v + shift);
      const scaled = factor.map((v) => ofEffects * v);
      const variance = ofNoise * noise.variance;
      const own: Noise = { ...whiteNoise(variance), limits: { mean, factor: scaled, variance, spread: 0 } };
      const statistics = basisStatistics(cohort, basis, { center, noise: own });
      return logLikelihood([statistics], { meanCoefficients: mean, factor: scaled, rank, noises: [own] });
    };
    const best = at(0, 1, 1);
    for (const sign of [-1, 1]) {
      expect(at(0.03 * sign, 1, 1)).toBeLessThan(best);
      expect(at(0, 1 + 0.03 * sign, 1)).toBeLessThan(best);
      expect(at(0, 1, 1 + 0.03 * sign)).toBeLessThan(best);
    }
  });

  it("is the same whatever the unit, for places and for the log-likelihood but for the unit of measured values", () => {
    const [one, ten] = [cohort, hidden(truth, LIMIT, 10)];
    const [a, b] = [one, ten].map((of) => fitLmm(of, { noise: "level" }));
    const [places, scaled] = [embed(a, one).location, embed(b, ten).location];
    places.forEach((x, k) => {
      expect(Math.abs(x - scaled[k])).toBeLessThan(1e-4);
    });
    const numMeasured = onlyMarker(cohort).censored!.filter((side) => side === 0).length;
    const total = (logs: Float64Array) => logs.reduce((sum, v) => sum + v, 0);
    const [first, second] = [heldOutLogLikelihood(a, one), heldOutLogLikelihood(b, ten)];
    const gap = total(first.logLikelihood) - total(second.logLikelihood);
    expect(Math.abs(gap - numMeasured * Math.log(10))).toBeLessThan(0.01);
  });

  it("counts all visits, keeps what limits are read under in its file, and reads new individuals alike", () => {
    const model = fitLmm(cohort);
    expect(model.record.numObservations).toBe(onlyMarker(cohort).values.length);
    const again = loadModel(saveModel(model));
    expect(embed(again, cohort)).toEqual(embed(model, cohort));
    expect([...embed(model, cohort).numObservations]).toEqual([...embed(model, truth).numObservations]);
    const ofOne = embed(model, selectIndividuals(cohort, [7]));
    expect(ofOne.location[0]).toBe(embed(model, cohort).location[14]);
  });
});

describe("a value below a limit, of a model that saw none", () => {
  const model = fitLmm(truth, { mean: "spline" });

  it("has the log-probability of that as its score, alone and as a forecast", () => {
    const one = makeCohort({ ids: ["a"], times: [2], values: [1.4], censored: [-1] }, { name: "x" });
    const { basis, mean, noise } = markerModel(model);
    const b = designMatrix(basis, Float64Array.of(2));
    const d = basis.numBasis;
    const variance = bilinear(b, multiplyTransposed(model.covarianceFactor, model.covarianceFactor, d, d, d), b);
    const expected = mean.coefficients.reduce((sum, v, k) => sum + v * b[k], 0);
    const logP = Math.log(normalCdf((1.4 - expected) / Math.sqrt(variance + noise.variance)));
    expect(heldOutLogLikelihood(model, one).logLikelihood[0]).toBeCloseTo(logP, 8);
    const two = makeCohort({ ids: ["a", "a"], times: [1, 2], values: [1.9, 1.4], censored: [0, -1] }, { name: "x" });
    const scores = forecastScores(model, two);
    const history = selectVisits(two, () => 1);
    const given = heldOutLogLikelihood(
      model,
      selectVisits(two, () => 1, true),
      { history },
    );
    expect(scores.logDensity[0]).toBeCloseTo(given.logLikelihood[0], 8);
    expect(scores.pit[0]).toBeLessThan(Math.exp(scores.logDensity[0]));
  });

  it("moves a place less than the value itself could, and as far as it is surprising", () => {
    const level = (censored: number, value: number) =>
      predict(model, placeIndividual(model, { times: [2], values: [value], censored: [censored] }), [2]).median[0];
    const prior = predict(model, placeIndividual(model, { times: [], values: [] }), [2]).median[0];
    expect(level(-1, 1)).toBeLessThan(level(0, 1));
    expect(level(-1, 1)).toBeLessThan(prior);
    expect(level(-1, 6)).toBeCloseTo(prior, 1);
    expect(level(1, 6)).toBeGreaterThan(level(0, 6));
  });
});

describe("maps and components of hidden values", () => {
  it("are fitted, resumed bit for bit, and placed as by the whole values, more or less", () => {
    const options = { restarts: 0, maxIterations: 20, noise: "level" } as const;
    const run = startDtm(cohort, options);
    run.step();
    const resumed = resumeDtm(cohort, structuredClone(run.snapshot()));
    for (const one of [run, resumed]) for (let k = 0; k < 3; k++) one.step();
    expect(resumed.finish().markers[0].map).toEqual(run.finish().markers[0].map);
    const model = run.finish();
    const someone = placeIndividual(model, { times: [1, 2, 3], values: [LIMIT, 3, LIMIT], censored: [-1, 0, -1] });
    const { belowLimit, median } = predict(model, someone, [2.5, 4]);
    expect(belowLimit?.limit).toBe(LIMIT);
    for (const p of belowLimit!.probability) expect(p > 0 && p < 1).toBe(true);
    const exact = placeIndividual(model, { times: [1, 2, 3], values: [LIMIT, 3, LIMIT] });
    expect(median[0]).toBeLessThan(predict(model, exact, [2.5, 4]).median[0]);
  });

  it("of correlated noise forecast from pseudo-values with their weights", () => {
    const model = fitFpca(cohort, {
      rank: 2,
      noise: { kind: "serial", variance: 1, correlation: { range: 0.7, whiteShare: 0.4 } },
    });
    const place = (censored: number[]) => placeIndividual(model, { times: [1, 2], values: [LIMIT, LIMIT], censored });
    const [below, exact] = [place([-1, -1]), place([0, 0])];
    expect(below.visits?.weights?.every((w) => w > 0 && w < 1)).toBe(true);
    expect(exact.visits?.weights).toBeUndefined();
    const soon = (one: typeof below) => predict(model, one, [2.2]);
    expect(soon(below).median[0]).toBeLessThan(soon(exact).median[0]);
    expect(soon(below).sd[0]).toBeGreaterThan(soon(exact).sd[0]);
  });

  it("of several markers read each marker's limits by itself", () => {
    const other = makeCohort(
      {
        ids: [...truth.ids, ...truth.ids],
        times: truth.ids.flatMap(() => [1]).concat(truth.ids.map(() => 3)),
        values: [...truth.ids, ...truth.ids].map((_, j) => (j * 7919) % 13),
      },
      { name: "y" },
    );
    const both = combineMarkers([cohort, other]);
    const model = fitLmm(both, { mean: "spline" });
    expect(model.markers.map(({ noise }) => noise.limits !== undefined)).toEqual([true, false]);
    expect(embed(model, both).visitsOfMarkers![0]).toEqual(embed(fitLmm(cohort), cohort).numObservations);
  });

  it("need measured values, some of them repeated", () => {
    const all = onlyMarker(truth).values.slice().sort();
    expect(() => fitLmm(hidden(truth, all[all.length - 1] + 1))).toThrow(DtmError);
    expect(() => fitLmm(hidden(truth, all[all.length - 1]))).toThrow(
      /that differ, received one, .* of .* below or above a limit/,
    );
    const most = fitLmm(hidden(truth, all[Math.floor(0.7 * all.length)]));
    expect(most.record.warnings.join()).toContain("values lie below or above a limit: courses there rest on");
  });

  it("are refused by the map as published, with the remedy", () => {
    expect(() => fitDtm(cohort, { kind: "dtm-paper" })).toThrow(/below or above a limit. Use kind "dtm"/);
  });
});

describe("a limit that no course leads to", () => {
  it("is refused before it spoils the fit", () => {
    const { ids, markers } = drawn(30, 4);
    const [series] = markers;
    const values = series.values.map((v, j) => (j % 9 === 0 ? 1e-40 : Math.exp(v)));
    const censored = Int8Array.from(values, (_, j) => (j % 9 === 0 ? -1 : 0));
    const far: Cohort = {
      ids,
      markers: [{ ...series, marker: { ...series.marker, transform: "log" }, values, censored }],
    };
    expect(() => fitLmm(far)).toThrow(/near its measured values, received "< 1e-40".*on the log scale/);
    expect(() => fitDtm(far, { restarts: 0 })).toThrow(DtmError);
  });
});

describe("noise levels beside limits", () => {
  it("make likelihoods approximate, which a comparison says", () => {
    const level = markerModel(fitLmm(cohort, { mean: "spline", noise: "level" })).noise;
    const white = markerModel(fitLmm(cohort, { mean: "spline" })).noise;
    expect([level, white, whiteNoise(1)].map(approximationOf)).toEqual(["levels", "limits", null]);
    expect([level, white, whiteNoise(1)].map(isApproximate)).toEqual([true, true, false]);
    const options = { models: ["lmm-paper", "lmm"], folds: 2 } as const;
    const told = compareModels(cohort, { ...options, noise: "level" }).warnings.filter(
      ({ code }) => code === "approximate-likelihood",
    );
    expect(told).toHaveLength(1);
    expect(told[0].message).toContain(
      "noise levels (lmm) read such values at the level expected of the individual: compare their log-likelihoods with each other, not with those of lmm-paper",
    );
    const ofWhite = compareModels(cohort, { ...options, noise: "white" }).warnings;
    const [same] = ofWhite.filter(({ code }) => code === "approximate-likelihood");
    expect(same.message).toMatch(/are approximate: do not compare them with those of values without limits\.$/);
    const { warnings } = compareModels(truth, { ...options, noise: "level" });
    expect(warnings.map(({ code }) => code)).not.toContain("approximate-likelihood");
  });

  it("are chosen by the measured values alone, and the reason says so", () => {
    const { reason } = markerModel(fitLmm(cohort, { noise: "auto" })).noise;
    expect(reason).toMatch(/Judged by measured values alone, without those below or above a limit\.$/);
    expect(markerModel(fitLmm(truth, { noise: "auto" })).noise.reason).not.toContain("measured values");
  });
});
