/**
 * The course at a place, many times a second. At one place the coefficients are Gaussian, so on the scale of the model
 *   value at t ~ N(b(t)'w̄, b(t)'Sb(t)),
 * and median and band of the marker are the undone transform of three numbers per time, exactly as `predict` gives them
 * for `placementAt`.
 */

import { basisDomain, designMatrix } from "../basis/bspline.ts";
import { markerScale } from "../cohort/marker.ts";
import { normalQuantile } from "../numeric/special.ts";
import type { Decoder } from "./decoder.ts";
import { markerModel } from "./fit.ts";
import { functionalMean, functionalSd } from "./mixture/curve-distribution.ts";
import type { TrajectoryModel } from "./model.ts";

/** The course that belongs to a place, on the marker's original scale. */
export interface Course {
  readonly times: Float64Array; // [T]
  readonly median: Float64Array; // [T]
  /** Band of the noise-free course, [T]. */
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** Evenly spaced times over the training times of a model. */
export function courseTimes(model: TrajectoryModel, count: number): Float64Array {
  const [first, last] = basisDomain(markerModel(model).basis);
  return Float64Array.from({ length: count }, (_, k) =>
    k === count - 1 ? last : first + ((last - first) * k) / (count - 1),
  );
}

/** Gives the course at any shown place [q], at fixed times, with a band of the given probability. */
export function courseReader(decoder: Decoder, times: Float64Array, level = 0.9): (shown: ArrayLike<number>) => Course {
  const { model, numBasis: d } = decoder;
  const value = markerScale(markerModel(model).marker);
  const T = times.length;
  const rows = designMatrix(markerModel(model).basis, times);
  const z = normalQuantile(0.5 + 0.5 * level);
  const w = new Float64Array(d);
  const S = new Float64Array(d * d);
  return (shown) => {
    decoder.decodeInto(shown, w, S);
    const course = { median: new Float64Array(T), lower: new Float64Array(T), upper: new Float64Array(T) };
    for (let t = 0; t < T; t++) {
      const half = z * functionalSd(rows, t * d, S, 0, d);
      const middle = functionalMean(rows, t * d, w, 0, d);
      course.median[t] = value(middle);
      course.lower[t] = value(middle - half);
      course.upper[t] = value(middle + half);
    }
    return { times, ...course };
  };
}
