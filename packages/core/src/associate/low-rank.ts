/**
 * A kernel matrix by few features: K ≈ ΦΦ', Φ [n,r], from the pivoted incomplete Cholesky factorisation. The next pivot
 * is the individual whose own kernel is explained least (the first of equals), and it ends when on average a share
 * `tolerance` of K_ii is left. A kernel as wide as the places themselves needs 10, 30 to 50, 100 to 150 features in one,
 * two, three dimensions; a labelling then costs r additions for each of the marked.   (docs/math/association.md §4)
 */

/** Features of n individuals, [n,rank] row-major; plain data. */
export interface LowRank {
  readonly n: number;
  readonly rank: number;
  readonly rows: Float64Array;
}

/** Features of the Gaussian kernel exp(−½|z_i − z_j|²) of z [n,q]; undefined where `maxRank` do not suffice. */
export function gaussLowRank(
  z: Float64Array,
  n: number,
  q: number,
  { tolerance = 0.002, maxRank = 200 }: { readonly tolerance?: number; readonly maxRank?: number } = {},
): LowRank | undefined {
  const left = new Float64Array(n).fill(1); // K_ii − φ_i'φ_i
  const columns: Float64Array[] = [];
  for (let total = n; total > tolerance * n; ) {
    if (columns.length === Math.min(maxRank, n)) return undefined;
    let pivot = 0;
    for (let i = 1; i < n; i++) if (left[i] > left[pivot]) pivot = i;
    const root = Math.sqrt(left[pivot]);
    const column = new Float64Array(n);
    total = 0;
    for (let i = 0; i < n; i++) {
      let r = 0;
      for (let k = 0; k < q; k++) r += (z[i * q + k] - z[pivot * q + k]) ** 2;
      let s = Math.exp(-0.5 * r);
      for (const other of columns) s -= other[i] * other[pivot];
      column[i] = s / root;
      left[i] = Math.max(0, left[i] - column[i] * column[i]);
      total += left[i];
    }
    left[pivot] = 0;
    columns.push(column);
  }
  const rank = columns.length;
  const rows = new Float64Array(n * rank);
  for (let i = 0; i < n; i++) for (let k = 0; k < rank; k++) rows[i * rank + k] = columns[k][i];
  return { n, rank, rows };
}

/** sums [rank] = Σ φ_i over members[0..count). */
export function sumFeatures({ rank, rows }: LowRank, members: Int32Array, count: number, sums: Float64Array): void {
  sums.fill(0);
  for (let k = 0; k < count; k++) {
    const from = Math.imul(members[k], rank);
    for (let c = 0; c < rank; c = (c + 1) | 0) sums[c] += rows[(from + c) | 0];
  }
}
