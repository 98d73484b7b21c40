/** One individual placed and forecast for whoever asks: the functions of `dtm predict`, so the same numbers to the last digit. */
import type { Prediction } from "@trajectory-maps/core";
import { COMPUTABLE_SIZES, encodeFor, readComparator, readNumber, showReceived } from "@trajectory-maps/core/ingest";
import {
  codingOf,
  fitsNoCourse,
  highestDensityRegion,
  markerIndex,
  type PredictedSeries,
  SUPPORTED,
} from "@trajectory-maps/core/models";
import { COURSE_COLUMNS, courseOf, courseRows, LIMIT_COLUMNS } from "../commands/courses.ts";
import { CROSSING_COLUMNS, crossingRow, record } from "../commands/crossings.ts";
import { type PlacedHistory, placeDescribed } from "../commands/histories.ts";
import { groupShares } from "../io/run-groups.ts";
import type { ServedModel } from "./models.ts";
import { refused } from "./problem.ts";
import type { PlaceRequest, PlaceResponse } from "./schemas.ts";

/** Probability inside the region and the bands. */
const LEVEL = 0.9;

/** Visits of a marker with limits where noise is correlated: the time grows by their cube, and whoever asks next waits. */
const MOST_BESIDE_LIMITS = 100;

export function placeSomebody(served: ServedModel, request: PlaceRequest): PlaceResponse {
  const { info, model } = served;
  checkAsked(served, request);
  const warnings: string[] = [];
  const individual = placeHistory(served, request, warnings);
  const { placement } = individual;
  const { suspects = [], fault } = placement;
  if (fault !== undefined) {
    const remedy = "Look up the values: another unit, or a code for missing.";
    const expected = "values that the model can tell something of";
    throw refused(422, "not-computable", { where: "visits", expected, received: fault, remedy });
  }
  const q = model.mapDimension;
  const rows = (flat: Float64Array) => Array.from({ length: q }, (_, a) => [...flat.subarray(a * q, (a + 1) * q)]);
  const region = regionOf(served, individual, LEVEL);
  const half = region && cellsWith(placement.posterior.weights, 0.5);
  const area = (cells: number | undefined) => (cells === undefined ? null : cells * (served.cell ?? Number.NaN) ** q);
  if (placement.numOutsideTimes > 0) {
    warnings.push(
      `${placement.numOutsideTimes} visits lie outside the times of the training data; they are used as if made at its first or last time.`,
    );
  }
  const far = individual.own.farCovariates ?? [];
  if (far.length > 0) {
    warnings.push(`Covariates lie far outside those fitted (${far.join(", ")}): what the model says is extrapolated.`);
  }
  if (fitsNoCourse(placement)) {
    warnings.push("The values do not fit any course seen: place, groups and forecasts from them mean nothing.");
  }
  if (suspects.length > 0) {
    warnings.push(`${suspects.length} of the values are probably wrong; they moved the place all the same.`);
  }
  return {
    model: info.name,
    place: {
      location: [...placement.location],
      covariance: rows(placement.covariance),
      area50: area(half),
      area90: area(region?.length),
      outside: placement.outsideMass,
    },
    region: region === undefined ? null : { level: LEVEL, cell: served.cell ?? 0, cells: region },
    groups: groupsOf(served, individual),
    forecasts: request.at === undefined ? [] : forecastsOf(served, individual, request, warnings),
    crossing:
      request.threshold === undefined ? null : crossingOf(served, individual, request, request.threshold, warnings),
    suspects: suspects.map(({ id: _, ...suspect }) => suspect),
    warnings,
  };
}

/** Refuses a marker that the model has not and numbers that no table could hold, whether or not they are used. */
function checkAsked({ model }: ServedModel, { marker, at = [], threshold }: PlaceRequest): void {
  if (marker !== undefined) markerIndex(model, marker);
  for (const [j, time] of at.entries()) readFinite(time, `at[${j}]`);
  if (threshold === undefined) return;
  readFinite(threshold.value, "threshold.value");
  if (threshold.from !== undefined) readFinite(threshold.from, "threshold.from");
}

