/**
 * A wide Gaussian kernel by few features, for statistics T = a'Ka of labels whose a_i sum to zero. Such a T only sees the
 * centred kernel, K_ij − K̄_i − K̄_j + K̄, and that has few directions when the kernel is as wide as the places:
 *   1. K ≈ ΦΦ' by the pivoted incomplete Cholesky factorisation: the next pivot is the individual whose own kernel is
 *      explained least (the first of equals), until a share `tolerance` of K_ii is left on average;
 *   2. principal components of the centred Φ, the fewest whose left-out rest has Σλ² below `share`² Σλ²: under random
 *      labels T has variance 2Σλ² (times a constant), so that the rest stays below `share` of its standard deviation.
 * What is left out enters as its mean δ on the diagonal. A labelling then costs one row of additions for each of the
 * marked.                                                                           (docs/math/association.md §4)
 */
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";

const BLOCK = 8;

/** Centred features of n individuals; plain data. */
export interface LowRank {
  readonly n: number;
  /** A multiple of eight; the last columns may be zero. */
  readonly rank: number;
  /** [rank/8,n,8], each column with mean 0: eight columns of an individual are one line of the cache. */
  readonly rows: Float64Array;
  /** δ: mean of the centred kernel's diagonal that the features leave out. */
  readonly rest: number;
}

export interface LowRankOptions {
  readonly tolerance?: number;
  /** Most pivots. */
  readonly maxRank?: number;
  readonly share?: number;
}

/** Features of the centred kernel exp(−½|z_i − z_j|²) of z [n,q]; undefined where `maxRank` pivots do not suffice. */
export function gaussLowRank(z: Float64Array, n: number, q: number, options: LowRankOptions = {}): LowRank | undefined {
  const { tolerance = 0.002, maxRank = 200, share = 0.004 } = options;
  const columns = pivotedCholesky(z, n, q, tolerance, maxRank);
  if (columns === undefined) return undefined;
  // K̄, since what the pivots leave out has nearly no mean off its diagonal.
  let mean = 0;
  for (const column of columns) mean += center(column) ** 2;
  const R = columns.length;
  const gram = new Float64Array(R * R);
  for (let a = 0; a < R; a++) {
    for (let b = 0; b <= a; b++) {
      let s = 0;
      for (let i = 0; i < n; i++) s += columns[a][i] * columns[b][i];
      gram[a * R + b] = s;
      gram[b * R + a] = s;
    }
  }
  const { values, vectors } = symmetricEigen(gram, R);
  const order = [...values.keys()].sort((a, b) => values[b] - values[a]);
  const whole = values.reduce((s, v) => s + v * v, 0);
  let rank = R;
  for (let left = 0; rank > 1; rank--) {
    left += values[order[rank - 1]] ** 2;
    if (left > share * share * whole) break;
  }
  const padded = BLOCK * Math.ceil(rank / BLOCK);
  const rows = new Float64Array(n * padded);
  for (let k = 0; k < rank; k++) {
    const direction = order[k];
    const from = (k - (k % BLOCK)) * n + (k % BLOCK);
    for (let b = 0; b < R; b++) {
      const v = vectors[b * R + direction];
      const column = columns[b];
      for (let i = 0; i < n; i++) rows[from + BLOCK * i] += v * column[i];
    }
  }
  let told = 0;
  for (let k = 0; k < rows.length; k++) told += (rows[k] * rows[k]) / n;
  return { n, rank: padded, rows, rest: Math.max(0, 1 - mean - told) };
}

/** Columns φ [n] of K ≈ Σ φφ'; undefined if `maxRank` are too few. */
function pivotedCholesky(
  z: Float64Array,
  n: number,
  q: number,
  tolerance: number,
  maxRank: number,
): Float64Array[] | undefined {
  const left = new Float64Array(n).fill(1); // K_ii − Σ φ_i²
  const columns: Float64Array[] = [];
  for (let total = n; total > tolerance * n; ) {
    if (columns.length === Math.min(maxRank, n)) return undefined;
    let pivot = 0;
    for (let i = 1; i < n; i++) if (left[i] > left[pivot]) pivot = i;
    const root = Math.sqrt(left[pivot]);
    const column = new Float64Array(n);
    kernelColumn(z, n, q, pivot, column);
    for (const other of columns) {
      const v = other[pivot];
      for (let i = 0; i < n; i++) column[i] -= v * other[i];
    }
    total = 0;
    for (let i = 0; i < n; i++) {
      column[i] /= root;
      left[i] = Math.max(0, left[i] - column[i] * column[i]);
      total += left[i];
    }
    left[pivot] = 0;
    columns.push(column);
  }
  return columns;
}

/** exp(−½|z_i − z_p|²) for all i, into `out`. */
function kernelColumn(z: Float64Array, n: number, q: number, p: number, out: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let r = 0;
    for (let k = 0; k < q; k++) r += (z[i * q + k] - z[p * q + k]) ** 2;
    out[i] = Math.exp(-0.5 * r);
  }
}

/** Takes the mean out of x, and returns it. */
function center(x: Float64Array): number {
  let mean = 0;
  for (let i = 0; i < x.length; i++) mean += x[i] / x.length;
  for (let i = 0; i < x.length; i++) x[i] -= mean;
  return mean;
}

/** sums [rank] = Σ φ_i over members[0..count); eight columns at a time stay in registers. */
export function sumFeatures({ n, rank, rows }: LowRank, members: Int32Array, count: number, sums: Float64Array): void {
  for (let block = 0; block < rank; block += BLOCK) {
    const from = block * n;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    let s4 = 0;
    let s5 = 0;
    let s6 = 0;
    let s7 = 0;
    for (let k = 0; k < count; k++) {
      const at = from + (members[k] << 3);
      s0 += rows[at];
      s1 += rows[at + 1];
      s2 += rows[at + 2];
      s3 += rows[at + 3];
      s4 += rows[at + 4];
      s5 += rows[at + 5];
      s6 += rows[at + 6];
      s7 += rows[at + 7];
    }
    sums[block] = s0;
    sums[block + 1] = s1;
    sums[block + 2] = s2;
    sums[block + 3] = s3;
    sums[block + 4] = s4;
    sums[block + 5] = s5;
    sums[block + 6] = s6;
    sums[block + 7] = s7;
  }
}

/** φ_i'v for everyone, [n]; v [rank]. */
export function projectFeatures({ n, rank, rows }: LowRank, v: Float64Array): Float64Array {
  const out = new Float64Array(n);
  for (let k = 0; k < rank; k++) {
    const from = (k - (k % BLOCK)) * n + (k % BLOCK);
    for (let i = 0; i < n; i++) out[i] += rows[from + BLOCK * i] * v[k];
  }
  return out;
}
