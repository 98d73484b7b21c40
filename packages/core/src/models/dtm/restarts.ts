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

/** A finished start beside the best one. */
export interface StartResult {
  /** Where it started from, in words. */
  readonly name: string;
  readonly bound: number;
  /** Procrustes R² of its places with those of the best start. */
  readonly agreement: number;
  /** Whether it found the map of the best start: an agreement of 0.9 or more. */
  readonly sameMap: boolean;
  /** Whether its bound is within 2 units of log evidence of the best. */
  readonly similarBound: boolean;
}

/** The finished starts, the best first, each compared with the best. */
export function compareStarts(finished: readonly FinishedStart[], q: number): StartResult[] {
  const starts = [...finished].sort((a, b) => b.bound - a.bound);
  return starts.map(({ index, bound, places }) => {
    const best = starts[0];
    const agreement = procrustes(best.places, places, best.places.length / q, q).rSquared;
    const similarBound = best.bound - bound <= SIMILAR_BOUND;
    return { name: startName(index), bound, agreement, sameMap: agreement >= SAME_MAP, similarBound };
  });
}

/** A sentence for each start whose map differs from the best one although its bound is within 2 of it. */
export function differentMaps(finished: readonly FinishedStart[], q: number): string[] {
  const [best, ...others] = compareStarts(finished, q);
  return others
    .filter(({ sameMap, similarBound }) => similarBound && !sameMap)
    .map(
      ({ name, agreement, bound }) =>
        `The start from ${name} found a different map (Procrustes R² ${agreement.toFixed(2)}) whose bound is only ${(best.bound - bound).toFixed(2)} lower: do not read much into the shape of the map.`,
    );
}