/** The visits as a history of the model's markers, and its place. */
function placeHistory({ model }: ServedModel, request: PlaceRequest, warnings: string[]): PlacedHistory {
  const names = model.markers.map(({ marker }) => marker.name);
  const columns = names.map(() => ({ times: [] as number[], values: [] as number[], censored: [] as number[] }));
  const seen = new Set<string>();
  request.visits.forEach(({ time, value, marker }, j) => {
    const where = `visits[${j}]`;
    if (marker === undefined && names.length > 1) {
      const remedy = `Say which: ${names.join(", ")}.`;
      throw refused(422, "other-marker", { where, expected: "a marker", received: "none", remedy });
    }
    const k = marker === undefined ? 0 : names.indexOf(marker);
    if (k < 0) {
      const [expected, remedy] = [`a marker among ${names.join(", ")}`, "Leave out what the model does not know."];
      throw refused(422, "other-marker", { where, expected, received: `"${showReceived(marker ?? "")}"`, remedy });
    }
    const measured = readValue(value, `${where}.value`);
    const at = readFinite(time, `${where}.time`);
    const own = columns[k]!;
    const key = `${k} ${at} ${measured.side} ${measured.value}`;
    if (seen.has(key)) return;
    seen.add(key);
    own.times.push(at);
    own.values.push(measured.value);
    own.censored.push(measured.side);
  });
  if (seen.size < request.visits.length) {
    warnings.push(`${request.visits.length - seen.size} visits repeat another exactly and were left out.`);
  }
  columns.forEach(({ values, censored }, k) => {
    if (model.markers[k]?.noise.correlation === undefined || !censored.some((side) => side !== 0)) return;
    if (values.length <= MOST_BESIDE_LIMITS) return;
    const expected = `at most ${MOST_BESIDE_LIMITS} visits of ${names[k]} where some are limits and its noise is correlated`;
    const remedy = "Leave out the earliest visits.";
    throw refused(422, "bad-request", { where: "visits", expected, received: String(values.length), remedy });
  });
  const markers = Object.fromEntries(
    columns.map(({ censored, ...visits }, k) => [
      names[k]!,
      { ...visits, ...(censored.some((side) => side !== 0) && { censored }) },
    ]),
  );
  const coding = codingOf(model);
  if (coding === undefined && Object.keys(request.covariates ?? {}).length > 0) {
    const received = Object.keys(request.covariates ?? {})
      .map((name) => showReceived(name))
      .join(", ");
    throw refused(422, "option", {
      where: "covariates",
      expected: "none, since the model has none",
      received,
      remedy: "Leave them out.",
    });
  }
  const covariates = coding && { covariates: encodeFor(coding, request.covariates ?? {}) };
  return placeDescribed(model, { id: "new", markers, ...covariates });
}

/** A value as a cell of a table would be read: a number, or a limit behind a sign. */
function readValue(given: number | string, where: string): { readonly value: number; readonly side: number } {
  if (typeof given === "number") return { value: readFinite(given, where), side: 0 };
  const cell = given.trim();
  const limit = readComparator(cell);
  const value = readNumber(limit?.rest ?? cell, ".");
  if (Number.isNaN(value)) {
    const remedy = "Write the limit as a number behind the sign.";
    const expected = 'a number, or a limit such as "<0.3"';
    throw refused(422, "not-a-number", { where, expected, received: `"${showReceived(cell)}"`, remedy });
  }
  return { value, side: limit?.side ?? 0 };
}

/** A number that a table could hold too. */
function readFinite(given: number, where: string): number {
  const value = readNumber(String(given), ".");
  if (!Number.isNaN(value)) return value;
  const remedy = "Give it in another unit.";
  throw refused(422, "not-finite", {
    where,
    expected: `a number, ${COMPUTABLE_SIZES}`,
    received: String(given),
    remedy,
  });
}

/** Middles of the cells of the highest-density region; undefined without a lattice. */
function regionOf({ model, cell }: ServedModel, { placement }: PlacedHistory, level: number): number[][] | undefined {
  if (cell === undefined) return undefined;
  const q = model.mapDimension;
  const found = highestDensityRegion(model, placement, level);
  return Array.from({ length: found.length / q }, (_, k) => [...found.subarray(k * q, (k + 1) * q)]);
}

