/**
 * Sums of a Gaussian kernel over all pairs in linear time. A Gaussian is a narrower one convolved with itself,
 *   exp(−½(a − b)²) = √(2/π) ∫ e^{−(t−a)²} e^{−(t−b)²} dt,
 * and the trapezoid rule with step δ replaces the integral up to a relative error of 2 exp(−π²/(2δ²)): the kernel is the
 * inner product of two short rows of weights on a lattice. So each individual gets a feature vector φ_i of taps^q cells
 * with φ_i'φ_j ≈ exp(−½|z_i − z_j|²), and a sum over pairs becomes the inner product of two sums of features.
 * Places z [n,q] are in units of the bandwidth. Cells that nobody touches are left out if they are many.
 */

/** Where the features of each individual lie: runs of `taps` consecutive cells, `rows` = taps^(q−1) runs each. */
export interface GridLayout {
  readonly n: number;
  readonly q: number;
  /** Distance of neighbouring cells in bandwidths. */
  readonly step: number;
  readonly taps: number;
  readonly rows: number;
  readonly numCells: number;
  /** First tap along each axis, in steps, [n,q]. */
  readonly first: Float64Array;
  /** First cell of each run, [n,rows]; the leading axes' taps in order, first axis slowest. */
  readonly offsets: Int32Array;
}

/** Features of all individuals: cell `t` of run `r` of individual i weighs weights[i,r] · weights[i,rows+t]. */
export interface GridFeatures {
  readonly layout: GridLayout;
  /** Weights of the runs, then of the taps along the last axis, [n,rows+taps]. */
  readonly weights: Float64Array;
}

export interface GridAccuracy {
  /** Distance of neighbouring cells in bandwidths. */
  readonly step: number;
  /** Cells along each axis that an individual touches. */
  readonly taps: number;
}

/** As good as the direct sum for any use: error of a pair below 1e-15, 1e-8, 1e-5 in one, two, three dimensions. */
export function fineAccuracy(q: number): GridAccuracy {
  if (q === 1) return { step: 0.35, taps: 35 };
  return q === 2 ? { step: 0.5, taps: 19 } : { step: 0.6, taps: 15 };
}

/** Error of a permutation statistic below 1 % of its null standard deviation (docs/math/association.md §4). */
export const COARSE: GridAccuracy = { step: 0.8, taps: 6 };

/** Renumbering the cells so that only touched ones count pays off when there are more than this for each run. */
const DENSE_CELLS_PER_RUN = 4;

/** Features with φ_i'φ_j ≈ exp(−½|z_i − z_j|²) and φ_i'φ_i = 1, for z [n,q] in bandwidths. */
export function gaussFeatures(z: Float64Array, n: number, q: number, accuracy: GridAccuracy): GridFeatures {
  const layout = gridLayout(z, n, q, accuracy);
  const axes = Array.from({ length: q }, (_, a) => unitRows(axisWeights(layout, z, a, bell), n, layout.taps));
  return gridFeatures(layout, axes);
}

/**
 * Sums over cells of ∂_a F ∂_b F [q,q] for F(t) = Σ_i exp(−|t − z_i|²), times the cell volume: the integral of the outer
 * product of the gradient of an unnormalised density estimate.
 */
export function gradientOuterIntegral(z: Float64Array, n: number, q: number): Float64Array {
  const layout = gridLayout(z, n, q, fineAccuracy(q));
  const bells = Array.from({ length: q }, (_, a) => axisWeights(layout, z, a, bell));
  const gradients = bells.map((_, a) => {
    const axes = bells.map((weights, b) => (a === b ? axisWeights(layout, z, a, bellSlope) : weights));
    return sumFeatures(gridFeatures(layout, axes));
  });
  const volume = layout.step ** q;
  const out = new Float64Array(q * q);
  for (let a = 0; a < q; a++) {
    for (let b = 0; b < q; b++) out[a * q + b] = volume * innerProduct(gradients[a], gradients[b]);
  }
  return out;
}

