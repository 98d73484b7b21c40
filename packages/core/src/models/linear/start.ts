/**
 * The linear models of a cohort, fitted once: baselines in their own right, and where its maps start from (docs/math/linear.md
 * §7). The linear mixed model gives mean, noise, Σ and principal component scores; the reduced-rank model, started from it,
 * a Gaussian posterior of each place (without it, that of the scores). Markers with more coefficients together than a joint fit can take
 * are fitted one by one.
 */

import { type CohortSizes, cohortSizes } from "../../basis/cohort-sums.ts";
import { type BasisStatistics, selectStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { joinFloats, takeRows } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { type MixedModelEffects, now } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { type MeanCovariates, withoutEffects } from "../mean.ts";
import type { ShardHost } from "../shards.ts";
import { LINEAR_SAMPLES } from "../sizes.ts";
import { factorCovariance } from "./canonical.ts";
import { type CovariateEffects, fitLmmEffects } from "./covariate-effects.ts";
import { fitJointFpca, fitJointLmm } from "./fit-joint-levels.ts";
import { linearWarnings } from "./fit-linear.ts";
import type { FpcaModel } from "./fpca.ts";
import { finishedLmm, fitLmmStatistics, type LmmModel, type LmmStatisticsOptions, lmmParameters } from "./lmm.ts";
import { linearParameters, linearPlaces } from "./scores.ts";
import { checkComponents, linearSettings } from "./settings.ts";
import { MOST_COEFFICIENTS, numCoefficients, splitRows } from "./stack.ts";
import { standardProblem, toStandard } from "./standardize.ts";

/** Both linear models of one cohort, of the map's dimension. */
export interface LinearModels {
  readonly lmm: LmmModel;
  /** Absent where it could not be fitted. */
  readonly fpca?: FpcaModel;
  /** The cohort whose models they are, where they were fitted to a sample of it. */
  readonly sampledFrom?: CohortSizes;
  /** Effects of covariates in the mean, where asked for: both models are then those of values without them. */
  readonly covariateEffects?: CovariateEffects;
  /** What could not be fitted and is absent, and why, in sentences. */
  readonly leftOut: readonly string[];
  /** What a map that starts from them should warn of. */
  readonly warnings: readonly string[];
}

export interface LinearModelsOptions extends Omit<LmmStatisticsOptions, "start"> {
  /** q, the dimension of the map and the rank of the components. */
  readonly mapDimension: number;
  /** Covariates with effects in the mean, of everybody in the statistics. */
  readonly covariates?: MeanCovariates;
  /**
   * Individuals the models are fitted to, a random sample. Default 20,000 of more than 50,000, for several markers 4,000 of more than
   * 8,000, else everybody.
   */
  readonly sampleSize?: number;
}

/**
 * Fits the linear mixed model, and functional principal components from it; these are left out where they cannot be fitted,
 * since everything else can be had without them.
 */
export function fitLinearModels(given: readonly BasisStatistics[], options: LinearModelsOptions): LinearModels {
  const { numIndividuals: m } = given[0];
  const { mapDimension: q, warnings = [] } = options;
  checkComponents("linearModels", "mapDimension", q, numCoefficients(given));
  const { statistics, covariates, isSample } = sampleFor(given, options);
  const note = isSample ? [`Fitted to a random sample of ${statistics[0].numIndividuals} of ${m} individuals.`] : [];
  const common = { ...options, covariates, warnings: [...warnings, ...note] };
  const { lmm, covariateEffects, fitted } = fitMixedModel(statistics, common);
  const leftOut: string[] = [];
  let fpca: FpcaModel | undefined;
  try {
    fpca = fitJointFpca(fitted, { ...common, rank: q, start: linearParameters(lmm) });
  } catch (error) {
    if (!(error instanceof DtmError) || error.code === "cancelled") throw error;
    leftOut.push(`Functional principal components could not be fitted and are left out: ${error.message}`);
  }
  const problem = standardProblem(fitted, lmm.markers[0].mean.kind);
  const concerns = [lmm, ...(fpca === undefined ? [] : [fpca])].flatMap((model) =>
    linearWarnings(problem, toStandard(problem, linearParameters(model))),
  );
  const others = {
    ...(fpca && { fpca }),
    ...(covariateEffects && { covariateEffects }),
    ...(isSample && { sampledFrom: cohortSizes(given) }),
  };
  return { lmm, ...others, leftOut, warnings: [...new Set(concerns)] };
}

/** The individuals that linear models are fitted to, all of them or a random sample, with their covariates. */
function sampleFor(
  statistics: readonly BasisStatistics[],
  { covariates: of, seed = 1, sampleSize, shards }: LinearModelsOptions,
) {
  const { numIndividuals: m } = statistics[0];
  const { many, enough } = statistics.length === 1 ? LINEAR_SAMPLES.one : LINEAR_SAMPLES.several;
  const sampled = m > many && shards?.spread === undefined;
  const size = Math.min(sampleSize ?? (sampled ? enough : m), m);
  if (size === m) return { statistics, covariates: of, isSample: false };
  const sample = createRandom(seed).permutation(m).slice(0, size).sort();
  return {
    statistics: statistics.map((own) => selectStatistics(own, sample)),
    covariates: of && { ...of, covariates: takeRows(of.covariates, of.numCovariates, sample) },
    isSample: true,
  };
}

/** The mixed model of all markers, and the statistics that it and others see: those without effects of covariates. */
function fitMixedModel(
  statistics: readonly BasisStatistics[],
  { covariates: of, ...options }: LinearModelsOptions,
): Pick<LinearModels, "lmm" | "covariateEffects"> & { readonly fitted: readonly BasisStatistics[] } {
  if (of === undefined) {
    const together = numCoefficients(statistics) <= MOST_COEFFICIENTS;
    const lmm = together ? fitJointLmm(statistics, options) : separateMixedModels(statistics, options);
    return { lmm, fitted: statistics };
  }
  const { covariateEffects, ...lmm } = fitLmmEffects(statistics, of, options);
  return { lmm, covariateEffects, fitted: withoutEffects(statistics, covariateEffects, of.covariates) };
}

/**
 * The start that fitted linear models give to a map of everybody in the statistics, which are without effects of covariates; `withScores`
 * if it may start from principal component scores, which take longer than all else here.
 */
export function mapStart(
  statistics: readonly BasisStatistics[],
  { lmm, fpca, covariateEffects, leftOut, warnings }: LinearModels,
  shards?: ShardHost,
  withScores = true,
): MapStart {
  const scores = withScores || fpca === undefined ? linearPlaces(lmm, statistics, shards) : null;
  const places = fpca === undefined ? scores! : linearPlaces(fpca, statistics, shards);
  return {
    markers: markerStarts(lmm).map((start, k) =>
      covariateEffects === undefined ? start : { ...start, effects: covariateEffects.coefficients[k] },
    ),
    scores: scores?.mean ?? null,
    locationMean: places.mean,
    locationCovariance: places.covariance,
    warnings: [...leftOut, ...warnings],
  };
}

/**
 * The effects that stand beside those of a map: of the mixed model with the same covariates and a mean curve, whatever the mean of the map.
 * With a constant mean a covariate times time would stand without time, and take what time does to all.
 */
export function referenceEffects(
  given: readonly BasisStatistics[],
  options: LinearModelsOptions & Required<Pick<LinearModelsOptions, "covariates">>,
  { lmm, covariateEffects }: LinearModels,
): MixedModelEffects {
  const hasCurve = covariateEffects !== undefined && lmm.markers[0].mean.kind === "spline";
  const { coefficients, covariance, degreesOfFreedom, robustCovariance } = hasCurve
    ? covariateEffects
    : fitReference(given, options);
  return { coefficients: joinFloats(coefficients), covariance, robustCovariance, degreesOfFreedom };
}

function fitReference(given: readonly BasisStatistics[], options: LinearModelsOptions): CovariateEffects {
  const { statistics, covariates } = sampleFor(given, options);
  return fitLmmEffects(statistics, covariates!, { ...options, mean: "spline" }).covariateEffects;
}

/** Mean, noise and Σ_k [d,d], the block of Σ, of each marker. */
export function markerStarts(lmm: LmmModel): MapStart["markers"] {
  const D = numCoefficients(lmm.markers);
  const factors = splitRows(lmm.markers, lmm.covarianceFactor);
  return lmm.markers.map(({ mean, noise, basis }, k) => ({
    mean,
    noise,
    covariance: factorCovariance(factors[k], basis.numBasis, D),
  }));
}

/** The mixed models of the markers one by one as a model of all: Σ has no covariance between markers. */
function separateMixedModels(statistics: readonly BasisStatistics[], options: LinearModelsOptions): LmmModel {
  const began = now();
  const d = numCoefficients(statistics);
  const models = statistics.map((own, k) => {
    const { markers = [], ...others } = options;
    return fitLmmStatistics([own], { ...others, markers: markers.slice(k, k + 1), mapDimension: 1, warnings: [] });
  });
  const factor = new Float64Array(d * d);
  let from = 0;
  for (const { covarianceFactor, markers } of models) {
    const { numBasis } = markers[0].basis;
    for (let k = 0; k < numBasis; k++) {
      factor.set(covarianceFactor.subarray(k * numBasis, (k + 1) * numBasis), (from + k) * d + from);
    }
    from += numBasis;
  }
  const records = models.map(({ record }) => record);
  const logLikelihood = records.reduce((sum, { trace }) => sum + (trace.at(-1) ?? 0), 0);
  const verdict = `${d} coefficients of all markers are more than ${MOST_COEFFICIENTS}: each marker has a mixed model of its own, without covariance between markers.`;
  const parts = models.map(lmmParameters);
  const parameters = {
    meanCoefficients: joinFloats(parts.map(({ meanCoefficients }) => meanCoefficients)),
    noises: parts.flatMap(({ noises }) => noises),
    factor,
    rank: d,
  };
  const fit = {
    ...{ parameters, logLikelihood, trace: [logLikelihood], verdict },
    iterations: records.reduce((sum, { iterations }) => sum + iterations, 0),
    converged: records.every(({ converged }) => converged),
    warnings: [...new Set(records.flatMap(({ warnings }) => warnings))],
    milliseconds: { em: 0, quasiNewton: 0 },
  };
  const { mapDimension: q } = options;
  const settings = { ...linearSettings(options, "fitLmm"), mapDimension: q };
  return finishedLmm(statistics, parameters, fit, settings, q, options, began);
}

/** The linear start of a map, from statistics. `algorithm: "em"` is the published one. For tests, oracles and benchmarks: fits call its two parts. */
export function linearStart(statistics: readonly BasisStatistics[], options: LinearModelsOptions): MapStart {
  const models = fitLinearModels(statistics, options);
  const { covariateEffects: effects } = models;
  const own = effects ? withoutEffects(statistics, effects, options.covariates!.covariates) : statistics;
  return mapStart(own, models, options.shards);
}
