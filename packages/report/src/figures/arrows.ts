/**
 * Arrows of shifts of places: from the centre of the map to where people stand on average before anything is measured, with the 95%
 * ellipse of the tip and a name. Drawn by report and explorer alike.
 */
import type { EffectTables } from "@trajectory-maps/core/models";
import { stepWords } from "../covariates.ts";
import type { MapLayout } from "./map-base.ts";
import type { PxBox } from "./pills.ts";
import { fitText, haloText, make, type Pen, pathOf, textWidth } from "./svg.ts";

type Point = readonly [number, number];

/** An arrow in px: its two ends, the outline around the tip, and its name. */
interface Arrow {
  readonly words: string;
  readonly from: Point;
  readonly tip: Point;
  readonly ellipse: readonly Point[];
}

const TEXT_SIZE = 11;
const ROW = 15;
const CORNERS = 48;

/** The arrows as a group, and the boxes of their names, which other labels keep clear of. */
export function drawArrows(
  pen: Pen,
  layout: MapLayout,
  shifts: EffectTables["shifts"],
): { readonly group: SVGElement; readonly names: readonly PxBox[] } {
  const arrows = arrowsOf(layout, shifts);
  const names = placeNames(layout, arrows);
  const drawn = [
    ...arrows.map((arrow) => drawArrow(pen, arrow)),
    ...arrows.map(({ words, tip }, k) => drawName(pen, words, tip, names[k])),
  ];
  return { group: make(pen, "g", { "data-arrows": "" }, ...drawn), names };
}

/** On a map of one dimension arrows lie above each other; of three the first two are shown. */
function arrowsOf(layout: MapLayout, shifts: EffectTables["shifts"]): Arrow[] {
  return shifts.map((row, k) => {
    const { shift, halfAxes, axes } = row;
    const q = shift.length;
    const height = q === 1 ? 0.3 * ((shifts.length - 1) / 2 - k) : 0;
    const at = (x: number, y: number): Point => [layout.x(x), layout.y(q === 1 ? height : y)];
    // Of an ellipsoid the shadow on the first two axes, C = AA'.
    const C = (a: number, b: number) =>
      halfAxes.reduce((sum, h, e) => sum + h * h * axes[a * q + e] * axes[b * q + e], 0);
    const width = Math.sqrt(C(0, 0));
    const slant = q === 1 ? 0 : C(0, 1) / width;
    const rest = q === 1 ? 0 : Math.sqrt(Math.max(C(1, 1) - slant ** 2, 0));
    const ellipse = Array.from({ length: CORNERS }, (_, s): Point => {
      const [u, v] = [Math.cos((2 * Math.PI * s) / CORNERS), Math.sin((2 * Math.PI * s) / CORNERS)];
      return at(shift[0] + width * u, (shift[1] ?? 0) + slant * u + rest * v);
    });
    return { words: stepWords(row), from: at(0, 0), tip: at(shift[0], shift[1] ?? 0), ellipse };
  });
}

function drawArrow(pen: Pen, { from, tip, ellipse }: Arrow): SVGElement {
  const { accent, surface } = pen.tokens;
  const [dx, dy] = [tip[0] - from[0], tip[1] - from[1]];
  const length = Math.max(Math.hypot(dx, dy), 1e-9);
  const head = Math.min(8, length);
  const side = (s: number): Point => [
    tip[0] - (head * (dx + s * 0.45 * dy)) / length,
    tip[1] - (head * (dy - s * 0.45 * dx)) / length,
  ];
  const shaft = pathOf([from, [tip[0] - (0.7 * head * dx) / length, tip[1] - (0.7 * head * dy) / length]]);
  return make(
    pen,
    "g",
    {},
    make(pen, "path", {
      d: pathOf(ellipse, true),
      fill: "none",
      stroke: accent,
      "stroke-opacity": 0.55,
      "stroke-dasharray": "2 2",
    }),
    make(pen, "path", { d: shaft, fill: "none", stroke: surface, "stroke-width": 4, "stroke-opacity": 0.8 }),
    make(pen, "path", { d: shaft, fill: "none", stroke: accent, "stroke-width": 2 }),
    make(pen, "path", { d: pathOf([tip, side(1), side(-1)], true), fill: accent }),
  );
}

