/**
 * The linear mixed model (docs/math/linear.md §3): w_i ~ N(0, Σ), y_i | w_i ~ N(B_iβ + B_iw_i, σ² I), β = μ·1 or free.
 * Its map, the baseline of the paper, are principal component scores of the posterior means of w_i.
 */

import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import { withLevel } from "../../noise/noise.ts";
import { identity } from "../../numeric/matrix.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import { type ModelBase, markerModel, now } from "../fit.ts";
import { meanShift, misfitChange } from "../mean.ts";
import { type LinearProblem, maximizeCovariance } from "./em.ts";
import { fitLinear, linearBase } from "./fit-linear.ts";
import type { LowRankParameters } from "./low-rank.ts";
import { coefficientMeans } from "./posterior.ts";
import { principalScores } from "./principal-scores.ts";
import { restartFromLowerRanks } from "./restart.ts";
import { checkComponents, linearSettings, type StatisticsFitOptions } from "./settings.ts";
import { fromStandard, standardProblem, toStandard } from "./standardize.ts";

export interface LmmModel extends ModelBase {
  readonly kind: "lmm";
  /** L with Σ = LL', lower triangular [d,d]. */
  readonly covarianceFactor: Float64Array;
  /** Mean of the posterior means of w_i over the training individuals, [d]. */
  readonly scoreCenter: Float64Array;
  /** Λ [d,q]: the place of an individual is Λ'(ŵ − scoreCenter); unit variance over the training individuals. */
  readonly scoreLoadings: Float64Array;
}

export interface LmmStatisticsOptions extends StatisticsFitOptions {
  /** Number of principal component scores kept as the map. Default 2, or d if that is smaller. */
  readonly mapDimension?: number;
  /**
   * Further starts tried where the covariance loses rank, against local maxima. Default 2 for up to 500 individuals,
   * 0 for more (there local maxima are rare and starts dear) and for EM alone.
   */
  readonly restarts?: number;
  /** Parameters to start from; default the published start. */
  readonly start?: LowRankParameters;
}

/** Fits the linear mixed model to sufficient statistics. */
export function fitLmmStatistics(statistics: BasisStatistics, options: LmmStatisticsOptions = {}): LmmModel {
  const began = now();
  const { numIndividuals: m } = statistics;
  const d = statistics.basis.numBasis;
  const settings = linearSettings(options, "fitLmm");
  const { mapDimension: q = Math.min(2, d) } = options;
  checkComponents("fitLmm", "mapDimension", q, d);
  const { restarts = m > 500 || settings.algorithm === "em" ? 0 : 2 } = options;
  checkOption(Number.isInteger(restarts) && restarts >= 0, "fitLmm", "restarts of 0 or more", restarts, "");
  const problem = standardProblem(statistics, settings.mean, options, settings.priors);
  const start = options.start === undefined ? publishedStart(problem) : toStandard(problem, options.start);
  const first = fitLinear(problem, start, maximizeCovariance, "linear mixed model", settings, options);
  const fit = restartFromLowerRanks(problem, settings, options, restarts, first);
  const parameters = fromStandard(problem, fit.parameters);
  const scores = principalScores(coefficientMeans(statistics, parameters), m, d, q);
  const flat =
    scores.numVarying < q
      ? [`Only ${scores.numVarying} of ${q} map dimensions vary between individuals; the others are 0 for all.`]
      : [];
  const told = { ...fit, warnings: [...flat, ...fit.warnings] };
  return {
    ...linearBase(statistics, parameters, told, { ...settings, restarts, mapDimension: q }, q, options, began),
    kind: "lmm",
    covarianceFactor: lowerFactor(parameters.factor, d, d),
    scoreCenter: scores.center,
    scoreLoadings: scores.loadings,
  };
}

/** The parameters of a fitted mixed model as the passes take them. */
export function lmmParameters(model: LmmModel): LowRankParameters {
  const { basis, mean, noise } = markerModel(model);
  return {
    meanCoefficients: mean.coefficients,
    noise,
    factor: model.covarianceFactor,
    rank: basis.numBasis,
  };
}

/** The published start: least squares of all values, v = their residual variance (divided by N), Σ = vI, σ² = v/2. */
export function publishedStart({ statistics, mean, gram, lowestLevel }: LinearProblem): LowRankParameters {
  const { numIndividuals: m, numObservations: N, cross, sumSquares, center } = statistics;
  const d = statistics.basis.numBasis;
  const E = new Float64Array(d);
  for (let i = 0; i < m; i++) for (let k = 0; k < d; k++) E[k] += cross[i * d + k];
  const shift = meanShift(mean, gram, E);
  const variance = (compensatedSum(sumSquares) + misfitChange(gram, E, shift)) / N;
  // A mean curve through all observations would leave nothing to start from; noise has a lowest level.
  const v = Math.max(variance, 2 * lowestLevel);
  return {
    meanCoefficients: shift.map((b) => center + b),
    noise: withLevel(statistics.noise, v / 2),
    factor: identity(d, Math.sqrt(v)),
    rank: d,
  };
}
