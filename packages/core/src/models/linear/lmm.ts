/**
 * The linear mixed model (docs/math/linear.md §3): w_i ~ N(0, Σ), y_i | w_i ~ N(B_iβ + B_iw_i, σ² I), β = μ·1 or free.
 * Its map, the baseline of the paper, are principal component scores of the posterior means of w_i.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DEFAULT_MARKER, type Marker } from "../../cohort/marker.ts";
import { checkOption } from "../../errors.ts";
import { identity } from "../../numeric/matrix.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { type FitControl, type ModelBase, now } from "../fit.ts";
import { lmmEmStep } from "./em.ts";
import {
  fitLinear,
  type LinearFit,
  type LinearOptions,
  type LinearSettings,
  linearRecord,
  linearSettings,
} from "./fit-linear.ts";
import type { LowRankParameters } from "./low-rank.ts";
import { type MeanProblem, pooledMean, prepareMean } from "./mean.ts";
import { coefficientMeans } from "./posterior.ts";
import { principalScores } from "./principal-scores.ts";
import { restartFromLowerRanks } from "./restart.ts";
import { fromStandard, type Standardized, standardize, toStandard } from "./standardize.ts";

export interface LmmModel extends ModelBase {
  readonly kind: "lmm";
  /** L with Σ = LL', lower triangular [d,d]. */
  readonly covarianceFactor: Float64Array;
  /** Mean of the posterior means of w_i over the training individuals, [d]. */
  readonly scoreCenter: Float64Array;
  /** Λ [d,q]: the place of an individual is Λ'(ŵ − scoreCenter); unit variance over the training individuals. */
  readonly scoreLoadings: Float64Array;
}

export interface LmmStatisticsOptions extends LinearOptions, FitControl {
  /** Number of principal component scores kept as the map. Default 2, or d if that is smaller. */
  readonly mapDimension?: number;
  /**
   * Further starts tried where the covariance loses rank, against local maxima. Default 2 for up to 500 individuals,
   * 0 for more (there local maxima are rare and starts dear) and for EM alone.
   */
  readonly restarts?: number;
  readonly marker?: Marker;
  /** Warnings to put first in the record (from preparing the cohort). */
  readonly warnings?: readonly string[];
  /** Parameters to start from; default the published start. */
  readonly start?: LowRankParameters;
}

/** Fits the linear mixed model to sufficient statistics. */
export function fitLmmStatistics(statistics: BasisStatistics, options: LmmStatisticsOptions = {}): LmmModel {
  const began = now();
  const d = statistics.basis.numBasis;
  const settings = linearSettings(options, "fitLmm");
  const { mapDimension: q = Math.min(2, d), seed = 1, marker = DEFAULT_MARKER, warnings = [] } = options;
  checkOption(
    Number.isInteger(q) && q >= 1 && q <= d,
    "fitLmm",
    `mapDimension from 1 to ${d} (the size of the basis)`,
    q,
    "Use a smaller map or a larger basis.",
  );
  const plenty = statistics.numIndividuals > 500 || settings.algorithm === "em";
  const { restarts = plenty ? 0 : 2 } = options;
  checkOption(Number.isInteger(restarts) && restarts >= 0, "fitLmm", "restarts of 0 or more", restarts, "");
  const standard = standardize(statistics);
  const mean = prepareMean(standard.statistics, settings.mean);
  const start = options.start && toStandard(standard, options.start);
  const first = maximizeLmm(standard, mean, settings, options, start);
  const fit = restarts > 0 ? restartFromLowerRanks(standard, mean, settings, options, restarts, first) : first;
  const parameters = fromStandard(standard, fit.parameters);
  const scores = principalScores(coefficientMeans(statistics, parameters), statistics.numIndividuals, d, q);
  const flat =
    scores.numVarying < q
      ? [`Only ${scores.numVarying} of ${q} map dimensions vary between individuals; the others are 0 for all.`]
      : [];
  const record = { ...settings, restarts, mapDimension: q, numBasis: d, degree: statistics.basis.degree };
  return {
    kind: "lmm",
    basis: statistics.basis,
    marker,
    mean: { kind: settings.mean, coefficients: parameters.meanCoefficients },
    noiseVariance: parameters.noiseVariance,
    center: statistics.center,
    mapDimension: q,
    orientation: identity(q),
    covarianceFactor: lowerFactor(parameters.factor, d, d),
    scoreCenter: scores.center,
    scoreLoadings: scores.loadings,
    record: linearRecord(statistics, fit, record, seed, [...warnings, ...flat], { total: now() - began }),
  };
}

/** The published start on the standard scale: pooled mean, v = residual variance, Σ = vI, σ² = v/2. */
export function publishedStart(statistics: BasisStatistics, mean: MeanProblem): LowRankParameters {
  const d = statistics.basis.numBasis;
  const { meanCoefficients, variance } = pooledMean(statistics, mean);
  // A mean curve through all observations would leave nothing to start from.
  const v = Math.max(variance, 1e-8);
  return { meanCoefficients, noiseVariance: v / 2, factor: identity(d, Math.sqrt(v)), rank: d };
}

/** Maximum likelihood of the mixed model on the standard scale, from the published start unless given. */
export function maximizeLmm(
  standard: Standardized,
  mean: MeanProblem,
  settings: LinearSettings,
  control: FitControl,
  start: LowRankParameters = publishedStart(standard.statistics, mean),
): LinearFit {
  return fitLinear(standard, start, mean, lmmEmStep, "linear mixed model", settings, control);
}
