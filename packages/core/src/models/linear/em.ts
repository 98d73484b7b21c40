/**
 * EM for the linear models (docs/math/linear.md §3, §4): one E step (`expectation.ts`), and M steps in this order.
 *   Mixed model:   mean and σ² from what the old L leaves;   Σ ← (1/m) Σ_i (V_i + ŵ_iŵ_i') = L (S/m) L'.
 *   Reduced rank (an ECM):   M vec F = vec Y;   then mean and σ² from what the new F leaves.
 * In both, with remainder E = Σ B_i'(y_i − B_iβ − B_iLv̂_i) and Q = Σ E‖y_i − B_iβ − B_iLv_i‖²,
 *   β ← β + δ(E),   σ² ← (Q − 2δ'E + δ'(ΣG)δ)/N.
 * Of several markers (stack.ts) each has its own Q, N and σ²; Σ is common.
 * Where noise has levels all sums are weighted by 1/λ_i (expectation.ts), and ω stays: quasi-Newton moves it.
 * Priors (prior.ts) add to S, N, Q, M and Y what their pseudo-individuals and pseudo-observations say.
 * No inverse of Σ is taken, which may be singular, and a lower triangular L stays so.
 */
import { cohortSize, totalSquares as squaresOf } from "../../basis/cohort-sums.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { learnNoise, noiseLevel } from "../../noise/noise.ts";
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import { solveSemidefiniteInPlace } from "../../numeric/semidefinite.ts";
import type { FitControl, PriorChoice } from "../fit.ts";
import { type MeanDesign, type MeanKind, meanDesign, meanShift, misfitChange, stackDesigns } from "../mean.ts";
import type { RowSums } from "../shards.ts";
import { type Expectation, remainder } from "./expectation.ts";
import { notPositive } from "./low-rank.ts";
import { createExpectationStep, type ExpectationStep } from "./passes.ts";
import { expectPrior, type LinearPrior, logPrior, noPrior, weakPrior } from "./prior.ts";
import type { LinearSettings } from "./settings.ts";
import { type LinearParameters, markerOfRow, numCoefficients, stackedGram } from "./stack.ts";

/** What is maximised: the likelihood of these statistics, on the scale of standardize.ts or any other, under this mean. */
export interface LinearProblem {
  /** Of each marker. */
  readonly statistics: readonly BasisStatistics[];
  /** D, the number of coefficients of all markers. */
  readonly numCoefficients: number;
  /** The marker of each, [D]. */
  readonly rowMarker: Uint8Array;
  readonly mean: MeanDesign;
  /** Σ_i G_i [D,D]. */
  readonly gram: Float64Array;
  /** Σ_i ‖y_i − center‖² of each marker. */
  readonly totalSquares: readonly number[];
  /** σ² is kept at or above this, 1e-8 of the variance of the values: beyond it likelihoods can grow without bound. */
  readonly lowestLevels: readonly number[];
  /** What is known of σ² and Σ before; `NO_PRIOR` for maximum likelihood. */
  readonly prior: LinearPrior;
  /** ℓ of the values as given, minus ℓ of the statistics (other than 0 if these are scaled). */
  readonly logLikelihoodShift: number;
  readonly expect: ExpectationStep;
  /** Of a cohort that is spread. */
  readonly rows?: RowSums;
}

/** The lowest level of the noise, as a share of the variance of the values. */
export const LEAST_NOISE = 1e-8;

/** The problem of a linear fit; its E step runs where `control` says. */
export function linearProblem(
  statistics: readonly BasisStatistics[],
  mean: MeanKind,
  control: Pick<FitControl, "kernels" | "shards"> = {},
  priors: PriorChoice = "none",
): LinearProblem {
  const totalSquares = statistics.map(squaresOf);
  const lowestLevels = statistics.map(({ numObservations: N }, k) => (LEAST_NOISE * totalSquares[k]) / N);
  return {
    statistics,
    numCoefficients: numCoefficients(statistics),
    rowMarker: markerOfRow(statistics),
    mean: stackDesigns(statistics.map(({ basis }) => meanDesign(mean, basis.numBasis))),
    gram: stackedGram(statistics),
    totalSquares,
    lowestLevels,
    prior: priors === "none" ? noPrior(statistics.length) : weakPrior(statistics, lowestLevels),
    logLikelihoodShift: 0,
    expect: createExpectationStep(statistics, control),
    rows: control.shards?.spread?.rows,
  };
}

/** Whether the noise of a marker fell to its lower limit: the likelihood then has no maximum. */
export function isNoiseless({ lowestLevels }: LinearProblem, { noises }: LinearParameters): boolean {
  return noises.some((noise, k) => noiseLevel(noise) <= 1.0001 * lowestLevels[k]);
}

/** Which M step: of the covariance Σ = LL' (mixed model) or of the loadings L = F (reduced rank). */
export type MaximizationStep = (
  problem: LinearProblem,
  parameters: LinearParameters,
  expected: Expectation,
) => LinearParameters;

/** M step of the linear mixed model. */
export const maximizeCovariance: MaximizationStep = (problem, parameters, expected) => {
  const { rank: r, factor: L } = parameters;
  const { statistics, prior, numCoefficients: d } = problem;
  const m = cohortSize(statistics[0]);
  const { effects } = expectPrior(prior, parameters);
  const root = expected.effects.map((s, e) => (s + effects[e]) / (m + prior.covariance.count));
  if (!choleskyInPlace(root, r)) throw notPositive(parameters.noises);
  const factor = multiply(L, root, d, r, r);
  return { ...updateMean(problem, parameters, expected, L), factor, rank: r };
};

