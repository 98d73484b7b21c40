/**
 * The place of an individual as told by the posterior weights of the lattice nodes: moments, highest-density regions
 * and draws. Nodes are cells of equal size, so the region of level p is the smallest set of cells that holds p.
 */
import { cholesky } from "../../numeric/cholesky.ts";
import type { Random } from "../../numeric/random.ts";
import { lightLimit } from "./light-nodes.ts";
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";

export interface LocationMoments {
  readonly mean: Float64Array; // [q]
  readonly covariance: Float64Array; // [q,q]
}

/** Posterior mean [q] and covariance [q,q] of the place, in the fit's frame. */
export function locationMoments(posterior: PlacePosterior, q: number): LocationMoments {
  const { weights: w, locations: X } = posterior;
  // Sums that stand side by side do not wait for themselves; places of most maps have two coordinates.
  if (q === 2) return planeMoments(w, X);
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

/** The same for X [K,2]. */
function planeMoments(w: Float64Array, X: Float64Array): LocationMoments {
  let mx = 0;
  let my = 0;
  for (let k = 0; k < w.length; k++) {
    mx += w[k] * X[2 * k];
    my += w[k] * X[2 * k + 1];
  }
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let k = 0; k < w.length; k++) {
    const x = X[2 * k] - mx;
    const y = X[2 * k + 1] - my;
    const wx = w[k] * x;
    xx += wx * x;
    xy += wx * y;
    yy += w[k] * y * y;
  }
  return { mean: Float64Array.of(mx, my), covariance: Float64Array.of(xx, xy, xy, yy) };
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

/** Which nodes are the lightest: all below `least`, and the first `numEqual` of those that are equal to it. */
export interface LightNodes {
  readonly least: number;
  readonly numEqual: number;
  /** How many they are, and what they hold. */
  readonly count: number;
  readonly mass: number;
}

/** The lightest nodes, which together hold at most `mass`; never all of them. */
export function lightNodes(weights: Float64Array, mass: number): LightNodes {
  const K = weights.length;
  // Everything below a power of two goes as a whole; only weights up to its double have to be sorted.
  const limit = lightLimit(weights, K, mass);
  let heaviest = 0;
  let count = 0;
  let dropped = 0;
  let numNext = 0;
  for (let k = 0; k < K; k++) {
    const w = weights[k];
    if (w > heaviest) heaviest = w;
    if (w < limit) {
      dropped += w;
      count++;
    } else if (w < 2 * limit) numNext++;
  }
  if (limit > heaviest) return allButOne(weights, heaviest);
  const next = new Float64Array(numNext);
  for (let k = 0, c = 0; c < numNext; k++) if (weights[k] >= limit && weights[k] < 2 * limit) next[c++] = weights[k];
  next.sort();
  let taken = 0;
  while (taken < numNext && count + taken < K - 1 && dropped + next[taken] <= mass) dropped += next[taken++];
  const least = taken > 0 ? next[taken - 1] : limit;
  let numEqual = 0;
  for (let k = 0; k < taken; k++) if (next[k] === least) numEqual++;
  return { least, numEqual, count: count + taken, mass: dropped };
}

/** Every node but the last of the heaviest. */
function allButOne(weights: Float64Array, heaviest: number): LightNodes {
  let numEqual = -1;
  let mass = -heaviest;
  for (let k = 0; k < weights.length; k++) {
    mass += weights[k];
    if (weights[k] === heaviest) numEqual++;
  }
  return { least: heaviest, numEqual, count: weights.length - 1, mass };
}

/** All but the lightest nodes, which together hold at most `mass`; of equal weights the first are left out. */
export function heavyNodes(weights: Float64Array, mass: number): NodeChoice {
  const light = lightNodes(weights, mass);
  const { least } = light;
  const K = weights.length;
  const positions = new Int32Array(K - light.count);
  const kept = new Float64Array(K - light.count);
  const scale = 1 / (1 - light.mass);
  let numEqual = light.numEqual;
  for (let k = 0, r = 0; k < K; k++) {
    if (weights[k] < least) continue;
    if (weights[k] === least && numEqual-- > 0) continue;
    positions[r] = k;
    kept[r++] = weights[k] * scale;
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
