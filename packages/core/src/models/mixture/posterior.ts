/**
 * The posterior of one individual under a mixture: weights of the nodes, and at each node, with Σ_g = L L' (any root),
 * A = σ²I + L'GL = C C', r = g − G m_g,
 *   w | y, g ~ N( m_g + L A⁻¹ L'r,  σ² L A⁻¹ L' ),
 * a form that stays positive definite however small the noise.
 */
import { choleskyInPlace, solveLowerInPlace, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { type CoefficientMixture, type MixtureWorkspace, mixtureLogLikelihood } from "./mixture.ts";

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

/** Posterior of the coefficients: a mixture over the same nodes. */
export interface CoefficientPosterior extends PlacePosterior {
  /** E[w | y, node], [K,d]. */
  readonly means: Float64Array;
  /** Cov[w | y, node], [K,d,d]. */
  readonly covariances: Float64Array;
}

/**
 * Weights of the nodes for the loaded individual. Nodes below `minWeight` of the largest weight are dropped and the rest
 * renormalised; what is dropped is below minWeight · Γ in all.
 */
export function placePosterior(mixture: CoefficientMixture, work: MixtureWorkspace, minWeight = 1e-9): PlacePosterior {
  const { numNodes, mapDimension: q } = mixture;
  const logLikelihood = mixtureLogLikelihood(mixture, work);
  let largest = Number.NEGATIVE_INFINITY;
  for (let g = 0; g < numNodes; g++) largest = Math.max(largest, work.logDensities[g]);
  const limit = largest + Math.log(minWeight);
  const kept: number[] = [];
  for (let g = 0; g < numNodes; g++) if (work.logDensities[g] >= limit) kept.push(g);
  const weights = Float64Array.from(kept, (g) => Math.exp(work.logDensities[g] - largest));
  const total = weights.reduce((s, w) => s + w, 0);
  const locations = new Float64Array(kept.length * q);
  kept.forEach((g, k) => {
    weights[k] /= total;
    for (let c = 0; c < q; c++) locations[k * q + c] = mixture.locations[g * q + c];
  });
  return { nodes: Int32Array.from(kept), weights, locations, logLikelihood };
}

/** Posterior of the loaded individual's coefficients, with moments at every node kept. */
export function conditionMixture(
  mixture: CoefficientMixture,
  work: MixtureWorkspace,
  minWeight = 1e-9,
): CoefficientPosterior {
  const { numBasis: d, noiseVariance: s2, factors } = mixture;
  const place = placePosterior(mixture, work, minWeight);
  const K = place.nodes.length;
  const means = new Float64Array(K * d);
  const covariances = new Float64Array(K * d * d);
  const Y = new Float64Array(d * d);
  for (let k = 0; k < K; k++) {
    const g = place.nodes[k];
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
  return { ...place, means, covariances };
}

/** For node g: work.A = chol(σ²I + L'GL), work.r = g − G m, work.z = L'r. */
function factorNode(mixture: CoefficientMixture, node: number, work: MixtureWorkspace): void {
  const { numBasis: d, noiseVariance: s2, means, factors } = mixture;
  const { G, g, A, GL, r, z } = work;
  const mo = node * d;
  const lo = node * d * d;
  for (let k = 0; k < d; k++) {
    let s = 0;
    for (let l = 0; l < d; l++) s += G[k * d + l] * means[mo + l];
    r[k] = g[k] - s;
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
}
