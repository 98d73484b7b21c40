/**
 * The linear mixed model (docs/math/linear.md §3): w_i ~ N(0, Σ), y_i | w_i ~ N(B_iβ + B_iw_i, σ² I), β = μ·1 or free.
 * Its map, the baseline of the paper, are principal component scores of the posterior means of w_i. Of several markers w_i are the
 * coefficients of all, one after another, with one full Σ, and each marker has its own noise (docs/math/linear.md §9).
 */

import { cohortSize } from "../../basis/cohort-sums.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import { withLevel } from "../../noise/noise.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import { columnSums } from "../../numeric/moments.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { type Json, type ModelBase, now } from "../fit.ts";
import { meanShift, misfitChange } from "../mean.ts";
import { type LinearProblem, maximizeCovariance } from "./em.ts";
import { fitLinear, type LinearFit, linearBase } from "./fit-linear.ts";
import { coefficientMeans } from "./posterior.ts";
import { principalScores } from "./principal-scores.ts";
import { restartFromLowerRanks } from "./restart.ts";
import {
  checkComponents,
  checkSize,
  type LinearSettings,
  linearSettings,
  type StatisticsFitOptions,
} from "./settings.ts";
import { type LinearParameters, numCoefficients, scaleRows, unitScales, unscaleRows } from "./stack.ts";
import { fromStandard, standardProblem, toStandard } from "./standardize.ts";

export interface LmmModel extends ModelBase {
  readonly kind: "lmm";
  /** L with Σ = LL', lower triangular [d,d]; d counts the coefficients of all markers. */
  readonly covarianceFactor: Float64Array;
  /** Mean of the posterior means of w_i over the training individuals, [d]. */
  readonly scoreCenter: Float64Array;
  /**
   * Λ [d,q]: the place of an individual is Λ'(ŵ − scoreCenter); unit variance over the training individuals. Components are those of
   * coefficients in units of their marker's noise.
   */
  readonly scoreLoadings: Float64Array;
}

export interface LmmStatisticsOptions extends StatisticsFitOptions {
  /** Number of principal component scores kept as the map. Default 2, or d if that is smaller. */
  readonly mapDimension?: number;
  /**
   * Further starts tried where the covariance loses rank, against local maxima. Default 2 for up to 500 individuals,
   * 0 for more and for several markers (there starts are dear and rarely find more) and for EM alone.
   */
  readonly restarts?: number;
  /** Parameters to start from; default the published start. */
  readonly start?: LinearParameters;
}

/** Fits the linear mixed model to sufficient statistics. */
export function fitLmmStatistics(statistics: readonly BasisStatistics[], options: LmmStatisticsOptions = {}): LmmModel {
  const began = now();
  const m = cohortSize(statistics[0]);
  const d = numCoefficients(statistics);
  const settings = linearSettings(options, "fitLmm");
  const { mapDimension: q = Math.min(2, d) } = options;
  checkSize("fitLmm", d);
  checkComponents("fitLmm", "mapDimension", q, d);
  const { restarts = m > 500 || statistics.length > 1 || settings.algorithm === "em" ? 0 : 2 } = options;
  checkOption(Number.isInteger(restarts) && restarts >= 0, "fitLmm", "restarts of 0 or more", restarts, "");
  const problem = standardProblem(statistics, settings.mean, options, settings.priors);
  const start = options.start === undefined ? publishedStart(problem) : toStandard(problem, options.start);
  const first = fitLinear(problem, start, maximizeCovariance, "linear mixed model", settings, options);
  const fit = restartFromLowerRanks(problem, settings, options, restarts, first);
  const told = { ...settings, restarts, mapDimension: q };
  return finishedLmm(statistics, fromStandard(problem, fit.parameters), fit, told, q, options, began);
}

/** The model of fitted parameters, with its scores. */
export function finishedLmm(
  statistics: readonly BasisStatistics[],
  parameters: LinearParameters,
  fit: LinearFit,
  settings: LinearSettings & { readonly [key: string]: Json },
  q: number,
  options: StatisticsFitOptions,
  began: number,
): LmmModel {
  const { numIndividuals: m } = statistics[0];
  const d = numCoefficients(statistics);
  const S = unitScales(statistics, parameters.noises);
  const scores = principalScores(
    coefficientMeans(statistics, parameters).map((w, e) => S[e % d] * w),
    m,
    d,
    q,
    options.shards?.spread?.rows,
  );
  const flat =
    scores.numVarying < q
      ? [`Only ${scores.numVarying} of ${q} map dimensions vary between individuals; the others are 0 for all.`]
      : [];
  const told = { ...fit, warnings: [...flat, ...fit.warnings] };
  return {
    ...linearBase(statistics, parameters, told, settings, q, options, began),
    kind: "lmm",
    covarianceFactor: lowerFactor(parameters.factor, d, d),
    scoreCenter: unscaleRows(S, scores.center),
    scoreLoadings: scaleRows(S, scores.loadings),
  };
}

/** The parameters of a fitted mixed model as the passes take them. */
export function lmmParameters(model: LmmModel): LinearParameters {
  return { ...markerParameters(model), factor: model.covarianceFactor, rank: numCoefficients(model.markers) };
}

/** Means of all markers one after another, and their noises. */
export function markerParameters({ markers }: ModelBase): Pick<LinearParameters, "meanCoefficients" | "noises"> {
  return {
    meanCoefficients: joinFloats(markers.map(({ mean }) => mean.coefficients)),
    noises: markers.map(({ noise }) => noise),
  };
}

/** The published start: least squares of all values, v = their residual variance (divided by N), Σ = vI, σ² = v/2; by marker. */
export function publishedStart(problem: LinearProblem): LinearParameters {
  const { statistics, mean, gram, totalSquares, lowestLevels, rowMarker, numCoefficients: d } = problem;
  const E = joinFloats(
    statistics.map(
      ({ whole, cross, numIndividuals, basis }) => whole?.cross ?? columnSums(cross, numIndividuals, basis.numBasis),
    ),
  );
  const shift = meanShift(mean, gram, E);
  const change = misfitChange(gram, E, shift, rowMarker);
  const variances = statistics.map(({ numObservations: N }, k) => (totalSquares[k] + change[k]) / N);
  // A mean curve through all observations would leave nothing to start from; noise has a lowest level.
  const v = variances.map((variance, k) => Math.max(variance, 2 * lowestLevels[k]));
  const factor = new Float64Array(d * d);
  for (let j = 0; j < d; j++) factor[j * d + j] = Math.sqrt(v[rowMarker[j]]);
  return {
    meanCoefficients: shift.map((b, j) => statistics[rowMarker[j]].center + b),
    noises: statistics.map(({ noise }, k) => withLevel(noise, v[k] / 2)),
    factor,
    rank: d,
  };
}
