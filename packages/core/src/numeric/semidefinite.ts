/**
 * Symmetric positive semidefinite systems that may be singular: Moore–Penrose inverse by eigenvalues, solution of
 * least norm, and the triangular root of F F'.
 */
import { choleskyInPlace, solveCholeskyInPlace } from "./cholesky.ts";
import { multiplyVector } from "./matrix.ts";
import { symmetricEigen } from "./symmetric-eigen.ts";

/** Eigenvalues below this share of the largest count as zero. */
const CUTOFF = 1e-11;

export interface PseudoInverse {
  /** A⁺ [n,n]. */
  readonly inverse: Float64Array;
  readonly rank: number;
}

/** A⁺ of a symmetric positive semidefinite A [n,n]. */
export function pseudoInverse(A: Float64Array, n: number): PseudoInverse {
  const { values, vectors } = symmetricEigen(A, n);
  const inverse = new Float64Array(n * n);
  let rank = 0;
  for (let c = 0; c < n; c++) {
    if (!(values[c] > CUTOFF * values[0])) continue;
    rank++;
    for (let i = 0; i < n; i++) {
      const a = vectors[i * n + c] / values[c];
      for (let j = 0; j < n; j++) inverse[i * n + j] += a * vectors[j * n + c];
    }
  }
  return { inverse, rank };
}

/** A⁺ [n,n] of a matrix whose rows are measured in units of their own diagonal: their units do not decide what counts as zero. */
export function scaledInverse(A: Float64Array, n: number): Float64Array {
  const unit = Float64Array.from({ length: n }, (_, s) => Math.sqrt(Math.max(A[s * n + s], 0)) || 1);
  const scaled = A.map((v, e) => v / unit[Math.floor(e / n)] / unit[e % n]);
  return pseudoInverse(scaled, n).inverse.map((v, e) => v / unit[Math.floor(e / n)] / unit[e % n]);
}

/** Solves A x = b, b overwritten: by Cholesky if A [n,n] is well conditioned, else the solution of least norm. */
export function solveSemidefiniteInPlace(A: Float64Array, n: number, b: Float64Array): void {
  const C = A.slice(0, n * n);
  if (choleskyInPlace(C, n)) {
    let low = Number.POSITIVE_INFINITY;
    let high = 0;
    for (let k = 0; k < n; k++) {
      low = Math.min(low, C[k * n + k]);
      high = Math.max(high, C[k * n + k]);
    }
    // Pivots of C are square roots: their ratio squared bounds the condition number from below.
    if (low * low > CUTOFF * high * high) {
      solveCholeskyInPlace(C, n, b);
      return;
    }
  }
  b.set(multiplyVector(pseudoInverse(A, n).inverse, b.slice(0, n), n, n));
}

/**
 * The lower triangular (trapezoidal) L [n,min(n,r)] with L L' = F F' and diagonal ≥ 0, for F [n,r]: the LQ
 * factorisation by Givens rotations of columns. Works for any rank of F.
 */
export function lowerFactor(F: Float64Array, n: number, r: number): Float64Array {
  const A = F.slice(0, n * r);
  const width = Math.min(n, r);
  for (let k = 0; k < width; k++) {
    for (let c = k + 1; c < r; c++) {
      const b = A[k * r + c];
      if (b === 0) continue;
      const a = A[k * r + k];
      const h = Math.hypot(a, b);
      for (let i = k; i < n; i++) {
        const x = A[i * r + k];
        const y = A[i * r + c];
        A[i * r + k] = (a * x + b * y) / h;
        A[i * r + c] = (a * y - b * x) / h;
      }
      A[k * r + c] = 0;
    }
  }
  const L = new Float64Array(n * width);
  for (let k = 0; k < width; k++) {
    const sign = A[k * r + k] < 0 ? -1 : 1;
    for (let i = k; i < n; i++) L[i * width + k] = sign * A[i * r + k];
  }
  return L;
}
