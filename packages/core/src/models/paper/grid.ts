/**
 * Regular grids of places in the order of gp/inducing.ts (first dimension slowest): place (a_1..a_q) has coordinates
 *   z_c = first_c + a_c · spacing_c,   a_c = 0 .. counts_c − 1,
 * with its own number of points and its own spacing in each dimension.
 */

export interface Grid {
  readonly q: number;
  /** [q] */
  readonly first: Float64Array;
  /** [q]; may be negative, never 0 (1 where a dimension has one point only). */
  readonly spacing: Float64Array;
  /** [q] */
  readonly counts: Int32Array;
}

/** The grid whose places are the rows of Z [p,q], or null if Z is not a regular grid to rounding. */
export function detectGrid(Z: Float64Array, p: number, q: number): Grid | null {
  let scale = 0;
  for (let k = 0; k < p * q; k++) scale = Math.max(scale, Math.abs(Z[k]));
  const tolerance = 1e-13 * scale;
  const first = Z.slice(0, q);
  const spacing = new Float64Array(q).fill(1);
  const counts = new Int32Array(q).fill(1);
  // Along dimension c, fastest first, the index moves by `stride` until the coordinate is back where it began.
  let stride = 1;
  for (let c = q - 1; c >= 0; c--) {
    let n = 1;
    while (n * stride < p && Math.abs(Z[n * stride * q + c] - Z[c]) > tolerance) n++;
    counts[c] = n;
    if (n > 1) spacing[c] = (Z[(n - 1) * stride * q + c] - first[c]) / (n - 1);
    stride *= n;
  }
  if (stride !== p) return null;
  for (let j = 0; j < p; j++) {
    let rest = j;
    for (let c = q - 1; c >= 0; c--) {
      const a = rest % counts[c];
      rest = (rest - a) / counts[c];
      if (!(Math.abs(Z[j * q + c] - (first[c] + a * spacing[c])) <= tolerance)) return null;
    }
  }
  return { q, first, spacing, counts };
}
