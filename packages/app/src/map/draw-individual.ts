/** One individual on the map (design §3.1): 50% region solid, 90% region dashed, trail of places, ring and label. */
import { markerModel } from "@trajectory-maps/core";
import { haloText, make, type PxBox, textWidth, timeWord } from "@trajectory-maps/report";
import { pillsShown } from "./legend.ts";
import { linePath, type Pen, plain, smoothRings, straightRings } from "./pen.ts";
import { regionRings } from "./region.ts";
import type { Scene } from "./scene.ts";
import { shortTime } from "./surfaces.ts";
import type { MapIndividual, MapPlace } from "./types.ts";
import { toPx, toPy, type Viewport } from "./viewport.ts";

/** The regions, in map coordinates. */
export function drawRegions(pen: Pen, scene: Scene, individual: MapIndividual): SVGElement {
  const group = make(pen, "g", { "data-regions": "" });
  const height = scene.box.y1;
  const shared = { stroke: pen.tokens.ink, "stroke-width": 1.1, "vector-effect": "non-scaling-stroke" };
  const path = (region: MapIndividual["region50"], level: string, more: Record<string, string | number>) => {
    if (region === undefined) return;
    const rings = regionRings(region, scene.plane, height);
    const d = scene.plane.mapDimension === 1 ? straightRings(rings) : smoothRings(rings);
    group.append(make(pen, "path", { d, "data-region": level, fill: pen.tokens.ink, ...shared, ...more }));
  };
  path(individual.region90, "90", { "fill-opacity": 0.07, "stroke-dasharray": "4 3" });
  path(individual.region50, "50", { "fill-opacity": 0.1 });
  return group;
}

/** Point of an individual in the drawing: its dot's, or for a new one its own place. */
function individualPlace(scene: Scene, individual: MapIndividual): MapPlace {
  const { x, y } = scene.plane.drop(individual.location);
  // On a strip the height is that of the dot.
  const strip = scene.plane.mapDimension === 1 && individual.index !== null;
  return strip ? { x, y: scene.places[2 * individual.index! + 1] } : { x, y };
}

/** Room that ring, label and the year of the trail take in the drawing; names of groups keep clear of it. */
export function individualBoxes(scene: Scene, viewport: Viewport, individual: MapIndividual): PxBox[] {
  const at = individualPlace(scene, individual);
  const [cx, cy] = [toPx(viewport, at.x), toPy(viewport, at.y)];
  const width = textWidth(plain(individual.label), 12, true) + 16;
  const right = labelRight(viewport, cx);
  const boxes: PxBox[] = [
    { x: cx, y: cy, halfWidth: 14, halfHeight: 14 },
    { x: cx + (right ? width : -width) / 2, y: cy - 13, halfWidth: width / 2, halfHeight: 9 },
  ];
  const first = individual.trail?.[0];
  if (first !== undefined && (individual.trail?.length ?? 0) > 1) {
    const { x, y } = scene.plane.drop(first.location);
    const [fx, fy] = [toPx(viewport, x), toPy(viewport, scene.plane.mapDimension === 1 ? at.y : y)];
    boxes.push({ x: fx, y: fy + 7.5, halfWidth: 28, halfHeight: 12.5 });
    boxes.push(...trailBoxes(scene, viewport, individual.trail ?? [], at.y));
  }
  return boxes;
}

/** Small boxes along a trail. */
function trailBoxes(scene: Scene, viewport: Viewport, trail: NonNullable<MapIndividual["trail"]>, y: number): PxBox[] {
  const points = trail.map(({ location }) => {
    const place = scene.plane.drop(location);
    return [toPx(viewport, place.x), toPy(viewport, scene.plane.mapDimension === 1 ? y : place.y)] as const;
  });
  return points.slice(1).flatMap(([x1, y1], k) => {
    const [x0, y0] = points[k];
    const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 8));
    return Array.from({ length: steps + 1 }, (_, s): PxBox => {
      const at = { x: x0 + ((x1 - x0) * s) / steps, y: y0 + ((y1 - y0) * s) / steps };
      return { ...at, halfWidth: 3, halfHeight: 3 };
    });
  });
}

/** Whether the label of an individual stands at the right of its dot. */
const labelRight = (viewport: Viewport, cx: number) => cx < viewport.width - 110;

/** Where the words at a point go, half as wide as told: below it, above or beside it, clear of what is taken; null if nowhere. */
export function clearOf(
  [x, y]: readonly [number, number],
  halfWidth: number,
  taken: readonly PxBox[],
): readonly [number, number] | null {
  const beside = halfWidth + 7;
  const tries = [
    [x, y + 16],
    [x, y - 9],
    [x - beside, y + 4],
    [x + beside, y + 4],
  ] as const;
  const isFree = ([px, py]: readonly [number, number]) =>
    taken.every(
      (box) => Math.abs(px - box.x) >= halfWidth + box.halfWidth || Math.abs(py - 4 - box.y) >= 7 + box.halfHeight,
    );
  return tries.find(isFree) ?? null;
}

