/**
 * Kaplan–Meier curves by group with 95% bands and the number at risk below. Shown to the owner of the data they are whole, step by step. In a shared
 * report they are read off on a lattice of sixty times, end where fewer than the limit are at risk, and are straight between points
 * (shared-curve.ts), so that no single event can be told from the drawing.
 */
import * as Plot from "@observablehq/plot";
import { rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import { groupStyle } from "../theme.ts";
import { badge } from "./badge.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import {
  type Curve,
  drawnAt,
  eventTotals,
  type SharedCurve,
  shareCurves,
  survivalAt,
  type ToldTimes,
} from "./shared-curve.ts";
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

const LATTICE = 60;
/** Smaller steps are not seen. */
const MOST_STEPS = 2000;

/** "years since the landmark". */
export function sinceLandmark(timeUnit: string): string {
  return `${timeUnit.trim() === "" ? "time" : timeUnit.trim()} since the landmark`;
}

/** Times at which numbers at risk are written. */
export function riskTimes(survival: StudySurvival): number[] {
  return roundTicks(0, lastTime(survival), 5);
}

/**
 * The times of the study at which risks are told; of older results 1, 3, 5 and 10 units of time where follow-up is that long and not much
 * longer, else the first three marks of the axis.
 */
export function riskHorizons(survival: StudySurvival): readonly number[] {
  if (survival.riskTimes !== undefined && survival.riskTimes.length > 0) return survival.riskTimes;
  const marks = riskTimes(survival).filter((t) => t > 0);
  const last = marks[marks.length - 1] ?? 0;
  return last >= 4 && last <= 30 ? [1, 3, 5, 10].filter((t) => t <= Math.max(last, 5)) : marks.slice(0, 3);
}

/** Times at which tables tell curves: those of risks first, then these marks of the axis; everyone together at those of calibration. */
export function toldTimes(survival: StudySurvival, marks: readonly number[]): ToldTimes {
  const sums = survival.risk?.calibration.map(({ time }) => time) ?? [];
  return { times: [...new Set([...riskHorizons(survival), ...marks])], sums };
}

/** The curves of the study as they may be shown, in their order. */
export function sharedSurvival(survival: StudySurvival, smallCell: number): SharedCurve[] {
  const { curves } = survival;
  return shareCurves(curves, curves.map(eventTotals), toldTimes(survival, riskTimes(survival)), smallCell);
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
  const shared = sharedSurvival(survival, smallCell);
  const drawn = groups.flatMap((group) => {
    const own = shared.find(({ curve }) => curve.group === group.group);
    return own === undefined ? [] : [{ ...group, curve: own.curve, rows: drawnPoints(own, last) }];
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

/** Times at which a curve is drawn: its own, or those of the lattice where it is shared. */
function drawnTimes({ times }: Curve, last: number, smallCell: number): number[] {
  if (smallCell > 1) return Array.from({ length: LATTICE + 1 }, (_, k) => (last * k) / LATTICE);
  const stride = Math.ceil(times.length / MOST_STEPS);
  return [0, ...Array.from(times).filter((_, j) => j % stride === 0 || j === times.length - 1)];
}

/** Points of a curve as it is drawn. */
export function drawnPoints(shared: SharedCurve, last: number) {
  const { curve, smallCell } = shared;
  const rows: { t: number; s: number; l: number; u: number }[] = [];
  for (const t of drawnTimes(curve, last, smallCell)) {
    const { survival, lower, upper, atRisk, fewEvents } = drawnAt(shared, t);
    if (atRisk < smallCell || fewEvents) break;
    const known = Number.isFinite(lower) && Number.isFinite(upper);
    rows.push({ t, s: survival, l: known ? lower : survival, u: known ? upper : survival });
  }
  return rows;
}

/**
 * Heights moved apart so that labels of height `gap` do not touch: sorted, then pushed by the smallest gap and brought back inside. The lowest stays clear
 * of what is written below the axis.
 */
export function spreadLabels(at: readonly number[], gap: number): number[] {
  const order = at.map((_, k) => k).sort((a, b) => at[a] - at[b] || a - b);
  const out = at.map((height) => Math.max(height, gap / 2));
  for (let k = 1; k < order.length; k++) out[order[k]] = Math.max(out[order[k]], out[order[k - 1]] + gap);
  const over = order.length > 0 ? out[order[order.length - 1]] - 1 : 0;
  if (over > 0) {
    out[order[order.length - 1]] -= over;
    for (let k = order.length - 2; k >= 0; k--) out[order[k]] = Math.min(out[order[k]], out[order[k + 1]] - gap);
  }
  return out;
}
