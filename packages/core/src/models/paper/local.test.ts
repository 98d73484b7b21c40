import { describe, expect, it } from "vitest";
import { gradientError, relativeError } from "../../../../../test/expect-gradient.ts";
import {
  type LocalProblem,
  makeLocalProblem,
  naiveObjective,
  naivePsi,
  unpackTheta,
} from "../../../../../test/local-problem.ts";
import { unpackGram } from "../../basis/statistics.ts";
import { createRandom, type Random } from "../../numeric/random.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { gridLocations } from "../gp/inducing.ts";
import type { Kernel } from "../gp/kernel.ts";
import { createSums } from "./inducing.ts";
import { createLocalSolver, type LocalSolver } from "./local.ts";

/** A regular grid with its own number of points and spacing per dimension. */
function unevenGrid(counts: readonly number[], firsts: readonly number[], spacings: readonly number[]): Float64Array {
  const q = counts.length;
  const p = counts.reduce((a, b) => a * b, 1);
  const Z = new Float64Array(p * q);
  for (let j = 0; j < p; j++) {
    let rest = j;
    for (let c = q - 1; c >= 0; c--) {
      Z[j * q + c] = firsts[c] + (rest % counts[c]) * spacings[c];
      rest = Math.floor(rest / counts[c]);
    }
  }
  return Z;
}

interface Case {
  readonly name: string;
  readonly problem: LocalProblem;
  readonly grid: boolean;
}

function rbf(signalVariance: number, lengthscales: readonly number[]): Kernel {
  return { kind: "rbf", signalVariance, lengthscales: Float64Array.from(lengthscales), jitter: 1e-6 };
}

function makeCases(): Case[] {
  const random = createRandom(5);
  const scattered = (p: number, q: number) => Float64Array.from({ length: p * q }, () => 4 * random.uniform() - 2);
  const grid3 = unevenGrid([3, 2, 3], [-1.5, -1, -2], [1.5, 2, 2]);
  return [
    {
      name: "q = 1, grid",
      problem: makeLocalProblem(rbf(1.3, [0.9]), gridLocations(1, 6), 6, 1, { seed: 1, degree: 1, d: 4 }),
      grid: true,
    },
    {
      name: "q = 2, isotropic 5 x 5 grid",
      problem: makeLocalProblem(rbf(2, [1, 1]), gridLocations(2, 5), 25, 2, { seed: 2 }),
      grid: true,
    },
    {
      name: "q = 2, uneven grid, a length-scale per dimension",
      problem: makeLocalProblem(rbf(0.7, [0.8, 1.7]), unevenGrid([3, 4], [-2, -1], [1.2, 0.9]), 12, 2, {
        seed: 3,
        degree: 3,
        d: 7,
      }),
      grid: true,
    },
    {
      name: "q = 3, uneven grid, a length-scale per dimension",
      problem: makeLocalProblem(rbf(1.1, [1.1, 1.5, 1.3]), grid3, 18, 3, { seed: 4, d: 4 }),
      grid: true,
    },
    {
      name: "q = 1, scattered places",
      problem: makeLocalProblem(rbf(1, [0.7]), scattered(4, 1), 4, 1, { seed: 5 }),
      grid: false,
    },
    {
      name: "q = 2, scattered places",
      problem: makeLocalProblem(rbf(1, [0.7, 1.1]), scattered(9, 2), 9, 2, { seed: 6, degree: 1 }),
      grid: false,
    },
    {
      name: "q = 3, scattered places",
      problem: makeLocalProblem(rbf(1, [0.7, 1.1, 1]), scattered(8, 3), 8, 3, { seed: 7 }),
      grid: false,
    },
    ...[1, 2, 3].map((q) => ({
      name: `q = ${q}, linear kernel`,
      problem: makeLocalProblem({ kind: "linear", signalVariance: 0.8, jitter: 1e-1 }, scattered(q + 1, q), q + 1, q, {
        seed: 7 + q,
        d: 4,
      }),
      grid: false,
    })),
  ];
}

type Problem = LocalProblem & { readonly kernels?: KernelKind };

/** Every case by the definition, and those that have a WebAssembly kernel with it too. */
const cases = makeCases().flatMap(({ name, problem, grid }): { name: string; problem: Problem }[] => {
  const plain = { name, problem };
  if (problem.q !== 2 || !grid) return [plain];
  return [plain, { name: `${name}, WebAssembly`, problem: { ...problem, kernels: "wasm-simd" } }];
});

