/** Follow-up of individuals: how long each was seen, and whether the event ended it. */
import { DtmError } from "../errors.ts";

/** Time from the origin to event or end of follow-up, and 1 (event) or 0 (censored), one entry per individual. */
export interface FollowUp {
  readonly times: ArrayLike<number>;
  readonly events: ArrayLike<number>;
}

/** The same with several events of which the first ends follow-up: 0 (censored), 1 (the event), 2, 3, … (competing ones). */
export interface CompetingFollowUp {
  readonly times: ArrayLike<number>;
  readonly causes: ArrayLike<number>;
}

/** Follow-up for one of the causes, at which the others are censored. */
export function causeFollowUp({ times, causes }: CompetingFollowUp, cause: number): FollowUp {
  return { times, events: Float64Array.from(causes, (own) => (own === cause ? 1 : 0)) };
}

/** Follow-up of some of the individuals. */
export function selectFollowUp({ times, causes }: CompetingFollowUp, chosen: ArrayLike<number>): CompetingFollowUp {
  const of = (x: ArrayLike<number>) => Float64Array.from(chosen, (i) => x[i]);
  return { times: of(times), causes: of(causes) };
}

/** The individuals in a given order, cut where time, or with `byEvent` event or censoring, changes: sets of ties. */
export function tiesOf(
  order: Int32Array,
  { times, events }: Pick<FollowUp, "times"> & Partial<FollowUp>,
  byEvent = false,
): Int32Array[] {
  const ties: Int32Array[] = [];
  for (let from = 0, to = 1; to <= order.length; to++) {
    const [a, b] = [order[to - 1], order[to]];
    if (to < order.length && times[a] === times[b] && !(byEvent && events?.[a] !== events?.[b])) continue;
    ties.push(order.subarray(from, to));
    from = to;
  }
  return ties;
}

/** Throws unless every time is finite and not negative and every event 0 or 1. */
export function checkFollowUp({ times, events }: FollowUp, where: string): void {
  if (times.length === 0 || times.length !== events.length) {
    throw new DtmError(
      "shape",
      `${where}: expected one time and one event for each individual, received ${times.length} and ${events.length}.`,
    );
  }
  for (let i = 0; i < times.length; i++) {
    if (!(Number.isFinite(times[i]) && times[i] >= 0)) {
      throw new DtmError(
        "follow-up",
        `${where}: expected times of 0 or more, received ${times[i]} for individual ${i}. Leave the individual out.`,
      );
    }
    if (events[i] !== 0 && events[i] !== 1) {
      throw new DtmError(
        "follow-up",
        `${where}: expected events 0 (censored) or 1 (event), received ${events[i]} for individual ${i}.`,
      );
    }
  }
}
