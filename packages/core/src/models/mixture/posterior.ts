/**
 * One individual under a mixture, as docs/math/prediction.md §1 writes it: at a node its coefficients are m_g + e, e ~ N(0, Σ_g),
 * and effect.ts gives log p(y|g) and w | y, g. Cost per node O(d³).
 * This is the definition; observed.ts and the kernels of wasm/placing.ts and wasm/course.ts are its fast form.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { dot, multiplyVector } from "../../numeric/matrix.ts";
import { logSumExp } from "../../numeric/special.ts";
import { effectMoments, type GaussianEffect, gaussianEffect, type Observations, observationsOf } from "./effect.ts";
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

/** Mean and covariance of the coefficients at some nodes. */
export interface NodeMoments {
  /** E[w | y, node], [K,d]. */
  readonly means: Float64Array;
  /** Cov[w | y, node], [K,d,d]. */
  readonly covariances: Float64Array;
}

/** Posterior of the coefficients: a mixture over the same nodes. */
export interface CoefficientPosterior extends PlacePosterior, NodeMoments {}

/** Nodes below this share of the largest weight are left out of a posterior. */
const LIGHT = 1e-9;

/** Observations of an individual about the mean curve of a mixture. */
export function individualObservations(
  { meanCoefficients, noise }: CoefficientMixture,
  statistics: BasisStatistics,
  individual: number,
): Observations {
  return observationsOf(statistics, individual, meanCoefficients, noise);
}

/** log p(y | node g), [Γ]. */
export function nodeLogDensities(mixture: CoefficientMixture, observations: Observations): Float64Array {
  return mixture.logWeights.map((_, g) => nodeEffect(mixture, observations, g).logDensity);
}

/** log π_g + log p(y | node g), [Γ]. */
function jointLogDensities(mixture: CoefficientMixture, observations: Observations): Float64Array {
  return nodeLogDensities(mixture, observations).map((v, g) => v + mixture.logWeights[g]);
}

/** log p(y) = log Σ_g π_g p(y|g). */
export function mixtureLogLikelihood(mixture: CoefficientMixture, observations: Observations): number {
  return logSumExp(jointLogDensities(mixture, observations));
}

/** The nodes whose weights [Γ], known up to a factor, are at least `least`. */
export function keptNodes(
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
 * Posterior of the coefficients, with moments at every node kept. Nodes below `minWeight` of the largest weight are dropped and
 * the rest renormalised; what is dropped is below minWeight · Γ in all.
 */
export function conditionMixture(
  mixture: CoefficientMixture,
  observations: Observations,
  minWeight = LIGHT,
): CoefficientPosterior {
  const joint = jointLogDensities(mixture, observations);
  const largest = joint.reduce((a, b) => Math.max(a, b));
  const shares = joint.map((v) => Math.exp(v - largest));
  const place = keptNodes(mixture, shares, minWeight, logSumExp(joint));
  return { ...place, ...nodeMoments(mixture, observations, place.nodes) };
}

/** Moments of the coefficients at the given nodes [K]. */
export function nodeMoments(mixture: CoefficientMixture, observations: Observations, nodes: Int32Array): NodeMoments {
  const d = mixture.numBasis;
  const means = new Float64Array(nodes.length * d);
  const covariances = new Float64Array(nodes.length * d * d);
  nodes.forEach((node, k) => {
    const { mean, covariance } = effectMoments(nodeEffect(mixture, observations, node), observations.sigma2);
    for (let a = 0; a < d; a++) means[k * d + a] = mixture.means[node * d + a] + mean[a];
    covariances.set(covariance, k * d * d);
  });
  return { means, covariances };
}

/** The deviation from m_g at a node: with r = g − Gm_g, observations about Bβ + Bm_g have ρ − m_g'(g + r). */
function nodeEffect(
  { numBasis: d, means, factors }: CoefficientMixture,
  own: Observations,
  node: number,
): GaussianEffect {
  const m = means.subarray(node * d, (node + 1) * d);
  const Gm = multiplyVector(own.G, m, d, d);
  const r = own.g.map((v, k) => v - Gm[k]);
  const rho = own.rho - dot(m, own.g) - dot(m, r);
  return gaussianEffect({ ...own, g: r, rho }, factors.subarray(node * d * d, (node + 1) * d * d));
}
