/** Around the map: small curves along the bottom and the left, "+" at the centre, note and scale bar below. */
import { markerModel } from "@trajectory-maps/core";
import {
  drawPlus,
  drawScaleBar,
  drawSmallCurves,
  haloText,
  make,
  type SmallCurve,
  scaleBar,
  smallCurveNote,
  textWidth,
} from "@trajectory-maps/report";
import type { Pen } from "./pen.ts";
import type { Ground } from "./scene.ts";
import { fromPx, fromPy, layoutOf, MAP_UNIT, MARGIN, type Viewport } from "./viewport.ts";

/** px of the small map that shows where the window is, once it shows a part only. */
const MINI = { width: 104, height: 78, right: 12, top: 10, from: 1.05 };
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
    drawSmallCurves(pen, layout, clearCurves(scene.smallCurves, viewport.unit), transform, at),
    drawScaleBar(pen, layout, layout.right, height - 16, MAP_UNIT),
  );
  const about = mapDimension === 1 ? "Heights only keep dots apart." : "The axes have no unit.";
  const note = `${smallCurveNote(mapDimension, transform)} ${about}`;
  const { length, words } = scaleBar(layout, MAP_UNIT);
  if (textWidth(note, 11) + textWidth(words, 11) + length + 40 < width - MARGIN.right) {
    const look = { "font-size": 11, fill: pen.tokens.ink3, stroke: pen.tokens.page };
    group.append(haloText(pen, note, 10, height - 12, look));
  }
  if (viewport.window.zoom >= MINI.from) group.append(drawMinimap(pen, scene, viewport));
  return group;
}

/** px between two small curves that keeps them clear of each other, along the bottom and at the left. */
const CLEAR = { x: 54, y: 36 };

/** The small curves that have room beside each other: all, every other one, or that of the middle alone. */
function clearCurves(curves: readonly SmallCurve[], unit: number): readonly SmallCurve[] {
  const every = (room: number) => [1, 2].find((step) => step * unit >= room) ?? Infinity;
  const steps = { x: every(CLEAR.x), y: every(CLEAR.y) };
  return curves.filter(({ axis, at }) => at === 0 || at % steps[axis] === 0);
}

/** The whole land and the window on it. */
function drawMinimap(pen: Pen, { box, land }: Ground, viewport: Viewport): SVGElement {
  const [left, top] = [viewport.width - MINI.width - MINI.right, MINI.top];
  const unit = Math.min((MINI.width - 8) / (box.x1 - box.x0), (MINI.height - 8) / (box.y1 - box.y0));
  const [middleX, middleY] = [left + MINI.width / 2, top + MINI.height / 2];
  const x = (v: number) => middleX + unit * (v - (box.x0 + box.x1) / 2);
  const y = (v: number) => middleY - unit * (v - (box.y0 + box.y1) / 2);
  const frame = { x: left, y: top, width: MINI.width, height: MINI.height, rx: 4 };
  const d = land.coast.map((ring) => `M${ring.map(([u, v]) => `${x(u).toFixed(1)} ${y(v).toFixed(1)}`).join("L")}Z`);
  const within = (v: number, low: number, high: number) => Math.min(high, Math.max(low, v));
  const [x0, x1] = [fromPx(viewport, MARGIN.left), fromPx(viewport, viewport.width - MARGIN.right)].map((v) =>
    within(x(v), left + 2, left + MINI.width - 2),
  );
  const [y0, y1] = [fromPy(viewport, MARGIN.top), fromPy(viewport, viewport.height - MARGIN.bottom)].map((v) =>
    within(y(v), top + 2, top + MINI.height - 2),
  );
  const look = { fill: pen.tokens.accent, "fill-opacity": 0.14, stroke: pen.tokens.accent, "stroke-width": 1.4 };
  return make(
    pen,
    "g",
    { "data-minimap": "" },
    make(pen, "rect", { ...frame, fill: pen.tokens.surface, stroke: pen.tokens.line2, "fill-opacity": 0.94 }),
    make(pen, "path", { d: d.join(""), fill: pen.colour("land-2"), stroke: pen.tokens.coast, "fill-rule": "evenodd" }),
    make(pen, "rect", { x: x0, y: y0, width: Math.max(3, x1 - x0), height: Math.max(3, y1 - y0), ...look }),
  );
}
