/**
 * Functional principal components by reduced rank (James et al. 2000; docs/math/linear.md §4):
 *   x_i ~ N(0, I_q),   y_i | x_i ~ N(B_iβ + B_iFx_i, σ² I),   F [d,q] in canonical orientation.
 * Rank d reproduces the linear mixed model.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DEFAULT_MARKER, type Marker } from "../../cohort/marker.ts";
import { checkOption } from "../../errors.ts";
import { identity } from "../../numeric/matrix.ts";
import { type FitControl, type ModelBase, now } from "../fit.ts";
import { canonicalFactor } from "./canonical.ts";
import { fpcaEmStep } from "./em.ts";
import {
  fitLinear,
  type LinearFit,
  type LinearOptions,
  type LinearSettings,
  linearRecord,
  linearSettings,
} from "./fit-linear.ts";
import { maximizeLmm } from "./lmm.ts";
import type { LowRankParameters } from "./low-rank.ts";
import { type MeanProblem, prepareMean } from "./mean.ts";
import { leadingStart } from "./restart.ts";
import { fromStandard, type Standardized, standardize, toStandard } from "./standardize.ts";

export interface FpcaModel extends ModelBase {
  readonly kind: "fpca";
  /** F [d,q]: orthogonal columns, longest first, entry of largest magnitude in each positive. */
  readonly loadings: Float64Array;
}

export interface FpcaStatisticsOptions extends LinearOptions, FitControl {
  /** Number of components q, 1 to d. Default 2, or d if that is smaller. */
  readonly rank?: number;
  readonly marker?: Marker;
  /** Warnings to put first in the record (from preparing the cohort). */
  readonly warnings?: readonly string[];
  /**
   * Parameters to start from: components of rank q, or a linear mixed model (rank d), of which the leading ones are taken.
   * Default: the linear mixed model, which is fitted first.
   */
  readonly start?: LowRankParameters;
}

/** Fits the reduced-rank model to sufficient statistics. */
export function fitFpcaStatistics(statistics: BasisStatistics, options: FpcaStatisticsOptions = {}): FpcaModel {
  const began = now();
  const d = statistics.basis.numBasis;
  const settings = linearSettings(options, "fitFpca");
  const { rank: q = Math.min(2, d), seed = 1, marker = DEFAULT_MARKER, warnings = [] } = options;
  checkOption(
    Number.isInteger(q) && q >= 1 && q <= d,
    "fitFpca",
    `rank from 1 to ${d} (the size of the basis)`,
    q,
    "Use a smaller rank or a larger basis.",
  );
  checkOption(
    options.start === undefined || options.start.rank === q || options.start.rank === d,
    "fitFpca",
    `start of rank ${q}, or ${d} for a linear mixed model`,
    options.start?.rank,
    "Give rank, basis and start of one size.",
  );
  const standard = standardize(statistics);
  const mean = prepareMean(standard.statistics, settings.mean);
  const given = options.start
    ? toStandard(standard, options.start)
    : maximizeLmm(standard, mean, settings, options).parameters;
  const start = given.rank === q ? given : leadingStart(given, d, q);
  const startEnded = now();
  const fit = maximizeFpca(standard, mean, settings, options, start);
  const parameters = fromStandard(standard, fit.parameters);
  const record = { ...settings, rank: q, numBasis: d, degree: statistics.basis.degree };
  const milliseconds = { start: startEnded - began, total: now() - began };
  return {
    kind: "fpca",
    basis: statistics.basis,
    marker,
    mean: { kind: settings.mean, coefficients: parameters.meanCoefficients },
    noiseVariance: parameters.noiseVariance,
    center: statistics.center,
    mapDimension: q,
    orientation: identity(q),
    loadings: canonicalFactor(parameters.factor, d, q),
    record: linearRecord(statistics, fit, record, seed, warnings, milliseconds),
  };
}

/** Maximum likelihood of the reduced-rank model on the standard scale. */
export function maximizeFpca(
  standard: Standardized,
  mean: MeanProblem,
  settings: LinearSettings,
  control: FitControl,
  start: LowRankParameters,
): LinearFit {
  return fitLinear(standard, start, mean, fpcaEmStep, "functional principal components", settings, control);
}
