/**
 * Where data end (docs/math/prediction.md §6). Training individuals like those at a place x ~ N(m, S) who are still followed at t:
 *   n(t) = Σ_{i: last_i ≥ t} E exp(−½‖x − x_i‖²/h²),
 *   E exp(…) = |I + S/h²|^−½ exp(−½ (m − x_i)'(h²I + S)⁻¹(m − x_i)).
 * Where n(t) < SUPPORTED, what a map says is what the model expects, not what was seen.
 */
import { choleskyInPlace, logDetFromCholesky, solveLowerInPlace } from "../numeric/cholesky.ts";
import { dot, takeRows } from "../numeric/matrix.ts";
import type { Placement, Places } from "./placement.ts";

/** h, in prior standard deviations of the map. */
const RADIUS = 0.5;
/** Similar individuals still followed without whom a statement is extrapolated. */
export const SUPPORTED = 5;

/** Where training individuals are and how long they were followed, the longest first. */
export interface FollowUp {
  readonly locations: Float64Array; // [m,q], shown
  readonly lastTimes: Float64Array; // [m], falling
}

/** The follow-up of placed individuals. */
export function followUpOf({
  location,
  lastTime,
  mapDimension: q,
}: Pick<Places, "location" | "lastTime" | "mapDimension">): FollowUp {
  const order = fallingOrder(lastTime);
  return { locations: takeRows(location, q, order), lastTimes: takeRows(lastTime, 1, order) };
}

/** Positions by falling value, those of equal ones as they come: numbers are sorted in a tenth of the time that a comparison of them takes. */
function fallingOrder(values: Float64Array): Int32Array {
  const sorted = values.slice().sort();
  const order = new Int32Array(values.length);
  const taken = new Int32Array(values.length);
  values.forEach((value, i) => {
    const before = sorted.length - countUpTo(sorted, value);
    order[before + taken[before]++] = i;
  });
  return order;
}

/** How many of sorted numbers are at most `value`. */
function countUpTo(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Least share and number of members who must still be followed; of fewer than 22 members, half. */
export const LEAST_SHARE_FOLLOWED = 0.1;
export const LEAST_FOLLOWED = 11;

/** How many of n individuals must be followed for anything to be said of their course: max(⌈n/10⌉, min(11, ⌈n/2⌉)). */
export function enoughFollowed(numMembers: number): number {
  const share = Math.ceil(LEAST_SHARE_FOLLOWED * numMembers - 1e-9);
  return Math.max(1, share, Math.min(LEAST_FOLLOWED, Math.ceil(numMembers / 2)));
}

/** The last time to which `count` of the individuals are still followed. Default as many as are enough. */
export function followedTo(lastTimes: ArrayLike<number>, count: number = enoughFollowed(lastTimes.length)): number {
  const ends = Float64Array.from(lastTimes).sort();
  return ends[Math.max(0, ends.length - count)] ?? Number.NaN;
}

type Place = Pick<Placement, "location" | "covariance">;

/** The support of the place last asked about: several forecasts of one individual ask for the same. A cache, nothing more. */
const kept = new WeakMap<FollowUp, { readonly place: Place; readonly support: (time: number) => number }>();

/** n(t) for an individual at a shown place with its covariance. */
export function followUpSupport(followUp: FollowUp, place: Place): (time: number) => number {
  const known = kept.get(followUp);
  if (known?.place === place) return known.support;
  const support = supportOf(followUp, place);
  kept.set(followUp, { place, support });
  return support;
}

function supportOf({ locations, lastTimes }: FollowUp, place: Place): (time: number) => number {
  const near = nearness(locations, place.location, place.covariance);
  const sums = new Float64Array(lastTimes.length + 1);
  for (let i = 0; i < lastTimes.length; i++) sums[i + 1] = sums[i] + near(i);
  return (time) => {
    let [low, high] = [0, lastTimes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lastTimes[middle] >= time) low = middle + 1;
      else high = middle;
    }
    return sums[low];
  };
}

