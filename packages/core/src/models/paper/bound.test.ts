import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { directSums, elboTerms, exactInducingPosterior } from "../../../../../test/paper-bound.ts";
import { bendingCohort, cohortStatistics, randomProblem } from "../../../../../test/paper-problem.ts";
import { designMatrix } from "../../basis/bspline.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { type Cohort, numIndividuals, onlyMarker } from "../../cohort/cohort.ts";
import { cholesky, logDetFromCholesky, solveLowerInPlace } from "../../numeric/cholesky.ts";
import { createRandom } from "../../numeric/random.ts";
import { LOG_2PI, logSumExp } from "../../numeric/special.ts";
import { type Kernel, kernelCross, rbfKernel } from "../gp/kernel.ts";
import { requireKernelFactor } from "./bound.ts";
import { createEngine, termsOfSums, updateInducing } from "./engine.ts";
import { coefficientsOfInducing, inducingKl } from "./inducing.ts";
import { sumObjectives, sumOverAll } from "./passes.ts";
import type { GlobalParameters } from "./state.ts";

/** log N(y | μ, Σ_DTM + σ²I) for places X [m,q]: Cov(y_ij, y_kl) = b(t_ij)'b(t_kl) k(x_i, x_k), by a dense matrix. */
function denseLogDensity(
  cohort: Cohort,
  statistics: BasisStatistics,
  kernel: Kernel,
  mu: number,
  s2: number,
  X: Float64Array,
  q: number,
): number {
  const N = onlyMarker(cohort).times.length;
  const m = numIndividuals(cohort);
  const d = statistics.basis.numBasis;
  const B = designMatrix(statistics.basis, onlyMarker(cohort).times);
  const K = kernelCross(kernel, X, m, X, m, q);
  const owner = Int32Array.from({ length: N }, (_, n) => onlyMarker(cohort).offsets.findIndex((o) => o > n) - 1);
  const V = new Float64Array(N * N);
  for (let a = 0; a < N; a++) {
    for (let b = 0; b < N; b++) {
      let s = 0;
      for (let k = 0; k < d; k++) s += B[a * d + k] * B[b * d + k];
      V[a * N + b] = s * K[owner[a] * m + owner[b]] + (a === b ? s2 : 0);
    }
  }
  const L = cholesky(V, N);
  const r = onlyMarker(cohort).values.map((y) => y - mu);
  solveLowerInPlace(L, N, r);
  return -0.5 * (N * LOG_2PI + logDetFromCholesky(L, N) + r.reduce((s, v) => s + v * v, 0));
}

