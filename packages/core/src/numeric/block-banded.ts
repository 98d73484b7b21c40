/**
 * Symmetric positive definite matrices of N x N blocks of size p whose blocks (K, J) with |K − J| > w are zero, stored
 * dense and row-major, [Np,Np]. The Cholesky factor keeps the band, so that rows of it start there.
 */

/** Overwrites the lower triangle of A with its Cholesky factor within the band; false if A is not positive definite. */
export function choleskyBandInPlace(A: Float64Array, numBlocks: number, p: number, halfBandwidth: number): boolean {
  const n = numBlocks * p;
  for (let i = 0; i < n; i += 2) {
    // Rows i and i+1 together: each loaded entry of an earlier row serves two dot products.
    const paired = i + 1 < n;
    const r0 = i * n;
    const r1 = paired ? r0 + n : r0;
    const start = firstColumn(i, p, halfBandwidth);
    for (let j = start; j < i; j++) {
      const rj = j * n;
      let s0 = A[r0 + j];
      let s1 = A[r1 + j];
      let t0 = 0;
      let t1 = 0;
      let k = Math.max(start, firstColumn(j, p, halfBandwidth));
      for (; k + 2 <= j; k += 2) {
        const a = A[rj + k];
        const b = A[rj + k + 1];
        s0 -= A[r0 + k] * a;
        s1 -= A[r1 + k] * a;
        t0 -= A[r0 + k + 1] * b;
        t1 -= A[r1 + k + 1] * b;
      }
      if (k < j) {
        s0 -= A[r0 + k] * A[rj + k];
        s1 -= A[r1 + k] * A[rj + k];
      }
      const d = A[rj + j];
      A[r0 + j] = (s0 + t0) / d;
      if (paired) A[r1 + j] = (s1 + t1) / d;
    }
    if (!closeRow(A, n, i, start)) return false;
    if (!paired) continue;
    let s = A[r1 + i];
    for (let k = start; k < i; k++) s -= A[r1 + k] * A[r0 + k];
    A[r1 + i] = s / A[r0 + i];
    if (!closeRow(A, n, i + 1, start)) return false;
  }
  return true;
}

/** Solves (L L') x = b in place for a factor within the band. */
export function solveBandInPlace(
  L: Float64Array,
  numBlocks: number,
  p: number,
  halfBandwidth: number,
  b: Float64Array,
): void {
  const n = numBlocks * p;
  for (let i = 0; i < n; i++) {
    let s = b[i];
    for (let k = firstColumn(i, p, halfBandwidth); k < i; k++) s -= L[i * n + k] * b[k];
    b[i] = s / L[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    const x = b[i] / L[i * n + i];
    b[i] = x;
    for (let k = firstColumn(i, p, halfBandwidth); k < i; k++) b[k] -= L[i * n + k] * x;
  }
}

/**
 * out = (L L')⁻¹ in full, symmetric, for a factor within the band; `scratch` [n,n] receives L⁻¹. The inverse is the
 * product of L⁻ᵀ and L⁻¹: the recurrences that give its band alone are several times faster but lose as many digits as
 * the diagonal blocks have condition.
 */
export function invertFromBandCholesky(
  L: Float64Array,
  numBlocks: number,
  p: number,
  halfBandwidth: number,
  out: Float64Array,
  scratch: Float64Array,
): void {
  const n = numBlocks * p;
  const X = scratch;
  for (let i = 0; i < n; i++) {
    const ri = i * n;
    for (let j = 0; j <= i; j++) X[ri + j] = 0;
    const d = 1 / L[ri + i];
    let k = firstColumn(i, p, halfBandwidth);
    // Four rows of X at a time; row k+1 is one entry longer than row k.
    for (; k + 4 <= i; k += 4) {
      const a0 = L[ri + k];
      const a1 = L[ri + k + 1];
      const a2 = L[ri + k + 2];
      const a3 = L[ri + k + 3];
      const x0 = k * n;
      const x1 = x0 + n;
      const x2 = x1 + n;
      const x3 = x2 + n;
      for (let j = 0; j <= k; j++) X[ri + j] -= a0 * X[x0 + j] + a1 * X[x1 + j] + (a2 * X[x2 + j] + a3 * X[x3 + j]);
      X[ri + k + 1] -= a1 * X[x1 + k + 1] + a2 * X[x2 + k + 1] + a3 * X[x3 + k + 1];
      X[ri + k + 2] -= a2 * X[x2 + k + 2] + a3 * X[x3 + k + 2];
      X[ri + k + 3] -= a3 * X[x3 + k + 3];
    }
    for (; k < i; k++) {
      const a = L[ri + k];
      for (let j = 0; j <= k; j++) X[ri + j] -= a * X[k * n + j];
    }
    for (let j = 0; j < i; j++) X[ri + j] *= d;
    X[ri + i] = d;
  }
  multiplyTransposed(X, n, out);
}

/** out = X'X for lower triangular X, both triangles. */
function multiplyTransposed(X: Float64Array, n: number, out: Float64Array): void {
  for (let i = 0; i < n; i++) {
    const to = i * n;
    for (let j = 0; j <= i; j++) out[to + j] = 0;
    let k = i;
    for (; k + 4 <= n; k += 4) {
      const x0 = k * n;
      const x1 = x0 + n;
      const x2 = x1 + n;
      const x3 = x2 + n;
      const a0 = X[x0 + i];
      const a1 = X[x1 + i];
      const a2 = X[x2 + i];
      const a3 = X[x3 + i];
      for (let j = 0; j <= i; j++) out[to + j] += a0 * X[x0 + j] + a1 * X[x1 + j] + (a2 * X[x2 + j] + a3 * X[x3 + j]);
    }
    for (; k < n; k++) {
      const a = X[k * n + i];
      for (let j = 0; j <= i; j++) out[to + j] += a * X[k * n + j];
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
}

/** First column of row i that the band reaches. */
function firstColumn(i: number, p: number, halfBandwidth: number): number {
  return Math.max(0, Math.floor(i / p) - halfBandwidth) * p;
}

/** The diagonal entry of row i, from the entries before it. */
function closeRow(A: Float64Array, n: number, i: number, start: number): boolean {
  const row = i * n;
  let s = A[row + i];
  for (let k = start; k < i; k++) s -= A[row + k] * A[row + k];
  if (!(s > 0)) return false;
  A[row + i] = Math.sqrt(s);
  return true;
}