function solverOf(problem: Problem, diagonal: boolean): LocalSolver {
  const { statistics, kernel, Z, p, q, kernels } = problem;
  const solver = createLocalSolver(statistics, p, q, diagonal, kernels);
  solver.setKernel(kernel, Z);
  solver.setGlobal(problem.A, problem.blocks, problem.Kinv, problem.sigma2);
  return solver;
}

function load(solver: LocalSolver, problem: LocalProblem, individual: number): void {
  const { statistics, g, d, constants } = problem;
  solver.setIndividual(statistics, individual, g.subarray(individual * d), constants[individual]);
}

/** Means within about ±2.5, standard deviations 0.1 to 1.2, correlated. */
function drawTheta(random: Random, q: number, diagonal: boolean): Float64Array {
  const P = diagonal ? 2 * q : q + (q * (q + 1)) / 2;
  const theta = new Float64Array(P);
  for (let k = 0; k < q; k++) {
    theta[k] = 1.2 * random.normal();
    theta[q + k] = Math.log(0.1) + random.uniform() * Math.log(12);
  }
  for (let k = 2 * q; k < P; k++) theta[k] = 0.5 * random.normal();
  return theta;
}

describe("the local objective", () => {
  for (const { name, problem } of cases) {
    for (const diagonal of [false, true]) {
      it(`equals the formula written out (${name}, ${diagonal ? "diagonal" : "full"} covariance)`, () => {
        const random = createRandom(11);
        const solver = solverOf(problem, diagonal);
        expect(solver.kernels).toBe(problem.kernels ?? "typescript");
        for (let i = 0; i < problem.statistics.numIndividuals; i++) {
          const theta = drawTheta(random, problem.q, diagonal);
          const J = naiveObjective(problem, i, theta);
          const padded = new Float64Array(theta.length + 5);
          padded.set(theta, 3);
          expect(solver.numParameters).toBe(theta.length);
          load(solver, problem, i);
          expect(Math.abs(solver.evaluate(padded, 3, null, null) - J)).toBeLessThan(1e-10 * Math.max(1, Math.abs(J)));
        }
      });

      it(`has the gradient and Hessian of its differences (${name}, ${diagonal ? "diagonal" : "full"})`, () => {
        const random = createRandom(12);
        const solver = solverOf(problem, diagonal);
        const P = solver.numParameters;
        const gradient = new Float64Array(P);
        const alone = new Float64Array(P);
        const hessian = new Float64Array(P * P);
        for (let i = 0; i < problem.statistics.numIndividuals; i++) {
          const theta = drawTheta(random, problem.q, diagonal);
          load(solver, problem, i);
          solver.evaluate(theta, 0, gradient, hessian);
          expect(gradientError((x) => solver.evaluate(x, 0, null, null), theta, gradient)).toBeLessThan(1e-6);
          solver.evaluate(theta, 0, alone, null);
          expect(relativeError(alone, gradient)).toBeLessThan(1e-13);
          for (let k = 0; k < P; k++) {
            const slope = (x: Float64Array) => {
              const g = new Float64Array(P);
              solver.evaluate(x, 0, g, null);
              return g[k];
            };
            expect(gradientError(slope, theta, hessian.subarray(k * P, (k + 1) * P))).toBeLessThan(1e-6);
          }
        }
      });
    }
  }

  it("has the same derivatives and slopes by its definition and by its kernel to 1e-10", () => {
    const random = createRandom(13);
    for (const { problem } of cases) {
      if (problem.kernels === undefined) continue;
      for (const diagonal of [false, true]) {
        const solvers = [solverOf(problem, diagonal), solverOf({ ...problem, kernels: "typescript" }, diagonal)];
        const P = solvers[0].numParameters;
        for (let i = 0; i < problem.statistics.numIndividuals; i++) {
          const theta = drawTheta(random, problem.q, diagonal);
          const [fast, slow] = solvers.map((solver) => {
            const [gradient, hessian] = [new Float64Array(P), new Float64Array(P * P)];
            load(solver, problem, i);
            solver.evaluate(theta, 0, gradient, hessian);
            return { gradient, hessian, slopes: solver.slopes };
          });
          expect(relativeError(fast.gradient, slow.gradient)).toBeLessThan(1e-10);
          expect(relativeError(fast.hessian, slow.hessian)).toBeLessThan(1e-10);
          expect(relativeError(fast.slopes, slow.slopes)).toBeLessThan(1e-10);
        }
      }
    }
  });

  it("stays finite and right for means far outside the grid, tiny and large covariances, short length-scales", () => {
    for (const q of [1, 2, 3]) {
      for (const ell of [0.15, 0.5, 1]) {
        const perDimension = q === 3 ? 3 : 5;
        const p = perDimension ** q;
        const kernel = rbf(1, new Array(q).fill(ell));
        const problem = makeLocalProblem(kernel, gridLocations(q, perDimension), p, q, { seed: 20 + q, d: 4 });
        const solver = solverOf({ ...problem, kernels: "wasm-simd" }, false);
        const P = solver.numParameters;
        const gradient = new Float64Array(P);
        const hessian = new Float64Array(P * P);
        load(solver, problem, 0);
        for (const mean of [-6, -2, 0.3, 6]) {
          for (const logSd of [-20, -8, 0, 2, 5]) {
            for (const lower of [0, 0.5, -4]) {
              const theta = new Float64Array(P).fill(lower);
              for (let c = 0; c < q; c++) {
                theta[c] = c === 1 ? -mean : mean;
                theta[q + c] = logSd;
              }
              const J = solver.evaluate(theta, 0, gradient, hessian);
              const naive = naiveObjective(problem, 0, theta);
              expect(Math.abs(J - naive)).toBeLessThan(1e-10 * Math.max(1, Math.abs(naive)));
              expect([...gradient, ...hessian].every(Number.isFinite)).toBe(true);
            }
          }
        }
      }
    }
  });

  it("takes another global state, and other places whether they are a grid or not", () => {
    const one = makeLocalProblem(rbf(1, [1, 1]), gridLocations(2, 3), 9, 2, { seed: 31 });
    const moved = gridLocations(2, 3).map((z, e) => z + (e === 3 ? 0.1 : 0));
    const two = makeLocalProblem(rbf(1.4, [1.2, 0.8]), moved, 9, 2, { seed: 31 });
    const theta = Float64Array.of(0.3, -0.4, -1, -0.5, 0.2);
    for (const kernels of ["typescript", "wasm-simd"] as const) {
      const solver = solverOf({ ...one, kernels }, false);
      for (const problem of [one, two, one]) {
        solver.setKernel(problem.kernel, problem.Z);
        expect(solver.kernels).toBe(problem === one ? kernels : "typescript");
        solver.setGlobal(problem.A, problem.blocks, problem.Kinv, problem.sigma2);
        load(solver, problem, 1);
        expect(solver.evaluate(theta, 0, null, null)).toBeCloseTo(naiveObjective(problem, 1, theta), 9);
      }
    }
  });
});

