/** Several events of which the first counts, joined to one follow-up (docs/math/survival.md §6). */
import { DtmError } from "../errors.ts";
import type { CompetingFollowUp, FollowUp } from "./follow-up.ts";

/**
 * The first event of each individual and its cause: 1 for the first follow-up, 2 for the second, …; at equal times the lower number.
 * Without any event the individual is censored where the first follow-up ends. Unknown (NaN) where whether an event came is unknown,
 * or when.
 */
export function firstEvents(followUps: readonly FollowUp[]): CompetingFollowUp {
  const m = followUps[0].times.length;
  if (followUps.some(({ times, events }) => times.length !== m || events.length !== m)) {
    throw new DtmError("shape", `firstEvents: expected follow-up of the same ${m} individuals for every event.`);
  }
  const times = Float64Array.from(followUps[0].times);
  const causes = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    const isUnknown = followUps.some(
      ({ times, events }, k) => Number.isNaN(events[i]) || ((k === 0 || events[i] === 1) && Number.isNaN(times[i])),
    );
    const happened = followUps.flatMap(({ times, events }, k) => (events[i] === 1 ? [{ time: times[i], k }] : []));
    const first = happened.reduce((a, b) => (b.time < a.time ? b : a), { time: Number.POSITIVE_INFINITY, k: -1 });
    if (isUnknown) [times[i], causes[i]] = [Number.NaN, Number.NaN];
    else if (first.k >= 0) [times[i], causes[i]] = [first.time, first.k + 1];
  }
  return { times, causes };
}
