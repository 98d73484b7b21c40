/**
 * Sums of a Gaussian kernel over all pairs in linear time. A Gaussian is a narrower one convolved with itself,
 *   exp(−½(a − b)²) = √(2/π) ∫ e^{−(t−a)²} e^{−(t−b)²} dt,
 * and the trapezoid rule with step δ replaces the integral up to a relative error of 2 exp(−π²/(2δ²)): the kernel is the
 * inner product of two short rows of weights on a lattice. So each individual is spread over taps^q cells, and a sum over
 * pairs becomes the inner product of two sums of cells. Places z [n,q] are in units of the bandwidth.
 * (docs/math/association.md §11)
 */
import { dot } from "../numeric/matrix.ts";

/** Distance of neighbouring cells, and how many a place touches along an axis. Error of a pair: 1e-14, 2e-8, 1e-5. */
const ACCURACY = [
  { step: 0.35, taps: 35 },
  { step: 0.5, taps: 19 },
  { step: 0.6, taps: 15 },
] as const;
/** Individuals up to which sums over pairs are as well taken pair by pair. */
const FEW = 3000;
/** Most cells of the box around all places. */
const MOST_CELLS = 2 ** 22;

/** A box of cells, first axis slowest. */
interface Grid {
  readonly step: number;
  readonly taps: number;
  /** First cell of the box along each axis, in steps, and how many there are. */
  readonly low: readonly number[];
  readonly size: readonly number[];
}

/**
 * Σ exp(−½|z_i − z_j|²) over i, j < own, and over i < own ≤ j, for places z [n,q]; undefined for few, for q > 3 and where
 * outliers make the box too large: there pairs are better summed.
 */
export function gridPairSums(
  z: Float64Array,
  q: number,
  own: number,
  few = FEW,
): { readonly within: number; readonly across: number } | undefined {
  const grid = gridAround(z, q, few);
  if (grid === undefined) return undefined;
  const bells = new Array(q).fill(bell);
  const first = spread(grid, z.subarray(0, own * q), bells);
  const others = spread(grid, z.subarray(own * q), bells);
  const scale = (grid.step * Math.sqrt(2 / Math.PI)) ** q;
  return { within: scale * dot(first, first), across: scale * dot(first, others) };
}

/**
 * ∫ ∇F∇F' [q,q] for F(t) = Σ_i exp(−|t − z_i|²): the integral of the outer product of the gradient of an unnormalised
 * density estimate; undefined where pairs are better summed.
 */
export function gradientOuterIntegral(z: Float64Array, q: number, few = FEW): Float64Array | undefined {
  const grid = gridAround(z, q, few);
  if (grid === undefined) return undefined;
  const axes = Array.from({ length: q }, (_, a) => a);
  const gradients = axes.map((a) =>
    spread(
      grid,
      z,
      axes.map((b) => (a === b ? bellSlope : bell)),
    ),
  );
  const volume = grid.step ** q;
  return Float64Array.from(axes.flatMap((a) => axes.map((b) => volume * dot(gradients[a], gradients[b]))));
}

type Shape = (u: number) => number;
const bell: Shape = (u) => Math.exp(-u * u);
const bellSlope: Shape = (u) => -2 * u * Math.exp(-u * u);

/** The box of cells that places z [n,q] touch. */
function gridAround(z: Float64Array, q: number, few: number): Grid | undefined {
  if (z.length <= few * q || q > ACCURACY.length) return undefined;
  const { step, taps } = ACCURACY[q - 1];
  const low = new Array<number>(q).fill(Number.POSITIVE_INFINITY);
  const high = new Array<number>(q).fill(Number.NEGATIVE_INFINITY);
  for (let k = 0; k < z.length; k++) {
    const first = firstTap(z[k], step, taps);
    low[k % q] = Math.min(low[k % q], first);
    high[k % q] = Math.max(high[k % q], first);
  }
  const size = high.map((v, a) => v - low[a] + taps);
  return size.reduce((cells, s) => cells * s, 1) > MOST_CELLS ? undefined : { step, taps, low, size };
}

/** First tap of a coordinate, in steps: taps reach taps/2 − 1 to taps/2 steps to either side. */
function firstTap(z: number, step: number, taps: number): number {
  return Math.floor(z / step - taps / 2) + 1;
}

/** Σ_i Π_a shape_a(t_a − z_ia) at every cell t of the box, for places z [n,q]. */
function spread({ step, taps, low, size }: Grid, z: Float64Array, shapes: readonly Shape[]): Float64Array {
  const q = shapes.length;
  const cells = new Float64Array(size.reduce((product, s) => product * s, 1));
  const weights = new Float64Array(q * taps);
  const runs = taps ** (q - 1);
  for (let i = 0; i < z.length; i += q) {
    let corner = 0;
    for (let a = 0; a < q; a++) {
      const first = firstTap(z[i + a], step, taps);
      corner = corner * size[a] + (first - low[a]);
      for (let t = 0; t < taps; t++) weights[a * taps + t] = shapes[a]((first + t) * step - z[i + a]);
    }
    // The taps along the leading axes are the digits of r in base `taps`; along the last they are neighbours.
    for (let r = 0; r < runs; r++) {
      let [product, start, rest, stride] = [1, corner, r, size[q - 1]];
      for (let a = q - 2; a >= 0; a--) {
        const tap = rest % taps;
        product *= weights[a * taps + tap];
        start += tap * stride;
        stride *= size[a];
        rest = Math.floor(rest / taps);
      }
      const last = (q - 1) * taps;
      for (let t = 0; t < taps; t++) cells[start + t] += product * weights[last + t];
    }
  }
  return cells;
}
