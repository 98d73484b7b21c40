/** A surface over the map with its lines: one spline coefficient, as in the paper's Figures 1 and 2, or the terrain under something drawn. */

import { drawAxes, LEFT, setHeight } from "./group-map.ts";
import { levelRings } from "./land.ts";
import { drawLineLabels, placeLineLabels } from "./line-labels.ts";
import {
  drawBands,
  drawCentre,
  drawCoast,
  drawLines,
  drawRamp,
  landClip,
  levelText,
  type MapLayout,
  mapLayout,
  rampEnds,
} from "./map-base.ts";
import type { MapData, Terrain } from "./map-data.ts";
import { type Canvas, makeRoot, type Pen, penOf } from "./svg.ts";

/** How a surface is drawn, and what lies over it with the boxes that names of lines keep clear of. */
interface SurfaceLook {
  readonly title: string;
  readonly colours: (pen: Pen) => readonly string[];
  readonly lines: (pen: Pen) => string;
  readonly over?: (
    pen: Pen,
    layout: MapLayout,
  ) => { readonly group: SVGElement; readonly names: Parameters<typeof placeLineLabels>[3] };
}

/** The surface as SVG. */
export function drawSurface(
  map: MapData,
  { grid, levels, decimals, ...surface }: Terrain,
  { title, colours, lines: lineColour, over }: SurfaceLook,
  canvas: Canvas,
): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const layout = mapLayout(map.box, LEFT, 6, pen.width - LEFT, 1.08 * (pen.width - LEFT));
  const root = makeRoot(pen, 10);
  const clip = landClip(pen, root, layout, map.land, "land");
  const lines = levelRings(grid, levels);
  const labels = lines.map((rings, k) => ({ words: levelText(levels[k], decimals), rings }));
  const drawn = over?.(pen, layout);
  root.append(
    drawBands(pen, layout, lines, colours(pen), clip),
    drawLines(pen, layout, lines, clip, lineColour(pen)),
    drawCentre(pen, layout),
    drawCoast(pen, layout, map.land),
    drawLineLabels(pen, layout, placeLineLabels(layout, map.land, labels, drawn?.names ?? [])),
    ...(drawn === undefined ? [] : [drawn.group]),
  );
  let y = drawAxes(pen, root, layout, map) + 22;
  if (levels.length > 0) {
    drawRamp(pen, root, 0, y, title, levels, colours(pen), rampEnds({ grid, levels, decimals, ...surface }));
    y += 14;
  }
  setHeight(pen, root, y);
  return root;
}

/** The coefficient's surface as SVG. No dots, so hue is free. */
export function drawTerrainMap(map: MapData, terrain: Terrain, canvas: Canvas): SVGSVGElement {
  const look = {
    title: "value",
    colours: (pen: Pen) => pen.tokens.sequential,
    lines: (pen: Pen) => pen.tokens.surface,
  };
  return drawSurface(map, terrain, look, canvas);
}
