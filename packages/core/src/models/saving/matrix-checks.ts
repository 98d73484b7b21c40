/** What is asked of the matrices of a model file. */
import { choleskyInPlace } from "../../numeric/cholesky.ts";

/** Q'Q = I, to 1e-8. */
export function isOrthogonal(Q: Float64Array, q: number): boolean {
  for (let a = 0; a < q; a++) {
    for (let b = 0; b < q; b++) {
      let s = a === b ? -1 : 0;
      for (let c = 0; c < q; c++) s += Q[c * q + a] * Q[c * q + b];
      if (!(Math.abs(s) < 1e-8)) return false;
    }
  }
  return true;
}

/** Symmetric to the last bit, with a diagonal above 0. */
export function isCovariance(S: Float64Array, n: number): boolean {
  for (let a = 0; a < n; a++) {
    if (!(S[a * n + a] > 0)) return false;
    for (let b = 0; b < a; b++) if (S[a * n + b] !== S[b * n + a]) return false;
  }
  return true;
}

/** No negative eigenvalue, but for rounding: a matrix with a hair on its diagonal has a Cholesky factor. */
export function isPositive(S: Float64Array, n: number): boolean {
  let largest = 0;
  for (let a = 0; a < n; a++) largest = Math.max(largest, S[a * n + a]);
  if (largest === 0) return S.every((v) => v === 0);
  const L = S.slice();
  for (let a = 0; a < n; a++) L[a * n + a] += HAIR * largest;
  return choleskyInPlace(L, n);
}

const HAIR = 1e-9;

/** Symmetric, with no entry larger than its diagonal allows. */
export function isSemidefinite(S: Float64Array, n: number): boolean {
  for (let a = 0; a < n; a++) {
    if (!(S[a * n + a] >= 0)) return false;
    for (let b = 0; b < a; b++) {
      const bound = Math.sqrt(S[a * n + a] * S[b * n + b]) * (1 + 1e-9);
      if (Math.abs(S[a * n + b] - S[b * n + a]) > 1e-9 * bound || Math.abs(S[a * n + b]) > bound) return false;
    }
  }
  return true;
}

/** A covariance matrix: symmetric but for rounding, without negative eigenvalues. */
export function isCovarianceMatrix(S: Float64Array, n: number): boolean {
  return isSemidefinite(S, n) && isPositive(S, n);
}
