/**
 * Places of individuals under the linear models: for FPCA the posterior of x_i itself, for the LMM the principal
 * component scores of the posterior of w_i, x = Λ'(w − center), with loadings Λ scaled to unit variance.
 */

import type { BasisStatistics } from "../../basis/statistics.ts";
import { multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import type { ShardHost } from "../shards.ts";
import type { FpcaModel } from "./fpca.ts";
import { individualLogLikelihoods } from "./likelihood.ts";
import { type LmmModel, lmmParameters, markerParameters } from "./lmm.ts";
import { allEffects, totalLogLikelihood } from "./passes.ts";
import type { EffectPosterior, LinearMap } from "./posterior.ts";
import { type LinearParameters, numCoefficients, unitScales, unscaleRows } from "./stack.ts";

/** Posterior mean [m,q] and covariance [m,q,q] of every individual's place, in the fit's frame. */
export function linearPlaces(
  model: LmmModel | FpcaModel,
  statistics: readonly BasisStatistics[],
  shards?: ShardHost,
): EffectPosterior {
  return allEffects(statistics, linearParameters(model), placeOfEffects(model), shards);
}

/** The place as a function of the effects v: v itself for FPCA, Λ'(Lv − center) for the LMM. */
function placeOfEffects(model: LmmModel | FpcaModel): LinearMap | undefined {
  if (model.kind === "fpca") return undefined;
  const d = numCoefficients(model.markers);
  const q = model.mapDimension;
  const loadingsT = transpose(model.scoreLoadings, d, q);
  return {
    matrix: multiply(loadingsT, model.covarianceFactor, q, d, d),
    shift: multiplyVector(loadingsT, model.scoreCenter, q, d).map((x) => -x),
  };
}

/**
 * Log-likelihood of everybody in the statistics, taken under the model's basis and centre, without placing anyone: that of
 * `embed`, summed.
 */
export function linearLogLikelihood(
  model: LmmModel | FpcaModel,
  statistics: readonly BasisStatistics[],
  options: { readonly shards?: ShardHost } = {},
): number {
  return totalLogLikelihood(statistics, linearParameters(model), options.shards);
}

/**
 * log p(y_i) of every individual, all its markers jointly, [m]; statistics under the model's bases and centres, one for each marker.
 * Where a marker's statistics are zeros (`unmeasured`) it is that of the others, so that log p(y_A | y_B) = log p(y_A, y_B) − log p(y_B).
 */
export function linearLogLikelihoods(
  model: LmmModel | FpcaModel,
  statistics: readonly BasisStatistics[],
): Float64Array {
  return individualLogLikelihoods(statistics, linearParameters(model));
}

/** The parameters of a fitted model as the passes take them. */
export function linearParameters(model: LmmModel | FpcaModel): LinearParameters {
  if (model.kind === "lmm") return lmmParameters(model);
  return { ...markerParameters(model), factor: model.loadings, rank: model.mapDimension };
}

/** Coefficients w [d] of all markers of the course at place x [q] (fit's frame): Fx for FPCA, center + F̂x for the LMM. */
export function scoreCourse(model: LmmModel | FpcaModel, x: Float64Array): Float64Array {
  const d = numCoefficients(model.markers);
  const w = multiplyVector(scoreDirections(model), x, d, model.mapDimension);
  if (model.kind === "lmm") for (let k = 0; k < d; k++) w[k] += model.scoreCenter[k];
  return w;
}

/** Change of w per unit of each place coordinate, F̂ [d,q]; F for FPCA, principal directions times their sd for the LMM. */
export function scoreDirections(model: LmmModel | FpcaModel): Float64Array {
  if (model.kind === "fpca") return model.loadings;
  const d = numCoefficients(model.markers);
  const q = model.mapDimension;
  const S = unitScales(model.markers, markerParameters(model).noises);
  const loadings = unscaleRows(S, model.scoreLoadings);
  const F = new Float64Array(d * q);
  for (let c = 0; c < q; c++) {
    let norm = 0;
    for (let k = 0; k < d; k++) norm += loadings[k * q + c] ** 2;
    // In units of the noise Λ_c = direction / sd, so direction · sd = Λ_c / ‖Λ_c‖².
    if (norm > 0) for (let k = 0; k < d; k++) F[k * q + c] = loadings[k * q + c] / norm;
  }
  return unscaleRows(S, F);
}
