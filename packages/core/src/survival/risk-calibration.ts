/**
 * Are predicted risks right? Individuals are cut into groups of equal size by their predicted risk p_i of the event by t; in each
 * the mean of p_i stands beside the observed share by t, Aalen–Johansen's (1 − Kaplan–Meier where no event competes). Over everyone
 * the same is calibration in the large: observed/predicted is 1 where risks are right on average. There are as many groups as have
 * ten events by t each, at most five; with fewer than twenty events there is one.   (docs/math/survival.md §9)
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

const EVENTS_PER_GROUP = 10;
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
  const cut = (k: number) => Math.round((k * n) / K);
  return {
    time,
    overall: groupOf(order),
    groups: Array.from({ length: K }, (_, k) => groupOf(order.slice(cut(k), cut(k + 1)))),
  };
}
