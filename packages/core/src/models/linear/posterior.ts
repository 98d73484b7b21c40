/**
 * Posterior of the individual effects of a linear model given its parameters (docs/math/linear.md §1):
 *   v_i | y_i ~ N(v̂_i, σ² A_i⁻¹),   w_i = L v_i.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkedWorkspace, factorIndividual, type LowRankParameters, notPositive, solvePosterior } from "./low-rank.ts";

/** Gaussian posteriors of vectors of length k, one per individual. */
export interface EffectPosterior {
  /** [m,k] */
  readonly mean: Float64Array;
  /** [m,k,k] */
  readonly covariance: Float64Array;
}

/** Posterior of v_i (for FPCA the place): N(v̂_i, σ² A_i⁻¹); [m,r] and [m,r,r]. */
export function effectPosterior(statistics: BasisStatistics, parameters: LowRankParameters): EffectPosterior {
  const ws = checkedWorkspace(statistics, parameters);
  const { r, P, v } = ws;
  const m = statistics.numIndividuals;
  const mean = new Float64Array(m * r);
  const covariance = new Float64Array(m * r * r);
  for (let i = 0; i < m; i++) {
    if (Number.isNaN(factorIndividual(statistics, i, parameters, ws))) throw notPositive(parameters);
    solvePosterior(ws);
    mean.set(v, i * r);
    for (let a = 0; a < r * r; a++) covariance[i * r * r + a] = parameters.noiseVariance * P[a];
  }
  return { mean, covariance };
}

/** Posterior means ŵ_i = Lv̂_i of the coefficients, [m,d]. */
export function coefficientMeans(statistics: BasisStatistics, parameters: LowRankParameters): Float64Array {
  const ws = checkedWorkspace(statistics, parameters);
  const { d, r, v } = ws;
  const L = parameters.factor;
  const m = statistics.numIndividuals;
  const mean = new Float64Array(m * d);
  for (let i = 0; i < m; i++) {
    if (Number.isNaN(factorIndividual(statistics, i, parameters, ws))) throw notPositive(parameters);
    solvePosterior(ws);
    for (let k = 0; k < d; k++) for (let a = 0; a < r; a++) mean[i * d + k] += L[k * r + a] * v[a];
  }
  return mean;
}

/** Posterior of the coefficients w_i = L v_i: N(Lv̂_i, σ² L A_i⁻¹ L'); [m,d] and [m,d,d]. */
export function coefficientPosterior(statistics: BasisStatistics, parameters: LowRankParameters): EffectPosterior {
  const d = statistics.basis.numBasis;
  const { rank: r, factor: L } = parameters;
  const m = statistics.numIndividuals;
  const v = effectPosterior(statistics, parameters);
  const mean = new Float64Array(m * d);
  const covariance = new Float64Array(m * d * d);
  const LV = new Float64Array(d * r);
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < d; k++) {
      for (let a = 0; a < r; a++) {
        mean[i * d + k] += L[k * r + a] * v.mean[i * r + a];
        let s = 0;
        for (let c = 0; c < r; c++) s += L[k * r + c] * v.covariance[(i * r + c) * r + a];
        LV[k * r + a] = s;
      }
    }
    for (let k = 0; k < d; k++) {
      for (let l = 0; l <= k; l++) {
        let s = 0;
        for (let a = 0; a < r; a++) s += LV[k * r + a] * L[l * r + a];
        covariance[(i * d + k) * d + l] = s;
        covariance[(i * d + l) * d + k] = s;
      }
    }
  }
  return { mean, covariance };
}
