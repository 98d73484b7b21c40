import { describe, expect, it } from "vitest";
import { quick, timeless } from "../../../../test/dtm-problem.ts";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { serialCohort } from "../../../../test/serial-cohort.ts";
import { scrambledHost } from "../../../../test/shard-host.ts";
import { designMatrix } from "../basis/bspline.ts";
import { onlyMarker, selectIndividuals } from "../cohort/cohort.ts";
import { evaluateFold } from "../evaluate/compare.ts";
import { forecastScores } from "../evaluate/forecast.ts";
import { heldOutLogLikelihood } from "../evaluate/held-out.ts";
import { levelNoise } from "../noise/noise.ts";
import { cholesky, invertFromCholesky } from "../numeric/cholesky.ts";
import { bilinear, multiply, multiplyVector, transpose } from "../numeric/matrix.ts";
import { refitLike } from "../study/refit.ts";
import type { DtmModel } from "./dtm/model.ts";
import { markerModel } from "./fit.ts";
import { fitDtm, fitLmm, resumeDtm, startDtm } from "./fit-models.ts";
import { forecastGuard } from "./forecast-guard.ts";
import { embed, placeIndividual } from "./place.ts";
import { drawCurves, predict } from "./predict.ts";
import { loadModel, saveModel } from "./save.ts";

const CORRELATION = { range: 0.8, whiteShare: 0.3 };
const cohort = serialCohort(60, 8, levelNoise(1, 0.6, CORRELATION));
const noise = levelNoise(1, 0.5, CORRELATION);
const serial = levelNoise(1, 0, CORRELATION);
const series = onlyMarker(cohort);
const [from, to] = [series.offsets[4], series.offsets[5]];
const history = { times: series.times.slice(from, to), values: series.values.slice(from, to) };
const times = [-0.5, history.times[2], 0.5 * (history.times[3] + history.times[4]), 10.3, 12];
const lmm = fitLmm(cohort, { noise: serial, restarts: 0 });

/** Mean [T] and covariance [T,T] of new measurements given the history, densely. */
function denselyPredicted() {
  const { basis, mean, noise: own } = markerModel(lmm);
  const all = Float64Array.from([...history.times, ...times]);
  const [n, N, d] = [history.times.length, all.length, basis.numBasis];
  const BL = multiply(designMatrix(basis, all), lmm.covarianceFactor, N, d, d);
  const V = multiply(BL, transpose(BL, N, d), N, d, N);
  const { range, whiteShare } = own.correlation!;
  for (let j = 0; j < N; j++) {
    for (let k = 0; k < N; k++) {
      const process = (1 - whiteShare) * Math.exp(-Math.abs(all[j] - all[k]) / range);
      V[j * N + k] += own.variance * (process + (j === k ? whiteShare : 0));
    }
  }
  const known = Float64Array.from({ length: n * n }, (_, e) => V[Math.floor(e / n) * N + (e % n)]);
  const inverse = invertFromCholesky(cholesky(known, n), n);
  const fitted = multiplyVector(designMatrix(basis, all), mean.coefficients, N, d);
  const r = history.values.map((v, j) => v - fitted[j]);
  const column = (t: number) => V.slice((n + t) * N, (n + t) * N + n);
  return {
    mean: times.map((_, t) => fitted[n + t] + bilinear(column(t), inverse, r)),
    covariance: (t: number, u: number) => V[(n + t) * N + n + u] - bilinear(column(t), inverse, column(u)),
  };
}

describe("predictions with serial correlation", () => {
  const placement = placeIndividual(lmm, history);
  const expected = denselyPredicted();

  it("of new measurements are the dense conditional distribution, before, at, between and after the visits", () => {
    const { mean, sd } = predict(lmm, placement, times);
    expect(relativeError(mean, expected.mean)).toBeLessThan(1e-9);
    expect(
      relativeError(
        sd,
        times.map((_, t) => Math.sqrt(expected.covariance(t, t))),
      ),
    ).toBeLessThan(1e-7);
  });

  it("of the curve know nothing of it", () => {
    const { visits, ...without } = placement;
    expect(visits?.times).toEqual(history.times);
    const [a, b] = [placement, without].map((one) => predict(lmm, one, times, { interval: "curve" }));
    expect(a).toEqual(b);
  });

  it("are drawn together with the dense covariance", () => {
    const numDraws = 20_000;
    const T = times.length;
    const draws = drawCurves(lmm, placement, times, { numDraws, noise: true });
    for (let t = 0; t < T; t++) {
      for (let u = 0; u <= t; u++) {
        let sum = 0;
        for (let s = 0; s < numDraws; s++) {
          sum += (draws[s * T + t] - expected.mean[t]) * (draws[s * T + u] - expected.mean[u]);
        }
        const scale = Math.sqrt(expected.covariance(t, t) * expected.covariance(u, u));
        expect(Math.abs(sum / numDraws - expected.covariance(t, u))).toBeLessThan(0.04 * scale);
      }
    }
  });

  it("have a band of whole courses that holds the band of each time", () => {
    const { lower, upper, simultaneous } = predict(lmm, placement, times, { simultaneous: true });
    times.forEach((_, t) => {
      expect(simultaneous!.lower[t]).toBeLessThan(lower[t]);
      expect(simultaneous!.upper[t]).toBeGreaterThan(upper[t]);
    });
  });
});

