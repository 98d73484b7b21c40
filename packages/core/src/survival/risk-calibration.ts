/**
 * Are predicted risks right? Individuals, in the order of their predicted risk p_i of the event by t, are cut into groups that
 * expect as many events each (equal Σ p_i: cuts that know nothing of what came); in each the mean of p_i stands beside the observed
 * share by t, Aalen–Johansen's (1 − Kaplan–Meier where no event competes). Over everyone the same is calibration in the large:
 * observed/predicted is 1 where risks are right on average. There are as many groups as have fifteen events by t on average, at
 * most five; with fewer than thirty events there is one.   (docs/math/survival.md §9)
 */
import { DtmError } from "../errors.ts";
import { aalenJohansen, incidenceAt } from "./aalen-johansen.ts";
import { type CompetingFollowUp, selectFollowUp } from "./follow-up.ts";

/** Predicted and observed risk of some individuals. */
export interface CalibrationGroup {
  readonly numIndividuals: number;
  /** Events seen by the time. */
  readonly numEvents: number;
  /** Mean predicted risk. */
  readonly predicted: number;
  readonly observed: number;
  /** 95% interval of what was observed. */
  readonly lower: number;
  readonly upper: number;
}

export interface RiskCalibration {
  readonly time: number;
  /** Everyone. */
  readonly overall: CalibrationGroup;
  /** From the lowest to the highest predicted risk. */
  readonly groups: readonly CalibrationGroup[];
}

const EVENTS_PER_GROUP = 15;
const MOST_GROUPS = 5;

/** Calibration of predicted risks [n] of cause 1 by a time. */
export function calibrateRisk(
  followUp: CompetingFollowUp,
  numCauses: number,
  predicted: ArrayLike<number>,
  time: number,
): RiskCalibration {
  const n = followUp.times.length;
  if (predicted.length !== n || !Array.from(predicted).every((p) => p >= 0 && p <= 1)) {
    throw new DtmError(
      "shape",
      `calibrateRisk: expected ${n} risks from 0 to 1, received ${predicted.length} numbers.`,
    );
  }
  const hasEvent = (i: number) => followUp.causes[i] === 1 && followUp.times[i] <= time;
  const groupOf = (members: readonly number[]): CalibrationGroup => {
    const curves = aalenJohansen(selectFollowUp(followUp, members), numCauses);
    const [{ incidence, lower, upper }] = incidenceAt({ ...curves, ...curves.causes[0] }, [time]);
    return {
      numIndividuals: members.length,
      numEvents: members.filter(hasEvent).length,
      predicted: members.reduce((sum, i) => sum + predicted[i], 0) / members.length,
      observed: incidence,
      lower,
      upper,
    };
  };
  const order = Array.from(followUp.times, (_, i) => i).sort((a, b) => predicted[a] - predicted[b] || a - b);
  const K = Math.max(1, Math.min(MOST_GROUPS, Math.floor(order.filter(hasEvent).length / EVENTS_PER_GROUP)));
  // Whom the first k of K parts of the expected events hold.
  const total = order.reduce((sum, i) => sum + predicted[i], 0);
  const cuts = [0];
  let sum = 0;
  for (const [at, i] of order.entries()) {
    sum += predicted[i];
    if (sum >= (cuts.length * total) / K && cuts.length < K) cuts.push(at + 1);
  }
  cuts.push(n);
  return {
    time,
    overall: groupOf(order),
    groups: cuts.slice(1).map((to, k) => groupOf(order.slice(cuts[k], to))),
  };
}
