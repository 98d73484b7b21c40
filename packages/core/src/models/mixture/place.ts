/**
 * The place of an individual as told by the posterior weights of the lattice nodes: moments, highest-density regions
 * and draws. Nodes are cells of equal size, so the region of level p is the smallest set of cells that holds p.
 */
import { cholesky } from "../../numeric/cholesky.ts";
import type { Random } from "../../numeric/random.ts";
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";

/** Posterior mean [q] and covariance [q,q] of the place, in the fit's frame. */
export function locationMoments(
  posterior: PlacePosterior,
  q: number,
): { readonly mean: Float64Array; readonly covariance: Float64Array } {
  const { weights, locations } = posterior;
  const mean = new Float64Array(q);
  const covariance = new Float64Array(q * q);
  for (let k = 0; k < weights.length; k++) {
    for (let c = 0; c < q; c++) mean[c] += weights[k] * locations[k * q + c];
  }
  for (let k = 0; k < weights.length; k++) {
    for (let a = 0; a < q; a++) {
      const da = locations[k * q + a] - mean[a];
      for (let b = 0; b < q; b++) covariance[a * q + b] += weights[k] * da * (locations[k * q + b] - mean[b]);
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

/** The posterior without its lightest nodes, which together hold at most `mass`; the rest renormalised. */
export function dropLightNodes(posterior: CoefficientPosterior, mass: number): CoefficientPosterior {
  const { weights } = posterior;
  const K = weights.length;
  const q = posterior.locations.length / K;
  const d = posterior.means.length / K;
  const ascending = weights.slice().sort();
  let dropped = 0;
  let count = 0;
  while (count < K - 1 && dropped + ascending[count] <= mass) dropped += ascending[count++];
  const kept = heaviestNodes(weights, ascending, count);
  const rows = (from: Float64Array, width: number): Float64Array => {
    const out = new Float64Array(kept.length * width);
    kept.forEach((k, r) => {
      for (let c = 0; c < width; c++) out[r * width + c] = from[k * width + c];
    });
    return out;
  };
  return {
    nodes: Int32Array.from(kept, (k) => posterior.nodes[k]),
    weights: Float64Array.from(kept, (k) => weights[k] / (1 - dropped)),
    locations: rows(posterior.locations, q),
    means: rows(posterior.means, d),
    covariances: rows(posterior.covariances, d * d),
    logLikelihood: posterior.logLikelihood,
  };
}

/** Positions of all but the `count` lightest weights, in order; of equal weights the first are dropped. */
function heaviestNodes(weights: Float64Array, ascending: Float64Array, count: number): Int32Array {
  const kept = new Int32Array(weights.length - count);
  const limit = count > 0 ? ascending[count - 1] : Number.NEGATIVE_INFINITY;
  let equal = count;
  for (let k = 0; k < count; k++) if (ascending[k] < limit) equal--;
  for (let k = 0, r = 0; k < weights.length; k++) {
    if (weights[k] < limit) continue;
    if (weights[k] === limit && equal-- > 0) continue;
    kept[r++] = k;
  }
  return kept;
}

/** Draws coefficient vectors: a node by its weight, then w ~ N(mean, covariance) there. */
export interface CoefficientSampler {
  /** Writes w to out[offset..offset+d] and returns the position of the node drawn. */
  draw(random: Random, out: Float64Array, offset: number): number;
}

export function coefficientSampler(posterior: CoefficientPosterior, d: number): CoefficientSampler {
  const { weights, means, covariances } = posterior;
  const factors = new Map<number, Float64Array>();
  const factorOf = (k: number): Float64Array => {
    let L = factors.get(k);
    if (L === undefined) {
      const S = covariances.slice(k * d * d, (k + 1) * d * d);
      let total = 0;
      for (let a = 0; a < d; a++) total += S[a * d + a];
      for (let a = 0; a < d; a++) S[a * d + a] += 1e-12 * total + Number.MIN_VALUE;
      L = cholesky(S, d, "posterior covariance of the coefficients");
      factors.set(k, L);
    }
    return L;
  };
  const z = new Float64Array(d);
  return {
    draw(random, out, offset) {
      const k = random.categorical(weights);
      const L = factorOf(k);
      for (let a = 0; a < d; a++) z[a] = random.normal();
      for (let a = 0; a < d; a++) {
        let s = means[k * d + a];
        for (let b = 0; b <= a; b++) s += L[a * d + b] * z[b];
        out[offset + a] = s;
      }
      return k;
    },
  };
}
