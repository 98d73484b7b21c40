/** Figures of the comparison of models: paired differences, nominal against observed coverage, PIT, error by horizon. */
import * as Plot from "@observablehq/plot";
import { interval, signed } from "../numbers.ts";
import type { StudyComparison } from "../study.ts";
import { modelName } from "../words.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { drawKey, lineKey } from "./key.ts";
import {
  type Canvas,
  type FigurePen,
  label,
  make,
  makeRoot,
  penOf,
  placed,
  shorten,
  textWidth,
  wrapText,
} from "./svg.ts";
import { roundTicks } from "./ticks.ts";

type Models = StudyComparison["models"];

/** Looks of a model's line: the map is strongest. */
function lineStyle(
  pen: FigurePen,
  model: string,
  index: number,
): { stroke: string; strokeWidth: number; strokeDasharray?: string } {
  if (model === "dtm" || model === "dtm-paper") {
    return {
      stroke: pen.tokens.group[0],
      strokeWidth: 2.4,
      ...(model === "dtm-paper" ? { strokeDasharray: "6 3" } : {}),
    };
  }
  if (model === "lmm" || model === "lmm-covariates") {
    return { stroke: pen.tokens.ink3, strokeWidth: 1.8, ...(model === "lmm" ? {} : { strokeDasharray: "8 2" }) };
  }
  if (model === "fpca") return { stroke: pen.tokens.group[2], strokeWidth: 1.8, strokeDasharray: "5 3" };
  return { stroke: pen.tokens.group[(index + 1) % 6], strokeWidth: 1.6, strokeDasharray: "2 3" };
}

/** Places a chart above its key of models. */
function withKey(pen: FigurePen, drawing: SVGSVGElement, height: number, models: Models): SVGSVGElement {
  const root = makeRoot(pen, 10, placed(drawing, 0, 0));
  const entries = models.map(({ model }, k) => {
    const { stroke, strokeWidth, strokeDasharray } = lineStyle(pen, model, k);
    const look = { stroke, "stroke-width": strokeWidth, "stroke-dasharray": strokeDasharray };
    return lineKey(pen, modelName(model), look);
  });
  setHeight(pen, root, drawKey(pen, root, height + 14, entries) + 12);
  return root;
}

/** Paired differences in log-likelihood to the reference, with 95% intervals. */
export function drawDifferences(comparison: StudyComparison, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const { differences } = comparison;
  const root = makeRoot(pen, 10);
  // Names take the room they need, in two lines where the figure is narrow.
  const widest = Math.max(60, ...differences.map(({ model }) => textWidth(modelName(model), 12)));
  const nameWidth = Math.min(0.36 * pen.width, widest) + 14;
  const valueWidth = 138;
  const [x0, x1] = [nameWidth, pen.width - valueWidth];
  const [least, most] = [
    Math.min(0, ...differences.map((d) => d.lower)),
    Math.max(0, ...differences.map((d) => d.upper)),
  ];
  // Both sides of zero are always there, so that "better" and "worse" have a place.
  const low = Math.min(least, -0.3 * most);
  const high = Math.max(most, -0.3 * least);
  const pad = 0.06 * (high - low || 1);
  const x = (v: number) => x0 + ((x1 - x0) * (v - low + pad)) / (high - low + 2 * pad);
  const rowHeight = 26;
  const bottom = 8 + rowHeight * differences.length;
  // As many as have room beside each other: a phone leaves 40 px.
  const tickText = (t: number) => signed(t, decimalsOf(t));
  const ticks = [4, 2, 1, 0]
    .map((count) => (count === 0 ? [0] : roundTicks(low, high, count)))
    .find((some) =>
      some.every(
        (t, k) =>
          k === 0 ||
          x(t) - x(some[k - 1]) > 6 + (textWidth(tickText(t), 11) + textWidth(tickText(some[k - 1]), 11)) / 2,
      ),
    )!;
  for (const t of ticks) {
    const zero = Math.abs(t) < 1e-12;
    root.append(
      make(pen, "path", {
        d: `M${shorten(x(t))},4V${shorten(bottom)}`,
        stroke: zero ? pen.tokens.ink3 : pen.tokens.line,
        fill: "none",
      }),
    );
    root.append(label(pen, tickText(t), x(t), bottom + 16, { "text-anchor": "middle", fill: pen.tokens.ink3 }));
  }
  differences.forEach(({ model, mean, lower, upper }, k) => {
    const y = 8 + rowHeight * (k + 0.5);
    const words = wrapText(modelName(model), 12, nameWidth - 14);
    words.forEach((line, l) => {
      const middle = y + 4 + 13 * (l - (words.length - 1) / 2);
      root.append(label(pen, line, 0, middle, { "font-size": 12, fill: pen.tokens.ink }));
    });
    root.append(
      make(pen, "path", {
        d: `M${shorten(x(lower))},${shorten(y)}H${shorten(x(upper))}`,
        stroke: pen.tokens.ink2,
        "stroke-width": 1.6,
        fill: "none",
      }),
    );
    root.append(
      make(pen, "circle", {
        cx: x(mean),
        cy: y,
        r: 4,
        fill: lower > 0 || upper < 0 ? pen.tokens.ink : pen.tokens.surface,
        stroke: pen.tokens.ink,
        "stroke-width": 1.5,
      }),
    );
    const text = `${signed(mean, 2)} (${interval(lower, upper, 2, 0)})`;
    root.append(label(pen, text, pen.width, y + 4, { "text-anchor": "end", "font-size": 11.5 }));
  });
  // Of what, the caption says; in a narrow figure there is no room for it here.
  // The one to the left of zero and the other to its right, where both have room.
  const sides = textWidth("worse", 11) + textWidth("better", 11) + 10;
  const apart = Math.max(0, sides - (x1 - x0)) / 2;
  root.append(label(pen, "worse", x0 - apart, bottom + 34, { fill: pen.tokens.ink3 }));
  root.append(label(pen, "better", x1 + apart, bottom + 34, { "text-anchor": "end", fill: pen.tokens.ink3 }));
  setHeight(pen, root, bottom + 40);
  return root;
}

