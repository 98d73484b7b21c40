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
import { median, sortedQuantile } from "../numeric/select.ts";
import { sampleOf } from "./sample.ts";

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

/** Places of such values in the cohort's order, ascending; `sample` says what is usual. */
export function findOutliers(series: MarkerSeries, sample = sampleOf(series)): number[] {
  const { marker, offsets, values } = series;
  const transforms: readonly Transform[] = values.every((value) => value > 0)
    ? [marker.transform, "log"]
    : [marker.transform];
  const scales = transforms.map((transform) => scaleOf(transform, sample, values));
  if (scales.some(({ usual }) => Number.isNaN(usual))) return [];
  const [own, last] = [scales[0], scales[scales.length - 1]];
  const found: number[] = [];
  for (let i = 0; i < offsets.length - 1; i++) {
    const from = offsets[i];
    const to = offsets[i + 1];
    for (let k = from; k < to; k++) {
      // Both neighbours, the two nearest at either end, one twice where it is the only one.
      const near = k > from ? k - 1 : k + 1;
      const next = k > from && k + 1 < to ? k + 1 : near + (near < k ? -1 : 1);
      const other = next >= from && next < to ? next : near;
      if (to - from === 1) {
        if (scales.every((scale) => unusual(scale, k) > FAR_FROM_ALL)) found.push(k);
        continue;
      }
      const far = distanceTo(own, k, near, other);
      if (far <= FAR_BY_A_DIGIT) continue;
      const least = Math.min(far, distanceTo(last, k, near, other));
      const isFar = least > FAR_FROM_OWN || (least > FAR_BY_A_DIGIT && isSlip(last, k, near, other));
      if (!isFar) continue;
      if (to - from > 2 || unusual(own, k) > Math.max(UNUSUAL, unusual(own, near))) found.push(k);
    }
  }
  return found;
}

/** A scale of the values, and what is usual there. */
interface Scale {
  readonly transform: Transform;
  readonly values: Float64Array;
  /** s: 1.48 times the median change between an individual's neighbouring values that differ; NaN if they are few. */
  readonly usual: number;
  /** Median of all values and their robust standard deviation. */
  readonly middle: number;
  readonly sd: number;
}

function scaleOf(transform: Transform, sample: MarkerSeries, values: Float64Array): Scale {
  const z = sample.values.map((value) => applyTransform(transform, value));
  const changes = z.map((v, k) => (k === 0 ? 0 : Math.abs(v - z[k - 1])));
  for (const start of sample.offsets.subarray(0, -1)) changes[start] = 0;
  const moved = changes.filter((change) => change > 0).sort();
  const usual = moved.length < LEAST_CHANGES ? Number.NaN : MAD_TO_SD * sortedQuantile(moved, 0.5);
  const middle = median(z);
  const sd = MAD_TO_SD * median(z.map((v) => Math.abs(v - middle)));
  return { transform, values, usual, middle, sd };
}

/** Value k on the scale. */
function at({ transform, values }: Scale, k: number): number {
  return applyTransform(transform, values[k]);
}

/** How far value k lies to one side of two others, in s; 0 if it lies between them. */
function distanceTo(scale: Scale, k: number, a: number, b: number): number {
  const z = at(scale, k);
  const fromA = z - at(scale, a);
  const fromB = z - at(scale, b);
  if (fromA > 0 !== fromB > 0) return 0;
  return Math.min(Math.abs(fromA), Math.abs(fromB)) / scale.usual;
}

/** Whether a digit less, for a value that is too large, or more would bring it back to one of two others. */
function isSlip(scale: Scale, k: number, a: number, b: number): boolean {
  const value = scale.values[k];
  const tooLarge = (at(scale, k) - at(scale, a)) * value > 0;
  const corrected = applyTransform(scale.transform, tooLarge ? value / 10 : value * 10);
  const isNear = (other: number) => Math.abs(corrected - at(scale, other)) < BROUGHT_BACK * scale.usual;
  return isNear(a) || isNear(b);
}

/** Distance of value k from the middle of all values, in robust standard deviations. */
function unusual(scale: Scale, k: number): number {
  return scale.sd > 0 ? Math.abs(at(scale, k) - scale.middle) / scale.sd : 0;
}
