/** Beyond the front door: options and kinds of models, places in detail, changes and crossings, bases, randomness. */

export { type Basis, basisDomain, designMatrix } from "../basis/bspline.ts";
export { type BasisOptions, bsplineBasis } from "../basis/knots.ts";
export type { Fold } from "../cohort/split.ts";
export { usualStep } from "../covariates/covariates.ts";
export { type AlignedModel, alignModel } from "../models/align.ts";
export {
  type CalibrationClass,
  type ForecastCalibration,
  type ForecastCoverage,
  isCalibratedAt,
} from "../models/conformal.ts";
export { type Course, courseReader, courseTimes } from "../models/course.ts";
export { fitsNoCourse } from "../models/course-fit.ts";
export {
  type CovariateStep,
  covariateEffects,
  type EffectEstimate,
  type EffectRow,
  type EffectTables,
  type EffectTablesOptions,
  type ShiftRow,
} from "../models/covariate-effects.ts";
export { codingOf, modelAt, modelFor } from "../models/covariate-model.ts";
export { type Decoder, makeDecoder } from "../models/decoder.ts";
export type { DtmModel } from "../models/dtm/model.ts";
export {
  type CancelSignal,
  type ColumnNames,
  type FitControl,
  type FitProgress,
  type MeanFunction,
  markerIndex,
  type StartResult,
  viewMarker,
} from "../models/fit.ts";
export type {
  DtmProgress,
  DtmRun,
  DtmRunSnapshot,
  FitDtmOptions,
  FitLatticeOptions,
  FitPaperOptions,
} from "../models/fit-models.ts";
export { usualNoise } from "../models/fit-models.ts";
export { followUpSupport, SUPPORTED, similarFollowed, supportedTo } from "../models/follow-up.ts";
export {
  type ForecastGuard,
  fallbackWeight,
  forecastGuard,
  guardFor,
  heldTime,
  type OwnGuard,
} from "../models/forecast-guard.ts";
export type { FpcaModel } from "../models/linear/fpca.ts";
export type { LmmModel } from "../models/linear/lmm.ts";
export { linearLogLikelihood, linearLogLikelihoods } from "../models/linear/scores.ts";
export type { LinearModels } from "../models/linear/start.ts";
export { type FpcaOptions, fitLinear, type LinearModelsOptions, type LmmOptions } from "../models/linear-models.ts";
export { functionalMean, functionalSd } from "../models/mixture/curve-distribution.ts";
export {
  isMapModel,
  type MapModel,
  type MixtureOptions,
  type ModelKind,
  modelMixture,
  modelMixtures,
} from "../models/model.ts";
export type { History, Visits } from "../models/new-individuals.ts";
export type { DtmPaperModel } from "../models/paper/model.ts";
export {
  drawLocations,
  type EmbedOptions,
  embedPlaces,
  highestDensityRegion,
  placementAt,
} from "../models/place.ts";
export {
  type MarkerPlacement,
  noiseRatio,
  type PlaceFault,
  type Places,
  placeSd,
  placeSds,
  type VariationalPlace,
  viewPlacement,
  viewPlacements,
} from "../models/placement.ts";
export { predictPopulation } from "../models/population.ts";
export { type BandKind, drawCurves, type PredictOptions } from "../models/predict.ts";
export {
  type ChangeOptions,
  type Interval,
  predictBelow,
  predictChange,
  predictDifference,
} from "../models/predicting/change.ts";
export type { Crossing, CrossingOptions } from "../models/predicting/crossing.ts";
export type { PredictedSeries } from "../models/predicting/series.ts";
export { modelFileJsonSchema } from "../models/saving/file-schema.ts";
export { isPublished, LINEAR_SAMPLES, MANY_INDIVIDUALS, MAP_SAMPLE, usualRestarts } from "../models/sizes.ts";
export { suspectVisits } from "../models/suspect-visits.ts";
export {
  isApproximate,
  measurementSd,
  measurementVariance,
  NOISE_CHOICES,
  type Noise,
  type NoiseChoice,
  type NoiseKind,
  whiteNoise,
} from "../noise/noise.ts";
export { describeNoise } from "../noise/words.ts";
export { type Alignment, procrustes } from "../numeric/procrustes.ts";
export { createRandom, type Random } from "../numeric/random.ts";
export type { SimulateCohortOptions, SimulatedCohort, SimulatedMarker } from "../simulate/cohorts.ts";
export type { ModelSimulation } from "../simulate/from-model.ts";
export {
  MARKER_RELATIONS,
  type MarkerRelation,
  SIMULATED_EFFECTS,
  type SimulatedEffect,
  type SimulatedPlaces,
  type SimulatePlacesOptions,
} from "../simulate/places.ts";
