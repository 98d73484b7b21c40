/**
 * Weights of all nodes of a mixture for one individual after the other, in WebAssembly (packages/core/assembly/placing.ts):
 * the densities of mixture.ts and the sums that a place is made of, without a posterior that is kept.
 *
 * G of rank r is determined by r of its rows and columns, P (those of the largest pivots). With F = G_PP⁻¹G_P· [r,d],
 *   F_P = I,   Fw + noise N(0, σ²G_PP⁻¹) = G_PP⁻¹g_P =: h,
 * is all that the observations say of w, so per node V = FΣ_gF' + N and e = h − Fm_g, where entries of FΣF' have few terms:
 * one for r = d, four for r = d − 1. Where G_PP is close to singular, F = R and N = σ²I of mixture.ts take their place.
 * With y_g = V⁻¹e and weights w_g summing to one,
 *   E[w | y] = Σ_g w_g m_g + Σ_a M_a F_a,   M_a = Σ_g w_g y_ga Σ_g,
 * so that the means of the coefficients come from sums over nodes as well.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { createKernelInstance, type KernelInstance } from "../../wasm/instance.ts";
import { TILE, tileCount, toTiles } from "../../wasm/tiles.ts";
import type { CoefficientMixture } from "./mixture.ts";

/** Views on the memory of one instance, and scratch. */
export interface NodeWeigher {
  readonly instance: KernelInstance;
  readonly mixture: CoefficientMixture;
  readonly numColumns: number;
  readonly context: Int32Array;
  /** R [r,d] with G = R'R and R^{-T}g [r]; σ² [1]. */
  readonly roots: Float64Array;
  readonly heights: Float64Array;
  readonly noise: Float64Array;
  readonly frame: Frame;
  readonly means: Float64Array; // m_g [tile][d][4]
  readonly active: Int32Array; // tiles with any weight
  /** Weights of the nodes up to a factor, zero where they are light, [Γ] and padding. */
  readonly weights: Float64Array;
  readonly totals: Float64Array; // largest exponent, Σ, Σ of those kept
  readonly sums: Float64Array;
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly pivots: Int32Array; // [d]
}

/** Places in the context that change. */
const RANK = 1;
const SOLVES = 5;

/** F, h and N as the kernel reads them. */
interface Frame {
  readonly functionals: Float64Array; // F [r,d]
  readonly heights: Float64Array; // h [r]
  readonly floors: Float64Array; // pivots of N [r]
  readonly noise: Float64Array; // N, packed rows
  readonly ends: Int32Array;
  readonly offsets: Int32Array;
  readonly terms: Float64Array;
  readonly factor: Float64Array; // scratch [d,d]
}

/** Room in the memory of a weigher for what else its instance is to hold. */
export interface Reserve {
  readonly entries: number;
  readonly buffers: number;
}

