/**
 * One individual under a mixture, as docs/math/prediction.md §1 writes it: at a node its coefficients are m_g + e, e ~ N(0, Σ_g),
 * and effect.ts gives log p(y|g) and w | y, g. Where individuals differ in their noise level, a component is a node with a level
 * (docs/math/noise.md §4). Cost per component O(d³).
 * This is the definition; observed.ts and the kernels of wasm/placing.ts and wasm/course.ts are its fast form.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { rotateEffect } from "../../noise/levels.ts";
import { dot, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { logSumExp } from "../../numeric/special.ts";
import {
  atLevels,
  effectMoments,
  type GaussianEffect,
  gaussianEffect,
  levelLogDensities,
  type Observations,
  observationsOf,
} from "./effect.ts";
import type { CoefficientMixture } from "./mixture.ts";

/** Posterior of a place: weights of the nodes that matter. */
export interface PlacePosterior {
  /** Nodes kept, [K]. */
  readonly nodes: Int32Array;
  /** Posterior weights, summing to one, [K]. */
  readonly weights: Float64Array;
  /** Places of the kept nodes in the fit's frame, [K,q]. */
  readonly locations: Float64Array;
  /** log p(y_i); 0 without observations. */
  readonly logLikelihood: number;
}

/** A node with a noise level: weight and noise variance of each, [C]. */
export interface NodeComponents {
  /** Weights, summing to one. */
  readonly shares: Float64Array;
  /** s, the noise variance of the individual. */
  readonly noiseVariances: Float64Array;
}

/** Mean and covariance of the coefficients in some components. */
export interface NodeMoments {
  /** E[w | y, component], [C,d]. */
  readonly means: Float64Array;
  /** Cov[w | y, component], [C,d,d]. */
  readonly covariances: Float64Array;
}

/** Posterior of the coefficients: a mixture over components, which are the nodes themselves where there is one noise level. */
export interface CoefficientPosterior extends PlacePosterior, NodeComponents, NodeMoments {}

/** Nodes below this share of the largest weight are left out of a posterior, and components where there are several levels. */
const LIGHT = 1e-9;
const LIGHT_COMPONENT = 1e-5;

/** Observations of an individual about the mean curve of a mixture. */
export function individualObservations(
  { meanCoefficients, noise }: CoefficientMixture,
  statistics: BasisStatistics,
  individual: number,
): Observations {
  return observationsOf(statistics, individual, meanCoefficients, noise);
}

/** log p(y | node g), [Γ], for observations of one noise level: the definition, held against independent implementations (oracles/check). */
export function nodeLogDensities(mixture: CoefficientMixture, observations: Observations): Float64Array {
  return mixture.logWeights.map((_, g) => nodeEffect(mixture, observations, g).logDensity);
}

/** log π_g + log p_k + log p(y | node g, level k), [K,Γ]. */
export function jointLogDensities(mixture: CoefficientMixture, observations: Observations): Float64Array {
  const { logWeights, numNodes, noise } = mixture;
  const levels = Array.from(logWeights, (_, g) =>
    levelLogDensities(aboutNode(mixture, observations, g), nodeFactor(mixture, g), noise),
  );
  const joint = new Float64Array(levels[0].length * numNodes);
  return joint.map((_, e) => levels[e % numNodes][Math.floor(e / numNodes)] + logWeights[e % numNodes]);
}

/** log p(y) = log Σ_g π_g Σ_k p_k p(y | g, k). */
export function mixtureLogLikelihood(mixture: CoefficientMixture, observations: Observations): number {
  return logSumExp(jointLogDensities(mixture, observations));
}

/** The nodes whose weights [Γ], known up to a factor, are at least `least`. */
function keptNodes(
  { numNodes, mapDimension: q, locations: X }: CoefficientMixture,
  all: Float64Array,
  least: number,
  logLikelihood: number,
): PlacePosterior {
  const nodes = new Int32Array(numNodes);
  let K = 0;
  let total = 0;
  for (let g = 0; g < numNodes; g++) {
    if (!(all[g] >= least)) continue;
    nodes[K++] = g;
    total += all[g];
  }
  const weights = new Float64Array(K);
  const locations = new Float64Array(K * q);
  for (let k = 0; k < K; k++) {
    weights[k] = all[nodes[k]] / total;
    for (let c = 0; c < q; c++) locations[k * q + c] = X[nodes[k] * q + c];
  }
  return { nodes: nodes.slice(0, K), weights, locations, logLikelihood };
}

/**
 * Posterior of the coefficients, with moments in every component kept. Those below `minWeight` of the largest weight are dropped
 * and the rest renormalised; what is dropped is below minWeight · Γ in all.
 */
export function conditionMixture(
  mixture: CoefficientMixture,
  observations: Observations,
  minWeight?: number,
): CoefficientPosterior {
  const joint = jointLogDensities(mixture, observations);
  const largest = joint.reduce((a, b) => Math.max(a, b));
  const relative = joint.map((v) => Math.exp(v - largest));
  const levels = atLevels(observations, mixture.noise);
  const { components, ...kept } = keptComponents(mixture, levels, relative, logSumExp(joint), minWeight);
  return { ...kept, ...componentMoments(mixture, levels, components) };
}

