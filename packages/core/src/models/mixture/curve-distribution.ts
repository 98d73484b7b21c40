/**
 * The distribution of a linear functional b'(β + w) of an individual's curve under its posterior: value at a time
 * (b = basis row) or slope (b = derivative row), with or without the variance of a measurement added.
 */
import type { NormalMixture } from "./normal-mixture.ts";
import type { CoefficientPosterior } from "./posterior.ts";

/** Mixture of N(b'(β + m_k), b'S_k b + added variance) over the posterior's nodes; b at rows[offset..offset+d). */
export function functionalDistribution(
  { weights, means: m, covariances: S }: CoefficientPosterior,
  meanCoefficients: Float64Array,
  rows: Float64Array,
  offset: number,
  addedVariance: number,
): NormalMixture {
  const d = meanCoefficients.length;
  const K = weights.length;
  const means = new Float64Array(K);
  const sds = new Float64Array(K);
  // Few splines are above zero at one time.
  const active = Array.from({ length: d }, (_, a) => a).filter((a) => rows[offset + a] !== 0);
  for (let k = 0; k < K; k++) {
    let mean = 0;
    let variance = addedVariance;
    for (const a of active) {
      const b = rows[offset + a];
      mean += b * (meanCoefficients[a] + m[k * d + a]);
      let s = 0;
      for (const c of active) s += S[(k * d + a) * d + c] * rows[offset + c];
      variance += b * s;
    }
    means[k] = mean;
    sds[k] = Math.sqrt(Math.max(variance, Number.MIN_VALUE));
  }
  return { weights, means, sds };
}