/** A weigher for a mixture; `columns` [numColumns,Γ] are the functions of a node whose posterior means are wanted. */
export function createNodeWeigher(
  mixture: CoefficientMixture,
  columns: Float64Array,
  reserve: Reserve = { entries: 0, buffers: 0 },
): NodeWeigher {
  const { numBasis: d, numNodes: n } = mixture;
  const numPacked = (d * (d + 1)) / 2;
  const numColumns = columns.length / n;
  const tiles = tileCount(n);
  const numTerms = numPacked * numPacked + d * d;
  const entries =
    64 + d * d + 6 * d + 2 * numTerms + 6 * numPacked + 4 * d + 8 + numColumns + d * numPacked + tiles * TILE * 4;
  const tables = tiles * TILE * (numPacked + numColumns + 2 * d);
  const instance = createKernelInstance(entries + tables + reserve.entries, 28 + reserve.buffers);
  const { doubles, integers } = instance;
  const context = integers(24);
  const views = {
    covariances: doubles(tiles * numPacked * TILE),
    means: doubles(tiles * d * TILE),
    columns: doubles(tiles * numColumns * TILE),
    logPrior: doubles(tiles * TILE).fill(Number.NEGATIVE_INFINITY),
    heights: doubles(d),
    floors: doubles(d),
    noise: doubles(numPacked),
    ends: integers(numPacked + d),
    offsets: integers(numTerms),
    terms: doubles(numTerms),
    factor: doubles(4 * numPacked),
    residuals: doubles(4 * d),
    // V⁻¹e, which only sums over nodes need.
    solved: doubles(numColumns > 0 ? tiles * d * TILE : 0),
    weights: doubles(tiles * TILE),
    scales: doubles(tiles * TILE),
    active: integers(tiles),
    totals: doubles(3),
    sums: doubles(numColumns + d * numPacked),
  };
  toTiles(transpose(mixture.packedCovariances, n, numPacked), numPacked, n, views.covariances);
  toTiles(transpose(mixture.means, n, d), d, n, views.means);
  toTiles(columns, numColumns, n, views.columns);
  views.logPrior.set(mixture.logWeights);
  const solves = numColumns > 0 ? 1 : 0;
  context.set([d, 0, tiles, numPacked, numColumns, solves, ...Object.values(views).map((view) => view.byteOffset)]);
  const { heights, floors, noise, ends, offsets, terms, means, active, weights, totals, sums } = views;
  const functionals = new Float64Array(d * d);
  const frame = { functionals, heights, floors, noise, ends, offsets, terms, factor: new Float64Array(d * d) };
  return {
    instance,
    mixture,
    numColumns,
    context,
    noise: doubles(1).fill(mixture.noiseVariance),
    roots: doubles(d * d),
    heights: doubles(d),
    frame,
    means,
    active,
    weights,
    totals,
    sums,
    G: new Float64Array(d * d),
    g: new Float64Array(d),
    pivots: new Int32Array(d),
  };
}

/** What is known of an individual once the nodes are weighed. */
export interface Weighed {
  readonly logLikelihood: number;
  /** r. */
  readonly rank: number;
  /** How many tiles have any weight; `active` lists them. */
  readonly count: number;
}

/** Weighs the nodes for one individual: R, h and weights, which sum to `totals[2]`, stay in the weigher. */
export function weighNodes(weigher: NodeWeigher, statistics: BasisStatistics, individual: number): Weighed {
  const { mixture, instance, context, G, g, totals, heights } = weigher;
  const s2 = mixture.noiseVariance;
  unpackGram(statistics, individual, G);
  let rest = residualStatistics(statistics, individual, mixture.meanCoefficients, g);
  const n = statistics.counts[individual];
  const rank = reduce(weigher, n);
  fillFrame(weigher, rank);
  context[RANK] = rank;
  for (let a = 0; a < rank; a++) rest -= heights[a] * heights[a];
  const count = instance.exports.weighNodes(context.byteOffset);
  const constant = n * (LOG_2PI + Math.log(s2)) + Math.max(rest, 0) / s2;
  return { logLikelihood: -0.5 * constant + totals[0] + Math.log(totals[1]), rank, count };
}

/** What the weigher knows of an individual: R [r,d], h [r] and the pivots [r]. */
export interface Observed {
  readonly rank: number;
  readonly roots: Float64Array;
  readonly heights: Float64Array;
  readonly pivots: Int32Array;
}

/** The individual weighed last. */
export function observedBy({ roots, heights, pivots, mixture }: NodeWeigher, rank: number): Observed {
  return {
    rank,
    roots: roots.slice(0, rank * mixture.numBasis),
    heights: heights.slice(0, rank),
    pivots: pivots.slice(0, rank),
  };
}

/** Puts an individual weighed before back into the weigher, but for the weights. */
export function putBack(weigher: NodeWeigher, observed: Observed): void {
  weigher.roots.set(observed.roots);
  weigher.heights.set(observed.heights);
  weigher.pivots.set(observed.pivots);
  weigher.context[RANK] = observed.rank;
  fillFrame(weigher, observed.rank);
}

