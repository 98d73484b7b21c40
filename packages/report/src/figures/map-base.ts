/** The parts every map figure is drawn from: layout, terrain, lines and their labels, coast, axes of small curves. */
import { fixed } from "../numbers.ts";
import type { Numbers } from "../study.ts";
import { bandPath, DARKEST, densityBands } from "./density.ts";
import { type Box, contourAt, type Grid, type Land, type Ring, valueAt } from "./land.ts";
import type { MapData, Terrain } from "./map-data.ts";
import { label, make, type Pen, pathOf, shorten, textWidth } from "./svg.ts";

/** From map coordinates to px; one prior sd is `unit` px in both directions. */
export interface MapLayout {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly unit: number;
  readonly x: (v: number) => number;
  readonly y: (v: number) => number;
}

/** Fits the box into the width between the margins; at most `maxHeight` high. */
export function mapLayout(box: Box, left: number, top: number, width: number, maxHeight: number): MapLayout {
  const spanX = box.x1 - box.x0;
  const spanY = box.y1 - box.y0;
  const unit = Math.min(width / spanX, maxHeight / spanY);
  const shift = left + (width - unit * spanX) / 2;
  return {
    left: shift,
    top,
    right: shift + unit * spanX,
    bottom: top + unit * spanY,
    unit,
    x: (v) => shift + unit * (v - box.x0),
    y: (v) => top + unit * (box.y1 - v),
  };
}

/** Path of rings in px. */
export function ringPath(layout: MapLayout, rings: readonly Ring[]): string {
  return rings
    .map((ring) =>
      pathOf(
        ring.map(([x, y]) => [layout.x(x), layout.y(y)] as const),
        true,
      ),
    )
    .join("");
}

/** A clip path of the land; returns its reference. */
export function landClip(pen: Pen, root: Element, layout: MapLayout, land: Land, name: string): string {
  const id = pen.id(name);
  root.append(
    make(pen, "clipPath", { id }, make(pen, "path", { d: ringPath(layout, land.coast), "clip-rule": "evenodd" })),
  );
  return `url(#${id})`;
}

/** Filled bands between levels, lowest colour first; one colour more than levels, taken evenly from the ramp. */
export function drawBands(
  pen: Pen,
  layout: MapLayout,
  grid: Grid,
  levels: readonly number[],
  ramp: readonly string[],
  clip: string,
): SVGElement {
  const group = make(pen, "g", { "clip-path": clip });
  const { left, top, right, bottom } = layout;
  group.append(
    make(pen, "rect", {
      x: left,
      y: top,
      width: right - left,
      height: bottom - top,
      fill: bandColour(ramp, 0, levels),
    }),
  );
  levels.forEach((level, k) => {
    const d = ringPath(layout, contourAt(grid, level).flat());
    if (d !== "") group.append(make(pen, "path", { d, fill: bandColour(ramp, k + 1, levels), "fill-rule": "evenodd" }));
  });
  return group;
}

/** Colour of band k of levels.length + 1. */
export function bandColour(ramp: readonly string[], k: number, levels: readonly number[]): string {
  const share = levels.length === 0 ? 0.5 : k / levels.length;
  return ramp[Math.round(share * (ramp.length - 1))];
}

/** Contour lines, without the parts that run along the border of the box. */
export function drawLines(
  pen: Pen,
  layout: MapLayout,
  grid: Grid,
  levels: readonly number[],
  clip: string,
  stroke: string,
): SVGElement {
  const group = make(pen, "g", {
    "clip-path": clip,
    fill: "none",
    stroke,
    "stroke-width": 0.8,
    "stroke-opacity": 0.85,
  });
  for (const level of levels) {
    const d = ringPath(layout, contourAt(grid, level).flat());
    if (d !== "") group.append(make(pen, "path", { d }));
  }
  return group;
}

/** Shading where everyone is, beneath the dots of some. */
export function drawDensity(pen: Pen, layout: MapLayout, places: Numbers, box: Box): SVGElement {
  const group = make(pen, "g", { fill: pen.tokens.ink2, "fill-rule": "evenodd", "data-density": "" });
  for (const band of densityBands(places, null, box)) {
    const d = bandPath(band, layout.x, layout.y);
    if (d !== "") group.append(make(pen, "path", { d, "fill-opacity": band.opacity }));
  }
  return group;
}

