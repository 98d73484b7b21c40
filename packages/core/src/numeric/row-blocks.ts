/**
 * Matrix products with four long rows at a time, the inner loops of the expectation step. Tables are [K,n] row-major
 * with n long (nodes) and K small; four rows of weights [4,n] or coefficients [4,stride] go through one pass of the
 * table. Blocks of 4×4 or 4×2 keep the short operands in registers; the loops run along the long rows.
 */

/** Rows handled at once. */
export const ROW_BLOCK = 4;

/** The next multiple of the row block: tables are padded with zero rows to this size. */
export function paddedRows(count: number): number {
  return Math.ceil(count / ROW_BLOCK) * ROW_BLOCK;
}

/** out[b,j] += Σ_k P[b,k] T[k,j], b < 4; P [4,stride] from pOffset, T [K,n], out [4,n]; K a multiple of 4. */
export function addBlockTimesTable(
  P: Float64Array,
  pOffset: number,
  stride: number,
  K: number,
  T: Float64Array,
  n: number,
  out: Float64Array,
): void {
  const o1 = n;
  const o2 = 2 * n;
  const o3 = 3 * n;
  for (let k = 0; k < K; k += 4) {
    const a = pOffset + k;
    const b = a + stride;
    const c = b + stride;
    const d = c + stride;
    const a0 = P[a];
    const a1 = P[a + 1];
    const a2 = P[a + 2];
    const a3 = P[a + 3];
    const b0 = P[b];
    const b1 = P[b + 1];
    const b2 = P[b + 2];
    const b3 = P[b + 3];
    const c0 = P[c];
    const c1 = P[c + 1];
    const c2 = P[c + 2];
    const c3 = P[c + 3];
    const d0 = P[d];
    const d1 = P[d + 1];
    const d2 = P[d + 2];
    const d3 = P[d + 3];
    const t0 = k * n;
    const t1 = t0 + n;
    const t2 = t1 + n;
    const t3 = t2 + n;
    for (let j = 0; j < n; j++) {
      const x0 = T[t0 + j];
      const x1 = T[t1 + j];
      const x2 = T[t2 + j];
      const x3 = T[t3 + j];
      out[j] += a0 * x0 + a1 * x1 + (a2 * x2 + a3 * x3);
      out[o1 + j] += b0 * x0 + b1 * x1 + (b2 * x2 + b3 * x3);
      out[o2 + j] += c0 * x0 + c1 * x1 + (c2 * x2 + c3 * x3);
      out[o3 + j] += d0 * x0 + d1 * x1 + (d2 * x2 + d3 * x3);
    }
  }
}

/** out[k,j] += Σ_b P[b,k] R[b,j], b < 4; P [4,stride] from pOffset, R [4,n], out [K,n] from row `firstRow`; K even. */
export function addBlockOuter(
  P: Float64Array,
  pOffset: number,
  stride: number,
  K: number,
  R: Float64Array,
  n: number,
  out: Float64Array,
  firstRow = 0,
): void {
  const r1 = n;
  const r2 = 2 * n;
  const r3 = 3 * n;
  for (let k = 0; k < K; k += 2) {
    const a = pOffset + k;
    const p0 = P[a];
    const p1 = P[a + stride];
    const p2 = P[a + 2 * stride];
    const p3 = P[a + 3 * stride];
    const q0 = P[a + 1];
    const q1 = P[a + stride + 1];
    const q2 = P[a + 2 * stride + 1];
    const q3 = P[a + 3 * stride + 1];
    const s = (firstRow + k) * n;
    const t = s + n;
    for (let j = 0; j < n; j++) {
      const x0 = R[j];
      const x1 = R[r1 + j];
      const x2 = R[r2 + j];
      const x3 = R[r3 + j];
      out[s + j] += p0 * x0 + p1 * x1 + (p2 * x2 + p3 * x3);
      out[t + j] += q0 * x0 + q1 * x1 + (q2 * x2 + q3 * x3);
    }
  }
}

/** out[b,k] = Σ_j R[b,j] T[k,j], b < 4; R [4,n], T [K,n] from row `firstRow`, out [4,stride] from outOffset; K even. */
export function blockDotTable(
  R: Float64Array,
  T: Float64Array,
  firstRow: number,
  K: number,
  n: number,
  out: Float64Array,
  outOffset: number,
  stride: number,
): void {
  const r1 = n;
  const r2 = 2 * n;
  const r3 = 3 * n;
  for (let k = 0; k < K; k += 2) {
    const t = (firstRow + k) * n;
    const u = t + n;
    let a0 = 0;
    let a1 = 0;
    let b0 = 0;
    let b1 = 0;
    let c0 = 0;
    let c1 = 0;
    let d0 = 0;
    let d1 = 0;
    for (let j = 0; j < n; j++) {
      const x = T[t + j];
      const y = T[u + j];
      const a = R[j];
      const b = R[r1 + j];
      const c = R[r2 + j];
      const d = R[r3 + j];
      a0 += a * x;
      a1 += a * y;
      b0 += b * x;
      b1 += b * y;
      c0 += c * x;
      c1 += c * y;
      d0 += d * x;
      d1 += d * y;
    }
    const o = outOffset + k;
    out[o] = a0;
    out[o + 1] = a1;
    out[o + stride] = b0;
    out[o + stride + 1] = b1;
    out[o + 2 * stride] = c0;
    out[o + 2 * stride + 1] = c1;
    out[o + 3 * stride] = d0;
    out[o + 3 * stride + 1] = d1;
  }
}
