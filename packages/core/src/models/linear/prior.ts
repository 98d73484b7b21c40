/**
 * Weak priors of the linear models (docs/math/linear.md §8): without them the noise of a small cohort falls to 0, and its
 * covariance knows no other courses than those seen. They say what a few further data would,
 *   ν observations whose squared residuals average s:   −½ ν (s/σ² − 1 − log s/σ²),
 *   κ individuals, each coefficient seen with noise of variance ρ, ỹ = w + e, whose ỹ have the covariance tI:
 *                                                       −½ κ (Tr tP − d − log|tP|),   P = (LL' + ρI)⁻¹,
 * in the unit of the values: s is their variance about individuals' own straight lines, ρ = s, t = 2s. Both are 0 at most.
 * Because ỹ has noise, a singular Σ stays possible, and what the priors change falls with the number of individuals.
 */
import { weakNoisePrior } from "../../basis/noise-prior.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { logNoisePrior, NO_NOISE_PRIOR, type NoisePrior, noiseSlope } from "../../noise/noise.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { identity, multiply, multiplyTransposed, trace, transpose } from "../../numeric/matrix.ts";
import { factorCovariance } from "./canonical.ts";
import type { Score } from "./expectation.ts";
import type { LowRankParameters } from "./low-rank.ts";

/** κ: more would be felt in cohorts of 300. */
const NUM_INDIVIDUALS = 2;

export interface LinearPrior {
  readonly noise: NoisePrior;
  /** κ, ρ and t. */
  readonly covariance: { readonly count: number; readonly noise: number; readonly total: number };
}

export const NO_PRIOR: LinearPrior = { noise: NO_NOISE_PRIOR, covariance: { count: 0, noise: 1, total: 1 } };

/** The weak priors for values like these; their scale is at least `lowest`. */
export function weakPrior(statistics: BasisStatistics, lowest: number): LinearPrior {
  const noise = weakNoisePrior(statistics, lowest);
  return { noise, covariance: { count: NUM_INDIVIDUALS, noise: noise.level, total: 2 * noise.level } };
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
  { factor: L, rank: r, meanCoefficients }: LowRankParameters,
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
export function logPrior(prior: LinearPrior, parameters: LowRankParameters): number {
  return logNoisePrior(parameters.noise, prior.noise) + expectPrior(prior, parameters).logDensity;
}

/** ∂/∂Σ of the pseudo-individuals' log-density, ½κ(tP² − P), added to that of the likelihood, D [d,d]. */
export function addCovarianceGradient(prior: LinearPrior, parameters: LowRankParameters, D: Float64Array): void {
  const { count, total } = prior.covariance;
  const d = parameters.meanCoefficients.length;
  const { precision: P } = expectPrior(prior, parameters);
  const PP = multiply(P, P, d, d, d);
  for (let e = 0; e < D.length; e++) D[e] += 0.5 * count * (total * PP[e] - P[e]);
}

/** The score with the priors' part, which is that of their complete data (Fisher's identity). */
export function withPrior(prior: LinearPrior, parameters: LowRankParameters, score: Score): Score {
  const { factor: L, rank: r, noise, meanCoefficients } = parameters;
  const d = meanCoefficients.length;
  const { effects, cross } = expectPrior(prior, parameters);
  const explained = multiply(L, effects, d, r, r);
  const rho = prior.covariance.noise;
  return {
    ...score,
    logNoiseLevel: score.logNoiseLevel + noiseSlope(noise, 0, 0, prior.noise),
    factor: transpose(cross, r, d).map((c, e) => score.factor[e] + (c - explained[e]) / rho),
  };
}
