/** The land: bands and lines of the surface, coastline, centre lines. Content is in map coordinates. */
import { contourAt, type Land, type Ring, textWidth, valueAt } from "@trajectory-maps/report";
import { haloText, make, type Pen, smoothRings } from "./pen.ts";
import type { Ground, Scene } from "./scene.ts";
import type { Surface } from "./surfaces.ts";
import type { MapPlace } from "./types.ts";
import { MARGIN, toPx, toPy, type Viewport } from "./viewport.ts";

/** Numbers of colours. The two darkest steps of the one-hue ramp are left out: dots could not be seen on them. */
const RAMP_SIZES = { land: 9, sequential: 5, diverging: 7 };

/** Tokens from low to high of a ramp. */
export function rampTokens(surface: Surface, neutral: boolean): readonly string[] {
  const name = neutral ? "land" : surface.ramp;
  return Array.from({ length: RAMP_SIZES[name] }, (_, k) => `${name}-${k}`);
}

/** Token of band k: one more than there are lines. A diverging ramp has its middle at zero. */
export function bandToken(surface: Surface, neutral: boolean, k: number): string {
  const ramp = rampTokens(surface, neutral);
  const { levels } = surface;
  const last = ramp.length - 1;
  if (!neutral && surface.ramp === "diverging" && levels.length > 0) {
    const most = Math.max(Math.abs(levels[0]), Math.abs(levels[levels.length - 1]));
    const low = levels[k - 1] ?? 2 * levels[0] - (levels[1] ?? 0);
    const high = levels[k] ?? 2 * levels[levels.length - 1] - (levels[levels.length - 2] ?? 0);
    const share = Math.min(1, Math.max(-1, (low + high) / 2 / (most > 0 ? most : 1)));
    return ramp[Math.round(((share + 1) / 2) * last)];
  }
  const share = levels.length === 0 ? 0.5 : k / levels.length;
  return ramp[Math.round(share * last)];
}

/** Rings of every line of a surface. */
export function surfaceRings(surface: Surface): readonly (readonly Ring[])[] {
  return surface.levels.map((level) => contourAt(surface.grid, level).flat());
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
    if (surface.unsure !== null) ground.append(...drawUnsure(pen, surface));
    const lines = make(pen, "g", { ...thin, stroke: pen.colour("iso"), "stroke-width": 0.8, "stroke-opacity": 0.75 });
    paths.forEach((d, k) => {
      if (d === "") return;
      const zero = surface.ramp === "diverging" && surface.levels[k] === 0;
      lines.append(
        make(pen, "path", { d, "vector-effect": "non-scaling-stroke", "stroke-width": zero ? 1.6 : undefined }),
      );
    });
    ground.append(lines);
  }
  const strip = scene.plane.mapDimension === 1;
  const cross = `M${box.x0} 0H${box.x1}${strip ? "" : `M0 ${box.y0}V${box.y1}`}`;
  ground.append(
    make(pen, "path", {
      d: cross,
      ...thin,
      stroke: pen.colour("coast"),
      "stroke-width": 1,
      "stroke-dasharray": "1 3",
    }),
  );
  group.append(ground);
  group.append(
    make(pen, "path", { d: coast, ...thin, stroke: pen.colour("coast"), "stroke-width": 1, "stroke-dasharray": "3 3" }),
  );
  return group;
}

/** Hatching where the surface is not to be trusted. */
function drawUnsure(pen: Pen, surface: Surface): SVGElement[] {
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
    make(pen, "path", { d: `M0 0V${step}`, stroke: pen.colour("ink-3"), "stroke-width": "0.012", fill: "none" }),
  );
  const d = smoothRings(contourAt(surface.unsure!, 0.5).flat());
  return [pattern, make(pen, "path", { d, fill: `url(#${id})`, "fill-rule": "evenodd", "fill-opacity": 0.7 })];
}

/** A label of a line and the place it stands at. */
export interface LineLabel extends MapPlace {
  readonly words: string;
}

/** One label per line: on land, in the window, where dots are few, away from each other and from `avoid`. */
export function placeLabels(
  scene: Ground & { readonly surface: Surface | null },
  rings: readonly (readonly Ring[])[],
  viewport: Viewport,
  avoid: readonly { readonly x: number; readonly y: number; readonly halfWidth: number }[],
): LineLabel[] {
  const { land, surface } = scene;
  if (surface === null) return [];
  const placed: { x: number; y: number; halfWidth: number }[] = [...avoid];
  const labels: LineLabel[] = [];
  let peak = 0;
  for (const v of land.density.values) peak = Math.max(peak, v);
  surface.levels.forEach((level, k) => {
    const words = surface.write(level);
    const half = textWidth(words, 10.5) / 2 + 3;
    let best: { u: number; v: number; x: number; y: number; score: number } | null = null;
    for (const ring of rings[k]) {
      for (let at = 0; at < ring.length; at += 2) {
        const [u, v] = ring[at];
        const x = toPx(viewport, u);
        const y = toPy(viewport, v);
        if (x < MARGIN.left + half || x > viewport.width - MARGIN.right - half) continue;
        if (y < 12 || y > viewport.height - MARGIN.bottom + 12 || !inland(land, u, v, 0.1)) continue;
        let room = 60;
        for (const spot of placed) {
          const dx = Math.max(0, Math.abs(spot.x - x) - spot.halfWidth - half);
          const dy = Math.max(0, Math.abs(spot.y - y) - 16);
          room = Math.min(room, Math.hypot(dx, dy));
        }
        if (room < 4) continue;
        const score = room / 60 - 1.6 * Math.sqrt(valueAt(land.density, u, v) / peak) - 0.15 * Math.abs(v + 1);
        if (best === null || score > best.score + 1e-12) best = { u, v, x, y, score };
      }
    }
    if (best === null) return;
    placed.push({ x: best.x, y: best.y, halfWidth: half });
    labels.push({ x: best.u, y: best.v, words });
  });
  return labels;
}

/** The labels, in px. */
export function drawLabels(pen: Pen, viewport: Viewport, labels: readonly LineLabel[]): SVGElement {
  const group = make(pen, "g", { "text-anchor": "middle" });
  for (const { x, y, words } of labels) {
    group.append(haloText(pen, words, toPx(viewport, x), toPy(viewport, y) + 3.7, { fill: pen.colour("ink-2") }));
  }
  return group;
}

function inland(land: Land, x: number, y: number, reach: number): boolean {
  const at = (dx: number, dy: number) => valueAt(land.density, x + dx, y + dy) >= land.level;
  return at(0, 0) && at(reach, 0) && at(-reach, 0) && at(0, reach) && at(0, -reach);
}
