/** All that map figures of a study share, computed once: places, land, terrain, small curves, cells. */
import { markerModel } from "@trajectory-maps/core";
import type { Transform } from "@trajectory-maps/core/ingest";
import { courseReader, makeDecoder, measurementSd, placeSds } from "@trajectory-maps/core/models";
import { lastShownTime, similarFollowedTo } from "@trajectory-maps/core/study";
import { scaleLinear } from "d3-scale";
import { decimalsFor } from "../numbers.ts";
import type { Numbers, Study, StudyGroup } from "../study.ts";
import {
  type Box,
  boxAround,
  type Grid,
  gridOf,
  type HexCell,
  hexCells,
  type Land,
  landOf,
  stripHeight,
  valueAt,
} from "./land.ts";
import { type SmallCurve, smallCurves } from "./map-frame.ts";

/** A surface over the map with levels for its lines, in words and unit. */
export interface Terrain {
  readonly title: string;
  readonly unit: string;
  readonly grid: Grid;
  readonly levels: readonly number[];
  readonly decimals: number;
  /** Above 0 where too few similar individuals are followed to the time of the surface. */
  readonly beyond?: Grid;
}

export interface MapData {
  /** Places [m,2]; of three dimensions the first two. */
  readonly places: Float64Array;
  readonly visits: Numbers;
  /** Standard deviation of each place from its 50% region, [m]. */
  readonly sd: Float64Array;
  readonly mapDimension: number;
  readonly box: Box;
  readonly land: Land;
  /** The marker at `time`. */
  readonly value: Terrain;
  readonly time: number;
  readonly coefficient: Terrain;
  readonly curves: readonly SmallCurve[];
  readonly cells: readonly HexCell[];
  readonly spacing: number;
  readonly labels: Numbers;
  readonly groups: readonly StudyGroup[];
  readonly smallCell: number;
  readonly individualLevel: "none" | "places";
  readonly timeWord: string;
  readonly transform: Transform;
}

/** Step of the lattice on which terrain is computed; contours interpolate. */
const TERRAIN_STEP = 0.12;
/** How far a coast may lie from the outermost place. */
export const SHORE = 0.6;
const CURVE_POINTS = 25;

/** Map data of a study, or undefined without a model and places. */
export function prepareMap(study: Study): MapData | undefined {
  const { model, placements, groups, options = {}, cohort } = study;
  if (model === undefined || placements === undefined) return undefined;
  const q = placements.mapDimension;
  const m = placements.ids.length;
  const places = new Float64Array(2 * m);
  for (let i = 0; i < m; i++) {
    places[2 * i] = placements.location[i * q];
    places[2 * i + 1] = q === 1 ? stripHeight(i) : placements.location[i * q + 1];
  }
  const sd = placeSds(placements);
  // Land first, in a box wide enough for its coast; then the smallest box that holds coast and places.
  const land = landOf(places, placements.numObservations, boxAround(places, SHORE));
  const box = boxAround(places, 0.12, [land]);
  const smallCell = options.smallCell ?? 11;
  const decoder = makeDecoder(model);
  const at = (x: number, y: number) => [x, y, 0].slice(0, q);
  const { marker } = markerModel(model);
  const unitOfTime = marker.timeUnit.replace(/s$/, "") || "time";
  const time = options.terrainTime ?? lastShownTime(placements);
  const readValue = courseReader(decoder, Float64Array.of(time));
  const valueGrid = gridOf(box, TERRAIN_STEP, (x, y) => readValue(at(x, y)).median[0]);
  const seenTo = similarFollowedTo(placements);
  const beyond = gridOf(box, 2 * TERRAIN_STEP, (x, y) => time - seenTo(at(x, y)));
  const k = Math.min(options.coefficient ?? 2, markerModel(model).basis.numBasis) - 1;
  const w = new Float64Array(markerModel(model).basis.numBasis);
  const coefficientGrid = gridOf(box, TERRAIN_STEP, (x, y) => {
    decoder.decodeInto(at(x, y), w, null);
    return w[k];
  });
  const span = cohort.lastTime - cohort.firstTime;
  const times = Float64Array.from(
    { length: CURVE_POINTS },
    (_, j) => cohort.firstTime + (span * j) / (CURVE_POINTS - 1),
  );
  const read = courseReader(decoder, times);
  const seenShare = (x: number, y: number) => (seenTo(at(x, y)) - cohort.firstTime) / span;
  const curves = smallCurves(q, box, (x, y) => read(at(x, y)).median, seenShare);
  const noise = measurementSd(markerModel(model).noise);
  return {
    places,
    visits: placements.numObservations,
    sd,
    mapDimension: q,
    box,
    land,
    value: {
      title: `${marker.name} at ${unitOfTime} ${time}`,
      unit: marker.unit,
      grid: valueGrid,
      levels: levelsOn(valueGrid, land, marker.transform),
      decimals: marker.transform === "identity" ? Math.max(0, decimalsFor(noise) - 1) : 1,
      beyond,
    },
    time,
    coefficient: {
      title: `Spline coefficient ${k + 1} of ${markerModel(model).basis.numBasis}`,
      unit: marker.transform === "identity" ? marker.unit : `${marker.transform} scale`,
      grid: coefficientGrid,
      levels: levelsOn(coefficientGrid, land, "identity"),
      decimals: decimalsFor(noise),
    },
    curves,
    ...hexCells(places, smallCell),
    labels: groups?.labels ?? new Int32Array(m).fill(-1),
    groups: groups?.groups ?? [],
    smallCell,
    individualLevel: options.individualLevel ?? "none",
    timeWord: unitOfTime,
    transform: marker.transform,
  };
}

/** Heights at which lines are drawn: round numbers over the range on land; powers of two on a log scale. */
export function levelsOn(grid: Grid, land: Land, transform: Transform): number[] {
  const onLand: number[] = [];
  const { box, nx, ny } = grid;
  for (let r = 0; r < ny; r++) {
    for (let c = 0; c < nx; c++) {
      const x = box.x0 + ((box.x1 - box.x0) * c) / (nx - 1);
      const y = box.y0 + ((box.y1 - box.y0) * r) / (ny - 1);
      if (valueAt(land.density, x, y) >= land.level) onLand.push(grid.values[r * nx + c]);
    }
  }
  if (onLand.length === 0) return [];
  const low = Math.min(...onLand);
  const high = Math.max(...onLand);
  if (transform === "log" && low > 0 && high / low > 4) {
    const base = high / low > 512 ? 10 : 2;
    const levels: number[] = [];
    for (let e = Math.ceil(Math.log(low) / Math.log(base)); base ** e < high; e++) levels.push(base ** e);
    return levels;
  }
  return scaleLinear()
    .domain([low, high])
    .ticks(8)
    .filter((level) => level > low && level < high);
}
