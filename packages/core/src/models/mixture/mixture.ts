/**
 * Every fitted model as one thing: a mixture of Gaussians over spline coefficients (docs/math/prediction.md §1),
 *   w ~ Σ_g π_g N(m_g, Σ_g),   y | w ~ N(Bβ + Bw, σ²I).
 * LMM and FPCA have one component; a map has one per node of a lattice over places, π_g the prior mass of the node,
 * m_g and Σ_g the map's mean and covariance there (residual effect included). Place, forecast and held-out likelihood
 * of an individual follow from its statistics G_i, g_i, ρ_i alone. With Σ_g = L L' (any root) and
 *   A = σ²I + L'GL = C C',   r = g − G m_g,   z = C⁻¹L'r:
 *   log p(y|g) = −½[ n log 2π + (n−d) log σ² + log|A| + (ρ − 2g'm_g + m_g'G m_g − z'z)/σ² ],
 *   w | y, g ~ N( m_g + L A⁻¹ L'r,  σ² L A⁻¹ L' ).
 * O(d³) per node and individual, whatever the number of observations.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { choleskyInPlace, solveLowerInPlace, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { LOG_2PI, logSumExp } from "../../numeric/special.ts";
import { semidefiniteRoot } from "../../numeric/symmetric-eigen.ts";

export interface CoefficientMixture {
  readonly numNodes: number; // Γ
  readonly numBasis: number; // d
  readonly mapDimension: number; // q; 0 if the components are no places
  /** Places of the nodes in the fit's frame, [Γ,q]. */
  readonly locations: Float64Array;
  /** log π_g, [Γ]. */
  readonly logWeights: Float64Array;
  /** m_g, [Γ,d]. */
  readonly means: Float64Array;
  /** Square roots of Σ_g, [Γ,d,d]. */
  readonly factors: Float64Array;
  /** β, [d]. */
  readonly meanCoefficients: Float64Array;
  readonly noiseVariance: number;
}

export interface MixtureParts extends Omit<CoefficientMixture, "numNodes" | "factors"> {
  /** Σ_g, [Γ,d,d]. */
  readonly covariances: Float64Array;
  /** Added to the diagonal of Σ_g, relative to its trace, before the factorisation. Default 1e-12. */
  readonly relativeJitter?: number;
}

/** A mixture from its parts; covariances are factored once. */
export function makeMixture(parts: MixtureParts): CoefficientMixture {
  const { covariances, relativeJitter = 1e-12, ...rest } = parts;
  const d = parts.numBasis;
  const numNodes = parts.logWeights.length;
  const factors = new Float64Array(covariances.length);
  for (let g = 0; g < numNodes; g++) {
    const S = covariances.slice(g * d * d, (g + 1) * d * d);
    let total = 0;
    for (let k = 0; k < d; k++) total += S[k * d + k];
    for (let k = 0; k < d; k++) S[k * d + k] += relativeJitter * total;
    const L = S.slice();
    factors.set(choleskyInPlace(L, d) ? L : semidefiniteRoot(S, d), g * d * d);
  }
  return { ...rest, numNodes, factors };
}

/** Scratch of the kernels below, and the statistics of the individual at hand. */
export interface MixtureWorkspace {
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly A: Float64Array; // [d,d]
  readonly GL: Float64Array; // [d,d]
  readonly r: Float64Array; // [d]
  readonly z: Float64Array; // [d]
  readonly logDensities: Float64Array; // [Γ]
  rho: number;
  n: number;
}

