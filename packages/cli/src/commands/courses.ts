/** Courses of one placed individual as `dtm predict` and `dtm serve` tell them: guards, one forecast, its rows. */
import {
  type Cohort,
  DtmError,
  type Marker,
  type Prediction,
  predict,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { markerCohort, showReceived } from "@trajectory-maps/core/ingest";
import {
  embedPlaces,
  type ForecastGuard,
  forecastGuard,
  guardFor,
  type MapModel,
  type PredictOptions,
  type Visits,
  viewMarker,
  viewPlacement,
} from "@trajectory-maps/core/models";
import type { CsvCell } from "@trajectory-maps/report";
import type { PlacedHistory } from "./histories.ts";

export const COURSE_COLUMNS = [
  "id",
  "time",
  "mean",
  "sd",
  "lower",
  "upper",
  "median",
  "extrapolated",
  "model_weight",
  "suspects",
];
/** Further ones of measurements of a marker whose values have a lower limit. */
export const LIMIT_COLUMNS = ["limit", "below_limit"];

/** What forecasts of each chosen marker of a map fall back on, from the cohort it was fitted to. */
export function forecastGuards(model: MapModel, chosen: readonly number[], cohort: Cohort): ForecastGuard[] {
  const places = embedPlaces(model, cohort);
  return chosen.map((k) => forecastGuard(viewMarker(model, k), markerCohort(cohort, k), { places }));
}

/** The visits of one marker. */
export function visitsOfMarker({ history }: PlacedHistory, marker: string): Visits {
  return history.markers[marker] ?? NO_VISITS;
}

const NO_VISITS: Visits = { times: [], values: [] };

/** The course of marker k, told as `marker`: as it is in the model, or with other limits or without its transform. */
export function courseOf(
  individual: PlacedHistory,
  k: number,
  marker: Marker,
  times: Float64Array,
  guard: ForecastGuard | undefined,
  options: PredictOptions,
): Prediction {
  const { own, covariates } = individual;
  const guarded = guard && { guard: guardFor(guard, visitsOfMarker(individual, marker.name), covariates) };
  const told = viewMarker(toldAs(own, k, marker), k);
  return predict(told, viewPlacement(individual.placement, k), times, { ...options, ...guarded });
}

/** What of an individual cannot be computed, in place of a result. */
interface Impossible {
  readonly reason: string;
}

/** A result of one individual, or why there is none: one impossible number must not stop those of others. */
export function orReason<T>(compute: () => T): T | Impossible {
  try {
    return compute();
  } catch (error) {
    if (error instanceof DtmError && error.code === "not-computable") return { reason: reasonOf(error) };
    throw error;
  }
}

/** What is said behind the id. */
function reasonOf({ message }: DtmError): string {
  return /": (.*?)\. Look up/.exec(message)?.[1] ?? message;
}

/** A table with a last column "reason" where rows have one; as it is otherwise. */
export function withReasons(
  columns: readonly string[],
  rows: readonly CsvCell[][],
  reasons: ReadonlyMap<CsvCell[], string>,
): { readonly columns: readonly string[]; readonly rows: readonly CsvCell[][] } {
  if (reasons.size === 0) return { columns, rows };
  const padded = (row: CsvCell[]) => columns.map((_, k) => row[k] ?? Number.NaN);
  return { columns: [...columns, "reason"], rows: rows.map((row) => [...padded(row), reasons.get(row) ?? ""]) };
}

/** What is told of individuals without a result. */
export function impossibleWarning(ids: readonly string[], reasons: Iterable<string>): string {
  const shown = ids.slice(0, 3).map((id) => `"${showReceived(id)}"`);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : "";
  const why = [...new Set(reasons)].join("; ");
  return `Nothing can be said of ${shown.join(", ")}${more}: ${why}. Their cells are left empty; look up their values: another unit, or a code for missing.`;
}

/** The model with another description of marker k. */
export function toldAs(model: TrajectoryModel, k: number, marker: Marker): TrajectoryModel {
  const markers = model.markers.map((part, j) => (j === k ? { ...part, marker } : part));
  return { ...model, markers } as TrajectoryModel;
}

/** Rows of a course that cannot be computed. */
export function emptyRows(id: string, times: Float64Array, numSuspects: number): CsvCell[][] {
  const empty = COURSE_COLUMNS.slice(2, -1).map(() => Number.NaN);
  return Array.from(times, (t) => [id, t, ...empty, numSuspects]);
}

/** Rows of a course, in COURSE_COLUMNS and, where values have a lower limit, LIMIT_COLUMNS. */
export function courseRows(id: string, { times, ...found }: Prediction, numSuspects: number): CsvCell[][] {
  const { mean, sd, lower, upper, median, extrapolated, modelWeight, belowLimit } = found;
  return Array.from(times, (t, j) => {
    const cells = [mean, sd, lower, upper, median].map((x) => x[j] ?? Number.NaN);
    const below = belowLimit === undefined ? [] : [belowLimit.limit, belowLimit.probability[j] ?? Number.NaN];
    return [id, t, ...cells, extrapolated[j] ?? 0, modelWeight?.[j] ?? 1, numSuspects, ...below];
  });
}
