/**
 * Maximum likelihood of the linear models by quasi-Newton steps (docs/math/linear.md §5), because EM stalls where Σ is
 * nearly singular. The parameters are
 *   θ = (free mean coefficients, log σ², entries of the lower triangular or trapezoidal L),
 * which reach every Σ = LL', singular ones included. Steps are scaled by the complete-data information at the start,
 *   I = σ⁻² Σ_i E[(1, v_i)(1, v_i)'] ⊗ G_i  for (mean, L),   N/2 for log σ²:   θ = θ₀ + R⁻ᵀx,  I = RR',
 * so that the first step is a joint EM step and the following ones learn what EM lacks.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { choleskyInPlace, invertLower } from "../../numeric/cholesky.ts";
import { maximizeBfgs } from "../../numeric/optimize/bfgs.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import { canonicalFactor, numericalRank } from "./canonical.ts";
import type { LinearPasses } from "./em.ts";
import {
  createLowRankWorkspace,
  createScore,
  factorGradient,
  type LowRankParameters,
  likelihoodRounding,
  logLikelihood,
  logLikelihoodScore,
} from "./low-rank.ts";
import type { MeanProblem } from "./mean.ts";
import { createPasses } from "./passes.ts";

export interface QuasiNewtonOptions {
  /** Rounds of steps, each with fresh scaling. */
  readonly maxRounds: number;
  /** Evaluations in all. */
  readonly maxEvaluations: number;
  /** A round that gains less than this ends the fit. */
  readonly tolerance: number;
  /** σ² is kept at or above this. */
  readonly minNoiseVariance: number;
  /** Passes over the statistics at the rank of the start. Default: made here. */
  readonly passes?: LinearPasses;
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
  statistics: BasisStatistics,
  start: LowRankParameters,
  mean: MeanProblem,
  options: QuasiNewtonOptions,
): QuasiNewtonResult {
  const { maxRounds, maxEvaluations, tolerance, minNoiseVariance, onEvaluation } = options;
  const d = statistics.basis.numBasis;
  const r = start.rank;
  const layout: Layout = { mean, entries: lowerEntries(d, r), d, r };
  const n = mean.numFree + 1 + layout.entries.length;
  const passes = options.passes ?? createPasses(statistics, r, mean.gram, {});
  const score = createScore(d);
  const gradientL = new Float64Array(d * r);
  const gradient = new Float64Array(n);
  const totalSquares = compensatedSum(statistics.sumSquares);
  const trace: number[] = [];
  let evaluations = 0;
  let best = Number.NEGATIVE_INFINITY;
  let current: LowRankParameters = { ...start, factor: lowerFactor(start.factor, d, r) };
  let converged = false;

  for (let round = 0; round < maxRounds && evaluations < maxEvaluations && !converged; round++) {
    const theta0 = pack(current, layout);
    const { J, value: before } = inverseRoot(statistics, current, layout, passes);
    best = before;
    const objective = (x: Float64Array, gx: Float64Array): number => {
      const trial = unpack(shifted(theta0, J, x), layout);
      const value = passes.score(trial, score);
      factorGradient(trial, score, d, gradientL);
      packGradient(score.residual, score.logNoiseVariance, gradientL, trial.noiseVariance, layout, gradient);
      for (let j = 0; j < n; j++) {
        let s = 0;
        for (let k = 0; k <= j; k++) s += J[j * n + k] * gradient[k];
        gx[j] = s;
      }
      evaluations++;
      if (value > best) {
        best = value;
        trace.push(value);
      }
      onEvaluation?.(evaluations, best);
      return value;
    };
    const lower = new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
    const noise = mean.numFree;
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
      const raised = leaveSaddle(statistics, current, mean, tolerance);
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
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  mean: MeanProblem,
  tolerance: number,
): { parameters: LowRankParameters; logLikelihood: number } | undefined {
  const d = statistics.basis.numBasis;
  const r = parameters.rank;
  if (numericalRank(parameters.factor, d, r) === r) return undefined;
  const score = createScore(d);
  const value = logLikelihoodScore(statistics, parameters, mean.gram, score, createLowRankWorkspace(d, r));
  const { values, vectors } = symmetricEigen(score.covariance, d);
  if (!(values[0] > tolerance)) return undefined;
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

/** How θ is laid out: free mean coefficients, log σ², then the entries of L listed. */
interface Layout {
  readonly mean: MeanProblem;
  /** Positions in L [d,r] on or below the diagonal, column by column. */
  readonly entries: Int32Array;
  readonly d: number;
  readonly r: number;
}

function lowerEntries(d: number, r: number): Int32Array {
  const entries: number[] = [];
  for (let a = 0; a < r; a++) for (let k = a; k < d; k++) entries.push(k * r + a);
  return Int32Array.from(entries);
}

function pack(parameters: LowRankParameters, { mean, entries }: Layout): Float64Array {
  const theta = new Float64Array(mean.numFree + 1 + entries.length);
  theta.set(parameters.meanCoefficients.subarray(0, mean.numFree));
  theta[mean.numFree] = Math.log(parameters.noiseVariance);
  for (let j = 0; j < entries.length; j++) theta[mean.numFree + 1 + j] = parameters.factor[entries[j]];
  return theta;
}

function unpack(theta: Float64Array, { mean, entries, d, r }: Layout): LowRankParameters {
  const factor = new Float64Array(d * r);
  for (let j = 0; j < entries.length; j++) factor[entries[j]] = theta[mean.numFree + 1 + j];
  return {
    meanCoefficients: mean.kind === "scalar" ? new Float64Array(d).fill(theta[0]) : theta.slice(0, d),
    noiseVariance: Math.exp(theta[mean.numFree]),
    factor,
    rank: r,
  };
}

/** θ₀ + J'x for the lower triangular J [n,n]. */
function shifted(theta0: Float64Array, J: Float64Array, x: Float64Array): Float64Array {
  const n = x.length;
  const theta = theta0.slice();
  for (let j = 0; j < n; j++) for (let k = 0; k <= j; k++) theta[k] += J[j * n + k] * x[j];
  return theta;
}

/** The gradient in θ from E, ∂/∂log σ² and ∂/∂L. */
function packGradient(
  E: Float64Array,
  logNoiseVariance: number,
  gradientL: Float64Array,
  sigma2: number,
  { mean, entries, d }: Layout,
  out: Float64Array,
): void {
  out.fill(0, 0, mean.numFree);
  for (let k = 0; k < d; k++) out[mean.kind === "scalar" ? 0 : k] += E[k] / sigma2;
  out[mean.numFree] = logNoiseVariance;
  for (let j = 0; j < entries.length; j++) out[mean.numFree + 1 + j] = gradientL[entries[j]];
}

/** J = R⁻¹ with I = RR' the complete-data information of θ, lower triangular [n,n]; and the log-likelihood there. */
function inverseRoot(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  layout: Layout,
  passes: LinearPasses,
): { J: Float64Array; value: number } {
  const { mean, entries, d, r } = layout;
  const sigma2 = parameters.noiseVariance;
  const { secondMoment: H, firstMoment: K, logLikelihood: value } = passes.rankSums(parameters);
  const first = mean.numFree + 1;
  const n = first + entries.length;
  const scalar = mean.kind === "scalar";
  const information = new Float64Array(n * n);
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) information[scalar ? 0 : k * n + l] += mean.gram[k * d + l] / sigma2;
  }
  information[mean.numFree * n + mean.numFree] = statistics.numObservations / 2;
  for (let j = 0; j < entries.length; j++) {
    const row = (first + j) * n;
    const k = Math.floor(entries[j] / r);
    const a = entries[j] % r;
    for (let l = 0; l < d; l++) information[row + (scalar ? 0 : l)] += K[(a * d + k) * d + l] / sigma2;
    for (let h = 0; h <= j; h++) {
      const l = Math.floor(entries[h] / r);
      const c = entries[h] % r;
      information[row + first + h] = H[(a * d + k) * r * d + c * d + l] / sigma2;
    }
  }
  return { J: invertLower(ridgedRoot(information, n), n), value };
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
