/**
 * Several starts of one fit (docs/math/dtm.md §9): FPCA posterior, then principal component scores, then random places.
 * The bound can have several maxima with maps of different shape; the largest wins, and the fit says so when another
 * start found a different map whose bound is almost as large.
 */
import { procrustes } from "../../numeric/procrustes.ts";
import { createRandom } from "../../numeric/random.ts";
import type { MapStart } from "../map-start.ts";
import { placesFromPosterior, placesWithSpread, type StartingPlaces } from "./starting-places.ts";

/** Spread of a start from point guesses. */
const POINT_SPREAD = 0.3;
/** Below this Procrustes R² two maps count as different; within this many units of log evidence as equally good. */
const SAME_MAP = 0.9;
const SIMILAR_BOUND = 2;

/** Places of the start with the given index: 0 FPCA, 1 principal component scores, from 2 on random. */
export function startingPlaces(start: MapStart, index: number, q: number, seed: number): StartingPlaces {
  if (index === 0) return placesFromPosterior(start.locationMean, start.locationCovariance, q);
  if (index === 1) return placesWithSpread(start.scores, q, POINT_SPREAD);
  // Each random start has its own stream, so that it does not depend on how many came before.
  const random = createRandom(seed + 1000003 * (index - 1));
  return placesWithSpread(
    start.scores.map(() => random.normal()),
    q,
    POINT_SPREAD,
  );
}

/** The start with the given index, in words. */
export function startName(index: number): string {
  if (index === 0) return "the FPCA start";
  return index === 1 ? "principal component scores" : `random places ${index - 1}`;
}

/** What is kept of a finished start for comparison. */
export interface FinishedStart {
  readonly index: number;
  readonly bound: number;
  /** Means of the places, [m,q]. */
  readonly places: Float64Array;
}

/** A sentence for each start whose map differs from the best one although its bound is within 2 of it. */
export function differentMaps(finished: readonly FinishedStart[], best: FinishedStart, q: number): string[] {
  return finished
    .filter((other) => other !== best && best.bound - other.bound <= SIMILAR_BOUND)
    .map((other) => ({ other, agreement: agreementOf(best.places, other.places, q) }))
    .filter(({ agreement }) => agreement < SAME_MAP)
    .map(
      ({ other, agreement }) =>
        `The start from ${startName(other.index)} found a different map (Procrustes R² ${agreement.toFixed(2)}) whose bound is only ${(best.bound - other.bound).toFixed(2)} lower: do not read much into the shape of the map.`,
    );
}

/** Procrustes R² of two configurations [m,q]. */
function agreementOf(X: Float64Array, Y: Float64Array, q: number): number {
  return procrustes(X, Y, X.length / q, q).rSquared;
}
