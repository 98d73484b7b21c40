/** The public door of the library. */

export * from "./associate/association.ts";
export { type Outcome, type OutcomesRead, readOutcomes, type SubjectsTable } from "./associate/outcomes.ts";
export { countExceedances, type ExceedanceCounter, type PermutationPlan } from "./associate/permutation.ts";
export type { RiskSurface } from "./associate/risk-surface.ts";
export { type Basis, basisDomain, designMatrix } from "./basis/bspline.ts";
export { type BasisOptions, bsplineBasis } from "./basis/knots.ts";
export { type BasisStatistics, basisStatistics, selectStatistics } from "./basis/statistics.ts";
export {
  type Cohort,
  type CohortColumns,
  type MarkerSeries,
  makeCohort,
  numIndividuals,
  numObservations,
  onlyMarker,
  selectIndividuals,
  selectVisits,
} from "./cohort/cohort.ts";
export { idAt, idList, type PackedIds, packIds } from "./cohort/ids.ts";
export { applyTransform, type Marker, TRANSFORMS, type Transform, undoSlope, undoTransform } from "./cohort/marker.ts";
export { type Fold, splitCohort } from "./cohort/split.ts";
export * from "./errors.ts";
export * from "./evaluate/compare.ts";
export { centralCoverage, type ForecastOptions, type ForecastScores, forecastScores } from "./evaluate/forecast.ts";
export { type HeldOutOptions, type HeldOutScores, heldOutLogLikelihood } from "./evaluate/held-out.ts";
export * from "./ingest/preview.ts";
export * from "./ingest/quality.ts";
export * from "./ingest/read-cohort.ts";
export { type CourseSummary, courseAt, groupCourses } from "./map/clusters/courses.ts";
export { enoughFollowed, type FollowedWindow, followedWindow } from "./map/clusters/followed.ts";
export { mixtureFromLabels, mixtureMembership } from "./map/clusters/gaussian-mixture.ts";
export { nameGroups } from "./map/clusters/names.ts";
export type { NumberOfGroups } from "./map/clusters/number.ts";
export { type Direction, type Piece, piecesOf, yearsPer } from "./map/clusters/shape.ts";
export { STABLE_FROM, type Stability } from "./map/clusters/stability.ts";
export { type RotatedComponent, rotatedComponents } from "./map/components.ts";
export * from "./map/groups.ts";
export { type AlignedModel, alignModel } from "./models/align.ts";
export { type Course, courseReader, courseTimes, functionalMean, functionalSd } from "./models/course.ts";
export { type Decoder, makeDecoder } from "./models/decoder.ts";
export type { DtmModel } from "./models/dtm/model.ts";
export { modelFileJsonSchema } from "./models/file-schema.ts";
export {
  type CancelSignal,
  type ColumnNames,
  type FitControl,
  type FitProgress,
  type FitRecord,
  LIBRARY_VERSION,
  type MeanFunction,
} from "./models/fit.ts";
export {
  type DtmProgress,
  type DtmRun,
  type DtmRunSnapshot,
  type FitDtmOptions,
  type FitLatticeOptions,
  type FitPaperOptions,
  fitDtm,
  resumeDtm,
  startDtm,
} from "./models/fit-models.ts";
export type { FpcaModel } from "./models/linear/fpca.ts";
export type { LmmModel } from "./models/linear/lmm.ts";
export { linearLogLikelihood } from "./models/linear/scores.ts";
export {
  type FpcaOptions,
  fitFpca,
  fitLinear,
  fitLmm,
  type LinearModels,
  type LinearModelsOptions,
  type LmmOptions,
} from "./models/linear-models.ts";
export {
  isMapModel,
  type MapModel,
  type MixtureOptions,
  type ModelKind,
  modelMixture,
  type TrajectoryModel,
} from "./models/model.ts";
export type { DtmPaperModel } from "./models/paper/model.ts";
export {
  drawLocations,
  type EmbedOptions,
  embed,
  embedPlaces,
  type History,
  highestDensityRegion,
  placeIndividual,
  placementAt,
} from "./models/place.ts";
export {
  type Placement,
  type Placements,
  type Places,
  placeSd,
  placeSds,
  type VariationalPlace,
} from "./models/placement.ts";
export {
  type ChangeOptions,
  type Crossing,
  type CrossingOptions,
  drawCurves,
  type Interval,
  type PredictedSeries,
  type Prediction,
  type PredictOptions,
  predict,
  predictBelow,
  predictChange,
  predictCrossing,
  predictDifference,
} from "./models/predict.ts";
export type { StartResult } from "./models/run.ts";
export { loadModel, saveModel } from "./models/serialize.ts";
export { createShardWorker } from "./models/shard-worker.ts";
export type { ShardBlock, ShardFunction, ShardHost, ShardRunner } from "./models/shards.ts";
export { type Alignment, procrustes } from "./numeric/procrustes.ts";
export { createRandom, type Random } from "./numeric/random.ts";
export * from "./simulate/cohorts.ts";
export { type ModelSimulation, simulateFromModel } from "./simulate/from-model.ts";
export * from "./study/group-stability.ts";
export * from "./study/landmark-survival.ts";
export * from "./study/outcome-surfaces.ts";
export * from "./study/places.ts";
export * from "./study/refit.ts";
export * from "./study/subjects.ts";
export * from "./study/tasks.ts";
export type { FollowUp } from "./survival/follow-up.ts";
export { curveAt, type SurvivalPoint, type SurvivalSteps } from "./survival/kaplan-meier.ts";
