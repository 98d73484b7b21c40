/**
 * Terrain: functions of the place on a lattice of 65 × 65 nodes. Coefficient means (and, when asked for, covariances) of
 * all nodes are made once per model; another year is then one dot product per node:
 *   value   g(b(t)'w),   slope   g'(b(t)'w) · b'(t)'w,   coefficient   w_k,
 *   sd      √(b'Sb), for transformed markers a 1/3.29th of the width of the 90% band;
 * g undoes the transform. The land decides which heights get lines.
 */
import { markerModel } from "@trajectory-maps/core";
import { applyTransform, markerScale, undoSlope, undoTransform } from "@trajectory-maps/core/ingest";
import {
  basisDomain,
  courseTimes,
  type Decoder,
  designMatrix,
  functionalMean as dot,
  functionalSd,
  measurementSd,
} from "@trajectory-maps/core/models";
import {
  capital,
  decimalsFor,
  type Grid,
  gridOf,
  type Land,
  levelsOn,
  powerFor,
  powerText,
  sized,
  timeWord,
  trimmed,
  valueAt,
} from "@trajectory-maps/report";
import { crossingsOver, landWithout, type SurfaceClass } from "./crossing.ts";
import type { Plane } from "./plane.ts";
import type { MapTerrain } from "./types.ts";
import { MAP_UNIT } from "./viewport.ts";

/** A surface ready to be drawn. */
export interface Surface {
  readonly title: string;
  readonly unit: string;
  readonly grid: Grid;
  /** Heights of the lines, ascending. */
  readonly levels: readonly number[];
  /** Colours when dots carry none. */
  readonly ramp: "sequential" | "diverging";
  readonly write: (level: number) => string;
  /** Above 0.5 where the surface is not to be trusted, and why not. */
  readonly unsure: { readonly grid: Grid; readonly words: string } | null;
  /** Places that have a word instead of a number. */
  readonly classes: readonly SurfaceClass[];
  /** The land without them: where there are lines and their numbers. */
  readonly defined: Land;
}

/** Makes surfaces of one model over one box. */
export interface SurfaceMaker {
  surface(terrain: MapTerrain): Surface | null;
}

const NODES_PER_SIDE = 65;
const CROSSING_TIMES = 161;
/** Φ⁻¹(0.95): half the width of a central 90% band in standard deviations. */
const Z90 = 1.6448536269514722;
/** Sizes of levels that are written out on the lines. */
const LINE_SIZES = [1e-2, 1e5] as const;
/** Individuals within a quarter of a prior sd, per unit of density. */
const QUARTER_DISC = Math.PI / 16;

/**
 * A maker of surfaces over the box of the land; nodes are decoded when first needed. `seenTo` says to when individuals like
 * those at a place are followed, `exact` gives the density of all.
 */
