/** Products of dense matrices (flat, row-major) where they take the time: four rows of the right factor at once. */

/** out [n,m] += scale · A [n,k] · B [k,m]. */
export function addProduct(
  scale: number,
  A: Float64Array,
  B: Float64Array,
  n: number,
  k: number,
  m: number,
  out: Float64Array,
): void {
  for (let i = 0; i < n; i++) {
    const row = i * m;
    const ai = i * k;
    let l = 0;
    for (; l + 4 <= k; l += 4) {
      const a = scale * A[ai + l];
      const b = scale * A[ai + l + 1];
      const c = scale * A[ai + l + 2];
      const d = scale * A[ai + l + 3];
      // Triangular factors have whole groups of zeros.
      if (a === 0 && b === 0 && c === 0 && d === 0) continue;
      const b0 = l * m;
      const b1 = b0 + m;
      const b2 = b1 + m;
      const b3 = b2 + m;
      for (let j = 0; j < m; j++) {
        out[row + j] += a * B[b0 + j] + b * B[b1 + j] + (c * B[b2 + j] + d * B[b3 + j]);
      }
    }
    for (; l < k; l++) {
      const a = scale * A[ai + l];
      const b0 = l * m;
      for (let j = 0; j < m; j++) out[row + j] += a * B[b0 + j];
    }
  }
}
