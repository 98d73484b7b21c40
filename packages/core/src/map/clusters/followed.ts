/**
 * How far the course of a group rests on its members. With n members first observed at a_i and last at b_i,
 *   enough(n) = max( ⌈n/10⌉, min(11, ⌈n/2⌉) ),
 *   from  = the time by which `enough` have been observed: the enough-th smallest a_i,
 *   until = the time to which `enough` are still followed: the enough-th largest b_i.
 * Beyond, the median of expected courses is mostly what the model expects of people no longer seen. A name quotes no
 * time after the last round one that is not later than `until`.   (docs/math/groups.md §5)
 */

/** Least share and number of members who must still be followed; of fewer than 22 members, half. */
export const LEAST_SHARE_FOLLOWED = 0.1;
export const LEAST_FOLLOWED = 11;

/** Times between which enough members of a group are under observation. */
export interface FollowedWindow {
  readonly from: number;
  readonly until: number;
}

/** How many of n members must be followed for their course to be drawn as a finding. */
export function enoughFollowed(numMembers: number): number {
  const share = Math.ceil(LEAST_SHARE_FOLLOWED * numMembers - 1e-9);
  return Math.max(1, share, Math.min(LEAST_FOLLOWED, Math.ceil(numMembers / 2)));
}

/** From when and until when enough members are followed, given the times of their first and last observations, [n]. */
export function followedWindow(firstTimes: ArrayLike<number>, lastTimes: ArrayLike<number>): FollowedWindow {
  const n = lastTimes.length;
  if (n === 0) return { from: Number.NaN, until: Number.NaN };
  const enough = enoughFollowed(n);
  const starts = Float64Array.from(firstTimes).sort();
  const ends = Float64Array.from(lastTimes).sort();
  const from = starts[enough - 1];
  const until = ends[n - enough];
  // So short, scattered follow-ups that no time has enough of them: the whole of what was seen is all there is to show.
  return from < until ? { from, until } : { from: starts[0], until: ends[n - 1] };
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

/** The last round time not after `until`: the time that a name quotes. */
export function lastRoundTime({ from, until }: FollowedWindow): number {
  const step = roundTimeStep(until - from);
  const round = Number((Math.floor(until / step + 1e-9) * step).toPrecision(12));
  return round > from ? round : until;
}
