/**
 * What the first drawing of a map rests on and takes a pass or a sort over everyone: of a large cohort it is found in the
 * worker, because the page would stop for it.
 */
import type { Cohort, Placements } from "@trajectory-maps/core";
import type { Land } from "@trajectory-maps/report";
import { landOfPlacements } from "../map/coast.ts";

/** Measured values in order: the least, those at 0.5% and 99.5%, the median. */
export interface ValueSpread {
  readonly least: number;
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

export interface PreparedMap {
  readonly land: Land;
  /** Of each marker, [K]. */
  readonly values: readonly ValueSpread[];
}

/** Individuals whose map a page draws at once. */
const DRAWN_AT_ONCE = 3000;

/** What the map of a large cohort needs; null of a small one. */
export function prepare(cohort: Cohort, placements: Placements): PreparedMap | null {
  if (placements.ids.length <= DRAWN_AT_ONCE) return null;
  return { land: landOfPlacements(placements), values: cohort.markers.map(({ values }) => spreadOf(values)) };
}

/** The spread of measured values. */
export function spreadOf(values: Float64Array): ValueSpread {
  const sorted = values.slice().sort();
  const n = sorted.length;
  const at = (p: number) => sorted[Math.round(p * (n - 1))];
  const half = n >> 1;
  const median = n % 2 === 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
  return { least: sorted[0], low: at(0.005), median, high: at(0.995) };
}
