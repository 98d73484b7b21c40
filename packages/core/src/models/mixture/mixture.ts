/**
 * Every fitted model as one thing: a mixture of Gaussians over spline coefficients (docs/math/prediction.md §1),
 *   w ~ Σ_g π_g N(m_g, Σ_g),   y | w ~ N(Bβ + Bw, σ²I).
 * LMM and FPCA have one component; a map has one per node of a lattice over places, π_g the prior mass of the node,
 * m_g and Σ_g the map's mean and covariance there (residual effect included). Place, forecast and held-out likelihood
 * of an individual follow from its statistics G_i, g_i, ρ_i alone.
 *
 * Densities. With G = R'R, R [r,d] of full rank r ≤ min(n, d), and g = R'h, the observations split into r numbers h and
 * noise that no node can explain:
 *   log p(y|g) = −½[ n log 2π + (n−r) log σ² + (ρ − h'h)/σ² + log|V| + e'V⁻¹e ],  V = RΣ_gR' + σ²I,  e = h − Rm_g.
 * V is linear in Σ_g: its r(r+1)/2 entries are dot products of the packed Σ_g with numbers made once per individual.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { LOG_2PI, logSumExp } from "../../numeric/special.ts";
import { semidefiniteRoot, symmetricEigen } from "../../numeric/symmetric-eigen.ts";

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
  /** Whether all the roots are lower triangular. */
  readonly isLower: boolean;
  /** Lower triangles of Σ_g = L L', row by row, [Γ, d(d+1)/2]. */
  readonly packedCovariances: Float64Array;
  /** β, [d]. */
  readonly meanCoefficients: Float64Array;
  readonly noiseVariance: number;
}

/** What a mixture is made of, but for its covariances. */
type Components = Omit<CoefficientMixture, "numNodes" | "factors" | "isLower" | "packedCovariances">;

export interface MixtureParts extends Components {
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
  return withFactors(rest, factors);
}

/** A mixture from square roots of its covariances, [Γ,d,d]. */
export function withFactors(parts: Components, factors: Float64Array): CoefficientMixture {
  const d = parts.numBasis;
  const numNodes = parts.logWeights.length;
  const numPacked = (d * (d + 1)) / 2;
  const packedCovariances = new Float64Array(numNodes * numPacked);
  let isLower = true;
  for (let g = 0, at = 0; g < numNodes; g++) {
    const L = g * d * d;
    for (let a = 0; a < d; a++) {
      for (let c = a + 1; c < d; c++) if (factors[L + a * d + c] !== 0) isLower = false;
      for (let b = 0; b <= a; b++) {
        let s = 0;
        for (let c = 0; c < d; c++) s += factors[L + a * d + c] * factors[L + b * d + c];
        packedCovariances[at++] = s;
      }
    }
  }
  return { ...parts, numNodes, factors, isLower, packedCovariances };
}

