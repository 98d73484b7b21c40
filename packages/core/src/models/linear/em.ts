/**
 * EM for the linear models, one function per step (docs/math/linear.md §3, §4).
 *
 * Mixed model, E step v̂_i and A_i; M step in this order: Σ, mean, σ² (with the new mean). In the sums of `low-rank.ts`
 *   Σ ← (1/m) Σ_i (V_i + ŵ_iŵ_i') = L [ I + (2/m) L'DL ] L',
 *   β ← β + δ,
 *   σ² ← σ² + (2σ² ∂/∂log σ² − 2δ'E + δ'(ΣG)δ)/N,
 * so a step costs one pass and needs no inverse of Σ, which may be singular.
 *
 * Reduced rank (an ECM): with E_i = C_i + x̂_ix̂_i' and C_i the posterior covariance, in this order
 *   (Σ_i E_i ⊗ G_i) vec F = vec Σ_i g_ix̂_i',   then the mean, then σ².
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { multiply } from "../../numeric/matrix.ts";
import { solveSemidefiniteInPlace } from "../../numeric/semidefinite.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import {
  createLowRankWorkspace,
  createScore,
  factorIndividual,
  type LowRankParameters,
  type LowRankWorkspace,
  likelihoodRounding,
  logLikelihood,
  logLikelihoodScore,
  notPositive,
  readFactorShape,
  solvePosterior,
} from "./low-rank.ts";
import { type MeanProblem, meanShift, misfitChange } from "./mean.ts";
import type { Scorer } from "./scorer.ts";

/** The passes over individuals that steps ask for. */
export interface LinearPasses {
  readonly score: Scorer;
  readonly rankSums: (parameters: LowRankParameters) => RankSums;
}

/** One step: the log-likelihood of the parameters given, and the parameters after the step. */
export interface EmStep {
  readonly logLikelihood: number;
  readonly next: LowRankParameters;
}

/** A step of EM from given parameters; passes over the same statistics, of the same rank, serve where they are given. */
export type EmStepper = (
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  mean: MeanProblem,
  ws?: LowRankWorkspace,
  passes?: LinearPasses,
) => EmStep;

/** One EM step of the linear mixed model, Σ = LL'. A lower triangular L stays so. */
export const lmmEmStep: EmStepper = (statistics, parameters, mean, ws, passes) => {
  const { numIndividuals: m, numObservations: N } = statistics;
  const { rank: r, factor: L, noiseVariance: sigma2 } = parameters;
  const d = statistics.basis.numBasis;
  const score = createScore(d);
  const value =
    passes?.score(parameters, score) ??
    logLikelihoodScore(statistics, parameters, mean.gram, score, ws ?? createLowRankWorkspace(d, r));
  if (Number.isNaN(value)) throw notPositive(parameters);
  const DL = multiply(score.covariance, L, d, d, r);
  const M = new Float64Array(r * r);
  for (let a = 0; a < r; a++) {
    for (let c = 0; c <= a; c++) {
      let s = 0;
      for (let k = 0; k < d; k++) s += L[k * r + a] * DL[k * r + c];
      M[a * r + c] = (2 / m) * s + (a === c ? 1 : 0);
    }
  }
  if (!choleskyInPlace(M, r)) throw notPositive(parameters);
  const shift = meanShift(mean, score.residual, N);
  const misfit = 2 * sigma2 * score.logNoiseVariance + misfitChange(mean, score.residual, shift);
  return {
    logLikelihood: value,
    next: {
      meanCoefficients: parameters.meanCoefficients.map((b, k) => b + shift[k]),
      noiseVariance: sigma2 + misfit / N,
      factor: multiply(L, M, d, r, r),
      rank: r,
    },
  };
};

/** Sums of the reduced-rank E step. */
export interface RankSums {
  logLikelihood: number;
  /** Σ_i E_i ⊗ G_i [r·d, r·d]; entry (a,k),(c,l) at row a·d+k. */
  readonly secondMoment: Float64Array;
  /** Σ_i x̂_i ⊗ G_i, [r,d,d]. */
  readonly firstMoment: Float64Array;
  /** Σ_i x̂_i g_i', [r,d]. */
  readonly cross: Float64Array;
  /** Σ_i g_i [d] and Σ_i ρ_i. */
  readonly residual: Float64Array;
  sumSquares: number;
}

