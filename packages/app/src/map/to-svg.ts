/** The map as a file: light theme, live text, title, sentence, legend, scale bar, source line. */
import {
  drawArrows,
  drawCaveat,
  drawDensity,
  drawLineLabels,
  drawPills,
  FONT_STACK,
  levelRings,
  make,
} from "@trajectory-maps/report";
import { drawFrame } from "./draw-frame.ts";
import { pillsBeside, scenePills } from "./draw-groups.ts";
import { drawIndividual, drawRegions, individualBoxes } from "./draw-individual.ts";
import { drawTerrain, labelsBeside, terrainLabels } from "./draw-terrain.ts";
import { drawLegend } from "./legend.ts";
import { filePen, plain } from "./pen.ts";
import type { Dots } from "./renderers/dot-renderer.ts";
import { drawCircles } from "./renderers/svg-dots.ts";
import type { Scene } from "./scene.ts";
import type { MapSvgOptions, MapWindow } from "./types.ts";
import { layoutOf, mapTransform, type Viewport, viewportOf } from "./viewport.ts";

const EDGE = 16;

/** A standalone SVG file of the scene in the given window. */
export function mapToSvg(
  document: Document,
  scene: Scene,
  dots: Dots,
  window: MapWindow,
  options: MapSvgOptions,
  sentences: readonly string[],
): string {
  const { width = 900, title = "Disease trajectory map", source } = options;
  const pen = filePen(document, scene.caveat !== null);
  const { box } = scene;
  const stageWidth = width - 2 * EDGE;
  const aspect = (box.y1 - box.y0) / (box.x1 - box.x0);
  const stageHeight = Math.round(Math.min(1.2, Math.max(0.3, aspect)) * (stageWidth - 90) + 104);
  const viewport = viewportOf(stageWidth, stageHeight, box, window);
  const layout = layoutOf(viewport);
  const rings = scene.surface === null ? [] : levelRings(scene.surface.grid, scene.surface.levels);
  const pills = scenePills(scene, viewport);
  const { individual, arrows = [] } = scene.options;
  const open = individual ? individualBoxes(scene, viewport, individual) : [];

  const terrain = drawTerrain(pen, scene, rings);
  putOnMap(terrain, viewport);
  const stage = make(pen, "g", { "clip-path": "url(#map-stage)" }, terrain);
  // As on the page, shading shows everyone where dots show some.
  if (dots.style.order.length < dots.places.length / 2) {
    stage.append(drawDensity(pen, layout, dots.places, dots.faded, box));
  }
  stage.append(drawCircles(pen, dots, viewport));
  stage.append(
    drawLineLabels(pen, layout, labelsBeside(terrainLabels(scene, rings, viewport, pills), viewport, open)),
    drawPills(pen, layout, pillsBeside(pills, viewport, open)),
  );
  if (arrows.length > 0) stage.append(drawArrows(pen, layout, arrows).group);
  if (individual) {
    const regions = drawRegions(pen, scene, individual);
    putOnMap(regions, viewport);
    stage.append(regions, drawIndividual(pen, scene, viewport, individual));
  }
  stage.append(drawFrame(pen, scene, viewport));

  const head = EDGE + 26 + 18 * sentences.length;
  const caveat = scene.caveat === null ? null : drawCaveat(pen, plain(scene.caveat), EDGE, head, stageWidth);
  const top = head + (caveat === null ? 0 : caveat.height + 8);
  const legend = drawLegend(pen, scene, EDGE, top + stageHeight + 22, stageWidth);
  const height = top + stageHeight + 22 + legend.height + (source === undefined ? 0 : 22);
  stage.setAttribute("transform", `translate(${EDGE} ${top})`);
  const clip = make(pen, "clipPath", { id: "map-stage" });
  clip.append(make(pen, "rect", { width: stageWidth, height: stageHeight }));
  const text = (words: string, y: number, attributes: Record<string, string | number>) =>
    make(pen, "text", { x: EDGE, y, fill: pen.tokens.ink2, "font-size": 12, ...attributes }, plain(words));
  const root = make(
    pen,
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "font-family": FONT_STACK,
      style: "font-variant-numeric:tabular-nums",
    },
    make(pen, "title", {}, plain(title)),
    clip,
    make(pen, "rect", { width, height, fill: pen.tokens.surface }),
    make(pen, "rect", { x: EDGE, y: top, width: stageWidth, height: stageHeight, fill: pen.tokens.page }),
    text(title, EDGE + 13, { "font-size": 15, "font-weight": 600, fill: pen.tokens.ink }),
    ...sentences.map((words, k) => text(words, EDGE + 33 + 18 * k, {})),
    stage,
    legend.group,
  );
  if (caveat !== null) root.append(caveat.group);
  if (source !== undefined) root.append(text(source, height - 10, { "font-size": 11, fill: pen.tokens.ink3 }));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(root)}\n`;
}

/**
 * Gives a drawing in map coordinates the viewport's transform. Lines that keep their width under it are written with the
 * width itself: outside of browsers few programs know `vector-effect`, and would draw them as wide as a prior sd.
 */
export function putOnMap(drawing: Element, viewport: Viewport): void {
  drawing.setAttribute("transform", mapTransform(viewport));
  const scaled = (px: string) =>
    px.replace(/[\d.]+/g, (number) => String(Number((+number / viewport.unit).toPrecision(4))));
  for (const element of [drawing, ...drawing.querySelectorAll("*")]) {
    if (!element.hasAttribute("vector-effect")) continue;
    element.removeAttribute("vector-effect");
    for (const name of ["stroke-width", "stroke-dasharray"]) {
      const px = element.getAttribute(name);
      if (px !== null) element.setAttribute(name, scaled(px));
    }
  }
}
