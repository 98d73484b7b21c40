/**
 * Puts a scene on the stage. Each kind of change has its own work: another year draws terrain, another colour draws dots,
 * moving the window sets one transform and lays out what is drawn in px. Work is gathered and done once per frame.
 */
import {
  drawArrows,
  drawLineLabels,
  drawPills,
  type LineLabel,
  levelRings,
  make,
  type Pill,
  whole,
} from "@trajectory-maps/report";
import { drawFrame } from "./draw-frame.ts";
import { nameWidthIn, pillsBeside, scenePills } from "./draw-groups.ts";
import { drawIndividual, drawOutline, drawRegions, individualBoxes } from "./draw-individual.ts";
import { drawCrosshair, drawPath } from "./draw-lens.ts";
import { drawTerrain, labelsBeside, terrainLabels } from "./draw-terrain.ts";
import type { Shape } from "./gestures.ts";
import { showLegend } from "./legend.ts";
import { LENS, lensPosition } from "./lens.ts";
import { linePath, type Pen } from "./pen.ts";
import { densityRaster } from "./renderers/density-raster.ts";
import type { DotRenderer, Dots } from "./renderers/dot-renderer.ts";
import { readingAt, type Scene } from "./scene.ts";
import { rgbOf, type Stage } from "./stage.ts";
import type { LensReading, MapPlace } from "./types.ts";
import { layoutOf, mapTransform, sameViewport, toPx, toPy, type Viewport } from "./viewport.ts";

/** What has changed since the last frame. */
export type Change = "terrain" | "dots" | "window" | "size" | "groups" | "individual" | "overlay" | "lens" | "words";

/** What of the interaction is shown. */
export interface Shown {
  readonly reading: LensReading | null;
  readonly pins: readonly MapPlace[];
  /** Share of the way between two pins. */
  readonly share: number;
  /** Individual the keyboard is at, or −1. */
  readonly current: number;
  readonly shape: Shape | null;
}

export interface Painter {
  paint(changes: ReadonlySet<Change>, scene: Scene, viewport: Viewport, dots: Dots, shown: Shown): void;
  /** The lens alone, at once: it must keep up with the pointer. */
  paintLens(scene: Scene, viewport: Viewport, shown: Shown): void;
  readonly pills: readonly Pill[];
  destroy(): void;
}

const SENTENCE = "Each dot is one individual. Dots that lie close together have similar courses.";
/** Labels of lines look for better places once the window rests this long, ms. */
const REST = 160;
const PIN_CARDS = { left: 84, top: 12, gap: 10 };

/** Sentences above the map. */
export function sentencesOf(scene: Scene): string[] {
  const { sentence = SENTENCE, placements } = scene.options;
  const [drawn, m] = [scene.style.order.length, placements.ids.length];
  const huge = drawn < m ? [`Showing ${whole(drawn)} of ${whole(m)} dots. All numbers use everyone.`] : [];
  return [...(sentence === null ? [] : [sentence]), ...huge];
}

