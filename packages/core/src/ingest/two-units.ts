/**
 * Two units in one column: positive values in two heaps with an empty factor between them, as when some laboratories
 * write creatinine in mg/dL and others in µmol/L (88.4 times as much).
 */
import type { MarkerSeries } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { unitCode } from "../units/aliases.ts";
import { ratioReasons } from "../units/analytes.ts";

export interface TwoUnits {
  /** A value between the heaps. */
  readonly split: number;
  readonly numSmall: number;
  readonly numLarge: number;
  /** Median of the large values over that of the small ones. */
  readonly ratio: number;
  /** Individuals with values in both heaps. */
  readonly numBoth: number;
}

/** The least factor between the heaps: laboratory values of one unit leave no such gap in their middle. */
const GAP = 3;
/** Each heap holds at least this share of the rows, and at least this many. */
const SHARE = 0.05;
const LEAST = 5;
/** The least ratio of the heaps' medians, and the fewest distinct values of a heap: scores from 0 to 10 are one unit. */
const RATIO = 8;
const DISTINCT = 5;
/** Share of rows that may lie in the gap: slips of the pen. */
const STRAY = 0.01;

/**
 * The heaps, or undefined if there is one only. `sorted` are the values of all or of a sample, ascending: they tell where the heaps lie,
 * and those of the series are counted; `codes` are not measurements.
 */
export function findTwoUnits(
  sorted: Float64Array,
  series: MarkerSeries,
  codes: readonly number[],
): TwoUnits | undefined {
  // Codes stand apart from all other values, so they are at the ends.
  let [from, to] = [0, sorted.length];
  while (from < to && (sorted[from] <= 0 || codes.includes(sorted[from]))) from++;
  while (from < to && codes.includes(sorted[to - 1])) to--;
  const values = sorted.subarray(from, to);
  const n = values.length;
  const least = Math.max(LEAST, Math.ceil(SHARE * n));
  const stray = Math.floor(STRAY * n);
  let best = -1;
  let widest = GAP;
  for (let k = least - 1; k + stray + 1 <= n - least; k++) {
    const factor = values[k + stray + 1] / values[k];
    if (factor >= widest) {
      widest = factor;
      best = k;
    }
  }
  if (best < 0) return undefined;
  const split = Math.sqrt(values[best] * values[best + stray + 1]);
  let numSmall = best + 1;
  while (values[numSmall] <= split) numSmall++;
  const median = (from: number, to: number) => (values[(from + to - 1) >> 1] + values[(from + to) >> 1]) / 2;
  const ratio = median(numSmall, n) / median(0, numSmall);
  if (ratio < RATIO || !isVaried(values.subarray(0, numSmall)) || !isVaried(values.subarray(numSmall)))
    return undefined;
  return { split, ratio, ...countHeaps(series, split, codes) };
}

function isVaried(ascending: Float64Array): boolean {
  let distinct = 1;
  for (let k = 1; k < ascending.length && distinct < DISTINCT; k++) if (ascending[k] !== ascending[k - 1]) distinct++;
  return distinct >= DISTINCT;
}

function countHeaps(
  { offsets, values }: MarkerSeries,
  split: number,
  codes: readonly number[],
): Pick<TwoUnits, "numSmall" | "numLarge" | "numBoth"> {
  let [numSmall, numLarge, numBoth] = [0, 0, 0];
  for (let i = 0; i < offsets.length - 1; i++) {
    let [small, large] = [0, 0];
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      if (values[j] <= 0 || codes.includes(values[j])) continue;
      if (values[j] > split) large++;
      else small++;
    }
    numSmall += small;
    numLarge += large;
    if (small > 0 && large > 0) numBoth++;
  }
  return { numSmall, numLarge, numBoth };
}

/**
 * What may be done: the units that would explain the ratio, and how to ask for the conversion of one heap, that which is not in the unit of the
 * marker or else the smaller one. The limit is a round number between the heaps.
 */
export function unitsRemedy({ split, ratio, numSmall, numLarge }: TwoUnits, { name, unit }: Marker): string {
  const reasons = ratioReasons(ratio, name);
  const [first] = reasons;
  if (first === undefined) return "If they are two units, bring all values into one.";
  const said = reasons.map(
    ({ analyte, small, large, ratio: own }) =>
      `${analyte} in ${large} is ${Number(own.toPrecision(3))} times that in ${small}`,
  );
  const own = unit === "" ? undefined : unitCode(unit);
  const isLarge = own !== undefined && "code" in own ? own.code === first.large : numLarge > numSmall;
  const [to, from] = isLarge ? [first.large, first.small] : [first.small, first.large];
  const side = isLarge ? "below" : "above";
  const limit = Number(split.toPrecision(2));
  return `${said.join("; ")}. If that is it, ask for the conversion: --unit ${to} --convert-${side} ${limit}:${from} --analyte "${first.analyte}" (units.beyond in code).`;
}
