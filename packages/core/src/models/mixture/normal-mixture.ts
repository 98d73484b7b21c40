/**
 * One-dimensional mixtures of normals, the predictive distribution of a value at one time:
 *   F(y) = Σ_k w_k Φ((y − m_k)/s_k).
 * Moments, density and score in closed form; quantiles are in quantiles.ts.
 */
import { LOG_2PI, normalCdf } from "../../numeric/special.ts";

export interface NormalMixture {
  /** Weights, summing to one, [K]. */
  readonly weights: Float64Array;
  readonly means: Float64Array;
  /** Standard deviations, positive. */
  readonly sds: Float64Array;
}

export function mixtureMean(mixture: NormalMixture): number {
  let s = 0;
  for (let k = 0; k < mixture.weights.length; k++) s += mixture.weights[k] * mixture.means[k];
  return s;
}

export function mixtureVariance(mixture: NormalMixture): number {
  const mean = mixtureMean(mixture);
  let s = 0;
  for (let k = 0; k < mixture.weights.length; k++) {
    const e = mixture.means[k] - mean;
    s += mixture.weights[k] * (e * e + mixture.sds[k] * mixture.sds[k]);
  }
  return s;
}

/** P(Y ≤ y). */
export function mixtureCdf(mixture: NormalMixture, y: number): number {
  let s = 0;
  for (let k = 0; k < mixture.weights.length; k++) {
    s += mixture.weights[k] * normalCdf((y - mixture.means[k]) / mixture.sds[k]);
  }
  return s;
}

/** log density at y, by log-sum-exp, so that far tails stay finite. */
export function mixtureLogDensity(mixture: NormalMixture, y: number): number {
  const { weights, means, sds } = mixture;
  let max = Number.NEGATIVE_INFINITY;
  const term = (k: number): number => {
    const z = (y - means[k]) / sds[k];
    return Math.log(weights[k]) - 0.5 * z * z - Math.log(sds[k]);
  };
  for (let k = 0; k < weights.length; k++) max = Math.max(max, term(k));
  let s = 0;
  for (let k = 0; k < weights.length; k++) s += Math.exp(term(k) - max);
  return max + Math.log(s) - 0.5 * LOG_2PI;
}

/**
 * Continuous ranked probability score of an observation y (smaller is better), closed form for normal mixtures
 * (Grimit et al. 2006): E|Y − y| − ½ E|Y − Y'|, with A(m, s) = m(2Φ(m/s) − 1) + 2sφ(m/s).
 */
export function mixtureCrps(mixture: NormalMixture, y: number): number {
  const { weights, means, sds } = mixture;
  let first = 0;
  let second = 0;
  for (let k = 0; k < weights.length; k++) {
    first += weights[k] * foldedMean(y - means[k], sds[k]);
    for (let l = 0; l <= k; l++) {
      const pair = foldedMean(means[k] - means[l], Math.hypot(sds[k], sds[l]));
      second += (k === l ? 1 : 2) * weights[k] * weights[l] * pair;
    }
  }
  return first - 0.5 * second;
}

/** E|X| for X ~ N(m, s²). */
function foldedMean(m: number, s: number): number {
  const z = m / s;
  return m * (2 * normalCdf(z) - 1) + 2 * s * Math.exp(-0.5 * z * z - 0.5 * LOG_2PI);
}

/** The mixture without components lighter than `minWeight`, renormalised. */
export function pruneMixture(mixture: NormalMixture, minWeight: number): NormalMixture {
  const kept: number[] = [];
  let total = 0;
  for (let k = 0; k < mixture.weights.length; k++) {
    if (mixture.weights[k] >= minWeight) {
      kept.push(k);
      total += mixture.weights[k];
    }
  }
  return {
    weights: Float64Array.from(kept, (k) => mixture.weights[k] / total),
    means: Float64Array.from(kept, (k) => mixture.means[k]),
    sds: Float64Array.from(kept, (k) => mixture.sds[k]),
  };
}
