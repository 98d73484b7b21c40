import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../../test/expect-gradient.ts";
import { type RandomCohort, randomCohort } from "../../../../../test/random-cohort.ts";
import { designMatrix } from "../../basis/bspline.ts";
import { onlyMarker } from "../../cohort/cohort.ts";
import { noiseLevel, whiteNoise } from "../../noise/noise.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { scoreOf } from "./expectation.ts";
import { covarianceGradient, individualLogLikelihoods, logLikelihood } from "./likelihood.ts";
import { createExpectationStep } from "./passes.ts";
import { coefficientMeans, coefficientPosterior, effectPosterior } from "./posterior.ts";
import type { LinearParameters } from "./stack.ts";

/** Parameters drawn at random; `zeros` leading columns of L are set to 0. */
function randomParameters(d: number, r: number, seed: number, zeros = 0, triangular = false): LinearParameters {
  const random = createRandom(seed);
  const factor = Float64Array.from({ length: d * r }, () => 2 * random.normal());
  for (let k = 0; k < d; k++) {
    for (let a = 0; a < r; a++) if (a < zeros || (triangular && a > k)) factor[k * r + a] = 0;
  }
  const meanCoefficients = Float64Array.from({ length: d }, () => 20 + random.normal());
  return { meanCoefficients, noises: [whiteNoise(0.5 + random.uniform())], factor, rank: r };
}

/** The slow and obvious way: the n x n covariance of one individual, its inverse and what follows from it. */
function dense(data: RandomCohort, individual: number, p: LinearParameters) {
  const { cohort, basis } = data;
  const [start, end] = [onlyMarker(cohort).offsets[individual], onlyMarker(cohort).offsets[individual + 1]];
  const n = end - start;
  const d = basis.numBasis;
  const B = designMatrix(basis, onlyMarker(cohort).times.slice(start, end));
  const BL = multiply(B, p.factor, n, d, p.rank);
  const V = multiply(BL, transpose(BL, n, p.rank), n, p.rank, n);
  for (let j = 0; j < n; j++) V[j * n + j] += noiseLevel(p.noises[0]);
  const C = cholesky(V, n);
  const inverse = invertFromCholesky(C, n);
  const fitted = multiply(B, p.meanCoefficients, n, d, 1);
  const residual = onlyMarker(cohort)
    .values.slice(start, end)
    .map((y, j) => y - fitted[j]);
  const weighted = multiply(inverse, residual, n, n, 1);
  let quadratic = 0;
  for (let j = 0; j < n; j++) quadratic += residual[j] * weighted[j];
  const T = transpose(BL, n, p.rank);
  const mean = multiply(T, weighted, p.rank, n, 1);
  const covariance = multiply(multiply(T, inverse, p.rank, n, n), BL, p.rank, n, p.rank).map(
    (v, k) => (k % (p.rank + 1) === 0 ? 1 : 0) - v,
  );
  return { logDensity: -0.5 * (n * Math.log(2 * Math.PI) + logDetFromCholesky(C, n) + quadratic), mean, covariance };
}

const CASES = [
  { numBasis: 5, degree: 2, r: 5, zeros: 0 },
  { numBasis: 5, degree: 2, r: 5, zeros: 2 },
  { numBasis: 5, degree: 2, r: 2, zeros: 0 },
  { numBasis: 7, degree: 3, r: 3, zeros: 1 },
  { numBasis: 3, degree: 1, r: 1, zeros: 0 },
  { numBasis: 4, degree: 1, r: 4, zeros: 4 },
];

