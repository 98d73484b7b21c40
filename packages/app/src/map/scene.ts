/**
 * All that drawing needs, worked out from the options: places, index, land, surface, dots, small curves. Each part is
 * made again only when what it is made from has changed, so that recolouring or another year touches nothing else.
 */
import { mapVerdict, markerModel } from "@trajectory-maps/core";
import {
  basisDomain,
  type Course,
  courseReader,
  courseTimes,
  type Decoder,
  makeDecoder,
} from "@trajectory-maps/core/models";
import { similarFollowedTo } from "@trajectory-maps/core/study";
import {
  type Box,
  boxAround,
  caveatOf,
  insideRings,
  type Land,
  MARKS,
  type SmallCurve,
  smallCurves,
  valueAt,
} from "@trajectory-maps/report";
import { coastOf, exactLand } from "./coast.ts";
import { type DotColours, dotColours } from "./dot-colours.ts";
import { type DotStyle, dotStyle } from "./dot-style.ts";
import { flatPlaces, isFirstPlane, type Plane, planeOf } from "./plane.ts";
import { type SpatialIndex, spatialIndex } from "./spatial-index.ts";
import { type Surface, surfaceMaker, valueDecimals } from "./surfaces.ts";
import type { LensReading, MapOptions, MapTerrain } from "./types.ts";

/** What depends on model and placements alone. */
export interface Ground {
  readonly decoder: Decoder;
  readonly plane: Plane;
  readonly places: Float64Array; // [m,2]
  readonly index: SpatialIndex;
  /** Holds all places, some water, and the five marks of each axis. */
  readonly box: Box;
  readonly land: Land;
  readonly smallCurves: readonly SmallCurve[];
  readonly read: (shown: ArrayLike<number>) => Course;
  /** Last time to which enough individuals like those at a shown place are followed. */
  readonly seenTo: (shown: ArrayLike<number>) => number;
  /** Range of medians at the places of individuals, for the scale of the lens. */
  readonly range: readonly [number, number];
  readonly decimals: number;
  readonly surfaceOf: (terrain: MapTerrain) => Surface | null;
}

export interface Scene extends Ground {
  readonly ground: Ground;
  readonly options: MapOptions;
  /** Why the map should not be used, or null. */
  readonly caveat: string | null;
  readonly style: DotStyle;
  readonly colours: DotColours;
  readonly makeSurface: () => Surface | null;
  /** The terrain; made when first asked for. */
  readonly surface: Surface | null;
}

/** Water around the outermost mark. */
const BEYOND_MARKS = 0.15;
const STRIP_HALF_HEIGHT = 0.8;
const COURSE_POINTS = 41;
export const QUARTER = 0.25;

/** The ground of the options. */
export function groundOf(options: MapOptions): Ground {
  const { model, placements, coast = {}, axes, land: known } = options;
  const decoder = makeDecoder(model);
  const q = model.mapDimension;
  const plane = planeOf(q, axes);
  const places = flatPlaces(placements, plane);
  const visits = placements.numObservations;
  const land = known !== undefined && isFirstPlane(plane) ? known : coastOf(places, visits, coast);
  const box = viewBox(places, land, q === 1);
  const read = courseReader(decoder, courseTimes(model, COURSE_POINTS));
  const place = new Float64Array(q);
  const seenTo = similarFollowedTo(placements);
  const [first, last] = basisDomain(markerModel(model).basis);
  const lifted = (x: number, y: number) => {
    plane.liftInto(x, y, place);
    return place;
  };
  const curves = smallCurves(
    q,
    box,
    (x, y) => read(lifted(x, y)).median,
    (x, y) => (seenTo(lifted(x, y)) - first) / (last - first),
  );
  return {
    decoder,
    plane,
    places,
    index: spatialIndex(places, q === 1),
    box,
    land,
    smallCurves: curves,
    read,
    seenTo,
    range: rangeOnLand(box, land, plane, read),
    decimals: valueDecimals(decoder),
    surfaceOf: surfaceMaker(decoder, plane, land, seenTo, () => exactLand(land, places, visits, coast)).surface,
  };
}

/** What the window shows at zoom 1: everybody, the whole land, and the marks of both axes. */
function viewBox(places: Float64Array, land: Land, strip: boolean): Box {
  const { x0, x1, y0, y1 } = boxAround(Float64Array.from([...extremes(places), ...extremes(land.coast.flat(2))]), 0.06);
  const edge = Math.max(...MARKS) + BEYOND_MARKS;
  return {
    x0: Math.min(x0, -edge),
    x1: Math.max(x1, edge),
    y0: strip ? -STRIP_HALF_HEIGHT : Math.min(y0, -edge),
    y1: strip ? STRIP_HALF_HEIGHT : Math.max(y1, edge),
  };
}

