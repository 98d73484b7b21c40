/**
 * The posterior of posterior.ts in WebAssembly (packages/core/assembly/conditioning.ts): the nodes are weighed as for
 * placing, then mean and covariance of the coefficients are written for every node that is left. A mixture is laid out
 * once and serves one individual after the other.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { TILE, tileCount } from "../../wasm/tiles.ts";
import type { CoefficientMixture } from "./mixture.ts";
import type { CoefficientPosterior } from "./posterior.ts";
import { createNodeWeigher, weighNodes } from "./wasm-placing.ts";

/** The posterior of an individual of the statistics, as `conditionMixture` gives it. */
export type Conditioner = (statistics: BasisStatistics, individual: number) => CoefficientPosterior;

/** A conditioner for a mixture whose roots are lower triangular (`isLower`). */
export function createConditioner(mixture: CoefficientMixture): Conditioner {
  const { numBasis: d, numNodes: n, mapDimension: q, locations: places } = mixture;
  const numPacked = (d * (d + 1)) / 2;
  const tiles = tileCount(n);
  const outputs = (n + 1) * (2 + d + d * d);
  const scratchSize = 2 * (numPacked + 2 * d + d * d);
  const weigher = createNodeWeigher(mixture, new Float64Array(0), {
    entries: tiles * TILE * numPacked + outputs + scratchSize + 16,
    buffers: 7,
  });
  const { doubles, integers, exports } = weigher.instance;
  const context = integers(15);
  const factors = doubles(tiles * numPacked * TILE);
  const scratch = doubles(scratchSize);
  const nodes = integers(n + 1);
  const weights = doubles(n + 1);
  const means = doubles((n + 1) * d);
  const covariances = doubles((n + 1) * d * d);
  packFactors(mixture, factors);
  const { noise, roots, heights, active, totals } = weigher;
  const views = [noise, roots, heights, weigher.means, factors, weigher.weights, active, totals, scratch];
  context.set([d, numPacked, ...[...views, nodes, weights, means, covariances].map((view) => view.byteOffset)]);
  return (statistics, individual) => {
    const { logLikelihood, rank, count } = weighNodes(weigher, statistics, individual);
    const K = exports.conditionNodes(context.byteOffset, rank, count);
    const locations = new Float64Array(K * q);
    for (let k = 0; k < K; k++) {
      const at = nodes[k] * q;
      for (let c = 0; c < q; c++) locations[k * q + c] = places[at + c];
    }
    return {
      nodes: nodes.slice(0, K),
      weights: weights.slice(0, K),
      locations,
      logLikelihood,
      means: means.slice(0, K * d),
      covariances: covariances.slice(0, K * d * d),
    };
  };
}

/** out [tile][numPacked][4]: the lower triangles of the roots, row by row. */
function packFactors({ numBasis: d, numNodes: n, factors }: CoefficientMixture, out: Float64Array): void {
  const numPacked = (d * (d + 1)) / 2;
  for (let g = 0; g < n; g++) {
    let at = (g >> 2) * numPacked * TILE + (g & 3);
    for (let a = 0; a < d; a++) {
      for (let b = 0; b <= a; b++, at += TILE) out[at] = factors[(g * d + a) * d + b];
    }
  }
}
