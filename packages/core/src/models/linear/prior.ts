/**
 * Weak priors of the linear models (docs/math/linear.md §8): without them the noise of a small cohort falls to 0, and its
 * covariance knows no other courses than those seen. They say what a few further data would,
 *   ν observations whose squared residuals average s:   −½ ν (s/σ² − 1 − log s/σ²),
 *   κ individuals, each coefficient seen with noise of variance ρ, ỹ = w + e, whose ỹ have the covariance tI:
 *                                                       −½ κ (Tr tP − d − log|tP|),   P = (LL' + ρI)⁻¹,
 * in the unit of the values: s is their variance about individuals' own straight lines, ρ = s, t = 2s. Both are 0 at most. Several
 * markers each have their ν observations, and are measured in units in which s is the same for all (standardize.ts).
 * Because ỹ has noise, a singular Σ stays possible, and what the priors change falls with the number of individuals.
 */
import { weakNoisePrior } from "../../basis/noise-prior.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { logNoisePrior, NO_NOISE_PRIOR, type NoisePrior, noiseSlope } from "../../noise/noise.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { identity, multiply, multiplyTransposed, trace, transpose } from "../../numeric/matrix.ts";
import { factorCovariance } from "./canonical.ts";
import type { Score } from "./expectation.ts";
import type { LinearParameters } from "./stack.ts";

/** κ: more would be felt in cohorts of 300. */
const NUM_INDIVIDUALS = 2;

export interface LinearPrior {
  /** Of each marker. */
  readonly noises: readonly NoisePrior[];
  /** κ, ρ and t. */
  readonly covariance: { readonly count: number; readonly noise: number; readonly total: number };
}

/** None for a model of so many markers: maximum likelihood. */
export function noPrior(numMarkers: number): LinearPrior {
  const noises = new Array<NoisePrior>(numMarkers).fill(NO_NOISE_PRIOR);
  return { noises, covariance: { count: 0, noise: 1, total: 1 } };
}

/** The weak priors for values like these; their scale is at least `lowest`. */
export function weakPrior(statistics: readonly BasisStatistics[], lowest: readonly number[]): LinearPrior {
  const noises = statistics.map((own, k) => weakNoisePrior(own, lowest[k]));
  const { level } = noises[0];
  return { noises, covariance: { count: NUM_INDIVIDUALS, noise: level, total: 2 * level } };
}

/** What the pseudo-individuals are expected to have, added up. */
export interface PriorExpectation {
  /** log-density of their ỹ, relative to its highest. */
  readonly logDensity: number;
  readonly precision: Float64Array; // P [d,d]
  /** κ E vv' = κ (I − VL + tVV') with V = L'P, [r,r]. */
  readonly effects: Float64Array;
  /** κ E vỹ' = κ tV, [r,d]. */
  readonly cross: Float64Array;
}

export function expectPrior(
  { covariance: { count, noise, total } }: LinearPrior,
  { factor: L, rank: r, meanCoefficients }: LinearParameters,
): PriorExpectation {
  const d = meanCoefficients.length;
  const marginal = factorCovariance(L, d, r);
  for (let k = 0; k < d; k++) marginal[k * d + k] += noise;
  const root = cholesky(marginal, d, "covariance of the prior's individuals");
  const P = invertFromCholesky(root, d);
  const V = multiply(transpose(L, d, r), P, r, d, d);
  const VL = multiply(V, L, r, d, r);
  const VV = multiplyTransposed(V, V, r, d, r);
  return {
    logDensity: -0.5 * count * (total * trace(P, d) - d * (1 + Math.log(total)) + logDetFromCholesky(root, d)),
    precision: P,
    effects: identity(r).map((one, e) => count * (one - VL[e] + total * VV[e])),
    cross: V.map((v) => count * total * v),
  };
}

/** The log-density of the priors at the parameters, relative to its highest. */
export function logPrior(prior: LinearPrior, parameters: LinearParameters): number {
  const ofNoise = parameters.noises.reduce((sum, noise, k) => sum + logNoisePrior(noise, prior.noises[k]), 0);
  return ofNoise + expectPrior(prior, parameters).logDensity;
}

/** ∂/∂Σ of the pseudo-individuals' log-density, ½κ(tP² − P), added to that of the likelihood, D [d,d]. */
export function addCovarianceGradient(prior: LinearPrior, parameters: LinearParameters, D: Float64Array): void {
  const { count, total } = prior.covariance;
  const d = parameters.meanCoefficients.length;
  const { precision: P } = expectPrior(prior, parameters);
  const PP = multiply(P, P, d, d, d);
  for (let e = 0; e < D.length; e++) D[e] += 0.5 * count * (total * PP[e] - P[e]);
}

/** The score with the priors' part, which is that of their complete data (Fisher's identity). */
export function withPrior(prior: LinearPrior, parameters: LinearParameters, score: Score): Score {
  const { factor: L, rank: r, noises, meanCoefficients } = parameters;
  const d = meanCoefficients.length;
  const { effects, cross } = expectPrior(prior, parameters);
  const explained = multiply(L, effects, d, r, r);
  const rho = prior.covariance.noise;
  return {
    ...score,
    logNoiseLevels: score.logNoiseLevels.map((slope, k) => slope + noiseSlope(noises[k], 0, 0, prior.noises[k])),
    factor: transpose(cross, r, d).map((c, e) => score.factor[e] + (c - explained[e]) / rho),
  };
}