describe("linear model likelihood", () => {
  it.each(CASES)(
    "equals the density with the full covariance of each individual: %o",
    ({ numBasis, degree, r, zeros }) => {
      const data = randomCohort({ numBasis, degree, numIndividuals: 15, maxObservations: 12, seed: 3 });
      const p = randomParameters(numBasis, r, 4, zeros);
      const each = individualLogLikelihoods([data.statistics], p);
      const expected = Float64Array.from(each, (_, i) => dense(data, i, p).logDensity);
      expect(relativeError(each, expected)).toBeLessThan(1e-11);
      expect(logLikelihood([data.statistics], p)).toBeCloseTo(
        expected.reduce((s, v) => s + v, 0),
        8,
      );
    },
  );

  it.each(CASES)("has the gradient of central differences: %o", ({ numBasis: d, degree, r, zeros }) => {
    const { statistics } = randomCohort({ numBasis: d, degree, numIndividuals: 12, seed: 5 });
    for (let seed = 0; seed < 4; seed++) {
      const p = randomParameters(d, r, seed, zeros, seed % 2 === 1);
      const x = Float64Array.from([...p.meanCoefficients, Math.log(noiseLevel(p.noises[0])), ...p.factor]);
      const read = (y: Float64Array): LinearParameters => ({
        meanCoefficients: y.slice(0, d),
        noises: [whiteNoise(Math.exp(y[d]))],
        factor: y.slice(d + 1),
        rank: r,
      });
      const expected = createExpectationStep([statistics], { kernels: "typescript" })(p);
      const { meanCoefficients, logNoiseLevels, factor } = scoreOf(expected, p, [statistics]);
      expect(expected.logLikelihood).toBeCloseTo(logLikelihood([statistics], p), 8);
      const gradient = Float64Array.from([...meanCoefficients, ...logNoiseLevels, ...factor]);
      expectGradient((y) => logLikelihood([statistics], read(y)), x, gradient);
    }
  });

  it("has the derivative D in the covariance: adding variance along u gains u'Du", () => {
    const { statistics } = randomCohort({ seed: 6 });
    const p = randomParameters(5, 2, 7);
    const D = covarianceGradient([statistics], p);
    const value = logLikelihood([statistics], p);
    const random = createRandom(8);
    const u = Float64Array.from({ length: 5 }, () => random.normal());
    const epsilon = 1e-6;
    const factor = new Float64Array(15);
    for (let k = 0; k < 5; k++) factor.set([p.factor[2 * k], p.factor[2 * k + 1], Math.sqrt(epsilon) * u[k]], 3 * k);
    let slope = 0;
    for (let k = 0; k < 5; k++) for (let l = 0; l < 5; l++) slope += u[k] * D[k * 5 + l] * u[l];
    const gain = (logLikelihood([statistics], { ...p, factor, rank: 3 }) - value) / epsilon;
    expect(Math.abs(gain / slope - 1)).toBeLessThan(1e-3);
  });

  it("says NaN where the noise is negligible, and refuses it at the door", () => {
    const { statistics } = randomCohort({ seed: 6 });
    const p = { ...randomParameters(5, 5, 7), noises: [whiteNoise(0)] };
    expect(createExpectationStep([statistics], { kernels: "typescript" })(p).logLikelihood).toBeNaN();
    expect(() => logLikelihood([statistics], p)).toThrow(/noise variance/);
  });

  it("refuses parameters of another basis", () => {
    const { statistics } = randomCohort({ seed: 6 });
    expect(() => logLikelihood([statistics], randomParameters(4, 2, 1))).toThrow(/expected a factor of 5 x 2/);
  });
});

describe("posterior of the effects", () => {
  it.each(CASES)("equals the conditional of the joint Gaussian: %o", ({ numBasis: d, degree, r, zeros }) => {
    const data = randomCohort({ numBasis: d, degree, numIndividuals: 10, maxObservations: 12, seed: 9 });
    const p = randomParameters(d, r, 10, zeros);
    const { mean, covariance } = effectPosterior([data.statistics], p);
    const w = coefficientPosterior([data.statistics], p);
    for (let i = 0; i < 10; i++) {
      const expected = dense(data, i, p);
      expect(relativeError(mean.slice(i * r, (i + 1) * r), expected.mean)).toBeLessThan(1e-9);
      expect(relativeError(covariance.slice(i * r * r, (i + 1) * r * r), expected.covariance)).toBeLessThan(1e-9);
      const V = multiply(multiply(p.factor, expected.covariance, d, r, r), transpose(p.factor, d, r), d, r, d);
      expect(relativeError(w.covariance.slice(i * d * d, (i + 1) * d * d), V)).toBeLessThan(1e-9);
      expect(relativeError(w.mean.slice(i * d, (i + 1) * d), multiply(p.factor, expected.mean, d, r, 1))).toBeLessThan(
        1e-9,
      );
    }
    expect(relativeError(coefficientMeans([data.statistics], p), w.mean)).toBeLessThan(1e-12);
  });
});
