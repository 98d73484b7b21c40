/** How the fit went: the objective over iterations, and below it the gain of each on a log scale. */
import * as Plot from "@observablehq/plot";
import { fixed, powerText } from "../numbers.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { type Canvas, makeRoot, penOf, placed } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

/** Objective and gain per iteration, numbered from `first` on; the last 90% of them fill the height. */
export function drawTrace(trace: readonly number[], canvas: Canvas, first = 1): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const n = trace.length;
  const rows = trace.map((value, k) => ({ k: k + first, value }));
  const late = trace.slice(Math.floor(0.1 * n));
  const low = Math.min(...late);
  const high = Math.max(...trace);
  const pad = 0.06 * (high - low || Math.abs(high) * 1e-6 || 1);
  const domain = [low - pad, high + pad] as const;
  const ticks = roundTicks(domain[0], domain[1], 4);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 1;
  const decimals = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)));
  const last = first + Math.max(2, n) - 1;
  const x = {
    domain: [first, last] as const,
    ticks: roundTicks(first, last, 5).filter((t) => Number.isInteger(t)),
    format: trim,
  };
  const marginLeft = 74;
  const upper = chart(pen, {
    height: 190,
    marginLeft,
    x: { ...x, ticks: [] },
    y: { domain, ticks, format: (v) => fixed(v, decimals) },
    yTitle: "log-likelihood or its bound",
    marginBottom: 8,
    marks: [
      Plot.line(
        rows.filter(({ value }) => value >= domain[0]),
        { x: "k", y: "value", stroke: pen.tokens.ink, strokeWidth: 1.8 },
      ),
      Plot.dot(rows.slice(-1), { x: "k", y: "value", r: 3.2, fill: pen.tokens.ink, stroke: pen.tokens.surface }),
    ],
  });
  const gains = trace
    .slice(1)
    .map((value, k) => ({ k: k + first + 1, gain: value - trace[k] }))
    .filter(({ gain }) => gain > 0);
  const root = makeRoot(pen, 10, placed(upper, 0, 0));
  if (gains.length < 2) {
    setHeight(pen, root, 190);
    return root;
  }
  const powers = gains.map(({ gain }) => Math.log10(gain));
  const [from, to] = [Math.floor(Math.min(...powers)), Math.ceil(Math.max(...powers) + 1e-9)];
  const every = Math.max(1, Math.ceil((to - from) / 4));
  const powerTicks = Array.from({ length: to - from + 1 }, (_, k) => from + k).filter((e) => (e - from) % every === 0);
  const lower = chart(pen, {
    height: 150,
    marginLeft,
    x,
    y: { type: "log", domain: [10 ** from, 10 ** to], ticks: powerTicks.map((e) => 10 ** e), format: tenth },
    yTitle: "gain per iteration",
    xTitle: "iteration",
    marks: [Plot.dot(gains, { x: "k", y: "gain", r: 1.9, fill: pen.tokens.ink2 })],
  });
  root.append(placed(lower, 0, 196));
  setHeight(pen, root, 348);
  return root;
}

/** 0.01, 1, 10⁻⁶ */
function tenth(v: number): string {
  const power = Math.round(Math.log10(v));
  return power >= -3 && power <= 4 ? trim(v) : powerText(power);
}