describe("a map with levels and serial correlation", () => {
  const options = { ...quick, noise } as const;
  const model = fitDtm(cohort, options) as DtmModel;

  it("never lets its bound fall", () => {
    const { trace, warnings, converged } = model.record;
    for (let k = 1; k < trace.length; k++) {
      expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-8 * Math.abs(trace[k]));
    }
    expect(converged).toBe(true);
    expect(warnings.join()).not.toMatch(/fell/);
    expect(markerModel(model).noise.correlation).toEqual(CORRELATION);
  });

  it.each(["level+serial", "serial"] as const)("is the same through WebAssembly and TypeScript: %s", (kind) => {
    const own = { ...options, noise: kind === "serial" ? serial : noise, maxIterations: 2 };
    const [fast, plain] = (["wasm", "typescript"] as const).map(
      (kernels) => fitDtm(cohort, { ...own, kernels }) as DtmModel,
    );
    expect(Math.abs(fast.bound / plain.bound - 1)).toBeLessThan(1e-7);
    const [a, b] = [fast, plain].map((one) => embed(one, cohort));
    expect(relativeError(a.location, b.location)).toBeLessThan(1e-3);
    const [c, e] = (["wasm", "typescript"] as const).map((kernels) => embed(fast, cohort, { kernels }));
    expect(relativeError(c.location, e.location)).toBeLessThan(1e-5);
    expect(relativeError(c.logLikelihood, e.logLikelihood)).toBeLessThan(1e-5);
  });

  it("equals that of white noise for a white share of 1 and one level", () => {
    const white = fitDtm(cohort, { ...quick, noise: "white" }) as DtmModel;
    const same = fitDtm(cohort, { ...quick, noise: levelNoise(1, 0, { range: 1, whiteShare: 1 }) }) as DtmModel;
    expect(Math.abs(same.bound / white.bound - 1)).toBeLessThan(1e-6);
    expect(markerModel(same).noise.variance / markerModel(white).noise.variance).toBeCloseTo(1, 3);
    expect(markerModel(same).varianceShare).toBeCloseTo(markerModel(white).varianceShare, 3);
  });

  it("goes on from a snapshot, and in shards, to the same bytes", () => {
    const run = startDtm(cohort, options);
    for (let k = 0; k < 4; k++) run.step();
    const resumed = resumeDtm(cohort, structuredClone(run.snapshot()));
    while (!resumed.step().done);
    expect(timeless(resumed.finish() as DtmModel)).toEqual(timeless(model));
    expect(timeless(fitDtm(cohort, { ...options, shards: scrambledHost(3) }) as DtmModel)).toEqual(timeless(model));
  });

  it("is loaded as it was saved, with the reason of its noise", () => {
    const told = {
      ...model,
      markers: [{ ...markerModel(model), noise: { ...markerModel(model).noise, reason: "So." } }],
    };
    const again = loadModel(saveModel(told));
    expect(markerModel(again).noise).toEqual(markerModel(told).noise);
    const [a, b] = [told, again].map((one) => predict(one, placeIndividual(one, history), times));
    expect(relativeError(a.median, b.median)).toBeLessThan(1e-12);
  });

  it("forecasts the next visit with the density that it adds to the score", () => {
    const few = selectIndividuals(cohort, [3, 7, 11]);
    const whole = heldOutLogLikelihood(model, few).logLikelihood;
    const { logDensity } = forecastScores(model, few, { given: (n) => n - 1 });
    const shorter = {
      ids: few.ids,
      markers: few.markers.map(({ marker, offsets, times: t, values }) => {
        const kept = few.ids.flatMap((_, i) =>
          Array.from({ length: offsets[i + 1] - offsets[i] - 1 }, (__, j) => offsets[i] + j),
        );
        return {
          marker,
          offsets: Int32Array.from(offsets, (at, i) => at - i),
          times: Float64Array.from(kept, (j) => t[j]),
          values: Float64Array.from(kept, (j) => values[j]),
        };
      }),
    };
    const known = heldOutLogLikelihood(model, shorter).logLikelihood;
    logDensity.forEach((v, i) => {
      expect(v).toBeCloseTo(whole[i] - known[i], 3);
    });
  });

  it("falls back on a mixed model with its correlation", () => {
    const { mixedModel } = forecastGuard(model, cohort);
    expect(markerModel(mixedModel).noise.correlation).toEqual(CORRELATION);
    const placement = placeIndividual(model, history);
    const guard = {
      guard: forecastGuard(model, cohort, { mixedModel }),
      fallback: placeIndividual(mixedModel, history),
    };
    const { median } = predict(model, placement, times, { guard });
    expect(median.every(Number.isFinite)).toBe(true);
  });
});

describe("a range at its bound", () => {
  it("is warned of, also where it is given", () => {
    const { record } = fitLmm(cohort, { noise: levelNoise(1, 0, { range: 2, whiteShare: 0.5 }), restarts: 0 });
    expect(record.warnings.join()).toMatch(/range of the serial correlation ended at its upper bound/);
    expect(lmm.record.warnings.join()).not.toMatch(/upper bound/);
  });
});

describe("comparison and refits with correlated noise", () => {
  const small = serialCohort(24, 5, levelNoise(1, 0.5, CORRELATION), 5);

  it("hold a map against a mixed model with the same correlation, learned once in each fold", () => {
    const models = ["lmm", "fpca", "dtm"] as const;
    const [lmm, fpca, map] = evaluateFold(small, 0, { models, folds: 2, noise: "serial", restarts: 0 });
    for (const { logLikelihood, later } of [lmm, fpca, map]) {
      expect([...logLikelihood, ...later.logDensity].every(Number.isFinite)).toBe(true);
    }
  });

  it("learn the correlation of other individuals afresh", () => {
    const model = fitLmm(small, { noise: "serial", restarts: 0 });
    const again = refitLike(model, selectIndividuals(small, [...Array(18).keys()]));
    const [a, b] = [model, again].map((one) => markerModel(one).noise);
    expect(b.kind).toBe(a.kind);
    expect(b.correlation).not.toEqual(a.correlation);
  });
});
