/** A coloured surface over the map: one spline coefficient, as in the paper's Figures 1 and 2. No dots, so hue is free. */

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
  mapLayout,
  rampEnds,
} from "./map-base.ts";
import type { MapData, Terrain } from "./map-data.ts";
import { type Canvas, makeRoot, penOf } from "./svg.ts";

/** The coefficient's surface as SVG. */
export function drawTerrainMap(map: MapData, terrain: Terrain, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const layout = mapLayout(map.box, LEFT, 6, pen.width - LEFT, 1.08 * (pen.width - LEFT));
  const root = makeRoot(pen, 10);
  const clip = landClip(pen, root, layout, map.land, "land");
  const lines = levelRings(terrain.grid, terrain.levels);
  const labels = lines.map((rings, k) => ({ words: levelText(terrain.levels[k], terrain.decimals), rings }));
  root.append(drawBands(pen, layout, lines, pen.tokens.sequential, clip));
  root.append(drawLines(pen, layout, lines, clip, pen.tokens.surface));
  root.append(drawCentre(pen, layout), drawCoast(pen, layout, map.land));
  root.append(drawLineLabels(pen, layout, placeLineLabels(layout, map.land, labels, [])));
  let y = drawAxes(pen, root, layout, map) + 22;
  if (terrain.levels.length > 0) {
    drawRamp(pen, root, 0, y, "value", terrain.levels, pen.tokens.sequential, rampEnds(terrain));
    y += 14;
  }
  setHeight(pen, root, y);
  return root;
}
