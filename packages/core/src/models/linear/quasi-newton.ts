/**
 * The maximum of likelihood and priors of the linear models by quasi-Newton steps (docs/math/linear.md §5), because EM stalls where Σ is
 * nearly singular. The parameters are
 *   θ = (parameters γ of the mean, log σ² of each marker, log ω where noise has levels, entries of the lower triangular or trapezoidal L),
 * which reach every Σ = LL', singular ones included. Steps are scaled by the complete-data information at the start,
 *   I = σ⁻² Σ_i E[(1, v_i)(1, v_i)'] ⊗ G_i  for (mean, L),   N/2 for log σ²,   Nω²/2 for log ω:   θ = θ₀ + R⁻ᵀx,  I = RR',
 * so that the first step is a joint EM step and the following ones learn what EM lacks.
 */

import { statisticsBlock } from "../../basis/statistics.ts";
import { LOWEST_LOG_SPREAD, type Noise, noiseLevel, noiseSpread, withLevel, withSpread } from "../../noise/noise.ts";
import { choleskyInPlace, invertLower } from "../../numeric/cholesky.ts";
import { multiplyVector } from "../../numeric/matrix.ts";
import { maximizeBfgs } from "../../numeric/optimize/bfgs.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import { designGradient, designInformation, meanCoefficients, meanParameters, timesDesign } from "../mean.ts";
import { canonicalFactor, numericalRank } from "./canonical.ts";
import { type Climb, type LinearProblem, likelihoodRounding } from "./em.ts";
import { type Expectation, type Score, scoreOf } from "./expectation.ts";
import { covarianceGradient } from "./likelihood.ts";
import { notPositive } from "./low-rank.ts";
import { addCovarianceGradient, logPrior, withPrior } from "./prior.ts";
import type { LinearSettings } from "./settings.ts";
import type { LinearParameters } from "./stack.ts";

/** How far to climb. */
export interface ClimbSettings extends Pick<LinearSettings, "maxEvaluations" | "tolerance"> {
  /** Whether to look for a way up where L has lost rank, which costs a dozen evaluations. Default true. */
  readonly saddles?: boolean;
}

/** Rounds of steps at most, each with fresh scaling. */
const MAX_ROUNDS = 20;

/**
 * Raises the log-likelihood from `start` to a local maximum; L comes back lower triangular, diagonal ≥ 0. `onEvaluation`
 * hears the number of each evaluation and the best log-likelihood so far, of which the trace keeps every rise; it may throw
 * to cancel.
 */
