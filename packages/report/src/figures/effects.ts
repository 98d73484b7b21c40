/** A dot with its whisker for a table's row. */
import type { StudyEstimate } from "../study.ts";
import { type Canvas, make, makeRoot, penOf, shorten } from "./svg.ts";

/** Estimate on a fixed scale with a reference line; hollow where the interval holds the reference. */
export function drawWhisker(
  estimate: StudyEstimate,
  domain: readonly [number, number],
  reference: number,
  canvas: Canvas,
): SVGSVGElement {
  const pen = penOf(canvas, 100);
  const height = 20;
  const inside = (v: number) => Math.min(domain[1], Math.max(domain[0], v));
  const x = (v: number) => 6 + ((pen.width - 12) * (inside(v) - domain[0])) / (domain[1] - domain[0]);
  const { value, lower, upper } = estimate;
  const holds = lower <= reference && upper >= reference;
  return makeRoot(
    pen,
    height,
    make(pen, "path", { d: `M${shorten(x(reference))},2V${height - 2}`, stroke: pen.tokens.line2, fill: "none" }),
    make(pen, "path", {
      d: `M${shorten(x(lower))},${height / 2}H${shorten(x(upper))}`,
      stroke: pen.tokens.ink2,
      "stroke-width": 1.5,
      fill: "none",
    }),
    make(pen, "circle", {
      cx: x(value),
      cy: height / 2,
      r: 3.6,
      fill: holds ? pen.tokens.surface : pen.tokens.ink,
      stroke: pen.tokens.ink,
      "stroke-width": 1.5,
    }),
  );
}
