/**
 * Maximum likelihood of the linear models by quasi-Newton steps (docs/math/linear.md §5), because EM stalls where Σ is
 * nearly singular. The parameters are
 *   θ = (parameters γ of the mean, log σ², entries of the lower triangular or trapezoidal L),
 * which reach every Σ = LL', singular ones included. Steps are scaled by the complete-data information at the start,
 *   I = σ⁻² Σ_i E[(1, v_i)(1, v_i)'] ⊗ G_i  for (mean, L),   N/2 for log σ²:   θ = θ₀ + R⁻ᵀx,  I = RR',
 * so that the first step is a joint EM step and the following ones learn what EM lacks.
 */
import { choleskyInPlace, invertLower } from "../../numeric/cholesky.ts";
import { maximizeBfgs } from "../../numeric/optimize/bfgs.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import { designGradient, designInformation, meanCoefficients, meanParameters, timesDesign } from "../mean.ts";
import { canonicalFactor, numericalRank } from "./canonical.ts";
import type { LinearProblem } from "./em.ts";
import { type Expectation, type Score, scoreOf } from "./expectation.ts";
import {
  covarianceGradient,
  type LowRankParameters,
  likelihoodRounding,
  logLikelihood,
  notPositive,
} from "./low-rank.ts";

export interface QuasiNewtonOptions {
  /** Rounds of steps, each with fresh scaling. */
  readonly maxRounds: number;
  /** Evaluations in all. */
  readonly maxEvaluations: number;
  /** A round that gains less than this ends the fit. */
  readonly tolerance: number;
  /** σ² is kept at or above this. */
  readonly minNoiseVariance: number;
  /** Called at each evaluation with the best log-likelihood so far; may throw to cancel. */
  readonly onEvaluation?: (evaluations: number, best: number) => void;
}

export interface QuasiNewtonResult {
  readonly parameters: LowRankParameters;
  readonly logLikelihood: number;
  /** Best log-likelihood so far, whenever it rose above the start's. */
  readonly trace: readonly number[];
  readonly evaluations: number;
  readonly converged: boolean;
}

/** Raises the log-likelihood from `start` to a local maximum; L comes back lower triangular, diagonal ≥ 0. */
export function maximizeLikelihood(
  problem: LinearProblem,
  start: LowRankParameters,
  options: QuasiNewtonOptions,
): QuasiNewtonResult {
  const { maxRounds, maxEvaluations, tolerance, minNoiseVariance, onEvaluation } = options;
  const { statistics } = problem;
  const d = statistics.basis.numBasis;
  const r = start.rank;
  const layout = layoutOf(problem, r);
  const { noise, n } = layout;
  const totalSquares = compensatedSum(statistics.sumSquares);
  const trace: number[] = [];
  let evaluations = 0;
  let best = Number.NEGATIVE_INFINITY;
  let current: LowRankParameters = { ...start, factor: lowerFactor(start.factor, d, r) };
  let converged = false;

  for (let round = 0; round < maxRounds && evaluations < maxEvaluations && !converged; round++) {
    const theta0 = pack(current, layout);
    const expected = problem.expect(current);
    const before = expected.logLikelihood;
    if (Number.isNaN(before)) throw notPositive(current);
    const J = invertLower(ridgedRoot(information(expected, current, layout), n), n);
    best = before;
    const objective = (x: Float64Array, gx: Float64Array): number => {
      const trial = unpack(shifted(theta0, J, x), layout);
      const reached = problem.expect(trial);
      const gradient = packScore(scoreOf(reached, trial, statistics.numObservations), layout);
      for (let j = 0; j < n; j++) {
        let s = 0;
        for (let k = 0; k <= j; k++) s += J[j * n + k] * gradient[k];
        gx[j] = s;
      }
      evaluations++;
      if (reached.logLikelihood > best) {
        best = reached.logLikelihood;
        trace.push(best);
      }
      onEvaluation?.(evaluations, best);
      return reached.logLikelihood;
    };
    const lower = new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
    lower[noise] = Math.min((Math.log(minNoiseVariance) - theta0[noise]) / J[noise * n + noise], 0);
    // Gains below rounding cannot be told from none.
    const rounding = likelihoodRounding(before, totalSquares, current.noiseVariance);
    const result = maximizeBfgs(objective, new Float64Array(n), {
      maxIterations: maxEvaluations,
      maxEvaluations: maxEvaluations - evaluations,
      gradientTolerance: 1e-7,
      minGain: Math.max(0.01 * tolerance, rounding),
      lower,
      firstStep: Number.POSITIVE_INFINITY,
    });
    current = unpack(shifted(theta0, J, result.x), layout);
    best = result.value;
    // The line search may have refused a higher value whose gain was too small for its length.
    while (trace.length > 0 && trace[trace.length - 1] > best) trace.pop();
    converged = result.reason !== "iterations" && result.value - before < Math.max(tolerance, 10 * rounding);
    if (converged) {
      const raised = leaveSaddle(problem, current, tolerance);
      if (raised !== undefined) {
        current = raised.parameters;
        best = raised.logLikelihood;
        trace.push(best);
        converged = false;
      }
    }
  }
  const parameters = { ...current, factor: lowerFactor(current.factor, d, r) };
  return { parameters, logLikelihood: best, trace, evaluations, converged };
}

