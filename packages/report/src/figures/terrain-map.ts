/** A coloured surface over the map: one spline coefficient, as in the paper's Figures 1 and 2. No dots, so hue is free. */

import { setHeight } from "./group-map.ts";
import {
  CARD,
  drawBands,
  drawCentre,
  drawCoast,
  drawLineLabels,
  drawLines,
  drawRamp,
  drawScaleBar,
  drawSmallCurves,
  landClip,
  levelText,
  mapLayout,
  rampEnds,
  smallCurveNote,
} from "./map-base.ts";
import type { MapData, Terrain } from "./map-data.ts";
import { type Canvas, label, makeRoot, penOf } from "./svg.ts";

/** The coefficient's surface as SVG. */
export function drawTerrainMap(map: MapData, terrain: Terrain, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const left = CARD.width + 12;
  const layout = mapLayout(map.box, left, 6, pen.width - left, 1.08 * (pen.width - left));
  const root = makeRoot(pen, 10);
  const clip = landClip(pen, root, layout, map.land, "land");
  root.append(drawBands(pen, layout, terrain.grid, terrain.levels, pen.tokens.sequential, clip));
  root.append(drawLines(pen, layout, terrain.grid, terrain.levels, clip, pen.tokens.surface));
  root.append(drawCentre(pen, layout), drawCoast(pen, layout, map.land));
  root.append(drawLineLabels(pen, layout, map.land, terrain, (v) => levelText(v, terrain.decimals), []));
  const rowY = layout.bottom + 12 + CARD.height / 2;
  root.append(drawSmallCurves(pen, layout, map, rowY, CARD.width / 2 + 1));
  let y = rowY + CARD.height / 2 + 20;
  root.append(label(pen, smallCurveNote(map), 0, y + 4, { fill: pen.tokens.ink3 }));
  root.append(drawScaleBar(pen, layout, pen.width - 1, y));
  y += 22;
  if (terrain.levels.length > 0) {
    drawRamp(pen, root, 0, y, "value", terrain.levels, pen.tokens.sequential, rampEnds(terrain));
    y += 14;
  }
  setHeight(pen, root, y);
  return root;
}
