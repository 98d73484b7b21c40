/**
 * What a shared report tells of curves. From exact steps and numbers at risk every single event could be counted; between two values that are told, by a
 * figure or a table, there are therefore no events, or five and more. The times of tables come first: where the rule allows it their values are exact, with
 * their own intervals, and the figure passes through them; elsewhere they are held back, never read off a straight line. The figure is straight between
 * its points. (Held until five events have come, it would lie above the true curve all the way.) With fewer than five events in all nothing
 * is drawn from the first on.
 */
import { curveAt, type SurvivalPoint } from "@trajectory-maps/core/study";
import { isSmall, NONE } from "../numbers.ts";
import { LEFT_OPEN, ROUNDED_TO, roughRange, roundedToFives, WITHHELD } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";

export type Curve = StudySurvival["curves"][number];

/** Events that lie between two told values of a shared curve at least, if any do. */
const EVENTS_PER_STEP = ROUNDED_TO;

interface Knot {
  readonly time: number;
  readonly survival: number;
  readonly lower: number;
  readonly upper: number;
}

/** A curve as a report may show it. */
export interface SharedCurve {
  readonly curve: Curve;
  readonly smallCell: number;
  /** Events up to each of its times. */
  readonly totals: readonly number[];
  /** Events up to the points of the figure, increasing from 0; empty where there are too few to draw any. */
  readonly corners: readonly number[];
  /** Points that the figure connects. */
  readonly knots: readonly Knot[];
  /** Times at which tables tell the exact value. */
  readonly exact: readonly number[];
}

/** Times at which tables tell curves, the most important ones first, and those at which all curves together are told. */
export interface ToldTimes {
  readonly times: readonly number[];
  readonly sums?: readonly number[];
}

/** S, its band and the number at risk of a curve at one time; before the first event the band is exact. */
export function survivalAt(curve: Curve, time: number): SurvivalPoint {
  return curveAt(curve, [time])[0];
}

/** Events of a Kaplan–Meier curve up to each of its times. */
export function eventTotals({ atRisk, survival }: Curve): number[] {
  let [before, total] = [1, 0];
  return Array.from(survival, (S, j) => {
    if (before > 0) total += Math.round(atRisk[j] * (1 - S / before));
    before = S;
    return total;
  });
}

/** Curves of groups as they may be shown beside each other; `totals` are their events up to each of their times. */
export function shareCurves(
  curves: readonly Curve[],
  totals: readonly (readonly number[])[],
  { times, sums = [] }: ToldTimes,
  smallCell: number,
): SharedCurve[] {
  const held = curves.map(() => new Set<number>());
  for (;;) {
    const shared = curves.map((curve, k) => {
      const told = times.filter((t) => !held[k].has(t));
      return shareCurve(curve, totals[k], told, smallCell);
    });
    const covers = sums.flatMap((time) => coverAt(shared, time).map((k) => ({ k, time })));
    if (covers.length === 0) return shared;
    for (const { k, time } of covers) held[k].add(time);
  }
}

/** One curve as it may be shown, exact at as many of these times as can be. */
function shareCurve(curve: Curve, totals: readonly number[], times: readonly number[], smallCell: number): SharedCurve {
  const given = { curve, totals, smallCell };
  if (smallCell <= 1) return { ...given, corners: [], knots: [], exact: times };
  const seen = seenEvents(curve, totals, smallCell);
  const end = seen[seen.length - 1]?.total ?? 0;
  if (end < EVENTS_PER_STEP) return { ...given, corners: [], knots: [], exact: [] };
  const fixed = [0, end];
  const exact = times.filter((time) => {
    const total = eventsUntil(given, time);
    if (total === 0 || survivalAt(curve, time).atRisk < smallCell) return false;
    if (!fixed.every((other) => other === total || Math.abs(other - total) >= EVENTS_PER_STEP)) return false;
    fixed.push(total);
    return true;
  });
  const anchors = [...new Set(fixed)].sort((a, b) => a - b);
  const corners = anchors.flatMap((to, k) => (k === 0 ? [to] : [...between(seen, anchors[k - 1], to), to]));
  // Just before the first event S is 1, with the bound for no event among those at risk.
  const first = seen[0].time;
  const ends = seen.flatMap(({ time, total }) => (corners.includes(total) ? [time] : []));
  const knots: Knot[] = [...new Set([...ends, ...exact])].sort((a, b) => a - b).map((time) => survivalAt(curve, time));
  return {
    ...given,
    corners,
    knots: [{ time: first, survival: 1, lower: boundBefore(curve, first), upper: 1 }, ...knots],
    exact,
  };
}

interface Seen {
  readonly time: number;
  readonly total: number;
}

/** Times of events while enough are at risk. */
function seenEvents(curve: Curve, totals: readonly number[], smallCell: number): Seen[] {
  const few = Array.from(curve.atRisk).findIndex((n) => n < smallCell);
  const seen = totals.slice(0, few < 0 ? undefined : few);
  return seen.flatMap((total, j) => (total > (seen[j - 1] ?? 0) ? [{ time: curve.times[j], total }] : []));
}

/** Ends of equal parts of the events between two corners: as many parts as can have five or more each. */
function between(seen: readonly Seen[], from: number, to: number): number[] {
  const parts = Math.floor((to - from) / EVENTS_PER_STEP);
  const size = (to - from) / parts;
  const corners: number[] = [];
  let [part, last] = [1, from];
  for (const { total } of seen) {
    if (total <= from || total >= to) continue;
    // Where several have the event at once a part may be larger, and the one after it is then joined to the next.
    if (total - from < Math.round(part * size) || total - last < EVENTS_PER_STEP) continue;
    if (to - total < EVENTS_PER_STEP) continue;
    corners.push(total);
    last = total;
    part = Math.floor((last - from) / size) + 1;
  }
  return corners;
}

