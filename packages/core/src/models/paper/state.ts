/**
 * What the bound of the published model depends on: global parameters, and per individual the local parameters
 *   θ_i = [m_i (q), log diag T_i (q), strictly lower T_i row-major (q(q−1)/2; absent when S_i is diagonal)]
 * of q(x_i) = N(m_i, S_i), S_i = T_i T_i'. Logs on the diagonal keep S_i positive definite without constraints.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { cholesky } from "../../numeric/cholesky.ts";
import type { Kernel } from "../gp/kernel.ts";

/** Shapes and global parameters of the model. */
export interface GlobalParameters {
  readonly kernel: Kernel;
  /** Z, [p,q]. */
  readonly inducingLocations: Float64Array;
  readonly numInducing: number; // p
  readonly mapDimension: number; // q
  readonly numBasis: number; // d
  /** β of the mean curve, [d]; a scalar mean is μ·1. */
  readonly meanCoefficients: Float64Array;
  readonly noiseVariance: number; // σ²
}

/** Gaussian prior on the log of a hyperparameter: −½ precision (log θ − mean)². */
export interface LogPrior {
  readonly mean: number;
  readonly precision: number;
}

/** Priors of the paper; those left out are flat. */
export interface Priors {
  readonly logNoiseVariance?: LogPrior;
  readonly logSignalVariance?: LogPrior;
  /** Counted once for a shared length-scale, once per dimension otherwise. */
  readonly logLengthscale?: LogPrior;
}

/** Posterior of places, plain data. */
export interface LocationPosterior {
  /** m_i, [m,q]. */
  readonly mean: Float64Array;
  /** S_i, [m,q,q]. */
  readonly covariance: Float64Array;
}

/** P, the number of local parameters of one individual. */
export function numLocalParameters(q: number, diagonal: boolean): number {
  return diagonal ? 2 * q : 2 * q + (q * (q - 1)) / 2;
}

/** Row and column in T of the free parameters after the mean: logs of the diagonal, then the lower part row by row. */
export interface FreeEntries {
  readonly rows: Int32Array; // [P − q]
  readonly columns: Int32Array; // [P − q]
}

export function freeEntries(q: number, diagonal: boolean): FreeEntries {
  const rows = Array.from({ length: q }, (_, c) => c);
  const columns = rows.slice();
  for (let c = 1; c < q && !diagonal; c++) {
    for (let b = 0; b < c; b++) {
      rows.push(c);
      columns.push(b);
    }
  }
  return { rows: Int32Array.from(rows), columns: Int32Array.from(columns) };
}

/** Writes m [q] and T [q,q] of θ at `offset`. */
export function unpackLocation(
  theta: Float64Array,
  offset: number,
  q: number,
  diagonal: boolean,
  m: Float64Array,
  T: Float64Array,
): void {
  T.fill(0, 0, q * q);
  for (let c = 0; c < q; c++) {
    m[c] = theta[offset + c];
    T[c * q + c] = Math.exp(theta[offset + q + c]);
  }
  if (diagonal) return;
  let e = offset + 2 * q;
  for (let c = 1; c < q; c++) for (let b = 0; b < c; b++) T[c * q + b] = theta[e++];
}

/** S = T T', [q,q]. */
export function covarianceOfFactor(T: Float64Array, q: number, S: Float64Array): void {
  for (let c = 0; c < q; c++) {
    for (let b = 0; b <= c; b++) {
      let s = 0;
      for (let a = 0; a <= b; a++) s += T[c * q + a] * T[b * q + a];
      S[c * q + b] = s;
      S[b * q + c] = s;
    }
  }
}

/** θ of all individuals, [m,P], from means [m,q] and covariances [m,q,q]; off-diagonal entries are dropped if `diagonal`. */
export function packLocations(
  mean: Float64Array,
  covariance: Float64Array,
  m: number,
  q: number,
  diagonal: boolean,
): Float64Array {
  const P = numLocalParameters(q, diagonal);
  const theta = new Float64Array(m * P);
  for (let i = 0; i < m; i++) {
    const S = covariance.slice(i * q * q, (i + 1) * q * q);
    if (diagonal) for (let c = 0; c < q; c++) for (let b = 0; b < q; b++) if (b !== c) S[c * q + b] = 0;
    const T = cholesky(S, q, "covariance of a place");
    for (let c = 0; c < q; c++) {
      theta[i * P + c] = mean[i * q + c];
      theta[i * P + q + c] = Math.log(T[c * q + c]);
    }
    if (diagonal) continue;
    let e = i * P + 2 * q;
    for (let c = 1; c < q; c++) for (let b = 0; b < c; b++) theta[e++] = T[c * q + b];
  }
  return theta;
}

/** Means and covariances of θ [m,P]. */
export function unpackLocations(theta: Float64Array, q: number, diagonal: boolean): LocationPosterior {
  const P = numLocalParameters(q, diagonal);
  const m = theta.length / P;
  const mean = new Float64Array(m * q);
  const covariance = new Float64Array(m * q * q);
  const T = new Float64Array(q * q);
  const S = new Float64Array(q * q);
  for (let i = 0; i < m; i++) {
    unpackLocation(theta, i * P, q, diagonal, mean.subarray(i * q, (i + 1) * q), T);
    covarianceOfFactor(T, q, S);
    covariance.set(S, i * q * q);
  }
  return { mean, covariance };
}

/** KL[N(m, TT') ‖ N(0, I)] = ½(tr S + m'm − q) − Σ_c log T_cc, read from θ at `offset`. */
export function locationKl(theta: Float64Array, offset: number, q: number, diagonal: boolean): number {
  let kl = -0.5 * q;
  for (let c = 0; c < q; c++) {
    const t = Math.exp(theta[offset + q + c]);
    kl += 0.5 * (theta[offset + c] * theta[offset + c] + t * t) - theta[offset + q + c];
  }
  const P = numLocalParameters(q, diagonal);
  for (let e = 2 * q; e < P; e++) kl += 0.5 * theta[offset + e] * theta[offset + e];
  return kl;
}

/** log π of the hyperparameters; constants dropped. `shared` says that the length-scales are one parameter. */
export function logPrior(priors: Priors, noiseVariance: number, kernel: Kernel, shared: boolean): number {
  let value = logPriorTerm(priors.logNoiseVariance, noiseVariance);
  value += logPriorTerm(priors.logSignalVariance, kernel.signalVariance);
  if (kernel.kind === "rbf") {
    const count = shared ? 1 : kernel.lengthscales.length;
    for (let c = 0; c < count; c++) value += logPriorTerm(priors.logLengthscale, kernel.lengthscales[c]);
  }
  return value;
}

/** Derivative of one prior term by the log of its parameter: −precision (log θ − mean). */
export function logPriorSlope(prior: LogPrior | undefined, parameter: number): number {
  return prior === undefined ? 0 : -prior.precision * (Math.log(parameter) - prior.mean);
}

function logPriorTerm(prior: LogPrior | undefined, parameter: number): number {
  return prior === undefined ? 0 : -0.5 * prior.precision * (Math.log(parameter) - prior.mean) ** 2;
}

/** Tr G_i. */
export function gramTrace(statistics: BasisStatistics, individual: number): number {
  const { numBand, bandRow, bandColumn, gram } = statistics;
  let s = 0;
  for (let e = 0; e < numBand; e++) if (bandRow[e] === bandColumn[e]) s += gram[individual * numBand + e];
  return s;
}
