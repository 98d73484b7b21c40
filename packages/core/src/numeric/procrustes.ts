/**
 * Orthogonal Procrustes: the rotation or reflection R that brings centred points X [n,q] closest to centred Y [n,q],
 * min ‖Y − s X R‖², R'R = I: the polar factor R = U V' of M = X'Y = U D V'.
 */

import { dot, joinFloats, multiply, transpose } from "./matrix.ts";
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

/** Sums over these and further points, from the sums over these. */
type TotalSums = (sums: Float64Array, what: string) => Float64Array;

const WHAT = "places of two maps";

/** The alignment of points X [n,q] with points Y [n,q], and with further ones where `total` adds their sums. */
export function procrustes(
  X: Float64Array,
  Y: Float64Array,
  n: number,
  q: number,
  total: TotalSums = (sums) => sums,
): Alignment {
  const [count, ...sums] = total(Float64Array.of(n, ...columnSums(X, n, q), ...columnSums(Y, n, q)), WHAT);
  const centers = Float64Array.from(sums, (sum) => sum / count);
  const [fromCenter, toCenter] = [centers.slice(0, q), centers.slice(q)];
  const products = new Float64Array(q * q + 2);
  const own = products.subarray(2);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < q; a++) {
      const x = X[i * q + a] - fromCenter[a];
      const y = Y[i * q + a] - toCenter[a];
      products[0] += x * x;
      products[1] += y * y;
      for (let b = 0; b < q; b++) own[a * q + b] += x * (Y[i * q + b] - toCenter[b]);
    }
  }
  const [xx, yy, ...M] = total(products, WHAT);
  const { rotation, sum } = polarFactor(Float64Array.from(M), q);
  const scale = xx > 0 ? sum / xx : 1;
  const rSquared = xx > 0 && yy > 0 ? (sum * sum) / (xx * yy) : 0;
  return { rotation, scale, fromCenter, toCenter, rSquared };
}

/** Root mean square distance of points X and Y [n,q] (and further ones) once X is turned and mirrored about the origin towards Y. */
export function turnedDistance(X: Float64Array, Y: Float64Array, q: number, total: TotalSums = (sums) => sums): number {
  const n = X.length / q;
  const own = multiply(transpose(X, n, q), Y, q, n, q);
  const [count, squares, ...M] = total(joinFloats([Float64Array.of(n, dot(X, X) + dot(Y, Y)), own]), WHAT);
  const { sum } = polarFactor(Float64Array.from(M), q);
  return Math.sqrt(Math.max(0, squares - 2 * sum) / count);
}
