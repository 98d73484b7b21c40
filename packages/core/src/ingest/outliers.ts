/**
 * Values that a slip of the pen would explain: far from the individual's neighbouring values, or far from everybody's. Distances
 * are taken on the scale of the model, in units of the usual change s between neighbouring visits (1.48 times the median of those
 * that are not 0). A value is told if both neighbours in time lie far to the same side of it; at either end of a series, if its two
 * nearest do. So neither a steep course nor the neighbour of a slip is one. "Far" is 7 s, or 4 s where a digit more or
 * less would bring the value back to its neighbours; and as far on the log scale too if all values are positive, because changes often
 * grow with the value. Of two values alone, the one farther from the middle of all values is told, if it is unusual there
 * too; a single value, if it is far from all others.
 */
import type { MarkerSeries } from "../cohort/cohort.ts";
import { applyTransform, type Transform } from "../cohort/marker.ts";
import { sortedQuantile } from "../numeric/select.ts";

/** Far from neighbours, in usual changes; where a digit explains it; and how near a digit must bring it back. */
const FAR_FROM_OWN = 7;
const FAR_BY_A_DIGIT = 4;
const BROUGHT_BACK = 1;
/** In robust standard deviations of all values: for values without company, and for one of two. */
const FAR_FROM_ALL = 8;
const UNUSUAL = 2.5;
/** Fewer changes than this say nothing of what is usual. */
const LEAST_CHANGES = 30;
/** Median of absolute deviations to standard deviation, for normal values. */
const MAD_TO_SD = 1.4826;

/** Places of such values in the cohort's order, ascending. */
export function findOutliers({ marker, offsets, values }: MarkerSeries): number[] {
  const transforms: readonly Transform[] = values.every((value) => value > 0)
    ? [marker.transform, "log"]
    : [marker.transform];
  const scales = transforms.map((transform) => scaleOf(transform, values, offsets));
  if (scales.some(({ usual }) => Number.isNaN(usual))) return [];
  const found: number[] = [];
  for (let i = 0; i < offsets.length - 1; i++) {
    const [start, last] = [offsets[i], offsets[i + 1] - 1];
    for (let k = start; k <= last; k++) {
      const others = [k - 1, k + 1, ...(k === start ? [k + 2] : k === last ? [k - 2] : [])];
      const own = others.filter((j) => j >= start && j <= last);
      const isFar = (least: number) => scales.every((scale) => distanceTo(scale, k, own) > least);
      const told =
        own.length === 0
          ? scales.every((scale) => unusual(scale, k) > FAR_FROM_ALL)
          : (isFar(FAR_FROM_OWN) || (isFar(FAR_BY_A_DIGIT) && isSlip(scales[scales.length - 1], values[k], k, own))) &&
            (own.length > 1 || unusual(scales[0], k) > Math.max(UNUSUAL, unusual(scales[0], own[0])));
      if (told) found.push(k);
    }
  }
  return found;
}

/** The values on one scale, and what is usual there. */
interface Scale {
  readonly transform: Transform;
  readonly z: Float64Array;
  /** s: 1.48 times the median change between an individual's neighbouring values that differ; NaN if they are few. */
  readonly usual: number;
  /** Median of all values and their robust standard deviation. */
  readonly middle: number;
  readonly sd: number;
}

function scaleOf(transform: Transform, values: Float64Array, offsets: Int32Array): Scale {
  const z = values.map((value) => applyTransform(transform, value));
  const changes = z.map((v, k) => (k === 0 ? 0 : Math.abs(v - z[k - 1])));
  for (const start of offsets.subarray(0, -1)) changes[start] = 0;
  const moved = changes.filter((change) => change > 0).sort();
  const usual = moved.length < LEAST_CHANGES ? Number.NaN : MAD_TO_SD * sortedQuantile(moved, 0.5);
  const middle = sortedQuantile(z.slice().sort(), 0.5);
  const sd = MAD_TO_SD * sortedQuantile(z.map((v) => Math.abs(v - middle)).sort(), 0.5);
  return { transform, z, usual, middle, sd };
}

/** How far value k lies to one side of all the others, in s; 0 if it lies among them. */
function distanceTo({ z, usual }: Scale, k: number, others: readonly number[]): number {
  const side = Math.sign(z[k] - z[others[0]]);
  return Math.max(0, Math.min(...others.map((other) => side * (z[k] - z[other])))) / usual;
}

/** Whether a digit less, for a value that is too large, or more would bring it back to one of the others. */
function isSlip({ transform, z, usual }: Scale, value: number, k: number, others: readonly number[]): boolean {
  const tooLarge = (z[k] - z[others[0]]) * value > 0;
  const corrected = applyTransform(transform, tooLarge ? value / 10 : value * 10);
  return others.some((other) => Math.abs(corrected - z[other]) < BROUGHT_BACK * usual);
}

/** Distance of value k from the middle of all values, in robust standard deviations. */
function unusual({ z, middle, sd }: Scale, k: number): number {
  return sd > 0 ? Math.abs(z[k] - middle) / sd : 0;
}
