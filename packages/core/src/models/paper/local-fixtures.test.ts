import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { bandOf } from "../../../../../test/local-problem.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { cholesky, invertFromCholesky } from "../../numeric/cholesky.ts";
import { multiply } from "../../numeric/matrix.ts";
import type { Kernel } from "../gp/kernel.ts";
import { createSums } from "./inducing.ts";
import { createLocalSolver, type LocalSolver } from "./local.ts";

type Matrix = number[][];
interface Fixture {
  readonly data: {
    readonly subject: number[];
    readonly t: number[];
    readonly y: number[];
    readonly knots: number[];
    readonly degree: number;
    readonly d: number;
  };
  readonly q: number;
  readonly p: number;
  readonly diagonal_S: boolean;
  readonly s2: number;
  readonly alpha: number;
  readonly ell: number;
  readonly eps: number;
  readonly Z: Matrix;
  readonly K: Matrix;
  readonly local: { readonly m: Matrix; readonly chol: number[][][] };
  readonly qu: { readonly m: number[]; readonly S: Matrix };
  readonly psi1: Matrix;
  readonly Psi2: number[][][];
  readonly G: number[][][];
  readonly g: Matrix;
  readonly local_const: number[];
  readonly elbo: { readonly per_subject: readonly { readonly J: number }[] };
  readonly grad: { readonly m: Matrix; readonly lam: Matrix };
  readonly optimal_qu: {
    readonly m: number[];
    readonly S: Matrix;
    readonly grad: { readonly m: Matrix; readonly lam: Matrix };
  };
  readonly local_optimum: { readonly J: number[] };
}

const flat = (M: Matrix): Float64Array => Float64Array.from(M.flat());

