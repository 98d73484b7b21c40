/**
 * Cumulative incidence of the event and of competing ones, a panel each on one scale; predicted against observed risk. Curves are
 * shared as survival curves are (figures/survival.ts): read at sixty times, and straight between points with five events or more.
 */
import * as Plot from "@observablehq/plot";
import { ROUNDED_TO, rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import type { StudyIncidence } from "../study-risk.ts";
import { groupStyle } from "../theme.ts";
import { badge } from "./badge.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { type SurvivalFigure, sharedPoint, sinceLandmark, spreadLabels } from "./survival.ts";
import { type Canvas, fitText, label, makeRoot, penOf, placed } from "./svg.ts";
import { niceStep, roundTicks } from "./ticks.ts";

export interface IncidenceFigure extends Omit<SurvivalFigure, "survival"> {
  readonly curves: readonly StudyIncidence[];
  /** The event, then competing ones. */
  readonly events: readonly string[];
}

const LATTICE = 60;

/** A point of a cause's curve as it may be shown; `fewEvents` where there are too few to show any. */
export function sharedIncidence(curve: StudyIncidence, cause: number, time: number, smallCell: number) {
  const { numEvents, incidence, lower, upper } = curve.causes[cause];
  const less = (values: ArrayLike<number | null>) => Array.from(values, (v) => (v === null ? Number.NaN : 1 - v));
  const { times, atRisk, group, numIndividuals } = curve;
  // As a survival curve, whose steps then hold no more events than there were: knots are five true events apart or more.
  const mirrored = { group, numIndividuals, numEvents, times, atRisk };
  const point = sharedPoint(
    { ...mirrored, survival: less(incidence), lower: less(upper), upper: less(lower) },
    time,
    smallCell,
  );
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
  const { curves, events, groups, smallCell } = data;
  const last = lastTime(curves);
  const [gap, height, marginLeft, marginRight, marginTop, marginBottom] = [16, 320, 40, 30, 26, 38];
  const width = (pen.width - gap * (events.length - 1)) / events.length;
  const drawn = groups.flatMap((group) => {
    const curve = curves.find((c) => c.group === group.group);
    return curve === undefined
      ? []
      : [{ ...group, curve, rows: events.map((_, cause) => lattice(curve, cause, last, smallCell)) }];
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
  for (const { rank, letter, curve } of drawn) {
    y += 19;
    root.append(badge(pen, rank, letter, 8, y - 4, 7));
    for (const t of incidenceTimes(curves)) {
      const { atRisk } = sharedIncidence(curve, 0, t, smallCell);
      root.append(label(pen, rough(atRisk, smallCell), px(t), y, { "text-anchor": "middle" }));
    }
  }
  setHeight(pen, root, y + 8);
  return root;
}

function lattice(curve: StudyIncidence, cause: number, last: number, smallCell: number) {
  const rows: { t: number; s: number; l: number; u: number }[] = [];
  for (let k = 0; k <= LATTICE; k++) {
    const t = (last * k) / LATTICE;
    const { incidence: s, lower, upper, atRisk, fewEvents } = sharedIncidence(curve, cause, t, smallCell);
    if (atRisk < smallCell || fewEvents) break;
    const known = Number.isFinite(lower) && Number.isFinite(upper);
    rows.push({ t, s, l: known ? lower : s, u: known ? upper : s });
  }
  return rows;
}

type Calibration = NonNullable<NonNullable<StudySurvival["risk"]>["calibration"]>[number];

/** Whether a part is large enough to be shown: as many as a small cell, and as many events as a step of a shared curve. */
export function isShown({ numIndividuals, numEvents }: Calibration["groups"][number], smallCell: number): boolean {
  return numIndividuals >= smallCell && (smallCell <= 1 || numEvents >= ROUNDED_TO);
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
    const shown = groups.filter((group) => isShown(group, smallCell));
    const whiskers = [...shown, overall].filter(({ lower, upper }) => Number.isFinite(lower) && Number.isFinite(upper));
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
          Plot.dot([overall], {
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