/** Lower left and upper right corner of points [n,2]; nothing for none. */
function extremes(points: ArrayLike<number>): number[] {
  if (points.length === 0) return [];
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = 0; k + 1 < points.length; k += 2) {
    x0 = Math.min(x0, points[k]);
    x1 = Math.max(x1, points[k]);
    y0 = Math.min(y0, points[k + 1]);
    y1 = Math.max(y1, points[k + 1]);
  }
  return [x0, y0, x1, y1];
}

/** Lowest and highest median of courses on land, from a coarse lattice: one scale for every lens. */
function rangeOnLand(box: Box, land: Land, plane: Plane, read: Ground["read"]): readonly [number, number] {
  const place = new Float64Array(plane.mapDimension);
  let [low, high] = [Infinity, -Infinity];
  const steps = 14;
  for (let r = 0; r <= steps; r++) {
    for (let c = 0; c <= steps; c++) {
      const x = box.x0 + ((box.x1 - box.x0) * c) / steps;
      const y = box.y0 + ((box.y1 - box.y0) * r) / steps;
      if (!(valueAt(land.density, x, y) >= land.level)) continue;
      plane.liftInto(x, y, place);
      for (const v of read(place).median) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    }
  }
  if (low <= high) return [low, high];
  const { median } = read(new Float64Array(plane.mapDimension));
  return [Math.min(...median), Math.max(...median)];
}

/** The terrain of the options: the value at the last time unless told otherwise. */
export function terrainOf(options: MapOptions): MapTerrain {
  return options.terrain ?? { kind: "value", time: basisDomain(markerModel(options.model).basis)[1] };
}

/** The scene of the options; parts of `before` are kept where nothing they rest on changed. */
export function sceneOf(options: MapOptions, most: number, before: Scene | null = null): Scene {
  const same = (...keys: (keyof MapOptions)[]) =>
    before !== null && keys.every((k) => before.options[k] === options[k]);
  const sameGround = same("model", "placements", "coast", "axes", "land");
  const ground = sameGround ? before!.ground : groundOf(options);
  const keepStyle = same("placements") && before!.style.order.length === Math.min(most, options.placements.ids.length);
  const style = keepStyle ? before!.style : dotStyle(options.placements, most);
  const colours = keepStyle && same("colour") ? before!.colours : dotColours(options.colour ?? { kind: "none" }, style);
  const makeSurface = sameGround && same("terrain") ? before!.makeSurface : surfaceOnce(ground, terrainOf(options));
  return assemble(ground, options, style, colours, makeSurface);
}

/** Made when first drawn, which is after the dots; then kept. */
function surfaceOnce(ground: Ground, terrain: MapTerrain): () => Surface | null {
  let surface: Surface | null | undefined;
  return () => {
    if (surface === undefined) surface = ground.surfaceOf(terrain);
    return surface;
  };
}

/** A scene from its parts. Apart from `sceneOf`, because a getter made there would hold on to every scene before. */
function assemble(
  ground: Ground,
  options: MapOptions,
  style: DotStyle,
  colours: DotColours,
  makeSurface: Scene["makeSurface"],
): Scene {
  return {
    ...ground,
    ground,
    options,
    caveat: options.caveat === undefined ? caveatOf(mapVerdict(options.model)) : options.caveat,
    style,
    colours,
    makeSurface,
    get surface() {
      return makeSurface();
    },
  };
}

/** Whether a point of the drawing is on land. */
export function onLand({ land }: Ground, x: number, y: number): boolean {
  return land.coast.length > 0 && insideRings(land.coast, x, y);
}

/** What the lens reads at a point of the drawing; `individual` is the one under the pointer. */
export function readingAt(scene: Ground, x: number, y: number, individual: number | null = null): LensReading {
  const ashore = onLand(scene, x, y);
  const place = new Float64Array(scene.plane.mapDimension);
  scene.plane.liftInto(x, y, place);
  return {
    x,
    y,
    onLand: ashore,
    course: ashore ? scene.read(place) : null,
    seenTo: scene.seenTo(place),
    numNear: scene.index.countWithin(x, y, QUARTER),
    individual,
    own: false,
  };
}
