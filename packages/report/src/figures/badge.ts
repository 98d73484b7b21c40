/** The letter of a group in its colour. */
import { groupStyle } from "../theme.ts";
import { label, make, type Pen } from "./svg.ts";

/** A badge with a letter: filled, or hollow past six groups. */
export function badge(pen: Pen, rank: number, letter: string, cx: number, cy: number, r: number): SVGElement {
  const { colour, hollow } = groupStyle(pen.tokens, rank);
  return make(
    pen,
    "g",
    {},
    make(pen, "circle", {
      cx,
      cy,
      r: hollow ? r - 0.8 : r,
      fill: hollow ? pen.tokens.surface : colour,
      stroke: hollow ? colour : undefined,
      "stroke-width": hollow ? 1.6 : undefined,
    }),
    label(pen, letter, cx, cy + r * 0.42, {
      "text-anchor": "middle",
      "font-size": Math.min(12, r * 1.15),
      "font-weight": 600,
      fill: hollow ? pen.tokens.ink : pen.tokens.surface,
    }),
  );
}
