/** The log-likelihood of linear models, and its derivative by the covariance (docs/math/linear.md §5). */
import { type BasisStatistics, unpackGram } from "../../basis/statistics.ts";
import { noiseLevel } from "../../noise/noise.ts";
import { effectsReader, levelShares } from "./effects.ts";
import { levelLogLikelihoods } from "./joint-levels.ts";
import { createWorkspace, factorIndividual, type LowRankParameters, notPositive, solvePosterior } from "./low-rank.ts";
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
 * D = ∂ℓ/∂Σ, symmetric [d,d]: with e_i = g_i − T_iv̂_i = B_i'(y_i − B_iβ − B_iŵ_i),
 *   D = ½ Σ_i [ e_ie_i'/σ⁴ − (G_i − T_iA_i⁻¹T_i')/σ² ],
 * averaged over levels of the noise. It says more than ∂ℓ/∂L = 2DL where L has lost rank. Of stacked coefficients S_k w_k it is
 * S⁻¹DS⁻¹, S along the diagonal.
 */
export function covarianceGradient(markers: readonly BasisStatistics[], own: LinearParameters): Float64Array {
  const { statistics, parameters, scales } = stackMarkers(markers, own);
  const ws = createWorkspace(statistics, parameters);
  const { d, r, g, T, v, P } = ws;
  const levelsOf = levelShares(statistics, parameters);
  const D = new Float64Array(d * d);
  const G = new Float64Array(d * d);
  const TP = new Float64Array(d * r);
  const add = (i: number, share: number, at: LowRankParameters): void => {
    const sigma2 = noiseLevel(at.noise);
    if (Number.isNaN(factorIndividual(statistics, i, at, ws))) throw notPositive([at.noise]);
    solvePosterior(ws);
    unpackGram(statistics, i, G);
    for (let k = 0; k < d; k++) {
      for (let a = 0; a < r; a++) {
        g[k] -= T[k * r + a] * v[a];
        TP[k * r + a] = 0;
        for (let c = 0; c < r; c++) TP[k * r + a] += T[k * r + c] * P[c * r + a];
      }
    }
    for (let k = 0; k < d; k++) {
      for (let l = 0; l < d; l++) {
        let s = (g[k] * g[l]) / sigma2 - G[k * d + l];
        for (let a = 0; a < r; a++) s += TP[k * r + a] * T[l * r + a];
        D[k * d + l] += (0.5 * share * s) / sigma2;
      }
    }
  };
  for (let i = 0; i < statistics.numIndividuals; i++) {
    for (const { share, parameters: at } of levelsOf(i)) if (share > 0) add(i, share, at);
  }
  return D.map((v, e) => scales[Math.floor(e / d)] * v * scales[e % d]);
}
