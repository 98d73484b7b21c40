/** The land: bands and lines of the surface, coastline, centre lines. Content is in map coordinates. */
import {
  bandColour,
  contourAt,
  type LineLabel,
  type MapLayout,
  make,
  type Pill,
  type PxBox,
  pillBoxes,
  placeLineLabels,
  type Ring,
  textWidth,
} from "@trajectory-maps/report";
import { middleOf, type SurfaceClass } from "./crossing.ts";
import { type Pen, smoothRings } from "./pen.ts";
import type { Scene } from "./scene.ts";
import type { Surface } from "./surfaces.ts";
import { layoutOf, type Viewport } from "./viewport.ts";

/** px of the words on places without a number. */
const LABEL_SIZE = 10.5;
/** Numbers of colours. */
const RAMP_SIZES = { land: 9, terrain: 5, diverging: 7 };
/** Hatching is quieter over colours: both at full strength would hide the dots. */
const HATCHED = { neutral: 0.7, coloured: 0.4 };

/** Tokens from low to high of a ramp. */
function rampTokens(surface: Surface, neutral: boolean): readonly string[] {
  const name = neutral ? "land" : surface.ramp === "sequential" ? "terrain" : surface.ramp;
  return Array.from({ length: RAMP_SIZES[name] }, (_, k) => `${name}-${k}`);
}

/** Token of band k: one more than there are lines. A diverging ramp has its middle at zero. */
export function bandToken(surface: Surface, neutral: boolean, k: number): string {
  const ramp = rampTokens(surface, neutral);
  const { levels } = surface;
  if (!neutral && surface.ramp === "diverging" && levels.length > 0) {
    const most = Math.max(Math.abs(levels[0]), Math.abs(levels[levels.length - 1]));
    const low = levels[k - 1] ?? 2 * levels[0] - (levels[1] ?? 0);
    const high = levels[k] ?? 2 * levels[levels.length - 1] - (levels[levels.length - 2] ?? 0);
    const share = Math.min(1, Math.max(-1, (low + high) / 2 / (most > 0 ? most : 1)));
    return ramp[Math.round(((share + 1) / 2) * (ramp.length - 1))];
  }
  return bandColour(ramp, k, levels.length);
}

/** Bands, lines and coast as one group, to be given the transform of the viewport. */
export function drawTerrain(pen: Pen, scene: Scene, rings: readonly (readonly Ring[])[]): SVGElement {
  const { land, surface } = scene;
  const { box } = land.density;
  const thin = { fill: "none", "vector-effect": "non-scaling-stroke" };
  const group = make(pen, "g");
  const coast = smoothRings(land.coast);
  const clip = pen.id("land");
  const clipped = { "clip-path": `url(#${clip})` };
  const neutral = scene.colours.carriesHue;
  group.append(make(pen, "clipPath", { id: clip }, make(pen, "path", { d: coast, "clip-rule": "evenodd" })));
  const ground = make(pen, "g", clipped);
  const base = surface === null ? "surface" : bandToken(surface, neutral, 0);
  // Written out in full: shortened attributes would lose the box's corners.
  ground.append(
    make(pen, "path", {
      d: `M${box.x0} ${box.y0}H${box.x1}V${box.y1}H${box.x0}Z`,
      fill: pen.colour(base),
    }),
  );
  if (surface !== null) {
    const paths = rings.map(smoothRings);
    paths.forEach((d, k) => {
      if (d === "") return;
      const fill = pen.colour(bandToken(surface, neutral, k + 1));
      ground.append(make(pen, "path", { d, fill, "fill-rule": "evenodd" }));
    });
    const lines = make(pen, "g", { ...thin, stroke: pen.tokens.iso, "stroke-width": 0.8, "stroke-opacity": 0.75 });
    paths.forEach((d, k) => {
      if (d === "") return;
      const zero = surface.ramp === "diverging" && surface.levels[k] === 0;
      lines.append(
        make(pen, "path", { d, "vector-effect": "non-scaling-stroke", "stroke-width": zero ? 1.6 : undefined }),
      );
    });
    ground.append(lines, ...surface.classes.flatMap((places) => drawClass(pen, places)));
    if (surface.unsure !== null) {
      ground.append(...drawUnsure(pen, surface, neutral ? HATCHED.neutral : HATCHED.coloured));
    }
  }
  const strip = scene.plane.mapDimension === 1;
  const cross = `M${box.x0} 0H${box.x1}${strip ? "" : `M0 ${box.y0}V${box.y1}`}`;
  ground.append(
    make(pen, "path", {
      d: cross,
      ...thin,
      stroke: pen.tokens.coast,
      "stroke-width": 1,
      "stroke-dasharray": "1 3",
    }),
  );
  group.append(ground);
  group.append(
    make(pen, "path", { d: coast, ...thin, stroke: pen.tokens.coast, "stroke-width": 1, "stroke-dasharray": "3 3" }),
  );
  return group;
}

