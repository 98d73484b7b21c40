/**
 * Draws from everybody's posterior of the place: for maps from the exact weights on nodes, uniform within the cell; for linear models
 * from the Gaussian.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { priorsOf, statisticsFor } from "../models/covariate-model.ts";
import { isMapModel, type TrajectoryModel } from "../models/model.ts";
import { drawLocations, keptFor } from "../models/place.ts";
import type { Placements } from "../models/placement.ts";
import { choleskyInPlace } from "../numeric/cholesky.ts";
import { createRandom, type Random } from "../numeric/random.ts";

/** `numDraws` places of each individual of a cohort in the shown frame, [m,numDraws,q]; `places` are its places under the model. */
export function drawPlaces(
  model: TrajectoryModel,
  cohort: Cohort,
  places: Pick<Placements, "location" | "covariance" | "mapDimension">,
  numDraws: number,
  seed: number,
): Float64Array {
  const q = places.mapDimension;
  const m = cohort.ids.length;
  const out = new Float64Array(m * numDraws * q);
  const random = createRandom(seed);
  const drawOf = isMapModel(model) ? nodeDraws() : gaussianDraws();
  for (let i = 0; i < m; i++) out.set(drawOf(i, random), i * numDraws * q);
  return out;

  function nodeDraws() {
    const { condition } = keptFor(model);
    const priors = priorsOf(model, cohort);
    const statistics = statisticsFor(model, cohort);
    return (i: number, random: Random) => {
      const [posterior] = condition(statistics, i, priors(i));
      return drawLocations(model, { posterior }, numDraws, random);
    };
  }

  function gaussianDraws() {
    return (i: number, random: Random) => {
      const L = places.covariance.slice(i * q * q, (i + 1) * q * q);
      const spread = choleskyInPlace(L, q);
      const draws = new Float64Array(numDraws * q);
      for (let s = 0; s < numDraws; s++) {
        const z = Float64Array.from({ length: q }, () => random.normal());
        for (let a = 0; a < q; a++) {
          let x = places.location[i * q + a];
          for (let b = 0; b <= a && spread; b++) x += L[a * q + b] * z[b];
          draws[s * q + a] = x;
        }
      }
      return draws;
    };
  }
}