/** How many of the heaviest cells hold a share together. */
function cellsWith(weights: Float64Array, share: number): number {
  const ascending = weights.slice().sort();
  let [count, mass] = [0, 0];
  while (count < ascending.length && mass < share) mass += ascending[ascending.length - ++count]!;
  return count;
}

function groupsOf({ groups }: ServedModel, { placement }: PlacedHistory): PlaceResponse["groups"] {
  if (groups === undefined) return [];
  const shares = groupShares(groups, placement);
  return groups.groups.map(({ letter, name }, g) => ({ letter, name, probability: shares[g] ?? 0 }));
}

function forecastsOf(
  { model, info, guards }: ServedModel,
  individual: PlacedHistory,
  { at = [], interval: asked, level = LEVEL, marker: name, rate = false, seed = 1 }: PlaceRequest,
  warnings: string[],
): PlaceResponse["forecasts"] {
  const chosen = name === undefined ? model.markers.map((_, k) => k) : [markerIndex(model, name)];
  const times = Float64Array.from(at);
  const isFar = individual.own.farCovariates !== undefined;
  if (guards === undefined && info.kind.startsWith("dtm")) {
    warnings.push(
      "Forecasts are not held against how long similar individuals were followed: the model came without visits.",
    );
  }
  return chosen.map((k) => {
    const { marker } = model.markers[k]!;
    const interval = asked ?? (info.markers[k]!.calibrated ? "conformal" : "observation");
    const found = courseOf(individual, k, marker, times, guards?.[k], { level, interval, rate, seed });
    const numExtrapolated = found.extrapolated.reduce((sum, one) => sum + one, 0);
    if (numExtrapolated > 0 && !isFar) {
      warnings.push(
        `${marker.name}: ${numExtrapolated} of ${at.length} forecasts are extrapolated: outside the times of the training data${guards === undefined ? "" : `, or fewer than ${SUPPORTED} similar individuals were followed that long`}.`,
      );
    }
    return {
      marker: marker.name,
      unit: marker.unit,
      interval,
      level,
      guarded: guards !== undefined,
      rows: rowsOf(found),
    };
  });
}

type ForecastRow = PlaceResponse["forecasts"][number]["rows"][number];

/** The rows of `dtm predict --json`, without what is the individual's own. */
function rowsOf(found: Prediction): ForecastRow[] {
  return courseRows("", found, 0).map((cells, j) => {
    const columns = cells.length > COURSE_COLUMNS.length ? [...COURSE_COLUMNS, ...LIMIT_COLUMNS] : COURSE_COLUMNS;
    const { id: _, suspects: __, ...row } = record(columns, cells);
    return { ...row, ...(found.rate && { rate: seriesAt(found.rate, j) }) } as ForecastRow;
  });
}

function seriesAt(series: PredictedSeries, j: number): NonNullable<ForecastRow["rate"]> {
  const at = (values: Float64Array) => (Number.isFinite(values[j]) ? (values[j] ?? null) : null);
  const { mean, sd, lower, upper, median } = series;
  return { mean: at(mean), sd: at(sd), lower: at(lower), upper: at(upper), median: at(median) };
}

function crossingOf(
  { model, info }: ServedModel,
  individual: PlacedHistory,
  { marker, seed = 1 }: PlaceRequest,
  { value, direction, from, marker: own = marker }: NonNullable<PlaceRequest["threshold"]>,
  warnings: string[],
): PlaceResponse["crossing"] {
  const k = markerIndex(model, own);
  const until = info.markers[k]!.times[1]!;
  const side = direction && { direction: direction === "above" ? ("up" as const) : ("down" as const) };
  const asked = { threshold: value, seed, ...side, ...(from !== undefined && { from }) };
  const { cells, late } = crossingRow(individual, k, asked);
  if (late)
    warnings.push(`Last seen after ${until}, the last time in the training data: nothing is said of later crossings.`);
  const { id: _, suspects: __, ...row } = record(CROSSING_COLUMNS, cells);
  return { marker: model.markers[k]!.marker.name, until, ...row } as PlaceResponse["crossing"];
}