/** Middles of a name beside the tip, as steps right, or left, of its edge and down or up: the nearest first. */
const STEPS = [8, 24, 44, 70, 100, 130]
  .flatMap((dx) => Array.from({ length: 31 }, (_, k): Point => [dx, 9 * (k - 15)]))
  .flatMap(([dx, dy]): Point[] => [
    [dx, dy],
    [-dx, dy],
  ])
  .sort((a, b) => Math.hypot(...a) - Math.hypot(...b));
/** What a name costs, in px of distance: on another name, on a point of an arrow or of the line to another name. */
const COST = { name: 1e4, arrow: 30, behind: 20 };

/** Names near the tips of their arrows, longest arrow first, clear of each other and of the arrows where there is room. */
function placeNames(layout: MapLayout, arrows: readonly Arrow[]): PxBox[] {
  const boxes = new Array<PxBox>(arrows.length);
  const along = (from: Point, to: Point) => {
    const n = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 6) + 1;
    return Array.from(
      { length: n + 1 },
      (_, s): Point => [from[0] + ((to[0] - from[0]) * s) / n, from[1] + ((to[1] - from[1]) * s) / n],
    );
  };
  const busy = arrows.flatMap(({ from, tip }) => along(from, tip));
  const length = ({ from, tip }: Arrow) => Math.hypot(tip[0] - from[0], tip[1] - from[1]);
  const order = arrows.map((_, k) => k).sort((a, b) => length(arrows[b]) - length(arrows[a]) || a - b);
  for (const k of order) {
    const { from, tip, words } = arrows[k];
    const halfWidth = Math.min(textWidth(words, TEXT_SIZE, true), layout.right - layout.left) / 2;
    let best = { cost: Number.POSITIVE_INFINITY, box: { x: tip[0], y: tip[1], halfWidth, halfHeight: ROW / 2 } };
    for (const [dx, dy] of STEPS) {
      const x = tip[0] + dx + Math.sign(dx) * halfWidth;
      const y = tip[1] + dy;
      if (x - halfWidth < layout.left || x + halfWidth > layout.right) continue;
      if (y - ROW < layout.top || y + ROW > layout.bottom) continue;
      const box = { x, y, halfWidth, halfHeight: ROW / 2 };
      const holds = ([px, py]: Point) => Math.abs(px - x) < halfWidth + 3 && Math.abs(py - y) < ROW / 2;
      const on = boxes.filter((b) => Math.abs(b.y - y) < ROW && Math.abs(b.x - x) < b.halfWidth + halfWidth + 8);
      const cost =
        Math.hypot(dx, dy) +
        COST.name * on.length +
        COST.arrow * busy.filter(holds).length +
        (dx * (tip[0] - from[0]) < 0 ? COST.behind : 0);
      if (cost < best.cost) best = { cost, box };
    }
    boxes[k] = best.box;
    const { x, y } = best.box;
    busy.push(...along(tip, [x + (x > tip[0] ? -halfWidth : halfWidth), y]));
  }
  return boxes;
}

function drawName(pen: Pen, words: string, tip: Point, { x, y, halfWidth }: PxBox): SVGElement {
  const near = tip[0] < x ? x - halfWidth - 3 : x + halfWidth + 3;
  const text = fitText(words, TEXT_SIZE, 2 * halfWidth + 1, true);
  const anchor = tip[0] < x ? { at: x - halfWidth, anchor: "start" } : { at: x + halfWidth, anchor: "end" };
  return make(
    pen,
    "g",
    {},
    make(pen, "path", { d: pathOf([tip, [near, y]]), fill: "none", stroke: pen.tokens.ink3, "stroke-width": 0.8 }),
    haloText(pen, text, anchor.at, y + 4, {
      "font-size": TEXT_SIZE,
      "font-weight": 600,
      "text-anchor": anchor.anchor,
    }),
  );
}
