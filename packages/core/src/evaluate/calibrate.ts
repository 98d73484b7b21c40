/**
 * Calibration of forecasts on individuals who were not in the fit (models/conformal.ts, docs/math/prediction.md §7): later visits
 * are forecast from the first 1, 2, 3, 4, 6, 8, 12, … of each, and what the model's own band must be multiplied by is told by
 * classes of visits known and of time since the last of them.
 */
import type { Cohort } from "../cohort/cohort.ts";
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
import type { ScoredModel } from "../models/model.ts";
import { sortedQuantile } from "../numeric/select.ts";
import { type Forecaster, forecastBands, modelForecaster, visitsAfter } from "./forecast.ts";

/** First visits known of the classes. */
const KNOWN_FROM = [1, 2, 3, 5, 9, 17];
/** Classes of time since the last visit, with as many forecasts each. */
const NUM_HORIZONS = 3;
/** Individuals that a class needs; else it takes the numbers of all with its time, or of everybody. */
const LEAST_INDIVIDUALS = 40;
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

/** A model and individuals whom it has not seen. */
export interface HeldOutPart {
  readonly model: ScoredModel;
  readonly cohort: Cohort;
}

/**
 * Factors by which forecast bands hold what they promise. With one part, whose model they are then used with, the promise is exact;
 * with the folds of a cohort, each with the model of the others, they serve the model of all, which is about as good.
 * @example
 * const [{ train, test }] = splitCohort(cohort, 5);
 * const model = fitDtm(train);
 * const calibrated = { ...model, calibration: calibrateForecasts([{ model, cohort: test }]) };
 */
export function calibrateForecasts(parts: readonly HeldOutPart[]): ForecastCalibration {
  const misses = parts.flatMap(({ model, cohort }, p) =>
    missesOf(cohort, modelForecaster(model)).map((miss) => ({ ...miss, individual: `${p} ${miss.individual}` })),
  );
  const calibration = calibrationOf(misses);
  const coverage = coverageOf(misses);
  return coverage === undefined ? calibration : { ...calibration, coverage };
}

function calibrationOf(misses: readonly Miss[]): ForecastCalibration {
  const horizons = Float64Array.from(misses, ({ horizon }) => horizon).sort();
  const horizonFrom = Array.from({ length: NUM_HORIZONS }, (_, h) =>
    h === 0 ? 0 : sortedQuantile(horizons, h / NUM_HORIZONS),
  );
  const inTime = (h: number) => misses.filter(({ horizon }) => classOf(horizonFrom, horizon) === h);
  const classes = KNOWN_FROM.flatMap((_, k) =>
    horizonFrom.map((_, h) => {
      const own = inTime(h).filter(({ known }) => classOf(KNOWN_FROM, known) === k);
      const wider = [own, inTime(h), misses];
      return describeClass(wider.find((list) => visitsOf(list).size >= LEAST_INDIVIDUALS) ?? misses);
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

function missesOf(
  cohort: Cohort,
  forecaster: Forecaster,
): (Omit<Miss, "individual"> & { readonly individual: number })[] {
  const bands = forecastBands(cohort, visitsAfter(cohort, isAsked), forecaster, BASE_LEVEL);
  return bands.map(({ individual, known, horizon, value, median, lower, upper }) => ({
    individual,
    known,
    horizon,
    below: (median - value) / (median - lower),
    above: (value - median) / (upper - median),
  }));
}

/** Whether forecasts are made from the first k visits: 1, 2, 3, 4, 6, 8, 12, 16, … */
function isAsked(k: number): boolean {
  while (k > 4 && k % 2 === 0) k /= 2;
  return k <= 4;
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
        if (left <= 1e-9) return r;
      }
      return null;
    });
  };
  return { numIndividuals: n, lower: factors(({ below }) => below), upper: factors(({ above }) => above) };
}