/** The sums of the reduced-rank E step; also the complete-data information that scales quasi-Newton steps. */
export function rankSums(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  ws: LowRankWorkspace = createLowRankWorkspace(statistics.basis.numBasis, parameters.rank),
): RankSums {
  const { d, r } = ws;
  const { numBand, numIndividuals: m } = statistics;
  const sigma2 = parameters.noiseVariance;
  const numMoments = (r * (r + 1)) / 2 + r;
  const moments = new Float64Array(numMoments);
  const banded = new Float64Array(numMoments * numBand);
  const cross = new Float64Array(r * d);
  const residual = new Float64Array(d);
  let value = 0;
  let sumSquares = 0;
  readFactorShape(parameters, ws);
  for (let i = 0; i < m; i++) {
    value += factorIndividual(statistics, i, parameters, ws);
    sumSquares += ws.misfit;
    for (let a = 0; a < r; a++) sumSquares += ws.z[a] * ws.z[a];
    solvePosterior(ws);
    addMoments(statistics, i, ws, sigma2, moments, banded, cross, residual);
  }
  if (Number.isNaN(value)) throw notPositive(parameters);
  const { secondMoment, firstMoment } = unpackMoments(statistics, banded, r);
  return { logLikelihood: value, secondMoment, firstMoment, cross, residual, sumSquares };
}

/**
 * Kernel: adds the individual solved last. Its moments are the pairs a ≥ c of E_i = σ²A_i⁻¹ + x̂_ix̂_i', then x̂_i;
 * each is summed against the band of G_i into `banded` [numMoments,numBand].
 */
function addMoments(
  statistics: BasisStatistics,
  i: number,
  ws: LowRankWorkspace,
  sigma2: number,
  moments: Float64Array,
  banded: Float64Array,
  cross: Float64Array,
  residual: Float64Array,
): void {
  const { d, r, g, v, P } = ws;
  const { numBand, gram } = statistics;
  let j = 0;
  for (let a = 0; a < r; a++) for (let c = 0; c <= a; c++) moments[j++] = sigma2 * P[a * r + c] + v[a] * v[c];
  for (let a = 0; a < r; a++) moments[j++] = v[a];
  const offset = i * numBand;
  for (let h = 0; h < j; h++) {
    const weight = moments[h];
    const row = h * numBand;
    for (let e = 0; e < numBand; e++) banded[row + e] += weight * gram[offset + e];
  }
  for (let k = 0; k < d; k++) {
    residual[k] += g[k];
    for (let a = 0; a < r; a++) cross[a * d + k] += v[a] * g[k];
  }
}

/** Full symmetric matrices from the banded sums of `addMoments`. */
function unpackMoments(
  statistics: BasisStatistics,
  banded: Float64Array,
  r: number,
): { secondMoment: Float64Array; firstMoment: Float64Array } {
  const { numBand, bandRow, bandColumn } = statistics;
  const d = statistics.basis.numBasis;
  const n = r * d;
  const secondMoment = new Float64Array(n * n);
  const firstMoment = new Float64Array(n * d);
  for (let e = 0; e < numBand; e++) {
    const k = bandRow[e];
    const l = bandColumn[e];
    let j = 0;
    for (let a = 0; a < r; a++) {
      for (let c = 0; c <= a; c++) {
        const s = banded[j++ * numBand + e];
        secondMoment[(a * d + k) * n + c * d + l] = s;
        secondMoment[(a * d + l) * n + c * d + k] = s;
        secondMoment[(c * d + k) * n + a * d + l] = s;
        secondMoment[(c * d + l) * n + a * d + k] = s;
      }
    }
    for (let a = 0; a < r; a++) {
      const s = banded[j++ * numBand + e];
      firstMoment[(a * d + k) * d + l] = s;
      firstMoment[(a * d + l) * d + k] = s;
    }
  }
  return { secondMoment, firstMoment };
}

