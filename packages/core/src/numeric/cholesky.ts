/**
 * Cholesky factorisation A = L L' of symmetric positive definite matrices, row-major [n,n], lower triangle read,
 * with the triangular solves built on it. O(n³/3); inner loops run along rows of L.
 */
import { DtmError } from "../errors.ts";

/** Overwrites the lower triangle of A with L and zeroes the upper one; false if A is not positive definite. */
export function choleskyInPlace(A: Float64Array, n: number): boolean {
  for (let i = 0; i < n; i++) {
    const ri = i * n;
    for (let j = 0; j <= i; j++) {
      const rj = j * n;
      let s = A[ri + j];
      for (let k = 0; k < j; k++) s -= A[ri + k] * A[rj + k];
      if (j < i) {
        A[ri + j] = s / A[rj + j];
      } else {
        if (!(s > 0)) return false;
        A[ri + i] = Math.sqrt(s);
      }
    }
    for (let j = i + 1; j < n; j++) A[ri + j] = 0;
  }
  return true;
}

/** Returns L of a copy of A; throws `not-positive-definite` naming `what` if there is none. */
export function cholesky(A: Float64Array, n: number, what = "matrix"): Float64Array {
  const L = A.slice(0, n * n);
  if (!choleskyInPlace(L, n)) {
    throw new DtmError("not-positive-definite", `cholesky: the ${n}x${n} ${what} is not positive definite.`);
  }
  return L;
}

/** Solves L x = b in place. */
export function solveLowerInPlace(L: Float64Array, n: number, b: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let s = b[i];
    const row = i * n;
    for (let k = 0; k < i; k++) s -= L[row + k] * b[k];
    b[i] = s / L[row + i];
  }
}

/** Solves L' x = b in place. */
export function solveLowerTransposeInPlace(L: Float64Array, n: number, b: Float64Array): void {
  for (let i = n - 1; i >= 0; i--) {
    const x = b[i] / L[i * n + i];
    b[i] = x;
    const row = i * n;
    for (let k = 0; k < i; k++) b[k] -= L[row + k] * x;
  }
}

/** Solves L X = B in place for B [n,m]. */
export function solveLowerMatrixInPlace(L: Float64Array, n: number, B: Float64Array, m: number): void {
  for (let i = 0; i < n; i++) {
    const bi = i * m;
    for (let k = 0; k < i; k++) {
      const l = L[i * n + k];
      if (l === 0) continue;
      const bk = k * m;
      for (let j = 0; j < m; j++) B[bi + j] -= l * B[bk + j];
    }
    const d = 1 / L[i * n + i];
    for (let j = 0; j < m; j++) B[bi + j] *= d;
  }
}

/** out = L⁻¹ (lower triangular). */
export function invertLower(L: Float64Array, n: number, out: Float64Array = new Float64Array(n * n)): Float64Array {
  out.fill(0, 0, n * n);
  for (let i = 0; i < n; i++) {
    const ri = i * n;
    const d = 1 / L[ri + i];
    out[ri + i] = d;
    for (let k = 0; k < i; k++) {
      const a = -L[ri + k];
      const xk = k * n;
      for (let j = 0; j <= k; j++) out[ri + j] += a * out[xk + j];
    }
    for (let j = 0; j < i; j++) out[ri + j] *= d;
  }
  return out;
}

/** out = (L L')⁻¹ = L⁻ᵀ L⁻¹, symmetric; `scratch` [n,n] receives L⁻¹. */
export function invertFromCholesky(
  L: Float64Array,
  n: number,
  out: Float64Array = new Float64Array(n * n),
  scratch: Float64Array = new Float64Array(n * n),
): Float64Array {
  const X = invertLower(L, n, scratch);
  for (let i = 0; i < n; i++) {
    const so = i * n;
    for (let j = 0; j <= i; j++) out[so + j] = 0;
    for (let k = i; k < n; k++) {
      const a = X[k * n + i];
      const xk = k * n;
      for (let j = 0; j <= i; j++) out[so + j] += a * X[xk + j];
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
  return out;
}

/** log |L L'| = 2 Σ log L_ii. */
export function logDetFromCholesky(L: Float64Array, n: number): number {
  let s = 0;
  for (let i = 0; i < n; i++) s += Math.log(L[i * n + i]);
  return 2 * s;
}

/** Solves (L L') x = b in place. */
export function solveCholeskyInPlace(L: Float64Array, n: number, b: Float64Array): void {
  solveLowerInPlace(L, n, b);
  solveLowerTransposeInPlace(L, n, b);
}
