/** The map as a file: light theme, live text, title, sentence, legend, scale bar, source line. */
import { type Box, bandPath, densityBands, FONT_STACK } from "@trajectory-maps/report";
import { drawFrame } from "./draw-frame.ts";
import { drawPills, pillsBeside, placePills } from "./draw-groups.ts";
import { drawIndividual, drawRegions, individualBoxes } from "./draw-individual.ts";
import { drawLabels, drawTerrain, placeLabels, surfaceRings } from "./draw-terrain.ts";
import { drawLegend, pillsShown } from "./legend.ts";
import { filePen, make, type Pen, plain } from "./pen.ts";
import type { Dots } from "./renderers/dot-renderer.ts";
import { drawCircles } from "./renderers/svg-dots.ts";
import type { Scene } from "./scene.ts";
import type { MapSvgOptions, MapWindow } from "./types.ts";
import { homeWindow, mapTransform, toPx, toPy, type Viewport, viewportOf } from "./viewport.ts";

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
  const pen = filePen(document);
  const { box } = scene;
  const stageWidth = width - 2 * EDGE;
  const aspect = (box.y1 - box.y0) / (box.x1 - box.x0);
  const stageHeight = Math.round(Math.min(1.2, Math.max(0.3, aspect)) * (stageWidth - 90) + 104);
  const viewport = viewportOf(stageWidth, stageHeight, box, window);
  const rings = scene.surface === null ? [] : surfaceRings(scene.surface);
  const pills =
    pillsShown(scene) && scene.options.groups
      ? placePills(scene, scene.options.groups, viewportOf(stageWidth, stageHeight, box, homeWindow(box)))
      : [];
  const avoid = pills.map((p) => ({ x: toPx(viewport, p.x), y: toPy(viewport, p.y), halfWidth: p.width / 2 }));
  const { individual } = scene.options;
  const beside = individual ? pillsBeside(pills, viewport, individualBoxes(scene, viewport, individual)) : pills;

  const terrain = drawTerrain(pen, scene, rings);
  putOnMap(terrain, viewport);
  const stage = make(pen, "g", { "clip-path": "url(#map-stage)" }, terrain);
  // As on the page, shading shows everyone where dots show some.
  if (dots.style.order.length < dots.places.length / 2) stage.append(drawDensity(pen, dots, viewport, box));
  stage.append(drawCircles(pen, dots, viewport));
  stage.append(drawLabels(pen, viewport, placeLabels(scene, rings, viewport, avoid)), drawPills(pen, viewport, beside));
  if (individual) {
    const regions = drawRegions(pen, scene, individual);
    putOnMap(regions, viewport);
    stage.append(regions, drawIndividual(pen, scene, viewport, individual));
  }
  stage.append(drawFrame(pen, scene, viewport));

  const top = EDGE + 26 + 18 * sentences.length;
  const legend = drawLegend(pen, scene, EDGE, top + stageHeight + 22, stageWidth);
  const height = top + stageHeight + 22 + legend.height + (source === undefined ? 0 : 22);
  stage.setAttribute("transform", `translate(${EDGE} ${top})`);
  const clip = make(pen, "clipPath", { id: "map-stage" });
  clip.append(make(pen, "rect", { width: stageWidth, height: stageHeight }));
  const text = (words: string, y: number, attributes: Record<string, string | number>) =>
    make(pen, "text", { x: EDGE, y, fill: pen.colour("ink-2"), "font-size": 12, ...attributes }, plain(words));
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
    make(pen, "rect", { width, height, fill: pen.colour("surface") }),
    make(pen, "rect", { x: EDGE, y: top, width: stageWidth, height: stageHeight, fill: pen.colour("page") }),
    text(title, EDGE + 13, { "font-size": 15, "font-weight": 600, fill: pen.colour("ink") }),
    ...sentences.map((words, k) => text(words, EDGE + 33 + 18 * k, {})),
    stage,
    legend.group,
  );
  if (source !== undefined) root.append(text(source, height - 10, { "font-size": 11, fill: pen.colour("ink-3") }));
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

/** Where all who do not fade are, as bands between contours. */
function drawDensity(pen: Pen, { places, faded }: Dots, viewport: Viewport, box: Box): SVGElement {
  const group = make(pen, "g", { fill: pen.colour("ink-2"), "fill-rule": "evenodd", "data-density": "" });
  for (const band of densityBands(places, faded, box)) {
    const d = bandPath(
      band,
      (x) => toPx(viewport, x),
      (y) => toPy(viewport, y),
    );
    if (d !== "") group.append(make(pen, "path", { d, "fill-opacity": band.opacity }));
  }
  return group;
}
