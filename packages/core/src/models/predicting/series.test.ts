import { describe, expect, it } from "vitest";
import { designMatrix } from "../../basis/bspline.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { TRANSFORMS } from "../../cohort/marker.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { normalCdf } from "../../numeric/special.ts";
import { createConditioner } from "../mixture/conditioner.ts";
import { functionalDistribution } from "../mixture/curve-distribution.ts";
import { makeMixture } from "../mixture/mixture.ts";
import { conditionMixture, individualObservations } from "../mixture/posterior.ts";
import { type PredictedSeries, type ValueOptions, valueSeries } from "./series.ts";

const FIELDS = ["mean", "sd", "median", "lower", "upper"] as const;

/** A bending map of 40 × 40 places, and two individuals: one visit, six visits. */
function example(d: number, degree: number) {
  const times = [3, 0, 1, 2, 5, 6, 9];
  const values = [0.4, -0.1, 0.3, 0.2, 0.8, 1, 1.3];
  const cohort = makeCohort({ ids: ["a", "b", "b", "b", "b", "b", "b"], times, values });
  const basis = bsplineBasis(
    Float64Array.from({ length: 40 }, (_, k) => k / 4),
    { numBasis: d, degree },
  );
  const per = 40;
  const K = per * per;
  const locations = Float64Array.from(
    { length: 2 * K },
    (_, e) => (e % 2 ? (e >> 1) % per : ((e >> 1) / per) | 0) / 5 - 3.9,
  );
  const covariances = new Float64Array(K * d * d);
  const means = new Float64Array(K * d);
  const logWeights = new Float64Array(K);
  for (let g = 0; g < K; g++) {
    const [x, y] = [locations[2 * g], locations[2 * g + 1]];
    logWeights[g] = -0.5 * (x * x + y * y) - 5.06;
    for (let a = 0; a < d; a++) {
      means[g * d + a] = x + (y * a) / d + 0.3 * Math.sin(x * a);
      for (let b = 0; b < d; b++) {
        covariances[(g * d + a) * d + b] = (0.02 + 0.01 * x * x) * Math.exp(-0.5 * (a - b) ** 2) + (a === b ? 0.01 : 0);
      }
    }
  }
  const meanCoefficients = Float64Array.from({ length: d }, (_, a) => 0.1 * a);
  const shared = { numBasis: d, mapDimension: 2, locations, logWeights, means, covariances, meanCoefficients };
  const mixture = makeMixture({ ...shared, noise: whiteNoise(0.09) });
  const statistics = basisStatistics(cohort, basis, { center: 0 });
  const model = { basis, mean: { kind: "spline" as const, coefficients: meanCoefficients } };
  const at = Float64Array.of(0, 0.7, 3, 5.5, 9, 12);
  const rows = designMatrix(basis, at);
  return { mixture, statistics, model, rows, at };
}

/** Largest difference of two series, over the width of the band of the second. */
function worst(found: PredictedSeries, expected: PredictedSeries): number {
  let largest = 0;
  for (let t = 0; t < expected.mean.length; t++) {
    const width = expected.upper[t] - expected.lower[t];
    for (const field of FIELDS) largest = Math.max(largest, Math.abs(found[field][t] - expected[field][t]) / width);
  }
  return largest;
}

const OPTIONS: ValueOptions = { level: 0.9, measured: false, marker: { transform: "identity" } };

