/**
 * Dense matrices as flat row-major Float64Array; the caller knows the shape.
 * Kernels write into buffers they are given and never validate.
 */

/** The given rows of x [m,width], in the order given. */
export function takeRows(x: Float64Array, width: number, rows: ArrayLike<number>): Float64Array {
  const out = new Float64Array(rows.length * width);
  for (let k = 0, at = 0; k < rows.length; k++) {
    const from = rows[k] * width;
    for (let a = 0; a < width; a++) out[at++] = x[from + a];
  }
  return out;
}

/** |x_i − x_j|² of two rows of x [n,q]. */
export function squaredDistance(x: Float64Array, i: number, j: number, q: number): number {
  let r = 0;
  for (let k = 0; k < q; k++) {
    const u = x[i * q + k] - x[j * q + k];
    r += u * u;
  }
  return r;
}

/** out [n,m] = A [n,k] · B [k,m]. */
export function multiply(
  A: Float64Array,
  B: Float64Array,
  n: number,
  k: number,
  m: number,
  out: Float64Array = new Float64Array(n * m),
): Float64Array {
  for (let i = 0; i < n; i++) {
    const row = i * m;
    for (let j = 0; j < m; j++) out[row + j] = 0;
    for (let l = 0; l < k; l++) {
      const a = A[i * k + l];
      if (a === 0) continue;
      const b = l * m;
      for (let j = 0; j < m; j++) out[row + j] += a * B[b + j];
    }
  }
  return out;
}

/** A [n,k] · B' for B [m,k]; [n,m]. */
export function multiplyTransposed(A: Float64Array, B: Float64Array, n: number, k: number, m: number): Float64Array {
  const out = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let s = 0;
      for (let l = 0; l < k; l++) s += A[i * k + l] * B[j * k + l];
      out[i * m + j] = s;
    }
  }
  return out;
}

/** out [m,n] = A' for A [n,m]. */
export function transpose(
  A: Float64Array,
  n: number,
  m: number,
  out: Float64Array = new Float64Array(n * m),
): Float64Array {
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) out[j * n + i] = A[i * m + j];
  return out;
}

/** out [n] = A [n,m] · x [m]. */
export function multiplyVector(
  A: Float64Array,
  x: Float64Array,
  n: number,
  m: number,
  out: Float64Array = new Float64Array(n),
): Float64Array {
  for (let i = 0; i < n; i++) {
    let s = 0;
    const row = i * m;
    for (let j = 0; j < m; j++) s += A[row + j] * x[j];
    out[i] = s;
  }
  return out;
}

/** Turns columns a and b of A [n,m] in place: x, y become cx − sy and sx + cy. */
export function turnColumnsInPlace(
  A: Float64Array,
  n: number,
  m: number,
  a: number,
  b: number,
  c: number,
  s: number,
): void {
  for (let r = 0; r < n; r++) {
    const x = A[r * m + a];
    const y = A[r * m + b];
    A[r * m + a] = c * x - s * y;
    A[r * m + b] = s * x + c * y;
  }
}

/** Replaces A [n,n] by (A + A')/2. */
export function symmetrizeInPlace(A: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      const v = 0.5 * (A[i * n + j] + A[j * n + i]);
      A[i * n + j] = v;
      A[j * n + i] = v;
    }
  }
}

/** I, times `scale`, [n,n]. */
export function identity(n: number, scale = 1): Float64Array {
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++) A[i * n + i] = scale;
  return A;
}

/** Σ A_ii of A [n,n]. */
export function trace(A: Float64Array, n: number): number {
  let s = 0;
  for (let i = 0; i < n; i++) s += A[i * n + i];
  return s;
}

/** x'y. */
export function dot(x: Float64Array, y: Float64Array): number {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i] * y[i];
  return s;
}

/** x' A y for A [n,m]. */
export function bilinear(x: Float64Array, A: Float64Array, y: Float64Array): number {
  const n = x.length;
  const m = y.length;
  let total = 0;
  for (let i = 0; i < n; i++) {
    let s = 0;
    for (let j = 0; j < m; j++) s += A[i * m + j] * y[j];
    total += x[i] * s;
  }
  return total;
}

/** Several vectors as one, in their order. */
export function joinFloats(parts: readonly Float64Array[]): Float64Array {
  const out = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** sums += terms. */
export function addTo(sums: Float64Array, terms: Float64Array): void {
  for (let e = 0; e < sums.length; e++) sums[e] += terms[e];
}
