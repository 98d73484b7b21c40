/**
 * Orthogonal Procrustes: the rotation or reflection R that brings centred points X [n,q] closest to centred Y [n,q],
 * min ‖Y − s X R‖², R'R = I: the polar factor R = U V' of M = X'Y = U D V'.
 */

import { dot, multiply, transpose } from "./matrix.ts";
import { columnSums } from "./moments.ts";
import { polarFactor } from "./polar.ts";

export interface Alignment {
  /** R, [q,q]: row vectors x become xR. */
  readonly rotation: Float64Array;
  /** Scale s of the best fit (1 if not asked for). */
  readonly scale: number;
  /** Centres subtracted from X and Y, [q]. */
  readonly fromCenter: Float64Array;
  readonly toCenter: Float64Array;
  /** Share of the variance of Y explained by the aligned X, allowing a scale. */
  readonly rSquared: number;
}

/** Sums over these and further points, from the sums over points from..to−1. */
type PointSums = (what: string, sums: (from: number, to: number) => Float64Array) => Float64Array;

const WHAT = "places of two maps";

/** The alignment of points X [n,q] with points Y [n,q], and with further ones where `points` adds their sums. */
export function procrustes(
  X: Float64Array,
  Y: Float64Array,
  n: number,
  q: number,
  points: PointSums = (_, sums) => sums(0, n),
): Alignment {
  const means = (P: Float64Array, from: number, to: number) => columnSums(P.subarray(from * q, to * q), to - from, q);
  const [count, ...sums] = points(WHAT, (from, to) =>
    Float64Array.of(to - from, ...means(X, from, to), ...means(Y, from, to)),
  );
  const centers = Float64Array.from(sums, (sum) => sum / count);
  const [fromCenter, toCenter] = [centers.slice(0, q), centers.slice(q)];
  const products = (from: number, to: number): Float64Array => {
    const out = new Float64Array(2 + q * q);
    for (let i = from; i < to; i++) {
      for (let a = 0; a < q; a++) {
        const x = X[i * q + a] - fromCenter[a];
        const y = Y[i * q + a] - toCenter[a];
        out[0] += x * x;
        out[1] += y * y;
        for (let b = 0; b < q; b++) out[2 + a * q + b] += x * (Y[i * q + b] - toCenter[b]);
      }
    }
    return out;
  };
  const [xx, yy, ...M] = points(WHAT, products);
  const { rotation, sum } = polarFactor(Float64Array.from(M), q);
  const scale = xx > 0 ? sum / xx : 1;
  const rSquared = xx > 0 && yy > 0 ? (sum * sum) / (xx * yy) : 0;
  return { rotation, scale, fromCenter, toCenter, rSquared };
}

/** Root mean square distance of points X and Y [n,q] (and further ones) once X is turned and mirrored about the origin towards Y. */
export function turnedDistance(
  X: Float64Array,
  Y: Float64Array,
  q: number,
  points: PointSums = (_, sums) => sums(0, X.length / q),
): number {
  const products = (from: number, to: number): Float64Array => {
    const [x, y] = [X, Y].map((P) => P.subarray(from * q, to * q));
    const n = to - from;
    return Float64Array.of(n, dot(x, x) + dot(y, y), ...multiply(transpose(x, n, q), y, q, n, q));
  };
  const [count, squares, ...M] = points(WHAT, products);
  const { sum } = polarFactor(Float64Array.from(M), q);
  return Math.sqrt(Math.max(0, squares - 2 * sum) / count);
}