function readFixture(name: string): Fixture {
  const url = new URL(`../../../../../fixtures/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")) as Fixture;
}

function statisticsOf({ data }: Fixture) {
  const ids = data.subject.map((i) => String(i).padStart(6, "0"));
  const cohort = makeCohort({ ids, times: data.t, values: data.y });
  const { degree, d: numBasis } = data;
  const knots = Float64Array.from(data.knots);
  return basisStatistics(cohort, { degree, numBasis, knots, placement: "given" });
}

/** θ_i of the fixture's q(x_i). */
function thetaOf({ q, local, diagonal_S }: Fixture, i: number): Float64Array {
  const theta = [...local.m[i]];
  for (let c = 0; c < q; c++) theta.push(Math.log(local.chol[i][c][c]));
  if (!diagonal_S) for (let c = 0; c < q; c++) for (let b = 0; b < c; b++) theta.push(local.chol[i][c][b]);
  return Float64Array.from(theta);
}

function loadGlobal(solver: LocalSolver, fixture: Fixture, qu: { readonly m: number[]; readonly S: Matrix }): void {
  const { p, s2 } = fixture;
  const d = fixture.data.d;
  const Kinv = invertFromCholesky(cholesky(flat(fixture.K), p), p);
  const M = new Float64Array(p * d);
  for (let k = 0; k < d; k++) for (let j = 0; j < p; j++) M[j * d + k] = qu.m[k * p + j];
  const T = new Float64Array(d * d * p * p);
  const block = new Float64Array(p * p);
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) {
      for (let i = 0; i < p; i++) {
        for (let j = 0; j < p; j++) block[i * p + j] = qu.S[k * p + i][l * p + j] + qu.m[k * p + i] * qu.m[l * p + j];
      }
      T.set(multiply(multiply(Kinv, block, p, p, p), Kinv, p, p, p), (k * d + l) * p * p);
    }
  }
  solver.setGlobal(multiply(Kinv, M, p, p, d), bandOf(T, statisticsOf(fixture), p), Kinv, s2);
}

describe("the local solver against the fixtures", () => {
  for (const [file, kernels] of [
    ["dtm_q1_p4_diag", "typescript"],
    ["dtm_q2_p4_full", "typescript"],
    ["dtm_q2_p4_full", "wasm-simd"],
    ["dtm_q2_p9_diag", "typescript"],
    ["dtm_q2_p9_diag", "wasm-simd"],
    ["dtm_q3_p9_full", "typescript"],
  ] as const) {
    const name = `${file}, ${kernels}`;
    const fixture = readFixture(file);
    const { p, q } = fixture;
    const d = fixture.data.d;
    const m = fixture.g.length;
    const lengthscales = new Float64Array(q).fill(fixture.ell);
    const kernel: Kernel = { kind: "rbf", signalVariance: fixture.alpha, lengthscales, jitter: fixture.eps };
    const statistics = statisticsOf(fixture);
    const g = flat(fixture.g);
    const solver = createLocalSolver(statistics, p, q, fixture.diagonal_S, kernels);
    solver.setKernel(kernel, flat(fixture.Z));
    const P = solver.numParameters;
    const load = (i: number) => solver.setIndividual(statistics, i, g.subarray(i * d), fixture.local_const[i]);

    const evaluateAll = () => {
      const values = new Float64Array(m);
      const gradients = new Float64Array(m * P);
      for (let i = 0; i < m; i++) {
        load(i);
        values[i] = solver.evaluate(thetaOf(fixture, i), 0, gradients.subarray(i * P, (i + 1) * P), null);
      }
      return { values, gradients };
    };
    const gradientOf = (grad: { readonly m: Matrix; readonly lam: Matrix }) =>
      flat(grad.m.map((row, i) => [...row, ...grad.lam[i]]));

    it(`${name}: J_i and its gradient agree to 1e-8`, () => {
      loadGlobal(solver, fixture, fixture.qu);
      const { values, gradients } = evaluateAll();
      const perIndividual = fixture.elbo.per_subject.map(({ J }) => J);
      expect(relativeError(values, perIndividual)).toBeLessThan(1e-8);
      expect(relativeError(gradients, gradientOf(fixture.grad))).toBeLessThan(1e-8);
      loadGlobal(solver, fixture, fixture.optimal_qu);
      expect(relativeError(evaluateAll().gradients, gradientOf(fixture.optimal_qu.grad))).toBeLessThan(1e-8);
    });

    it(`${name}: sums of ψ statistics agree to 1e-8`, () => {
      const { numBand, bandRow, bandColumn } = statistics;
      const cross = new Float64Array(p * d);
      const gram = new Float64Array(numBand * p * p);
      solver.resetSums();
      for (let i = 0; i < m; i++) {
        load(i);
        solver.accumulate(thetaOf(fixture, i), 0, 1);
        for (let j = 0; j < p; j++) {
          for (let k = 0; k < d; k++) cross[j * d + k] += fixture.psi1[i][j] * fixture.g[i][k];
          for (let l = 0; l < p; l++) {
            for (let e = 0; e < numBand; e++) {
              gram[(e * p + j) * p + l] += fixture.G[i][bandRow[e]][bandColumn[e]] * fixture.Psi2[i][j][l];
            }
          }
        }
      }
      const sums = createSums(statistics, p, d);
      solver.readSums(sums);
      expect(relativeError(sums.cross, cross)).toBeLessThan(1e-8);
      expect(relativeError(sums.gram, gram)).toBeLessThan(1e-8);
    });

    for (const method of ["newton", "scg"] as const) {
      it(`${name}: ${method} reaches the reference optimum or a higher one`, () => {
        loadGlobal(solver, fixture, fixture.optimal_qu);
        for (let i = 0; i < m; i++) {
          load(i);
          const J = solver.solve(thetaOf(fixture, i), 0, { method, gradientTolerance: 1e-6, maxEvaluations: 1000 });
          expect(J).toBeGreaterThan(fixture.local_optimum.J[i] - 1e-6);
        }
      });
    }
  }
});
