/**
 * A posterior of many nodes made smaller for the eye: neighbours on the map become one node with their joint weight, mean
 * and covariance of the coefficients,
 *   w = Σ w_k,   m = Σ w_k m_k / w,   S = Σ w_k (S_k + (m_k − m)(m_k − m)') / w.
 * Mean and covariance of the whole are kept. Neighbours share a cell of a grid over the nodes that hold nearly all the
 * mass; courses change little across a cell, so bands move by
 * about a hundredth of their width at most (measured: 1.4 % once, for a noise-free course of the published map).
 */
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";

/** Fewest cells per dimension of the grid, for maps of one, two and three dimensions; fine lattices get twice as many. */
const CELLS = [128, 16, 7];
const NODES_PER_CELL = 3;
/** Nodes lighter than this share of the heaviest do not decide how far the grid reaches; they fall into its outermost cells. */
const LIGHT = 1e-2;

/** Which cell each node of a posterior is in. */
export interface JoinedCells {
  /** Cells that hold nodes are numbered in order of appearance, [K]. */
  readonly cells: Int32Array;
  readonly numCells: number;
}

/** Most cells that a posterior of K nodes is joined into. */
export function mostCells(K: number): number {
  return Math.floor(K / NODES_PER_CELL) + 1;
}

/** Cells whose nodes are to become one; null if that would not make the posterior much smaller. */
export function joinedCells(posterior: PlacePosterior, q: number): JoinedCells | null {
  const K = posterior.weights.length;
  const fewest = CELLS[q - 1];
  if (fewest === undefined || K < NODES_PER_CELL * fewest ** q) return null;
  const per = Math.min(Math.floor((K / NODES_PER_CELL) ** (1 / q)), 2 * fewest);
  const cells = cellsOf(posterior, q, per);
  const numbers = new Int32Array(per ** q).fill(-1);
  let numCells = 0;
  for (let k = 0; k < K; k++) {
    const cell = cells[k];
    if (numbers[cell] < 0) numbers[cell] = numCells++;
    cells[k] = numbers[cell];
  }
  return { cells, numCells };
}

/** The posterior with neighbouring nodes joined; itself if that would not make it much smaller. */
export function joinNodes(posterior: CoefficientPosterior, q: number, d: number): CoefficientPosterior {
  const found = joinedCells(posterior, q);
  if (found === null) return posterior;
  const { weights, nodes, locations: X, means, covariances } = posterior;
  const K = weights.length;
  const { cells, numCells: B } = found;
  const w = new Float64Array(B);
  const heaviest = new Int32Array(B).fill(-1);
  const x = new Float64Array(B * q);
  const m = new Float64Array(B * d);
  const S = new Float64Array(B * d * d);
  for (let k = 0; k < K; k++) {
    const b = cells[k];
    const v = weights[k];
    w[b] += v;
    if (heaviest[b] < 0 || v > weights[heaviest[b]]) heaviest[b] = k;
    for (let c = 0; c < q; c++) x[b * q + c] += v * X[k * q + c];
    for (let a = 0; a < d; a++) m[b * d + a] += v * means[k * d + a];
  }
  for (let b = 0; b < B; b++) {
    for (let c = 0; c < q; c++) x[b * q + c] /= w[b];
    for (let a = 0; a < d; a++) m[b * d + a] /= w[b];
  }
  for (let k = 0; k < K; k++) {
    const b = cells[k];
    const v = weights[k];
    for (let a = 0; a < d; a++) {
      const e = means[k * d + a] - m[b * d + a];
      const from = (k * d + a) * d;
      const to = (b * d + a) * d;
      for (let c = 0; c <= a; c++) S[to + c] += v * (covariances[from + c] + e * (means[k * d + c] - m[b * d + c]));
    }
  }
  for (let b = 0; b < B; b++) {
    for (let a = 0; a < d; a++) {
      for (let c = 0; c <= a; c++) {
        const s = S[(b * d + a) * d + c] / w[b];
        S[(b * d + a) * d + c] = s;
        S[(b * d + c) * d + a] = s;
      }
    }
  }
  return {
    nodes: Int32Array.from(heaviest, (k) => nodes[k]),
    weights: w,
    locations: x,
    means: m,
    covariances: S,
    logLikelihood: posterior.logLikelihood,
  };
}

/** Cell of each node in a grid of per^q cells over the nodes that are not light. */
function cellsOf({ weights, locations: X }: PlacePosterior, q: number, per: number): Int32Array {
  const K = weights.length;
  let largest = 0;
  for (let k = 0; k < K; k++) if (weights[k] > largest) largest = weights[k];
  const light = LIGHT * largest;
  const cells = new Int32Array(K);
  const last = per - 1;
  // One coordinate after the other.
  for (let c = 0; c < q; c++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let k = 0, at = c; k < K; k++, at += q) {
      if (weights[k] < light) continue;
      const v = X[at];
      if (v < low) low = v;
      if (v > high) high = v;
    }
    const scale = high > low ? per / (high - low) : 0;
    for (let k = 0, at = c; k < K; k++, at += q) {
      const v = (X[at] - low) * scale;
      cells[k] = cells[k] * per + (v > 0 ? (v < last ? v | 0 : last) : 0);
    }
  }
  return cells;
}
