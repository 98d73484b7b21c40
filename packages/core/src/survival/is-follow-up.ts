/**
 * Whether times can be the follow-up of individuals whose visits are known. Visits and follow-up are on one clock, so
 *   who is censored was followed to the last visit at least (an event may come before visits end);
 *   somebody's follow-up ends near the last visit, and no usual one lies far beyond all visits: an age does;
 *   it is no count of the visits, unless that is when visits end, as with yearly ones.
 */
import type { FollowUp } from "./follow-up.ts";
import type { Visits } from "./landmark.ts";

/** Of those censored, so many reach their last visit; of all, so many have as many visits as the number says. */
const NEARLY_ALL = 0.9;
/** Shares of the longest time of a visit: what rounding takes off, and what is near a last visit. */
const ROUNDED = 0.02;
const NEAR = 0.25;
/** A median follow-up of more than LONG longest times needs so many that end near: people seen early alone may be followed for very long. */
const LEAST_NEAR = 0.02;
const LONG = 2;

/** What speaks against it, as what was expected and received; undefined if nothing does, or nothing is known. */
export function noFollowUpOf(
  { offsets, times: seen }: Visits,
  { times, events }: FollowUp,
): readonly [string, string] | undefined {
  const known = Array.from({ length: offsets.length - 1 }, (_, i) => i).filter(
    (i) => offsets[i + 1] > offsets[i] && !Number.isNaN(times[i]),
  );
  const last = (i: number) => seen[offsets[i + 1] - 1];
  const longest = known.reduce((most, i) => Math.max(most, last(i)), 0);
  if (known.length === 0 || longest === 0) return undefined;
  const share = (of: readonly number[], holds: (i: number) => boolean) => of.filter(holds).length / of.length;
  const censored = known.filter((i) => events[i] === 0);
  const numShort = censored.filter((i) => times[i] < last(i) - ROUNDED * longest).length;
  if (numShort > (1 - NEARLY_ALL) * censored.length) {
    return [
      "times that reach the last visit of those without the event",
      `shorter ones for ${numShort} of ${censored.length}`,
    ];
  }
  const isCount = (i: number) => times[i] === offsets[i + 1] - offsets[i];
  const isLast = (i: number) => Math.abs(times[i] - last(i)) <= NEAR * longest;
  if (share(known, isCount) >= NEARLY_ALL && share(known, isLast) < NEARLY_ALL) {
    return ["times", "the number of visits of each individual"];
  }
  const median = known.map((i) => times[i]).sort((a, b) => a - b)[Math.floor(known.length / 2)];
  const isNear = (i: number) => times[i] - last(i) <= NEAR * longest;
  if (median > LONG * longest && share(known, isNear) < LEAST_NEAR) {
    return [
      `times that go on from the visits, which end at ${Number(longest.toPrecision(3))}`,
      `a median of ${Number(median.toPrecision(3))}, far beyond the visits of nearly everybody, as an age is`,
    ];
  }
  return undefined;
}
