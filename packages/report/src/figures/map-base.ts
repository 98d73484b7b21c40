/** The parts every map figure is drawn from: layout, terrain, lines, coast, ramps. */
import { trimmed } from "../numbers.ts";
import type { Numbers } from "../study.ts";
import { bandPath, DARKEST, densityBands } from "./density.ts";
import { drawKey } from "./key.ts";
import type { Box, Land, Ring } from "./land.ts";
import type { Terrain } from "./map-data.ts";
import { drawPlus } from "./map-frame.ts";
import { type FigurePen, label, make, type Pen, pathOf, shorten, textWidth } from "./svg.ts";

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

/** Filled bands between lines, lowest colour first; one colour more than lines, taken evenly from the ramp. */
export function drawBands(
  pen: Pen,
  layout: MapLayout,
  lines: readonly (readonly Ring[])[],
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
      fill: bandColour(ramp, 0, lines.length),
    }),
  );
  lines.forEach((rings, k) => {
    const d = ringPath(layout, rings);
    const fill = bandColour(ramp, k + 1, lines.length);
    if (d !== "") group.append(make(pen, "path", { d, fill, "fill-rule": "evenodd" }));
  });
  return group;
}

/** Colour of band k, of which there is one more than lines. */
export function bandColour(ramp: readonly string[], k: number, numLines: number): string {
  const share = numLines === 0 ? 0.5 : k / numLines;
  return ramp[Math.round(share * (ramp.length - 1))];
}

/** Contour lines, without the parts that run along the border of the box. */
export function drawLines(
  pen: Pen,
  layout: MapLayout,
  lines: readonly (readonly Ring[])[],
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
  for (const rings of lines) {
    const d = ringPath(layout, rings);
    if (d !== "") group.append(make(pen, "path", { d }));
  }
  return group;
}

/** Shading where everyone is, but for those marked 1 in `left`, beneath the dots of some. */
export function drawDensity(
  pen: Pen,
  layout: MapLayout,
  places: Numbers,
  left: ArrayLike<number> | null,
  box: Box,
): SVGElement {
  const group = make(pen, "g", { fill: pen.tokens.ink2, "fill-rule": "evenodd", "data-density": "" });
  for (const band of densityBands(places, left, box)) {
    const d = bandPath(band, layout.x, layout.y);
    if (d !== "") group.append(make(pen, "path", { d, "fill-opacity": band.opacity }));
  }
  return group;
}

/** Swatches of the shading and what it is. */
export function drawDensityLegend(pen: FigurePen, root: Element, top: number, words: string): void {
  const swatch = (opacity: number, x: number, y: number) =>
    make(pen, "rect", { x, y: y - 5, width: 13, height: 10, fill: pen.tokens.ink2, "fill-opacity": opacity });
  const draw = (x: number, y: number) =>
    make(pen, "g", {}, ...[0.15, 0.3, DARKEST].map((opacity, k) => swatch(opacity, x + 13 * k, y)));
  drawKey(pen, root, top, [{ words, width: 39, draw }]);
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
  group.append(drawPlus(pen, layout));
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
      make(pen, "rect", {
        x: at + k * swatch,
        y: y - 5,
        width: swatch,
        height: 10,
        fill: bandColour(ramp, k, levels.length),
      }),
    );
  }
  const width = swatch * (levels.length + 1);
  root.append(make(pen, "rect", { x: at, y: y - 5, width, height: 10, rx: 1, fill: "none", stroke: pen.tokens.line2 }));
  at += width + 7;
  write(ends[1]);
  return at - x;
}

/** "under 40", "over 110%": the ends of a ramp in words. */
export function rampEnds(terrain: Terrain): readonly [string, string] {
  const { levels, decimals, unit } = terrain;
  if (levels.length === 0) return ["", ""];
  const write = (v: number) => levelText(v, decimals);
  return [`under ${write(levels[0])}`, `over ${write(levels[levels.length - 1])}${unit === "" ? "" : ` ${unit}`}`];
}

/** A level without needless decimals. */
export function levelText(level: number, decimals: number): string {
  return trimmed(level, Math.max(decimals, level !== 0 && Math.abs(level) < 1 ? 2 : 0));
}
