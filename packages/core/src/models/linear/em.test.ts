import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { type RandomCohort, randomCohort } from "../../../../../test/random-cohort.ts";
import { designMatrix } from "../../basis/bspline.ts";
import { type BasisStatistics, basisStatistics, unpackGram } from "../../basis/statistics.ts";
import { makeCohort, numIndividuals, onlyMarker } from "../../cohort/cohort.ts";
import { noiseLevel, scaleNoise, whiteNoise } from "../../noise/noise.ts";
import { cholesky, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import { multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { semidefiniteRoot } from "../../numeric/symmetric-eigen.ts";
import type { MeanKind } from "../mean.ts";
import { factorCovariance } from "./canonical.ts";
import { linearProblem, type MaximizationStep, maximizeCovariance, maximizeLoadings, runEm } from "./em.ts";
import { logLikelihood } from "./likelihood.ts";
import { publishedStart } from "./lmm.ts";
import { coefficientPosterior, effectPosterior } from "./posterior.ts";
import type { LinearParameters } from "./stack.ts";

const MEANS: MeanKind[] = ["scalar", "spline"];

/** One EM step in the definition's own TypeScript. */
function emStep(statistics: BasisStatistics, from: LinearParameters, kind: MeanKind, maximize: MaximizationStep) {
  const problem = linearProblem([statistics], kind, { kernels: "typescript" });
  return maximize(problem, from, problem.expect(from));
}

/** New mean coefficients by least squares of y − B w_i on all observations, read one by one. */
function literalMean(data: RandomCohort, kind: MeanKind, w: Float64Array): Float64Array {
  const { cohort, basis } = data;
  const d = basis.numBasis;
  const B = designMatrix(basis, onlyMarker(cohort).times);
  const target = onlyMarker(cohort).values.slice();
  for (let i = 0; i < numIndividuals(cohort); i++) {
    for (let j = onlyMarker(cohort).offsets[i]; j < onlyMarker(cohort).offsets[i + 1]; j++) {
      for (let k = 0; k < d; k++) target[j] -= B[j * d + k] * w[i * d + k];
    }
  }
  const N = target.length;
  if (kind === "scalar") return new Float64Array(d).fill(target.reduce((s, v) => s + v, 0) / N);
  const Bt = transpose(B, N, d);
  const beta = multiplyVector(Bt, target, d, N);
  solveCholeskyInPlace(cholesky(multiply(Bt, B, d, N, d), d), d, beta);
  return beta;
}

/** Σ_i [ ‖y_i − Bβ − Bw_i‖² + <G_i, V_i> ] / N, observation by observation. */
function literalNoise(data: RandomCohort, beta: Float64Array, w: Float64Array, V: Float64Array): number {
  const { cohort, basis, statistics } = data;
  const d = basis.numBasis;
  const B = designMatrix(basis, onlyMarker(cohort).times);
  const G = new Float64Array(d * d);
  let total = 0;
  for (let i = 0; i < numIndividuals(cohort); i++) {
    for (let j = onlyMarker(cohort).offsets[i]; j < onlyMarker(cohort).offsets[i + 1]; j++) {
      let r = onlyMarker(cohort).values[j];
      for (let k = 0; k < d; k++) r -= B[j * d + k] * (beta[k] + w[i * d + k]);
      total += r * r;
    }
    unpackGram(statistics, i, G);
    for (let k = 0; k < d * d; k++) total += G[k] * V[i * d * d + k];
  }
  return total / onlyMarker(cohort).times.length;
}

const start: LinearParameters = {
  meanCoefficients: Float64Array.of(19, 20, 21, 20, 18),
  noises: [whiteNoise(2)],
  factor: Float64Array.from({ length: 25 }, (_, j) => (j % 6 === 0 ? 2 : 0.3 * Math.cos(j))),
  rank: 5,
};

describe.each(MEANS)("EM step with a %s mean", (kind) => {
  it("of the mixed model equals the published formulas written out", () => {
    const data = randomCohort({ seed: 21 });
    const m = data.statistics.numIndividuals;
    const from = kind === "spline" ? start : { ...start, meanCoefficients: new Float64Array(5).fill(19) };
    const next = emStep(data.statistics, from, kind, maximizeCovariance);
    const { mean: w, covariance: V } = coefficientPosterior([data.statistics], from);
    const Sigma = new Float64Array(25);
    for (let i = 0; i < m; i++) {
      for (let k = 0; k < 25; k++) Sigma[k] += (V[i * 25 + k] + w[i * 5 + Math.floor(k / 5)] * w[i * 5 + (k % 5)]) / m;
    }
    expect(relativeError(factorCovariance(next.factor, 5, 5), Sigma)).toBeLessThan(1e-11);
    const beta = literalMean(data, kind, w);
    expect(relativeError(next.meanCoefficients, beta)).toBeLessThan(1e-11);
    expect(relativeError([noiseLevel(next.noises[0])], [literalNoise(data, beta, w, V)])).toBeLessThan(1e-11);
  });

  it("of the reduced-rank model equals the published formulas written out", () => {
    const data = randomCohort({ seed: 22 });
    const { statistics } = data;
    const q = 2;
    const from = {
      ...start,
      meanCoefficients: new Float64Array(5).fill(19),
      factor: start.factor.slice(0, 10),
      rank: q,
    };
    const next = emStep(statistics, from, kind, maximizeLoadings);
    const { mean: x, covariance: C } = effectPosterior([statistics], from);
    // Normal equations of F, entry by entry: Σ_i Σ_lc G_kl F_lc E_ca = Σ_i g_ik x_ia.
    const H = new Float64Array(100);
    const b = new Float64Array(10);
    const G = new Float64Array(25);
    const B = designMatrix(data.basis, onlyMarker(data.cohort).times);
    for (let i = 0; i < statistics.numIndividuals; i++) {
      unpackGram(statistics, i, G);
      for (let k = 0; k < 5; k++) {
        let g = 0;
        for (let j = onlyMarker(data.cohort).offsets[i]; j < onlyMarker(data.cohort).offsets[i + 1]; j++) {
          g += B[j * 5 + k] * (onlyMarker(data.cohort).values[j] - 19);
        }
        for (let a = 0; a < q; a++) {
          b[k * q + a] += g * x[i * q + a];
          for (let l = 0; l < 5; l++) {
            for (let c = 0; c < q; c++) {
              H[(k * q + a) * 10 + l * q + c] += G[k * 5 + l] * (C[(i * q + a) * q + c] + x[i * q + a] * x[i * q + c]);
            }
          }
        }
      }
    }
    solveCholeskyInPlace(cholesky(H, 10), 10, b);
    expect(relativeError(next.factor, b)).toBeLessThan(1e-10);
    const m = statistics.numIndividuals;
    const w = multiply(x, transpose(b, 5, q), m, q, 5);
    const V = new Float64Array(m * 25);
    for (let i = 0; i < m; i++) {
      V.set(multiply(multiply(b, C.slice(i * 4, i * 4 + 4), 5, 2, 2), transpose(b, 5, 2), 5, 2, 5), i * 25);
    }
    const beta = literalMean(data, kind, w);
    expect(relativeError(next.meanCoefficients, beta)).toBeLessThan(1e-11);
    expect(relativeError([noiseLevel(next.noises[0])], [literalNoise(data, beta, w, V)])).toBeLessThan(1e-10);
  });

  it("never lowers the likelihood, over 200 steps of either model", () => {
    const { statistics } = randomCohort({ seed: 23, noiseSd: 0.5 });
    const problem = linearProblem([statistics], kind);
    const options = { maxEmIterations: 200, emTolerance: 0 };
    const lmm = runEm(problem, publishedStart(problem), maximizeCovariance, options);
    const two = { ...start, factor: start.factor.slice(0, 10), rank: 2 };
    const fpca = runEm(problem, two, maximizeLoadings, options);
    for (const { trace } of [lmm, fpca]) {
      expect(trace.length).toBe(201);
      for (let k = 1; k < trace.length; k++)
        expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-9 * Math.abs(trace[k]));
      expect(trace[200]).toBeGreaterThan(trace[0] + 10);
    }
  });
});

describe("EM", () => {
  it("keeps the directions of a singular covariance, without failing", () => {
    const { statistics } = randomCohort({ seed: 24 });
    const problem = linearProblem([statistics], "scalar", { kernels: "typescript" });
    const factor = new Float64Array(25);
    for (let k = 0; k < 5; k++) factor[k * 5] = 1; // only the level varies
    const result = runEm(problem, { ...start, factor }, maximizeCovariance, { maxEmIterations: 20, emTolerance: 0 });
    for (let k = 0; k < 5; k++) {
      expect(result.parameters.factor[k * 5]).toBeCloseTo(result.parameters.factor[0], 12);
      for (let a = 1; a < 5; a++) expect(result.parameters.factor[k * 5 + a]).toBe(0);
    }
    expect(result.logLikelihood).toBeCloseTo(logLikelihood([statistics], result.parameters), 9);
  });

  it("stops as a defect of the program when the likelihood falls", () => {
    const { statistics } = randomCohort({ seed: 24 });
    const worse: MaximizationStep = (_problem, p) => ({ ...p, noises: p.noises.map((noise) => scaleNoise(noise, 2)) });
    const options = { maxEmIterations: 5, emTolerance: 0 };
    expect(() =>
      runEm(linearProblem([statistics], "scalar"), { ...start, noises: [whiteNoise(50)] }, worse, options),
    ).toThrow(/never falls/);
  });

  it("reproduces the golden iterates 1, 2 and 5", () => {
    interface Listed {
      readonly mu: number | number[];
      readonly Sigma?: number[][];
      readonly F?: number[][];
      readonly s2: number;
      readonly loglik: number;
    }
    const fixture = JSON.parse(readFileSync(new URL("../../../../../fixtures/mixed.json", import.meta.url), "utf8"));
    const { subject, t, y, knots, degree } = fixture.data;
    const ids = subject.map((s: number) => String(s).padStart(4, "0"));
    const d = knots.length - degree - 1;
    const basis = { degree, numBasis: d, knots: Float64Array.from(knots), placement: "given" as const };
    const statistics = basisStatistics(makeCohort({ ids, times: t, values: y }), basis);
    const check = (kind: MeanKind, listed: Record<string, Listed>, maximize: MaximizationStep) => {
      const { init } = listed;
      const beta = typeof init.mu === "number" ? new Float64Array(d).fill(init.mu) : Float64Array.from(init.mu);
      const factor = init.F
        ? Float64Array.from(init.F.flat())
        : semidefiniteRoot(Float64Array.from(init.Sigma!.flat()), d);
      let p: LinearParameters = {
        meanCoefficients: beta,
        noises: [whiteNoise(init.s2)],
        factor,
        rank: factor.length / d,
      };
      for (let k = 1; k <= 5; k++) {
        p = emStep(statistics, p, kind, maximize);
        const expected = listed[`after_${k}`];
        if (expected === undefined) continue;
        const own = expected.F ? p.factor : factorCovariance(p.factor, d, p.rank);
        expect(relativeError(own, (expected.F ?? expected.Sigma!).flat())).toBeLessThan(1e-10);
        expect(relativeError([noiseLevel(p.noises[0])], [expected.s2])).toBeLessThan(1e-10);
        expect(relativeError([logLikelihood([statistics], p)], [expected.loglik])).toBeLessThan(1e-10);
        const mu = typeof expected.mu === "number" ? new Array(d).fill(expected.mu) : expected.mu;
        expect(relativeError(p.meanCoefficients, mu)).toBeLessThan(1e-10);
      }
    };
    for (const kind of MEANS) {
      check(kind, fixture.lmm[kind], maximizeCovariance);
      for (const rank of ["q1", "q2", "q3"]) check(kind, fixture.fpca[kind][rank], maximizeLoadings);
    }
  });
});
