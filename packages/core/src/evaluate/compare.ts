/**
 * Comparison of models by cross-validation over individuals, the paper's Table 1 (docs/math/evaluation.md §3): the same
 * folds for every model, scores per fold, differences paired by individual, forecasts of the second half of the visits
 * and coverage of their intervals. Each fold is a stateless piece of work (`evaluateFold`), in which no model is fitted twice.
 */
import { type Cohort, numIndividuals, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { splitCohort } from "../cohort/split.ts";
import { DtmError } from "../errors.ts";
import { fitClasses } from "../models/classes/classes.ts";
import { checkCancelled, type FitControl } from "../models/fit.ts";
import { type FitDtmOptions, fitDtm } from "../models/fit-models.ts";
import { fitFpca, fitLinear, fitLmm, type LinearModels } from "../models/linear-models.ts";
import type { MeanKind } from "../models/mean.ts";
import { modelMixture, type ScoredModel } from "../models/model.ts";
import type { PrepareOptions } from "../models/prepare.ts";
import { compensatedSum } from "../numeric/sum.ts";
import { COMPARED_MODELS, type ComparedModel, type ModelDifference } from "./compared-models.ts";
import { centralCoverage, forecastScores } from "./forecast.ts";
import { heldOutLogLikelihood } from "./held-out.ts";
import { verdictOf } from "./verdict.ts";

export { COMPARED_MODELS, type ComparedModel, type ModelDifference };

export interface CompareOptions extends PrepareOptions, FitControl {
  /** Default lmm, fpca, dtm. */
  readonly models?: readonly ComparedModel[];
  /** Default 10. */
  readonly folds?: number;
  /** Cross-validations with other splits, pooled. Default 1. */
  readonly repeats?: number;
  /** Population mean of lmm, fpca and dtm: constant (published) or a curve. Default "scalar". */
  readonly mean?: "scalar" | "spline";
  /** Dimension of the map and rank of FPCA. Default 2. */
  readonly mapDimension?: 1 | 2 | 3;
}

const DEFAULT_MODELS: readonly ComparedModel[] = ["lmm", "fpca", "dtm"];

/** Mean, standard error and standard deviation over folds. */
export interface FoldSummary {
  readonly mean: number;
  readonly se: number;
  readonly sd: number;
}

export interface HorizonError {
  /** Time since the last visit given: from (inclusive) to (exclusive). */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly mae: number;
}

export interface ModelComparison {
  readonly model: ComparedModel;
  readonly mean: "scalar" | "spline";
  readonly subjectLogLik: FoldSummary;
  readonly observationLogLik: FoldSummary;
  readonly forecast: {
    readonly count: number;
    readonly logDensity: number;
    readonly crps: number;
    readonly mae: number;
    readonly byHorizon: readonly HorizonError[];
  };
  readonly coverage: { readonly p50: number; readonly p90: number };
  /** Counts of PIT values in ten equal bins; flat if the model is calibrated. */
  readonly pit: readonly number[];
}

export interface Comparison {
  readonly models: readonly ModelComparison[];
  readonly differences: readonly ModelDifference[];
  readonly folds: number;
  readonly repeats: number;
  readonly verdict: string;
}

/** What one fold of one model gives; plain data. */
export interface FoldResult {
  readonly model: ComparedModel;
  readonly fold: number;
  readonly ids: readonly string[];
  readonly logLikelihood: Float64Array;
  readonly numObservations: number;
  readonly horizon: Float64Array;
  readonly logDensity: Float64Array;
  readonly crps: Float64Array;
  readonly pit: Float64Array;
  readonly absoluteError: Float64Array;
}

/**
 * Fits every model on one fold's training individuals and scores the others. Fold f of repeat r is fold r·folds + f.
 */
export function evaluateFold(cohort: Cohort, fold: number, options: CompareOptions = {}): FoldResult[] {
  const { models = DEFAULT_MODELS, folds = 10, seed = 1 } = options;
  const { train, test } = splitCohort(cohort, folds, seed + Math.floor(fold / folds))[fold % folds];
  const linear = createLinear(train, options);
  return models.map((model) => {
    checkCancelled(options.signal);
    const fit = fitCompared(model, train, options, linear);
    const mixture = modelMixture(fit);
    const { logLikelihood } = heldOutLogLikelihood(fit, test, { mixture });
    const { horizon, logDensity, crps, pit, absoluteError } = forecastScores(fit, test, { mixture });
    const forecast = { horizon, logDensity, crps, pit, absoluteError };
    return { model, fold, ids: test.ids, logLikelihood, numObservations: numObservations(test), ...forecast };
  });
}

/** What the models of a comparison have in common. */
function sharedOptions({ mapDimension = 2, seed, signal, basis, numBasis, degree, domain }: CompareOptions) {
  return { mapDimension, seed, signal, basis, numBasis, degree, domain };
}

/** The linear models of a cohort with a given mean, fitted when they are first asked for; maps start from them. */
type SharedLinear = (mean: MeanKind) => LinearModels;

function createLinear(cohort: Cohort, options: CompareOptions): SharedLinear {
  const known = new Map<MeanKind, LinearModels>();
  const sampleSize = numIndividuals(cohort);
  return (mean) => {
    const fitted = known.get(mean) ?? fitLinear(cohort, { ...sharedOptions(options), mean, sampleSize });
    known.set(mean, fitted);
    return fitted;
  };
}

/** Fits a model by its name in a comparison. */
function fitCompared(model: ComparedModel, cohort: Cohort, options: CompareOptions, linear: SharedLinear): ScoredModel {
  const { mean = "scalar", seed, signal } = options;
  const shared = sharedOptions(options);
  switch (model) {
    case "constant":
      return fitLmm(cohort, { seed, signal, basis: constantBasis(cohort), mapDimension: 1 });
    case "line":
      return fitLmm(cohort, { seed, signal, numBasis: 2, degree: 1, mean: "spline" });
    case "lmm":
      return linear(mean).lmm;
    case "fpca":
      // Where it could not be fitted, the second attempt says why.
      return linear(mean).fpca ?? fitFpca(cohort, { ...shared, mean, rank: shared.mapDimension });
    case "dtm":
      return fitDtm(cohort, { ...shared, mean, linear: linear(mean) } as FitDtmOptions);
    case "dtm-paper":
      return fitDtm(cohort, { ...shared, kind: "dtm-paper", linear: linear("scalar") });
    case "classes":
      return fitClasses(cohort, shared);
    default: {
      const unknown: never = model;
      throw new DtmError(
        "option",
        `compareModels: expected models among ${COMPARED_MODELS.join(", ")}, received ${String(unknown)}.`,
      );
    }
  }
}

/** One function, equal to one everywhere: a random intercept. */
function constantBasis(cohort: Cohort) {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const t of onlyMarker(cohort).times) {
    first = Math.min(first, t);
    last = Math.max(last, t);
  }
  return { degree: 0, numBasis: 1, knots: Float64Array.of(first, last), placement: "given" } as const;
}