/** A posterior but for its moments, with the components e = kΓ + g of level k and node g that they are of, [C]. */
export interface KeptComponents extends PlacePosterior, NodeComponents {
  readonly components: Int32Array;
}

/** What is kept of weights of nodes at the levels of an individual [K,Γ], known up to a factor. */
export function keptComponents(
  mixture: CoefficientMixture,
  levels: readonly Observations[],
  relative: Float64Array,
  logLikelihood: number,
  minWeight?: number,
): KeptComponents {
  const { numNodes } = mixture;
  const single = levels.length === 1;
  const ofNodes = single ? relative : relative.slice(0, numNodes);
  for (let from = numNodes; from < relative.length; from += numNodes) {
    for (let g = 0; g < numNodes; g++) ofNodes[g] += relative[from + g];
  }
  let largest = 0;
  for (let e = 0; e < relative.length; e++) if (relative[e] > largest) largest = relative[e];
  const place = keptNodes(mixture, ofNodes, (minWeight ?? LIGHT) * largest, logLikelihood);
  const least = (minWeight ?? LIGHT_COMPONENT) * largest;
  const components = single ? place.nodes : indicesFrom(relative, least);
  const total = components.reduce((sum, e) => sum + relative[e], 0);
  const shares = new Float64Array(components.length);
  const noiseVariances = new Float64Array(components.length);
  for (let c = 0; c < components.length; c++) {
    shares[c] = relative[components[c]] / total;
    noiseVariances[c] = levels[Math.floor(components[c] / numNodes)].sigma2;
  }
  return { ...place, shares: single ? place.weights : shares, noiseVariances, components };
}

/** Where values are at least `least`. */
function indicesFrom(values: Float64Array, least: number): Int32Array {
  const found = new Int32Array(values.length);
  let count = 0;
  for (let e = 0; e < values.length; e++) if (values[e] >= least) found[count++] = e;
  return found.slice(0, count);
}

/** Moments of the coefficients in components of a node with a level. */
export function componentMoments(
  mixture: CoefficientMixture,
  levels: readonly Observations[],
  components: Int32Array,
): NodeMoments {
  const { numBasis: d, numNodes } = mixture;
  const means = new Float64Array(components.length * d);
  const covariances = new Float64Array(components.length * d * d);
  const momentsAt = levels.length === 1 ? undefined : levelMoments(mixture, levels[0]);
  components.forEach((e, c) => {
    const node = e % numNodes;
    const own = levels[Math.floor(e / numNodes)];
    const { mean, covariance } =
      momentsAt?.(node, own.sigma2) ?? effectMoments(nodeEffect(mixture, own, node), own.sigma2);
    for (let a = 0; a < d; a++) means[c * d + a] = mixture.means[node * d + a] + mean[a];
    covariances.set(covariance, c * d * d);
  });
  return { means, covariances };
}

/**
 * Moments of the deviation at a node for any noise variance s, from one eigendecomposition per node (noise/levels.ts): with
 * a = T'(g − Gm_g), mean T a/(s + δ) and covariance s T diag(1/(s + δ)) T'.
 */
function levelMoments(
  mixture: CoefficientMixture,
  own: Observations,
): (node: number, s: number) => { readonly mean: Float64Array; readonly covariance: Float64Array } {
  const d = mixture.numBasis;
  const known = new Map<number, { readonly T: Float64Array; readonly a: Float64Array; readonly delta: Float64Array }>();
  const frameOf = (node: number) => {
    const { T, delta } = rotateEffect(own.G, nodeFactor(mixture, node), d);
    const frame = { T, delta, a: multiplyVector(transpose(T, d, d), aboutNode(mixture, own, node).g, d, d) };
    known.set(node, frame);
    return frame;
  };
  return (node, s) => {
    const { T, a, delta } = known.get(node) ?? frameOf(node);
    const mean = new Float64Array(d);
    const covariance = new Float64Array(d * d);
    for (let j = 0; j < d; j++) {
      const shrink = 1 / (s + delta[j]);
      for (let k = 0; k < d; k++) {
        const t = shrink * T[k * d + j];
        mean[k] += t * a[j];
        for (let l = 0; l < d; l++) covariance[k * d + l] += s * t * T[l * d + j];
      }
    }
    return { mean, covariance };
  };
}

/** The deviation from m_g at a node. */
function nodeEffect(mixture: CoefficientMixture, own: Observations, node: number): GaussianEffect {
  return gaussianEffect(aboutNode(mixture, own, node), nodeFactor(mixture, node));
}

/** Observations about Bβ + Bm_g: with r = g − Gm_g they have r and ρ − m_g'(g + r). */
function aboutNode({ numBasis: d, means }: CoefficientMixture, own: Observations, node: number): Observations {
  const m = means.subarray(node * d, (node + 1) * d);
  const Gm = multiplyVector(own.G, m, d, d);
  const r = own.g.map((v, k) => v - Gm[k]);
  return { ...own, g: r, rho: own.rho - dot(m, own.g) - dot(m, r) };
}

/** L of Σ_g = LL', [d,d]. */
function nodeFactor({ numBasis: d, factors }: CoefficientMixture, node: number): Float64Array {
  return factors.subarray(node * d * d, (node + 1) * d * d);
}
