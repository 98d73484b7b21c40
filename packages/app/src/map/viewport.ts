/**
 * From map coordinates to px and back. Zoom 1 fits the box of the map between the margins; one prior sd is `unit` px in
 * both directions at every zoom. The window moves only when asked.
 */
import type { Box, MapLayout } from "@trajectory-maps/report";
import type { MapWindow } from "./types.ts";

/** What one prior sd is called in the explorer; Details say what it is. */
export const MAP_UNIT = "map unit";

export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly window: MapWindow;
  /** px per prior sd. */
  readonly unit: number;
  /** px of the map's origin. */
  readonly originX: number;
  readonly originY: number;
}

/** Room for small curves at the left and the bottom, and for the note and scale bar below them. */
export const MARGIN = { left: 72, right: 18, top: 22, bottom: 82 };
export const LARGEST_ZOOM = 20;

/** The window that shows the whole box. */
export function homeWindow(box: Box): MapWindow {
  return { x: (box.x0 + box.x1) / 2, y: (box.y0 + box.y1) / 2, zoom: 1 };
}

/** A window with its middle in the box and its zoom between 1 and 20. */
export function clampWindow(window: MapWindow, box: Box): MapWindow {
  const between = (v: number, low: number, high: number) => Math.min(high, Math.max(low, v));
  return {
    x: between(window.x, box.x0, box.x1),
    y: between(window.y, box.y0, box.y1),
    zoom: between(window.zoom, 1, LARGEST_ZOOM),
  };
}

export function sameWindow(a: MapWindow, b: MapWindow): boolean {
  return a.x === b.x && a.y === b.y && a.zoom === b.zoom;
}

/** Whether two viewports put everything at the same px. */
export function sameViewport(a: Viewport, b: Viewport): boolean {
  const keys = ["width", "height", "unit", "originX", "originY"] as const;
  return keys.every((key) => a[key] === b[key]);
}

/** The viewport of a stage of the given size. */
export function viewportOf(width: number, height: number, box: Box, window: MapWindow): Viewport {
  const innerWidth = Math.max(40, width - MARGIN.left - MARGIN.right);
  const innerHeight = Math.max(40, height - MARGIN.top - MARGIN.bottom);
  const unit = window.zoom * Math.min(innerWidth / (box.x1 - box.x0), innerHeight / (box.y1 - box.y0));
  return {
    width,
    height,
    window,
    unit,
    originX: MARGIN.left + innerWidth / 2 - unit * window.x,
    originY: MARGIN.top + innerHeight / 2 + unit * window.y,
  };
}

export const toPx = (v: Viewport, x: number) => v.originX + v.unit * x;
export const toPy = (v: Viewport, y: number) => v.originY - v.unit * y;
export const fromPx = (v: Viewport, px: number) => (px - v.originX) / v.unit;
export const fromPy = (v: Viewport, py: number) => (v.originY - py) / v.unit;

/** The part of a viewport between the margins, as figures are drawn by it. */
export function layoutOf(v: Viewport): MapLayout {
  return {
    left: MARGIN.left,
    top: 4,
    right: v.width - MARGIN.right,
    bottom: v.height - MARGIN.bottom + 12,
    unit: v.unit,
    x: (x) => toPx(v, x),
    y: (y) => toPy(v, y),
  };
}

/** The transform of a group whose content is in map coordinates. */
export function mapTransform(v: Viewport): string {
  return `matrix(${v.unit} 0 0 ${-v.unit} ${v.originX} ${v.originY})`;
}

/** The window after zooming by `factor` with the place under (px, py) held still. */
export function zoomAt(v: Viewport, factor: number, px: number, py: number): MapWindow {
  const zoom = Math.min(LARGEST_ZOOM, Math.max(1, v.window.zoom * factor));
  const ratio = v.window.zoom / zoom;
  const [x, y] = [fromPx(v, px), fromPy(v, py)];
  return { x: x + (v.window.x - x) * ratio, y: y + (v.window.y - y) * ratio, zoom };
}

/** The window after moving its content by px. */
export function panBy(v: Viewport, dx: number, dy: number): MapWindow {
  return { x: v.window.x - dx / v.unit, y: v.window.y + dy / v.unit, zoom: v.window.zoom };
}
