/**
 * Cumulative incidence of the event and of competing ones, a panel each on one scale; predicted against observed risk. Curves are
 * shared as survival curves are (figures/shared-curve.ts).
 */
import * as Plot from "@observablehq/plot";
import { rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import type { StudyIncidence } from "../study-risk.ts";
import { groupStyle } from "../theme.ts";
import { badge } from "./badge.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { type Curve, drawnAt, type SharedCurve, shareCurves, survivalAt } from "./shared-curve.ts";
import { type SurvivalFigure, sinceLandmark, spreadLabels, toldTimes } from "./survival.ts";
import { type Canvas, fitText, label, makeRoot, penOf, placed } from "./svg.ts";
import { niceStep, roundTicks } from "./ticks.ts";

export interface IncidenceFigure extends Omit<SurvivalFigure, "survival"> {
  readonly shared: readonly SharedIncidence[];
  /** The event, then competing ones. */
  readonly events: readonly string[];
}

const LATTICE = 60;

/** Curves of all causes of one group as they may be shown, each mirrored: what has not had the event. */
export interface SharedIncidence {
  readonly group: number;
  readonly incidence: StudyIncidence;
  readonly causes: readonly SharedCurve[];
}

/** Events of one cause up to each time: F rises by S(t−) d/n, where S is what no cause has ended. */
function causeTotals({ causes, atRisk }: StudyIncidence, cause: number): number[] {
  const before = (k: number, j: number) => (j === 0 ? 0 : causes[k].incidence[j - 1]);
  let total = 0;
  return Array.from(atRisk, (n, j) => {
    const left = 1 - causes.reduce((sum, _, k) => sum + before(k, j), 0);
    const step = causes[cause].incidence[j] - before(cause, j);
    if (step > 0 && left > 0) total += Math.round((n * step) / left);
    return total;
  });
}

function mirrored({ times, atRisk, group, numIndividuals, causes }: StudyIncidence, cause: number): Curve {
  const { numEvents, incidence, lower, upper } = causes[cause];
  const less = (values: ArrayLike<number | null>) => Array.from(values, (v) => (v === null ? Number.NaN : 1 - v));
  const bounds = { survival: less(incidence), lower: less(upper), upper: less(lower) };
  return { group, numIndividuals, numEvents, times, atRisk, ...bounds };
}

/** The curves of competing events as they may be shown; everyone together is told of the event itself alone. */
export function sharedIncidences(survival: StudySurvival, smallCell: number): SharedIncidence[] {
  const curves = survival.competing?.curves ?? [];
  const { times, sums = [] } = toldTimes(survival, incidenceTimes(curves));
  const causes = (curves[0]?.causes ?? []).map((_, cause) =>
    shareCurves(
      curves.map((curve) => mirrored(curve, cause)),
      curves.map((curve) => causeTotals(curve, cause)),
      { times, sums: cause === 0 ? sums : [] },
      smallCell,
    ),
  );
  return curves.map((incidence, g) => ({ group: incidence.group, incidence, causes: causes.map((own) => own[g]) }));
}

/** A point of a mirrored curve as it was. */
export function incidenceOf<T extends { readonly survival: number; readonly lower: number; readonly upper: number }>(
  point: T,
): T & { readonly incidence: number } {
  return { ...point, incidence: 1 - point.survival, lower: 1 - point.upper, upper: 1 - point.lower };
}

/** Times at which numbers at risk are written. */
export function incidenceTimes(curves: readonly StudyIncidence[]): number[] {
  return roundTicks(0, lastTime(curves), 4);
}

function lastTime(curves: readonly StudyIncidence[]): number {
  return Math.max(1e-9, ...curves.map(({ times }) => (times.length > 0 ? times[times.length - 1] : 0)));
}

/** Panels of curves and the numbers at risk below the first. */
export function drawIncidence(data: IncidenceFigure, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 720);
  const { shared, events, groups, smallCell } = data;
  const curves = shared.map(({ incidence }) => incidence);
  const last = lastTime(curves);
  const [gap, height, marginLeft, marginRight, marginTop, marginBottom] = [16, 320, 40, 30, 26, 38];
  const width = (pen.width - gap * (events.length - 1)) / events.length;
  const drawn = groups.flatMap((group) => {
    const own = shared.find((c) => c.group === group.group);
    return own === undefined ? [] : [{ ...group, own, rows: own.causes.map((cause) => lattice(cause, last)) }];
  });
  const most = Math.max(0.05, ...drawn.flatMap(({ rows }) => rows.flat().map(({ u }) => u)));
  const step = niceStep(most, 4);
  const top = Math.min(1, Math.ceil(most / step - 1e-9) * step);
  const plotHeight = height - marginTop - marginBottom;
  const root = makeRoot(pen, 10);
  const px = (t: number) => marginLeft + ((width - marginLeft - marginRight) * t) / last;
  for (const [cause, event] of events.entries()) {
    const left = cause * (width + gap);
    const drawing = chart(
      { ...pen, width },
      {
        height,
        marginLeft,
        marginRight,
        x: { domain: [0, last], ticks: incidenceTimes(curves), format: trim },
        xTitle: sinceLandmark(data.timeUnit),
        y: { domain: [0, top], ticks: roundTicks(0, top, 4), format: (v) => `${Math.round(100 * v)}%` },
        yTitle: fitText(`with ${event}`, 11, width),
        marks: drawn.flatMap(({ rank, rows }) => {
          const { colour } = groupStyle(pen.tokens, rank);
          const curve = smallCell > 1 ? "linear" : "step-after";
          return [
            Plot.areaY(rows[cause], { x: "t", y1: "l", y2: "u", fill: colour, fillOpacity: 0.1, curve }),
            Plot.line(rows[cause], { x: "t", y: "s", stroke: colour, strokeWidth: 2.1, curve }),
          ];
        }),
      },
    );
    root.append(placed(drawing, left, 0));
    const ends = spreadLabels(
      drawn.map(({ rows }) => (rows[cause][rows[cause].length - 1]?.s ?? 0) / top),
      16 / plotHeight,
    );
    for (const [k, { rank, letter, rows }] of drawn.entries()) {
      const end = rows[cause][rows[cause].length - 1];
      if (end === undefined) continue;
      const x = Math.min(left + px(end.t) + 13, left + width - 9);
      root.append(badge(pen, rank, letter, x, marginTop + plotHeight * (1 - ends[k]), 8));
    }
  }
  let y = height + 16;
  root.append(label(pen, "at risk", 0, y, { fill: pen.tokens.ink3 }));
  for (const { rank, letter, own } of drawn) {
    y += 19;
    root.append(badge(pen, rank, letter, 8, y - 4, 7));
    for (const t of incidenceTimes(curves)) {
      const { atRisk } = survivalAt(own.causes[0].curve, t);
      root.append(label(pen, rough(atRisk, smallCell), px(t), y, { "text-anchor": "middle" }));
    }
  }
  setHeight(pen, root, y + 8);
  return root;
}

