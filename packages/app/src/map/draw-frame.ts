/** Instead of axes (design §3.2): small curves along the bottom and the left, "+" at the centre, a true scale bar. */
import { textWidth } from "@trajectory-maps/report";
import { haloText, linePath, make, type Pen } from "./pen.ts";
import type { Ground } from "./scene.ts";
import { MARGIN, toPx, toPy, type Viewport } from "./viewport.ts";

const CARD = { width: 52, height: 34, inset: 5 };
const COLUMN_X = 36;
const ROW_FROM_BOTTOM = 50;
const NOTE = "Small curves: the course along the two centre lines. The axes have no unit.";
const STRIP_NOTE = "Small curves: the course along the line. Heights only keep dots apart.";

/** Words at the edge, which the land may reach when it is close. */
const overWater = (pen: Pen) => ({ stroke: pen.colour("page"), "font-size": 11 });

/** Small curves, plus, note and scale bar, in px. */
export function drawFrame(pen: Pen, scene: Ground, viewport: Viewport): SVGElement {
  const group = make(pen, "g");
  const [x, y] = [toPx(viewport, 0), toPy(viewport, 0)];
  const inside = (px: number, py: number) =>
    px >= MARGIN.left - 8 && px <= viewport.width && py >= 0 && py <= viewport.height - MARGIN.bottom + 10;
  if (inside(x, y)) {
    const d = `M${x - 5} ${y}h10M${x} ${y - 5}v10`;
    group.append(make(pen, "path", { d, fill: "none", stroke: pen.colour("ink-3"), "stroke-width": 1 }));
  }
  group.append(drawMiniCurves(pen, scene, viewport), drawScaleBar(pen, viewport));
  const note = scene.plane.mapDimension === 1 ? STRIP_NOTE : NOTE;
  const bar = scaleBar(viewport);
  const room = viewport.width - MARGIN.right - bar.length - textWidth(bar.words, 11) - 30;
  if (textWidth(note, 11) + 10 < room) {
    group.append(haloText(pen, note, 10, viewport.height - 12, { ...overWater(pen), fill: pen.colour("ink-3") }));
  }
  return group;
}

/** Courses at −2 … +2 on the centre lines, all on one scale; those outside the window stay away. */
function drawMiniCurves(pen: Pen, scene: Ground, viewport: Viewport): SVGElement {
  const group = make(pen, "g");
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of scene.miniCurves) {
    for (const v of values) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  const { width, height, inset } = CARD;
  const rowY = viewport.height - ROW_FROM_BOTTOM;
  for (const { axis, at, values } of scene.miniCurves) {
    const cx = axis === "x" ? toPx(viewport, at) : COLUMN_X;
    const cy = axis === "x" ? rowY : toPy(viewport, at);
    if (axis === "x" && (cx < MARGIN.left + width / 2 - 4 || cx > viewport.width - width / 2 - 2)) continue;
    if (axis === "y" && (cy < height / 2 + 2 || cy > rowY - height - 4)) continue;
    const [left, top] = [cx - width / 2, cy - height / 2];
    const n = values.length;
    const d = linePath(
      n,
      (k) => left + inset + ((width - 2 * inset) * k) / (n - 1),
      (k) => top + inset + (height - 2 * inset) * (high > low ? (high - values[k]) / (high - low) : 0.5),
    );
    group.append(
      make(pen, "rect", {
        x: left,
        y: top,
        width,
        height,
        rx: 4,
        fill: pen.colour("surface"),
        stroke: pen.colour("line"),
      }),
      make(pen, "path", {
        d,
        fill: "none",
        stroke: pen.colour("ink"),
        "stroke-width": 1.5,
        "stroke-linejoin": "round",
        "data-mini": `${axis} ${at}`,
      }),
    );
  }
  return group;
}

/** Length in px and words of the bar: one prior sd, or the largest round part of it that fits. */
export function scaleBar(viewport: Viewport): { readonly length: number; readonly words: string } {
  const most = 0.9 * (viewport.width - MARGIN.left - MARGIN.right);
  const parts: readonly (readonly [number, string])[] = [
    [1, "1"],
    [0.5, "½"],
    [0.25, "¼"],
    [0.1, "0.1"],
    [0.05, "0.05"],
    [0.01, "0.01"],
  ];
  const [share, text] = parts.find(([part]) => part * viewport.unit <= most) ?? parts[parts.length - 1];
  return { length: share * viewport.unit, words: `${text} prior sd` };
}

function drawScaleBar(pen: Pen, viewport: Viewport): SVGElement {
  const { length, words } = scaleBar(viewport);
  const right = viewport.width - MARGIN.right;
  const y = viewport.height - 16;
  const group = make(pen, "g", { "data-scale-bar": String(length) });
  group.append(
    make(pen, "path", {
      d: `M${right - length} ${y - 3}v6m0 -3H${right}m0 -3v6`,
      fill: "none",
      stroke: pen.colour("ink-2"),
      "stroke-width": 1.2,
    }),
    haloText(pen, words, right - length - 7, y + 4, {
      ...overWater(pen),
      fill: pen.colour("ink-2"),
      "text-anchor": "end",
    }),
  );
  return group;
}
