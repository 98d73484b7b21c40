/** Drawing the dots: one interface, three renderers. Overlays are not their business. */
import { HUGE, SAMPLE } from "@trajectory-maps/report";
import type { DotColours } from "../dot-colours.ts";
import type { DotStyle } from "../dot-style.ts";
import type { RendererChoice } from "../types.ts";
import type { Viewport } from "../viewport.ts";

/** All that is known of the dots. */
export interface Dots {
  readonly places: Float64Array; // [m,2]
  readonly style: DotStyle;
  readonly colours: DotColours;
  /** 1 for individuals who fade to 10%, [m]; null if nobody does. */
  readonly faded: Uint8Array | null;
}

export interface DotRenderer {
  readonly kind: "svg" | "canvas" | "webgl";
  readonly element: Element;
  /** Takes new dots; nothing is drawn yet. */
  setDots(dots: Dots): void;
  /** Draws the dots as they stand in the viewport. */
  draw(viewport: Viewport): void;
  destroy(): void;
}

/** From this many individuals on, SVG is too slow to move. */
const SVG_LIMIT = 5_000;
const FADED = 0.1;
/** A dot that says nothing for sure is still seen, and is told from those that fade. */
const FAINTEST = 0.18;

/** The renderer to try first, and how many dots it draws of m. */
export function plannedRenderer(
  choice: RendererChoice,
  m: number,
  hasWebGl: boolean,
): { readonly kind: DotRenderer["kind"]; readonly most: number } {
  const wanted = choice === "auto" ? (m < SVG_LIMIT ? "svg" : "webgl") : choice;
  const kind = wanted === "webgl" && !hasWebGl ? "canvas" : wanted;
  // Without a graphics card even fewer dots can move.
  const limit = kind === "webgl" ? HUGE : SAMPLE;
  return { kind, most: m > limit ? SAMPLE : m };
}

/** px of the line of a ring: one visit, and categories that wear a hue for the second time. */
export const RING_LINES = { visit: 1, again: 2 };

/** Opacity of dot i, and the width of its line; 0 for a disc. */
export function lookOf(dots: Dots, i: number): { readonly opacity: number; readonly line: number } {
  const { style, colours, faded } = dots;
  const hollow = colours.swatches[colours.positions[i]].hollow;
  return {
    opacity: faded !== null && faded[i] === 1 ? FADED : Math.max(FAINTEST, style.opacity[i] * (colours.sure?.[i] ?? 1)),
    line: hollow ? RING_LINES.again : style.ring[i] === 1 ? RING_LINES.visit : 0,
  };
}

/** Order of drawing: those who fade lie below all others. */
export function drawingOrder({ style, faded }: Dots): Int32Array {
  if (faded === null) return style.order;
  const order = new Int32Array(style.order.length);
  let at = 0;
  for (const i of style.order) if (faded[i] === 1) order[at++] = i;
  for (const i of style.order) if (faded[i] !== 1) order[at++] = i;
  return order;
}
