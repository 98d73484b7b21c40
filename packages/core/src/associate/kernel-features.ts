/**
 * Two-sample statistics as lengths of sums of features. For labels a_i = 1/n₁ (marked) and −1/n₂ (others), which sum to
 * zero, and a kernel K of places,
 *   T = a'Ka;   with K ≈ ΦΦ' + diag(δ) and φ_i the centred rows of Φ:   T ≈ α² |Σ_marked φ_i|² + α δ̄,   α = 1/n₁ + 1/n₂,
 * so that a labelling costs one row of additions for each of the marked. Two kernels, for places x [n,q]:
 *   Gaussian  exp(−½|z_i − z_j|²), z the places in units of a bandwidth;
 *   energy    |x_i − c| + |x_j − c| − |x_i − x_j|, c the mean place: T is the energy distance, whatever c.
 * Φ is the incomplete Cholesky factor: the next pivot is the individual whose own kernel is explained least (the first of
 * equals), until a share of the diagonal is left or there are enough columns; δ is what is left of the diagonal. Up to
 * 300 individuals nothing is left. Features are plain data that can be sent to a thread.  (docs/math/association.md §4)
 */
import { squaredDistance } from "../numeric/matrix.ts";
import { columnMeans } from "../numeric/moments.ts";
import { rowSumsKernel } from "../wasm/row-sums.ts";
import { standardPlaces } from "./sample.ts";

/** K ≈ ΦΦ' + diag(δ). */
export interface KernelFeatures {
  readonly n: number;
  readonly rank: number;
  /** Φ [n,rank]. */
  readonly rows: Float64Array;
  /** δ [n]. */
  readonly rest: Float64Array;
}

/** What a statistic T needs of a kernel. */
export interface TestFeatures {
  readonly n: number;
  /** A multiple of eight; the last columns may be zero. */
  readonly rank: number;
  /** Φ with columns of mean 0, [rank/8,n,8]: eight columns of an individual are one line of the cache. */
  readonly rows: Float64Array;
  /** δ̄. */
  readonly rest: number;
  /** Mean diagonal of the centred kernel: α times this is the mean of T over all labellings, nearly. */
  readonly diagonal: number;
}

const BLOCK = 8;
/** Up to this many individuals the factor is complete. */
const COMPLETE = 300;
/** Above, columns are added until this share of the diagonal is left, */
const LEFT = 0.002;
/** or there are so many; the energy kernel always gets these. */
const MOST_COLUMNS = 128;

/** Features of the Gaussian kernel of places z [n,q] in bandwidths. */
export function gaussFeatures(z: Float64Array, n: number, q: number): KernelFeatures {
  return incompleteCholesky(new Float64Array(n).fill(1), (p, i) => Math.exp(-0.5 * squaredDistance(z, p, i, q)));
}

/** Features of the Gaussian kernel whose bandwidth is the covariance of the places x [n,q]: the statistic of the test. */
export function wideFeatures(x: Float64Array, q: number): TestFeatures {
  return testFeatures(gaussFeatures(standardPlaces(x, q), x.length / q, q));
}

/** Features of the energy kernel of places x [n,q]. */
export function energyFeatures(x: Float64Array, n: number, q: number): KernelFeatures {
  const center = columnMeans(x, n, q);
  const radius = Float64Array.from({ length: n }, (_, i) => {
    let r = 0;
    for (let k = 0; k < q; k++) r += (x[i * q + k] - center[k]) ** 2;
    return Math.sqrt(r);
  });
  const kernel = (p: number, i: number) => radius[p] + radius[i] - Math.sqrt(squaredDistance(x, p, i, q));
  return incompleteCholesky(
    radius.map((r) => 2 * r),
    kernel,
  );
}

/** The features of T: columns of mean zero, one δ for all. */
export function testFeatures({ n, rank, rows, rest }: KernelFeatures): TestFeatures {
  const means = columnMeans(rows, n, rank);
  const numBlocks = Math.ceil(rank / BLOCK);
  const centred = new Float64Array(numBlocks * n * BLOCK);
  let squares = 0;
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < rank; r++) {
      const v = rows[i * rank + r] - means[r];
      squares += v * v;
      centred[(Math.floor(r / BLOCK) * n + i) * BLOCK + (r % BLOCK)] = v;
    }
  }
  const left = rest.reduce((s, v) => s + v, 0) / n;
  return { n, rank: numBlocks * BLOCK, rows: centred, rest: left, diagonal: left + squares / n };
}

/** T as a function of the marked; sums are taken in WebAssembly where it is to be had, with the same bits. */
export function statisticOf(features: TestFeatures): (members: Int32Array) => number {
  const { n, rank, rows, rest } = features;
  const sums = new Float64Array(rank);
  const sum = rowSumsKernel(rows, n, rank) ?? ((members, out) => sumRows(features, members, out));
  return (members) => {
    sum(members, sums);
    let s = 0;
    for (let r = 0; r < rank; r++) s += sums[r] * sums[r];
    const alpha = 1 / members.length + 1 / (n - members.length);
    return alpha * (alpha * s + rest);
  };
}

/** sums [rank] = Σ φ_i over members. */
export function sumRows({ n, rank, rows }: TestFeatures, members: Int32Array, sums: Float64Array): void {
  sums.fill(0);
  for (let first = 0; first < rank; first += BLOCK) {
    for (const i of members) {
      const at = first * n + i * BLOCK;
      for (let c = 0; c < BLOCK; c++) sums[first + c] += rows[at + c];
    }
  }
}

/** K c for the labelling c that marks `members`: how much of the kernel around each individual is theirs, [n]. */
export function kernelSums({ n, rank, rows, rest }: KernelFeatures, members: Int32Array): Float64Array {
  const sums = new Float64Array(rank);
  for (const j of members) for (let r = 0; r < rank; r++) sums[r] += rows[j * rank + r];
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let r = 0; r < rank; r++) out[i] += rows[i * rank + r] * sums[r];
  for (const i of members) out[i] += rest[i];
  return out;
}

/** Φ and δ of the kernel with the given diagonal [n], which is overwritten. */
function incompleteCholesky(diagonal: Float64Array, kernel: (p: number, i: number) => number): KernelFeatures {
  const n = diagonal.length;
  const [most, least] = n <= COMPLETE ? [n, 1e-14] : [MOST_COLUMNS, LEFT];
  const enough = least * diagonal.reduce((s, v) => s + v, 0);
  const columns: Float64Array[] = [];
  for (let left = Number.POSITIVE_INFINITY; columns.length < most && left > enough; ) {
    let pivot = 0;
    for (let i = 1; i < n; i++) if (diagonal[i] > diagonal[pivot]) pivot = i;
    const root = Math.sqrt(diagonal[pivot]);
    const column = new Float64Array(n);
    for (let i = 0; i < n; i++) column[i] = kernel(pivot, i);
    for (const other of columns) {
      const v = other[pivot];
      for (let i = 0; i < n; i++) column[i] -= v * other[i];
    }
    left = 0;
    for (let i = 0; i < n; i++) {
      column[i] /= root;
      diagonal[i] = i === pivot ? 0 : Math.max(0, diagonal[i] - column[i] * column[i]);
      left += diagonal[i];
    }
    columns.push(column);
  }
  const rank = columns.length;
  const rows = new Float64Array(n * rank);
  for (const [r, column] of columns.entries()) for (let i = 0; i < n; i++) rows[i * rank + r] = column[i];
  return { n, rank, rows, rest: diagonal };
}