export function maximizeLikelihood(
  problem: LinearProblem,
  start: LinearParameters,
  { maxEvaluations, tolerance, saddles = true }: ClimbSettings,
  onEvaluation?: (evaluations: number, best: number) => void,
): Climb {
  const { prior, statistics, numCoefficients: d, lowestLevels } = problem;
  const r = start.rank;
  const layout = layoutOf(problem, start);
  const { level, n } = layout;
  const trace: number[] = [];
  let iterations = 0;
  let best = Number.NEGATIVE_INFINITY;
  let current: LinearParameters = { ...start, factor: lowerFactor(start.factor, d, r) };
  let converged = false;

  for (let round = 0; round < MAX_ROUNDS && iterations < maxEvaluations && !converged; round++) {
    const theta0 = pack(current, layout);
    const expected = problem.expect(current);
    const before = expected.logLikelihood + logPrior(prior, current);
    if (Number.isNaN(before)) throw notPositive(current.noises);
    const J = invertLower(ridgedRoot(information(expected, current, layout), n), n);
    const parametersAt = (x: Float64Array) => unpack(shifted(theta0, J, x), layout);
    best = before;
    const objective = (x: Float64Array, gx: Float64Array): number => {
      const trial = parametersAt(x);
      const reached = problem.expect(trial);
      const value = reached.logLikelihood + logPrior(prior, trial);
      const score = withPrior(prior, trial, scoreOf(reached, trial, statistics));
      gx.set(multiplyVector(J, packScore(score, layout), n, n));
      iterations++;
      if (value > best) {
        best = value;
        trace.push(best);
      }
      onEvaluation?.(iterations, best);
      return value;
    };
    const lower = new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
    lowestLevels.forEach((lowest, k) => {
      const at = level + k;
      lower[at] = Math.min((Math.log(lowest) - theta0[at]) / J[at * n + at], 0);
    });
    for (const at of layout.spread) lower[at] = Math.min((LOWEST_LOG_SPREAD - theta0[at]) / J[at * n + at], 0);
    // Gains below rounding cannot be told from none.
    const rounding = likelihoodRounding(problem, before, current);
    const result = maximizeBfgs(objective, new Float64Array(n), {
      maxEvaluations: maxEvaluations - iterations,
      gradientTolerance: 1e-7,
      minGain: Math.max(0.01 * tolerance, rounding),
      lower,
      firstStep: Number.POSITIVE_INFINITY,
    });
    current = parametersAt(result.x);
    best = result.value;
    // The line search may have refused a higher value whose gain was too small for its length.
    while (trace.length > 0 && trace[trace.length - 1] > best) trace.pop();
    converged = result.reason !== "iterations" && result.value - before < Math.max(tolerance, 10 * rounding);
    const raised = converged && saddles ? leaveSaddle(problem, current, tolerance) : null;
    if (raised !== null) {
      current = raised.parameters;
      best = raised.logLikelihood;
      trace.push(best);
      converged = false;
    }
  }
  const parameters = { ...current, factor: lowerFactor(current.factor, d, r) };
  return { parameters, logLikelihood: best, trace, iterations, converged };
}

/**
 * Where L has lost rank the gradient 2DL says nothing about the lost directions: the point may be a saddle. It is one
 * if D = ∂ℓ/∂Σ has a positive eigenvalue; then a little variance along its eigenvector raises the likelihood.
 * Returns the raised parameters, or null at a maximum.
 */
function leaveSaddle(
  { statistics, prior, numCoefficients: d, expect, rows }: LinearProblem,
  parameters: LinearParameters,
  tolerance: number,
): Pick<Climb, "parameters" | "logLikelihood"> | null {
  const r = parameters.rank;
  if (numericalRank(parameters.factor, d, r) === r) return null;
  const gradient = (from: number, to: number) =>
    covarianceGradient(
      statistics.map((own) => statisticsBlock(own, { from, to })),
      parameters,
    );
  const D = rows?.("linear model", gradient) ?? gradient(0, statistics[0].numIndividuals);
  addCovarianceGradient(prior, parameters, D);
  const { values, vectors } = symmetricEigen(D, d);
  if (!(values[0] > tolerance)) return null;
  const valueAt = (at: LinearParameters) => expect(at).logLikelihood + logPrior(prior, at);
  const value = valueAt(parameters);
  const factor = canonicalFactor(parameters.factor, d, r);
  // On the standard scale a variance of 1 is that of the values, so this range covers what can matter.
  for (let variance = 0.1; variance >= 1e-6; variance /= 10) {
    for (let k = 0; k < d; k++) factor[k * r + r - 1] = Math.sqrt(variance) * vectors[k * d];
    const raised = { ...parameters, factor: lowerFactor(factor, d, r) };
    const raisedValue = valueAt(raised);
    if (raisedValue > value + tolerance) return { parameters: raised, logLikelihood: raisedValue };
  }
  return null;
}

/**
 * How θ [n] is laid out: γ, log σ² of each marker from `level` on, log ω where noise has levels, then from `first` on the entries of L on or below
 * the diagonal, column by column.
 */
interface Layout {
  readonly problem: LinearProblem;
  readonly r: number;
  readonly noises: readonly Noise[]; // but for their levels
  readonly level: number;
  /** Where log ω stands, if it does. */
  readonly spread: readonly number[];
  readonly first: number;
  readonly n: number;
  /** Row k and column a of the entries of L in θ. */
  readonly entries: readonly (readonly [k: number, a: number])[];
}