/** Trail, ring and label, in px. */
export function drawIndividual(pen: Pen, scene: Scene, viewport: Viewport, individual: MapIndividual): SVGElement {
  const group = make(pen, "g");
  const at = individualPlace(scene, individual);
  const [cx, cy] = [toPx(viewport, at.x), toPy(viewport, at.y)];
  const { trail = [] } = individual;
  if (trail.length > 1) {
    const strip = scene.plane.mapDimension === 1;
    const points = trail.map(({ location }) => {
      const { x, y } = scene.plane.drop(location);
      return [toPx(viewport, x), toPy(viewport, strip ? at.y : y)] as const;
    });
    const d = linePath(
      points.length,
      (k) => points[k][0],
      (k) => points[k][1],
    );
    const line = { d, fill: "none", "stroke-linejoin": "round" };
    group.append(
      make(pen, "path", { ...line, stroke: pen.tokens.surface, "stroke-width": 4, "stroke-opacity": 0.85 }),
      make(pen, "path", { ...line, stroke: pen.tokens.ink, "stroke-width": 1.4 }),
    );
    for (const [x, y] of points.slice(0, -1)) {
      group.append(
        make(pen, "circle", {
          cx: x,
          cy: y,
          r: 2.6,
          fill: pen.tokens.surface,
          stroke: pen.tokens.ink,
          "stroke-width": 1.3,
        }),
      );
    }
    const year = `${timeWord(markerModel(scene.options.model).marker.timeUnit)} ${shortTime(trail[0].time)}`;
    const half = textWidth(plain(individual.label), 12, true) / 2 + 2;
    const middle = labelRight(viewport, cx) ? cx + 15 + half : cx - 15 - half;
    const taken = [
      { x: middle, y: cy - 14, halfWidth: half, halfHeight: 8 },
      { x: cx, y: cy, halfWidth: 13, halfHeight: 13 },
    ];
    const place = clearOf(points[0], textWidth(year, 11) / 2 + 2, taken);
    if (place !== null) {
      const look = { "font-size": 11, "text-anchor": "middle", "stroke-width": 3.5 };
      group.append(haloText(pen, year, place[0], place[1], look));
    }
  }
  const right = labelRight(viewport, cx);
  group.append(
    ...splitRing(pen, scene, individual, cx, cy),
    make(pen, "circle", {
      cx,
      cy,
      r: 6.5,
      fill: pen.colour(individualToken(scene, individual)),
      stroke: pen.tokens.surface,
      "stroke-width": 3.5,
    }),
    make(pen, "circle", { cx, cy, r: 7.5, fill: "none", stroke: pen.tokens.ink, "stroke-width": 1.8 }),
    haloText(pen, plain(individual.label), right ? cx + 15 : cx - 15, cy - 10, {
      "font-size": 12,
      "font-weight": 600,
      "stroke-width": 4,
      "text-anchor": right ? "start" : "end",
    }),
  );
  return group;
}

/** Probabilities of the groups that are drawn; none while those at hand are still of others. */
function drawnShares(scene: Scene, { shares }: MapIndividual): ArrayLike<number> {
  const isOfThese = shares !== undefined && shares.length === scene.options.groups?.groups.length;
  return isOfThese && pillsShown(scene) ? shares : [];
}

/**
 * The colour that an individual's dot wears: that of its most probable group by what is known, where dots are coloured by
 * group; else what everybody's dot says, unless that was known only later.
 */
function individualToken(scene: Scene, individual: MapIndividual): string {
  const { index, early = false } = individual;
  const { positions, swatches } = scene.colours;
  const shares = drawnShares(scene, individual);
  if (shares.length > 0) {
    let likeliest = 0;
    for (let k = 1; k < shares.length; k++) if (shares[k] > shares[likeliest]) likeliest = k;
    return swatches[likeliest].token;
  }
  return index === null || early ? "ink" : swatches[positions[index]].token;
}

/** px of the split ring; shares below the least are too short to be seen. */
const RING = { radius: 11, width: 3.2, least: 0.03 };

/** A ring in the colours of the groups an individual may belong to, as long as each is probable; none if one is sure. */
function splitRing(pen: Pen, scene: Scene, individual: MapIndividual, cx: number, cy: number): SVGElement[] {
  const shares = drawnShares(scene, individual);
  if (shares.length < 2) return [];
  const parts = Array.from(shares, (share, k) => ({ share, token: scene.colours.swatches[k].token }))
    .filter(({ share }) => share >= RING.least)
    .sort((a, b) => b.share - a.share);
  if (parts.length < 2) return [];
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  const point = (turn: number) => {
    const angle = 2 * Math.PI * turn - Math.PI / 2;
    return `${(cx + RING.radius * Math.cos(angle)).toFixed(2)} ${(cy + RING.radius * Math.sin(angle)).toFixed(2)}`;
  };
  const look = { fill: "none", "stroke-width": RING.width };
  let from = 0;
  const arcs = parts.map(({ share, token }) => {
    const to = from + share / total;
    const large = to - from > 0.5 ? 1 : 0;
    const d = `M${point(from)}A${RING.radius} ${RING.radius} 0 ${large} 1 ${point(to)}`;
    from = to;
    return make(pen, "path", { d, ...look, stroke: pen.colour(token), "data-share": share.toFixed(2) });
  });
  const halo = { cx, cy, r: RING.radius, fill: "none", stroke: pen.tokens.surface, "stroke-width": RING.width + 2 };
  return [make(pen, "circle", halo), ...arcs];
}

/** Rings around individuals, e.g. of the group under the pointer, in px. At most 4,000: more cannot be told apart. */
export function drawOutline(pen: Pen, scene: Scene, viewport: Viewport, who: ArrayLike<number>): SVGElement {
  const group = make(pen, "g", { fill: "none", stroke: pen.tokens.ink, "stroke-width": 1 });
  for (let k = 0; k < Math.min(who.length, 4000); k++) {
    const i = who[k];
    const [cx, cy] = [toPx(viewport, scene.places[2 * i]), toPy(viewport, scene.places[2 * i + 1])];
    if (cx > 0 && cy > 0 && cx < viewport.width && cy < viewport.height) {
      group.append(make(pen, "circle", { cx, cy, r: 4.6 }));
    }
  }
  return group;
}