describe("the sums of a local pass", () => {
  for (const { name, problem } of cases) {
    it(`equal Σ weight ψ1 g', Σ weight G_kl Ψ2 and Σ weight ψ1 (G1)' (${name})`, () => {
      const { p, q, d, statistics, g } = problem;
      const { numBand, numIndividuals } = statistics;
      const random = createRandom(41);
      // No global state: the first q(u) is made from these sums.
      const solver = createLocalSolver(statistics, p, q, false, problem.kernels);
      solver.setKernel(problem.kernel, problem.Z);
      const cross = new Float64Array(p * d);
      const gram = new Float64Array(numBand * p * p);
      const course = new Float64Array(p * d);
      const G = new Float64Array(d * d);
      load(solver, problem, 0);
      solver.accumulate(drawTheta(random, q, false), 0, 3);
      solver.resetSums();
      for (let i = 0; i < numIndividuals; i++) {
        const theta = drawTheta(random, q, false);
        const weight = 0.5 + random.uniform();
        load(solver, problem, i);
        solver.accumulate(theta, 0, weight);
        const { m, S } = unpackTheta(theta, q);
        const { psi1, psi2 } = naivePsi(problem, m, S);
        for (let j = 0; j < p; j++) for (let k = 0; k < d; k++) cross[j * d + k] += weight * psi1[j] * g[i * d + k];
        unpackGram(statistics, i, G);
        for (let j = 0; j < p; j++) for (let e = 0; e < d * d; e++) course[j * d + (e % d)] += weight * psi1[j] * G[e];
        for (let e = 0; e < numBand; e++) {
          for (let a = 0; a < p * p; a++) gram[e * p * p + a] += weight * statistics.gram[i * numBand + e] * psi2[a];
        }
      }
      const sums = createSums(statistics, p, d);
      solver.readSums(sums);
      expect(relativeError(sums.cross, cross)).toBeLessThan(1e-12);
      expect(relativeError(sums.gram, gram)).toBeLessThan(1e-12);
      expect(relativeError(sums.course, course)).toBeLessThan(1e-12);
    });
  }
});
