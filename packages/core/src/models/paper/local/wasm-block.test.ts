import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../../test/expect-gradient.ts";
import { makeLocalProblem } from "../../../../../../test/local-problem.ts";
import { createRandom } from "../../../numeric/random.ts";
import type { KernelKind } from "../../../wasm/instance.ts";
import { gridLocations } from "../../gp/inducing.ts";
import type { RbfKernel } from "../../gp/kernel.ts";
import { createLocalSolver, type LocalSolver } from "./local.ts";
import type { LocalBlocks } from "./wasm-block.ts";

/** A grid of n0 × n1 places, first dimension slowest. */
function grid(n0: number, n1: number): Float64Array {
  const Z: number[] = [];
  for (let a = 0; a < n0; a++)
    for (let b = 0; b < n1; b++) Z.push(-2 + (3.5 * a) / (n0 - 1), -1.5 + (3 * b) / (n1 - 1));
  return Float64Array.from(Z);
}

function problemOf(Z: Float64Array, ell: readonly [number, number], d: number, degree: number, m: number) {
  const kernel: RbfKernel = {
    kind: "rbf",
    signalVariance: 1.4,
    lengthscales: Float64Array.from(ell),
    // Far from singular: rounding is otherwise magnified by K⁻¹, in every form of the sums alike.
    jitter: 1e-2,
  };
  return makeLocalProblem(kernel, Z, Z.length / 2, 2, { seed: 10 * d + degree, d, degree, numIndividuals: m });
}

type Problem = ReturnType<typeof problemOf>;

const CASES: readonly { name: string; problem: Problem }[] = [
  { name: "5 x 5 places, quadratic splines", problem: problemOf(gridLocations(2, 5), [1, 1], 5, 2, 13) },
  { name: "4 x 3 places, cubic splines", problem: problemOf(grid(4, 3), [0.8, 1.7], 7, 3, 6) },
  { name: "2 x 6 places, linear splines", problem: problemOf(grid(2, 6), [1.3, 0.9], 4, 1, 7) },
  { name: "7 x 7 places, one coefficient more", problem: problemOf(gridLocations(2, 7), [1, 1], 6, 2, 5) },
];

function solverOf(problem: Problem, diagonal: boolean, kernels: KernelKind = "wasm-simd"): LocalSolver {
  const { kernel, Z, p, q, d } = problem;
  const solver = createLocalSolver(kernel, Z, p, q, d, { diagonal, kernels });
  solver.setGlobal(problem.A, problem.T, problem.Kinv, problem.sigma2);
  return solver;
}

/** Means within about ±2, standard deviations 0.1 to 1, correlated, [m,P]. */
function drawPlaces(problem: Problem, diagonal: boolean): Float64Array {
  const random = createRandom(3);
  const P = diagonal ? 4 : 5;
  return Float64Array.from({ length: problem.statistics.numIndividuals * P }, (_, k) =>
    k % P < 2 ? random.normal() : k % P < 4 ? Math.log(0.1) + random.uniform() * Math.log(10) : 0.4 * random.normal(),
  );
}

/** β at the centre, so that g = c as in the problem. */
function meanOf({ statistics, d }: Problem): Float64Array {
  return new Float64Array(d).fill(statistics.center);
}

function loadAll(blocks: LocalBlocks, problem: Problem, theta: Float64Array, list: readonly number[] | null = null) {
  const { statistics } = problem;
  blocks.load(statistics, list, 0, list?.length ?? statistics.numIndividuals, meanOf(problem), theta);
}

