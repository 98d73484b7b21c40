/**
 * Places as a table: id, x1..xq, var11..varqq (upper triangle, row by row), and, where individuals differ in their noise, noise_ratio
 * with its 90 % interval: the individual's noise sd over that of the middle. Of several markers the visits and the noise ratios of each
 * follow, with its name: visits_bili, noise_ratio_bili.
 */

import type { TrajectoryModel } from "@trajectory-maps/core";
import type { ShardBlock, ShardRunner } from "@trajectory-maps/core/hosts";
import { noiseRatio, type Places } from "@trajectory-maps/core/models";
import { type CsvCell, csvLine, toCsv } from "@trajectory-maps/report";

/** Names of the columns of a place in q dimensions. */
export function placeColumns(q: number): string[] {
  const axes = Array.from({ length: q }, (_, a) => a + 1);
  return ["id", ...axes.map((a) => `x${a}`), ...axes.flatMap((a) => axes.slice(a - 1).map((b) => `var${a}${b}`))];
}

/** Cells of one individual's place. */
export function placeCells(placements: Places, i: number): CsvCell[] {
  const { ids, mapDimension: q, location, covariance } = placements;
  const cells: CsvCell[] = [ids[i] ?? "", ...location.subarray(i * q, (i + 1) * q)];
  for (let a = 0; a < q; a++) {
    for (let b = a; b < q; b++) cells.push(covariance[(i * q + a) * q + b] ?? Number.NaN);
  }
  return cells;
}

const RATIO_COLUMNS = ["noise_ratio", "noise_ratio_lower", "noise_ratio_upper"];

/** What is told of markers beside the place. */
type MarkerColumns = Pick<Places, "noiseLevel" | "noiseLevels" | "visitsOfMarkers">;

/** Names of the columns of visits of several markers, and of noise levels where there are any. */
export function markerColumns({ markers }: TrajectoryModel, places: MarkerColumns): string[] {
  if (places.noiseLevel !== undefined) return RATIO_COLUMNS;
  if (places.visitsOfMarkers === undefined) return [];
  const visits = markers.map(({ marker }) => `visits_${marker.name}`);
  if (places.noiseLevels === undefined) return visits;
  const withLevels = markers.filter(({ noise }) => noise.spread !== undefined);
  return [...visits, ...withLevels.flatMap(({ marker }) => RATIO_COLUMNS.map((name) => `${name}_${marker.name}`))];
}

/** Cells of one individual in these columns. */
export function markerCells({ noiseLevel, noiseLevels, visitsOfMarkers = [] }: MarkerColumns, i: number): number[] {
  const levels = noiseLevel === undefined ? (noiseLevels ?? []) : [noiseLevel];
  const ratios = levels.flatMap((level) => {
    const { ratio, lower, upper } = noiseRatio(level, i);
    return [ratio, lower, upper];
  });
  return [...visitsOfMarkers.map((visits) => visits[i] ?? 0), ...ratios];
}

/** Name of the shard that writes rows of a table of places (threads/shards.ts). */
export const PLACEMENT_ROWS = "placement-rows";
/** Rows whose columns are handed to threads together, and rows of one piece of text. */
const CHUNK = 32_768;
const PIECE = 4_096;

/**
 * placements.csv of a run, in pieces: places with how often and when each individual was seen. Numbers as text take longer
 * than anything else about them, so threads share that where there are any.
 */
export function* placementsCsv(model: TrajectoryModel, places: Places, threads?: ShardRunner): Generator<string> {
  const columns = [...placeColumns(places.mapDimension), "visits", "first_time", "last_time"];
  yield toCsv([...columns, ...markerColumns(model, places)], []);
  for (let from = 0; from < places.ids.length; from += CHUNK) {
    const chunk = selectPlaces(places, from, from + CHUNK);
    const blocks: ShardBlock[] = [];
    for (let k = 0; k < chunk.ids.length; k += PIECE)
      blocks.push({ from: k, to: Math.min(k + PIECE, chunk.ids.length) });
    if (threads === undefined) for (const block of blocks) yield placementRows(chunk, block);
    else yield* threads.run(PLACEMENT_ROWS, chunk, blocks) as string[];
  }
}

/** Rows of individuals from..to−1 as text. */
export function placementRows(places: Places, { from, to }: ShardBlock): string {
  const { numObservations, firstTime, lastTime } = places;
  let text = "";
  for (let i = from; i < to; i++) {
    const cells = placeCells(places, i);
    cells.push(numObservations[i] ?? 0, firstTime[i] ?? Number.NaN, lastTime[i] ?? Number.NaN);
    cells.push(...markerCells(places, i));
    text += csvLine(cells);
  }
  return text;
}

/** The columns of individuals from..to−1, copied: a view would take all of them along into a thread. */
function selectPlaces(places: Places, from: number, to: number): Places {
  const { ids, mapDimension: q, numObservations, location, covariance, logLikelihood, firstTime, lastTime } = places;
  const { noiseLevel, noiseLevels, visitsOfMarkers } = places;
  const part = ({ mean, sd }: NonNullable<Places["noiseLevel"]>) => ({
    mean: mean.slice(from, to),
    sd: sd.slice(from, to),
  });
  return {
    ids: ids.slice(from, to),
    mapDimension: q,
    numObservations: numObservations.slice(from, to),
    location: location.slice(from * q, to * q),
    covariance: covariance.slice(from * q * q, to * q * q),
    logLikelihood: logLikelihood.slice(from, to),
    firstTime: firstTime.slice(from, to),
    lastTime: lastTime.slice(from, to),
    ...(noiseLevel && { noiseLevel: part(noiseLevel) }),
    ...(noiseLevels && { noiseLevels: noiseLevels.map(part) }),
    ...(visitsOfMarkers && { visitsOfMarkers: visitsOfMarkers.map((visits) => visits.slice(from, to)) }),
  };
}
