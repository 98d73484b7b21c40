/**
 * New individuals drawn from a fitted model at the visit times of a design cohort: place from the prior, coefficients
 * from the model at that place, values with measurement noise. Used to check coverage and power.
 */

import { evaluateActive } from "../basis/bspline.ts";
import { type Cohort, makeCohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { markerScale } from "../cohort/marker.ts";
import { deviationDecoder } from "../models/decoder.ts";
import { markerModel } from "../models/fit.ts";
import { isMapModel, type MapModel, modelMixture, type TrajectoryModel } from "../models/model.ts";
import { showLocation } from "../models/orient.ts";
import { drawNoise } from "../noise/noise.ts";
import { cholesky } from "../numeric/cholesky.ts";
import { createRandom, type Random } from "../numeric/random.ts";

export interface ModelSimulation {
  readonly cohort: Cohort;
  /** True places in the shown frame, [m,q]; empty for LMM and FPCA. */
  readonly locations: Float64Array;
  /** True coefficients (deviations from the population mean), [m,d]. */
  readonly coefficients: Float64Array;
}

/**
 * Simulates the values of a design cohort (its ids and times are kept, its values are not read).
 * @throws DtmError "several-markers" for a design of more than one marker.
 * @example
 * const { cohort } = simulateFromModel(model, design, { seed: 1 });
 */
export function simulateFromModel(
  model: TrajectoryModel,
  design: Cohort,
  options: { readonly seed?: number } = {},
): ModelSimulation {
  const own = markerModel(model);
  const random = createRandom(options.seed ?? 1);
  const { marker, offsets, times } = onlyMarker(design);
  const m = numIndividuals(design);
  const d = own.basis.numBasis;
  const q = isMapModel(model) ? model.mapDimension : 0;
  const locations = new Float64Array(m * q);
  const coefficients = new Float64Array(m * d);
  const drawAt = isMapModel(model) ? placeSampler(model) : null;
  const linear = isMapModel(model) ? null : modelMixture(model).factors;
  const ids: string[] = [];
  const values = new Float64Array(times.length);
  const active = new Float64Array(own.basis.degree + 1);
  const value = markerScale(own.marker);
  for (let i = 0; i < m; i++) {
    const id = design.ids[i];
    const w = coefficients.subarray(i * d, (i + 1) * d);
    if (linear !== null) {
      drawNormalInto(linear, d, random, w);
    } else if (drawAt !== null) {
      const x = Float64Array.from({ length: q }, () => random.normal());
      locations.set(showLocation(model.orientation, x, q), i * q);
      drawAt(x, random, w);
    }
    const noise = drawNoise(own.noise, times.subarray(offsets[i], offsets[i + 1]), random);
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      const first = evaluateActive(own.basis, times[j], active);
      let y = noise[j - offsets[i]];
      for (let k = 0; k <= own.basis.degree; k++) y += active[k] * (w[first + k] + own.mean.coefficients[first + k]);
      ids.push(id);
      values[j] = value(y);
    }
  }
  return { cohort: makeCohort({ ids, times, values }, marker), locations, coefficients };
}

/** Draws w ~ N(f̄(x), Cov f(x) + Σ_e) at places x of the fit's frame. */
function placeSampler(model: MapModel): (x: Float64Array, random: Random, out: Float64Array) => void {
  const d = markerModel(model).basis.numBasis;
  const decode = deviationDecoder(model);
  const mean = new Float64Array(d);
  const covariance = new Float64Array(d * d);
  return (x, random, out) => {
    decode(x, mean, covariance);
    let total = 0;
    for (let a = 0; a < d; a++) total += covariance[a * d + a];
    for (let a = 0; a < d; a++) covariance[a * d + a] += 1e-12 * total + Number.MIN_VALUE;
    drawNormalInto(cholesky(covariance, d, "covariance of the coefficients"), d, random, out);
    for (let a = 0; a < d; a++) out[a] += mean[a];
  };
}

/** out = L z, z ~ N(0, I), for a root L [d,d]. */
function drawNormalInto(L: Float64Array, d: number, random: Random, out: Float64Array): void {
  const z = Float64Array.from({ length: d }, () => random.normal());
  for (let a = 0; a < d; a++) {
    out[a] = 0;
    for (let b = 0; b < d; b++) out[a] += L[a * d + b] * z[b];
  }
}