for (const { name, problem } of CASES) {
  for (const diagonal of [false, true]) {
    const m = problem.statistics.numIndividuals;
    const P = diagonal ? 4 : 5;
    describe(`a block of individuals (${name}, ${diagonal ? "diagonal" : "full"} covariances)`, () => {
      it("has the values and gradients that its individuals have one by one", () => {
        const solver = solverOf(problem, diagonal);
        const plain = solverOf(problem, diagonal, "typescript");
        const theta = drawPlaces(problem, diagonal);
        const blocks = solver.blocks!;
        loadAll(blocks, problem, theta);
        blocks.evaluate();
        const gradient = new Float64Array(P);
        for (let i = 0; i < m; i++) {
          plain.setIndividual(problem.statistics, i, problem.g, i * problem.d, 0);
          const value = plain.evaluate(theta, i * P, gradient, null);
          expect(Math.abs(blocks.results[i] - value)).toBeLessThan(1e-9 * (1 + Math.abs(value)));
          expect(relativeError(blocks.gradient.slice(i * P, (i + 1) * P), gradient)).toBeLessThan(1e-9);
        }
        expect(solver.evaluations).toBe(m);
      });

      it("gives an individual the same bits whoever its neighbours are", () => {
        const solver = solverOf(problem, diagonal);
        const theta = drawPlaces(problem, diagonal);
        const blocks = solver.blocks!;
        const list = Array.from({ length: m }, (_, n) => (3 * n + 2) % m).filter((i, n, all) => all.indexOf(i) === n);
        const seen = new Map<number, readonly number[]>();
        for (const who of [null, list, [m - 1], [1, 0, 2]]) {
          loadAll(blocks, problem, theta, who);
          blocks.evaluate();
          for (let n = 0; n < (who?.length ?? m); n++) {
            const bits = [blocks.results[n], ...blocks.gradient.slice(n * P, (n + 1) * P)];
            const i = who?.[n] ?? n;
            expect(seen.get(i) ?? bits).toEqual(bits);
            seen.set(i, bits);
          }
        }
      });

      it("adds the sums that its individuals add one by one", () => {
        const theta = drawPlaces(problem, diagonal);
        const { statistics, p, d } = problem;
        const sums = (["wasm-simd", "typescript"] as const).map((kernels) => {
          const solver = solverOf(problem, diagonal, kernels);
          if (solver.blocks !== null) {
            loadAll(solver.blocks, problem, theta);
            solver.blocks.accumulate(2.5, false);
          } else {
            for (let i = 0; i < m; i++) {
              solver.setIndividual(statistics, i, problem.g, i * d, 0);
              solver.accumulate(theta, i * P, 2.5);
            }
          }
          const out = [new Float64Array(p * d), new Float64Array(statistics.numBand * p * p)];
          solver.readSums(out[0], out[1]);
          return out;
        });
        expect(relativeError(sums[0][0], sums[1][0])).toBeLessThan(1e-12);
        expect(relativeError(sums[0][1], sums[1][1])).toBeLessThan(1e-12);
      });

      it("climbs to where its individuals climb one by one", () => {
        const solver = solverOf(problem, diagonal);
        const plain = solverOf(problem, diagonal, "typescript");
        const theta = drawPlaces(problem, diagonal);
        const blocks = solver.blocks!;
        loadAll(blocks, problem, theta);
        blocks.constants.set(problem.constants);
        blocks.climb(1e-5, 400);
        const gradient = new Float64Array(P);
        const options = { method: "scg", gradientTolerance: 1e-5, maxEvaluations: 400 } as const;
        let arrived = 0;
        for (let i = 0; i < m; i++) {
          const there = blocks.theta.slice(i * P, (i + 1) * P);
          if (Number.isNaN(blocks.results[i])) {
            // A trial point beyond the range: left to the other kernels.
            expect(there).toEqual(theta.slice(i * P, (i + 1) * P));
            continue;
          }
          arrived++;
          plain.setIndividual(problem.statistics, i, problem.g, i * problem.d, problem.constants[i]);
          expect(plain.evaluate(there, 0, gradient, null)).toBeCloseTo(blocks.results[i], 8);
          expect(Math.max(...gradient.map(Math.abs))).toBeLessThan(2e-5);
          expect(plain.solve(theta, i * P, options)).toBeCloseTo(blocks.results[i], 6);
        }
        expect(arrived).toBeGreaterThan(m / 2);
        // As many evaluations, but for what rounding changes on the way.
        expect(solver.evaluations / plain.evaluations).toBeGreaterThan(0.7);
        expect(solver.evaluations / plain.evaluations).toBeLessThan(1.4);
      });
    });
  }
}

describe("a block of individuals", () => {
  it("marks who is out of the grid's range, and leaves it where it was", () => {
    const { problem } = CASES[0];
    const solver = solverOf(problem, false);
    const theta = drawPlaces(problem, false);
    theta[2 * 5] = 40;
    const blocks = solver.blocks!;
    loadAll(blocks, problem, theta);
    blocks.evaluate();
    expect(Array.from(blocks.results.slice(0, 4), Number.isNaN)).toEqual([false, false, true, false]);
    loadAll(blocks, problem, theta);
    blocks.climb(1e-4, 200);
    expect(blocks.results[2]).toBeNaN();
    expect(blocks.theta.slice(10, 15)).toEqual(theta.slice(10, 15));
    blocks.accumulate(1, false);
    expect(blocks.results[2]).toBeNaN();
    const sums = [new Float64Array(25 * 5), new Float64Array(12 * 25 * 25)];
    solver.readSums(sums[0], sums[1]);
    expect(sums.every((part) => part.every(Number.isFinite))).toBe(true);
  });

  it("is not to be had in plain TypeScript, nor for places without a grid", () => {
    const { problem } = CASES[0];
    expect(solverOf(problem, false, "typescript").blocks).toBeNull();
    const Z = problem.Z.map((z, e) => z + (e === 7 ? 0.1 : 0));
    const scattered = createLocalSolver(problem.kernel, Z, 25, 2, 5, { diagonal: false, kernels: "wasm-simd" });
    expect(scattered.blocks).toBeNull();
  });
});