/**
 * Cross-validates the models, one fold after the other.
 * @throws DtmError "option" for an unknown model, "cancelled" once the signal is set, and what the fits throw.
 * @example
 * const { verdict, differences } = compareModels(cohort, { models: ["lmm", "dtm"], folds: 10 });
 */
export function compareModels(cohort: Cohort, options: CompareOptions = {}): Comparison {
  const { folds = 10, repeats = 1, onProgress } = options;
  const total = folds * repeats;
  const results = Array.from({ length: total }, (_, fold) => {
    const found = evaluateFold(cohort, fold, options);
    onProgress?.({ stage: "folds", iteration: fold + 1, maxIterations: total, value: Number.NaN });
    return found;
  });
  return summarizeFolds(results.flat(), options);
}

/** Puts fold results together, in any order they came. */
export function summarizeFolds(results: readonly FoldResult[], options: CompareOptions = {}): Comparison {
  const { models = DEFAULT_MODELS, folds = 10, repeats = 1 } = options;
  const byModel = models.map((model) => results.filter((r) => r.model === model).sort((a, b) => a.fold - b.fold));
  const reference = models.includes("lmm") ? "lmm" : models[0];
  const summaries = models.map((model, k) => summarizeModel(model, byModel[k], options.mean ?? "scalar", folds));
  const difference = (model: ComparedModel, other: ComparedModel) =>
    pairedDifference(model, byModel[models.indexOf(model)], other, byModel[models.indexOf(other)]);
  const differences = models.filter((model) => model !== reference).map((model) => difference(model, reference));
  return { models: summaries, differences, folds, repeats, verdict: verdictOf(models, reference, difference) };
}