function lattice(shared: SharedCurve, last: number) {
  const rows: { t: number; s: number; l: number; u: number }[] = [];
  for (let k = 0; k <= LATTICE; k++) {
    const t = (last * k) / LATTICE;
    const { incidence: s, lower, upper, atRisk, fewEvents } = incidenceOf(drawnAt(shared, t));
    if (atRisk < shared.smallCell || fewEvents) break;
    const known = Number.isFinite(lower) && Number.isFinite(upper);
    rows.push({ t, s, l: known ? lower : s, u: known ? upper : s });
  }
  return rows;
}

type Calibration = NonNullable<NonNullable<StudySurvival["risk"]>["calibration"]>[number];

/** Whether a part is large enough to be shown: as many individuals and events as a small cell, or no event. */
export function isShown({ numIndividuals, numEvents }: Calibration["groups"][number], smallCell: number): boolean {
  return numIndividuals >= smallCell && (numEvents === 0 || numEvents >= smallCell);
}

/** Predicted against observed risk, a panel for each time. */
export function drawCalibration(
  calibration: readonly Calibration[],
  timeUnit: string,
  smallCell: number,
  canvas: Canvas,
): SVGSVGElement {
  const pen = penOf(canvas, 720);
  const gap = 16;
  const width = (pen.width - gap * (calibration.length - 1)) / calibration.length;
  const height = Math.min(300, width + 30);
  const root = makeRoot(pen, height);
  const shares = {
    domain: [0, 1] as const,
    ticks: [0, 0.25, 0.5, 0.75, 1],
    format: (v: number) => `${Math.round(100 * v)}%`,
  };
  for (const [k, { time, overall, groups }] of calibration.entries()) {
    const isTold = (group: Calibration["groups"][number]) => isShown(group, smallCell);
    const [shown, everyone] = [groups.filter(isTold), [overall].filter(isTold)];
    const whiskers = [...shown, ...everyone].filter(
      ({ lower, upper }) => Number.isFinite(lower) && Number.isFinite(upper),
    );
    const drawing = chart(
      { ...pen, width },
      {
        height,
        marginLeft: 40,
        marginRight: 18,
        x: shares,
        y: shares,
        xTitle: "predicted risk",
        yTitle: fitText(`observed by ${trim(time)} ${timeUnit}`.trim(), 11, width),
        marks: [
          Plot.line(
            [
              [0, 0],
              [1, 1],
            ],
            { stroke: pen.tokens.ink3, strokeDasharray: "2 3" },
          ),
          Plot.ruleX(whiskers, { x: "predicted", y1: "lower", y2: "upper", stroke: pen.tokens.ink3, strokeWidth: 1.2 }),
          Plot.dot(shown, { x: "predicted", y: "observed", r: 4, fill: pen.tokens.ink }),
          Plot.dot(everyone, {
            x: "predicted",
            y: "observed",
            r: 5,
            fill: pen.tokens.surface,
            stroke: pen.tokens.ink,
            strokeWidth: 1.6,
          }),
        ],
      },
    );
    root.append(placed(drawing, k * (width + gap), 0));
  }
  return root;
}
