/**
 * The orthogonal polar factor of a small square matrix: M = U D V' (singular values D) gives R = U V', the orthogonal
 * matrix nearest to M and the one with the largest tr(R'M) = Σ D. By one-sided Jacobi rotations (Hestenes 1958), which
 * turn the columns of M until they are orthogonal and keep small singular values accurate; O(q³) per sweep.
 */
import { DtmError } from "../errors.ts";
import { identity, multiplyTransposed, turnColumnsInPlace } from "./matrix.ts";

/** R = U V', [q,q], and Σ D. */
export interface PolarFactor {
  readonly rotation: Float64Array;
  readonly sum: number;
}

/** Columns shorter than this beside the longest have no length. */
const NO_LENGTH = 1e-14;

/** Polar factor of M [q,q]; where M has no full rank, directions without length are completed to an orthogonal R. */
export function polarFactor(M: Float64Array, q: number): PolarFactor {
  const A = M.slice(0, q * q); // becomes U D
  const V = identity(q);
  for (let sweep = 0; ; sweep++) {
    let rotations = 0;
    for (let a = 0; a < q - 1; a++) for (let b = a + 1; b < q; b++) if (orthogonalize(A, V, q, a, b)) rotations++;
    if (rotations === 0) break;
    if (sweep >= 60) {
      throw new DtmError("no-convergence", `polarFactor: ${q}x${q} matrix did not converge; are all entries finite?`);
    }
  }
  const D = columnNorms(A, q);
  const largest = Math.max(...D);
  const U = new Float64Array(q * q);
  let sum = 0;
  const order = Array.from(D.keys()).sort((a, b) => D[b] - D[a] || a - b);
  order.forEach((c, done) => {
    sum += D[c];
    if (D[c] > NO_LENGTH * largest) for (let r = 0; r < q; r++) U[r * q + c] = A[r * q + c] / D[c];
    else completeColumn(U, q, c, order.slice(0, done));
  });
  return { rotation: multiplyTransposed(U, V, q, q, q), sum };
}

/** Turns columns a and b of A (and V with them) until they are orthogonal; false if they already are. */
function orthogonalize(A: Float64Array, V: Float64Array, q: number, a: number, b: number): boolean {
  let aa = 0;
  let bb = 0;
  let ab = 0;
  for (let r = 0; r < q; r++) {
    aa += A[r * q + a] * A[r * q + a];
    bb += A[r * q + b] * A[r * q + b];
    ab += A[r * q + a] * A[r * q + b];
  }
  // What rounding left of a column without length, which is completed later, no rotation removes.
  if (Math.sqrt(Math.min(aa, bb)) <= NO_LENGTH * Math.sqrt(Math.max(aa, bb))) return false;
  if (Math.abs(ab) <= 2 ** -51 * Math.sqrt(aa) * Math.sqrt(bb)) return false;
  const theta = (bb - aa) / (2 * ab);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (const X of [A, V]) turnColumnsInPlace(X, q, q, a, b, c, s);
  return true;
}

function columnNorms(A: Float64Array, q: number): Float64Array {
  return Float64Array.from({ length: q }, (_, c) => {
    let s = 0;
    for (let r = 0; r < q; r++) s += A[r * q + c] * A[r * q + c];
    return Math.sqrt(s);
  });
}

/** Fills column c of U with the unit vector that is furthest from the columns `known`, made orthogonal to them. */
function completeColumn(U: Float64Array, q: number, c: number, known: readonly number[]): void {
  let best = new Float64Array(q);
  let longest = -1;
  for (let axis = 0; axis < q; axis++) {
    const v = new Float64Array(q);
    v[axis] = 1;
    // Twice, so that rounding of the first pass is removed.
    for (let pass = 0; pass < 2; pass++) {
      for (const b of known) {
        let s = 0;
        for (let r = 0; r < q; r++) s += U[r * q + b] * v[r];
        for (let r = 0; r < q; r++) v[r] -= s * U[r * q + b];
      }
    }
    const norm = Math.hypot(...v);
    if (norm > longest + 1e-9) {
      longest = norm;
      best = v.map((x) => x / norm);
    }
  }
  for (let r = 0; r < q; r++) U[r * q + c] = best[r];
}
