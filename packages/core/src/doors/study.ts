/** Parts of a study: groups, evaluation, outcomes, survival, in detail. */

export { type Adjustment, adjustmentOf } from "../associate/adjustment.ts";
export {
  type AssociationInput,
  type AssociationOptions,
  checkAdjustable,
  type PlacedModel,
} from "../associate/association.ts";
export type { AreaShares, OutcomeContrast } from "../associate/contrast.ts";
export type { MadeUpControl, VisitControl } from "../associate/controls.ts";
export {
  type ColumnShift,
  type CovariateTest,
  type PlaceShifts,
  placeShifts,
  remainingInPlaces,
  type ScoreTestOptions,
  screenCovariates,
} from "../associate/covariate-test.ts";
export { type DifferenceMap, type DifferenceMapOptions, differenceMap } from "../associate/difference-map.ts";
export type {
  AssociationWarning,
  LabelTest,
  LandmarkTest,
  OutcomeAssociation,
  PublishedTest,
  RepresentationAssociation,
  WarningCode,
} from "../associate/outcome-test.ts";
export { MAP_KERNEL } from "../associate/place-features.ts";
export { type PosteriorFeatures, posteriorFeatures } from "../associate/posterior-features.ts";
export type { PredictorComparison, PredictorRow } from "../associate/predictors.ts";
export { yearsPer } from "../cohort/marker.ts";
export { calibrateForecasts, fewestFor, type HeldOutPart, withCalibrations } from "../evaluate/calibrate.ts";
export type { CompareOptions } from "../evaluate/compare.ts";
export {
  COMPARED_MODELS,
  type ComparedModel,
  DEFAULT_MODELS,
  defaultModels,
  type ModelDifference,
  type PairedDifference,
  WITH_COVARIATES,
} from "../evaluate/compared-models.ts";
export { isTooNarrow } from "../evaluate/covers.ts";
export { centralCoverage, type ForecastOptions, type ForecastScores, forecastScores } from "../evaluate/forecast.ts";
export type { HeldOutOptions, HeldOutScores } from "../evaluate/held-out.ts";
export { type HeldOutEvidence, type Light, type LightState, NOT_KNOWN_YET } from "../evaluate/light.ts";
export { type FitEnd, fitEnd, type LightColour, verdictOnMap } from "../evaluate/map-verdict.ts";
export {
  compareSeveral,
  type MarkerComparison,
  type SeveralComparison,
  type SeveralDifference,
  summarizeSeveral,
} from "../evaluate/several-compare.ts";
export { SEVERAL_MODELS, type SeveralFold, type SeveralModel, type SeveralOptions } from "../evaluate/several-folds.ts";
export {
  judgeSharing,
  type SharedMarker,
  type SharingState,
  type SharingVerdict,
  type SingleMap,
  sharingVerdict,
} from "../evaluate/sharing.ts";
export type { FoldSummary, ForecastClass, ModelComparison } from "../evaluate/summarize-folds.ts";
export {
  MOST_LOOKED_THROUGH,
  type SuspectOptions,
  type SuspectValue,
  suspectValues,
} from "../evaluate/suspect-values.ts";
export { type CourseSummary, courseAt, expectedCourses, groupCourses } from "../map/clusters/courses.ts";
export { enoughFollowed, followedTo, lastShownTime } from "../map/clusters/followed.ts";
export {
  type GaussianMixture,
  largestShares,
  mixtureMembership,
  readMixture,
  type WrittenMixture,
  writeMixture,
} from "../map/clusters/gaussian-mixture.ts";
export { nameGroups } from "../map/clusters/names.ts";
export type { NumberOfGroups } from "../map/clusters/number.ts";
export type { GroupPart } from "../map/clusters/parts.ts";
export { type Direction, type Piece, piecesOf } from "../map/clusters/shape.ts";
export {
  refitsText,
  type Stability,
  type StabilityWord,
  stabilityText,
  stabilityWord,
  UNSTABLE_BELOW,
} from "../map/clusters/stability.ts";
export { type RotatedComponent, rotatedComponents } from "../map/components.ts";
export { GROUP_METHODS, type Group, type GroupMethod, type GroupOptions } from "../map/groups.ts";
export { similarFollowedTo } from "../models/follow-up.ts";
export { decimalsApart, withoutZeros } from "../numeric/decimals.ts";
export { type Rate, rate, rateAmong, wilson } from "../numeric/rate.ts";
export { type CalibrationOptions, calibrateByRefits } from "../study/calibration.ts";
export {
  type Characteristic,
  characteristicColumns,
  characteristicsOf,
  MOST_NUMBER_LEVELS,
  type NumberSummary,
  numberCharacteristic,
  SKEWED_ABOVE,
} from "../study/characteristics.ts";
export type { StudyDesign, VisitSchedule } from "../study/design.ts";
export {
  BAND_SDS,
  type DesignForecasts,
  type DesignPlaces,
  type ForecastWidth,
  type PlaceCertainty,
} from "../study/design-places.ts";
export {
  type DropoutOptions,
  type DropoutSensitivity,
  type DropoutStudy,
  dropoutSensitivity,
  type ShiftedGroup,
  type TippingPoint,
} from "../study/dropout-sensitivity.ts";
export { type MapStability, type StudyStabilityOptions, studyStability } from "../study/group-stability.ts";
export {
  type CompetingEvent,
  type LandmarkGroup,
  type LandmarkOptions,
  type LandmarkStudy,
  type LandmarkSurvival,
  landmarkSurvival,
} from "../study/landmark-survival.ts";
export type { LinkKind, LinkRisks } from "../study/outcome-links.ts";
export {
  type FollowedTimes,
  followedAt,
  type PageAbout,
  type PatientGroup,
  type PatientGroups,
  type PatientModel,
  type PatientRun,
  patientModel,
  readPatientModel,
  writePatientModel,
} from "../study/patient-model.ts";
export {
  type CameNext,
  type CameNextOptions,
  cameNext,
  type PersonLike,
  type PlacesKnown,
  peopleLike,
  placesKnownAt,
} from "../study/people-like.ts";
export { type LinkPower, type StudyPower, type StudyPowerOptions, studyPower } from "../study/power.ts";
export type { PowerPoint, SmallestEffect } from "../study/power-curve.ts";
export { type Replay, type ReplayedVisit, type ReplayOptions, replayForecasts } from "../study/replay.ts";
export { type SensitivityInput, type SensitivityOptions, studySensitivity } from "../study/sensitivity.ts";
export {
  GROUPS_HOLD,
  groupsHold,
  PLACES_HOLD,
  type PlaceAgreement,
  type Sensitivity,
  sensitivityVerdict,
  type VariantResult,
} from "../study/sensitivity-result.ts";
export { VARIANT_FAMILIES, type VariantFamily } from "../study/variants.ts";
export {
  type AalenJohansen,
  type IncidencePoint,
  type IncidenceSteps,
  incidenceAt,
} from "../survival/aalen-johansen.ts";
export type { FollowUp } from "../survival/follow-up.ts";
export { type IncidenceAmong, incidenceAmong } from "../survival/incidence-among.ts";
export { curveAt, type SurvivalPoint, type SurvivalSteps } from "../survival/kaplan-meier.ts";
