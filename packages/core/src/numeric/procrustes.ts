/**
 * Orthogonal Procrustes: the rotation or reflection R that brings centred points X [n,q] closest to centred Y [n,q],
 * min ‖Y − s X R‖², R'R = I. With M = X'Y = U D V': R = U V', found here from the eigenvectors of M'M and, for
 * directions without variance, completed to an orthogonal matrix.
 */
import { multiply, transpose } from "./matrix.ts";
import { symmetricEigen } from "./symmetric-eigen.ts";

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
  const { rotation, sum } = nearestOrthogonal(M, q);
  const scale = xx > 0 ? sum / xx : 1;
  const rSquared = xx > 0 && yy > 0 ? (sum * sum) / (xx * yy) : 0;
  return { rotation, scale, fromCenter, toCenter, rSquared };
}

/** The orthogonal polar factor U V' of M = U D V' and Σ D. */
function nearestOrthogonal(M: Float64Array, q: number): { rotation: Float64Array; sum: number } {
  const { values, vectors: V } = symmetricEigen(multiply(transpose(M, q, q), M, q, q, q), q);
  const MV = multiply(M, V, q, q, q);
  const U = new Float64Array(q * q);
  let sum = 0;
  for (let c = 0; c < q; c++) {
    const D = Math.sqrt(Math.max(values[c], 0));
    sum += D;
    const column = new Float64Array(q);
    if (D > 1e-12 * Math.sqrt(Math.max(values[0], 0))) {
      for (let r = 0; r < q; r++) column[r] = MV[r * q + c] / D;
    }
    orthonormalColumn(U, column, q, c);
  }
  return { rotation: multiply(U, transpose(V, q, q), q, q, q), sum };
}

/** Puts `column` (or, where it is nearly dependent, a unit vector) into column c of U, orthonormal to those before. */
function orthonormalColumn(U: Float64Array, column: Float64Array, q: number, c: number): void {
  for (let attempt = -1; attempt < q; attempt++) {
    const v = attempt < 0 ? column.slice() : Float64Array.from({ length: q }, (_, r) => (r === attempt ? 1 : 0));
    for (let b = 0; b < c; b++) {
      let s = 0;
      for (let r = 0; r < q; r++) s += U[r * q + b] * v[r];
      for (let r = 0; r < q; r++) v[r] -= s * U[r * q + b];
    }
    let norm = 0;
    for (let r = 0; r < q; r++) norm += v[r] * v[r];
    norm = Math.sqrt(norm);
    if (norm > 0.1) {
      for (let r = 0; r < q; r++) U[r * q + c] = v[r] / norm;
      return;
    }
  }
}

function columnMeans(X: Float64Array, n: number, q: number): Float64Array {
  const mean = new Float64Array(q);
  for (let i = 0; i < n; i++) for (let c = 0; c < q; c++) mean[c] += X[i * q + c] / n;
  return mean;
}
