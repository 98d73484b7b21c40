/**
 * The place of an individual as told by the posterior weights of the lattice nodes: moments and highest-density
 * regions. Nodes are cells of equal size, so the region of level p is the smallest set of cells that holds p.
 */
import type { PlacePosterior } from "./posterior.ts";

export interface LocationMoments {
  readonly mean: Float64Array; // [q]
  readonly covariance: Float64Array; // [q,q]
}

/** Posterior mean [q] and covariance [q,q] of the place, in the fit's frame. */
export function locationMoments(posterior: PlacePosterior, q: number): LocationMoments {
  const { weights: w, locations: X } = posterior;
  const K = w.length;
  const mean = new Float64Array(q);
  const covariance = new Float64Array(q * q);
  for (let c = 0; c < q; c++) {
    let s = 0;
    for (let k = 0, at = c; k < K; k++, at += q) s += w[k] * X[at];
    mean[c] = s;
  }
  for (let a = 0; a < q; a++) {
    for (let b = 0; b <= a; b++) {
      let s = 0;
      for (let k = 0, at = 0; k < K; k++, at += q) s += w[k] * (X[at + a] - mean[a]) * (X[at + b] - mean[b]);
      covariance[a * q + b] = s;
      covariance[b * q + a] = s;
    }
  }
  return { mean, covariance };
}

/** Positions (within the kept nodes) of the highest-density region of the given level, heaviest first. */
export function highestDensityNodes(weights: Float64Array, level: number): Int32Array {
  const order = Int32Array.from(weights, (_, k) => k).sort((a, b) => weights[b] - weights[a] || a - b);
  let mass = 0;
  let count = 0;
  while (count < order.length && mass < level) mass += weights[order[count++]];
  return order.slice(0, count);
}

/** How many of the heaviest weights, which sum to one, hold each of the levels, ascending. */
export function heaviestCounts(weights: Float64Array, levels: readonly number[]): number[] {
  // Lighter weights hold less together than what is beyond the last level.
  const least = (0.999 * (1 - levels[levels.length - 1])) / weights.length;
  const ascending = weights.filter((w) => w >= least).sort();
  let mass = 0;
  let count = 0;
  return levels.map((level) => {
    while (count < ascending.length && mass < level) mass += ascending[ascending.length - ++count];
    return count;
  });
}
