/** Tables: reading, previewing and checking them; markers, ids, outcomes of individuals; errors and complaints in words. */

export {
  type Outcome,
  type OutcomesRead,
  plainOutcomes,
  readOutcomes,
} from "../associate/outcomes.ts";
export {
  COVARIATE_EFFECTS,
  type CodedColumn,
  type Covariate,
  type CovariateCoding,
  type CovariateEffect,
  MISSING_RULES,
  type MissingRule,
} from "../cohort/coding.ts";
export {
  type CohortColumns,
  compareText,
  type MarkerSeries,
  numObservations,
  onlyMarker,
  selectVisits,
} from "../cohort/cohort.ts";
export { type CensoringLimit, censoringLimits, limitWords, writeCensored } from "../cohort/limits.ts";
export {
  applyTransform,
  COMPUTABLE_SIZES,
  type Limits,
  markerScale,
  TRANSFORMS,
  type Transform,
  undoSlope,
  undoTransform,
  valueLimits,
} from "../cohort/marker.ts";
export { checkMarkers, combineMarkers, markerCohort, numMeasured, visitTimes } from "../cohort/several-markers.ts";
export { countVisitClasses } from "../cohort/visit-classes.ts";
export { type CovariateChoices, codeCovariates, type WantedCovariate } from "../covariates/code.ts";
export {
  type Covariates,
  type CovariateValue,
  decodeColumns,
  encodeFor,
  encodeTable,
  farCovariates,
  takeCoded,
  withCovariates,
} from "../covariates/covariates.ts";
export { ERROR_CODES, type ErrorCode, type ErrorKind } from "../error-codes.ts";
export { showComplaint, showReceived, showWhere, type Where } from "../errors.ts";
export { isFhirFile } from "../fhir/recognise.ts";
export { DAYS_PER, dayNumber, TIME_UNITS, type TimeUnit, timeUnitOf, writeDay } from "../ingest/calendar.ts";
export { cellText, decimalText, singleText } from "../ingest/cell-text.ts";
export type { Columns } from "../ingest/columns.ts";
export { showComplaints } from "../ingest/complaints.ts";
export type { DateOptions } from "../ingest/date-column.ts";
export { decodeText } from "../ingest/decode.ts";
export {
  type ByteSource,
  type RandomBytes,
  TABLE_EXTENSIONS,
  type TableSource,
  type TypedRows,
} from "../ingest/formats.ts";
export { namesIndividuals, timeColumns } from "../ingest/id-columns.ts";
export { isMissing, readComparator, readNumber } from "../ingest/numbers.ts";
export { type CountedTimes, describeTimes, originWords, parseOrigin } from "../ingest/origin.ts";
export {
  type ColumnGuess,
  type ColumnPreview,
  type PreviewOptions,
  previewFile,
  previewTable,
  type TablePreview,
  type WidePreview,
} from "../ingest/preview.ts";
export type { DatesPreview } from "../ingest/preview-dates.ts";
export type { UnitsPreview } from "../ingest/preview-units.ts";
export {
  type CohortQuality,
  type CoveredPairs,
  coveredPairs,
  type FiveNumbers,
  inspectCohort,
  inspectMarkers,
  type MarkersQuality,
  valueHistogram,
} from "../ingest/quality.ts";
export { leftOutNote, type ReadCohort, readCohortFile, readCohortRows } from "../ingest/read-cohort.ts";
export type { MarkerChoice, ReadCohortOptions } from "../ingest/read-options.ts";
export type { SubjectsTable } from "../ingest/subjects-table.ts";
export { isFarValue } from "../ingest/suspicions.ts";
export type { Delimiter, TableRow } from "../ingest/table.ts";
export { type TableKind, tableKind } from "../ingest/table-kind.ts";
export { TEMPLATES, type TemplateName } from "../ingest/templates.ts";
export { THOUSANDS, type Thousands } from "../ingest/thousands.ts";
export { findWide, type WideLayout } from "../ingest/wide.ts";
export { DATE_ORDERS, type DateOrder, readDate } from "../ingest/written-dates.ts";
export { faultOfKeys } from "../json-keys.ts";
export { meanAndSd } from "../numeric/moments.ts";
export { sortedQuantile } from "../numeric/select.ts";
export {
  followUpColumns,
  type ReadSubjects,
  type ReadSubjectsOptions,
  readFollowUp,
  readSubjects,
  readSubjectsFile,
} from "../study/subjects.ts";
