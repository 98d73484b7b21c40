/**
 * Places of individuals under the linear models: for FPCA the posterior of x_i itself, for the LMM the principal
 * component scores of the posterior of w_i, x = Λ'(w − center), with loadings Λ scaled to unit variance.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import type { ShardHost } from "../shards.ts";
import type { FpcaModel } from "./fpca.ts";
import type { LmmModel } from "./lmm.ts";
import type { LowRankParameters } from "./low-rank.ts";
import { totalLogLikelihood } from "./passes.ts";
import { coefficientPosterior, type EffectPosterior, effectPosterior } from "./posterior.ts";

/** Posterior mean [m,q] and covariance [m,q,q] of every individual's place, in the fit's frame. */
export function linearPlaces(model: LmmModel | FpcaModel, statistics: BasisStatistics): EffectPosterior {
  const d = model.basis.numBasis;
  const q = model.mapDimension;
  if (model.kind === "fpca") return effectPosterior(statistics, linearParameters(model));
  const w = coefficientPosterior(statistics, linearParameters(model));
  const m = statistics.numIndividuals;
  const mean = new Float64Array(m * q);
  const covariance = new Float64Array(m * q * q);
  const loadingsT = transpose(model.scoreLoadings, d, q);
  for (let i = 0; i < m; i++) {
    const centred = w.mean.slice(i * d, (i + 1) * d).map((v, k) => v - model.scoreCenter[k]);
    mean.set(multiplyVector(loadingsT, centred, q, d), i * q);
    const V = w.covariance.subarray(i * d * d, (i + 1) * d * d);
    covariance.set(multiply(multiply(loadingsT, V, q, d, d), model.scoreLoadings, q, d, q), i * q * q);
  }
  return { mean, covariance };
}

/**
 * Log-likelihood of everybody in the statistics, taken under the model's basis and centre, without placing anyone: that of
 * `embed`, summed.
 */
export function linearLogLikelihood(
  model: LmmModel | FpcaModel,
  statistics: BasisStatistics,
  options: { readonly shards?: ShardHost } = {},
): number {
  return totalLogLikelihood(statistics, linearParameters(model), options.shards);
}

/** The parameters of a fitted model as the passes take them. */
export function linearParameters(model: LmmModel | FpcaModel): LowRankParameters {
  const { noiseVariance } = model;
  const meanCoefficients = model.mean.coefficients;
  return model.kind === "fpca"
    ? { meanCoefficients, noiseVariance, factor: model.loadings, rank: model.mapDimension }
    : { meanCoefficients, noiseVariance, factor: model.covarianceFactor, rank: model.basis.numBasis };
}

/** Coefficients w [d] of the course at place x [q] (fit's frame): Fx for FPCA, center + F̂x for the LMM. */
export function scoreCourse(model: LmmModel | FpcaModel, x: Float64Array): Float64Array {
  const d = model.basis.numBasis;
  const w = multiplyVector(scoreDirections(model), x, d, model.mapDimension);
  if (model.kind === "lmm") for (let k = 0; k < d; k++) w[k] += model.scoreCenter[k];
  return w;
}

/** Change of w per unit of each place coordinate, F̂ [d,q]; F for FPCA, principal directions times their sd for the LMM. */
export function scoreDirections(model: LmmModel | FpcaModel): Float64Array {
  if (model.kind === "fpca") return model.loadings;
  const d = model.basis.numBasis;
  const q = model.mapDimension;
  const F = new Float64Array(d * q);
  for (let c = 0; c < q; c++) {
    let norm = 0;
    for (let k = 0; k < d; k++) norm += model.scoreLoadings[k * q + c] ** 2;
    // Λ_c = direction / sd, so direction · sd = Λ_c / ‖Λ_c‖².
    if (norm > 0) for (let k = 0; k < d; k++) F[k * q + c] = model.scoreLoadings[k * q + c] / norm;
  }
  return F;
}