/** A painter of one stage. `renderer` is asked for at each frame, since it may change. */
export function makePainter(pen: Pen, stage: Stage, renderer: () => DotRenderer): Painter {
  const layer = () => make(pen, "g");
  const [regions, labelLayer, pillLayer, overlay, frame, crosshair, rubber] = [
    layer(),
    layer(),
    layer(),
    layer(),
    layer(),
    layer(),
    layer(),
  ];
  // Names and numbers above the region of whoever is open: a line through a name makes it hard to read.
  stage.front.append(regions, labelLayer, pillLayer, overlay, frame, crosshair, rubber);
  const density = densityRaster(pen.document, rgbOf(pen.document, stage.root));
  stage.back.after(density.element);
  let rings: ReturnType<typeof levelRings> = [];
  /** The surface that the rings are lines of. */
  let ringsOf: Scene["surface"] = null;
  let labels: LineLabel[] = [];
  let pills: Pill[] = [];
  let shownPills: readonly Pill[] = [];
  let settled: Viewport | null = null;
  /** Where dots were drawn last. */
  let drawn: Viewport | null = null;
  let rest: ReturnType<typeof setTimeout> | null = null;

  /** Draws the terrain sharply where it is. */
  const settle = (viewport: Viewport) => {
    stage.back.firstElementChild?.setAttribute("transform", mapTransform(viewport));
    stage.back.style.transform = "";
    settled = viewport;
  };
  /** Numbers on lines, but for those that whoever is open covers. */
  const showLabels = (scene: Scene, viewport: Viewport) => {
    const { individual } = scene.options;
    const boxes = individual ? individualBoxes(scene, viewport, individual) : [];
    labelLayer.replaceChildren(drawLineLabels(pen, layoutOf(viewport), labelsBeside(labels, viewport, boxes)));
  };

  const layOutLabels = (scene: Scene, viewport: Viewport) => {
    // Lines of another surface than this scene's: its own are about to be drawn, and then labelled.
    if (scene.surface !== ringsOf) return;
    labels = terrainLabels(scene, rings, viewport, pills);
    showLabels(scene, viewport);
  };

  const comeToRest = (scene: Scene, viewport: Viewport) => {
    rest = null;
    settle(viewport);
    layOutLabels(scene, viewport);
  };

  let openLabel: string | null = null;

  const paintOverlay = (scene: Scene, viewport: Viewport, { current }: Shown) => {
    const { outline, individual, arrows = [] } = scene.options;
    const parts: SVGElement[] = [];
    if (arrows.length > 0) parts.push(drawArrows(pen, layoutOf(viewport), arrows).group);
    if (outline) parts.push(drawOutline(pen, scene, viewport, outline));
    if (individual) parts.push(drawIndividual(pen, scene, viewport, individual));
    if (current >= 0 && current !== individual?.index) {
      parts.push(
        make(pen, "circle", {
          cx: toPx(viewport, scene.places[2 * current]),
          cy: toPy(viewport, scene.places[2 * current + 1]),
          r: 8,
          fill: "none",
          stroke: pen.tokens.accent,
          "stroke-width": 2,
          "data-current": "",
        }),
      );
    }
    overlay.replaceChildren(...parts);
  };

  const paintLens = (scene: Scene, viewport: Viewport, shown: Shown) => {
    const strip = scene.plane.mapDimension === 1;
    const parts: SVGElement[] = [];
    stage.pinCards.forEach((card, k) => {
      const pin = shown.pins[k];
      if (pin === undefined) {
        card.hide();
        return;
      }
      const reading = readingAt(scene, pin.x, pin.y);
      const left = PIN_CARDS.left + k * (LENS.width + PIN_CARDS.gap);
      card.show(scene, reading, shown.pins.length === 1 ? "Course at the pin" : `Course at pin ${k + 1}`);
      card.moveTo(left, PIN_CARDS.top);
      const height = reading.course === null ? LENS.empty : LENS.height;
      const box = { left, top: PIN_CARDS.top, width: LENS.width, height };
      parts.push(...drawCrosshair(pen, viewport, pin, box, strip));
    });
    if (shown.pins.length === 2) parts.push(...drawPath(pen, viewport, shown.pins, shown.share));
    const { reading } = shown;
    if (reading === null) stage.card.hide();
    else {
      const at = lensPosition(viewport, toPx(viewport, reading.x), toPy(viewport, reading.y), reading);
      stage.card.show(scene, reading);
      stage.card.moveTo(at.left, at.top, at.above);
      parts.push(...drawCrosshair(pen, viewport, reading, null, strip));
    }
    crosshair.replaceChildren(...parts);
  };

  const paintShape = (shape: Shape | null) => {
    if (shape === null) {
      rubber.replaceChildren();
      return;
    }
    const { corners } = shape;
    const d = `${linePath(
      corners.length,
      (k) => corners[k][0],
      (k) => corners[k][1],
    )}Z`;
    const look = {
      fill: pen.tokens.accent,
      "fill-opacity": 0.12,
      stroke: pen.tokens.accent,
      "stroke-width": 1.5,
    };
    rubber.replaceChildren(make(pen, "path", { d, ...look, "stroke-dasharray": "5 3" }));
  };

  const paintWords = (scene: Scene) => {
    const words = sentencesOf(scene).join(" ");
    stage.sentence.textContent = words;
    stage.footer.hidden = scene.options.legend === false;
    if (scene.options.legend !== false) showLegend(pen, stage.footer, scene);
  };

  return {
    get pills() {
      return shownPills;
    },
    paintLens,
    destroy() {
      if (rest !== null) clearTimeout(rest);
    },
    paint(changes, scene, viewport, dots, shown) {
      const has = (...wanted: Change[]) => wanted.some((change) => changes.has(change));
      if (has("words", "terrain", "dots")) paintWords(scene);
      if (has("terrain")) {
        rings = scene.surface === null ? [] : levelRings(scene.surface.grid, scene.surface.levels);
        ringsOf = scene.surface;
        stage.back.replaceChildren(drawTerrain(pen, scene, rings));
      }
      if (has("terrain", "size")) settle(viewport);
      else if (has("window") && settled !== null) slide(stage.back, settled, viewport);
      if (has("window", "size", "terrain")) regions.setAttribute("transform", mapTransform(viewport));
      if (has("dots")) {
        density.setDots(dots, scene.box);
        renderer().setDots(dots);
      }
      if (has("dots") || (has("window", "size") && !(drawn !== null && sameViewport(drawn, viewport)))) {
        density.draw(viewport);
        renderer().draw(viewport);
        drawn = viewport;
      }
      if (has("groups", "size")) pills = scenePills(scene, viewport, nameWidthIn(stage.root));
      if (has("groups", "size", "window", "individual")) {
        const { individual } = scene.options;
        shownPills = individual ? pillsBeside(pills, viewport, individualBoxes(scene, viewport, individual)) : pills;
        pillLayer.replaceChildren(drawPills(pen, layoutOf(viewport), shownPills));
      }
      if (has("terrain", "groups", "size")) layOutLabels(scene, viewport);
      else if (has("window", "individual")) showLabels(scene, viewport);
      // What is painted last is what comes to rest: an older scene would not fit the lines at hand.
      const moving = has("window") || rest !== null;
      if (rest !== null) clearTimeout(rest);
      rest = moving ? setTimeout(() => comeToRest(scene, viewport), REST) : null;
      if (has("size", "window", "terrain")) frame.replaceChildren(drawFrame(pen, scene, viewport));
      if (has("individual")) {
        const { individual } = scene.options;
        regions.replaceChildren(...(individual ? [drawRegions(pen, scene, individual)] : []));
        // Regions fade in with a new individual; those of the same one, as known at other times, change at once.
        const label = individual?.label ?? null;
        if (label !== null && label !== openLabel) regions.firstElementChild?.setAttribute("data-regions", "new");
        openLabel = label;
      }
      if (has("overlay", "individual", "dots", "window", "size")) paintOverlay(scene, viewport, shown);
      if (has("lens", "window", "size", "terrain")) paintLens(scene, viewport, shown);
      paintShape(shown.shape);
    },
  };
}

/** Moves a drawing as the picture it is, without drawing it again. */
function slide(element: SVGElement, from: Viewport, to: Viewport): void {
  const scale = to.unit / from.unit;
  const [x, y] = [to.originX - scale * from.originX, to.originY - scale * from.originY];
  element.style.transform = `translate(${x}px,${y}px) scale(${scale})`;
}