/**
 * Weighs the nodes for one individual: weights and posterior sums of the columns stay in the weigher (up to the factor
 * `totals[2]`), E[w | y] goes to coefficients[offset..offset+d). Returns log p(y).
 */
export function weighIndividual(
  weigher: NodeWeigher,
  statistics: BasisStatistics,
  individual: number,
  coefficientMeans: number,
  coefficients: Float64Array,
  offset: number,
): number {
  const { mixture, instance, context, totals, sums, frame, numColumns } = weigher;
  const F = frame.functionals;
  const d = mixture.numBasis;
  const { logLikelihood, rank: r, count } = weighNodes(weigher, statistics, individual);
  instance.exports.sumNodes(context.byteOffset, count);
  const scale = 1 / totals[2];
  for (let k = 0; k < d; k++) coefficients[offset + k] = scale * sums[coefficientMeans + k];
  for (let a = 0, at = numColumns; a < r; a++) {
    for (let k = 0; k < d; k++) {
      for (let l = 0; l < k; l++) {
        const v = scale * sums[at++];
        coefficients[offset + k] += v * F[a * d + l];
        coefficients[offset + l] += v * F[a * d + k];
      }
      coefficients[offset + k] += scale * sums[at++] * F[a * d + k];
    }
  }
  return logLikelihood;
}

/** Weighs the nodes for one individual as `weighIndividual` does, but for E[w | y], which costs a third of it. */
export function weighColumns(weigher: NodeWeigher, statistics: BasisStatistics, individual: number): number {
  const { instance, context } = weigher;
  context[SOLVES] = 0;
  const { logLikelihood, count } = weighNodes(weigher, statistics, individual);
  instance.exports.sumNodes(context.byteOffset, count);
  context[SOLVES] = 1;
  return logLikelihood;
}

/** Pivots below this share of the first carry rounding only. */
const RANK_TOLERANCE = 1e-13;

/** R [r,d] with G = R'R by Cholesky with pivots, and h with g = R'h; returns r ≤ min(n, d). */
function reduce({ mixture, G, g, roots: R, heights: h, pivots }: NodeWeigher, n: number): number {
  const d = mixture.numBasis;
  let r = 0;
  let first = 0;
  for (; r < Math.min(n, d); r++) {
    // G holds what is left of it: the diagonal is that of G − R'R.
    let p = 0;
    for (let k = 1; k < d; k++) if (G[k * d + k] > G[p * d + p]) p = k;
    const pivot = G[p * d + p];
    if (r === 0) first = pivot;
    if (!(pivot > RANK_TOLERANCE * first)) break;
    const inverse = 1 / Math.sqrt(pivot);
    for (let k = 0; k < d; k++) R[r * d + k] = G[p * d + k] * inverse;
    for (let b = 0; b < r; b++) R[r * d + pivots[b]] = 0;
    pivots[r] = p;
    let s = g[p];
    for (let b = 0; b < r; b++) s -= R[b * d + p] * h[b];
    h[r] = s / R[r * d + p];
    for (let k = 0; k < d; k++) {
      const x = R[r * d + k];
      for (let l = 0; l < d; l++) G[k * d + l] -= x * R[r * d + l];
    }
    for (let b = 0; b <= r; b++) G[pivots[b] * d + pivots[b]] = 0;
  }
  return r;
}

/** Below this ratio of the smallest to the largest entry of R_P's diagonal, G_PP⁻¹ would cost digits. */
const LEAST_RATIO = 1e-3;

