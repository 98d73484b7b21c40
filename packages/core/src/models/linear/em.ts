/**
 * EM for the linear models (docs/math/linear.md §3, §4): one E step (`expectation.ts`), and M steps in this order.
 *   Mixed model:   mean and σ² from what the old L leaves;   Σ ← (1/m) Σ_i (V_i + ŵ_iŵ_i') = L (S/m) L'.
 *   Reduced rank (an ECM):   M vec F = vec Y;   then mean and σ² from what the new F leaves.
 * In both, with remainder E = Σ B_i'(y_i − B_iβ − B_iLv̂_i) and Q = Σ E‖y_i − B_iβ − B_iLv_i‖²,
 *   β ← β + δ(E),   σ² ← (Q − 2δ'E + δ'(ΣG)δ)/N.
 * No inverse of Σ is taken, which may be singular, and a lower triangular L stays so.
 */
import { type BasisStatistics, pooledGram } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import { solveSemidefiniteInPlace } from "../../numeric/semidefinite.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import type { FitControl } from "../fit.ts";
import { type MeanDesign, type MeanKind, meanDesign, meanShift, misfitChange } from "../mean.ts";
import { type Expectation, remainder } from "./expectation.ts";
import { type LowRankParameters, likelihoodRounding, notPositive } from "./low-rank.ts";
import { createExpectationStep, type ExpectationStep } from "./passes.ts";

/** What is maximised: the likelihood of these statistics under this mean. */
export interface LinearProblem {
  readonly statistics: BasisStatistics;
  readonly mean: MeanDesign;
  /** Σ_i G_i [d,d]. */
  readonly gram: Float64Array;
  readonly expect: ExpectationStep;
}

/** The problem of a linear fit; its E step runs where `control` says. */
export function linearProblem(
  statistics: BasisStatistics,
  mean: MeanKind,
  control: Pick<FitControl, "kernels" | "shards"> = {},
): LinearProblem {
  return {
    statistics,
    mean: meanDesign(mean, statistics.basis.numBasis),
    gram: pooledGram(statistics),
    expect: createExpectationStep(statistics, control),
  };
}

/** Which M step: of the covariance Σ = LL' (mixed model) or of the loadings L = F (reduced rank). */
export type MaximizationStep = (
  problem: LinearProblem,
  parameters: LowRankParameters,
  expected: Expectation,
) => LowRankParameters;

/** M step of the linear mixed model. */
export const maximizeCovariance: MaximizationStep = (problem, parameters, expected) => {
  const { rank: r, factor: L } = parameters;
  const root = expected.effects.map((s) => s / problem.statistics.numIndividuals);
  if (!choleskyInPlace(root, r)) throw notPositive(parameters);
  const factor = multiply(L, root, problem.statistics.basis.numBasis, r, r);
  return { ...updateMean(problem, parameters, expected, L), factor, rank: r };
};

/** M step of the reduced-rank model. */
export const maximizeLoadings: MaximizationStep = (problem, parameters, expected) => {
  const r = parameters.rank;
  const d = problem.statistics.basis.numBasis;
  const f = expected.cross.slice();
  solveSemidefiniteInPlace(expected.secondMoment, r * d, f);
  const factor = transpose(f, r, d);
  return { ...updateMean(problem, parameters, expected, factor), factor, rank: r };
};

/** Mean and noise given the factor that explains the rest. */
function updateMean(
  { statistics, mean, gram }: LinearProblem,
  parameters: LowRankParameters,
  expected: Expectation,
  factor: Float64Array,
): Pick<LowRankParameters, "meanCoefficients" | "noiseVariance"> {
  const { residual: E, sumSquares } = remainder(expected, factor);
  const shift = meanShift(mean, gram, E);
  return {
    meanCoefficients: parameters.meanCoefficients.map((b, k) => b + shift[k]),
    noiseVariance: (sumSquares + misfitChange(gram, E, shift)) / statistics.numObservations,
  };
}

export interface EmOptions {
  readonly maxIterations: number;
  /** Stop when a step gains less than tolerance·(1 + |ℓ|), ℓ of the values as given. */
  readonly tolerance: number;
  /** ℓ of the values as given, minus ℓ of the statistics (other than 0 if these are scaled). Default 0. */
  readonly logLikelihoodShift?: number;
  /** σ² is kept at or above this. */
  readonly minNoiseVariance: number;
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
  problem: LinearProblem,
  start: LowRankParameters,
  maximize: MaximizationStep,
  options: EmOptions,
): EmResult {
  const { maxIterations, tolerance, logLikelihoodShift = 0, minNoiseVariance, onStep } = options;
  const totalSquares = compensatedSum(problem.statistics.sumSquares);
  const trace: number[] = [];
  let parameters = start;
  for (let iteration = 0; ; iteration++) {
    const expected = problem.expect(parameters);
    const value = expected.logLikelihood;
    if (Number.isNaN(value)) throw notPositive(parameters);
    if (iteration > 0) {
      const rounding = likelihoodRounding(value, totalSquares, parameters.noiseVariance);
      checkMonotone(trace[iteration - 1], value, rounding, iteration);
      onStep?.(iteration, value);
    }
    trace.push(value);
    const limit = tolerance * (1 + Math.abs(value + logLikelihoodShift));
    const converged = iteration > 0 && value - trace[iteration - 1] < limit;
    if (iteration === maxIterations || converged) return { parameters, logLikelihood: value, trace, converged };
    const next = maximize(problem, parameters, expected);
    parameters = { ...next, noiseVariance: Math.max(next.noiseVariance, minNoiseVariance) };
  }
}

function checkMonotone(before: number, after: number, rounding: number, iteration: number): void {
  if (after >= before - 1e-9 * Math.abs(before) - rounding) return;
  throw new DtmError(
    "not-monotone",
    `EM: expected a log-likelihood that never falls, received ${after} after ${before} in step ${iteration}. This is a defect of the program: please report it with the options of the fit.`,
  );
}
