/**
 * A small published-DTM problem with a random q(u), and the local objective written out as in docs/math/local-step.md
 * §1: full matrices, one formula per line, nothing shared. Slow and obvious.
 */
import { bsplineBasis } from "../packages/core/src/basis/knots.ts";
import { type BasisStatistics, basisStatistics, unpackGram } from "../packages/core/src/basis/statistics.ts";
import { makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { type Kernel, kernelMatrix } from "../packages/core/src/models/gp/kernel.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../packages/core/src/numeric/cholesky.ts";
import { multiply, transpose } from "../packages/core/src/numeric/matrix.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";

export interface LocalProblem {
  readonly kernel: Kernel;
  readonly Z: Float64Array;
  readonly p: number;
  readonly q: number;
  readonly d: number;
  readonly sigma2: number;
  readonly statistics: BasisStatistics;
  readonly g: Float64Array; // [m,d]
  readonly constants: Float64Array; // [m]
  readonly A: Float64Array; // [p,d]
  readonly T: Float64Array; // [d,d,p,p]
  readonly blocks: Float64Array; // T of the band, [numBand,p,p]
  readonly Kinv: Float64Array; // [p,p]
}

export interface LocalProblemOptions {
  readonly seed: number;
  readonly d?: number;
  readonly degree?: number;
  readonly numIndividuals?: number;
  readonly sigma2?: number;
}

/** Individuals with 1 to 9 observations; E[U] a smooth map plus noise, Cov[u] random. */
export function makeLocalProblem(
  kernel: Kernel,
  Z: Float64Array,
  p: number,
  q: number,
  { seed, d = 5, degree = 2, numIndividuals: m = 6, sigma2 = 0.3 }: LocalProblemOptions,
): LocalProblem {
  const random = createRandom(seed);
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < m; i++) {
    const n = 1 + random.integer(9);
    for (let j = 0; j < n; j++) {
      ids.push(`i${String(i).padStart(4, "0")}`);
      times.push(10 * random.uniform());
      values.push(random.normal());
    }
  }
  const cohort = makeCohort({ ids, times, values });
  const statistics = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times, { degree, numBasis: d }));
  const Kinv = invertFromCholesky(cholesky(kernelMatrix(kernel, Z, p, q), p), p);
  const U = new Float64Array(p * d);
  for (let j = 0; j < p; j++) {
    for (let k = 0; k < d; k++) {
      let wave = 0;
      for (let c = 0; c < q; c++) wave += Math.sin(0.8 * Z[j * q + c] + 0.7 * k + 1.3 * c);
      U[j * d + k] = wave + 0.1 * random.normal();
    }
  }
  const R = Float64Array.from({ length: d * p * d * p }, () => random.normal() / Math.sqrt(d * p));
  const covariance = multiply(R, transpose(R, d * p, d * p), d * p, d * p, d * p);
  const T = new Float64Array(d * d * p * p);
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) {
      const block = new Float64Array(p * p);
      for (let i = 0; i < p; i++) {
        for (let j = 0; j < p; j++) {
          const straight = 0.1 * covariance[(k * p + i) * d * p + l * p + j] + U[i * d + k] * U[j * d + l];
          const swapped = 0.1 * covariance[(k * p + j) * d * p + l * p + i] + U[j * d + k] * U[i * d + l];
          block[i * p + j] = 0.5 * (straight + swapped);
        }
      }
      T.set(multiply(multiply(Kinv, block, p, p, p), Kinv, p, p, p), (k * d + l) * p * p);
    }
  }
  const g = statistics.cross.slice();
  const constants = Float64Array.from({ length: m }, () => random.normal());
  const A = multiply(Kinv, U, p, p, d);
  return { kernel, Z, p, q, d, sigma2, statistics, g, constants, A, T, blocks: bandOf(T, statistics, p), Kinv };
}

/** The p×p matrices of the band, [numBand,p,p], of all d×d, [d,d,p,p]. */
export function bandOf(T: Float64Array, { numBand, bandRow, bandColumn, basis }: BasisStatistics, p: number) {
  const blocks = new Float64Array(numBand * p * p);
  for (let e = 0; e < numBand; e++) {
    const from = (bandRow[e] * basis.numBasis + bandColumn[e]) * p * p;
    blocks.set(T.subarray(from, from + p * p), e * p * p);
  }
  return blocks;
}

