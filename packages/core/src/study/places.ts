/** Places under several models side by side, as the tests of association want them. */

import type { Representation } from "../associate/prepare.ts";
import { type Cohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { isMapModel, modelMixture, type TrajectoryModel } from "../models/model.ts";
import { drawLocations, placeIndividual } from "../models/place.ts";
import type { Placements } from "../models/placement.ts";
import { choleskyInPlace } from "../numeric/cholesky.ts";
import { createRandom } from "../numeric/random.ts";

/** A model with the places of the study's individuals, all models in the same order of individuals. */
export interface PlacedModel {
  readonly model: TrajectoryModel;
  readonly placements: Placements;
}

/** Name of a model among the representations of a study: maps of both kinds are "dtm". */
export function representationName(model: TrajectoryModel): "lmm" | "fpca" | "dtm" {
  return isMapModel(model) ? "dtm" : model.kind;
}

/**
 * The representations of a study: baselines first, then the study's own model with draws from the posterior of its
 * places (a second look at results that rest on shrunken means). A baseline of the model's own kind is left out.
 */
export function representationsOf(
  study: PlacedModel,
  baselines: readonly PlacedModel[],
  cohort: Cohort,
  options: { readonly numDraws?: number; readonly seed?: number } = {},
): Representation[] {
  const { numDraws = 5, seed = 1 } = options;
  const own = representationName(study.model);
  const others = baselines
    .map(({ model, placements }) => ({ name: representationName(model), locations: placements.location }))
    .filter(({ name }) => name !== own);
  const draws = drawPlaces(study, cohort, numDraws, seed);
  return [...others, { name: own, locations: study.placements.location, draws }];
}

/** Individuals up to which draws come from the exact posteriors; above, from Gaussians with the same moments. */
const EXACT_LIMIT = 2000;

/** Draws of everyone's place, [m,q] each: from the exact posterior for maps of few, Gaussian otherwise. */
function drawPlaces({ model, placements }: PlacedModel, cohort: Cohort, numDraws: number, seed: number) {
  const q = model.mapDimension;
  const m = numIndividuals(cohort);
  const { offsets, times, values } = onlyMarker(cohort);
  const random = createRandom(seed);
  const sets = Array.from({ length: numDraws }, () => new Float64Array(m * q));
  const mixture = isMapModel(model) && m <= EXACT_LIMIT ? modelMixture(model) : null;
  for (let i = 0; i < m; i++) {
    let places: Float64Array;
    if (mixture === null) {
      const mean = placements.location.subarray(i * q, (i + 1) * q);
      const covariance = placements.covariance.subarray(i * q * q, (i + 1) * q * q);
      places = drawGaussian(mean, covariance, q, numDraws, () => random.normal());
    } else {
      const [from, to] = [offsets[i], offsets[i + 1]];
      const history = { times: times.subarray(from, to), values: values.subarray(from, to) };
      places = drawLocations(model, placeIndividual(model, history, { mixture }), numDraws, random);
    }
    sets.forEach((set, s) => {
      set.set(places.subarray(s * q, (s + 1) * q), i * q);
    });
  }
  return sets;
}

/** n draws of N(mean, S), [n,q]; at the mean where S has no factor (a direction without variance). */
function drawGaussian(mean: Float64Array, S: Float64Array, q: number, n: number, normal: () => number): Float64Array {
  const L = S.slice();
  if (!choleskyInPlace(L, q)) L.fill(0);
  const out = new Float64Array(n * q);
  const z = new Float64Array(q);
  for (let s = 0; s < n; s++) {
    for (let c = 0; c < q; c++) z[c] = normal();
    for (let a = 0; a < q; a++) {
      out[s * q + a] = mean[a];
      for (let c = 0; c <= a; c++) out[s * q + a] += L[a * q + c] * z[c];
    }
  }
  return out;
}
