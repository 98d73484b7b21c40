/** Power over odds ratios, radius of places by visits, and width of forecasts, of a planned study. */
import * as Plot from "@observablehq/plot";
import { BAND_SDS, type LinkKind, type StudyPower } from "@trajectory-maps/core/study";
import { trimmed } from "../numbers.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { drawKey, lineKey } from "./key.ts";
import { type Canvas, type FigurePen, makeRoot, penOf, placed } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

export const LINK_WORDS: Readonly<Record<LinkKind, string>> = {
  "most-resolved": "direction best resolved",
  "least-resolved": "direction least resolved",
  groups: "between two groups",
};

/** Odds ratios that may be labelled. */
const ODDS = [1, 1.5, 2, 3, 5, 10, 20, 50];

export function drawPower(study: StudyPower, timeWord: string, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 640);
  const looks = study.links.map((_, k) => ({
    stroke: pen.tokens.group[[0, 2, 1][k]],
    dash: ["", "6 3", "2 3"][k],
  }));
  const root = makeRoot(pen, 10, placed(powerChart(study, pen, looks), 0, 0));
  const entries = study.links.map(({ kind }, k) =>
    lineKey(pen, LINK_WORDS[kind], {
      stroke: looks[k].stroke,
      "stroke-width": 2.2,
      "stroke-dasharray": looks[k].dash || undefined,
    }),
  );
  const below = drawKey(pen, root, 274, entries) + 22;
  // Side by side where there is room.
  const half = pen.width >= 520 ? (pen.width - 24) / 2 : pen.width;
  const part = { ...pen, width: half };
  root.append(placed(radiusChart(study, part), 0, below));
  const [x, y] = half < pen.width ? [half + 24, below] : [0, below + 200];
  root.append(placed(widthChart(study, timeWord, part), x, y));
  setHeight(pen, root, y + 196);
  return root;
}

type Look = { readonly stroke: string; readonly dash: string };

function powerChart({ links, power, map }: StudyPower, pen: FigurePen, looks: readonly Look[]): SVGSVGElement {
  const { tokens } = pen;
  const last = Math.max(...links.flatMap(({ curve }) => curve.map(({ effect }) => Math.exp(effect))));
  const marks = links.flatMap(({ curve, knownCurve }, k) => {
    const points = curve.map(({ effect, power: p, standardError: e }) => ({
      odds: Math.exp(effect),
      power: p,
      low: Math.max(p - e, 0),
      high: Math.min(p + e, 1),
    }));
    const known = knownCurve.map(({ effect, power: p }) => ({ odds: Math.exp(effect), power: p }));
    const { stroke, dash } = looks[k];
    const line = { x: "odds", y: "power", stroke, strokeDasharray: dash };
    return [
      ...(map === "fitted" ? [Plot.line(known, { ...line, strokeWidth: 0.9, strokeOpacity: 0.8 })] : []),
      Plot.line(points, { ...line, strokeWidth: 2.2 }),
      Plot.ruleX(points, { x: "odds", y1: "low", y2: "high", stroke, strokeWidth: 1.2 }),
      Plot.dot(points, { x: "odds", y: "power", r: 2.6, fill: stroke, stroke: tokens.surface, strokeWidth: 0.8 }),
    ];
  });
  return chart(pen, {
    height: 256,
    x: { type: "log", domain: [1, last], ticks: ODDS.filter((v) => v <= last), format: trim },
    y: { domain: [0, 1], ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], format: (v) => `${Math.round(100 * v)}%` },
    yTitle: "power",
    xTitle: "odds ratio",
    marks: [Plot.ruleY([power], { stroke: tokens.ink3, strokeDasharray: "3 3" }), ...marks],
  });
}

function radiusChart({ places }: StudyPower, pen: FigurePen): SVGSVGElement {
  const { tokens } = pen;
  const rows = places.classes.map(({ visits, radius }, k) => ({ k: k + 1, visits, ...radius }));
  const words = rows.map(({ visits }) => {
    const { from = 0, to = 0 } = visits ?? {};
    return to === null ? `${from}+` : to === from ? `${from}` : `${from}-${to}`;
  });
  return chart(pen, {
    height: 190,
    x: {
      domain: [0.5, rows.length + 0.5],
      ticks: rows.map(({ k }) => k),
      format: (v) => words[v - 1] ?? "",
    },
    y: { domain: [0, 1.15 * places.priorRadius], ticks: roundTicks(0, places.priorRadius, 4), format: trim },
    yTitle: "radius of the 90% region, prior SDs",
    xTitle: "visits of an individual",
    marks: [
      Plot.ruleY([places.priorRadius], { stroke: tokens.ink3, strokeDasharray: "3 3" }),
      Plot.text(["without visits"], {
        x: rows.length + 0.45,
        y: places.priorRadius,
        dy: -7,
        textAnchor: "end",
        fill: tokens.ink3,
        fontSize: 10.5,
      }),
      Plot.ruleX(rows, { x: "k", y1: "lower", y2: "upper", stroke: tokens.ink2, strokeWidth: 1.6 }),
      Plot.dot(rows, { x: "k", y: "median", r: 2.8, fill: tokens.ink, stroke: tokens.surface }),
    ],
  });
}

function widthChart({ forecasts }: StudyPower, timeWord: string, pen: FigurePen): SVGSVGElement {
  const { tokens } = pen;
  const rows = forecasts.widths.map(({ time, inSds }, k) => ({ k: k + 1, time, inSds }));
  const most = Math.max(BAND_SDS, ...rows.map(({ inSds }) => inSds));
  return chart(pen, {
    height: 190,
    x: {
      domain: [0.5, rows.length + 0.5],
      ticks: rows.map(({ k }) => k),
      format: (v) => `${timeWord} ${trimmed(rows[v - 1]?.time ?? 0, 2)}`,
    },
    y: { domain: [0, 1.15 * most], ticks: roundTicks(0, most, 4), format: trim },
    yTitle: "width of 90% forecast band, SDs of the marker",
    xTitle: "time forecast",
    marks: [
      Plot.ruleY([BAND_SDS], { stroke: tokens.ink3, strokeDasharray: "3 3" }),
      Plot.text(["without visits"], {
        x: rows.length + 0.45,
        y: BAND_SDS,
        dy: -7,
        textAnchor: "end",
        fill: tokens.ink3,
        fontSize: 10.5,
      }),
      Plot.ruleX(rows, { x: "k", y1: 0, y2: "inSds", stroke: tokens.group[0], strokeWidth: 18 }),
    ],
  });
}