/** Sum of the features of some individuals (default all), [numCells]. */
export function sumFeatures(features: GridFeatures, members: Int32Array = everyone(features.layout.n)): Float64Array {
  const cells = new Float64Array(features.layout.numCells);
  addFeatures(features, members, 0, members.length, cells);
  return cells;
}

const everyone = (n: number) => Int32Array.from({ length: n }, (_, i) => i);

/** x'y. */
export function innerProduct(x: Float64Array, y: Float64Array): number {
  let s = 0;
  for (let c = 0; c < x.length; c++) s += x[c] * y[c];
  return s;
}

/** cells += Σ φ_i over members[from..to). */
export function addFeatures(
  features: GridFeatures,
  members: Int32Array,
  from: number,
  to: number,
  cells: Float64Array,
): void {
  const { layout, weights } = features;
  const { rows, taps, offsets } = layout;
  if (taps === 6) {
    addSixTaps(offsets, weights, rows, members, from, to, cells);
    return;
  }
  for (let k = from; k < to; k++) {
    const i = members[k];
    const run = i * (rows + taps);
    const last = run + rows;
    for (let r = 0; r < rows; r++) {
      const a = weights[run + r];
      const o = offsets[i * rows + r];
      for (let t = 0; t < taps; t++) cells[o + t] += a * weights[last + t];
    }
  }
}

/** φ_i' cells. */
export function featureProduct(features: GridFeatures, i: number, cells: Float64Array): number {
  const { layout, weights } = features;
  const { rows, taps, offsets } = layout;
  const run = i * (rows + taps);
  const last = run + rows;
  let s = 0;
  for (let r = 0; r < rows; r++) {
    const o = offsets[i * rows + r];
    let product = 0;
    for (let t = 0; t < taps; t++) product += cells[o + t] * weights[last + t];
    s += weights[run + r] * product;
  }
  return s;
}

/**
 * `addFeatures` for six taps: the inner loop of the permutations, with the last axis's weights in registers. `| 0` tells
 * the engine that indices are 32-bit integers, which is a fifth faster.
 */
function addSixTaps(
  offsets: Int32Array,
  weights: Float64Array,
  rows: number,
  members: Int32Array,
  from: number,
  to: number,
  cells: Float64Array,
): void {
  for (let k = from; k < to; k++) {
    const i = members[k];
    const run = Math.imul(i, rows + 6);
    const last = (run + rows) | 0;
    const first = Math.imul(i, rows);
    const w0 = weights[last];
    const w1 = weights[(last + 1) | 0];
    const w2 = weights[(last + 2) | 0];
    const w3 = weights[(last + 3) | 0];
    const w4 = weights[(last + 4) | 0];
    const w5 = weights[(last + 5) | 0];
    for (let r = 0; r < rows; r = (r + 1) | 0) {
      const a = weights[(run + r) | 0];
      const o = offsets[(first + r) | 0];
      cells[o] += a * w0;
      cells[(o + 1) | 0] += a * w1;
      cells[(o + 2) | 0] += a * w2;
      cells[(o + 3) | 0] += a * w3;
      cells[(o + 4) | 0] += a * w4;
      cells[(o + 5) | 0] += a * w5;
    }
  }
}

const bell = (u: number) => Math.exp(-u * u);
const bellSlope = (u: number) => -2 * u * Math.exp(-u * u);

/** Places every individual's taps around it and numbers the cells. */
function gridLayout(z: Float64Array, n: number, q: number, { step, taps }: GridAccuracy): GridLayout {
  const first = new Float64Array(n * q);
  const low = new Float64Array(q).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(q).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < q; a++) {
      const f = Math.floor(z[i * q + a] / step - taps / 2) + 1;
      first[i * q + a] = f;
      low[a] = Math.min(low[a], f);
      high[a] = Math.max(high[a], f);
    }
  }
  const rows = taps ** (q - 1);
  const starts = new Float64Array(n * rows);
  const size = Array.from({ length: q }, (_, a) => high[a] - low[a] + taps);
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < rows; r++) starts[i * rows + r] = denseStart(first, low, size, i * q, q, taps, r);
  }
  const dense = size.reduce((product, s) => product * s, 1);
  if (taps !== COARSE.taps && dense <= DENSE_CELLS_PER_RUN * starts.length) {
    return { n, q, step, taps, rows, numCells: dense, first, offsets: Int32Array.from(starts) };
  }
  return { n, q, step, taps, rows, first, ...touchedCells(starts, taps) };
}