/** M step of the reduced-rank model. */
export const maximizeLoadings: MaximizationStep = (problem, parameters, expected) => {
  const r = parameters.rank;
  const { numCoefficients: d, rowMarker, prior } = problem;
  // The prior's individuals are seen with noise of their own variance.
  const pseudo = expectPrior(prior, parameters);
  const weights = parameters.noises.map((noise) => noiseLevel(noise) / prior.covariance.noise);
  const weight = (j: number) => weights[rowMarker[j % d]];
  const M = expected.secondMoment.slice();
  for (let j = 0; j < r * d; j++) {
    for (let c = 0; c < r; c++) {
      M[j * r * d + c * d + (j % d)] += weight(j) * pseudo.effects[Math.floor(j / d) * r + c];
    }
  }
  const f = expected.cross.map((y, j) => y + weight(j) * pseudo.cross[j]);
  solveSemidefiniteInPlace(M, r * d, f);
  const factor = transpose(f, r, d);
  return { ...updateMean(problem, parameters, expected, factor), factor, rank: r };
};

/** Mean and noise given the factor that explains the rest. */
function updateMean(
  { statistics, mean, prior, lowestLevels }: LinearProblem,
  parameters: LinearParameters,
  expected: Expectation,
  factor: Float64Array,
): Pick<LinearParameters, "meanCoefficients" | "noises"> {
  const { gram, rowMarker } = expected;
  const { residual: E, sumSquares } = remainder(expected, factor);
  // Least squares of each marker alone: its noise weighs all its residuals alike.
  const shift = meanShift(mean, gram, E);
  const change = misfitChange(gram, E, shift, rowMarker);
  return {
    meanCoefficients: parameters.meanCoefficients.map((b, k) => b + shift[k]),
    noises: parameters.noises.map((noise, k) => {
      const squares = sumSquares[k] + change[k];
      return learnNoise(noise, squares, statistics[k].numObservations, lowestLevels[k], 1, prior.noises[k]);
    }),
  };
}

/** Where a climb to the maximum ended. */
export interface Climb {
  readonly parameters: LinearParameters;
  readonly logLikelihood: number;
  /** Log-likelihoods on the way, the start's first for EM. */
  readonly trace: readonly number[];
  /** Steps of EM, evaluations of quasi-Newton. */
  readonly iterations: number;
  readonly converged: boolean;
}

/**
 * EM steps until one gains less than the tolerance times 1 + |ℓ|; `onStep` hears the number of each and the log-likelihood
 * reached. It cannot fall beyond rounding (1e-9 |ℓ|, and more where the noise is very small): a fall is a defect of the
 * program and throws `not-monotone`, but where the noise is at its lowest level.
 */
export function runEm(
  problem: LinearProblem,
  start: LinearParameters,
  maximize: MaximizationStep,
  { maxEmIterations, emTolerance }: Pick<LinearSettings, "maxEmIterations" | "emTolerance">,
  onStep?: (step: number, logLikelihood: number) => void,
): Climb {
  const trace: number[] = [];
  let parameters = start;
  for (let iterations = 0; ; iterations++) {
    const expected = problem.expect(parameters);
    const logLikelihood = expected.logLikelihood + logPrior(problem.prior, parameters);
    if (Number.isNaN(logLikelihood)) throw notPositive(parameters.noises);
    const before = trace[iterations - 1];
    trace.push(logLikelihood);
    if (iterations > 0) {
      // At the lowest level of the noise, digits that the M step cannot keep are divided by 1e-8: nothing is proved.
      const rounding = isNoiseless(problem, parameters)
        ? Number.POSITIVE_INFINITY
        : likelihoodRounding(problem, logLikelihood, parameters);
      checkMonotone(before, logLikelihood, rounding, iterations);
      onStep?.(iterations, logLikelihood);
    }
    const converged = logLikelihood - before < emTolerance * (1 + Math.abs(logLikelihood + problem.logLikelihoodShift));
    if (converged || iterations === maxEmIterations) {
      return { parameters, logLikelihood, trace, iterations, converged };
    }
    parameters = maximize(problem, parameters, expected);
  }
}

/**
 * About how far rounding moves the log-likelihood: that of a sum over all individuals, and that of ρ_i − z_i'z_i, which
 * is felt where the noise is very small beside the values.
 */
export function likelihoodRounding(
  { totalSquares }: LinearProblem,
  value: number,
  { noises }: LinearParameters,
): number {
  const ofSquares = noises.map((noise, k) => (2e-15 * totalSquares[k]) / noiseLevel(noise));
  return 1e-13 * Math.abs(value) + Math.max(...ofSquares);
}

function checkMonotone(before: number, after: number, rounding: number, iteration: number): void {
  if (after >= before - 1e-9 * Math.abs(before) - rounding) return;
  throw new DtmError(
    "not-monotone",
    `EM: expected a log-likelihood that never falls, received ${after} after ${before} in step ${iteration}. This is a defect of the program: please report it with the options of the fit.`,
  );
}
