/**
 * Weights of all nodes of a mixture for one individual after the other, in WebAssembly (packages/core/assembly/placing.ts):
 * the densities of mixture.ts and the sums that a place is made of, without a posterior that is kept. With V = RΣ_gR' + σ²I,
 * e = h − Rm_g, y_g = V⁻¹e and weights w_g summing to one,
 *   E[w | y] = Σ_g w_g m_g + Σ_a M_a R_a,   M_a = Σ_g w_g y_ga Σ_g,
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
  readonly roots: Float64Array; // R [r,d]
  readonly heights: Float64Array; // h [r]
  readonly spread: Float64Array;
  readonly noise: Float64Array; // σ² [1]
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

const RANK = 1;

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
  const entries =
    64 + d * d + d + numPacked ** 2 + 4 * (numPacked + d) + 8 + numColumns + d * numPacked + tiles * TILE * 4;
  const tables = tiles * TILE * (numPacked + numColumns + 2 * d);
  const instance = createKernelInstance(entries + tables + reserve.entries, 24 + reserve.buffers);
  const { doubles, integers } = instance;
  const context = integers(21);
  const views = {
    noise: doubles(1).fill(mixture.noiseVariance),
    roots: doubles(d * d),
    heights: doubles(d),
    spread: doubles(numPacked * numPacked),
    covariances: doubles(tiles * numPacked * TILE),
    means: doubles(tiles * d * TILE),
    columns: doubles(tiles * numColumns * TILE),
    logPrior: doubles(tiles * TILE).fill(Number.NEGATIVE_INFINITY),
    factor: doubles(4 * numPacked),
    residuals: doubles(4 * d),
    solved: doubles(tiles * d * TILE),
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
  context.set([d, 0, tiles, numPacked, numColumns, ...Object.values(views).map((view) => view.byteOffset)]);
  const { noise, roots, heights, spread, means, active, weights, totals, sums } = views;
  return {
    instance,
    mixture,
    numColumns,
    context,
    noise,
    roots,
    heights,
    spread,
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
  context[RANK] = rank;
  for (let a = 0; a < rank; a++) rest -= heights[a] * heights[a];
  const count = instance.exports.weighNodes(context.byteOffset);
  const constant = n * (LOG_2PI + Math.log(s2)) + Math.max(rest, 0) / s2;
  return { logLikelihood: -0.5 * constant + totals[0] + Math.log(totals[1]), rank, count };
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
  const { mixture, instance, context, totals, sums, roots, numColumns } = weigher;
  const d = mixture.numBasis;
  const { logLikelihood, rank: r, count } = weighNodes(weigher, statistics, individual);
  instance.exports.sumNodes(context.byteOffset, count);
  const scale = 1 / totals[2];
  for (let k = 0; k < d; k++) coefficients[offset + k] = scale * sums[coefficientMeans + k];
  for (let a = 0, at = numColumns; a < r; a++) {
    for (let k = 0; k < d; k++) {
      for (let l = 0; l < k; l++) {
        const v = scale * sums[at++];
        coefficients[offset + k] += v * roots[a * d + l];
        coefficients[offset + l] += v * roots[a * d + k];
      }
      coefficients[offset + k] += scale * sums[at++] * roots[a * d + k];
    }
  }
  return logLikelihood;
}

/** Pivots below this share of the first carry rounding only. */
const RANK_TOLERANCE = 1e-13;

/** R [r,d] with G = R'R by Cholesky with pivots, h with g = R'h, and the entries of V; returns r ≤ min(n, d). */
function reduce({ mixture, G, g, roots: R, heights: h, spread, pivots }: NodeWeigher, n: number): number {
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
  for (let a = 0, at = 0; a < r; a++) {
    for (let b = 0; b <= a; b++) {
      for (let k = 0; k < d; k++) {
        for (let l = 0; l < k; l++) spread[at++] = R[a * d + k] * R[b * d + l] + R[a * d + l] * R[b * d + k];
        spread[at++] = R[a * d + k] * R[b * d + k];
      }
    }
  }
  return r;
}

/** [columns,rows] from [rows,columns]. */
function transpose(A: Float64Array, rows: number, columns: number): Float64Array {
  const out = new Float64Array(A.length);
  for (let i = 0; i < rows; i++) for (let k = 0; k < columns; k++) out[k * rows + i] = A[i * columns + k];
  return out;
}