/** One ECM step of the reduced-rank model, L = F. */
export const fpcaEmStep: EmStepper = (statistics, parameters, mean, ws, passes) => {
  const N = statistics.numObservations;
  const d = statistics.basis.numBasis;
  const r = parameters.rank;
  const sums = passes?.rankSums(parameters) ?? rankSums(statistics, parameters, ws);
  const { secondMoment: H, firstMoment: K, cross: Y } = sums;
  // f [r,d] holds the columns of F one after another.
  const f = Y.slice();
  solveSemidefiniteInPlace(H, r * d, f);
  const E = sums.residual.slice();
  let misfit = sums.sumSquares;
  for (let j = 0; j < r * d; j++) {
    let s = -2 * Y[j];
    for (let h = 0; h < r * d; h++) s += H[j * r * d + h] * f[h];
    misfit += s * f[j];
    for (let k = 0; k < d; k++) E[k] -= K[j * d + k] * f[j];
  }
  const shift = meanShift(mean, E, N);
  misfit += misfitChange(mean, E, shift);
  const F = new Float64Array(d * r);
  for (let a = 0; a < r; a++) for (let k = 0; k < d; k++) F[k * r + a] = f[a * d + k];
  return {
    logLikelihood: sums.logLikelihood,
    next: {
      meanCoefficients: parameters.meanCoefficients.map((b, k) => b + shift[k]),
      noiseVariance: misfit / N,
      factor: F,
      rank: r,
    },
  };
};

export interface EmOptions {
  readonly maxIterations: number;
  /** Stop when a step gains less than tolerance·(1 + |ℓ|), ℓ of the values as given. */
  readonly tolerance: number;
  /** ℓ of the values as given, minus ℓ of the statistics (other than 0 if these are scaled). Default 0. */
  readonly logLikelihoodShift?: number;
  /** σ² is kept at or above this. */
  readonly minNoiseVariance: number;
  /** Passes over the statistics at the rank of the start, where they are to be had faster. */
  readonly passes?: LinearPasses;
  /** Called after each step with its number (from 1) and the log-likelihood reached. */
  readonly onStep?: (iteration: number, logLikelihood: number) => void;
}

export interface EmResult {
  readonly parameters: LowRankParameters;
  readonly logLikelihood: number;
  /** Log-likelihood at the start and after each step. */
  readonly trace: readonly number[];
  readonly converged: boolean;
}

/**
 * EM steps until the gain falls below the tolerance. The log-likelihood cannot fall beyond rounding (1e-9 |ℓ|, and more
 * where the noise is very small): a fall is a defect of the program and throws `not-monotone`.
 */
export function runEm(
  step: EmStepper,
  statistics: BasisStatistics,
  start: LowRankParameters,
  mean: MeanProblem,
  options: EmOptions,
): EmResult {
  const { maxIterations, tolerance, logLikelihoodShift = 0, minNoiseVariance, passes, onStep } = options;
  const ws = createLowRankWorkspace(statistics.basis.numBasis, start.rank);
  const trace: number[] = [];
  const totalSquares = compensatedSum(statistics.sumSquares);
  let parameters = start;
  let converged = false;
  for (let iteration = 0; ; iteration++) {
    // The value of a step's start is known only once the next step has begun; the last one needs a pass of its own.
    const last = iteration === maxIterations;
    const result = last ? undefined : step(statistics, parameters, mean, ws, passes);
    const value = result?.logLikelihood ?? valueAt(statistics, parameters, passes);
    if (iteration > 0) {
      const rounding = likelihoodRounding(value, totalSquares, parameters.noiseVariance);
      checkMonotone(trace[iteration - 1], value, rounding, iteration);
      onStep?.(iteration, value);
    }
    trace.push(value);
    const limit = tolerance * (1 + Math.abs(value + logLikelihoodShift));
    converged = iteration > 0 && value - trace[iteration - 1] < limit;
    if (result === undefined || converged) return { parameters, logLikelihood: value, trace, converged };
    const next = result.next;
    parameters = { ...next, noiseVariance: Math.max(next.noiseVariance, minNoiseVariance) };
  }
}

function valueAt(statistics: BasisStatistics, parameters: LowRankParameters, passes?: LinearPasses): number {
  const value =
    passes?.score(parameters, createScore(statistics.basis.numBasis)) ?? logLikelihood(statistics, parameters);
  if (Number.isNaN(value)) throw notPositive(parameters);
  return value;
}

function checkMonotone(before: number, after: number, rounding: number, iteration: number): void {
  if (after >= before - 1e-9 * Math.abs(before) - rounding) return;
  throw new DtmError(
    "not-monotone",
    `EM: expected a log-likelihood that never falls, received ${after} after ${before} in step ${iteration}. This is a defect of the program: please report it with the options of the fit.`,
  );
}
