/**
 * How far the course of a group rests on its members. With n members first observed at a_i and last at b_i,
 *   enough(n) = max( ⌈n/10⌉, min(11, ⌈n/2⌉) ),
 *   from  = the time by which `enough` have been observed: the enough-th smallest a_i,
 *   until = the time to which half, and min(11, n), are still followed: that-th largest b_i, and not before `from`.
 * Beyond, the median of expected courses is mostly what the model expects of people no longer seen: drawings dash it as
 * long as `enough` are followed and then end it. Names speak of the round times between the two.   (docs/math/groups.md §5)
 */
import {
  enoughFollowed,
  followedTo,
  LEAST_FOLLOWED,
  LEAST_SHARE_FOLLOWED,
  similarFollowedTo,
} from "../../models/follow-up.ts";
import type { Places } from "../../models/placement.ts";
import { sortedQuantile } from "../../numeric/select.ts";

export { enoughFollowed, followedTo, LEAST_FOLLOWED, LEAST_SHARE_FOLLOWED };

/** From when enough members of a group have been observed, and to when half of them, and eleven, are still followed. */
export interface FollowedWindow {
  readonly from: number;
  readonly until: number;
}

/** From when and until when the course of some individuals is a finding, given their first and last times, [n]. */
export function followedWindow(firstTimes: ArrayLike<number>, lastTimes: ArrayLike<number>): FollowedWindow {
  const n = lastTimes.length;
  const from = Float64Array.from(firstTimes).sort()[enoughFollowed(n) - 1];
  const until = followedTo(lastTimes, Math.max(Math.ceil(n / 2), Math.min(LEAST_FOLLOWED, n)));
  return { from, until: Math.max(from, until) };
}

/** Members whose last observation is at or after each time, [T]. */
export function followedAt(lastTimes: ArrayLike<number>, times: ArrayLike<number>): Int32Array {
  const ends = Float64Array.from(lastTimes).sort();
  return Int32Array.from(times as ArrayLike<number>, (t) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < t - 1e-9) low = middle + 1;
      else high = middle;
    }
    return ends.length - low;
  });
}

/**
 * The step of round times within a span: the largest of 1 and 5 times a power of ten that is at most a sixth of it. Each
 * such step divides the next, so a time that is round in a span is round in every shorter one.
 */
export function roundTimeStep(span: number): number {
  const rough = (span / 6) * (1 + 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  return 5 * power <= rough ? 5 * power : power;
}

/** The round times from the first not before `from` to the last not after `until`, and their step. */
export function roundWindow({ from, until }: FollowedWindow): FollowedWindow & { readonly step: number } {
  const step = roundTimeStep(until - from);
  const round = (t: number) => Number((t * step).toPrecision(12));
  return { from: round(Math.ceil(from / step - 1e-9)), until: round(Math.floor(until / step + 1e-9)), step };
}

/** Share of individuals around whom a map says what was seen at the time it is coloured; of how many that is looked at. */
const SHARE_SEEN = 0.75;
const LOOKED_AT = 1000;

/**
 * The time at which maps are coloured by default: the last round one to which enough individuals are followed, and at which three
 * quarters of them lie where enough similar ones are.
 */
export function lastShownTime(places: Pick<Places, "location" | "mapDimension" | "firstTime" | "lastTime">): number {
  const { location, mapDimension: q, firstTime, lastTime } = places;
  const seenTo = similarFollowedTo(places);
  const step = Math.ceil(lastTime.length / LOOKED_AT);
  const seen = Float64Array.from({ length: Math.ceil(lastTime.length / step) }, (_, k) =>
    seenTo(location.subarray(k * step * q, (k * step + 1) * q)),
  ).sort();
  const from = firstTime.reduce((a, b) => Math.min(a, b));
  const until = Math.min(followedTo(lastTime), sortedQuantile(seen, 1 - SHARE_SEEN));
  return until > from ? roundWindow({ from, until }).until : until;
}
