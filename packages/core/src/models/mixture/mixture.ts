/**
 * Every fitted model as one thing: a mixture of Gaussians over spline coefficients (docs/math/prediction.md §1),
 *   w ~ Σ_g π_g N(m_g, Σ_g),   y | w ~ N(Bβ + Bw, σ²I).
 * LMM and FPCA have one component; a map has one per node of a lattice over places, π_g the prior mass of the node,
 * m_g and Σ_g the map's mean and covariance there (residual effect included). Place, forecast and held-out likelihood
 * of an individual follow from its statistics G_i, g_i, ρ_i alone (posterior.ts).
 */
import type { Noise } from "../../noise/noise.ts";
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { trace } from "../../numeric/matrix.ts";
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
  /** Lower triangles of Σ_g = L L', row by row, [Γ, d(d+1)/2]. */
  readonly packedCovariances: Float64Array;
  /** β, [d]. */
  readonly meanCoefficients: Float64Array;
  readonly noise: Noise;
}

/** What a mixture is made of, but for its covariances. */
type Components = Omit<CoefficientMixture, "numNodes" | "factors" | "packedCovariances">;

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
    const jitter = relativeJitter * trace(S, d);
    for (let k = 0; k < d; k++) S[k * d + k] += jitter;
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
  for (let g = 0, at = 0; g < numNodes; g++) {
    const L = g * d * d;
    for (let a = 0; a < d; a++) {
      for (let b = 0; b <= a; b++) {
        let s = 0;
        for (let c = 0; c < d; c++) s += factors[L + a * d + c] * factors[L + b * d + c];
        packedCovariances[at++] = s;
      }
    }
  }
  return { ...parts, numNodes, factors, packedCovariances };
}