/** Scratch of the kernels below, and the statistics of the individual at hand. */
export interface MixtureWorkspace {
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly A: Float64Array; // [d,d]
  readonly X: Float64Array; // a row of RL, [d]
  readonly Y: Float64Array; // (C⁻¹L')', [d,d]
  readonly r: Float64Array; // [d]
  readonly z: Float64Array; // [d]
  readonly logDensities: Float64Array; // [Γ]
  /** R [r,d] with G = R'R and h [r] with g = R'h. */
  readonly R: Float64Array;
  readonly h: Float64Array;
  /** Entries of V as functions of the packed Σ_g: [r(r+1)/2, d(d+1)/2]. */
  readonly spread: Float64Array;
  readonly V: Float64Array; // [r,r] as packed lower triangle
  readonly e: Float64Array; // [r]
  rank: number;
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
    X: vector(),
    Y: square(),
    r: vector(),
    z: vector(),
    logDensities: new Float64Array(mixture.numNodes),
    R: square(),
    h: vector(),
    spread: new Float64Array(((d * (d + 1)) / 2) ** 2),
    V: square(),
    e: vector(),
    rank: 0,
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

/** Eigenvalues of G below this share of the largest carry rounding only. */
const RANK_TOLERANCE = 1e-13;

/** Fills R, h and `spread` from G and g. */
function reduceIndividual(mixture: CoefficientMixture, work: MixtureWorkspace): void {
  const d = mixture.numBasis;
  const { G, g, R, h, spread } = work;
  const { values, vectors } = symmetricEigen(G, d);
  let r = 0;
  while (r < Math.min(d, work.n) && values[r] > RANK_TOLERANCE * values[0]) r++;
  work.rank = r;
  for (let a = 0; a < r; a++) {
    const root = Math.sqrt(values[a]);
    let s = 0;
    for (let k = 0; k < d; k++) {
      R[a * d + k] = root * vectors[k * d + a];
      s += vectors[k * d + a] * g[k];
    }
    h[a] = s / root;
  }
  for (let a = 0, at = 0; a < r; a++) {
    for (let b = 0; b <= a; b++) {
      for (let k = 0; k < d; k++) {
        for (let l = 0; l < k; l++) spread[at++] = R[a * d + k] * R[b * d + l] + R[a * d + l] * R[b * d + k];
        spread[at++] = R[a * d + k] * R[b * d + k];
      }
    }
  }
}

/** Writes log p(y_i | node g) of the loaded individual to work.logDensities, [Γ]. */
export function nodeLogDensities(mixture: CoefficientMixture, work: MixtureWorkspace): void {
  reduceIndividual(mixture, work);
  const { numNodes, noiseVariance: s2 } = mixture;
  const { h, rank: r } = work;
  let rest = work.rho;
  for (let a = 0; a < r; a++) rest -= h[a] * h[a];
  const constant = work.n * (LOG_2PI + Math.log(s2)) + Math.max(rest, 0) / s2;
  for (let g = 0; g < numNodes; g++) {
    work.logDensities[g] = -0.5 * (constant + factorReduced(mixture, g, work));
  }
}

/**
 * For node g: work.V = Cholesky factor C of V (packed rows, reciprocals on the diagonal), work.e = C⁻¹e;
 * returns log(|V|/σ²ʳ) + e'V⁻¹e.
 */
function factorReduced(mixture: CoefficientMixture, node: number, work: MixtureWorkspace): number {
  const { numBasis: d, noiseVariance: s2, means, packedCovariances: packed } = mixture;
  const { R, h, spread, V, e, rank: r } = work;
  const numPacked = (d * (d + 1)) / 2;
  const so = node * numPacked;
  const mo = node * d;
  let determinant = 1;
  let quadratic = 0;
  // Row a of V, of C and of C⁻¹e in one sweep; row a starts at a(a+1)/2.
  for (let a = 0, at = 0, row = 0; a < r; row += ++a) {
    let residual = h[a];
    for (let k = 0; k < d; k++) residual -= R[a * d + k] * means[mo + k];
    for (let b = 0, other = 0; b <= a; other += ++b) {
      // Four sums side by side: one alone would wait for itself.
      let s = a === b ? s2 : 0;
      let s1 = 0;
      let s3 = 0;
      let s4 = 0;
      let k = 0;
      for (; k + 4 <= numPacked; k += 4, at += 4) {
        s += spread[at] * packed[so + k];
        s1 += spread[at + 1] * packed[so + k + 1];
        s3 += spread[at + 2] * packed[so + k + 2];
        s4 += spread[at + 3] * packed[so + k + 3];
      }
      for (; k < numPacked; k++) s += spread[at++] * packed[so + k];
      s += s1 + (s3 + s4);
      for (let c = 0; c < b; c++) s -= V[row + c] * V[other + c];
      if (b < a) {
        s *= V[other + b];
        V[row + b] = s;
        residual -= s * e[b];
      } else {
        // V ≥ σ²I, so pivots are at least σ² but for rounding.
        const pivot = Math.max(s, s2);
        determinant *= pivot / s2;
        const inverse = 1 / Math.sqrt(pivot);
        V[row + a] = inverse;
        e[a] = residual * inverse;
        quadratic += e[a] * e[a];
      }
    }
  }
  return Math.log(determinant) + quadratic;
}

/** Adds `weight` · E[w | y, node] = weight · (m + Σ R'V⁻¹e) of the loaded individual to out[offset..offset+d]. */
export function addNodeMean(
  mixture: CoefficientMixture,
  node: number,
  weight: number,
  work: MixtureWorkspace,
  out: Float64Array,
  offset: number,
): void {
  const { numBasis: d, means, packedCovariances: packed } = mixture;
  const { R, V, e, r: t, rank } = work;
  factorReduced(mixture, node, work);
  // e ← C⁻ᵀ(C⁻¹e).
  for (let a = rank - 1; a >= 0; a--) {
    const row = (a * (a + 1)) / 2;
    const x = e[a] * V[row + a];
    e[a] = x;
    for (let b = 0; b < a; b++) e[b] -= V[row + b] * x;
  }
  for (let k = 0; k < d; k++) {
    let s = 0;
    for (let a = 0; a < rank; a++) s += R[a * d + k] * e[a];
    t[k] = s;
    out[offset + k] += weight * means[node * d + k];
  }
  for (let k = 0, at = (node * d * (d + 1)) / 2; k < d; k++) {
    for (let l = 0; l < k; l++) {
      const v = weight * packed[at++];
      out[offset + k] += v * t[l];
      out[offset + l] += v * t[k];
    }
    out[offset + k] += weight * packed[at++] * t[k];
  }
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