/** The last time to which enough (SUPPORTED) individuals similar to one at a place are followed; −∞ where there are never enough. */
export function supportedTo({ lastTimes }: FollowUp, support: (time: number) => number): number {
  // The earlier the time, the more are followed.
  let [low, high] = [0, lastTimes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (support(lastTimes[middle]) >= SUPPORTED) high = middle;
    else low = middle + 1;
  }
  return lastTimes[low] ?? Number.NEGATIVE_INFINITY;
}

/** n(t) at any shown place [q], known exactly. */
export function similarFollowed(
  places: Pick<Places, "location" | "lastTime" | "mapDimension">,
): (place: ArrayLike<number>) => (time: number) => number {
  const followUp = followUpOf(places);
  const exactly = new Float64Array(places.mapDimension ** 2);
  return (place) => followUpSupport(followUp, { location: Float64Array.from(place), covariance: exactly });
}

/**
 * For any shown place [q], the last time to which enough similar individuals (by default SUPPORTED) are followed; where there are not enough, the time to
 * which everybody is.
 */
export function similarFollowedTo(
  places: Pick<Places, "location" | "lastTime" | "mapDimension">,
  enough: number = SUPPORTED,
): (place: ArrayLike<number>) => number {
  const { locations, lastTimes } = followUpOf(places);
  const q = places.mapDimension;
  const most = mostSimilar(locations, q);
  const everybody = lastTimes[lastTimes.length - 1] ?? Number.NaN;
  return (place) => {
    if (most(place) < enough) return everybody;
    let support = 0;
    for (let i = 0; i < lastTimes.length; i++) {
      let square = 0;
      for (let k = 0; k < q; k++) square += ((place[k] - locations[i * q + k]) / RADIUS) ** 2;
      if (square >= FAR) continue;
      support += Math.exp(-0.5 * square);
      if (support >= enough) return lastTimes[i];
    }
    return everybody;
  };
}

/** Side of the cells in which individuals are counted. */
const CELL = RADIUS / 2;

/**
 * An upper bound of n(t) at any shown place [q], whatever t: everybody stands where the own cell is nearest. Where few are near, it spares going
 * through all.
 */
function mostSimilar(locations: Float64Array, q: number): (place: ArrayLike<number>) => number {
  const corners: number[] = []; // [cells,q]
  const counts: number[] = [];
  const cells = new Map<number, number>();
  for (let at = 0; at < locations.length; at += q) {
    let key = 0;
    for (let k = 0; k < q; k++) key = key * 2 ** 16 + Math.floor(locations[at + k] / CELL);
    let cell = cells.get(key);
    if (cell === undefined) {
      cell = counts.push(0) - 1;
      cells.set(key, cell);
      for (let k = 0; k < q; k++) corners.push(CELL * Math.floor(locations[at + k] / CELL));
    }
    counts[cell]++;
  }
  return (place) => {
    let bound = 0;
    for (let cell = 0; cell < counts.length; cell++) {
      let square = 0;
      for (let k = 0; k < q; k++) {
        const beside = corners[cell * q + k] - place[k];
        square += (Math.max(beside, -beside - CELL, 0) / RADIUS) ** 2;
      }
      bound += counts[cell] * Math.exp(-0.5 * square);
    }
    // Sums in another order differ by rounding.
    return (1 + 1e-9) * bound;
  };
}

/** Squared distance, in h, from which somebody counts less than 1e-9: maps ask for thousands of places. */
const FAR = 42;

/** E exp(−½‖x − x_i‖²/h²) of x ~ N(m, S) for any individual i. */
function nearness(locations: Float64Array, mean: Float64Array, covariance: Float64Array): (i: number) => number {
  const q = mean.length;
  const root = covariance.slice();
  for (let k = 0; k < q; k++) root[k * q + k] += RADIUS * RADIUS;
  choleskyInPlace(root, q);
  const scale = Math.exp(q * Math.log(RADIUS) - 0.5 * logDetFromCholesky(root, q));
  const r = new Float64Array(q);
  return (i) => {
    for (let k = 0; k < q; k++) r[k] = mean[k] - locations[i * q + k];
    solveLowerInPlace(root, q, r);
    return scale * Math.exp(-0.5 * dot(r, r));
  };
}