/** Swatches of the shading and what it is. */
export function drawDensityLegend(pen: Pen, root: Element, y: number, note: string): void {
  const shades = [0.15, 0.3, DARKEST];
  shades.forEach((opacity, k) => {
    const place = { x: 13 * k, y: y - 5, width: 13, height: 10 };
    root.append(make(pen, "rect", { ...place, fill: pen.tokens.ink2, "fill-opacity": opacity }));
  });
  root.append(label(pen, note, 13 * shades.length + 7, y + 4));
}

/** A spot that labels keep away from: px and radius. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly r: number;
}

/** Marks on the map, and the spots they take. */
export interface Marks {
  readonly group: SVGElement;
  readonly spots: readonly Spot[];
}

/** One label per line, on land, away from marks, borders and each other; lines too short for one go without. */
export function drawLineLabels(
  pen: Pen,
  layout: MapLayout,
  land: Land,
  terrain: Pick<Terrain, "grid" | "levels">,
  write: (level: number) => string,
  avoid: readonly Spot[],
): SVGElement {
  const group = make(pen, "g", {
    fill: pen.tokens.ink,
    stroke: pen.tokens.surface,
    "stroke-width": 3.2,
    "stroke-linejoin": "round",
    "paint-order": "stroke",
    "font-size": 10.5,
    "text-anchor": "middle",
  });
  const placed: Spot[] = [];
  for (const level of terrain.levels) {
    const half = textWidth(write(level), 10.5) / 2 + 3;
    let best: { x: number; y: number; score: number } | undefined;
    for (const ring of contourAt(terrain.grid, level).flat()) {
      for (const [u, v] of ring) {
        if (!inland(land, u, v, 0.12)) continue;
        const x = layout.x(u);
        const y = layout.y(v);
        if (x < layout.left + half || x > layout.right - half || y < layout.top + 9 || y > layout.bottom - 9) continue;
        const near = (spots: readonly Spot[], cap: number, own: number) =>
          spots.reduce((d, s) => Math.min(d, Math.hypot((s.x - x) * 0.8, s.y - y) - s.r - own), cap);
        const score = Math.min(near(avoid, 10, 8), 10) + 1.5 * near(placed, 30, half);
        if (best === undefined || score > best.score + 1e-9) best = { x, y, score };
      }
    }
    if (best === undefined || best.score < -4) continue;
    placed.push({ x: best.x, y: best.y, r: half });
    group.append(make(pen, "text", { x: best.x, y: best.y + 3.7 }, write(level)));
  }
  return group;
}

/** Whether a point and its surroundings are on land. */
function inland(land: Land, x: number, y: number, reach: number): boolean {
  const at = (dx: number, dy: number) => valueAt(land.density, x + dx, y + dy) >= land.level;
  return at(0, 0) && at(reach, 0) && at(-reach, 0) && at(0, reach) && at(0, -reach);
}

/** The coastline. */
export function drawCoast(pen: Pen, layout: MapLayout, land: Land): SVGElement {
  return make(pen, "path", {
    d: ringPath(layout, land.coast),
    fill: "none",
    stroke: pen.tokens.coast,
    "stroke-width": 1,
    "stroke-dasharray": "3 3",
  });
}

/** Dotted centre lines and a plus at the centre of the prior. */
export function drawCentre(pen: Pen, layout: MapLayout): SVGElement {
  const [x, y] = [layout.x(0), layout.y(0)];
  const group = make(pen, "g", { fill: "none", stroke: pen.tokens.ink3 });
  const dots = { "stroke-width": 0.8, "stroke-dasharray": "1 4", "stroke-opacity": 0.8 };
  group.append(make(pen, "path", { d: `M${shorten(layout.left)},${shorten(y)}H${shorten(layout.right)}`, ...dots }));
  group.append(make(pen, "path", { d: `M${shorten(x)},${shorten(layout.top)}V${shorten(layout.bottom)}`, ...dots }));
  group.append(make(pen, "path", { d: `M${shorten(x - 4)},${shorten(y)}h8m-4,-4v8`, "stroke-width": 1.2 }));
  return group;
}