export function surfaceMaker(
  decoder: Decoder,
  plane: Plane,
  land: Land,
  seenTo: (place: ArrayLike<number>) => number,
  exact: () => Land,
): SurfaceMaker {
  const { model, numBasis: d } = decoder;
  const { marker, basis } = markerModel(model);
  const { transform } = marker;
  const onScale = markerScale(marker);
  const { box } = land.density;
  const step = Math.max(box.x1 - box.x0, box.y1 - box.y0) / (NODES_PER_SIDE - 1);
  const empty = gridOf(box, step, () => 0);
  const n = empty.values.length;
  const year = timeWord(marker.timeUnit);
  const [first, last] = basisDomain(basis);
  const noise = measurementSd(markerModel(model).noise) * typicalSlope(decoder);
  const decimals = decimalsFor(noise);

  let means: Float64Array | null = null; // [n,d]
  let covariances: Float64Array | null = null; // [n,d,d]
  const decode = (withCovariance: boolean) => {
    if (means !== null && (!withCovariance || covariances !== null)) return;
    means = new Float64Array(n * d);
    covariances = withCovariance ? new Float64Array(n * d * d) : null;
    const place = new Float64Array(plane.mapDimension);
    const w = new Float64Array(d);
    const S = withCovariance ? new Float64Array(d * d) : null;
    for (let k = 0; k < n; k++) {
      const [x, y] = nodeAt(empty, k);
      plane.liftInto(x, y, place);
      decoder.decodeInto(place, w, S);
      means.set(w, k * d);
      if (S !== null) covariances?.set(S, k * d * d);
    }
  };
  const over = (f: (w: Float64Array, at: number, node: number) => number): Grid => {
    decode(false);
    const w = means!;
    return { ...empty, values: Float64Array.from({ length: n }, (_, k) => f(w, k * d, k)) };
  };
  let seen: Grid | null = null;
  /** Where the time of a surface, [n] or one for all, is later than what was seen of similar individuals. */
  const beyond = (time: number | Float64Array): Surface["unsure"] => {
    const place = new Float64Array(plane.mapDimension);
    seen ??= gridOf(box, 2 * step, (x, y) => {
      plane.liftInto(x, y, place);
      return seenTo(place);
    });
    const values = empty.values.map((_, k) => {
      const at = typeof time === "number" ? time : time[k];
      return 0.5 + (Math.min(at, last) - valueAt(seen!, ...nodeAt(empty, k))) / (last - first);
    });
    return { grid: { ...empty, values }, words: "beyond what was seen" };
  };
  const made = (
    title: string,
    unit: string,
    grid: Grid,
    more: Partial<Surface> & { readonly least?: number; readonly most?: number; readonly digits?: number } = {},
  ): Surface => {
    const { least = -Infinity, most = Infinity, digits = decimals, classes = [], ...rest } = more;
    const isMarker = unit === marker.unit && classes.length === 0 && !/^Change/.test(title);
    const defined = classes.length === 0 ? land : landWithout(land, classes);
    const levels = levelsOn(grid, defined, isMarker ? transform : "identity").filter(
      (level) => level > least && level < most,
    );
    // Lines have room for three or four digits: the legend says the power of ten that they leave out.
    // Those of powers of ten stand alone: of 10 to 10⁷ one power would leave no digit of the smallest.
    const areDecades = isMarker && transform === "log" && levels.length > 1 && levels[1] / levels[0] > 9;
    const power = areDecades ? 0 : powerFor(Math.max(0, ...levels.map(Math.abs)), LINE_SIZES);
    const scaled = levels.map((level) => level / 10 ** power);
    const write = (level: number) =>
      areDecades && powerFor(level, LINE_SIZES) !== 0
        ? powerText(Math.round(Math.log10(level)))
        : trimmed(level / 10 ** power, areDecades ? 2 : Math.max(digits, neededDecimals(scaled)));
    const factor = power === 0 ? "" : `× ${powerText(power)}`;
    const units = [factor, unit].filter((part) => part !== "").join(" ");
    return { title, unit: units, grid, levels, ramp: "sequential", write, unsure: null, classes, defined, ...rest };
  };

  const surface = (terrain: MapTerrain): Surface | null => {
    switch (terrain.kind) {
      case "none":
        return null;
      case "value": {
        const b = designMatrix(basis, [terrain.time]);
        const grid = over((w, at) => onScale(dot(b, 0, w, at, d)));
        return made(`${marker.name} at ${year} ${shortTime(terrain.time)}`, marker.unit, grid, {
          digits: 0,
          unsure: beyond(terrain.time),
        });
      }
      case "slope": {
        const b = designMatrix(basis, [terrain.time]);
        const c = designMatrix(basis, [terrain.time], true);
        const grid = over((w, at) => undoSlope(transform, dot(b, 0, w, at, d)) * dot(c, 0, w, at, d));
        const title = `Change per ${year} at ${year} ${shortTime(terrain.time)}`;
        return made(title, marker.unit, grid, { ramp: "diverging", digits: 0, unsure: beyond(terrain.time) });
      }
      case "coefficient": {
        const grid = over((w, at) => w[at + terrain.index]);
        const unit = transform === "identity" ? marker.unit : `${transform} scale`;
        return made(`Spline coefficient ${terrain.index + 1} of ${d}`, unit, grid, { digits: 0 });
      }
      case "sd": {
        decode(true);
        const S = covariances!;
        const b = designMatrix(basis, [terrain.time]);
        const grid = over((w, at, k) => {
          const sd = functionalSd(b, 0, S, k * d * d, d);
          if (transform === "identity") return sd;
          const middle = dot(b, 0, w, at, d);
          const width = undoTransform(transform, middle + Z90 * sd) - undoTransform(transform, middle - Z90 * sd);
          return width / (2 * Z90);
        });
        return made(`Spread (sd) of the course at ${year} ${shortTime(terrain.time)}`, marker.unit, grid, {
          digits: 0,
          unsure: beyond(terrain.time),
        });
      }
      case "crossing": {
        const falling = (terrain.direction ?? (meanChange() < 0 ? "below" : "above")) === "below";
        const { times, grid, never, begun } = crossings(terrain.threshold, falling);
        const level = sizedValue(terrain.threshold, 2);
        const where = `${falling ? "below" : "above"} ${level}`;
        const classes: SurfaceClass[] = [
          { kind: "from the start", words: `${where} from the start`, grid: begun },
          { kind: "never", words: `not ${where} by ${year} ${shortTime(last)}`, grid: never },
        ];
        const unit = marker.unit === "" ? "" : ` ${marker.unit}`;
        const title = `${capital(year)} of ${falling ? "falling" : "rising"} ${where}${unit}`;
        // What is said of a place holds until the crossing, or until the last time where there is none.
        const until = times.map((t, k) => (Number.isNaN(t) ? (begun.values[k] >= 0 ? first : last) : t));
        return made(title, "", grid, { least: first, most: last, digits: 0, unsure: beyond(until), classes });
      }
      case "density": {
        const { density } = exact();
        const grid = { ...density, values: density.values.map((v) => v * QUARTER_DISC) };
        return made(`Individuals within ¼ ${MAP_UNIT}`, "", grid, { digits: 0 });
      }
      case "surface": {
        const { grid, scale = "value", unsure } = terrain;
        const mask =
          unsure === undefined ? null : { grid: { ...grid, values: Float64Array.from(unsure) }, words: "uncertain" };
        const share = (level: number) => `${trimmed(100 * level, 0)}%`;
        return made(terrain.title, terrain.unit, grid, {
          unsure: mask,
          ...(scale === "share" ? { write: share } : {}),
          ramp: scale === "difference" ? "diverging" : "sequential",
        });
      }
    }
  };

  /** Change of the expected course from first to last time, averaged over land: which way a threshold is passed. */
  const meanChange = (): number => {
    const b = designMatrix(basis, [first, last]);
    const change = over((w, at) => dot(b, d, w, at, d) - dot(b, 0, w, at, d));
    let sum = 0;
    for (let k = 0; k < n; k++) {
      const [x, y] = nodeAt(change, k);
      if (valueAt(land.density, x, y) >= land.level) sum += change.values[k];
    }
    return sum;
  };

  const crossings = (threshold: number, falling: boolean) => {
    const level = applyTransform(transform, threshold);
    const sign = falling ? 1 : -1;
    const times = courseTimes(model, CROSSING_TIMES);
    const b = designMatrix(basis, times);
    decode(false);
    return crossingsOver(empty, times, (k, out) => {
      for (let t = 0; t < times.length; t++) out[t] = sign * (dot(b, t * d, means!, k * d, d) - level);
    });
  };

  return { surface };
}