function layoutOf(problem: LinearProblem, { rank: r, noises }: LinearParameters): Layout {
  const entries: [number, number][] = [];
  for (let a = 0; a < r; a++) for (let k = a; k < problem.mean.numBasis; k++) entries.push([k, a]);
  const level = problem.mean.numColumns;
  const spread = noises.some((noise) => noiseSpread(noise) > 0) ? [level + noises.length] : [];
  const first = level + noises.length + spread.length;
  return { problem, r, noises, level, spread, first, n: first + entries.length, entries };
}

function pack({ meanCoefficients: beta, noises, factor }: LinearParameters, layout: Layout): Float64Array {
  const { problem, r, spread, entries } = layout;
  const mean = meanParameters(problem.mean, beta);
  const levels = noises.map((noise) => Math.log(noiseLevel(noise)));
  const ofNoise = [...levels, ...spread.map(() => Math.log(noiseSpread(noises[0])))];
  return Float64Array.from([...mean, ...ofNoise, ...entries.map(([k, a]) => factor[k * r + a])]);
}

function unpack(theta: Float64Array, { problem, r, noises, level, spread, first, entries }: Layout): LinearParameters {
  const factor = new Float64Array(problem.mean.numBasis * r);
  entries.forEach(([k, a], j) => {
    factor[k * r + a] = theta[first + j];
  });
  return {
    meanCoefficients: meanCoefficients(problem.mean, theta.subarray(0, level)),
    noises: noises.map((noise, k) =>
      spread.reduce((own, at) => withSpread(own, Math.exp(theta[at])), withLevel(noise, Math.exp(theta[level + k]))),
    ),
    factor,
    rank: r,
  };
}

/** The gradient in θ. */
function packScore(score: Score, { problem, r, spread, entries }: Layout): Float64Array {
  const mean = designGradient(problem.mean, score.meanCoefficients);
  const ofNoise = [...score.logNoiseLevels, ...spread.map(() => score.logSpread)];
  return Float64Array.from([...mean, ...ofNoise, ...entries.map(([k, a]) => score.factor[k * r + a])]);
}

/** θ₀ + J'x for the lower triangular J [n,n]. */
function shifted(theta0: Float64Array, J: Float64Array, x: Float64Array): Float64Array {
  const n = x.length;
  const theta = theta0.slice();
  for (let j = 0; j < n; j++) for (let k = 0; k <= j; k++) theta[k] += J[j * n + k] * x[j];
  return theta;
}

/** The complete-data information of θ, lower triangle of [n,n]. */
function information(expected: Expectation, { noises }: LinearParameters, layout: Layout): Float64Array {
  const { problem, r, level, spread, first, n, entries } = layout;
  const { mean, statistics, rowMarker } = problem;
  const { gram } = expected;
  const sigma2 = Float64Array.from(rowMarker, (k) => noiseLevel(noises[k])); // of each coefficient
  const d = mean.numBasis;
  const c = mean.numColumns;
  const own = designInformation(mean, gram); // [c,c]
  const across = timesDesign(mean, expected.firstMoment, r * d); // [rd,c]
  const I = new Float64Array(n * n);
  for (let k = 0; k < c; k++) {
    for (let l = 0; l <= k; l++) I[k * n + l] = own[k * c + l] / sigma2[mean.pivots[k]];
  }
  statistics.forEach(({ numObservations: N }, k) => {
    I[(level + k) * n + level + k] = N / 2;
  });
  for (const at of spread) I[at * n + at] = (statistics[0].numObservations / 2) * noiseSpread(noises[0]) ** 2;
  entries.forEach(([k, a], j) => {
    const row = (first + j) * n;
    const from = a * d + k;
    for (let l = 0; l < c; l++) I[row + l] = across[from * c + l] / sigma2[k];
    for (let h = 0; h <= j; h++) {
      const [l, b] = entries[h];
      I[row + first + h] = expected.secondMoment[from * r * d + b * d + l] / sigma2[k];
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
