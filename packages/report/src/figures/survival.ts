/**
 * Kaplan–Meier curves by group with 95% bands and the number at risk below. Curves are read off on a lattice of sixty
 * times and end where fewer than the limit are at risk; in a shared report they are straight between points with
 * five events or more between them, so that no single event can be told from the drawing.
 */
import * as Plot from "@observablehq/plot";
import { curveAt, type SurvivalPoint } from "@trajectory-maps/core/study";
import { ROUNDED_TO, rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import { groupStyle } from "../theme.ts";
import { badge } from "./badge.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { type Canvas, label, makeRoot, penOf, placed } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

export interface SurvivalFigure {
  readonly survival: StudySurvival;
  /** Groups in the order of the letters; `rank` gives the colour, which must be that of the map. */
  readonly groups: readonly {
    readonly group: number;
    readonly letter: string;
    readonly name: string;
    readonly rank: number;
  }[];
  readonly timeUnit: string;
  readonly smallCell: number;
}

type Curve = StudySurvival["curves"][number];

const LATTICE = 60;

/** S, its band and the number at risk of a curve at one time; before the first event the band is exact. */
export function survivalAt(curve: Curve, time: number): SurvivalPoint {
  return curveAt(curve, [time])[0];
}

/** Events that lie between two knots of a shared curve at least. */
export const EVENTS_PER_STEP = ROUNDED_TO;

interface Knot {
  readonly time: number;
  readonly survival: number;
  readonly lower: number;
  readonly upper: number;
}

/**
 * A point of a curve as it may be shown. From exact steps and numbers at risk every single event could be counted; where
 * small cells are held back the curve is therefore straight between points with five events or more between them. (Held
 * until five have come, it would lie above the true one all the way.) With fewer than five events in all nothing is shown
 * from the first on.
 */
export function sharedPoint(
  curve: Curve,
  time: number,
  smallCell: number,
): SurvivalPoint & { readonly fewEvents: boolean } {
  const point = survivalAt(curve, time);
  if (smallCell <= 1 || point.noEvent) return { ...point, fewEvents: false };
  const knots = sharedKnots(curve, smallCell);
  if (knots.length < 2) {
    return { ...point, survival: Number.NaN, lower: Number.NaN, upper: Number.NaN, fewEvents: true };
  }
  const next = knots.findIndex((knot) => knot.time >= time);
  const to = next < 0 ? knots[knots.length - 1] : knots[next];
  const from = next > 0 ? knots[next - 1] : to;
  const part = next > 0 ? (time - from.time) / (to.time - from.time) : 1;
  const between = (pick: (knot: Knot) => number) => (1 - part) * pick(from) + part * pick(to);
  return {
    ...point,
    survival: between((knot) => knot.survival),
    lower: between((knot) => knot.lower),
    upper: between((knot) => knot.upper),
    fewEvents: false,
  };
}

/**
 * The first event, then the ends of equal parts of the events while enough are at risk: as many parts as can have five or
 * more each.
 */
function sharedKnots(curve: Curve, smallCell: number): Knot[] {
  const seen: { readonly time: number; readonly total: number }[] = [];
  let [before, total] = [1, 0];
  for (let j = 0; j < curve.times.length && curve.atRisk[j] >= smallCell; j++) {
    const events = before > 0 ? Math.round(curve.atRisk[j] * (1 - curve.survival[j] / before)) : 0;
    before = curve.survival[j];
    total += events;
    if (events > 0) seen.push({ time: curve.times[j], total });
  }
  const parts = Math.floor(total / EVENTS_PER_STEP);
  if (parts === 0) return [];
  // Just before the first event S is 1, with the bound for no event among those at risk.
  const first = seen[0].time;
  const knots: Knot[] = [{ time: first, survival: 1, lower: noEventBound(curve, first), upper: 1 }];
  let [part, last] = [1, 0];
  for (const at of seen) {
    // Where several have the event at once a part may be larger, and the one after it is then joined to the next.
    if (at.total < Math.round((part * total) / parts) || at.total - last < EVENTS_PER_STEP) continue;
    if (at.total !== total && total - at.total < EVENTS_PER_STEP) continue;
    knots.push(survivalAt(curve, at.time));
    last = at.total;
    part = Math.floor((last * parts) / total) + 1;
  }
  return knots;
}

/** Lower bound of a curve just before its first event at `time`. */
function noEventBound(curve: Curve, time: number): number {
  const before = Array.from(curve.times).filter((t) => t < time);
  return survivalAt(curve, 0.5 * ((before[before.length - 1] ?? 0) + time)).lower;
}

/** "years since the landmark". */
export function sinceLandmark(timeUnit: string): string {
  return `${timeUnit.trim() === "" ? "time" : timeUnit.trim()} since the landmark`;
}

/** Times at which numbers at risk are written. */
export function riskTimes(survival: StudySurvival): number[] {
  return roundTicks(0, lastTime(survival), 5);
}

function lastTime({ curves }: StudySurvival): number {
  return Math.max(1e-9, ...curves.map(({ times }) => (times.length > 0 ? times[times.length - 1] : 0)));
}

/** Curves and numbers at risk as SVG. */
export function drawSurvival(data: SurvivalFigure, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 720);
  const { survival, groups, smallCell } = data;
  const last = lastTime(survival);
  const height = 336;
  const [marginLeft, marginRight] = [44, 46];
  // Above the curves stands the title of y, below them labels and title of x.
  const [marginTop, marginBottom] = [26, 38];
  const plotHeight = height - marginTop - marginBottom;
  const drawn = groups.flatMap((group) => {
    const curve = survival.curves.find((c) => c.group === group.group);
    return curve === undefined ? [] : [{ ...group, curve, rows: lattice(curve, last, smallCell) }];
  });
  const ends = spreadLabels(
    drawn.map(({ rows }) => rows[rows.length - 1]?.s ?? 1),
    16 / plotHeight,
  );
  const drawing = chart(pen, {
    height,
    marginLeft,
    marginRight,
    x: { domain: [0, last], ticks: roundTicks(0, last, 5), format: trim },
    xTitle: sinceLandmark(data.timeUnit),
    y: { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], format: (v) => `${Math.round(100 * v)}%` },
    yTitle: `without ${survival.event}`,
    marks: drawn.flatMap(({ rank, rows }) => {
      const { colour } = groupStyle(pen.tokens, rank);
      const curve = smallCell > 1 ? "linear" : "step-after";
      return [
        Plot.areaY(rows, { x: "t", y1: "l", y2: "u", fill: colour, fillOpacity: 0.1, curve }),
        Plot.line(rows, { x: "t", y: "s", stroke: colour, strokeWidth: 2.1, curve }),
      ];
    }),
  });
  const root = makeRoot(pen, 10, placed(drawing, 0, 0));
  const px = (t: number) => marginLeft + ((pen.width - marginLeft - marginRight) * t) / last;
  const py = (s: number) => marginTop + plotHeight * (1 - s);
  drawn.forEach(({ rank, letter, rows }, k) => {
    const end = rows[rows.length - 1];
    if (end !== undefined)
      root.append(badge(pen, rank, letter, Math.min(px(end.t) + 13, pen.width - 9), py(ends[k]), 8));
  });
  let y = height + 16;
  root.append(label(pen, "at risk", 0, y, { fill: pen.tokens.ink3 }));
  for (const { rank, letter, curve } of drawn) {
    y += 19;
    root.append(badge(pen, rank, letter, 8, y - 4, 7));
    for (const t of riskTimes(survival)) {
      root.append(label(pen, rough(survivalAt(curve, t).atRisk, smallCell), px(t), y, { "text-anchor": "middle" }));
    }
  }
  setHeight(pen, root, y + 8);
  return root;
}