describe("valueSeries", () => {
  it.each([
    [5, 2],
    [4, 1],
    [6, 3],
  ])("gives the same through WebAssembly, through TypeScript and for a clone: d = %i, degree %i", (d, degree) => {
    const { mixture, statistics, model, rows } = example(d, degree);
    const condition = createConditioner(mixture);
    for (let i = 0; i < 2; i++) {
      const observations = individualObservations(mixture, statistics, i);
      const plain = { posterior: conditionMixture(mixture, observations) };
      const lazy = { posterior: condition(statistics, i) };
      const clone = structuredClone(lazy);
      TRANSFORMS.forEach((transform, k) => {
        const options = { ...OPTIONS, marker: { transform }, noise: k % 2 === 0 ? 0 : 0.09 };
        const expected = valueSeries(model, plain, rows, { ...options, kernels: "typescript" });
        expect(worst(valueSeries(model, lazy, rows, options), expected)).toBeLessThan(1e-9);
        expect(worst(valueSeries(model, clone, rows, options), expected)).toBeLessThan(1e-9);
      });
    }
  });

  it("gives the same where observations say nearly everything", () => {
    for (const sigma2 of [0.09, 1e-7]) {
      const { mixture: usual, statistics, model } = example(5, 2);
      const mixture = { ...usual, noise: whiteNoise(sigma2) };
      const condition = createConditioner(mixture);
      for (let i = 0; i < 2; i++) {
        const observations = individualObservations(mixture, statistics, i);
        const plain = { posterior: conditionMixture(mixture, observations) };
        const lazy = { posterior: condition(statistics, i) };
        for (const times of [[3], [0.5, 7]]) {
          const at = Float64Array.from(times);
          const rows = designMatrix(model.basis, at);
          const expected = valueSeries(model, plain, rows, { ...OPTIONS, kernels: "typescript" });
          expect(worst(valueSeries(model, lazy, rows, OPTIONS), expected)).toBeLessThan(1e-8);
        }
      }
    }
  });
});

describe("bands of high levels", () => {
  it("leave out less than what lies beyond them", () => {
    const { mixture, statistics, model, rows, at } = example(5, 2);
    const observations = individualObservations(mixture, statistics, 0);
    const all = conditionMixture(mixture, observations, 1e-14);
    const placement = { posterior: createConditioner(mixture)(statistics, 0) };
    const level = 1 - 2e-7;
    for (const kernels of ["auto", "typescript"] as const) {
      const { lower } = valueSeries(model, placement, rows, { ...OPTIONS, level, kernels });
      for (let t = 0; t < at.length; t++) {
        const { weights, means, sds } = functionalDistribution(all, model.mean.coefficients, rows, t * 5, false);
        const below = weights.reduce((s, w, k) => s + w * normalCdf((lower[t] - means[k]) / sds[k]), 0);
        expect(Math.abs(below / 1e-7 - 1)).toBeLessThan(0.01);
      }
    }
  });
});

describe("mean and deviation of a logit marker", () => {
  it("are those of the mapped distribution, however wide it is", () => {
    const { model } = example(5, 2);
    const at = Float64Array.of(4);
    const rows = designMatrix(model.basis, at);
    const level = rows.reduce((sum, b, k) => sum + b * model.mean.coefficients[k], 0);
    for (const s of [0.5, 1.9, 2.1, 6, 40]) {
      for (const center of [-3, -0.4, 2]) {
        const place = { nodes: Int32Array.of(0), weights: Float64Array.of(1), locations: Float64Array.of(0, 0) };
        const means = new Float64Array(5).fill(center - level);
        const ofNoise = { shares: Float64Array.of(1), noiseVariances: Float64Array.of(s * s) };
        const posterior = { ...place, ...ofNoise, means, covariances: new Float64Array(25), logLikelihood: 0 };
        const options = { ...OPTIONS, measured: true, marker: { transform: "logit" } } as const;
        const found = valueSeries(model, { posterior }, rows, options);
        let [first, second] = [0, 0];
        for (let k = -90_000; k <= 90_000; k++) {
          const w = 1e-4 * Math.exp(-0.5 * (1e-4 * k) ** 2) * Math.sqrt(0.5 / Math.PI);
          const y = 1 / (1 + Math.exp(-center - s * 1e-4 * k));
          first += w * y;
          second += w * y * y;
        }
        expect(Math.abs(found.mean[0] - first)).toBeLessThan(2e-8);
        expect(Math.abs(found.sd[0] - Math.sqrt(second - first * first))).toBeLessThan(2e-7);
      }
    }
  });
});
