/**
 * Aalen–Johansen curves of competing events: the share F_k(t) that had event k by t, where only the first event counts. With
 * d_kj events of cause k, d_j of any, among n_j at risk at t_j and S the Kaplan–Meier curve of no event at all,
 *   F_k(t) = Σ_{t_j ≤ t} S(t_j−) d_kj/n_j,      S(t) + Σ_k F_k(t) = 1.
 * 1 − Kaplan–Meier with competing events censored says more than F_k: it is the share in a world where nothing else happens.
 *
 * The variance is the infinitesimal jackknife of R's survival, Σ_i U_ik², where U_i is the derivative by the weight of i. From 0,
 *   U_i0 ← U_i0 (1 − d_j/n_j) − S(t_j−) Y_ij ([i has an event] − d_j/n_j)/n_j,
 *   U_ik ← U_ik + U_i0 d_kj/n_j + S(t_j−) Y_ij ([i has event k] − d_kj/n_j)/n_j.
 * All at risk share one U, and those who have left share their law: sums of squares and products are enough, O(J K).
 * With one cause this is Greenwood's. Intervals of F as those of S (kaplan-meier.ts).   (docs/math/survival.md §6)
 */
import { checkOption, DtmError } from "../errors.ts";
import { normalQuantile } from "../numeric/special.ts";
import { type CompetingFollowUp, checkFollowUp, tiesOf } from "./follow-up.ts";
import { type IntervalType, type KaplanMeierOptions, noEventBound, shareBounds } from "./kaplan-meier.ts";