/**
 * Where L has lost rank the gradient 2DL says nothing about the lost directions: the point may be a saddle. It is one
 * if D = ∂ℓ/∂Σ has a positive eigenvalue; then a little variance along its eigenvector raises the likelihood.
 * Returns the raised parameters, or undefined at a maximum.
 */
function leaveSaddle(
  { statistics }: LinearProblem,
  parameters: LowRankParameters,
  tolerance: number,
): { parameters: LowRankParameters; logLikelihood: number } | undefined {
  const d = statistics.basis.numBasis;
  const r = parameters.rank;
  if (numericalRank(parameters.factor, d, r) === r) return undefined;
  const { values, vectors } = symmetricEigen(covarianceGradient(statistics, parameters), d);
  if (!(values[0] > tolerance)) return undefined;
  const value = logLikelihood(statistics, parameters);
  const factor = canonicalFactor(parameters.factor, d, r);
  // On the standard scale a variance of 1 is that of the values, so this range covers what can matter.
  for (let variance = 0.1; variance >= 1e-6; variance /= 10) {
    for (let k = 0; k < d; k++) factor[k * r + r - 1] = Math.sqrt(variance) * vectors[k * d];
    const raised = { ...parameters, factor: lowerFactor(factor, d, r) };
    const raisedValue = logLikelihood(statistics, raised);
    if (raisedValue > value + tolerance) return { parameters: raised, logLikelihood: raisedValue };
  }
  return undefined;
}

/** How θ [n] is laid out: γ, log σ² at `noise`, then the entries of L on or below the diagonal, column by column. */
interface Layout {
  readonly problem: LinearProblem;
  readonly r: number;
  readonly noise: number;
  readonly n: number;
  /** Row k and column a of the entries of L in θ. */
  readonly entries: readonly (readonly [k: number, a: number])[];
}

function layoutOf(problem: LinearProblem, r: number): Layout {
  const entries: [number, number][] = [];
  for (let a = 0; a < r; a++) for (let k = a; k < problem.mean.numBasis; k++) entries.push([k, a]);
  const noise = problem.mean.numColumns;
  return { problem, r, noise, n: noise + 1 + entries.length, entries };
}

function pack({ meanCoefficients: beta, noiseVariance, factor }: LowRankParameters, layout: Layout): Float64Array {
  const { problem, r, entries } = layout;
  const mean = meanParameters(problem.mean, beta);
  return Float64Array.from([...mean, Math.log(noiseVariance), ...entries.map(([k, a]) => factor[k * r + a])]);
}

function unpack(theta: Float64Array, { problem, r, noise, entries }: Layout): LowRankParameters {
  const factor = new Float64Array(problem.mean.numBasis * r);
  entries.forEach(([k, a], j) => {
    factor[k * r + a] = theta[noise + 1 + j];
  });
  return {
    meanCoefficients: meanCoefficients(problem.mean, theta.subarray(0, noise)),
    noiseVariance: Math.exp(theta[noise]),
    factor,
    rank: r,
  };
}

/** The gradient in θ. */
function packScore(score: Score, { problem, r, entries }: Layout): Float64Array {
  const mean = designGradient(problem.mean, score.meanCoefficients);
  return Float64Array.from([...mean, score.logNoiseVariance, ...entries.map(([k, a]) => score.factor[k * r + a])]);
}

/** θ₀ + J'x for the lower triangular J [n,n]. */
function shifted(theta0: Float64Array, J: Float64Array, x: Float64Array): Float64Array {
  const n = x.length;
  const theta = theta0.slice();
  for (let j = 0; j < n; j++) for (let k = 0; k <= j; k++) theta[k] += J[j * n + k] * x[j];
  return theta;
}

/** The complete-data information of θ, lower triangle of [n,n]. */
function information(expected: Expectation, { noiseVariance }: LowRankParameters, layout: Layout): Float64Array {
  const { problem, r, noise, n, entries } = layout;
  const { mean, gram, statistics } = problem;
  const d = mean.numBasis;
  const c = mean.numColumns;
  const own = designInformation(mean, gram); // [c,c]
  const across = timesDesign(mean, expected.firstMoment, r * d); // [rd,c]
  const I = new Float64Array(n * n);
  for (let k = 0; k < c; k++) for (let l = 0; l <= k; l++) I[k * n + l] = own[k * c + l] / noiseVariance;
  I[noise * n + noise] = statistics.numObservations / 2;
  entries.forEach(([k, a], j) => {
    const row = (noise + 1 + j) * n;
    const from = a * d + k;
    for (let l = 0; l < c; l++) I[row + l] = across[from * c + l] / noiseVariance;
    for (let h = 0; h <= j; h++) {
      const [l, b] = entries[h];
      I[row + noise + 1 + h] = expected.secondMoment[from * r * d + b * d + l] / noiseVariance;
    }
  });
  return I;
}

/** Cholesky root; directions the times leave undetermined have no information, and a small ridge holds them still. */
function ridgedRoot(information: Float64Array, n: number): Float64Array {
  let largest = 0;
  for (let k = 0; k < n; k++) largest = Math.max(largest, information[k * n + k]);
  for (let ridge = 1e-12; ; ridge *= 100) {
    const R = information.slice();
    for (let k = 0; k < n; k++) R[k * n + k] += ridge * (R[k * n + k] + largest);
    if (choleskyInPlace(R, n)) return R;
  }
}
