/**
 * The distribution of a linear functional b'(β + w) of an individual's curve under its posterior: value at a time
 * (b = basis row) or slope (b = derivative row), with or without measurement noise.
 */

import type { NormalMixture } from "./normal-mixture.ts";
import type { CoefficientPosterior } from "./posterior.ts";

/** Mixture of N(b'(β + m_k), b'S_k b + noise) over the posterior's nodes; row = b at rows[offset..offset+d]. */
export function functionalDistribution(
  posterior: CoefficientPosterior,
  meanCoefficients: Float64Array,
  rows: Float64Array,
  offset: number,
  noiseVariance: number,
): NormalMixture {
  const d = meanCoefficients.length;
  const K = posterior.weights.length;
  const { means: m, covariances: S } = posterior;
  const means = new Float64Array(K);
  const sds = new Float64Array(K);
  let level = 0;
  for (let a = 0; a < d; a++) level += rows[offset + a] * meanCoefficients[a];
  for (let k = 0; k < K; k++) {
    let mean = level;
    let variance = noiseVariance;
    for (let a = 0; a < d; a++) {
      const b = rows[offset + a];
      if (b === 0) continue;
      mean += b * m[k * d + a];
      let s = 0;
      for (let c = 0; c < d; c++) s += S[(k * d + a) * d + c] * rows[offset + c];
      variance += b * s;
    }
    means[k] = mean;
    sds[k] = Math.sqrt(Math.max(variance, Number.MIN_VALUE));
  }
  return { weights: posterior.weights, means, sds };
}