/** F, h, N and the lists of terms from R and R^{-T}g. */
function fillFrame({ mixture, roots: R, heights, frame, pivots }: NodeWeigher, r: number): void {
  const { numBasis: d, noiseVariance: s2 } = mixture;
  const { functionals: F, heights: h, floors, noise, factor: T } = frame;
  const inverted = r > 0 && R[(r - 1) * d + pivots[r - 1]] >= LEAST_RATIO * R[pivots[0]];
  for (let e = 0; e < r * d; e++) F[e] = R[e];
  for (let a = 0; a < r; a++) {
    h[a] = heights[a];
    floors[a] = s2;
    for (let b = 0; b < r; b++) T[a * d + b] = a === b ? 1 : 0;
  }
  if (inverted) {
    // R_P is upper triangular in the order of pivots: F = R_P⁻¹R, h = R_P⁻¹(R^{-T}g), T = R_P⁻¹, from the last row upwards.
    for (let a = r - 1; a >= 0; a--) {
      const diagonal = R[a * d + pivots[a]];
      for (let b = a + 1; b < r; b++) {
        const x = R[a * d + pivots[b]];
        h[a] -= x * h[b];
        for (let k = 0; k < d; k++) F[a * d + k] -= x * F[b * d + k];
        for (let c = b; c < r; c++) T[a * d + c] -= x * T[b * d + c];
      }
      h[a] /= diagonal;
      for (let k = 0; k < d; k++) F[a * d + k] /= diagonal;
      for (let c = a; c < r; c++) T[a * d + c] /= diagonal;
      for (let b = 0; b < r; b++) F[a * d + pivots[b]] = a === b ? 1 : 0;
    }
  }
  // N = σ²TT'; the pivots of its Cholesky factor, in this order, are those of a Schur complement.
  for (let a = 0, at = 0; a < r; a++) {
    for (let b = 0; b <= a; b++) {
      let s = 0;
      for (let c = a; c < r; c++) s += T[a * d + c] * T[b * d + c];
      noise[at++] = s2 * s;
    }
  }
  if (inverted) floorsOfNoise(noise, r, floors, T);
  listTerms(frame, r, d);
}

/** Squared diagonal of the Cholesky factor of N (packed rows) to floors; C is scratch. */
function floorsOfNoise(N: Float64Array, r: number, floors: Float64Array, C: Float64Array): void {
  for (let a = 0, at = 0; a < r; a++) {
    for (let b = 0; b <= a; b++) {
      let s = N[at++];
      for (let c = 0; c < b; c++) s -= C[a * r + c] * C[b * r + c];
      C[a * r + b] = a === b ? Math.sqrt(s) : s / C[b * r + b];
    }
    floors[a] = C[a * r + a] ** 2;
  }
}

/** Bytes of four numbers. */
const QUAD = 32;

/** Terms of e_a = h_a − Σ_k F_ak m_k and of (FΣF')_ab, those that are not zero, row by row. */
function listTerms({ functionals: F, ends, offsets, terms }: Frame, r: number, d: number): void {
  let at = 0;
  let entry = 0;
  const add = (offset: number, value: number): void => {
    if (value === 0) return;
    offsets[at] = offset * QUAD;
    terms[at++] = value;
  };
  for (let a = 0; a < r; a++) {
    for (let k = 0; k < d; k++) add(k, F[a * d + k]);
    ends[entry++] = at * Int32Array.BYTES_PER_ELEMENT;
    for (let b = 0; b <= a; b++) {
      for (let k = 0, packed = 0; k < d; k++) {
        for (let l = 0; l < k; l++) add(packed++, F[a * d + k] * F[b * d + l] + F[a * d + l] * F[b * d + k]);
        add(packed++, F[a * d + k] * F[b * d + k]);
      }
      ends[entry++] = at * Int32Array.BYTES_PER_ELEMENT;
    }
  }
}

/** [columns,rows] from [rows,columns]. */
function transpose(A: Float64Array, rows: number, columns: number): Float64Array {
  const out = new Float64Array(A.length);
  for (let i = 0; i < rows; i++) for (let k = 0; k < columns; k++) out[k * rows + i] = A[i * columns + k];
  return out;
}
