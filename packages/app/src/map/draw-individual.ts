/** One individual on the map (design §3.1): 50% region solid, 90% region dashed, trail of places, ring and label. */
import { markerModel } from "@trajectory-maps/core";
import { haloText, make, type PxBox, textWidth, timeWord } from "@trajectory-maps/report";
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
export function individualPlace(scene: Scene, individual: MapIndividual): MapPlace {
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
    { x: cx, y: cy, halfWidth: 10, halfHeight: 10 },
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
    const year = timeWord(markerModel(scene.options.model).marker.timeUnit);
    group.append(
      haloText(pen, `${year} ${shortTime(trail[0].time)}`, points[0][0], points[0][1] + 16, {
        "font-size": 11,
        "text-anchor": "middle",
        "stroke-width": 3.5,
      }),
    );
  }
  const { positions, swatches } = scene.colours;
  const token = individual.index === null ? "ink" : swatches[positions[individual.index]].token;
  const right = labelRight(viewport, cx);
  group.append(
    make(pen, "circle", {
      cx,
      cy,
      r: 6.5,
      fill: pen.colour(token),
      stroke: pen.tokens.surface,
      "stroke-width": 3.5,
    }),
    make(pen, "circle", { cx, cy, r: 7.5, fill: "none", stroke: pen.tokens.ink, "stroke-width": 1.8 }),
    haloText(pen, plain(individual.label), right ? cx + 13 : cx - 13, cy - 9, {
      "font-size": 12,
      "font-weight": 600,
      "stroke-width": 4,
      "text-anchor": right ? "start" : "end",
    }),
  );
  return group;
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
