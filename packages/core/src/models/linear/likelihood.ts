/** The log-likelihood of linear models, and its derivative by the covariance (docs/math/linear.md §5). */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { noiseLevels } from "../../noise/noise.ts";
import { multiply, multiplyTransposed } from "../../numeric/matrix.ts";
import { effectsReader, rotatedReader } from "./effects.ts";
import { levelLogLikelihoods } from "./joint-levels.ts";
import { notPositive } from "./low-rank.ts";
import { haveLevels, type LinearParameters, stackMarkers } from "./stack.ts";

/** log p(y_i) of every individual, of all its markers jointly, [m]. For new individuals this is their held-out score. */
export function individualLogLikelihoods(
  markers: readonly BasisStatistics[],
  parameters: LinearParameters,
): Float64Array {
  if (haveLevels(parameters.noises)) return levelLogLikelihoods(markers, parameters);
  const { statistics, parameters: stacked, logUnit } = stackMarkers(markers, parameters);
  const effectsOf = effectsReader(statistics, stacked);
  const out = Float64Array.from({ length: statistics.numIndividuals }, (_, i) => effectsOf(i).logDensity + logUnit(i));
  if (out.some(Number.isNaN)) throw notPositive(parameters.noises);
  return out;
}

/** Σ_i log p(y_i). */
export function logLikelihood(statistics: readonly BasisStatistics[], parameters: LinearParameters): number {
  return individualLogLikelihoods(statistics, parameters).reduce((sum, value) => sum + value, 0);
}

/**
 * D = ∂ℓ/∂Σ, symmetric [d,d]: with e_i = B_i'(y_i − B_iβ − B_iŵ_i) and C_i = Cov w_i, D = ½ Σ_i [e_ie_i'/σ⁴ − (G_i − G_iC_iG_i/σ²)/σ²],
 * averaged over levels s_k of the noise. In the frame of noise/levels.ts e_i = Xc_k with X = [g V] and c_k = (1, −a_j/(s_k + δ_j)), so
 *   D = ½ Σ_i [X (Σ_k q_k c_kc_k'/s_k² + diag(0, β)) X' − αG],   α = Σ_k q_k/s_k,   β_j = Σ_k q_k/[s_k(s_k + δ_j)].
 * It says more than ∂ℓ/∂L = 2DL where L has lost rank. Of stacked coefficients S_k w_k it is S⁻¹DS⁻¹, S along the diagonal.
 */
export function covarianceGradient(markers: readonly BasisStatistics[], own: LinearParameters): Float64Array {
  const { statistics, parameters, scales } = stackMarkers(markers, own);
  const levels = noiseLevels(parameters.noise);
  const rotatedOf = rotatedReader(statistics, parameters, levels);
  const d = statistics.basis.numBasis;
  const r = parameters.rank;
  const n = 1 + r;
  const D = new Float64Array(d * d);
  const X = new Float64Array(d * n);
  const C = new Float64Array(n * n);
  const c = new Float64Array(n).fill(1, 0, 1);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const { G, g, V, a, delta, weights, logSum } = rotatedOf(i);
    if (Number.isNaN(logSum)) throw notPositive(own.noises);
    let alpha = 0;
    C.fill(0);
    for (let k = 0; k < weights.length; k++) {
      const s = levels.variances[k];
      const share = weights[k] / s;
      alpha += share;
      for (let j = 0; j < r; j++) {
        c[1 + j] = -a[j] / (s + delta[j]);
        C[(1 + j) * n + 1 + j] += share / (s + delta[j]);
      }
      for (let b = 0; b < n; b++) for (let j = 0; j < n; j++) C[b * n + j] += (share / s) * c[b] * c[j];
    }
    for (let k = 0; k < d; k++) {
      X[k * n] = g[k];
      for (let j = 0; j < r; j++) X[k * n + 1 + j] = V[k * r + j];
    }
    const XCX = multiplyTransposed(multiply(X, C, d, n, n), X, d, n, d);
    for (let e = 0; e < d * d; e++) D[e] += 0.5 * (XCX[e] - alpha * G[e]);
  }
  return D.map((v, e) => scales[Math.floor(e / d)] * v * scales[e % d]);
}
