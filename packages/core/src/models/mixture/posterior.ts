/**
 * The posterior of one individual under a mixture: weights of the nodes, and at each node, with Σ_g = L L' (any root)
 * and the reduced observations h = Rw + noise of `mixture.ts`,
 *   X = RL,   e = h − R m_g,   A = σ²I + X'X = C C',   Y = C⁻¹L',
 *   w | y, g ~ N( m_g + Y'C⁻¹X'e,  σ² Y'Y ),
 * a form that stays positive definite however small the noise. Cost per node O(d² (r + d)).
 */
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
  const { logDensities } = work;
  let largest = Number.NEGATIVE_INFINITY;
  for (let g = 0; g < numNodes; g++) if (logDensities[g] > largest) largest = logDensities[g];
  const limit = largest + Math.log(minWeight);
  let K = 0;
  for (let g = 0; g < numNodes; g++) if (logDensities[g] >= limit) K++;
  const nodes = new Int32Array(K);
  const weights = new Float64Array(K);
  const locations = new Float64Array(K * q);
  let total = 0;
  for (let g = 0, k = 0; g < numNodes; g++) {
    if (!(logDensities[g] >= limit)) continue;
    nodes[k] = g;
    weights[k] = Math.exp(logDensities[g] - largest);
    total += weights[k];
    for (let c = 0; c < q; c++) locations[k * q + c] = mixture.locations[g * q + c];
    k++;
  }
  for (let k = 0; k < K; k++) weights[k] /= total;
  return { nodes, weights, locations, logLikelihood };
}

/** Posterior of the loaded individual's coefficients, with moments at every node kept. */
export function conditionMixture(
  mixture: CoefficientMixture,
  work: MixtureWorkspace,
  minWeight = 1e-9,
): CoefficientPosterior {
  const d = mixture.numBasis;
  const place = placePosterior(mixture, work, minWeight);
  const { nodes } = place;
  const K = nodes.length;
  const means = new Float64Array(K * d);
  const covariances = new Float64Array(K * d * d);
  for (let k = 0; k < K; k++) {
    factorNode(mixture, nodes[k], work);
    writeMoments(mixture, nodes[k], work, means, covariances, k);
  }
  return { ...place, means, covariances };
}

/** Kernel: for node g, work.A = C (reciprocals on the diagonal) and work.z = C⁻¹X'e. */
function factorNode(mixture: CoefficientMixture, node: number, work: MixtureWorkspace): void {
  const { numBasis: d, noiseVariance: s2, means, factors, isLower } = mixture;
  const { R, h, A, X, z, rank: r } = work;
  const mo = node * d;
  const lo = node * d * d;
  for (let i = 0; i < d; i++) {
    z[i] = 0;
    for (let j = 0; j < i; j++) A[i * d + j] = 0;
    A[i * d + i] = s2;
  }
  // A row of X at a time, and at once what it adds to A and to X'e.
  for (let a = 0; a < r; a++) {
    const ra = a * d;
    let e = h[a];
    for (let c = 0; c < d; c++) X[c] = 0;
    for (let k = 0; k < d; k++) {
      const v = R[ra + k];
      e -= v * means[mo + k];
      const lk = lo + k * d;
      const end = isLower ? k + 1 : d;
      for (let c = 0; c < end; c++) X[c] += v * factors[lk + c];
    }
    for (let i = 0; i < d; i++) {
      const x = X[i];
      const ri = i * d;
      z[i] += x * e;
      for (let j = 0; j <= i; j++) A[ri + j] += x * X[j];
    }
  }
  for (let i = 0; i < d; i++) {
    const ri = i * d;
    let pivot = A[ri + i];
    let b = z[i];
    for (let j = 0; j < i; j++) {
      const rj = j * d;
      let s = A[ri + j];
      for (let c = 0; c < j; c++) s -= A[ri + c] * A[rj + c];
      s *= A[rj + j];
      A[ri + j] = s;
      pivot -= s * s;
      b -= s * z[j];
    }
    // A ≥ σ²I, so pivots are at least σ² but for rounding.
    const inverse = 1 / Math.sqrt(Math.max(pivot, s2));
    A[ri + i] = inverse;
    z[i] = b * inverse;
  }
}

/** Kernel: writes mean and covariance of the node factored last to position k of `means` and `covariances`. */
function writeMoments(
  mixture: CoefficientMixture,
  node: number,
  work: MixtureWorkspace,
  means: Float64Array,
  covariances: Float64Array,
  k: number,
): void {
  const { numBasis: d, noiseVariance: s2, factors } = mixture;
  const { A, Y, z } = work;
  const lo = node * d * d;
  const co = k * d * d;
  // Row b of Y' solves C y = (row b of L)'.
  for (let b = 0; b < d; b++) {
    const rb = b * d;
    let mean = mixture.means[node * d + b];
    for (let i = 0; i < d; i++) {
      const ri = i * d;
      let s = factors[lo + rb + i];
      for (let c = 0; c < i; c++) s -= A[ri + c] * Y[rb + c];
      s *= A[ri + i];
      Y[rb + i] = s;
      mean += s * z[i];
    }
    means[k * d + b] = mean;
    for (let a = 0; a <= b; a++) {
      const ra = a * d;
      let s = 0;
      for (let c = 0; c < d; c++) s += Y[ra + c] * Y[rb + c];
      s *= s2;
      covariances[co + rb + a] = s;
      covariances[co + ra + b] = s;
    }
  }
}