export function mixtureWorkspace(mixture: CoefficientMixture): MixtureWorkspace {
  const d = mixture.numBasis;
  const square = () => new Float64Array(d * d);
  const vector = () => new Float64Array(d);
  return {
    G: square(),
    g: vector(),
    A: square(),
    GL: square(),
    r: vector(),
    z: vector(),
    logDensities: new Float64Array(mixture.numNodes),
    rho: 0,
    n: 0,
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
}

/** Writes log p(y_i | node g) of the loaded individual to work.logDensities, [Γ]. */
export function nodeLogDensities(mixture: CoefficientMixture, work: MixtureWorkspace): void {
  const { numNodes, numBasis: d, noiseVariance: s2 } = mixture;
  const constant = work.n * LOG_2PI + (work.n - d) * Math.log(s2);
  for (let g = 0; g < numNodes; g++) {
    const quadratic = factorNode(mixture, g, work);
    solveLowerInPlace(work.A, d, work.z);
    let logDet = 0;
    let zz = 0;
    for (let k = 0; k < d; k++) {
      logDet += Math.log(work.A[k * d + k]);
      zz += work.z[k] * work.z[k];
    }
    work.logDensities[g] = -0.5 * (constant + 2 * logDet + (quadratic - zz) / s2);
  }
}

/**
 * For node g: work.A = chol(σ²I + L'GL), work.r = g − G m, work.z = L'r; returns ρ − 2g'm + m'Gm.
 */
function factorNode(mixture: CoefficientMixture, node: number, work: MixtureWorkspace): number {
  const { numBasis: d, noiseVariance: s2, means, factors } = mixture;
  const { G, g, A, GL, r, z } = work;
  const mo = node * d;
  const lo = node * d * d;
  let quadratic = work.rho;
  for (let k = 0; k < d; k++) {
    let s = 0;
    for (let l = 0; l < d; l++) s += G[k * d + l] * means[mo + l];
    r[k] = g[k] - s;
    quadratic -= means[mo + k] * (g[k] + r[k]);
    for (let c = 0; c < d; c++) {
      let t = 0;
      for (let l = 0; l < d; l++) t += G[k * d + l] * factors[lo + l * d + c];
      GL[k * d + c] = t;
    }
  }
  for (let a = 0; a < d; a++) {
    let t = 0;
    for (let k = 0; k < d; k++) t += factors[lo + k * d + a] * r[k];
    z[a] = t;
    for (let b = 0; b <= a; b++) {
      let s = a === b ? s2 : 0;
      for (let k = 0; k < d; k++) s += factors[lo + k * d + a] * GL[k * d + b];
      A[a * d + b] = s;
    }
  }
  choleskyInPlace(A, d);
  return Math.max(quadratic, 0);
}

/** log p(y_i) of the loaded individual: log Σ_g π_g p(y_i|g). Leaves log π_g + log p(y_i|g) in work.logDensities. */
export function mixtureLogLikelihood(mixture: CoefficientMixture, work: MixtureWorkspace): number {
  nodeLogDensities(mixture, work);
  for (let g = 0; g < mixture.numNodes; g++) work.logDensities[g] += mixture.logWeights[g];
  return logSumExp(work.logDensities);
}

/** log p(y_i) of every individual under the mixture, [m]. */
export function logLikelihoods(mixture: CoefficientMixture, statistics: BasisStatistics): Float64Array {
  const work = mixtureWorkspace(mixture);
  const out = new Float64Array(statistics.numIndividuals);
  for (let i = 0; i < out.length; i++) {
    loadIndividual(mixture, statistics, i, work);
    out[i] = mixtureLogLikelihood(mixture, work);
  }
  return out;
}

/** Posterior of one individual's coefficients (and place): a mixture again, nodes of negligible weight left out. */
export interface CoefficientPosterior {
  /** Nodes kept, [K]. */
  readonly nodes: Int32Array;
  /** Posterior weights, summing to one, [K]. */
  readonly weights: Float64Array;
  /** Places of the kept nodes in the fit's frame, [K,q]. */
  readonly locations: Float64Array;
  /** E[w | y, node], [K,d]. */
  readonly means: Float64Array;
  /** Cov[w | y, node], [K,d,d]. */
  readonly covariances: Float64Array;
  /** log p(y_i); 0 without observations. */
  readonly logLikelihood: number;
}

/**
 * Posterior of the loaded individual. Nodes below `minWeight` of the largest weight are dropped and the rest
 * renormalised; their total is below minWeight · Γ.
 */
export function conditionMixture(
  mixture: CoefficientMixture,
  work: MixtureWorkspace,
  minWeight = 1e-9,
): CoefficientPosterior {
  const { numNodes, numBasis: d, mapDimension: q, noiseVariance: s2, factors } = mixture;
  const logLikelihood = mixtureLogLikelihood(mixture, work);
  let largest = Number.NEGATIVE_INFINITY;
  for (let g = 0; g < numNodes; g++) largest = Math.max(largest, work.logDensities[g]);
  const limit = largest + Math.log(minWeight);
  const kept: number[] = [];
  for (let g = 0; g < numNodes; g++) if (work.logDensities[g] >= limit) kept.push(g);
  const K = kept.length;
  const weights = Float64Array.from(kept, (g) => Math.exp(work.logDensities[g] - largest));
  const total = weights.reduce((s, w) => s + w, 0);
  const locations = new Float64Array(K * q);
  const means = new Float64Array(K * d);
  const covariances = new Float64Array(K * d * d);
  const Y = new Float64Array(d * d);
  for (let k = 0; k < K; k++) {
    const g = kept[k];
    weights[k] /= total;
    locations.set(mixture.locations.subarray(g * q, (g + 1) * q), k * q);
    factorNode(mixture, g, work);
    // Y = C⁻¹L': then L A⁻¹ L' = Y'Y and L A⁻¹ L'r = Y'(C⁻¹L'r).
    for (let a = 0; a < d; a++) for (let b = 0; b < d; b++) Y[a * d + b] = factors[g * d * d + b * d + a];
    solveLowerMatrixInPlace(work.A, d, Y, d);
    solveLowerInPlace(work.A, d, work.z);
    for (let a = 0; a < d; a++) {
      let shift = 0;
      for (let c = 0; c < d; c++) shift += Y[c * d + a] * work.z[c];
      means[k * d + a] = mixture.means[g * d + a] + shift;
      for (let b = 0; b <= a; b++) {
        let s = 0;
        for (let c = 0; c < d; c++) s += Y[c * d + a] * Y[c * d + b];
        covariances[(k * d + a) * d + b] = s2 * s;
        covariances[(k * d + b) * d + a] = s2 * s;
      }
    }
  }
  return { nodes: Int32Array.from(kept), weights, locations, means, covariances, logLikelihood };
}
