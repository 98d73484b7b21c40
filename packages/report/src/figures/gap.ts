/** The evidence for the number of groups: how far apart their courses are, and the gap statistic. */
import * as Plot from "@observablehq/plot";
import { fixed } from "../numbers.ts";
import type { StudyGroups } from "../study.ts";
import { chart, trim } from "./chart.ts";
import { type Canvas, penOf } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

type CourseEvidence = NonNullable<NonNullable<StudyGroups["number"]>["courses"]>;

/** Difference of the two most similar median courses by number of groups, with the least asked for. */
export function drawDistinct(
  { evidence, leastDifference }: CourseEvidence,
  numGroups: number,
  canvas: Canvas,
): SVGSVGElement {
  const pen = penOf(canvas, 420);
  const high = 1.08 * Math.max(leastDifference, ...evidence.map((e) => e.difference));
  const ticks = roundTicks(0, high, 4);
  const last = Math.max(3, ...evidence.map((e) => e.numGroups));
  const fill = (e: CourseEvidence["evidence"][number]) =>
    e.numGroups === numGroups ? pen.tokens.ink : pen.tokens.surface;
  const dots = { x: "numGroups", y: "difference", stroke: pen.tokens.ink, strokeWidth: 1.5 };
  return chart(pen, {
    height: 240,
    marginLeft: 44,
    x: { domain: [1.7, last + 0.3], ticks: evidence.map((e) => e.numGroups), format: trim },
    y: { domain: [0, high], ticks, format: trim },
    yTitle: "difference of the two most similar courses, sd of the noise",
    xTitle: "number of groups",
    marks: [
      Plot.ruleY([leastDifference], { stroke: pen.tokens.ink, strokeDasharray: "5 4" }),
      Plot.line(evidence, { x: "numGroups", y: "difference", stroke: pen.tokens.line2 }),
      Plot.dot(
        evidence.filter((e) => e.distinct),
        { ...dots, r: 4.2, fill },
      ),
      Plot.dot(
        evidence.filter((e) => !e.distinct),
        { ...dots, r: 4, symbol: "times" },
      ),
    ],
  });
}

export interface GapFigure {
  readonly numGroups: number;
  readonly evidence: readonly { readonly numGroups: number; readonly gap: number; readonly standardError: number }[];
}

/** The gap statistic by number of groups with its standard error; the chosen number is filled. */
export function drawGap({ numGroups, evidence }: GapFigure, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 420);
  const rows = evidence.map(({ numGroups: k, gap, standardError }) => ({
    k,
    gap,
    l: gap - standardError,
    u: gap + standardError,
  }));
  const low = Math.min(...rows.map((r) => r.l));
  const high = Math.max(...rows.map((r) => r.u));
  const ticks = roundTicks(low, high, 4);
  const decimals = Math.max(1, Math.ceil(-Math.log10(Math.abs((ticks[1] ?? 1) - ticks[0]) || 1)));
  const last = Math.max(2, ...rows.map((r) => r.k));
  return chart(pen, {
    height: 240,
    marginLeft: 44,
    x: { domain: [0.7, last + 0.3], ticks: rows.map((r) => r.k), format: trim },
    y: { domain: [low - 0.05 * (high - low), high + 0.05 * (high - low)], ticks, format: (v) => fixed(v, decimals) },
    yTitle: "gap statistic ± standard error",
    xTitle: "number of groups",
    marks: [
      Plot.line(rows, { x: "k", y: "gap", stroke: pen.tokens.line2 }),
      Plot.ruleX(rows, { x: "k", y1: "l", y2: "u", stroke: pen.tokens.ink2, strokeWidth: 1.5 }),
      Plot.dot(rows, {
        x: "k",
        y: "gap",
        r: 3.8,
        fill: (r: { k: number }) => (r.k === numGroups ? pen.tokens.ink : pen.tokens.surface),
        stroke: pen.tokens.ink,
        strokeWidth: 1.5,
      }),
    ],
  });
}
