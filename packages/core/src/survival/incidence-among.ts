/**
 * How often an event came to some of the individuals, such as the nearest twenty to a place, within a time after they were as far as
 * somebody is now: of those still followed without the event at `from`,
 *   incidence = 1 − S(horizon),   S by Kaplan and Meier from `from` on,
 * so that those who left early count for as long as they were seen, with the interval of S. Where only yes or no is known, without its
 * time, the share of `rateAmong` is all that can be said.                            (docs/math/survival.md §1)
 */
import { checkOption } from "../errors.ts";
import type { FollowUp } from "./follow-up.ts";
import { curveAt, kaplanMeier } from "./kaplan-meier.ts";

export interface IncidenceAmong {
  /** Members followed without the event at `from`; others, and those whose follow-up is unknown, take no part. */
  readonly atRisk: number;
  /** Of these, with the event within the horizon. */
  readonly events: number;
  /** Of these, followed without it for the whole horizon. */
  readonly followed: number;
  /** NaN where nobody is at risk. */
  readonly incidence: number;
  readonly lower: number;
  readonly upper: number;
}

/** The incidence among `members` of follow-up [m] (NaN: unknown), within `horizon` after `from` on the clock of the visits. */
export function incidenceAmong(
  followUp: FollowUp,
  members: Iterable<number>,
  from: number,
  horizon: number,
): IncidenceAmong {
  checkOption(horizon > 0, "incidenceAmong", "a horizon above 0", horizon, "Take the time asked about.");
  const own = [...members].filter((i) => followUp.times[i] > from && !Number.isNaN(followUp.events[i]));
  if (own.length === 0) {
    return { atRisk: 0, events: 0, followed: 0, incidence: Number.NaN, lower: Number.NaN, upper: Number.NaN };
  }
  const times = own.map((i) => followUp.times[i] - from);
  const events = own.map((i) => followUp.events[i]);
  const [{ survival, lower, upper }] = curveAt(kaplanMeier({ times, events }), [horizon]);
  return {
    atRisk: own.length,
    events: events.filter((event, k) => event === 1 && times[k] <= horizon).length,
    followed: times.filter((t, k) => t > horizon || (t === horizon && events[k] === 0)).length,
    incidence: 1 - survival,
    lower: 1 - upper,
    upper: 1 - lower,
  };
}
