/**
 * What was forecast and what came: every visit but the first, forecast from those before it, with the band that is shown (calibrated
 * where the model is, guarded where a guard is given). People of the cohort that the model was fitted to are in-sample; how bands hold for others is measured by
 * `calibrateForecasts`.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { selectIndividuals } from "../cohort/cohort.ts";
import { isCalibratedAt } from "../models/conformal.ts";
import { codedFor, modelAt } from "../models/covariate-model.ts";
import { viewMarker } from "../models/fit.ts";
import { type ForecastGuard, guardFor } from "../models/forecast-guard.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { placeIndividual } from "../models/place.ts";
import { viewPlacement } from "../models/placement.ts";
import { predict } from "../models/predict.ts";
import { createRandom } from "../numeric/random.ts";

/** One visit and its forecast. */
export interface ReplayedVisit {
  /** Position of the individual in the cohort. */
  readonly individual: number;
  /** Visits of the marker that were known, and the time of the last of them. */
  readonly known: number;
  readonly from: number;
  readonly time: number;
  readonly value: number;
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
  readonly inside: boolean;
}

export interface Replay {
  readonly level: number;
  readonly visits: readonly ReplayedVisit[];
  /** How many people were looked at. */
  readonly individuals: number;
  /** By visits known: the first number of each class, how many forecasts, and how many held. */
  readonly classes: readonly { readonly knownFrom: number; readonly count: number; readonly inside: number }[];
}

export interface ReplayOptions {
  /** Position of the marker. Default 0. */
  readonly marker?: number;
  /** What holds forecasts where few similar people were followed, as in `predict`. */
  readonly guard?: ForecastGuard | null;
  /** People that are looked at, at random where there are more. Default 200. */
  readonly most?: number;
}

const LEVEL = 0.9;
/** First number of visits known of each class. */
const KNOWN_FROM = [1, 2, 3, 4, 8];

/** Forecasts of the next visit, of everybody or of some. Visits below or above a limit are known but not judged. */
export function replayForecasts(model: TrajectoryModel, cohort: Cohort, options: ReplayOptions = {}): Replay {
  const { marker: k = 0, guard = null, most = 200 } = options;
  const m = cohort.ids.length;
  const chosen =
    m > most ? createRandom(1).permutation(m).slice(0, most).sort() : Int32Array.from(cohort.ids, (_, i) => i);
  const visits = Array.from(chosen).flatMap((i) => replayOne(model, selectIndividuals(cohort, [i]), k, i, guard));
  const classes = KNOWN_FROM.map((knownFrom, c) => {
    const below = KNOWN_FROM[c + 1] ?? Number.POSITIVE_INFINITY;
    const own = visits.filter(({ known }) => known >= knownFrom && known < below);
    return { knownFrom, count: own.length, inside: own.filter(({ inside }) => inside).length };
  });
  return { level: LEVEL, visits, individuals: chosen.length, classes: classes.filter(({ count }) => count > 0) };
}

/** The next visits of the only individual of a cohort. */
function replayOne(
  model: TrajectoryModel,
  cohort: Cohort,
  k: number,
  individual: number,
  guard: ForecastGuard | null,
): ReplayedVisit[] {
  const coded = codedFor(model, cohort);
  const covariates = coded === null ? undefined : { coding: model.covariates!, values: coded };
  const own = viewMarker(coded === null ? model : modelAt(model, coded), k);
  const interval =
    own.calibration !== undefined && isCalibratedAt(own.calibration, LEVEL) ? "conformal" : "observation";
  const name = model.markers[k].marker.name;
  const series = model.markers.length === 1 ? cohort.markers[0] : cohort.markers.find((s) => s.marker.name === name)!;
  const numVisits = series.times.length;
  return Array.from({ length: Math.max(numVisits - 1, 0) }, (_, j) => j + 1).flatMap((known) => {
    if ((series.censored?.[known] ?? 0) !== 0) return [];
    const from = series.times[known - 1];
    // Two values of one time are one visit: nothing lies between them to forecast.
    if (!(series.times[known] > from)) return [];
    const markers = Object.fromEntries(
      cohort.markers.map(({ marker, times, values, censored }) => {
        const seen = times.filter((t) => t <= from).length;
        const cut = { times: times.subarray(0, seen), values: values.subarray(0, seen) };
        return [
          model.markers.length === 1 ? name : marker.name,
          { ...cut, ...(censored && { censored: censored.subarray(0, seen) }) },
        ];
      }),
    );
    const placement = placeIndividual(model, { markers }, covariates && { covariates });
    const [time, value] = [series.times[known], series.values[known]];
    const guarded = guard && { guard: guardFor(guard, markers[name], covariates?.values) };
    const band = predict(own, viewPlacement(placement, k), [time], { level: LEVEL, interval, ...guarded });
    const { median, lower, upper } = band;
    const inside = value >= lower[0] && value <= upper[0];
    return [{ individual, known, from, time, value, median: median[0], lower: lower[0], upper: upper[0], inside }];
  });
}
