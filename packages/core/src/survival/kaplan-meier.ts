/**
 * Kaplan–Meier curves. With d_j events among n_j at risk at time t_j (everyone whose time is not before t_j),
 *   S(t) = Π_{t_j ≤ t} (1 − d_j/n_j),
 *   v(t) = Σ_{t_j ≤ t} d_j / ( n_j (n_j − d_j) )     Greenwood's variance of log S; se(S) = S √v.
 * Intervals with z = Φ⁻¹(½ + level/2):
 *   "log-log"  S^{exp(± z √v / log S)}, inside [0,1] and best in small groups (the default);
 *   "log"      S exp(± z √v), cut at 1;
 *   "plain"    S ± z S √v, cut to [0,1].
 * None of these says anything before the first event; there `curveAt` gives Clopper and Pearson's lower bound for no event
 * among the n still at risk, ((1 − level)/2)^{1/n}.
 * Individuals censored at t_j are at risk at t_j. Times are tied when they are equal.   (docs/math/survival.md §1)
 */
import { checkOption } from "../errors.ts";
import { normalQuantile } from "../numeric/special.ts";
import { checkFollowUp, type FollowUp, tiesOf } from "./follow-up.ts";

export type IntervalType = "log-log" | "log" | "plain";

/** A step function: entry j holds from `times[j]` on. Before the first time S is 1. */
export interface KaplanMeier {
  readonly numIndividuals: number;
  readonly numEvents: number;
  /** Distinct times of events and censorings, increasing, [J]. */
  readonly times: Float64Array;
  readonly atRisk: Float64Array; // n_j just before
  readonly events: Float64Array; // d_j
  readonly censored: Float64Array;
  readonly survival: Float64Array; // S
  /** Of S, by Greenwood; NaN once S is 0. */
  readonly standardErrors: Float64Array;
  /** Both 1 while S is 1, as R has it (`curveAt` has an exact bound); NaN once S is 0. */
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  readonly level: number;
  readonly interval: IntervalType;
  /** Time at which S falls to one half with the interval of that time; NaN where it is not reached. */
  readonly median: { readonly time: number; readonly lower: number; readonly upper: number };
}

export interface KaplanMeierOptions {
  /** Default 0.95. */
  readonly level?: number;
  /** Default "log-log". */
  readonly interval?: IntervalType;
}

/** The Kaplan–Meier curve of one group. */
export function kaplanMeier(
  followUp: FollowUp,
  { level = 0.95, interval = "log-log" }: KaplanMeierOptions = {},
): KaplanMeier {
  checkFollowUp(followUp, "kaplanMeier");
  checkOption(level > 0 && level < 1, "kaplanMeier: level", "a share between 0 and 1", level, "Try 0.95.");
  const numIndividuals = followUp.times.length;
  const order = Int32Array.from(followUp.times, (_, i) => i).sort((a, b) => followUp.times[a] - followUp.times[b]);
  const ties = tiesOf(order, followUp);
  const column = () => new Float64Array(ties.length);
  const [atRisk, events, censored, survival] = [column(), column(), column(), column()];
  const [standardErrors, lower, upper] = [column(), column(), column()];
  const times = Float64Array.from(ties, ([i]) => followUp.times[i]);
  const z = normalQuantile(0.5 + 0.5 * level);
  let [S, v, n, numEvents] = [1, 0, numIndividuals, 0];
  for (const [j, ending] of ties.entries()) {
    const d = ending.filter((i) => followUp.events[i] === 1).length;
    S *= (n - d) / n;
    v += d === 0 ? 0 : d / (n * (n - d));
    [atRisk[j], events[j], censored[j], survival[j]] = [n, d, ending.length - d, S];
    standardErrors[j] = S > 0 ? S * Math.sqrt(v) : Number.NaN;
    [lower[j], upper[j]] = S === 1 ? [1, 1] : shareBounds(S, v, z, interval);
    numEvents += d;
    n -= ending.length;
  }
  const median = {
    time: crossing(times, survival),
    lower: crossing(times, lower),
    upper: crossing(times, upper),
  };
  const counts = { numIndividuals, numEvents, times, atRisk, events, censored };
  return { ...counts, survival, standardErrors, lower, upper, level, interval, median };
}