function summarizeModel(
  model: ComparedModel,
  results: readonly FoldResult[],
  mean: "scalar" | "spline",
  folds: number,
): ModelComparison {
  const column = (pick: (r: FoldResult) => Float64Array) => Float64Array.from(results.flatMap((r) => [...pick(r)]));
  const average = (x: Float64Array) => compensatedSum(x) / x.length;
  const pit = column((r) => r.pit);
  const bins = new Array<number>(10).fill(0);
  for (const u of pit) bins[Math.min(9, Math.floor(10 * u))]++;
  const absoluteError = column((r) => r.absoluteError);
  const usesMean = model === "lmm" || model === "fpca" || model === "dtm";
  return {
    model,
    mean: usesMean ? mean : model === "line" ? "spline" : "scalar",
    subjectLogLik: overFolds(
      results.map((r) => compensatedSum(r.logLikelihood) / r.ids.length),
      folds,
    ),
    observationLogLik: overFolds(
      results.map((r) => compensatedSum(r.logLikelihood) / r.numObservations),
      folds,
    ),
    forecast: {
      count: pit.length,
      logDensity: average(column((r) => r.logDensity)),
      crps: average(column((r) => r.crps)),
      mae: average(absoluteError),
      byHorizon: errorByHorizon(
        column((r) => r.horizon),
        absoluteError,
      ),
    },
    coverage: { p50: centralCoverage(pit, 0.5), p90: centralCoverage(pit, 0.9) },
    pit: bins,
  };
}

/** `size` is the number of folds of one repeat: repeats split the same individuals again and add no others. */
function overFolds(scores: readonly number[], size = scores.length): FoldSummary {
  const n = scores.length;
  const mean = compensatedSum(scores) / n;
  const sd = n > 1 ? Math.sqrt(compensatedSum(scores.map((s) => (s - mean) ** 2)) / (n - 1)) : 0;
  return { mean, sd, se: sd / Math.sqrt(size) };
}

/** Mean absolute error in four quarters of the horizons, equally many forecasts each. */
function errorByHorizon(horizon: Float64Array, error: Float64Array): HorizonError[] {
  const order = Int32Array.from(horizon, (_, k) => k).sort((a, b) => horizon[a] - horizon[b] || a - b);
  const quarters: HorizonError[] = [];
  for (let k = 0; k < 4; k++) {
    const part = order.subarray(Math.floor((k * order.length) / 4), Math.floor(((k + 1) * order.length) / 4));
    if (part.length === 0) continue;
    const next = order[Math.floor(((k + 1) * order.length) / 4)];
    quarters.push({
      from: horizon[part[0]],
      to: next === undefined ? horizon[part[part.length - 1]] : horizon[next],
      count: part.length,
      mae: compensatedSum(Array.from(part, (j) => error[j])) / part.length,
    });
  }
  return quarters;
}

function pairedDifference(
  model: ComparedModel,
  results: readonly FoldResult[],
  reference: ComparedModel,
  referenceResults: readonly FoldResult[],
): ModelDifference {
  // One difference for each individual, its mean over repeats: an individual scored again is no other individual.
  const scored = new Map<string, { sum: number; count: number }>();
  results.forEach((r, f) => {
    r.ids.forEach((id, i) => {
      const own = scored.get(id) ?? { sum: 0, count: 0 };
      own.sum += r.logLikelihood[i] - referenceResults[f].logLikelihood[i];
      own.count++;
      scored.set(id, own);
    });
  });
  const { mean, se } = overFolds([...scored.values()].map(({ sum, count }) => sum / count));
  return { model, reference, mean, se, lower: mean - 1.96 * se, upper: mean + 1.96 * se };
}
