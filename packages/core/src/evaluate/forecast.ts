/**
 * Forecast scores: condition on the first visits of each held-out individual, predict the rest one by one
 * (docs/math/evaluation.md §2). Log density, CRPS, PIT value and absolute error of the median per future observation,
 * on the scale of the model; coverage of central intervals follows from the PIT.
 */

import { type Cohort, numIndividuals, onlyMarker, selectVisits } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { markerModel } from "../models/fit.ts";
import { createConditioner, posteriorFunctionals } from "../models/mixture/conditioner.ts";
import type { CoefficientMixture } from "../models/mixture/mixture.ts";
import {
  mixtureCdf,
  mixtureCrps,
  mixtureLogDensity,
  mixtureQuantile,
  pruneMixture,
} from "../models/mixture/normal-mixture.ts";
import { modelMixture, type ScoredModel } from "../models/model.ts";
import { modelStatistics } from "../models/place.ts";
import { functionalsAt } from "../models/predict.ts";

export interface ForecastOptions {
  /** How many of n visits are given; default ⌈n/2⌉. Individuals with one visit are left out. */
  readonly given?: (n: number) => number;
  readonly mixture?: CoefficientMixture;
}

/** One entry per future observation, in the cohort's order. */
export interface ForecastScores {
  /** Id of the individual. */
  readonly ids: readonly string[];
  readonly times: Float64Array;
  /** Time since the last visit given. */
  readonly horizon: Float64Array;
  readonly logDensity: Float64Array;
  readonly crps: Float64Array;
  /** Predictive distribution function at the observed value; uniform if the model is right. */
  readonly pit: Float64Array;
  readonly absoluteError: Float64Array;
}

/** Scores of forecasts of later visits, given the earlier ones: log-density, CRPS, error and PIT of each, [N]. */
export function forecastScores(model: ScoredModel, cohort: Cohort, options: ForecastOptions = {}): ForecastScores {
  const own = markerModel(model);
  const count = options.given ?? ((n: number) => Math.ceil(n / 2));
  const given = (n: number) => (n >= 2 ? Math.min(Math.max(count(n), 1), n - 1) : 0);
  const past = selectVisits(cohort, given);
  const future = selectVisits(cohort, (n) => (n >= 2 ? given(n) : n), true);
  const [before, after] = [onlyMarker(past), onlyMarker(future)];
  const statistics = modelStatistics(model, past);
  const mixture = options.mixture ?? modelMixture(model);
  const condition = createConditioner(mixture);
  const d = own.basis.numBasis;
  const { rows, noise } = functionalsAt(own, after.times, true);
  const N = after.times.length;
  const column = () => new Float64Array(N);
  const scores = { horizon: column(), logDensity: column(), crps: column(), pit: column(), absoluteError: column() };
  const ids: string[] = [];
  for (let i = 0; i < numIndividuals(future); i++) {
    const id = future.ids[i];
    const functional = posteriorFunctionals(condition(statistics, i), own.mean.coefficients);
    const lastGiven = before.times[before.offsets[i + 1] - 1];
    for (let j = after.offsets[i]; j < after.offsets[i + 1]; j++) {
      const { value } = functional(rows, j * d, noise);
      const y = applyTransform(after.marker.transform, after.values[j]);
      ids.push(id);
      scores.horizon[j] = after.times[j] - lastGiven;
      scores.logDensity[j] = mixtureLogDensity(value, y);
      scores.pit[j] = mixtureCdf(value, y);
      // The pair sum of the CRPS is quadratic in the components: the light ones are left out.
      const main = pruneMixture(value, 1e-4);
      scores.crps[j] = mixtureCrps(main, y);
      scores.absoluteError[j] = Math.abs(y - mixtureQuantile(main, 0.5));
    }
  }
  return { ids, times: after.times, ...scores };
}

/** Share of PIT values inside the central interval of the given level. */
export function centralCoverage(pit: Float64Array, level: number): number {
  const tail = 0.5 * (1 - level);
  let inside = 0;
  for (const u of pit) if (u >= tail && u <= 1 - tail) inside++;
  return inside / pit.length;
}
