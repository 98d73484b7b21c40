/**
 * Eigenvalues and eigenvectors of small symmetric matrices by cyclic Jacobi rotations: A = V diag(w) V'.
 * Accurate to rounding also for tiny eigenvalues; O(n³) per sweep, for n up to a few dozen.
 */
import { DtmError } from "../errors.ts";
import { identity, turnColumnsInPlace } from "./matrix.ts";

export interface SymmetricEigen {
  /** Eigenvalues in descending order, [n]. */
  readonly values: Float64Array;
  /** Eigenvectors in the columns, row-major [n,n]. */
  readonly vectors: Float64Array;
}

export function symmetricEigen(A: Float64Array, n: number): SymmetricEigen {
  const M = A.slice(0, n * n);
  // What rounding left between the triangles no rotation removes.
  for (let p = 0; p < n; p++) {
    for (let q = p + 1; q < n; q++) M[p * n + q] = M[q * n + p] = 0.5 * (M[p * n + q] + M[q * n + p]);
  }
  const V = identity(n);
  for (let sweep = 0; ; sweep++) {
    let rotations = 0;
    for (let p = 0; p < n - 1; p++) for (let q = p + 1; q < n; q++) if (rotate(M, V, n, p, q)) rotations++;
    if (rotations === 0) break;
    if (sweep >= 60) {
      throw new DtmError(
        "no-convergence",
        `symmetricEigen: ${n}x${n} matrix did not converge; are all entries finite?`,
      );
    }
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => M[b * n + b] - M[a * n + a]);
  const values = new Float64Array(n);
  const vectors = new Float64Array(n * n);
  for (let c = 0; c < n; c++) {
    values[c] = M[order[c] * n + order[c]];
    for (let r = 0; r < n; r++) vectors[r * n + c] = V[r * n + order[c]];
  }
  return { values, vectors };
}

/**
 * One Jacobi rotation that annihilates M[p,q]; V collects the product. False, and nothing done, where the entry is
 * already small beside both its diagonal entries: a test that keeps the relative accuracy of tiny eigenvalues.
 */
function rotate(M: Float64Array, V: Float64Array, n: number, p: number, q: number): boolean {
  const apq = M[p * n + q];
  if (Math.abs(apq) <= 2 ** -54 * Math.sqrt(Math.abs(M[p * n + p])) * Math.sqrt(Math.abs(M[q * n + q]))) return false;
  const theta = (M[q * n + q] - M[p * n + p]) / (2 * apq);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  turnColumnsInPlace(M, n, n, p, q, c, s);
  for (let k = 0; k < n; k++) {
    const pk = M[p * n + k];
    const qk = M[q * n + k];
    M[p * n + k] = c * pk - s * qk;
    M[q * n + k] = s * pk + c * qk;
  }
  // Zero by construction; left to rounding it would keep the sweeps from ending.
  M[p * n + q] = 0;
  M[q * n + p] = 0;
  turnColumnsInPlace(V, n, n, p, q, c, s);
  return true;
}

/** A square root L = V diag(√w) of a positive semidefinite matrix: A = L L', singular allowed. */
export function semidefiniteRoot(A: Float64Array, n: number): Float64Array {
  const { values, vectors } = symmetricEigen(A, n);
  const L = new Float64Array(n * n);
  for (let c = 0; c < n; c++) {
    const root = Math.sqrt(Math.max(values[c], 0));
    for (let r = 0; r < n; r++) L[r * n + c] = vectors[r * n + c] * root;
  }
  return L;
}
