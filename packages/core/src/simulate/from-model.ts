/**
 * New individuals drawn from a fitted model at the visit times of a design cohort: place from the prior (shifted by covariates where the
 * model says so), coefficients of every marker from the model at that place, values with measurement noise around the mean of the
 * individual. Used to check coverage and power.
 */

import { evaluateActive } from "../basis/bspline.ts";
import { type Cohort, checkCohort, makeCohort, numIndividuals } from "../cohort/cohort.ts";
import { markerScale } from "../cohort/marker.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { checkGiven, checkNames, checkOption } from "../errors.ts";
import { codedFor, partsFor, shiftTerms } from "../models/covariate-model.ts";
import { deviationDecoder } from "../models/decoder.ts";
import { checkModel, type MarkerModel, viewMarker } from "../models/fit.ts";
import { linearParameters } from "../models/linear/scores.ts";
import { numCoefficients } from "../models/linear/stack.ts";
import { isMapModel, type MapModel, type TrajectoryModel } from "../models/model.ts";
import { showLocation } from "../models/orient.ts";
import { drawNoise } from "../noise/noise.ts";
import { cholesky } from "../numeric/cholesky.ts";
import { createRandom, type Random } from "../numeric/random.ts";

export interface ModelSimulation {
  /** Markers in the order of the model, with the covariates of the design. */
  readonly cohort: Cohort;
  /** True places in the shown frame, [m,q]; empty for LMM and FPCA. */
  readonly locations: Float64Array;
  /** True coefficients (deviations from the individual's mean), markers one after another, [m,D]. */
  readonly coefficients: Float64Array;
}

/**
 * Simulates the values of a design cohort (its ids, times and covariates are kept, its values are not read).
 * @throws DtmError "option" for a design without a marker of the model, "missing-covariate" for one without its covariates.
 * @example
 * const { cohort } = simulateFromModel(model, design, { seed: 1 });
 */
export function simulateFromModel(
  model: TrajectoryModel,
  design: Cohort,
  options: { readonly seed?: number } = {},
): ModelSimulation {
  checkModel("simulateFromModel", model);
  checkCohort("simulateFromModel", design);
  checkGiven("simulateFromModel", { options });
  checkNames("simulateFromModel", options, ["seed"]);
  const { seed = 1 } = options;
  checkOption(Number.isFinite(seed), "simulateFromModel", "a number as seed", seed, "Use 1.");
  const random = createRandom(seed);
  const m = numIndividuals(design);
  const D = numCoefficients(model.markers);
  const q = isMapModel(model) ? model.mapDimension : 0;
  const locations = new Float64Array(m * q);
  const coefficients = new Float64Array(m * D);
  const coded = codedFor(model, design);
  const shifts = coded === null ? null : shiftTerms(model, coded);
  const draw = isMapModel(model) ? placeSampler(model) : linearSampler(model);
  const markers = model.markers.map((part, k) => markerDraws(model, design, part, k));
  let from = 0;
  const starts = model.markers.map(({ basis }) => {
    from += basis.numBasis;
    return from - basis.numBasis;
  });
  for (let i = 0; i < m; i++) {
    const x = Float64Array.from({ length: q }, (_, a) => random.normal() + (shifts === null ? 0 : shifts[i * q + a]));
    if (isMapModel(model)) locations.set(showLocation(model.orientation, x, q), i * q);
    const w = coefficients.subarray(i * D, (i + 1) * D);
    draw(x, random, w);
    for (const [k, marker] of markers.entries()) {
      marker.drawValues(i, w.subarray(starts[k], starts[k] + model.markers[k].basis.numBasis), random);
    }
  }
  const drawn = markers.map(({ cohort }) => cohort());
  const { covariates } = design;
  const cohort = drawn.length === 1 ? drawn[0] : combineMarkers(drawn);
  return { cohort: { ...cohort, ...(covariates && { covariates }) }, locations, coefficients };
}

/** The values of marker k, drawn individual by individual, and their cohort. */
function markerDraws(model: TrajectoryModel, design: Cohort, own: MarkerModel, k: number) {
  const series = design.markers.find(({ marker }) => model.markers.length === 1 || marker.name === own.marker.name);
  const names = design.markers.map(({ marker }) => marker.name).join(", ");
  const remedy = "Give visits of every marker of the model.";
  checkOption(series !== undefined, "simulateFromModel", `visits of ${own.marker.name}`, `those of ${names}`, remedy);
  const { marker, offsets, times } = series!;
  const partOf = partsFor(model, design, k);
  const ids: string[] = [];
  const values = new Float64Array(times.length);
  const active = new Float64Array(own.basis.degree + 1);
  const value = markerScale(own.marker);
  return {
    cohort: () => makeCohort({ ids, times, values }, marker),
    drawValues(i: number, w: Float64Array, random: Random): void {
      const { coefficients: mean } = partOf(i).mean;
      const noise = drawNoise(own.noise, times.subarray(offsets[i], offsets[i + 1]), random);
      for (let j = offsets[i]; j < offsets[i + 1]; j++) {
        const first = evaluateActive(own.basis, times[j], active);
        let y = noise[j - offsets[i]];
        for (let c = 0; c <= own.basis.degree; c++) y += active[c] * (w[first + c] + mean[first + c]);
        ids.push(design.ids[i]);
        values[j] = value(y);
      }
    },
  };
}

type Sampler = (x: Float64Array, random: Random, out: Float64Array) => void;

/** Draws w ~ N(f̄_k(x), Cov f_k(x) + Σ_e,k) of each marker at places x of the fit's frame. */
function placeSampler(model: MapModel): Sampler {
  const samplers = model.markers.map(({ basis: { numBasis: d } }, k): Sampler => {
    const decode = deviationDecoder(viewMarker(model, k));
    const mean = new Float64Array(d);
    const covariance = new Float64Array(d * d);
    return (x, random, out) => {
      decode(x, mean, covariance);
      let total = 0;
      for (let a = 0; a < d; a++) total += covariance[a * d + a];
      for (let a = 0; a < d; a++) covariance[a * d + a] += 1e-12 * total + Number.MIN_VALUE;
      drawNormalInto(cholesky(covariance, d, "covariance of the coefficients"), d, d, random, out);
      for (let a = 0; a < d; a++) out[a] += mean[a];
    };
  });
  return (x, random, out) => {
    let from = 0;
    for (const [k, sample] of samplers.entries()) {
      const { numBasis } = model.markers[k].basis;
      sample(x, random, out.subarray(from, from + numBasis));
      from += numBasis;
    }
  };
}

/** Draws w ~ N(0, FF') of all markers. */
function linearSampler(model: Exclude<TrajectoryModel, MapModel>): Sampler {
  const { factor, rank } = linearParameters(model);
  return (_, random, out) => drawNormalInto(factor, out.length, rank, random, out);
}

/** out = F z, z ~ N(0, I), for a factor F [d,r]; d normals are drawn whatever the rank. */
function drawNormalInto(F: Float64Array, d: number, r: number, random: Random, out: Float64Array): void {
  const z = Float64Array.from({ length: d }, () => random.normal());
  for (let a = 0; a < d; a++) {
    out[a] = 0;
    for (let b = 0; b < r; b++) out[a] += F[a * r + b] * z[b];
  }
}