/** One curve per group, for labels 0..k−1; individuals labelled below 0 belong to none. */
export function kaplanMeierByGroup(
  { times, events }: FollowUp,
  labels: ArrayLike<number>,
  numGroups: number,
  options: KaplanMeierOptions = {},
): KaplanMeier[] {
  return Array.from({ length: numGroups }, (_, g) => {
    const members = Array.from(labels).flatMap((label, i) => (label === g ? [i] : []));
    return kaplanMeier({ times: members.map((i) => times[i]), events: members.map((i) => events[i]) }, options);
  });
}

/** What reading a curve needs; `KaplanMeier` is one, and so is what JSON brings back of it. */
export interface SurvivalSteps {
  readonly times: ArrayLike<number>;
  readonly atRisk: ArrayLike<number>;
  readonly survival: ArrayLike<number>;
  readonly lower: ArrayLike<number>;
  readonly upper: ArrayLike<number>;
  /** Default 0.95. */
  readonly level?: number;
}

/** A curve at one time. */
export interface SurvivalPoint {
  readonly time: number;
  readonly survival: number;
  /** Exact while there was no event; NaN where there is none (S is 0, or nobody is at risk and none had the event). */
  readonly lower: number;
  readonly upper: number;
  /** Everyone whose own time is not before this one. */
  readonly atRisk: number;
  /** Nobody had the event up to here: S is 1, and `lower` rests on those at risk alone. */
  readonly noEvent: boolean;
}

/** S, its interval and the number at risk at given times; the table under a plotted curve. */
export function curveAt(curve: SurvivalSteps, times: ArrayLike<number>): SurvivalPoint[] {
  return Array.from(times, (time) => {
    let j = -1;
    while (j + 1 < curve.times.length && curve.times[j + 1] <= time) j++;
    const next = j >= 0 && curve.times[j] === time ? j : j + 1;
    const atRisk = next < curve.times.length ? curve.atRisk[next] : 0;
    const survival = j < 0 ? 1 : curve.survival[j];
    const noEvent = survival === 1;
    const lower = noEvent ? noEventBound(time, atRisk, curve.level ?? 0.95) : curve.lower[j];
    return { time, survival, lower, upper: noEvent ? 1 : curve.upper[j], atRisk, noEvent };
  });
}

/** Lower bound of S where none of the n at risk has had the event; at the start S is 1 without doubt. */
export function noEventBound(time: number, n: number, level: number): number {
  if (time <= 0) return 1;
  return n > 0 ? ((1 - level) / 2) ** (1 / n) : Number.NaN;
}

/** Interval of a share S strictly below 1, given the variance v of log S. */
export function shareBounds(S: number, v: number, z: number, interval: IntervalType): [number, number] {
  if (!(S > 0)) return [Number.NaN, Number.NaN];
  const half = z * Math.sqrt(v);
  switch (interval) {
    case "log-log":
      return [S ** Math.exp(-half / Math.log(S)), S ** Math.exp(half / Math.log(S))];
    case "log":
      return [S * Math.exp(-half), Math.min(1, S * Math.exp(half))];
    case "plain":
      return [Math.max(0, S - S * half), Math.min(1, S + S * half)];
  }
}

/**
 * Where a falling step function reaches one half; the middle of the step where it stands at one half exactly, as R
 * has it. NaN if it does not get there.
 */
function crossing(times: Float64Array, curve: Float64Array): number {
  const tolerance = 1.5e-8;
  const reached = curve.findIndex((s) => s <= 0.5 + tolerance);
  if (reached < 0) return Number.NaN;
  const passed = curve.findIndex((s) => s < 0.5 - tolerance);
  const to = passed < 0 ? times.length - 1 : passed;
  return curve[reached] < 0.5 - tolerance ? times[reached] : 0.5 * (times[reached] + times[to]);
}
