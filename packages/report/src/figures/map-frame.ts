/** Instead of axes (design §3.2): small curves along the bottom and the left, "+" at the centre, a true scale bar. */
import { applyTransform, type Transform } from "@trajectory-maps/core/ingest";
import type { Numbers } from "../study.ts";
import type { Box } from "./land.ts";
import type { MapLayout } from "./map-base.ts";
import { haloText, make, type Pen, pathOf, shorten } from "./svg.ts";

/** A course at a place of one of the two centre lines. */
export interface SmallCurve {
  readonly axis: "x" | "y";
  readonly at: number;
  /** Values at equally spaced times, on the marker's own scale. */
  readonly values: Numbers;
  /** Share of the time in which enough similar individuals are followed; the rest is dashed. */
  readonly seen: number;
}

/** Places on the centre lines whose courses are drawn small. */
export const MARKS = [-2, -1, 0, 1, 2];
/** Size of a small curve's card. */
export const CARD = { width: 50, height: 32, inset: 5 };
/** Lengths a scale bar may have, in prior sd. */
const BARS: readonly (readonly [number, string])[] = [
  [1, "1"],
  [0.5, "½"],
  [0.25, "¼"],
  [0.1, "0.1"],
  [0.05, "0.05"],
  [0.01, "0.01"],
];

/** The courses at the marks inside the box; a strip has one centre line. */
export function smallCurves(
  mapDimension: number,
  box: Box,
  courseAt: (x: number, y: number) => Numbers,
  seenShare: (x: number, y: number) => number,
): SmallCurve[] {
  const across = MARKS.filter((at) => at >= box.x0 && at <= box.x1);
  const upwards = mapDimension === 1 ? [] : MARKS.filter((at) => at >= box.y0 && at <= box.y1);
  return [
    ...across.map((at): SmallCurve => ({ axis: "x", at, values: courseAt(at, 0), seen: seenShare(at, 0) })),
    ...upwards.map((at): SmallCurve => ({ axis: "y", at, values: courseAt(0, at), seen: seenShare(0, at) })),
  ];
}

/**
 * Small curves on one scale, the model's: a row centred at `rowY` and a column centred at `columnX`. Cards that would be
 * cut, or meet those of the other line, stay away.
 */
export function drawSmallCurves(
  pen: Pen,
  layout: MapLayout,
  curves: readonly SmallCurve[],
  transform: Transform,
  at: { readonly rowY: number; readonly columnX: number; readonly left: number; readonly right: number },
): SVGElement {
  const group = make(pen, "g");
  const heights = curves.map(({ values }) => Array.from(values, (v) => applyTransform(transform, v)));
  const low = Math.min(...heights.flat());
  const high = Math.max(...heights.flat());
  const { width, height, inset } = CARD;
  curves.forEach((curve, k) => {
    const cx = curve.axis === "x" ? layout.x(curve.at) : at.columnX;
    const cy = curve.axis === "x" ? at.rowY : layout.y(curve.at);
    const [left, top] = [cx - width / 2, cy - height / 2];
    if (curve.axis === "x" && (left < at.left || left + width > at.right)) return;
    if (curve.axis === "y" && (top < 0 || cy > at.rowY - height - 4)) return;
    const last = heights[k].length - 1;
    const points = heights[k].map((v, j) => {
      const share = high > low ? (high - v) / (high - low) : 0.5;
      return [left + inset + ((width - 2 * inset) * j) / last, top + inset + (height - 2 * inset) * share] as const;
    });
    const card = { x: left, y: top, width, height, rx: 4, fill: pen.tokens.surface, stroke: pen.tokens.line };
    const line = { fill: "none", stroke: pen.tokens.ink, "stroke-width": 1.5, "stroke-linejoin": "round" };
    const seen = Math.max(0, Math.min(last, Math.round(curve.seen * last)));
    group.append(
      make(pen, "rect", card),
      make(pen, "path", { d: pathOf(points.slice(0, seen + 1)), ...line }),
      make(pen, "path", { d: pathOf(points.slice(seen)), ...line, "stroke-width": 1.1, "stroke-dasharray": "1.5 2" }),
    );
  });
  return group;
}

/** What the small curves are, in words under them. */
export function smallCurveNote(mapDimension: number, transform: Transform): string {
  const lines = mapDimension === 1 ? "the centre line" : "the two centre lines";
  return `Small curves: along ${lines}${transform === "log" ? ", log scale" : ""}; dashed: not seen.`;
}

/** Length in px and words of a scale bar: one prior sd, or the largest round part of it that fits into the map. `name` is what one of them is called. */
export function scaleBar(
  { left, right, unit }: MapLayout,
  name = "prior sd",
): { readonly length: number; readonly words: string } {
  const [share, text] = BARS.find(([part]) => part * unit <= 0.9 * (right - left)) ?? BARS[BARS.length - 1];
  return { length: share * unit, words: `${text} ${name}` };
}

/** Scale bar that ends at `right`. */
export function drawScaleBar(pen: Pen, layout: MapLayout, right: number, y: number, name?: string): SVGElement {
  const { length, words } = scaleBar(layout, name);
  const left = right - length;
  const d = `M${shorten(left)},${shorten(y - 3)}v6m0,-3H${shorten(right)}m0,-3v6`;
  // Where the map is close, its land may lie beneath.
  const text = { "text-anchor": "end", "font-size": 11, fill: pen.tokens.ink2, stroke: pen.tokens.page };
  return make(
    pen,
    "g",
    { "data-scale-bar": String(length) },
    make(pen, "path", { d, fill: "none", stroke: pen.tokens.ink2, "stroke-width": 1.2 }),
    haloText(pen, words, left - 7, y + 4, text),
  );
}

/** A plus at the centre of the prior. */
export function drawPlus(pen: Pen, layout: MapLayout): SVGElement {
  const d = `M${shorten(layout.x(0) - 4.5)},${shorten(layout.y(0))}h9m-4.5,-4.5v9`;
  return make(pen, "path", { d, fill: "none", stroke: pen.tokens.ink3, "stroke-width": 1.1 });
}
