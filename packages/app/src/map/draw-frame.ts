/** Around the map: small curves along the bottom and the left, "+" at the centre, note and scale bar below. */
import { markerModel } from "@trajectory-maps/core";
import {
  drawPlus,
  drawScaleBar,
  drawSmallCurves,
  haloText,
  make,
  scaleBar,
  smallCurveNote,
  textWidth,
} from "@trajectory-maps/report";
import type { Pen } from "./pen.ts";
import type { Ground } from "./scene.ts";
import { layoutOf, MARGIN, type Viewport } from "./viewport.ts";

const COLUMN_X = 36;
const ROW_FROM_BOTTOM = 50;

/** Small curves, plus, note and scale bar, in px. */
export function drawFrame(pen: Pen, scene: Ground, viewport: Viewport): SVGElement {
  const group = make(pen, "g");
  const { width, height } = viewport;
  const layout = layoutOf(viewport);
  const { mapDimension, model } = scene.decoder;
  const { transform } = markerModel(model).marker;
  const [x, y] = [layout.x(0), layout.y(0)];
  if (x >= layout.left - 8 && x <= width && y >= 0 && y <= layout.bottom + 10) group.append(drawPlus(pen, layout));
  const at = { rowY: height - ROW_FROM_BOTTOM, columnX: COLUMN_X, left: layout.left - 4, right: width - 2 };
  group.append(
    drawSmallCurves(pen, layout, scene.smallCurves, transform, at),
    drawScaleBar(pen, layout, layout.right, height - 16),
  );
  const about = mapDimension === 1 ? "Heights only keep dots apart." : "The axes have no unit.";
  const note = `${smallCurveNote(mapDimension, transform)} ${about}`;
  const { length, words } = scaleBar(layout);
  if (textWidth(note, 11) + textWidth(words, 11) + length + 40 < width - MARGIN.right) {
    const look = { "font-size": 11, fill: pen.tokens.ink3, stroke: pen.tokens.page };
    group.append(haloText(pen, note, 10, height - 12, look));
  }
  return group;
}
