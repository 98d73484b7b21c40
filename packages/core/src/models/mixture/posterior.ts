/**
 * One individual under a mixture, as docs/math/prediction.md §1 writes it: with Σ_g = LL' (any root), G = B'B,
 * g = B'(y − Bβ) and ρ = ‖y − Bβ‖²,
 *   A = σ²I + L'GL = CC',   r = g − Gm_g,   z = C⁻¹L'r,   Y = C⁻¹L',
 *   log p(y|g) = −½[n log 2π + (n − d) log σ² + log|A| + (ρ − 2g'm_g + m_g'Gm_g − z'z)/σ²],
 *   w | y, g ~ N(m_g + Y'z, σ²Y'Y),
 * forms that stay positive definite however small the noise or the covariance. Cost per node O(d³).
 * This is the definition; observed.ts and the kernels of wasm/placing.ts and wasm/course.ts are its fast form.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { noiseConstants, noiseLevel } from "../../noise/noise.ts";
import { logSumExp } from "../../numeric/special.ts";
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

/** The statistics of the individual at hand, and scratch. */
export interface MixtureWorkspace {
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  rho: number;
  n: number;
  /** −½[n log 2π + n log σ² + log|R|]. */
  noiseConstant: number;
  readonly logDensities: Float64Array; // [Γ]
  readonly T: Float64Array; // GL, [d,d]
  readonly C: Float64Array; // factor of A, [d,d]
  readonly Y: Float64Array; // rows of Y', [d,d]
  readonly r: Float64Array; // [d]
  readonly z: Float64Array; // [d]
}

export function mixtureWorkspace({ numBasis: d, numNodes }: CoefficientMixture): MixtureWorkspace {
  const square = () => new Float64Array(d * d);
  const vector = () => new Float64Array(d);
  const logDensities = new Float64Array(numNodes);
  return {
    G: square(),
    g: vector(),
    rho: 0,
    n: 0,
    noiseConstant: 0,
    logDensities,
    T: square(),
    C: square(),
    Y: square(),
    r: vector(),
    z: vector(),
  };
}

/** Loads G_i, g_i, ρ_i, n_i of one individual into the workspace. */
export function loadIndividual(
  mixture: CoefficientMixture,
  statistics: BasisStatistics,
  individual: number,
  work: MixtureWorkspace,
): void {
  unpackGram(statistics, individual, work.G);
  work.rho = residualStatistics(statistics, individual, mixture.meanCoefficients, work.g);
  work.n = statistics.counts[individual];
  work.noiseConstant = noiseConstants(mixture.noise, statistics)(individual);
}

/** Writes log p(y_i | node g) of the loaded individual to work.logDensities, [Γ]. */
export function nodeLogDensities(mixture: CoefficientMixture, work: MixtureWorkspace): void {
  for (let g = 0; g < mixture.numNodes; g++) work.logDensities[g] = factorNode(mixture, g, work);
}

/** log p(y_i) of the loaded individual: log Σ_g π_g p(y_i|g). Leaves log π_g + log p(y_i|g) in work.logDensities. */
export function mixtureLogLikelihood(mixture: CoefficientMixture, work: MixtureWorkspace): number {
  nodeLogDensities(mixture, work);
  for (let g = 0; g < mixture.numNodes; g++) work.logDensities[g] += mixture.logWeights[g];
  return logSumExp(work.logDensities);
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
 * Posterior of the loaded individual's coefficients, with moments at every node kept. Nodes below `minWeight` of the largest
 * weight are dropped and the rest renormalised; what is dropped is below minWeight · Γ in all.
 */
export function conditionMixture(
  mixture: CoefficientMixture,
  work: MixtureWorkspace,
  minWeight = LIGHT,
): CoefficientPosterior {
  const logLikelihood = mixtureLogLikelihood(mixture, work);
  const largest = work.logDensities.reduce((a, b) => Math.max(a, b));
  const shares = work.logDensities.map((v) => Math.exp(v - largest));
  const place = keptNodes(mixture, shares, minWeight, logLikelihood);
  return { ...place, ...nodeMoments(mixture, work, place.nodes) };
}

/** Moments of the loaded individual's coefficients at the given nodes [K]. */
export function nodeMoments(mixture: CoefficientMixture, work: MixtureWorkspace, nodes: Int32Array): NodeMoments {
  const { numBasis: d, factors } = mixture;
  const s2 = noiseLevel(mixture.noise);
  const { C, Y, z } = work;
  const means = new Float64Array(nodes.length * d);
  const covariances = new Float64Array(nodes.length * d * d);
  nodes.forEach((node, k) => {
    factorNode(mixture, node, work);
    for (let b = 0; b < d; b++) {
      // Row b of Y' solves C y = (row b of L)'.
      let mean = mixture.means[node * d + b];
      for (let i = 0; i < d; i++) {
        let s = factors[(node * d + b) * d + i];
        for (let c = 0; c < i; c++) s -= C[i * d + c] * Y[b * d + c];
        s /= C[i * d + i];
        Y[b * d + i] = s;
        mean += s * z[i];
      }
      means[k * d + b] = mean;
      for (let a = 0; a <= b; a++) {
        let s = 0;
        for (let c = 0; c < d; c++) s += Y[a * d + c] * Y[b * d + c];
        covariances[(k * d + b) * d + a] = s2 * s;
        covariances[(k * d + a) * d + b] = s2 * s;
      }
    }
  });
  return { means, covariances };
}

/** Kernel: for the loaded individual and a node, work.C = C and work.z = z; returns log p(y|g). */
function factorNode(mixture: CoefficientMixture, node: number, work: MixtureWorkspace): number {
  const { numBasis: d, means, factors } = mixture;
  const s2 = noiseLevel(mixture.noise);
  const { G, g, T, C, r, z } = work;
  const mo = node * d;
  const lo = node * d * d;
  let squares = work.rho;
  for (let a = 0; a < d; a++) {
    let s = g[a];
    for (let b = 0; b < d; b++) {
      s -= G[a * d + b] * means[mo + b];
      let t = 0;
      for (let c = 0; c < d; c++) t += G[a * d + c] * factors[lo + c * d + b];
      T[a * d + b] = t;
    }
    r[a] = s;
    squares -= means[mo + a] * (g[a] + s);
  }
  let determinant = 1; // |A|/σ²ᵈ
  for (let i = 0; i < d; i++) {
    let zi = 0;
    for (let k = 0; k < d; k++) zi += factors[lo + k * d + i] * r[k];
    for (let j = 0; j <= i; j++) {
      let s = i === j ? s2 : 0;
      for (let k = 0; k < d; k++) s += factors[lo + k * d + i] * T[k * d + j];
      for (let c = 0; c < j; c++) s -= C[i * d + c] * C[j * d + c];
      if (j < i) {
        C[i * d + j] = s / C[j * d + j];
        zi -= C[i * d + j] * z[j];
      } else {
        // A ≥ σ²I, so pivots are at least σ² but for rounding.
        const pivot = Math.max(s, s2);
        determinant *= pivot / s2;
        C[i * d + i] = Math.sqrt(pivot);
        z[i] = zi / C[i * d + i];
        squares -= z[i] * z[i];
      }
    }
  }
  return work.noiseConstant - 0.5 * (Math.log(determinant) + Math.max(squares, 0) / s2);
}
