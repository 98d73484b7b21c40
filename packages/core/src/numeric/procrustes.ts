/**
 * Orthogonal Procrustes: the rotation or reflection R that brings centred points X [n,q] closest to centred Y [n,q],
 * min ‖Y − s X R‖², R'R = I: the polar factor R = U V' of M = X'Y = U D V'.
 */

import { dot, multiply, transpose } from "./matrix.ts";
import { columnMeans } from "./moments.ts";
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

/** The alignment of points X [n,q] with points Y [n,q]. */
export function procrustes(X: Float64Array, Y: Float64Array, n: number, q: number): Alignment {
  const fromCenter = columnMeans(X, n, q);
  const toCenter = columnMeans(Y, n, q);
  const M = new Float64Array(q * q);
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < q; a++) {
      const x = X[i * q + a] - fromCenter[a];
      const y = Y[i * q + a] - toCenter[a];
      xx += x * x;
      yy += y * y;
      for (let b = 0; b < q; b++) M[a * q + b] += x * (Y[i * q + b] - toCenter[b]);
    }
  }
  const { rotation, sum } = polarFactor(M, q);
  const scale = xx > 0 ? sum / xx : 1;
  const rSquared = xx > 0 && yy > 0 ? (sum * sum) / (xx * yy) : 0;
  return { rotation, scale, fromCenter, toCenter, rSquared };
}

/** Root mean square distance of points X and Y [n,q] once X is turned and mirrored about the origin towards Y. */
export function turnedDistance(X: Float64Array, Y: Float64Array, q: number): number {
  const n = X.length / q;
  const { sum } = polarFactor(multiply(transpose(X, n, q), Y, q, n, q), q);
  return Math.sqrt(Math.max(0, dot(X, X) + dot(Y, Y) - 2 * sum) / n);
}
