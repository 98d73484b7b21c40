/**
 * Calibration of forecasts on individuals who were not in the fit (models/conformal.ts, docs/math/prediction.md §7): later visits
 * are forecast from the first 1, 2, 3, … of each, and what the model's own band must be multiplied by is told by classes of visits
 * known and of time since the last of them.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { DtmError } from "../errors.ts";
import {
  BASE_LEVEL,
  CALIBRATED_LEVELS,
  type CalibrationClass,
  calibrationFactors,
  classOf,
  type ForecastCalibration,
  type ForecastCoverage,
  isCalibratedAt,
} from "../models/conformal.ts";
import { viewMarker } from "../models/fit.ts";
import { forecastGuard } from "../models/forecast-guard.ts";
import { isMapModel, type ScoredModel, type TrajectoryModel } from "../models/model.ts";
import { embedPlaces } from "../models/place.ts";
import { roundStep, roundTo } from "../numeric/rounding.ts";
import {
  type ForecastBand,
  type Forecaster,
  forecastBands,
  guardedForecaster,
  modelForecaster,
  visitsAfter,
} from "./forecast.ts";

/** First visits known of the classes. */
const KNOWN_FROM = [1, 2, 3, 5, 9, 17];
/** Classes of time since the last visit, with about as many forecasts each. */
const NUM_HORIZONS = 3;
/** Individuals that a class needs; else those nearest in visits known, with its time, are counted in, and at last everybody. */
const LEAST_INDIVIDUALS = 40;
/** Least n with (1 + level)/2 ≤ n/(n + 1): fewer tell no quantile of one more individual. */
export function fewestFor(level: number): number {
  return Math.ceil((1 + level) / (1 - level) - 1e-9);
}
/** Individuals without whom there is no calibration: it goes into a model that may be shared, and quantiles over fewer are nearly values of single ones. */
const FEWEST_CALIBRATED = 20;
/** Parts of the individuals, of which each is covered by factors of the others. */
const NUM_PARTS = 5;

/** One forecast of a visit: whose, in which class, and how far off in units of the model's own band. */
interface Miss {
  readonly individual: string;
  readonly known: number;
  readonly horizon: number;
  readonly below: number; // r⁻
  readonly above: number; // r⁺
}

/** A model with the calibration of each of its markers. */
export function withCalibrations<M extends TrajectoryModel>(model: M, calibrations: readonly ForecastCalibration[]): M {
  if (model.markers.length === 1) return { ...model, calibration: calibrations[0] };
  return { ...model, markers: model.markers.map((part, k) => ({ ...part, calibration: calibrations[k] })) };
}

/** A model and individuals whom it has not seen. */
export interface HeldOutPart {
  readonly model: ScoredModel;
  readonly cohort: Cohort;
  /** Individuals of the fit: forecasts of a map are then those that `predict` gives with a guard. */
  readonly train?: Cohort;
}

/**
 * Factors by which forecast bands hold what they promise. With one part, whose model they are then used with, the promise is exact;
 * with the folds of a cohort, each with the model of the others, they serve the model of all, which is about as good. Of several markers
 * one is named by its position; classes are by its own visits, and forecasts are given what all markers had up to the last of them.
 * @throws DtmError "too-few-individuals" where they are too few for factors of any level.
 * @example
 * const [{ train, test }] = splitCohort(cohort, 5);
 * const model = fitDtm(train);
 * const calibrated = { ...model, calibration: calibrateForecasts([{ model, cohort: test }]) };
 */
export function calibrateForecasts(parts: readonly HeldOutPart[], marker?: number): ForecastCalibration {
  const { name } = parts[0].cohort.markers[marker ?? 0].marker;
  return calibrateBands(
    parts.map((part) => bandsOf(part, marker)),
    name,
  );
}

/** The same of forecasts that were made: of each part, from visits that are asked. */
export function calibrateBands(parts: readonly (readonly ForecastBand[])[], name = "the marker"): ForecastCalibration {
  const misses = parts.flatMap((bands, p) => bands.map((band) => missOf(band, p)));
  const numIndividuals = visitsOf(misses).size;
  if (numIndividuals < FEWEST_CALIBRATED) {
    throw new DtmError(
      "too-few-individuals",
      `calibrateForecasts: expected ${FEWEST_CALIBRATED} individuals or more with two visits or more of ${name}, received ${numIndividuals}. Add individuals who were not in the fit: quantiles over fewer would tell single visits in a file that may be shared.`,
    );
  }
  const calibration = calibrationOf(misses);
  const coverage = coverageOf(misses);
  return coverage === undefined ? calibration : { ...calibration, coverage };
}

