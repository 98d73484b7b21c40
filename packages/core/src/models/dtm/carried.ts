/**
 * How much of the variance of a marker places carry, averaged over observed times (docs/math/evaluation.md §4):
 *   carried = Tr(Ḡ Cov f̄), the covariance of f̄(x) taken over the prior of places;
 *   signal  = carried / (carried + Tr(Ḡ Σ_e) + σ²), of a single value.
 */
import { measurementVariance } from "../../noise/noise.ts";
import { mapMeans } from "../gp/sparse-map.ts";
import type { DtmModel } from "./model.ts";

/** Tr(Ḡ Cov f̄) of coefficients at nodes, f_k(x_g) at [k·stride.basis + g·stride.node]. */
export function carriedVariance(
  f: Float64Array,
  stride: { readonly basis: number; readonly node: number },
  logWeights: Float64Array,
  gram: Float64Array,
): number {
  const d = Math.round(Math.sqrt(gram.length));
  const mean = new Float64Array(d);
  const second = new Float64Array(d * d);
  for (let g = 0; g < logWeights.length; g++) {
    const weight = Math.exp(logWeights[g]);
    for (let k = 0; k < d; k++) {
      const fk = f[k * stride.basis + g * stride.node];
      mean[k] += weight * fk;
      for (let l = 0; l < d; l++) second[k * d + l] += weight * fk * f[l * stride.basis + g * stride.node];
    }
  }
  let carried = 0;
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) carried += gram[k * d + l] * (second[k * d + l] - mean[k] * mean[l]);
  }
  return Math.max(carried, 0);
}

/** Tr(Ḡ Σ). */
export function residualVariance(gram: Float64Array, covariance: Float64Array): number {
  let sum = 0;
  for (let e = 0; e < gram.length; e++) sum += gram[e] * covariance[e];
  return sum;
}

/** The signal of each marker, between 0 and 1. */
export function signalShares({ markers, nodes }: DtmModel): number[] {
  return markers.map(({ map, residual, noise, averageGram }) => {
    const f = mapMeans(map, nodes.locations, nodes.logWeights.length);
    const carried = carriedVariance(f, { basis: 1, node: map.numBasis }, nodes.logWeights, averageGram);
    const rest = residualVariance(averageGram, residual.covariance) + measurementVariance(noise);
    return carried > 0 ? carried / (carried + rest) : 0;
  });
}