describe("the bound", () => {
  it("is never above the evidence, for any q(u) and any places", () => {
    for (let seed = 1; seed <= 6; seed++) {
      const cohort = bendingCohort(2, seed, 3);
      const statistics = cohortStatistics(cohort, 3, 1);
      const [mu, s2, q, p, d] = [70, 6, 1, 3, 3];
      const kernel = rbfKernel(q, 30, 1.2);
      // Evidence by a lattice over both places; error far below 1e-6 at this step.
      const axis = Float64Array.from({ length: 101 }, (_, k) => -5 + 0.1 * k);
      const logs: number[] = [];
      for (const x of axis) {
        for (const z of axis) {
          const prior = -0.5 * (x * x + z * z) - LOG_2PI + 2 * Math.log(0.1);
          logs.push(prior + denseLogDensity(cohort, statistics, kernel, mu, s2, Float64Array.of(x, z), q));
        }
      }
      const evidence = logSumExp(logs);
      const random = createRandom(seed);
      const parameters: GlobalParameters = {
        kernel,
        inducingLocations: Float64Array.of(-1, 0, 1),
        numInducing: p,
        mapDimension: q,
        numBasis: d,
        meanCoefficients: new Float64Array(d).fill(mu),
        noiseVariance: s2,
      };
      const factor = requireKernelFactor(parameters);
      for (let trial = 0; trial < 20; trial++) {
        const theta = Float64Array.from({ length: 4 }, (_, k) => (k % 2 === 0 ? 1 : 0.7) * random.normal());
        const sums = directSums(parameters, statistics, theta, false);
        const optimal = exactInducingPosterior({ statistics, parameters, factor }, sums);
        const posterior = coefficientsOfInducing({ statistics, parameters, factor }, optimal);
        const { terms } = elboTerms(parameters, statistics, theta, false, posterior);
        expect(terms.total).toBeLessThan(evidence + 1e-6);
        const shifted = { ...optimal, mean: optimal.mean.map((v) => v + 0.1 * random.normal()) };
        const other = coefficientsOfInducing({ statistics, parameters, factor }, shifted);
        expect(elboTerms(parameters, statistics, theta, false, other).terms.total).toBeLessThan(terms.total);
      }
    }
  });

  it("approaches the dense Gaussian likelihood in proportion to the jitter when places are certain and inducing", () => {
    const cohort = bendingCohort(8, 5, 4);
    const statistics = cohortStatistics(cohort);
    const [m, q, d, s2, mu] = [8, 2, 5, 4, 70];
    const random = createRandom(2);
    const X = Float64Array.from({ length: m * q }, () => 1.5 * random.normal());
    // S_i = 0 up to e⁻⁸⁰; the KL of places is left out.
    const theta = new Float64Array(m * 5);
    for (let i = 0; i < m; i++) theta.set([X[i * q], X[i * q + 1], -40, -40, 0], i * 5);
    const dense = denseLogDensity(cohort, statistics, rbfKernel(q, 40, 0.8), mu, s2, X, q);
    const gaps = [1e-4, 1e-6, 1e-8].map((jitter) => {
      const parameters: GlobalParameters = {
        kernel: rbfKernel(q, 40, 0.8, jitter),
        inducingLocations: X,
        numInducing: m,
        mapDimension: q,
        numBasis: d,
        meanCoefficients: new Float64Array(d).fill(mu),
        noiseVariance: s2,
      };
      const factor = requireKernelFactor(parameters);
      const sums = directSums(parameters, statistics, theta, false);
      const optimal = exactInducingPosterior({ statistics, parameters, factor }, sums);
      const posterior = coefficientsOfInducing({ statistics, parameters, factor }, optimal);
      const { terms } = elboTerms(parameters, statistics, theta, false, posterior);
      return dense - (terms.total + terms.locationKl);
    });
    expect(gaps[0]).toBeGreaterThan(0);
    expect(gaps[0]).toBeLessThan(0.1);
    expect(gaps[0] / gaps[1]).toBeGreaterThan(95);
    expect(gaps[0] / gaps[1]).toBeLessThan(105);
    expect(gaps[1] / gaps[2]).toBeGreaterThan(90);
    expect(gaps[1] / gaps[2]).toBeLessThan(110);
  });

  it("is the same by lines, by individuals and by the fast solver, on grids and elsewhere", () => {
    for (const [seed, options] of [
      [1, { q: 1, p: 4, m: 6 }],
      [2, { q: 2, p: 5, m: 6, diagonal: true }],
      [3, { q: 3, p: 6, m: 6, kernel: "ard" }],
      [4, { q: 2, p: 3, m: 6, kernel: "linear" }],
      [5, { q: 2, p: 5, m: 6, kernel: "ard", numBasis: 6, degree: 3 }],
    ] as const) {
      const { statistics, parameters, theta, diagonal = false } = randomProblem(seed, options);
      const engine = createEngine(statistics, parameters, {
        diagonal,
        priors: { logSignalVariance: { mean: 1, precision: 2 } },
        sharedLengthscale: true,
      });
      sumOverAll(engine, theta);
      const direct = directSums(parameters, statistics, theta, diagonal);
      expect(relativeError(engine.sums.cross, direct.cross)).toBeLessThan(1e-12);
      expect(relativeError(engine.sums.gram, direct.gram)).toBeLessThan(1e-12);
      expect(updateInducing(engine)).toBe(true);
      const factor = requireKernelFactor(parameters);
      const optimal = exactInducingPosterior({ statistics, parameters, factor }, direct);
      const posterior = coefficientsOfInducing({ statistics, parameters, factor }, optimal);
      expect(relativeError(engine.posterior.mean, posterior.mean)).toBeLessThan(1e-9);
      expect(engine.posterior.kl).toBeCloseTo(inducingKl(optimal), 8);
      const { priors } = engine.options;
      const { terms, individuals } = elboTerms(parameters, statistics, theta, diagonal, posterior, priors);
      const fast = termsOfSums(engine, theta);
      for (const line of Object.keys(terms) as (keyof typeof terms)[]) expect(fast[line]).toBeCloseTo(terms[line], 7);
      const sum = individuals.reduce((s, t) => s + t.objective, 0);
      expect(sumObjectives(engine, theta, null)).toBeCloseTo(sum, 8);
      expect(sum - terms.inducingKl + terms.logPrior).toBeCloseTo(terms.total, 9);
    }
  });
});