/** Size of a small curve's card. */
export const CARD = { width: 46, height: 30 };

/** Small curves along the bottom (centred at `rowY`) and the left (centred at `columnX`), on one scale. */
export function drawSmallCurves(pen: Pen, layout: MapLayout, map: MapData, rowY: number, columnX: number): SVGElement {
  const group = make(pen, "g");
  const heightsOf = (values: ArrayLike<number>) => Array.from(values, (v) => (map.logHeights ? Math.log(v) : v));
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { values } of map.curves) {
    for (const v of heightsOf(values)) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  const { width, height } = CARD;
  for (const { axis, at, values } of map.curves) {
    const cx = axis === "x" ? layout.x(at) : columnX;
    // A card that would be cut stays away.
    if (axis === "x" && (cx + width / 2 > pen.width - 1 || cx - width / 2 < 0)) continue;
    const cy = axis === "x" ? rowY : layout.y(at);
    const [left, top] = [cx - width / 2, cy - height / 2];
    group.append(
      make(pen, "rect", {
        x: left,
        y: top,
        width,
        height,
        rx: 4,
        fill: pen.tokens.surface,
        stroke: pen.tokens.line,
      }),
    );
    const points = heightsOf(values).map((v, k) => {
      const x = left + 5 + ((width - 10) * k) / (values.length - 1);
      return [x, top + 5 + (height - 10) * (high > low ? (high - v) / (high - low) : 0.5)] as const;
    });
    group.append(make(pen, "path", { d: pathOf(points), fill: "none", stroke: pen.tokens.ink, "stroke-width": 1.5 }));
  }
  return group;
}

/** What the small curves are, in words under them. */
export function smallCurveNote(map: Pick<MapData, "logHeights">): string {
  return `Small curves: the course along the two centre lines${map.logHeights ? ", log scale" : ""}.`;
}

/** Scale bar that ends at `right`. */
export function drawScaleBar(pen: Pen, layout: MapLayout, right: number, y: number): SVGElement {
  const left = right - layout.unit;
  const group = make(pen, "g");
  group.append(
    make(pen, "path", {
      d: `M${shorten(left)},${shorten(y - 3)}v6m0,-3H${shorten(right)}m0,-3v6`,
      fill: "none",
      stroke: pen.tokens.ink2,
      "stroke-width": 1.2,
    }),
  );
  group.append(label(pen, "1 prior sd", left - 7, y + 4, { "text-anchor": "end" }));
  return group;
}

/** A ramp of bands with the lowest and highest line beside it; returns its width. */
export function drawRamp(
  pen: Pen,
  root: Element,
  x: number,
  y: number,
  title: string,
  levels: readonly number[],
  ramp: readonly string[],
  ends: readonly [string, string],
): number {
  let at = x;
  const write = (text: string) => {
    root.append(label(pen, text, at, y + 4));
    at += textWidth(text, 11) + 7;
  };
  if (title !== "") write(title);
  write(ends[0]);
  const swatch = 15;
  for (let k = 0; k <= levels.length; k++) {
    root.append(
      make(pen, "rect", { x: at + k * swatch, y: y - 5, width: swatch, height: 10, fill: bandColour(ramp, k, levels) }),
    );
  }
  const width = swatch * (levels.length + 1);
  root.append(make(pen, "rect", { x: at, y: y - 5, width, height: 10, rx: 1, fill: "none", stroke: pen.tokens.line2 }));
  at += width + 7;
  write(ends[1]);
  return at - x;
}

/** "under 40", "over 110 %": the ends of a ramp in words. */
export function rampEnds(terrain: Terrain): readonly [string, string] {
  const { levels, decimals, unit } = terrain;
  if (levels.length === 0) return ["", ""];
  const write = (v: number) => levelText(v, decimals);
  return [`under ${write(levels[0])}`, `over ${write(levels[levels.length - 1])}${unit === "" ? "" : ` ${unit}`}`];
}

/** A level without needless decimals. */
export function levelText(level: number, decimals: number): string {
  const text = fixed(level, Math.max(decimals, level !== 0 && Math.abs(level) < 1 ? 2 : 0));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
