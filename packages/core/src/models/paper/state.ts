/**
 * What the bound of the published model depends on: global parameters, and per individual the local parameters
 *   θ_i = [m_i (q), log diag T_i (q), strictly lower T_i row-major (q(q−1)/2; absent when S_i is diagonal)]
 * of q(x_i) = N(m_i, S_i), S_i = T_i T_i'. Logs on the diagonal keep S_i positive definite without constraints.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { cholesky } from "../../numeric/cholesky.ts";
import type { Kernel } from "../gp/kernel.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";

/** A kernel and the inducing points. */
export type InducingKernel = Pick<SparseMap, "kernel" | "inducingLocations" | "numInducing" | "mapDimension">;

/** Shapes and global parameters of the model. */
export interface GlobalParameters extends InducingKernel {
  readonly numBasis: number; // d
  /** β of the mean curve, [d]; a scalar mean is μ·1. */
  readonly meanCoefficients: Float64Array;
  readonly noiseVariance: number; // σ²
}

/** What the global step works with: statistics of individuals, parameters and the factor of their kernel matrix. */
export interface MapState {
  readonly statistics: BasisStatistics;
  readonly parameters: GlobalParameters;
  readonly factor: KernelFactor;
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

/** q(x) = N(m, TT') unpacked. */
export interface Place {
  readonly m: Float64Array; // [q]
  readonly T: Float64Array; // [q,q] lower triangular
  readonly S: Float64Array; // [q,q]
}

export function createPlace(q: number): Place {
  return { m: new Float64Array(q), T: new Float64Array(q * q), S: new Float64Array(q * q) };
}

/** Writes m, T and S of θ at `offset`. */
export function unpackPlace(theta: Float64Array, offset: number, diagonal: boolean, { m, T, S }: Place): void {
  const q = m.length;
  for (let c = 0; c < q; c++) {
    m[c] = theta[offset + c];
    T[c * q + c] = Math.exp(theta[offset + q + c]);
  }
  let e = offset + 2 * q;
  for (let c = 1; c < q && !diagonal; c++) for (let b = 0; b < c; b++) T[c * q + b] = theta[e++];
  covarianceOfFactor(T, q, S);
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
export function packLocations({ mean, covariance }: LocationPosterior, q: number, diagonal: boolean): Float64Array {
  const m = mean.length / q;
  const { rows, columns } = freeEntries(q, diagonal);
  const P = q + rows.length;
  const theta = new Float64Array(m * P);
  for (let i = 0; i < m; i++) {
    const S = covariance.slice(i * q * q, (i + 1) * q * q);
    if (diagonal) for (let e = 0; e < q * q; e++) if (e % (q + 1) !== 0) S[e] = 0;
    const T = cholesky(S, q, "covariance of a place");
    for (let c = 0; c < q; c++) theta[i * P + c] = mean[i * q + c];
    for (let k = 0; k < rows.length; k++) {
      const t = T[rows[k] * q + columns[k]];
      theta[i * P + q + k] = k < q ? Math.log(t) : t;
    }
  }
  return theta;
}

/** Means and covariances of θ [m,P]. */
export function unpackLocations(theta: Float64Array, q: number, diagonal: boolean): LocationPosterior {
  const P = numLocalParameters(q, diagonal);
  const m = theta.length / P;
  const [mean, covariance] = [new Float64Array(m * q), new Float64Array(m * q * q)];
  const place = createPlace(q);
  for (let i = 0; i < m; i++) {
    unpackPlace(theta, i * P, diagonal, place);
    mean.set(place.m, i * q);
    covariance.set(place.S, i * q * q);
  }
  return { mean, covariance };
}

/** tr S + m'm of θ at `offset`. */
export function secondMoment(theta: Float64Array, offset: number, q: number, diagonal: boolean): number {
  let s = 0;
  for (let c = 0; c < q; c++) s += theta[offset + c] ** 2 + Math.exp(2 * theta[offset + q + c]);
  const P = numLocalParameters(q, diagonal);
  for (let e = 2 * q; e < P; e++) s += theta[offset + e] ** 2;
  return s;
}

/** KL[N(m, TT') ‖ N(0, I)] = ½(tr S + m'm − q) − Σ_c log T_cc, read from θ at `offset`. */
export function locationKl(theta: Float64Array, offset: number, q: number, diagonal: boolean): number {
  let kl = 0.5 * (secondMoment(theta, offset, q, diagonal) - q);
  for (let c = 0; c < q; c++) kl -= theta[offset + q + c];
  return kl;
}

/** What the priors need beside the parameters. */
export interface PriorOptions {
  readonly priors: Priors;
  /** One length-scale for all dimensions: its prior counts once. */
  readonly sharedLengthscale: boolean;
}

/** log π of the hyperparameters; constants dropped. */
export function logPrior({ noiseVariance, kernel }: GlobalParameters, options: PriorOptions): number {
  const { priors, sharedLengthscale } = options;
  let value = logPriorTerm(priors.logNoiseVariance, noiseVariance);
  value += logPriorTerm(priors.logSignalVariance, kernel.signalVariance);
  for (const ell of freeLengthscales(kernel, sharedLengthscale)) value += logPriorTerm(priors.logLengthscale, ell);
  return value;
}

/** Length-scales that are parameters of their own: none, one that all dimensions share, or one each. */
export function freeLengthscales(kernel: Kernel, shared: boolean): Float64Array {
  return kernel.kind === "rbf" ? kernel.lengthscales.subarray(0, shared ? 1 : undefined) : new Float64Array(0);
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