/** Lower bound of a curve just before its first event at `time`. */
function boundBefore(curve: Curve, time: number): number {
  const before = Array.from(curve.times).filter((t) => t < time);
  return survivalAt(curve, 0.5 * ((before[before.length - 1] ?? 0) + time)).lower;
}

function eventsUntil({ curve, totals }: Pick<SharedCurve, "curve" | "totals">, time: number): number {
  const after = Array.from(curve.times).findIndex((t) => t > time);
  return (after < 0 ? totals[totals.length - 1] : totals[after - 1]) ?? 0;
}

/** Events up to a time as a reader may bound them, and whether the exact number would tell of 1 to 4. */
function openEvents(shared: SharedCurve, time: number) {
  const { curve, corners, smallCell } = shared;
  const events = eventsUntil(shared, time);
  const told = toldAt(shared, time).told;
  if (told === "value" || told === "no event") return { events, low: events, high: events, isOpen: false };
  const below = Math.max(0, ...corners.filter((total) => total <= events));
  const above = told === "few at risk" ? undefined : corners.find((total) => total > events);
  const most = above ?? roughRange(curve.numEvents, smallCell)[1];
  const isFew = (n: number) => isSmall(n, EVENTS_PER_STEP);
  return {
    events,
    low: told === "few events" ? 1 : below,
    high: told === "few events" ? EVENTS_PER_STEP - 1 : most,
    isOpen: isFew(events - below) || isFew((above ?? curve.numEvents) - events),
  };
}

/**
 * At a time at which all curves together are told: what else must be held back there, so that subtraction leaves three numbers of events or more
 * for one that is. Of the others the one with the fewest events is taken.
 */
function coverAt(shared: readonly SharedCurve[], time: number): number[] {
  const open = shared.map((own) => openEvents(own, time));
  const sum = (pick: (k: (typeof open)[number]) => number) => open.reduce((all, own) => all + pick(own), 0);
  const [all, low, high] = [sum((own) => own.events), sum((own) => own.low), sum((own) => own.high)];
  const isTold = open.some((own) => {
    if (!own.isOpen) return false;
    const from = Math.max(own.low, all - (high - own.high));
    const until = Math.min(own.high, all - (low - own.low));
    return until - from + 1 < Math.min(LEFT_OPEN, own.high - own.low + 1);
  });
  if (!isTold) return [];
  const others = open.flatMap(({ events }, k) => (shared[k].exact.includes(time) ? [{ events, k }] : []));
  return others
    .sort((a, b) => a.events - b.events)
    .slice(0, 1)
    .map(({ k }) => k);
}

/** Whether a table tells a value, and why not. */
type Told = "value" | "no event" | "few at risk" | "few events" | "withheld";

/** What a table writes in place of a value that it does not tell; nothing where it does. */
export function heldText(told: Told): string | undefined {
  if (told === "few at risk") return NONE;
  if (told === "few events") return `fewer than ${EVENTS_PER_STEP} events`;
  return told === "withheld" ? WITHHELD : undefined;
}

/** What tables with values held back say of them. */
export function heldNote(smallCell: number): string {
  return smallCell > 1
    ? ` Values in tables are exact, or ${WITHHELD} where, beside each other and the figure, they would tell of 1 to ${EVENTS_PER_STEP - 1} events.`
    : "";
}

/** What captions of figures say of the curves. */
export function curveNote(smallCell: number): string {
  return smallCell > 1
    ? ` Curves are read at sixty times and end where fewer than ${smallCell} are at risk; they are straight between points with ${EVENTS_PER_STEP} events or more between them, not drawn from the first event on where there are fewer, and numbers at risk are ${roundedToFives(smallCell)}.${heldNote(smallCell)}`
    : "";
}

/** A value of a table: exact if it is told. */
export function toldAt(shared: SharedCurve, time: number): SurvivalPoint & { readonly told: Told } {
  const { curve, smallCell, exact } = shared;
  const point = survivalAt(curve, time);
  const told = (why: Told) => ({ ...point, told: why });
  if (point.atRisk < Math.max(1, smallCell)) return told("few at risk");
  if (point.noEvent) return told("no event");
  if (smallCell <= 1 || exact.includes(time)) return told("value");
  return told(eventsUntil(shared, time) < EVENTS_PER_STEP ? "few events" : "withheld");
}

/** A point of the curve as it is drawn. */
export function drawnAt(
  { curve, smallCell, knots }: SharedCurve,
  time: number,
): SurvivalPoint & { readonly fewEvents: boolean } {
  const point = survivalAt(curve, time);
  if (smallCell <= 1 || point.noEvent) return { ...point, fewEvents: false };
  if (knots.length === 0) {
    return { ...point, survival: Number.NaN, lower: Number.NaN, upper: Number.NaN, fewEvents: true };
  }
  const next = knots.findIndex((knot) => knot.time >= time);
  const to = next < 0 ? knots[knots.length - 1] : knots[next];
  const from = next > 0 ? knots[next - 1] : to;
  const part = next > 0 ? (time - from.time) / (to.time - from.time) : 1;
  const mix = (pick: (knot: Knot) => number) => (1 - part) * pick(from) + part * pick(to);
  return {
    ...point,
    survival: mix((knot) => knot.survival),
    lower: mix((knot) => knot.lower),
    upper: mix((knot) => knot.upper),
    fewEvents: false,
  };
}
