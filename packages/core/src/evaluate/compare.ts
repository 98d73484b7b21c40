/**
 * Comparison of models by cross-validation over individuals, the paper's Table 1 (docs/math/evaluation.md §3): the same
 * folds for every model. Each fold is a stateless piece of work (`evaluateFold`), in which no model is fitted twice; what the
 * folds give is put together by `summarizeFolds`.
 */
import {
  type Cohort,
  checkCohort,
  numIndividuals,
  numObservations,
  onlyMarker,
  selectVisits,
} from "../cohort/cohort.ts";
import { splitCohort } from "../cohort/split.ts";
import { checkGiven, checkNames, checkOption, checkSeed, DtmError } from "../errors.ts";
import { fitClasses } from "../models/classes/classes.ts";
import type { DtmModel } from "../models/dtm/model.ts";
import { checkCancelled, type FitControl, markerModel } from "../models/fit.ts";
import { type FitDtmOptions, fitDtm, usualNoise } from "../models/fit-models.ts";
import { forecastGuard } from "../models/forecast-guard.ts";
import type { LmmModel } from "../models/linear/lmm.ts";
import { fitFpca, fitLinear, fitLmm, type LinearModels } from "../models/linear-models.ts";
import { type MeanKind, mixedModelForm } from "../models/mean.ts";
import { modelMixture, type ScoredModel } from "../models/model.ts";
import type { PrepareOptions } from "../models/prepare.ts";
import { type Approximation, approximationOf, type Noise, type NoiseChoice } from "../noise/noise.ts";
import { carriedForward, carriedLogLikelihoods, variogramOf } from "./carried-forward.ts";
import { COMPARED_MODELS, type ComparedModel, defaultModels, WITH_COVARIATES } from "./compared-models.ts";
import {
  type Forecaster,
  guardedForecaster,
  laterVisits,
  modelForecaster,
  nextVisits,
  scoreForecasts,
} from "./forecast.ts";
import { heldOutLogLikelihood } from "./held-out.ts";
import { type Comparison, type FoldResult, summarizeFolds } from "./summarize-folds.ts";

export interface CompareOptions extends PrepareOptions, FitControl {
  /** Default `defaultModels(cohort)`. */
  readonly models?: readonly ComparedModel[];
  /** Default 10. */
  readonly folds?: number;
  /** Cross-validations with other splits, pooled. Default 1. */
  readonly repeats?: number;
  /** Population mean of fpca and dtm: constant (published) or a curve. Default "scalar". */
  readonly mean?: "scalar" | "spline";
  /** Further starts of `dtm` in each fold. Default 0: a fit to everybody has more, so folds do not flatter it. */
  readonly restarts?: number;
  /** Dimension of the map and rank of FPCA. Default 2. */
  readonly mapDimension?: 1 | 2 | 3;
}

const COMPARE_OPTIONS: { readonly [Name in keyof Required<CompareOptions>]: true } = {
  ...{ models: true, folds: true, repeats: true, mean: true, restarts: true, mapDimension: true, seed: true },
  ...{
    basis: true,
    numBasis: true,
    degree: true,
    domain: true,
    knots: true,
    rounded: true,
    noise: true,
    statistics: true,
  },
  ...{ onProgress: true, signal: true, kernels: true, shards: true },
};

/**
 * Cross-validates the models, one fold after the other.
 * @throws DtmError "option" for an unknown model, "cancelled" once the signal is set, and what the fits throw.
 * @example
 * const { verdict, differences } = compareModels(cohort, { models: ["lmm", "dtm"], folds: 10 });
 */
