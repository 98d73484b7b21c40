/**
 * Courses at places. At one place the coefficients are Gaussian, so on the scale of the model
 *   value at t ~ N(b(t)'w̄, b(t)'Sb(t)),
 * and median and band of the marker are the undone transform of three numbers per time, exactly as `predict` gives them.
 */
import { basisDomain, designMatrix, type Transform, undoTransform } from "@trajectory-maps/core";
import type { Decoder } from "./decoder.ts";
import type { Course } from "./types.ts";

/** Φ⁻¹(0.95): half the width of a central 90 % band in standard deviations. */
export const Z90 = 1.6448536269514722;

/** Evenly spaced times over the training times of a model. */
export function courseTimes(decoder: Decoder, count: number): Float64Array {
  const [first, last] = basisDomain(decoder.model.basis);
  return Float64Array.from({ length: count }, (_, k) =>
    k === count - 1 ? last : first + ((last - first) * k) / (count - 1),
  );
}

/** Gives the course at any shown place [q], at fixed times. */
export function courseReader(decoder: Decoder, times: Float64Array): (shown: ArrayLike<number>) => Course {
  const { model, numBasis: d } = decoder;
  const { transform } = model.marker;
  const T = times.length;
  const rows = designMatrix(model.basis, times);
  const w = new Float64Array(d);
  const S = new Float64Array(d * d);
  return (shown) => {
    decoder.decodeInto(shown, w, S);
    const course = { median: new Float64Array(T), lower: new Float64Array(T), upper: new Float64Array(T) };
    for (let t = 0; t < T; t++) {
      const half = Z90 * Math.sqrt(Math.max(quadratic(rows, t * d, S, d), 0));
      const middle = dot(rows, t * d, w, 0, d);
      course.median[t] = undoTransform(transform, middle);
      course.lower[t] = undoTransform(transform, middle - half);
      course.upper[t] = undoTransform(transform, middle + half);
    }
    return { times, ...course };
  };
}

/** The expected course at a shown place on the scale of the model, [T]. */
export function modelScaleCourse(decoder: Decoder, times: Float64Array, shown: ArrayLike<number>): Float64Array {
  const d = decoder.numBasis;
  const rows = designMatrix(decoder.model.basis, times);
  const w = new Float64Array(d);
  decoder.decodeInto(shown, w, null);
  return times.map((_, t) => dot(rows, t * d, w, 0, d));
}

/** a'b of d numbers from given offsets. */
export function dot(a: Float64Array, from: number, b: Float64Array, start: number, d: number): number {
  let s = 0;
  for (let k = 0; k < d; k++) s += a[from + k] * b[start + k];
  return s;
}

/** b'Sb for the row b at `from`; S [d,d]. */
export function quadratic(b: Float64Array, from: number, S: Float64Array, d: number): number {
  let s = 0;
  for (let k = 0; k < d; k++) {
    const bk = b[from + k];
    if (bk === 0) continue;
    let t = 0;
    for (let l = 0; l < d; l++) t += S[k * d + l] * b[from + l];
    s += bk * t;
  }
  return s;
}

/** Derivative of the undone transform at z: change of the marker per unit of the model's scale. */
export function undoSlope(transform: Transform, z: number): number {
  switch (transform) {
    case "identity":
      return 1;
    case "log":
    case "log1p":
      return Math.exp(z);
    case "sqrt":
      return 2 * Math.max(z, 0);
    case "logit": {
      const p = undoTransform("logit", z);
      return p * (1 - p);
    }
  }
}
