/**
 * Forecast scores: condition on the first visits of each held-out individual and predict later ones one by one
 * (docs/math/evaluation.md §2). Log density, CRPS, PIT value and absolute error of the median per forecast, on the scale of
 * the model; coverage of central intervals follows from the PIT.
 */

import type { CohortStatistics } from "../basis/statistics.ts";
import { type Cohort, censoredSides, type MarkerSeries, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { partsFor, priorsOf, statisticsFor } from "../models/covariate-model.ts";
import { markerModel } from "../models/fit.ts";
import { followUpSupport } from "../models/follow-up.ts";
import { type ForecastGuard, fallBack, heldTime } from "../models/forecast-guard.ts";
import { createConditioner, posteriorFunctionals } from "../models/mixture/conditioner.ts";
import type { CoefficientMixture } from "../models/mixture/mixture.ts";
import {
  mergeMixture,
  mixtureCdf,
  mixtureCrps,
  mixtureLogDensity,
  mixtureQuantile,
  type NormalMixture,
  quantileSolver,
} from "../models/mixture/normal-mixture.ts";
import { type MapModel, modelMixture, type ScoredModel } from "../models/model.ts";
import { visitsOf } from "../models/new-individuals.ts";
import { embedPlaces, keptFor } from "../models/place.ts";
import { measurementsAt } from "../models/predicting/measurements.ts";
import { takeRows } from "../numeric/matrix.ts";
import { censoredCrps, censoredError, censoredPit, logBeyond } from "./censored-scores.ts";

/** Which visits of an individual are forecast from its first `known` ones: positions from..to−1 among its visits. */
export interface ForecastTask {
  readonly individual: number;
  readonly known: number;
  readonly from: number;
  readonly to: number;
}

/** The rest of everyone's visits from the first `given(n)` of n; individuals with one visit are left out. */
export function laterVisits(cohort: Cohort, given = (n: number) => Math.ceil(n / 2)): ForecastTask[] {
  return tasksOf(cohort, (n) => {
    const known = Math.min(Math.max(given(n), 1), n - 1);
    return [{ known, from: known, to: n }];
  });
}

/** Every visit but the first, each from all visits before it. */
export function nextVisits(cohort: Cohort): ForecastTask[] {
  return tasksOf(cohort, (n) => Array.from({ length: n - 1 }, (_, k) => ({ known: k + 1, from: k + 1, to: k + 2 })));
}

/** All later visits of a marker, from its first k for every k that is `asked`. */
export function visitsAfter(cohort: Cohort, asked: (k: number) => boolean, marker?: number): ForecastTask[] {
  const tasks = (n: number) =>
    Array.from({ length: n - 1 }, (_, k) => k + 1)
      .filter(asked)
      .map((known) => ({ known, from: known, to: n }));
  return tasksOf(cohort, tasks, marker);
}

function tasksOf(
  cohort: Cohort,
  tasks: (n: number) => Omit<ForecastTask, "individual">[],
  marker?: number,
): ForecastTask[] {
  const { offsets } = seriesOf(cohort, marker);
  return cohort.ids.flatMap((_, individual) => {
    const n = offsets[individual + 1] - offsets[individual];
    return n < 2 ? [] : tasks(n).map((task) => ({ individual, ...task }));
  });
}

/** The series of a marker; of the only one where none is named. */
function seriesOf(cohort: Cohort, marker?: number): MarkerSeries {
  return marker === undefined ? onlyMarker(cohort) : cohort.markers[marker];
}

/**
 * What forecasts: for each task, in their order, the distribution of the observation at a position of the cohort's
 * columns, on the scale of the model. Each distribution serves until the next is asked for.
 */
export type Forecaster = (
  cohort: Cohort,
  tasks: readonly ForecastTask[],
) => (task: number) => (observation: number) => NormalMixture;

/**
 * Forecasts of a fitted model: its mixture given the known visits, and the noise of a measurement. Of several markers the one that is
 * named is forecast given all: what the others have up to its last known visit is known too. From some time on the course may be `held`.
 */
export function modelForecaster(
  model: ScoredModel,
  mixture?: CoefficientMixture,
  marker?: number,
  held = (time: number, _lastTime: number) => time,
): Forecaster {
  const k = marker ?? 0;
  if (marker === undefined) markerModel(model);
  const condition = conditionerOf(model, mixture, k);
  return (cohort, tasks) => {
    const known = knownVisits(cohort, tasks, marker);
    const statistics = statisticsFor(model, known);
    const { offsets, times } = seriesOf(cohort, marker);
    const priors = model.kind === "classes" ? () => undefined : priorsOf(model, known);
    const partOf = partsFor(model, known, k);
    return (task) => {
      const own = partOf(task);
      const posterior = condition(statistics, task, priors(task));
      const functional = posteriorFunctionals(posterior, own.mean.coefficients);
      const seen = own.noise.correlation === undefined ? {} : { visits: visitsOf(model, known, task, k) };
      const { individual, known: count } = tasks[task];
      const lastTime = count === 0 ? Number.NEGATIVE_INFINITY : times[offsets[individual] + count - 1];
      return (observation) => {
        const t = times[observation];
        const { rows, given } = measurementsAt(own, seen, [t], true, false, [held(t, lastTime)]);
        return functional(rows, 0, true, given?.[0]).value;
      };
    };
  };
}

/** The posterior of marker k given all markers. */
function conditionerOf(model: ScoredModel, mixture: CoefficientMixture | undefined, k: number) {
  if (model.kind !== "classes" && model.markers.length > 1) {
    const { condition } = keptFor(model);
    return (...given: Parameters<typeof condition>) => condition(...given)[k];
  }
  const condition = createConditioner(mixture ?? modelMixture(model));
  return (statistics: CohortStatistics, i: number, prior?: Float64Array) => condition(statistics[0], i, prior);
}

/**
 * Forecasts of a map that fall back on the mixed model where few similar individuals were followed (forecast-guard.ts). Of several
 * markers the guard is that of the one forecast: the place is given all, the mixed model its own visits.
 */
export function guardedForecaster(
  model: MapModel,
  guard: ForecastGuard,
  mixture?: CoefficientMixture,
  marker?: number,
): Forecaster {
  const own = modelForecaster(model, mixture, marker);
  const held = (time: number, lastTime: number) => heldTime(guard, { lastTime }, time);
  const fallback = modelForecaster(guard.mixedModel, undefined, undefined, held);
  return (cohort, tasks) => {
    const { times } = seriesOf(cohort, marker);
    const { location, covariance } = embedPlaces(
      model,
      knownVisits(cohort, tasks, marker),
      mixture === undefined ? {} : { mixture },
    );
    const q = model.mapDimension;
    const [forecast, other] = [own(cohort, tasks), fallback(markerCohort(cohort, marker ?? 0), tasks)];
    return (task) => {
      const [map, linear] = [forecast(task), other(task)];
      const support = followUpSupport(guard.followUp, {
        location: location.slice(task * q, (task + 1) * q),
        covariance: covariance.slice(task * q * q, (task + 1) * q * q),
      });
      return (observation) => fallBack(map(observation), linear(observation), support(times[observation]));
    };
  };
}

/** The known visits of each task, as if each were an individual. */
function knownVisits(cohort: Cohort, tasks: readonly ForecastTask[], marker?: number): Cohort {
  const own = seriesOf(cohort, marker);
  const markers = cohort.markers.map((series): MarkerSeries => {
    const counts = tasks.map(({ individual, known }) => {
      if (series === own) return known;
      const until = own.times[own.offsets[individual] + known - 1];
      const [from, to] = [series.offsets[individual], series.offsets[individual + 1]];
      return series.times.subarray(from, to).filter((t) => t <= until).length;
    });
    const offsets = new Int32Array(tasks.length + 1);
    counts.forEach((n, k) => {
      offsets[k + 1] = offsets[k] + n;
    });
    const column = <Column extends Float64Array | Int8Array>(values: Column, out: Column): Column => {
      tasks.forEach(({ individual }, k) => {
        const start = series.offsets[individual];
        out.set(values.subarray(start, start + counts[k]), offsets[k]);
      });
      return out;
    };
    const n = offsets[tasks.length];
    return {
      marker: series.marker,
      offsets,
      times: column(series.times, new Float64Array(n)),
      values: column(series.values, new Float64Array(n)),
      ...censoredSides(series.censored && column(series.censored, new Int8Array(n))),
    };
  });
  const ids = tasks.map(({ individual }) => cohort.ids[individual]);
  const { covariates: coded } = cohort;
  const rows = tasks.map(({ individual }) => individual);
  const covariates = coded && { ...coded, values: takeRows(coded.values, coded.coding.columns.length, rows) };
  return { ids, markers, ...(covariates && { covariates }) };
}

/** One entry per forecast, in the order of the tasks. */
export interface ForecastScores {
  /** Position of the individual in the cohort. */
  readonly individual: Int32Array;
  readonly times: Float64Array;
  /** Visits known. */
  readonly known: Int32Array;
  /** Time since the last of them. */
  readonly horizon: Float64Array;
  readonly logDensity: Float64Array;
  readonly crps: Float64Array;
  /** Predictive distribution function at the observed value; uniform if the model is right. */
  readonly pit: Float64Array;
  readonly absoluteError: Float64Array;
}

/** One forecast with its central band, on the scale of the model. */
export interface ForecastBand {
  readonly individual: number;
  readonly known: number;
  readonly horizon: number;
  /** What came. */
  readonly value: number;
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

/** Components of which near ones are merged before quantiles are looked for: nodes with levels of noise. */
const MANY = 1000;

/** Bands of forecasts of the only marker, or of marker k, and what came; where only a limit is known, nothing came that could be in a band. */
export function forecastBands(
  cohort: Cohort,
  tasks: readonly ForecastTask[],
  forecaster: Forecaster,
  level: number,
  k?: number,
): ForecastBand[] {
  const { offsets, times, values, censored, marker } = seriesOf(cohort, k);
  const forecast = forecaster(cohort, tasks);
  return tasks.flatMap(({ individual, known, from, to }, task) => {
    const start = offsets[individual];
    const distribution = forecast(task);
    const came = Array.from({ length: to - from }, (_, v) => start + from + v).filter((j) => !censored?.[j]);
    return came.map((j) => {
      const whole = distribution(j);
      const { quantile } = quantileSolver(whole.weights.length > MANY ? mergeMixture(whole, 0.1) : whole);
      const [median, lower, upper] = [0.5, 0.5 * (1 - level), 0.5 * (1 + level)].map((p) => quantile(p));
      const value = applyTransform(marker.transform, values[j]);
      return { individual, known, horizon: times[j] - times[start + known - 1], value, median, lower, upper };
    });
  });
}

/** Scores of forecasts, by whatever makes them. */
export function scoreForecasts(cohort: Cohort, tasks: readonly ForecastTask[], forecaster: Forecaster): ForecastScores {
  const { offsets, times, values, censored, marker } = onlyMarker(cohort);
  const N = tasks.reduce((sum, { from, to }) => sum + to - from, 0);
  const column = () => new Float64Array(N);
  const scores = { horizon: column(), logDensity: column(), crps: column(), pit: column(), absoluteError: column() };
  const out = { individual: new Int32Array(N), known: new Int32Array(N), times: column(), ...scores };
  const forecast = forecaster(cohort, tasks);
  let at = 0;
  tasks.forEach(({ individual, known, from, to }, task) => {
    const start = offsets[individual];
    const distribution = forecast(task);
    for (let j = start + from; j < start + to; j++, at++) {
      const value = distribution(j);
      const y = applyTransform(marker.transform, values[j]);
      out.individual[at] = individual;
      out.known[at] = known;
      out.times[at] = times[j];
      out.horizon[at] = times[j] - times[start + known - 1];
      const side = censored?.[j] ?? 0;
      // The pair sum of the CRPS is quadratic in the components: near ones are merged.
      const main = mergeMixture(value, 0.2);
      out.logDensity[at] = side === 0 ? mixtureLogDensity(value, y) : logBeyond(value, y, side);
      out.pit[at] = side === 0 ? mixtureCdf(value, y) : censoredPit(value, y, side, at + 1);
      out.crps[at] = side === 0 ? mixtureCrps(main, y) : censoredCrps(main, y, side);
      out.absoluteError[at] = side === 0 ? Math.abs(y - mixtureQuantile(main, 0.5)) : censoredError(main, y, side);
    }
  });
  return out;
}

export interface ForecastOptions {
  /** How many of n visits are given; default ⌈n/2⌉. Individuals with one visit are left out. */
  readonly given?: (n: number) => number;
  readonly mixture?: CoefficientMixture;
}

/** Scores of forecasts of later visits, given the earlier ones: log-density, CRPS, error and PIT of each, [N]. */
export function forecastScores(model: ScoredModel, cohort: Cohort, options: ForecastOptions = {}): ForecastScores {
  return scoreForecasts(cohort, laterVisits(cohort, options.given), modelForecaster(model, options.mixture));
}

/** Share of PIT values inside the central interval of the given level. */
export function centralCoverage(pit: Float64Array, level: number): number {
  const tail = 0.5 * (1 - level);
  let inside = 0;
  for (const u of pit) if (u >= tail && u <= 1 - tail) inside++;
  return inside / pit.length;
}