/** Dense number of the first cell of run r: its taps along the leading axes are the digits of r in base `taps`. */
function denseStart(
  first: Float64Array,
  low: Float64Array,
  size: readonly number[],
  at: number,
  q: number,
  taps: number,
  r: number,
): number {
  let start = 0;
  let digit = taps ** (q - 1);
  let rest = r;
  for (let a = 0; a < q; a++) {
    digit /= taps;
    const tap = a < q - 1 ? Math.floor(rest / digit) : 0;
    if (a < q - 1) rest -= tap * digit;
    start = start * size[a] + (first[at + a] - low[a] + tap);
  }
  return start;
}

/** Numbers only the cells inside some run: runs that overlap share an interval, intervals follow each other. */
function touchedCells(starts: Float64Array, taps: number): { readonly numCells: number; readonly offsets: Int32Array } {
  const sorted = starts.slice().sort();
  const from: number[] = [];
  const base: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  let numCells = 0;
  for (const start of sorted) {
    if (start > end) {
      from.push(start);
      base.push(numCells);
      numCells += taps;
      end = start + taps;
    } else if (start + taps > end) {
      numCells += start + taps - end;
      end = start + taps;
    }
  }
  const offsets = new Int32Array(starts.length);
  for (let k = 0; k < starts.length; k++) {
    let lo = 0;
    let hi = from.length - 1;
    while (lo < hi) {
      const middle = (lo + hi + 1) >> 1;
      if (from[middle] <= starts[k]) lo = middle;
      else hi = middle - 1;
    }
    offsets[k] = base[lo] + starts[k] - from[lo];
  }
  return { numCells, offsets };
}

/** Weights of one axis, [n,taps]: `shape` of the distance in bandwidths from the individual to each tap. */
function axisWeights(layout: GridLayout, z: Float64Array, axis: number, shape: (u: number) => number): Float64Array {
  const { n, q, step, taps, first } = layout;
  const out = new Float64Array(n * taps);
  for (let i = 0; i < n; i++) {
    for (let t = 0; t < taps; t++) out[i * taps + t] = shape((first[i * q + axis] + t) * step - z[i * q + axis]);
  }
  return out;
}

/** Scales each row of weights to unit length, which takes most of the truncation away. */
function unitRows(weights: Float64Array, n: number, taps: number): Float64Array {
  for (let i = 0; i < n; i++) {
    let s = 0;
    for (let t = i * taps; t < (i + 1) * taps; t++) s += weights[t] * weights[t];
    const scale = 1 / Math.sqrt(s);
    for (let t = i * taps; t < (i + 1) * taps; t++) weights[t] *= scale;
  }
  return weights;
}

/** Multiplies the leading axes' weights into one weight per run. */
function gridFeatures(layout: GridLayout, axes: readonly Float64Array[]): GridFeatures {
  const { n, q, taps, rows } = layout;
  const weights = new Float64Array(n * (rows + taps));
  for (let i = 0; i < n; i++) {
    const at = i * (rows + taps);
    for (let r = 0; r < rows; r++) {
      let product = 1;
      let rest = r;
      for (let a = q - 2; a >= 0; a--) {
        product *= axes[a][i * taps + (rest % taps)];
        rest = Math.floor(rest / taps);
      }
      weights[at + r] = product;
    }
    for (let t = 0; t < taps; t++) weights[at + rows + t] = axes[q - 1][i * taps + t];
  }
  return { layout, weights };
}
