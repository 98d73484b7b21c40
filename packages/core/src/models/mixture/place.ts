/**
 * The place of an individual as told by the posterior weights of the lattice nodes: moments, highest-density regions
 * and draws. Nodes are cells of equal size, so the region of level p is the smallest set of cells that holds p.
 */
import { cholesky } from "../../numeric/cholesky.ts";
import type { Random } from "../../numeric/random.ts";
import { lightLimit } from "./light-nodes.ts";
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";

/** Posterior mean [q] and covariance [q,q] of the place, in the fit's frame. */
export function locationMoments(
  posterior: PlacePosterior,
  q: number,
): { readonly mean: Float64Array; readonly covariance: Float64Array } {
  const { weights, locations } = posterior;
  const mean = new Float64Array(q);
  const covariance = new Float64Array(q * q);
  const K = weights.length;
  // One entry after the other: nothing is read through an index that the next step would have to wait for.
  for (let c = 0; c < q; c++) {
    let s = 0;
    for (let k = 0, at = c; k < K; k++, at += q) s += weights[k] * locations[at];
    mean[c] = s;
  }
  for (let a = 0; a < q; a++) {
    for (let b = 0; b <= a; b++) {
      const [ma, mb] = [mean[a], mean[b]];
      let s = 0;
      for (let k = 0, at = 0; k < K; k++, at += q)
        s += weights[k] * (locations[at + a] - ma) * (locations[at + b] - mb);
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

/** Some nodes of a posterior: positions within its nodes, ascending, and their weights, which sum to one. */
export interface NodeChoice {
  readonly positions: Int32Array;
  readonly weights: Float64Array;
}

/** All but the lightest nodes, which together hold at most `mass`; of equal weights the first are left out. */
export function heavyNodes(weights: Float64Array, mass: number): NodeChoice {
  const K = weights.length;
  let heaviest = 0;
  for (let k = 1; k < K; k++) if (weights[k] >= weights[heaviest]) heaviest = k;
  // Everything below a power of two goes as a whole; only weights up to its double have to be sorted.
  const limit = lightLimit(weights, K, mass);
  if (limit > weights[heaviest]) return { positions: Int32Array.of(heaviest), weights: Float64Array.of(1) };
  let count = 0;
  let dropped = 0;
  let numNext = 0;
  for (let k = 0; k < K; k++) {
    if (weights[k] < limit) {
      dropped += weights[k];
      count++;
    } else if (weights[k] < 2 * limit) numNext++;
  }
  const next = new Float64Array(numNext);
  for (let k = 0, c = 0; k < K; k++) if (weights[k] >= limit && weights[k] < 2 * limit) next[c++] = weights[k];
  next.sort();
  let taken = 0;
  while (taken < numNext && count + taken < K - 1 && dropped + next[taken] <= mass) dropped += next[taken++];
  const last = taken > 0 ? next[taken - 1] : limit;
  let equal = 0;
  for (let k = 0; k < taken; k++) if (next[k] === last) equal++;
  count += taken;
  const positions = new Int32Array(K - count);
  const kept = new Float64Array(K - count);
  for (let k = 0, r = 0; k < K; k++) {
    if (weights[k] < last) continue;
    if (weights[k] === last && equal-- > 0) continue;
    positions[r] = k;
    kept[r++] = weights[k] / (1 - dropped);
  }
  return { positions, weights: kept };
}

/** The posterior without its lightest nodes, which together hold at most `mass`; the rest renormalised. */
export function dropLightNodes(posterior: CoefficientPosterior, mass: number): CoefficientPosterior {
  return chooseNodes(posterior, heavyNodes(posterior.weights, mass));
}

/** The posterior of the chosen nodes alone. */
export function chooseNodes(posterior: CoefficientPosterior, { positions, weights }: NodeChoice): CoefficientPosterior {
  const K = posterior.weights.length;
  const rows = (from: Float64Array): Float64Array => {
    const width = from.length / K;
    const out = new Float64Array(positions.length * width);
    for (let r = 0; r < positions.length; r++) {
      const at = positions[r] * width;
      for (let c = 0; c < width; c++) out[r * width + c] = from[at + c];
    }
    return out;
  };
  return {
    nodes: Int32Array.from(positions, (k) => posterior.nodes[k]),
    weights,
    locations: rows(posterior.locations),
    means: rows(posterior.means),
    covariances: rows(posterior.covariances),
    logLikelihood: posterior.logLikelihood,
  };
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
