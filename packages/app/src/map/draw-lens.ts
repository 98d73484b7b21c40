/** What the lens and its pins draw on the map, in px: circle of a quarter prior sd, cross, line to the card, path. */
import { make } from "@trajectory-maps/report";
import type { Pen } from "./pen.ts";
import { QUARTER } from "./scene.ts";
import type { MapPlace } from "./types.ts";
import { toPx, toPy, type Viewport } from "./viewport.ts";

/** A card's rectangle in px. */
export interface CardBox {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Circle, cross and connector of a place. `strip` draws a band instead of a circle. */
export function drawCrosshair(
  pen: Pen,
  viewport: Viewport,
  place: MapPlace,
  card: CardBox | null,
  strip: boolean,
): SVGElement[] {
  const [x, y] = [toPx(viewport, place.x), toPy(viewport, place.y)];
  const r = QUARTER * viewport.unit;
  const out: SVGElement[] = [];
  if (card !== null) {
    const [cx, cy] = [
      Math.max(card.left, Math.min(x, card.left + card.width)),
      Math.max(card.top, Math.min(y, card.top + card.height)),
    ];
    const distance = Math.hypot(cx - x, cy - y);
    if (distance > r + 6) {
      const d = `M${x + ((cx - x) * r) / distance} ${y + ((cy - y) * r) / distance}L${cx} ${cy}`;
      out.push(make(pen, "path", { d, stroke: pen.tokens.ink2, "stroke-width": 1, fill: "none" }));
    }
  }
  const line = { fill: "none", stroke: pen.tokens.ink, "stroke-width": 1.1 };
  out.push(
    strip
      ? make(pen, "path", { d: `M${x - r} 0V${viewport.height - 70}M${x + r} 0V${viewport.height - 70}`, ...line })
      : make(pen, "circle", { cx: x, cy: y, r, ...line }),
    make(pen, "circle", { cx: x, cy: y, r: 5.5, fill: "none", stroke: pen.tokens.surface, "stroke-width": 3.5 }),
    make(pen, "path", {
      d: `M${x - 5} ${y}h10M${x} ${y - 5}v10`,
      fill: "none",
      stroke: pen.tokens.ink,
      "stroke-width": 1.5,
    }),
  );
  return out;
}

/** The place a share of the way from one pin to the other. */
export function placeOnPath(pins: readonly MapPlace[], share: number): MapPlace {
  const [a, b] = pins;
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
}

/** The share of the way whose place is nearest to a point, both in map coordinates. */
export function shareOnPath(pins: readonly MapPlace[], point: MapPlace): number {
  const [a, b] = pins;
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const squared = dx * dx + dy * dy;
  if (squared === 0) return 0;
  return Math.min(1, Math.max(0, ((point.x - a.x) * dx + (point.y - a.y) * dy) / squared));
}

/** The path between two pins with its handle. */
export function drawPath(pen: Pen, viewport: Viewport, pins: readonly MapPlace[], share: number): SVGElement[] {
  const [a, b, at] = [pins[0], pins[1], placeOnPath(pins, share)];
  const d = `M${toPx(viewport, a.x)} ${toPy(viewport, a.y)}L${toPx(viewport, b.x)} ${toPy(viewport, b.y)}`;
  const shared = { d, fill: "none" };
  return [
    make(pen, "path", { ...shared, stroke: pen.tokens.surface, "stroke-width": 4, "stroke-opacity": 0.8 }),
    make(pen, "path", { ...shared, stroke: pen.tokens.ink, "stroke-width": 1.4, "stroke-dasharray": "5 4" }),
    make(pen, "circle", {
      cx: toPx(viewport, at.x),
      cy: toPy(viewport, at.y),
      r: 8,
      fill: pen.tokens.accent,
      stroke: pen.tokens.surface,
      "stroke-width": 2.5,
      "data-path-handle": "",
    }),
  ];
}