function calibrationOf(misses: readonly Miss[]): ForecastCalibration {
  const horizonFrom = horizonClasses(misses);
  const inTime = horizonFrom.map((_, h) => misses.filter(({ horizon }) => classOf(horizonFrom, horizon) === h));
  const enough = (list: readonly Miss[]) => visitsOf(list).size >= LEAST_INDIVIDUALS;
  const classes = KNOWN_FROM.flatMap((_, k) =>
    inTime.map((list) => {
      const within = (reach: number) => list.filter(({ known }) => Math.abs(classOf(KNOWN_FROM, known) - k) <= reach);
      let reach = 0;
      while (reach < KNOWN_FROM.length && !enough(within(reach))) reach++;
      const described = describeClass(reach < KNOWN_FROM.length ? within(reach) : misses);
      return reach === 0 ? described : { ...described, borrowed: true as const };
    }),
  );
  return {
    levels: [...CALIBRATED_LEVELS],
    knownFrom: KNOWN_FROM,
    horizonFrom,
    numIndividuals: visitsOf(misses).size,
    classes,
  };
}

/** First times of the classes: the least that has its share of forecasts before it, so that visits on a schedule leave no class empty. */
function horizonClasses(misses: readonly Miss[]): number[] {
  const horizons = Float64Array.from(misses, ({ horizon }) => horizon).sort();
  const last = horizons.length - 1;
  return Array.from({ length: NUM_HORIZONS }, (_, h) => {
    let at = Math.ceil((h / NUM_HORIZONS) * horizons.length);
    while (at < last && horizons[at] === horizons[at - 1]) at++;
    const from = horizons[Math.min(at, last)];
    // Down, so that a visit on a schedule stays in its class; an exact one is the time between two visits of one individual.
    return h === 0 || from === 0 ? 0 : roundTo(from, roundStep(from / 10), Math.floor);
  });
}

/** Shares of visits inside the bands; undefined where there are too few individuals for factors from the others. */
function coverageOf(misses: readonly Miss[]): ForecastCoverage | undefined {
  const visits = visitsOf(misses);
  if (visits.size < NUM_PARTS) return undefined;
  const part = new Map([...visits.keys()].map((individual, i) => [individual, i % NUM_PARTS]));
  const inPart = (k: number) => misses.filter(({ individual }) => part.get(individual) === k);
  const others = Array.from({ length: NUM_PARTS }, (_, k) =>
    calibrationOf(misses.filter(({ individual }) => part.get(individual) !== k)),
  );
  if (!others.every((factors) => isCalibratedAt(factors, BASE_LEVEL))) return undefined;
  const share = (inside: readonly Miss[]) =>
    inside.reduce((sum, { individual }) => sum + 1 / visits.get(individual)!, 0) / visits.size;
  const covered = others.flatMap((factors, k) =>
    inPart(k).filter(({ known, horizon, below, above }) => {
      const { lower, upper } = calibrationFactors(factors, known, horizon, BASE_LEVEL);
      return below <= lower && above <= upper;
    }),
  );
  return { own: share(misses.filter(({ below, above }) => below <= 1 && above <= 1)), calibrated: share(covered) };
}

function bandsOf(part: HeldOutPart, marker?: number): ForecastBand[] {
  const tasks = visitsAfter(part.cohort, isAsked, marker);
  return forecastBands(part.cohort, tasks, forecasterOf(part, marker), BASE_LEVEL, marker);
}

function missOf({ individual, known, horizon, value, median, lower, upper }: ForecastBand, part: number): Miss {
  return {
    individual: `${part} ${individual}`,
    known,
    horizon,
    below: (median - value) / (median - lower),
    above: (value - median) / (upper - median),
  };
}

/** What is scored is what is shown. */
function forecasterOf({ model, train }: HeldOutPart, marker?: number): Forecaster {
  if (train === undefined || model.kind === "classes" || !isMapModel(model)) {
    return modelForecaster(model, undefined, marker);
  }
  const k = marker ?? 0;
  const places = embedPlaces(model, train);
  const guard = forecastGuard(viewMarker(model, k), markerCohort(train, k), { places });
  return guardedForecaster(model, guard, undefined, marker);
}

/**
 * Whether forecasts are made from the first k visits: each k to 16, then 18, 20, …, 32, 36, …, 64, …, so that their number grows with the
 * logarithm of the visits. A class without its first numbers would be calibrated on those with the most visits only.
 */
export function isAsked(k: number): boolean {
  while (k > 16 && k % 2 === 0) k /= 2;
  return k <= 16;
}

/** Forecasts of each individual. */
function visitsOf(misses: readonly Miss[]): Map<string, number> {
  const visits = new Map<string, number>();
  for (const { individual } of misses) visits.set(individual, (visits.get(individual) ?? 0) + 1);
  return visits;
}

function describeClass(misses: readonly Miss[]): CalibrationClass {
  const visits = visitsOf(misses);
  const n = visits.size;
  const factors = (score: (miss: Miss) => number) => {
    const sorted = misses
      .map((miss) => ({ r: score(miss), weight: 1 / visits.get(miss.individual)! }))
      .sort((a, b) => a.r - b.r);
    return CALIBRATED_LEVELS.map((level) => {
      let left = 0.5 * (1 + level) * (n + 1);
      for (const { r, weight } of sorted) {
        left -= weight;
        // Up, so that the band still holds what it promises; an exact factor is one visit of one individual.
        if (left <= 1e-9) return roundTo(r, 0.01, Math.ceil);
      }
      return null;
    });
  };
  return { numIndividuals: n, lower: factors(({ below }) => below), upper: factors(({ above }) => above) };
}