/** m, T and S = TT' from θ = [m, log diag T, strictly lower T row by row (absent if diagonal)]. */
export function unpackTheta(theta: Float64Array, q: number): { m: Float64Array; S: Float64Array; logDiagonal: number } {
  const T = new Float64Array(q * q);
  let next = 2 * q;
  let logDiagonal = 0;
  for (let c = 0; c < q; c++) {
    for (let b = 0; b < c; b++, next++) T[c * q + b] = next < theta.length ? theta[next] : 0;
    T[c * q + c] = Math.exp(theta[q + c]);
    logDiagonal += theta[q + c];
  }
  return { m: theta.slice(0, q), S: multiply(T, transpose(T, q, q), q, q, q), logDiagonal };
}

/** ψ1 [p] and Ψ2 [p,p] at N(m,S). */
export function naivePsi(
  problem: LocalProblem,
  m: Float64Array,
  S: Float64Array,
): { psi1: Float64Array; psi2: Float64Array } {
  const { kernel, Z, p, q } = problem;
  const alpha = kernel.signalVariance;
  const psi1 = new Float64Array(p);
  const psi2 = new Float64Array(p * p);
  if (kernel.kind === "linear") {
    for (let j = 0; j < p; j++) {
      for (let a = 0; a < q; a++) psi1[j] += alpha * Z[j * q + a] * m[a];
      for (let k = 0; k < p; k++) {
        for (let a = 0; a < q; a++) {
          for (let b = 0; b < q; b++) {
            psi2[j * p + k] += alpha ** 2 * Z[j * q + a] * (S[a * q + b] + m[a] * m[b]) * Z[k * q + b];
          }
        }
      }
    }
    return { psi1, psi2 };
  }
  const ell2 = kernel.lengthscales.map((ell) => ell * ell);
  const spread = (factor: number) => {
    const M = S.map((s) => factor * s);
    for (let c = 0; c < q; c++) M[c * q + c] += ell2[c];
    const L = cholesky(M, q);
    let logRatio = logDetFromCholesky(L, q);
    for (let c = 0; c < q; c++) logRatio -= Math.log(ell2[c]);
    return { inverse: invertFromCholesky(L, q), root: Math.exp(-0.5 * logRatio) };
  };
  const quadratic = (Q: Float64Array, u: Float64Array) => {
    let s = 0;
    for (let a = 0; a < q; a++) for (let b = 0; b < q; b++) s += u[a] * Q[a * q + b] * u[b];
    return s;
  };
  const one = spread(1);
  const two = spread(2);
  for (let j = 0; j < p; j++) {
    const u = m.map((x, c) => x - Z[j * q + c]);
    psi1[j] = alpha * one.root * Math.exp(-0.5 * quadratic(one.inverse, u));
    for (let k = 0; k < p; k++) {
      let apart = 0;
      for (let c = 0; c < q; c++) apart += (Z[j * q + c] - Z[k * q + c]) ** 2 / ell2[c];
      const v = m.map((x, c) => x - 0.5 * (Z[j * q + c] + Z[k * q + c]));
      psi2[j * p + k] = alpha ** 2 * two.root * Math.exp(-0.25 * apart - quadratic(two.inverse, v));
    }
  }
  return { psi1, psi2 };
}

/** J_i; for the linear kernel with the conditional variance −Tr(G) E[k(x,x)]/2σ², as its constant has none. */
export function naiveObjective(problem: LocalProblem, individual: number, theta: Float64Array): number {
  const { kernel, p, q, d, sigma2, statistics, g, constants, A, T, Kinv } = problem;
  const { m, S, logDiagonal } = unpackTheta(theta, q);
  const { psi1, psi2 } = naivePsi(problem, m, S);
  const G = new Float64Array(d * d);
  unpackGram(statistics, individual, G);
  let J = constants[individual];
  for (let j = 0; j < p; j++) {
    for (let k = 0; k < d; k++) J += (A[j * d + k] * g[individual * d + k] * psi1[j]) / sigma2;
  }
  for (let e = 0; e < p * p; e++) {
    let W = 0;
    for (let k = 0; k < d; k++) {
      for (let l = 0; l < d; l++) W += G[k * d + l] * T[(k * d + l) * p * p + e];
      W -= G[k * d + k] * Kinv[e];
    }
    J -= (0.5 * W * psi2[e]) / sigma2;
  }
  let second = 0;
  for (let c = 0; c < q; c++) second += S[c * q + c] + m[c] * m[c];
  if (kernel.kind === "linear") {
    for (let k = 0; k < d; k++) J -= (0.5 * G[k * d + k] * kernel.signalVariance * second) / sigma2;
  }
  return J - (0.5 * (second - q) - logDiagonal);
}
