import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { bandOf, type LocalProblem, makeLocalProblem } from "../../../../../test/local-problem.ts";
import { unpackGram } from "../../basis/statistics.ts";
import { choleskyInPlace, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { createRandom } from "../../numeric/random.ts";
import { gridLocations } from "../gp/inducing.ts";
import { rbfKernel } from "../gp/kernel.ts";
import { createLocalSolver, type LocalSolveOptions, type LocalSolver } from "./local.ts";

const TIGHT: LocalSolveOptions = { method: "newton", gradientTolerance: 1e-7, maxEvaluations: 500 };
const USUAL: LocalSolveOptions = { method: "newton", gradientTolerance: 1e-4, maxEvaluations: 200 };

function solverOf(problem: LocalProblem, diagonal = false): LocalSolver {
  const { statistics, kernel, Z, p, q } = problem;
  const solver = createLocalSolver(statistics, p, q, diagonal);
  solver.setKernel(kernel, Z);
  solver.setGlobal(problem.A, problem.blocks, problem.Kinv, problem.sigma2);
  return solver;
}

function load(solver: LocalSolver, { statistics, g, d, constants }: LocalProblem, i: number): void {
  solver.setIndividual(statistics, i, g.subarray(i * d), constants[i]);
}

/** Mean at `x` in every coordinate, standard deviation `sd`. */
function startAt(solver: LocalSolver, q: number, x: number, sd: number): Float64Array {
  const theta = new Float64Array(solver.numParameters);
  theta.fill(x, 0, q);
  theta.fill(Math.log(sd), q, 2 * q);
  return theta;
}

function largestSlope(solver: LocalSolver, theta: Float64Array): number {
  const gradient = new Float64Array(theta.length);
  solver.evaluate(theta, 0, gradient, null);
  return Math.max(...gradient.map(Math.abs));
}

const problems = [
  makeLocalProblem(rbfKernel(1, 1, 1), gridLocations(1, 5), 5, 1, { seed: 1, numIndividuals: 30 }),
  makeLocalProblem(rbfKernel(2, 1, 1), gridLocations(2, 5), 25, 2, { seed: 2, numIndividuals: 30 }),
  makeLocalProblem(rbfKernel(3, 1, 1.4), gridLocations(3, 3), 27, 3, { seed: 3, numIndividuals: 15, d: 4 }),
];

describe("the local solve", () => {
  for (const problem of problems) {
    for (const diagonal of [false, true]) {
      it(`ends at a maximum by Newton and by conjugate gradients (q = ${problem.q}, ${diagonal ? "diagonal" : "full"})`, () => {
        const { q } = problem;
        const solver = solverOf(problem, diagonal);
        const P = solver.numParameters;
        const hessian = new Float64Array(P * P);
        let same = 0;
        for (let i = 0; i < problem.statistics.numIndividuals; i++) {
          load(solver, problem, i);
          const found = startAt(solver, q, 0.2, 0.5);
          const before = solver.evaluate(found, 0, null, null);
          const J = solver.solve(found, 0, TIGHT);
          expect(J).toBe(solver.evaluate(found, 0, null, hessian));
          expect(J).toBeGreaterThanOrEqual(before);
          expect(largestSlope(solver, found)).toBeLessThan(1e-7);
          expect(
            choleskyInPlace(
              hessian.map((h) => -h),
              P,
            ),
          ).toBe(true);
          // From a nearby start both must find the same maximum.
          const other = found.map((x, k) => x + 0.05 * Math.cos(k + i));
          expect(solver.solve(other, 0, { ...TIGHT, method: "scg" })).toBeCloseTo(J, 9);
          expect(largestSlope(solver, other)).toBeLessThan(1e-7);
          same += relativeError(other, found) < 1e-6 ? 1 : 0;
        }
        expect(same).toBe(problem.statistics.numIndividuals);
      });
    }
  }

  it("needs few evaluations from a cold start and fewer from a warm one", () => {
    const problem = problems[1];
    const m = problem.statistics.numIndividuals;
    const solver = solverOf(problem);
    const random = createRandom(9);
    const states = Array.from({ length: m }, () => startAt(solver, 2, random.normal(), 0.1));
    const pass = (): number => {
      const before = solver.evaluations;
      states.forEach((theta, i) => {
        load(solver, problem, i);
        solver.solve(theta, 0, USUAL);
        expect(largestSlope(solver, theta)).toBeLessThan(1e-4);
      });
      // One evaluation per individual belongs to the check.
      return (solver.evaluations - before) / m - 1;
    };
    expect(pass()).toBeLessThan(9);
    // The noise falls by a tenth: every optimum moves a little.
    solver.setGlobal(problem.A, problem.blocks, problem.Kinv, 0.9 * problem.sigma2);
    expect(pass()).toBeLessThan(4);
  });

  it("survives starts far outside the map with tiny and huge covariances", () => {
    for (const problem of problems) {
      const solver = solverOf(problem);
      for (const x of [-6, 0, 6]) {
        for (const sd of [1e-6, 1, 50]) {
          for (let i = 0; i < 4; i++) {
            load(solver, problem, i);
            const theta = startAt(solver, problem.q, x, sd);
            solver.solve(theta, 0, USUAL);
            expect(largestSlope(solver, theta)).toBeLessThan(1e-4);
          }
        }
      }
    }
  });

  it("keeps to its number of evaluations and to its slice of theta", () => {
    const problem = problems[1];
    const solver = solverOf(problem);
    load(solver, problem, 0);
    for (const method of ["newton", "scg"] as const) {
      const many = new Float64Array(15).fill(7);
      many.set(startAt(solver, 2, 2, 0.1), 5);
      const before = solver.evaluations;
      solver.solve(many, 5, { method, gradientTolerance: 1e-12, maxEvaluations: 3 });
      expect(solver.evaluations - before).toBeLessThanOrEqual(3);
      expect([...many.subarray(0, 5), ...many.subarray(10)]).toEqual(new Array(10).fill(7));
      expect(many.subarray(5, 10)).not.toEqual(startAt(solver, 2, 2, 0.1));
    }
  });

  it("gives the reduced-rank model's posterior and log-likelihood for a linear kernel with known loadings", () => {
    // p = q, Z = I, no jitter, q(u) a point mass at U = F': y = B F x + noise exactly.
    const q = 2;
    const d = 5;
    const alpha = 1.7;
    const sigma2 = 0.4;
    const random = createRandom(4);
    const Z = Float64Array.of(1, 0, 0, 1);
    const base = makeLocalProblem({ kind: "linear", signalVariance: alpha, jitter: 0 }, Z, q, q, { seed: 5, sigma2 });
    const F = Float64Array.from({ length: d * q }, () => random.normal()); // [d,q]
    const Kinv = Float64Array.of(1 / alpha, 0, 0, 1 / alpha);
    const A = new Float64Array(q * d);
    const T = new Float64Array(d * d * q * q);
    for (let j = 0; j < q; j++) {
      for (let k = 0; k < d; k++) {
        A[j * d + k] = F[k * q + j] / alpha;
        for (let l = 0; l < d; l++) {
          for (let i = 0; i < q; i++) T[((k * d + l) * q + j) * q + i] = (F[k * q + j] * F[l * q + i]) / alpha ** 2;
        }
      }
    }
    const { statistics } = base;
    const constants = Float64Array.from(statistics.sumSquares, (rho, i) => {
      return -0.5 * statistics.counts[i] * Math.log(2 * Math.PI * sigma2) - (0.5 * rho) / sigma2;
    });
    const problem: LocalProblem = { ...base, A, T, blocks: bandOf(T, base.statistics, q), Kinv, constants };
    const solver = solverOf(problem);
    const G = new Float64Array(d * d);
    for (let i = 0; i < statistics.numIndividuals; i++) {
      // Posterior of x: precision I + F'GF/σ², mean C F'g/σ²; log p(y) by the determinant lemma.
      unpackGram(statistics, i, G);
      const L = Float64Array.of(1, 0, 0, 1);
      const b = new Float64Array(q);
      for (let k = 0; k < d; k++) {
        for (let a = 0; a < q; a++) {
          b[a] += (F[k * q + a] * problem.g[i * d + k]) / sigma2;
          for (let l = 0; l < d; l++) {
            for (let c = 0; c < q; c++) L[a * q + c] += (F[k * q + a] * G[k * d + l] * F[l * q + c]) / sigma2;
          }
        }
      }
      choleskyInPlace(L, q);
      const C = invertFromCholesky(L, q);
      const mean = Float64Array.of(C[0] * b[0] + C[1] * b[1], C[2] * b[0] + C[3] * b[1]);
      const logLikelihood = constants[i] + 0.5 * (mean[0] * b[0] + mean[1] * b[1]) - 0.5 * logDetFromCholesky(L, q);

      load(solver, problem, i);
      const theta = startAt(solver, q, 0, 1);
      const J = solver.solve(theta, 0, { ...TIGHT, gradientTolerance: 1e-9 });
      const [t1, t2, t21] = [Math.exp(theta[2]), Math.exp(theta[3]), theta[4]];
      expect(Math.abs(J - logLikelihood)).toBeLessThan(1e-8 * Math.abs(logLikelihood));
      expect(relativeError(theta.subarray(0, 2), mean)).toBeLessThan(1e-8);
      expect(relativeError([t1 * t1, t1 * t21, t1 * t21, t21 * t21 + t2 * t2], C)).toBeLessThan(1e-8);
    }
  });
});
