/**
 * People like somebody, and what came next for them. Everybody is placed by what was known of them at the same time, so that nobody is
 * chosen by what is then told of them; two people are as alike as their posteriors overlap (Bhattacharyya's coefficient),
 *   BC = ∫ √(p q) = |S_a|^¼ |S_b|^¼ / |S|^½ · exp(−⅛ (m_a − m_b)' S⁻¹ (m_a − m_b)),   S = (S_a + S_b)/2,
 * 1 for the same posterior; somebody of whom little is known is like nobody in particular, however near the two means are.
 */
import { type Cohort, selectIndividuals, selectVisits } from "../cohort/cohort.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embedPlaces } from "../models/place.ts";
import type { Places } from "../models/placement.ts";
import { choleskyInPlace, logDetFromCholesky, solveLowerInPlace } from "../numeric/cholesky.ts";
import { dot } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";

/** Places as they were known at a time, with the position of each individual in the cohort; who had no visit yet is not among them. */
export interface PlacesKnown {
  readonly until: number;
  readonly places: Pick<Places, "location" | "covariance" | "mapDimension">;
  readonly positions: Int32Array; // [n]
}

/** A visit at the very time asked about counts, whatever was rounded. */
const SAME_TIME = 1e-9;

/** Individuals that somebody is compared with, at random where there are more: placing everybody anew takes a second then. */
const MOST_COMPARED = 20_000;

export function placesKnownAt(
  model: TrajectoryModel,
  cohort: Cohort,
  until: number,
  most = MOST_COMPARED,
): PlacesKnown {
  const m = cohort.ids.length;
  const some = m > most ? selectIndividuals(cohort, createRandom(1).permutation(m).slice(0, most).sort()) : cohort;
  const known = selectVisits(some, (_, times) => times.filter((t) => t <= until + SAME_TIME).length);
  const at = new Map(cohort.ids.map((id, i) => [id, i]));
  return { until, places: embedPlaces(model, known), positions: Int32Array.from(known.ids, (id) => at.get(id) ?? -1) };
}

/** Somebody's place. */
type Somebody = { readonly location: ArrayLike<number>; readonly covariance: ArrayLike<number> };

export interface PersonLike {
  /** Position in the cohort. */
  readonly individual: number;
  /** Overlap of the posteriors, 0 to 1. */
  readonly overlap: number;
}

/** The people most like somebody, the most alike first; `self` is left out. */
export function peopleLike(known: PlacesKnown, somebody: Somebody, count = 20, self = -1): PersonLike[] {
  const { places, positions } = known;
  const q = places.mapDimension;
  const all = Array.from(positions, (individual, i) => {
    const other = {
      location: places.location.subarray(i * q, (i + 1) * q),
      covariance: places.covariance.subarray(i * q * q, (i + 1) * q * q),
    };
    return { individual, overlap: overlapOf(somebody, other, q) };
  });
  const among = all.filter(({ individual, overlap }) => individual !== self && Number.isFinite(overlap));
  return among.sort((a, b) => b.overlap - a.overlap || a.individual - b.individual).slice(0, count);
}

/** BC of two Gaussians over places of q dimensions. */
export function overlapOf(a: Somebody, b: Somebody, q: number): number {
  const rootOf = (S: ArrayLike<number>) => {
    const root = Float64Array.from(S);
    // A place that is known exactly has no volume: a little keeps the measure defined.
    for (let k = 0; k < q; k++) root[k * q + k] += LEAST_VARIANCE;
    choleskyInPlace(root, q);
    return root;
  };
  const middle = rootOf(Float64Array.from({ length: q * q }, (_, e) => 0.5 * (a.covariance[e] + b.covariance[e])));
  const r = Float64Array.from({ length: q }, (_, k) => a.location[k] - b.location[k]);
  solveLowerInPlace(middle, q, r);
  const [logA, logB] = [a, b].map(({ covariance }) => logDetFromCholesky(rootOf(covariance), q));
  return Math.exp(0.25 * (logA + logB) - 0.5 * logDetFromCholesky(middle, q) - dot(r, r) / 8);
}

/** In squared standard deviations of the population. */
const LEAST_VARIANCE = 1e-6;

/** What was measured of people after a time. */
export interface CameNext {
  /** How many were still measured at the end of the span, and how many had a value beyond the threshold within it. */
  readonly followed: number;
  readonly crossed: number;
  /** Their visits after the first time: of each person in turn, [n] each. */
  readonly later: readonly { readonly times: Float64Array; readonly values: Float64Array }[];
}

export interface CameNextOptions {
  readonly from: number;
  readonly to: number;
  readonly threshold: number;
  readonly direction: "up" | "down";
}

/** What came next for people, of a marker: counts within the span, and all their later visits. */
export function cameNext(
  cohort: Cohort,
  people: readonly number[],
  marker: number,
  { from, to, threshold, direction }: CameNextOptions,
): CameNext {
  const { offsets, times, values } = cohort.markers[marker];
  const later = people.map((i) => {
    const kept = Array.from({ length: offsets[i + 1] - offsets[i] }, (_, j) => offsets[i] + j).filter(
      (e) => times[e] > from + SAME_TIME,
    );
    return { times: Float64Array.from(kept, (e) => times[e]), values: Float64Array.from(kept, (e) => values[e]) };
  });
  const isBeyond = (v: number) => (direction === "up" ? v > threshold : v < threshold);
  return {
    followed: later.filter((own) => own.times.some((t) => t >= to - SAME_TIME)).length,
    crossed: later.filter((own) => own.values.some((v, k) => own.times[k] <= to + SAME_TIME && isBeyond(v))).length,
    later,
  };
}