function decimalsOf(t: number): number {
  const text = String(Number(t.toPrecision(6)));
  return text.includes(".") ? text.split(".")[1].length : 0;
}

/** Observed against nominal coverage of central intervals, from the PIT counts: each has 2, 4, … of the ten bins. */
export function coverageCurve(pit: ArrayLike<number>): { nominal: number; observed: number }[] {
  const bins = Array.from(pit);
  const total = bins.reduce((s, v) => s + v, 0);
  const half = bins.length / 2;
  const curve = [{ nominal: 0, observed: 0 }];
  for (let k = 1; k <= half; k++) {
    const inside = bins.slice(half - k, half + k).reduce((s, v) => s + v, 0);
    curve.push({ nominal: k / half, observed: total > 0 ? inside / total : Number.NaN });
  }
  return curve;
}

/** Nominal against observed coverage. */
export function drawCoverage(comparison: StudyComparison, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 340);
  const percentAxis = {
    domain: [0, 1] as const,
    ticks: [0, 0.25, 0.5, 0.75, 1],
    format: (v: number) => `${Math.round(100 * v)}%`,
  };
  const height = 260;
  const drawing = chart(pen, {
    height,
    marginLeft: 40,
    marginRight: 18,
    x: percentAxis,
    y: percentAxis,
    yTitle: "forecasts inside the interval",
    xTitle: "nominal",
    marks: [
      Plot.line(
        [
          { x: 0, y: 0 },
          { x: 1, y: 1 },
        ],
        { x: "x", y: "y", stroke: pen.tokens.ink3, strokeDasharray: "2 3" },
      ),
      ...comparison.models.map(({ model, pit }, k) =>
        Plot.line(coverageCurve(pit), { x: "nominal", y: "observed", ...lineStyle(pen, model, k) }),
      ),
    ],
  });
  return withKey(pen, drawing, height, comparison.models);
}

/** PIT histogram of one model: flat where forecasts are calibrated. */
export function drawPit(pit: ArrayLike<number>, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 340);
  const bins = Array.from(pit);
  const total = bins.reduce((s, v) => s + v, 0);
  const n = bins.length;
  const rows = bins.map((count, k) => ({ a: k / n, b: (k + 1) / n, share: total > 0 ? count / total : 0 }));
  const top = Math.max(2 / n, ...rows.map((r) => r.share)) * 1.08;
  const ticks = roundTicks(0, top, 4);
  return chart(pen, {
    height: 232,
    marginLeft: 40,
    marginRight: 18,
    x: { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], format: trim },
    y: { domain: [0, top], ticks, format: (v) => `${trim(100 * v)}%` },
    yTitle: "share of forecasts",
    xTitle: "where the visit fell in its forecast (PIT)",
    marks: [
      Plot.rectY(rows, {
        x1: "a",
        x2: "b",
        y: "share",
        fill: pen.tokens.ink3,
        fillOpacity: 0.55,
        insetLeft: 0.5,
        insetRight: 0.5,
      }),
      Plot.ruleY([1 / n], { stroke: pen.tokens.ink, strokeDasharray: "2 3" }),
    ],
  });
}

/** Mean absolute error of the forecast median by time since the last visit given. */
export function drawHorizon(comparison: StudyComparison, unit: string, word: string, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 340);
  const height = 260;
  const rows = comparison.models.map(({ forecast }) =>
    forecast.byHorizon.map(({ from, to, mae }) => ({ h: (from + to) / 2, mae })),
  );
  const all = rows.flat();
  const top = 1.1 * Math.max(...all.map((r) => r.mae));
  const last = Math.max(...all.map((r) => r.h)) * 1.05;
  const xTicks = roundTicks(0, last, 4);
  const drawing = chart(pen, {
    height,
    marginLeft: 40,
    marginRight: 18,
    x: { domain: [0, last], ticks: xTicks, format: trim },
    y: { domain: [0, top], ticks: roundTicks(0, top, 4), format: trim },
    yTitle: `mean absolute error${unit === "" ? "" : `, ${unit}`}`,
    xTitle: `${word}s ahead of the last visit given`,
    marks: comparison.models.flatMap(({ model }, k) => {
      const style = lineStyle(pen, model, k);
      return [
        Plot.line(rows[k], { x: "h", y: "mae", ...style }),
        Plot.dot(rows[k], { x: "h", y: "mae", r: 2.8, fill: style.stroke, stroke: pen.tokens.surface }),
      ];
    }),
  });
  return withKey(pen, drawing, height, comparison.models);
}
