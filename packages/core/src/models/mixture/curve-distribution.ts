/**
 * The distribution of a linear functional b'(β + w) of an individual's curve under its posterior: value at a time
 * (b = basis row) or slope (b = derivative row), with or without measurement noise.
 */
import type { NormalMixture } from "./normal-mixture.ts";
import type { NodeChoice } from "./place.ts";
import type { CoefficientPosterior } from "./posterior.ts";

/**
 * Mixture of N(b'(β + m_k), b'S_k b + noise) over the posterior's nodes, or over some of them; row = b at
 * rows[offset..offset+d].
 */
export function functionalDistribution(
  posterior: CoefficientPosterior,
  meanCoefficients: Float64Array,
  rows: Float64Array,
  offset: number,
  noiseVariance: number,
  choice?: NodeChoice,
): NormalMixture {
  const d = meanCoefficients.length;
  const { weights } = choice ?? posterior;
  const K = weights.length;
  const { means: m, covariances: S } = posterior;
  const means = new Float64Array(K);
  const sds = new Float64Array(K);
  let level = 0;
  for (let a = 0; a < d; a++) level += rows[offset + a] * meanCoefficients[a];
  // Few splines are above zero at one time: b vanishes outside first..last.
  let first = 0;
  while (first < d - 1 && rows[offset + first] === 0) first++;
  let last = d - 1;
  while (last > first && rows[offset + last] === 0) last--;
  for (let r = 0; r < K; r++) {
    const k = choice === undefined ? r : choice.positions[r];
    const mo = k * d;
    let mean = level;
    let variance = noiseVariance;
    for (let a = first; a <= last; a++) {
      const b = rows[offset + a];
      mean += b * m[mo + a];
      const so = (mo + a) * d;
      let s = 0.5 * b * S[so + a];
      for (let c = first; c < a; c++) s += S[so + c] * rows[offset + c];
      variance += 2 * b * s;
    }
    means[r] = mean;
    sds[r] = Math.sqrt(Math.max(variance, Number.MIN_VALUE));
  }
  return { weights, means, sds };
}