/** One cause: its events and its curve, a step function from 0, [J]. */
export interface Incidence {
  readonly numEvents: number;
  readonly incidence: Float64Array; // F_k
  readonly standardErrors: Float64Array;
  /** NaN while F is 0 (`incidenceAt` has an exact bound), and where it has reached 1. */
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** Entry j holds from `times[j]` on. */
export interface AalenJohansen {
  readonly numIndividuals: number;
  /** Distinct times of events and censorings, increasing, [J]. */
  readonly times: Float64Array;
  readonly atRisk: Float64Array; // n_j just before
  /** Share without any event. */
  readonly survival: Float64Array;
  /** Of cause 1, 2, …. */
  readonly causes: readonly Incidence[];
  readonly level: number;
  readonly interval: IntervalType;
}

/** Curves of causes 1..K of one group. */
export function aalenJohansen(
  followUp: CompetingFollowUp,
  numCauses: number,
  { level = 0.95, interval = "log-log" }: KaplanMeierOptions = {},
): AalenJohansen {
  checkCauses(followUp, numCauses, "aalenJohansen");
  checkOption(level > 0 && level < 1, "aalenJohansen: level", "a share between 0 and 1", level, "Try 0.95.");
  const { times: ends, causes: causeOf } = followUp;
  const order = Int32Array.from(ends, (_, i) => i).sort((a, b) => ends[a] - ends[b]);
  const ties = tiesOf(order, followUp);
  const column = () => new Float64Array(ties.length);
  const [atRisk, survival] = [column(), column()];
  const causes = Array.from({ length: numCauses }, () => ({
    numEvents: 0,
    ...{ incidence: column(), standardErrors: column(), lower: column(), upper: column() },
  }));
  const z = normalQuantile(0.5 + 0.5 * level);
  const moments = causes.map(() => ({ u: 0, F: 0, square: 0, product: 0 }));
  let [S, n, u0, square0] = [1, order.length, 0, 0];
  for (const [j, ending] of ties.entries()) {
    const events = causes.map((_, k) => ending.filter((i) => causeOf[i] === k + 1).length);
    const d = events.reduce((a, b) => a + b, 0);
    const h = d / n;
    const gain = S / n; // what an event of one's own adds to U, and takes from U_0
    const u0Next = u0 * (1 - h) + gain * h;
    for (const [k, m] of moments.entries()) {
      const hk = events[k] / n;
      m.F += S * hk;
      // Those who left before: U_k + h_k U_0, with U_0 as it was.
      m.square += 2 * hk * m.product + hk * hk * square0;
      m.product = (1 - h) * (m.product + hk * square0);
      m.u += hk * u0 - gain * hk;
      // Those who leave now, with this event, with another, or censored.
      const leavers: readonly [number, number, number][] = [
        [events[k], u0Next - gain, m.u + gain],
        [d - events[k], u0Next - gain, m.u],
        [ending.length - d, u0Next, m.u],
      ];
      for (const [count, own0, own] of leavers) {
        m.square += count * own * own;
        m.product += count * own0 * own;
      }
      const curve = causes[k];
      const se = Math.sqrt(Math.max(0, m.square + (n - ending.length) * m.u * m.u));
      curve.numEvents += events[k];
      [curve.incidence[j], curve.standardErrors[j]] = [m.F, se];
      [curve.lower[j], curve.upper[j]] =
        m.F > 0 && m.F < CERTAIN ? shareBounds(m.F, (se / m.F) ** 2, z, interval) : [Number.NaN, Number.NaN];
    }
    square0 = (1 - h) ** 2 * square0 + d * (u0Next - gain) ** 2 + (ending.length - d) * u0Next ** 2;
    u0 = u0Next;
    atRisk[j] = n;
    S *= (n - d) / n;
    survival[j] = S;
    n -= ending.length;
  }
  const times = Float64Array.from(ties, ([i]) => ends[i]);
  return { numIndividuals: order.length, times, atRisk, survival, causes, level, interval };
}

/** Sums of steps that end at 1 may miss it by rounding; at 1 there is no interval. */
const CERTAIN = 1 - 1e-12;

/** What reading one cause needs; `AalenJohansen` with a cause is one, and so is what JSON brings back of it. */
export interface IncidenceSteps {
  readonly times: ArrayLike<number>;
  readonly atRisk: ArrayLike<number>;
  readonly incidence: ArrayLike<number>;
  readonly lower: ArrayLike<number>;
  readonly upper: ArrayLike<number>;
  /** Default 0.95. */
  readonly level?: number;
}

/** A curve of one cause at one time. */
export interface IncidencePoint {
  readonly time: number;
  readonly incidence: number;
  /** While F is 0, from 0 to Clopper and Pearson's bound for no event among those at risk; NaN where there is none. */
  readonly lower: number;
  readonly upper: number;
  readonly atRisk: number;
  readonly noEvent: boolean;
}

/** F, its interval and the number at risk at given times. */
export function incidenceAt(curve: IncidenceSteps, times: ArrayLike<number>): IncidencePoint[] {
  return Array.from(times, (time) => {
    let j = -1;
    while (j + 1 < curve.times.length && curve.times[j + 1] <= time) j++;
    const next = j >= 0 && curve.times[j] === time ? j : j + 1;
    const atRisk = next < curve.times.length ? curve.atRisk[next] : 0;
    const incidence = j < 0 ? 0 : curve.incidence[j];
    const noEvent = incidence === 0;
    const upper = noEvent ? 1 - noEventBound(time, atRisk, curve.level ?? 0.95) : curve.upper[j];
    return { time, incidence, lower: noEvent ? 0 : curve.lower[j], upper, atRisk, noEvent };
  });
}

/** Throws unless every cause is a whole number from 0 to K and every time is finite and not negative. */
function checkCauses({ times, causes }: CompetingFollowUp, numCauses: number, where: string): void {
  checkFollowUp({ times, events: Float64Array.from(causes, (cause) => (cause === 0 ? 0 : 1)) }, where);
  const wrong = Array.from(causes).findIndex((cause) => !Number.isInteger(cause) || cause < 0 || cause > numCauses);
  if (wrong >= 0) {
    throw new DtmError(
      "follow-up",
      `${where}: expected causes 0 (censored), 1 to ${numCauses} (events), received ${causes[wrong]} for individual ${wrong}.`,
    );
  }
}
