/**
 * Sums of a Gaussian kernel over all pairs in linear time. A Gaussian is a narrower one convolved with itself,
 *   exp(−½(a − b)²) = √(2/π) ∫ e^{−(t−a)²} e^{−(t−b)²} dt,
 * and the trapezoid rule with step δ replaces the integral up to a relative error of 2 exp(−π²/(2δ²)): the kernel is the
 * inner product of two short rows of weights on a lattice. So each individual gets a feature vector φ_i of taps^q cells
 * with φ_i'φ_j ≈ exp(−½|z_i − z_j|²), and a sum over pairs becomes the inner product of two sums of features.
 * Places z [n,q] are in units of the bandwidth.                                    (docs/math/association.md §3)
 */

/**
 * Cells around places z [n,q]: each place touches `taps` neighbouring cells along every axis, a block of taps^q cells made
 * of rows = taps^(q−1) runs of `taps` consecutive ones.
 */
interface GridLayout {
  readonly n: number;
  readonly q: number;
  /** Distance of neighbouring cells in bandwidths. */
  readonly step: number;
  readonly taps: number;
  readonly rows: number;
  readonly numCells: number;
  /** First cell of each run, [n,rows]; the leading axes' taps in order, first axis slowest. */
  readonly offsets: Int32Array;
}

/** Features of all individuals: cell `t` of run `r` of individual i weighs weights[i,r] · weights[i,rows+t]. */
export interface GridFeatures {
  readonly layout: GridLayout;
  /** Weights of the runs, then of the taps along the last axis, [n,rows+taps]. */
  readonly weights: Float64Array;
}

/** Error of a pair below 1e-14, 2e-8, 1e-5 in one, two, three dimensions. */
const ACCURACY = [
  { step: 0.35, taps: 35 },
  { step: 0.5, taps: 19 },
  { step: 0.6, taps: 15 },
] as const;
/** Individuals up to which sums over pairs are as well taken pair by pair. */
const FEW = 3000;
/** Most cells of the box around all places. */
const MOST_CELLS = 2 ** 22;

/** Features with φ_i'φ_j ≈ exp(−½|z_i − z_j|²), for z [n,q] in bandwidths; undefined where pairs are better summed. */
export function gridFeatures(z: Float64Array, n: number, q: number, few = FEW): GridFeatures | undefined {
  const layout = gridLayout(z, n, q, few);
  if (layout === undefined) return undefined;
  const axes = Array.from({ length: q }, (_, a) => axisWeights(layout, z, a, bell));
  const scale = Math.sqrt(layout.step * Math.sqrt(2 / Math.PI));
  for (const axis of axes) for (let k = 0; k < axis.length; k++) axis[k] *= scale;
  return productFeatures(layout, axes);
}

/**
 * ∫ ∇F∇F' [q,q] for F(t) = Σ_i exp(−|t − z_i|²): the integral of the outer product of the gradient of an unnormalised
 * density estimate; undefined where pairs are better summed.
 */
export function gradientOuterIntegral(z: Float64Array, n: number, q: number, few = FEW): Float64Array | undefined {
  const layout = gridLayout(z, n, q, few);
  if (layout === undefined) return undefined;
  const bells = Array.from({ length: q }, (_, a) => axisWeights(layout, z, a, bell));
  const gradients = bells.map((_, a) => {
    const axes = bells.map((weights, b) => (a === b ? axisWeights(layout, z, a, bellSlope) : weights));
    return sumFeatures(productFeatures(layout, axes), 0, n);
  });
  const volume = layout.step ** q;
  const out = new Float64Array(q * q);
  for (let a = 0; a < q; a++) {
    for (let b = 0; b < q; b++) out[a * q + b] = volume * innerProduct(gradients[a], gradients[b]);
  }
  return out;
}

/** Sum of the features of individuals from..to−1, [numCells]. */
export function sumFeatures({ layout, weights }: GridFeatures, from: number, to: number): Float64Array {
  const { rows, taps, offsets, numCells } = layout;
  const cells = new Float64Array(numCells);
  for (let i = from; i < to; i++) {
    const run = i * (rows + taps);
    const last = run + rows;
    for (let r = 0; r < rows; r++) {
      const a = weights[run + r];
      const o = offsets[i * rows + r];
      for (let t = 0; t < taps; t++) cells[o + t] += a * weights[last + t];
    }
  }
  return cells;
}

/** x'y. */
export function innerProduct(x: Float64Array, y: Float64Array): number {
  let s = 0;
  for (let c = 0; c < x.length; c++) s += x[c] * y[c];
  return s;
}

/** Lays out the cells around places z [n,q]; undefined for few, for q > 3, and where outliers make the box too large. */
function gridLayout(z: Float64Array, n: number, q: number, few: number): GridLayout | undefined {
  if (n <= few || q > ACCURACY.length) return undefined;
  const { step, taps } = ACCURACY[q - 1];
  const first = Float64Array.from(z, (v) => firstTap(v, step, taps));
  const low = new Float64Array(q).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(q).fill(Number.NEGATIVE_INFINITY);
  for (let k = 0; k < n * q; k++) {
    low[k % q] = Math.min(low[k % q], first[k]);
    high[k % q] = Math.max(high[k % q], first[k]);
  }
  const size = high.map((v, a) => v - low[a] + taps);
  const numCells = size.reduce((product, s) => product * s, 1);
  if (numCells > MOST_CELLS) return undefined;
  const rows = taps ** (q - 1);
  const offsets = new Int32Array(n * rows);
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < rows; r++) {
      // The taps along the leading axes are the digits of r in base `taps`.
      let start = 0;
      for (let a = 0; a < q; a++) {
        const tap = a < q - 1 ? Math.floor(r / taps ** (q - 2 - a)) % taps : 0;
        start = start * size[a] + (first[i * q + a] - low[a] + tap);
      }
      offsets[i * rows + r] = start;
    }
  }
  return { n, q, step, taps, rows, numCells, offsets };
}

/** First tap of a coordinate, in steps: taps reach taps/2 − 1 to taps/2 steps to either side. */
function firstTap(z: number, step: number, taps: number): number {
  return Math.floor(z / step - taps / 2) + 1;
}

const bell = (u: number) => Math.exp(-u * u);
const bellSlope = (u: number) => -2 * u * Math.exp(-u * u);

/** Weights of one axis, [n,taps]: `shape` of the distance in bandwidths from the individual to each tap. */
function axisWeights(layout: GridLayout, z: Float64Array, axis: number, shape: (u: number) => number): Float64Array {
  const { n, q, step, taps } = layout;
  const out = new Float64Array(n * taps);
  for (let i = 0; i < n; i++) {
    const at = z[i * q + axis];
    const first = firstTap(at, step, taps);
    for (let t = 0; t < taps; t++) out[i * taps + t] = shape((first + t) * step - at);
  }
  return out;
}

/** Multiplies the leading axes' weights into one weight per run. */
function productFeatures(layout: GridLayout, axes: readonly Float64Array[]): GridFeatures {
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
