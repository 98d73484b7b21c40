/** Places as a table: id, x1..xq, var11..varqq (upper triangle, row by row). */
import type { Places } from "@trajectory-maps/core";
import { type Cell, csvPieces } from "../io/csv.ts";

/** Names of the columns of a place in q dimensions. */
export function placeColumns(q: number): string[] {
  const axes = Array.from({ length: q }, (_, a) => a + 1);
  return ["id", ...axes.map((a) => `x${a}`), ...axes.flatMap((a) => axes.slice(a - 1).map((b) => `var${a}${b}`))];
}

/** Cells of one individual's place. */
export function placeCells(placements: Places, i: number): Cell[] {
  const { ids, mapDimension: q, location, covariance } = placements;
  const cells: Cell[] = [ids[i] ?? "", ...location.subarray(i * q, (i + 1) * q)];
  for (let a = 0; a < q; a++) {
    for (let b = a; b < q; b++) cells.push(covariance[(i * q + a) * q + b] ?? Number.NaN);
  }
  return cells;
}

/** placements.csv of a run, in pieces: places with how often and when each individual was seen. */
export function placementsCsv(placements: Places): Iterable<string> {
  const header = [...placeColumns(placements.mapDimension), "visits", "first_time", "last_time"];
  const { ids, numObservations, firstTime, lastTime } = placements;
  function* rows(): Generator<Cell[]> {
    for (let i = 0; i < ids.length; i++) {
      const cells = placeCells(placements, i);
      cells.push(numObservations[i] ?? 0, firstTime[i] ?? Number.NaN, lastTime[i] ?? Number.NaN);
      yield cells;
    }
  }
  return csvPieces(header, rows());
}