export function compareModels(cohort: Cohort, options: CompareOptions = {}): Comparison {
  checkCohort("compareModels", cohort);
  checkGiven("compareModels", { options });
  checkNames("compareModels", options, Object.keys(COMPARE_OPTIONS));
  checkSeed("compareModels", options.seed);
  const { folds = 10, repeats = 1, onProgress } = options;
  const isWhole = Number.isInteger(repeats) && repeats >= 1;
  checkOption(isWhole, "compareModels", "repeats as a whole number from 1", repeats, "Use 1.");
  const total = folds * repeats;
  const results = Array.from({ length: total }, (_, fold) => {
    const found = evaluateFold(cohort, fold, options);
    onProgress?.({ stage: "folds", iteration: fold + 1, maxIterations: total, value: Number.NaN });
    return found;
  });
  return summarizeFolds(results.flat(), { models: defaultModels(cohort), ...options });
}

/**
 * Fits every model on one fold's training individuals and scores the others. Fold f of repeat r is fold r·folds + f.
 */
export function evaluateFold(cohort: Cohort, fold: number, options: CompareOptions = {}): FoldResult[] {
  const { models = defaultModels(cohort), folds = 10, seed = 1 } = options;
  const odd = cohort.covariates === undefined ? models.find((model) => WITH_COVARIATES.includes(model)) : undefined;
  const remedy = "Read the cohort with its covariates, or leave the model out.";
  checkOption(odd === undefined, "compareModels", "models without covariates for a cohort without any", odd, remedy);
  const { train, test } = splitCohort(cohort, folds, seed + Math.floor(fold / folds))[fold % folds];
  const fit = createFits(train, options);
  const { offsets } = onlyMarker(test);
  const visits = Int32Array.from(test.ids, (_, i) => offsets[i + 1] - offsets[i]);
  return models.map((model) => {
    checkCancelled(options.signal);
    const { logLikelihoods, forecaster, approximate } = fit(model);
    return {
      model,
      fold,
      ids: test.ids,
      visits,
      numObservations: numObservations(test),
      logLikelihood: logLikelihoods(test),
      ...(approximate && { approximate }),
      later: scoreForecasts(test, laterVisits(test), forecaster),
      next: scoreForecasts(test, nextVisits(test), forecaster),
    };
  });
}

/** What a comparison asks of a model. */
interface ComparedFit {
  /** log p(y_i) of individuals it was not fitted to, [m]. */
  readonly logLikelihoods: (cohort: Cohort) => Float64Array;
  readonly forecaster: Forecaster;
  readonly approximate?: Approximation | null;
}

function scoredFit(model: ScoredModel): ComparedFit {
  const mixture = modelMixture(model);
  return {
    logLikelihoods: (cohort) => heldOutLogLikelihood(model, cohort, { mixture }).logLikelihood,
    forecaster: modelForecaster(model, mixture),
    approximate: approximationOf(markerModel(model).noise),
  };
}