/** Lines of the two kinds of places without a number: lying where there never is one, standing where it is past. */
const CLASS_LINES = { never: "M0 0H1", "from the start": "M0 0V1" } as const;

/** Places that have a word instead of a number, over all that was drawn for numbers. */
function drawClass(pen: Pen, { kind, grid }: SurfaceClass): SVGElement[] {
  const d = smoothRings(contourAt(grid, 0).flat());
  if (d === "") return [];
  const id = pen.id(kind === "never" ? "never" : "begun");
  const step = 0.05;
  const pattern = make(pen, "pattern", { id, width: 1, height: 1, patternUnits: "userSpaceOnUse" });
  pattern.setAttribute("patternTransform", `scale(${step})`);
  pattern.append(
    make(pen, "path", { d: CLASS_LINES[kind], stroke: pen.tokens.iso, "stroke-width": 0.26, fill: "none" }),
  );
  const even = { d, "fill-rule": "evenodd" };
  return [
    pattern,
    make(pen, "path", { ...even, fill: pen.tokens.surface }),
    make(pen, "path", {
      ...even,
      fill: `url(#${id})`,
      stroke: pen.tokens.coast,
      "stroke-width": 1,
      "vector-effect": "non-scaling-stroke",
      "data-class": kind,
    }),
  ];
}

/** Hatching where the surface is not to be trusted. */
function drawUnsure(pen: Pen, surface: Surface, opacity: number): SVGElement[] {
  const id = pen.id("unsure");
  const step = 0.06;
  const pattern = make(pen, "pattern", {
    id,
    width: String(step),
    height: String(step),
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  pattern.append(
    make(pen, "path", { d: `M0 0V${step}`, stroke: pen.tokens.ink3, "stroke-width": "0.012", fill: "none" }),
  );
  const d = smoothRings(contourAt(surface.unsure!.grid, 0.5).flat());
  return [pattern, make(pen, "path", { d, fill: `url(#${id})`, "fill-rule": "evenodd", "fill-opacity": opacity })];
}

/** Ways to step aside, in half heights. */
const STEPS = [0, 2, -2, 3, -3];

function labelBox(layout: MapLayout, { x, y, words }: LineLabel): PxBox {
  const halfWidth = textWidth(words, LABEL_SIZE) / 2 + 3;
  return { x: layout.x(x), y: layout.y(y), halfWidth, halfHeight: LABEL_SIZE };
}

const meet = (a: PxBox, b: PxBox) =>
  Math.abs(a.x - b.x) < a.halfWidth + b.halfWidth && Math.abs(a.y - b.y) < a.halfHeight + b.halfHeight;

/** The labels that cover none of the boxes: what is open is read first. */
export function labelsBeside(
  labels: readonly LineLabel[],
  viewport: Viewport,
  boxes: readonly PxBox[],
): readonly LineLabel[] {
  const layout = layoutOf(viewport);
  return labels.filter((label) => !boxes.some((box) => meet(labelBox(layout, label), box)));
}

/** Where the numbers on the lines go, clear of the names of groups. */
export function terrainLabels(
  { land, surface }: Scene,
  rings: readonly (readonly Ring[])[],
  viewport: Viewport,
  pills: readonly Pill[],
): LineLabel[] {
  if (surface === null) return [];
  const layout = layoutOf(viewport);
  const taken = [...pillBoxes(layout, pills)];
  const words = surface.classes.flatMap((places): LineLabel[] => {
    const at = middleOf(places, land);
    if (at === null) return [];
    const box = labelBox(layout, { ...at, words: places.words });
    // Middles of two classes may meet, or a name: a few px up or down, as far as there is room.
    const free = STEPS.map((by) => ({ ...box, y: box.y + by * box.halfHeight })).find(
      (moved) => !taken.some((other) => meet(moved, other)),
    );
    if (free === undefined) return [];
    taken.push(free);
    return [{ x: at.x, y: at.y + (box.y - free.y) / layout.unit, words: places.words }];
  });
  const lines = rings.map((ring, k) => ({ words: surface.write(surface.levels[k]), rings: ring }));
  return [...words, ...placeLineLabels(layout, surface.defined, lines, taken)];
}
