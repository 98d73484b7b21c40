/**
 * Functional principal components by reduced rank (James et al. 2000; docs/math/linear.md §4):
 *   x_i ~ N(0, I_q),   y_i | x_i ~ N(B_iβ + B_iFx_i, σ² I),   F [d,q] in canonical orientation.
 * Rank d reproduces the linear mixed model. Of several markers F has the rows of all, one after another; its columns are orthogonal in
 * units of each marker's noise.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import { type ModelBase, now } from "../fit.ts";
import { canonicalFactor, leadingStart } from "./canonical.ts";
import { maximizeLoadings } from "./em.ts";
import { fitLinear, linearBase } from "./fit-linear.ts";
import { fitLmmStatistics, lmmParameters } from "./lmm.ts";
import { checkComponents, checkSize, linearSettings, type StatisticsFitOptions } from "./settings.ts";
import { type LinearParameters, numCoefficients, scaleRows, unitScales, unscaleRows } from "./stack.ts";
import { fromStandard, standardProblem, toStandard } from "./standardize.ts";

export interface FpcaModel extends ModelBase {
  readonly kind: "fpca";
  /** F [d,q]: orthogonal columns, longest first, entry of largest magnitude in each positive. */
  readonly loadings: Float64Array;
}

export interface FpcaStatisticsOptions extends StatisticsFitOptions {
  /** Number of components q, 1 to d. Default 2, or d if that is smaller. */
  readonly rank?: number;
  /**
   * Parameters to start from: components of rank q, or a linear mixed model (rank d), of which the leading ones are taken.
   * Default: the linear mixed model, which is fitted first.
   */
  readonly start?: LinearParameters;
}

/** Fits the reduced-rank model to sufficient statistics. */
export function fitFpcaStatistics(
  statistics: readonly BasisStatistics[],
  options: FpcaStatisticsOptions = {},
): FpcaModel {
  const began = now();
  const d = numCoefficients(statistics);
  const settings = linearSettings(options, "fitFpca");
  const { rank: q = Math.min(2, d) } = options;
  checkSize("fitFpca", d);
  checkComponents("fitFpca", "rank", q, d);
  checkOption(
    options.start === undefined || options.start.rank === q || options.start.rank === d,
    "fitFpca",
    `start of rank ${q}, or ${d} for a linear mixed model`,
    options.start?.rank,
    "Give rank, basis and start of one size.",
  );
  const { start = lmmParameters(fitLmmStatistics(statistics, { ...options, start: undefined })) } = options;
  const problem = standardProblem(statistics, settings.mean, options, settings.priors);
  const given = toStandard(problem, start);
  const from = given.rank === q ? given : inNoiseUnits(statistics, given, (own) => leadingStart(own, q));
  const fit = fitLinear(problem, from, maximizeLoadings, "functional principal components", settings, options);
  const parameters = fromStandard(problem, fit.parameters);
  return {
    ...linearBase(statistics, parameters, fit, { ...settings, rank: q }, q, options, began),
    kind: "fpca",
    loadings: inNoiseUnits(statistics, parameters, (own) => ({ ...own, factor: canonicalFactor(own.factor, d, q) }))
      .factor,
  };
}

/** What `change` makes of parameters whose factor is in units of each marker's noise, back in their own. */
function inNoiseUnits(
  statistics: readonly BasisStatistics[],
  parameters: LinearParameters,
  change: (parameters: LinearParameters) => LinearParameters,
): LinearParameters {
  const S = unitScales(statistics, parameters.noises);
  const changed = change({ ...parameters, factor: scaleRows(S, parameters.factor) });
  return { ...changed, factor: unscaleRows(S, changed.factor) };
}