/** Map coordinates of node k of a grid. */
export function nodeAt({ box, nx, ny }: Grid, k: number): readonly [number, number] {
  const [c, r] = [k % nx, Math.floor(k / nx)];
  return [box.x0 + ((box.x1 - box.x0) * c) / (nx - 1), box.y0 + ((box.y1 - box.y0) * r) / (ny - 1)];
}

/** Change of the marker per unit of the model's scale, in the middle of the map: noise in the marker's unit. */
function typicalSlope(decoder: Decoder): number {
  const { model, numBasis: d, mapDimension: q } = decoder;
  const [first, last] = basisDomain(markerModel(model).basis);
  const b = designMatrix(markerModel(model).basis, [(first + last) / 2]);
  const w = new Float64Array(d);
  decoder.decodeInto(new Float64Array(q), w, null);
  return undoSlope(markerModel(model).marker.transform, dot(b, 0, w, 0, d));
}

/** Decimals of values of the marker: as precise as a measurement is. */
export function valueDecimals(decoder: Decoder): number {
  return decimalsFor(measurementSd(markerModel(decoder.model).noise) * typicalSlope(decoder));
}

/** Decimals that tell neighbouring levels apart. */
function neededDecimals(levels: readonly number[]): number {
  const gap = levels.length > 1 ? Math.abs(levels[1] - levels[0]) : Math.abs(levels[0] ?? 1);
  return gap > 0 ? Math.max(0, Math.min(4, Math.ceil(-Math.log10(gap) - 1e-9))) : 0;
}

/** A value of any size: trimmed to these decimals, or three digits with a power of ten. */
export function sizedValue(value: number, decimals: number): string {
  return powerFor(value) === 0 ? trimmed(value, decimals) : sized(value, decimals);
}

/** A time as a label says it: whole, or with a decimal; two where it is short. */
export function shortTime(time: number): string {
  return trimmed(time, Math.abs(time) < 2 ? 2 : 1);
}
