/** Numbers on contour lines: one per line, on land, where it hides little, away from each other and from names. */
import { insideRings, type Land, type Ring, valueAt } from "./land.ts";
import type { MapLayout } from "./map-base.ts";
import type { PxBox } from "./pills.ts";
import { haloText, make, type Pen, textWidth } from "./svg.ts";

/** A mark in px that labels keep away from where they can. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly r: number;
}

/** A label and the place on the map that it stands at. */
export interface LineLabel {
  readonly x: number;
  readonly y: number;
  readonly words: string;
}

const TEXT_SIZE = 10.5;
const HALF_HEIGHT = 8;
/** Space to the next label or name, px: less is none at all, more is no better. */
const SPACE = { least: 4, most: 60 };
/** Space to the next mark from which on it makes no difference, px. */
const CLEAR = 10;
/** In prior sd: how far around a label must be land, and the height that labels seek so that they form a row. */
const SHORE = 0.14;
const ROW = -1;
/** What the densest place, a mark beneath the label and a prior sd away from the row cost; all space there is earns 1. */
const COST = { dense: 1.6, marked: 1, offRow: 0.15 };

/** Places of the labels of lines; those that find none go without. `taken` are boxes that must stay free. */
export function placeLineLabels(
  layout: MapLayout,
  land: Land,
  lines: readonly { readonly words: string; readonly rings: readonly Ring[] }[],
  taken: readonly PxBox[],
  marks: readonly Spot[] = [],
): LineLabel[] {
  const { left, top, right, bottom } = layout;
  const boxes = [...taken];
  let peak = 0;
  for (const v of land.density.values) peak = Math.max(peak, v);
  return lines.flatMap(({ words, rings }) => {
    const halfWidth = textWidth(words, TEXT_SIZE) / 2 + 3;
    let best: { readonly label: LineLabel; readonly box: PxBox; readonly score: number } | undefined;
    for (const ring of rings) {
      for (const [u, v] of ring) {
        const [x, y] = [layout.x(u), layout.y(v)];
        if (x < left + halfWidth || x > right - halfWidth || y < top + HALF_HEIGHT || y > bottom - HALF_HEIGHT)
          continue;
        const box = { x, y, halfWidth, halfHeight: HALF_HEIGHT };
        const space = boxes.reduce((least, other) => Math.min(least, gap(box, other)), SPACE.most);
        if (space < SPACE.least || !inland(land, u, v)) continue;
        const clear = marks.reduce(
          (least, s) => Math.min(least, Math.hypot(0.8 * (s.x - x), s.y - y) - s.r - 8),
          CLEAR,
        );
        const score =
          space / SPACE.most -
          COST.dense * Math.sqrt(valueAt(land.density, u, v) / peak) -
          COST.marked * (1 - clear / CLEAR) -
          COST.offRow * Math.abs(v - ROW);
        if (best === undefined || score > best.score + 1e-9) best = { label: { x: u, y: v, words }, box, score };
      }
    }
    if (best === undefined) return [];
    boxes.push(best.box);
    return [best.label];
  });
}

/** The labels, in px. */
export function drawLineLabels(pen: Pen, layout: MapLayout, labels: readonly LineLabel[]): SVGElement {
  const group = make(pen, "g", { "text-anchor": "middle" });
  for (const { x, y, words } of labels) group.append(haloText(pen, words, layout.x(x), layout.y(y) + 3.7));
  return group;
}

/** Distance between two boxes. */
function gap(a: PxBox, b: PxBox): number {
  const dx = Math.max(0, Math.abs(a.x - b.x) - a.halfWidth - b.halfWidth);
  const dy = Math.max(0, Math.abs(a.y - b.y) - a.halfHeight - b.halfHeight);
  return Math.hypot(dx, dy);
}

/** Whether a point and its surroundings are on land: density alone would count islands that were left out. */
function inland(land: Land, x: number, y: number): boolean {
  const at = (dx: number, dy: number) => valueAt(land.density, x + dx, y + dy) >= land.level;
  return at(0, 0) && at(SHORE, 0) && at(-SHORE, 0) && at(0, SHORE) && at(0, -SHORE) && insideRings(land.coast, x, y);
}