function lattice(curve: Curve, last: number, smallCell: number) {
  const rows: { t: number; s: number; l: number; u: number }[] = [];
  for (let k = 0; k <= LATTICE; k++) {
    const t = (last * k) / LATTICE;
    const { survival, lower, upper, atRisk, fewEvents } = sharedPoint(curve, t, smallCell);
    if (atRisk < smallCell || fewEvents) break;
    const known = Number.isFinite(lower) && Number.isFinite(upper);
    rows.push({ t, s: survival, l: known ? lower : survival, u: known ? upper : survival });
  }
  return rows;
}

/** Heights moved apart so that labels do not touch: sorted, then pushed by the smallest gap and brought back inside. */
export function spreadLabels(at: readonly number[], gap: number): number[] {
  const order = at.map((_, k) => k).sort((a, b) => at[a] - at[b] || a - b);
  const out = [...at];
  for (let k = 1; k < order.length; k++) out[order[k]] = Math.max(out[order[k]], out[order[k - 1]] + gap);
  const over = order.length > 0 ? out[order[order.length - 1]] - 1 : 0;
  if (over > 0) {
    out[order[order.length - 1]] -= over;
    for (let k = order.length - 2; k >= 0; k--) out[order[k]] = Math.min(out[order[k]], out[order[k + 1]] - gap);
  }
  return out;
}
