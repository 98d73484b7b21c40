/** The linear models from a cohort: prepare, fit, orient; each alone, or both at once for a map to start from. */

import type { BasisStatistics } from "../basis/statistics.ts";
import type { CodedCovariates, CovariateCoding } from "../cohort/coding.ts";
import { type Cohort, checkCohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { checkGiven } from "../errors.ts";
import { dot } from "../numeric/matrix.ts";
import { type MarkersOptions, oneOf, prepareMarkers } from "./choose-noise.ts";
import type { ColumnNames, FitControl, PriorChoice } from "./fit.ts";
import { factorCovariance } from "./linear/canonical.ts";
import { type CovariateEffects, fitLmmEffects } from "./linear/covariate-effects.ts";
import { fitJointFpca, fitJointLmm } from "./linear/fit-joint-levels.ts";
import type { FpcaModel, FpcaStatisticsOptions } from "./linear/fpca.ts";
import type { LmmModel, LmmStatisticsOptions } from "./linear/lmm.ts";
import { linearParameters, scoreDirections } from "./linear/scores.ts";
import { splitRows } from "./linear/stack.ts";
import { type LinearModelsOptions as FitLinearOptions, fitLinearModels, type LinearModels } from "./linear/start.ts";
import { type EffectForm, meanCovariates } from "./mean.ts";
import { checkFitNames } from "./option-names.ts";
import { orientMarkers } from "./orient.ts";

export type { LinearModels };

/** Options that every fit of a cohort takes. */
export interface CohortFitOptions extends MarkersOptions, Omit<FitControl, keyof MarkersOptions> {
  /**
   * Weak priors, worth ten observations for the noise and two individuals for the covariance, keep small cohorts sane and are
   * not felt in large ones. Default "weak"; "none" for maximum likelihood, as other software has it. The map as published has none.
   */
  readonly priors?: PriorChoice;
  /** Column names the cohort was read from, of each marker, kept in the model for reading the next one alike. */
  readonly columns?: ColumnNames | readonly ColumnNames[];
}

type OfStatistics = "markers" | "warnings" | "start";

/** Effects of the cohort's covariates, all of them, in the mean. */
interface EffectsOption {
  /** How they change in time. Left out, covariates are not read. */
  readonly effects?: EffectForm;
}

export type LmmOptions = Omit<LmmStatisticsOptions, OfStatistics> & CohortFitOptions & EffectsOption;
export type FpcaOptions = Omit<FpcaStatisticsOptions, OfStatistics> &
  CohortFitOptions & {
    /** The linear mixed model of the same cohort, if it has been fitted: components start from its leading ones. */
    readonly lmm?: LmmModel;
  };
export type LinearModelsOptions = Pick<LmmOptions, "mean" | "mapDimension" | "restarts"> &
  Pick<FitLinearOptions, "sampleSize" | "covariates"> &
  CohortFitOptions &
  EffectsOption;

/**
 * Fits the linear mixed model with spline coefficients w_i ~ N(0, Σ), of all markers together where the cohort has several.
 * @throws DtmError "too-few-individuals", "one-observation-each", "one-time", "no-variation", "option" or "cancelled".
 * @example
 * const model = fitLmm(cohort);
 * model.record.verdict; // whether and why the fit stopped
 */
export function fitLmm(cohort: Cohort, options: LmmOptions = {}): LmmModel {
  checkCohort("fitLmm", cohort);
  checkGiven("fitLmm", { options });
  checkFitNames<LmmOptions>("fitLmm", options);
  const { effects: form, ...others } = options;
  const { statistics, warnings } = prepareMarkers(cohort, others);
  const given = { priors: "weak", ...others, markers: markersOf(cohort), warnings } as const;
  const coded = effectsOf(cohort, form);
  if (coded === undefined) return finished(fitJointLmm(statistics, given), statistics, options);
  const { covariateEffects, ...model } = fitLmmEffects(statistics, meanCovariates(coded)!, given);
  return withEffects(finished(model, statistics, options), coded.coding, covariateEffects);
}

/**
 * Fits the reduced-rank model (functional principal components) w_i = F x_i.
 * @throws DtmError "too-few-individuals", "one-observation-each", "one-time", "no-variation", "option" or "cancelled".
 * @example
 * const model = fitFpca(cohort, { rank: 2 });
 */
export function fitFpca(cohort: Cohort, options: FpcaOptions = {}): FpcaModel {
  checkCohort("fitFpca", cohort);
  checkGiven("fitFpca", { options });
  checkFitNames<FpcaOptions>("fitFpca", options);
  const { statistics, warnings } = prepareMarkers(cohort, options);
  const { lmm, ...others } = options;
  const start = lmm === undefined ? {} : { start: linearParameters(lmm) };
  const given = { ...others, ...start, markers: markersOf(cohort), warnings };
  const model = fitJointFpca(statistics, { priors: "weak", ...given });
  return finished(model, statistics, options);
}

/**
 * Fits both linear models of a cohort, the second from the first: baselines of a map, which can start from them
 * (`fitDtm(cohort, { linear })`). Above 50,000 individuals (8,000 of several markers) they are fitted to a random sample and say so. Components that
 * cannot be fitted are left out, with the reason in `leftOut`.
 * @throws what `fitLmm` throws.
 * @example
 * const { lmm, fpca } = fitLinear(cohort, { mapDimension: 2 });
 */
export function fitLinear(cohort: Cohort, options: LinearModelsOptions = {}): LinearModels {
  checkCohort("fitLinear", cohort);
  checkGiven("fitLinear", { options });
  checkFitNames<LinearModelsOptions>("fitLinear", options);
  const { effects: form, ...others } = options;
  const { statistics, warnings } = prepareMarkers(cohort, others);
  const coded = effectsOf(cohort, form);
  if (coded === undefined) return linearModels(markersOf(cohort), statistics, warnings, others);
  const covariates = meanCovariates(coded)!;
  const { lmm, fpca, ...rest } = linearModels(markersOf(cohort), statistics, warnings, { ...others, covariates });
  const own = <M extends LmmModel | FpcaModel>(model: M) => withEffects(model, coded.coding, rest.covariateEffects!);
  return { ...rest, lmm: own(lmm), ...(fpca && { fpca: own(fpca) }) };
}

/** The covariates of a cohort, all with effects of one form in the mean; undefined where there are none or none are asked for. */
function effectsOf({ covariates: given }: Cohort, form: EffectForm | undefined): CodedCovariates | undefined {
  if (form === undefined || given === undefined) return undefined;
  const covariates = given.coding.covariates.map((own) => ({ ...own, effect: form }));
  return { coding: { ...given.coding, covariates }, values: given.values };
}

/** A model of values without effects as one with them: it needs covariates wherever it is used. */
function withEffects<M extends LmmModel | FpcaModel>(
  model: M,
  covariates: CovariateCoding,
  { form, coefficients, covariance, robustCovariance, degreesOfFreedom }: CovariateEffects,
): M {
  const effects = { form, covariance, robustCovariance, degreesOfFreedom };
  const markers = model.markers.map((part, k) => ({ ...part, effects: coefficients[k] }));
  return { ...model, markers, covariates, effects };
}

/** `fitLinear` of a cohort that is prepared. */
export function linearModels(
  markers: readonly Marker[],
  statistics: readonly BasisStatistics[],
  warnings: readonly string[],
  options: LinearModelsOptions,
): LinearModels {
  const { mapDimension = 2, priors = "weak", columns, ...others } = options;
  const fitted = fitLinearModels(statistics, {
    ...others,
    priors,
    mapDimension,
    markers,
    warnings,
  });
  const { lmm, fpca } = fitted;
  const components = fpca === undefined ? {} : { fpca: finished(fpca, statistics, { columns }) };
  return { ...fitted, lmm: finished(lmm, statistics, { columns }), ...components };
}

function markersOf({ markers }: Cohort) {
  return markers.map(({ marker }) => marker);
}

function finished<M extends LmmModel | FpcaModel>(
  model: M,
  statistics: readonly BasisStatistics[],
  { columns }: Pick<CohortFitOptions, "columns">,
): M {
  const q = model.mapDimension;
  const directions = splitRows(statistics, scoreDirections(model));
  const { factor, rank } = linearParameters(model);
  const factors = splitRows(statistics, factor);
  const oriented = statistics.map((own, k) => {
    const gram = own.averageGram;
    const variance = dot(gram, factorCovariance(factors[k], own.basis.numBasis, rank));
    return { F: directions[k], gram, basis: own.basis, variance: statistics.length === 1 ? 1 : variance };
  });
  const orientation = orientMarkers(oriented, q);
  const markers =
    columns === undefined ? model.markers : model.markers.map((part, k) => ({ ...part, columns: oneOf(columns, k) }));
  return { ...model, markers, orientation };
}