/** Fits models by their names in a comparison; what several of them start from is fitted once. */
function createFits(cohort: Cohort, options: CompareOptions): (model: ComparedModel) => ComparedFit {
  const { mean = "scalar", restarts = 0, mapDimension = 2, seed, signal, basis, numBasis, degree, domain } = options;
  const { noise: asked = usualNoise("dtm", cohort) } = options;
  const shared = { mapDimension, seed, signal, basis, numBasis, degree, domain };
  // Models as published have white noise, all others that of the comparison: a map is held against a mixed model like it.
  const fitStart = (kind: MeanKind, of: NoiseChoice | Noise) =>
    fitLinear(cohort, { ...shared, mean: kind, noise: of, sampleSize: numIndividuals(cohort) });
  // What the first linear models settle on, where there is something to choose or to learn, holds for the others.
  let noise = asked;
  const starts = new Map<string, LinearModels>();
  const start = (kind: MeanKind, white = asked === "white") => {
    const known = starts.get(`${kind} ${white}`) ?? fitStart(kind, white ? "white" : noise);
    starts.set(`${kind} ${white}`, known);
    if (!white) noise = markerModel(known.lmm).noise;
    return known;
  };
  // Effects of covariates in the mean, in the form of the map's own if it has such.
  const { covariates: coded } = cohort;
  const adjusted = new Map<MeanKind, LinearModels>();
  const withCovariates = (kind: MeanKind) => {
    const effects = coded && mixedModelForm(coded.coding);
    const sampleSize = numIndividuals(cohort);
    const known = adjusted.get(kind) ?? fitLinear(cohort, { ...shared, mean: kind, noise, sampleSize, effects });
    adjusted.set(kind, known);
    if (asked !== "white") noise = markerModel(known.lmm).noise;
    return known;
  };
  const lone = new Map<string, LmmModel>();
  const alone = (kind: MeanKind, white: boolean) => {
    const known =
      lone.get(`${kind} ${white}`) ?? fitLmm(cohort, { ...shared, mean: kind, noise: white ? "white" : noise });
    lone.set(`${kind} ${white}`, known);
    if (!white) noise = markerModel(known).noise;
    return known;
  };
  const mixedModel = (kind: MeanKind, white = asked === "white") =>
    (kind === mean && white === (asked === "white")) || starts.has(`${kind} ${white}`)
      ? start(kind, white).lmm
      : alone(kind, white);
  const { covariates: _, ...plain } = cohort;
  const fitWithStart = (linear: LinearModels, of: Cohort = cohort) =>
    fitDtm(of, { ...shared, mean, noise, restarts, linear } as FitDtmOptions);
  const population = () => fitClasses(cohort, { ...shared, numClasses: 1 });
  const fitScored = (model: Exclude<ComparedModel, "locf">): ScoredModel => {
    switch (model) {
      case "population":
        return population();
      case "constant":
        return fitLmm(cohort, { seed, signal, noise: asked, basis: constantBasis(cohort), mapDimension: 1 });
      case "line":
        return fitLmm(cohort, { seed, signal, noise: asked, numBasis: 2, degree: 1, mean: "spline" });
      case "lmm":
        return mixedModel("spline");
      case "lmm-covariates":
        return withCovariates("spline").lmm;
      case "lmm-paper":
        return mixedModel("scalar", true);
      case "fpca":
        // Where it could not be fitted, the second attempt says why.
        return start(mean).fpca ?? fitFpca(cohort, { ...shared, mean, noise, rank: mapDimension });
      case "fpca-covariates": {
        const { fpca, leftOut } = withCovariates(mean);
        if (fpca === undefined) throw new DtmError("option", `compareModels: ${leftOut.join(" ")} Leave it out.`);
        return fpca;
      }
      case "dtm":
        return fitWithStart(start(mean));
      case "dtm-plain":
        return fitWithStart(start(mean), plain);
      case "dtm-paper":
        return fitDtm(cohort, { ...shared, kind: "dtm-paper", linear: start("scalar", true) });
      case "classes":
        return fitClasses(cohort, shared);
      case "lcmm":
        return fitClasses(cohort, { ...shared, effects: "shared", maxClasses: 4, starts: 2 });
      default: {
        const unknown: never = model;
        throw new DtmError(
          "option",
          `compareModels: expected models among ${COMPARED_MODELS.join(", ")}, received ${String(unknown)}.`,
        );
      }
    }
  };
  const carried = (): ComparedFit => {
    const variogram = variogramOf(cohort);
    const { logLikelihoods } = scoredFit(population());
    const first = (test: Cohort) => logLikelihoods(selectVisits(test, () => 1));
    return {
      logLikelihoods: (test) => carriedLogLikelihoods(variogram, test, first(test)),
      forecaster: carriedForward(variogram),
    };
  };
  /** The map's forecasts as users get them: with the mixed model to fall back on. */
  const guarded = (kind: "dtm" | "dtm-plain"): ComparedFit => {
    const model = fitScored(kind) as DtmModel;
    const isPlain = coded === undefined || kind === "dtm-plain";
    const own = isPlain ? mixedModel("spline") : withCovariates("spline").lmm;
    const guard = forecastGuard(model, isPlain ? plain : cohort, { mixedModel: own });
    return { ...scoredFit(model), forecaster: guardedForecaster(model, guard) };
  };
  return (model) => {
    if (model === "locf") return carried();
    return model === "dtm" || model === "dtm-plain" ? guarded(model) : scoredFit(fitScored(model));
  };
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
