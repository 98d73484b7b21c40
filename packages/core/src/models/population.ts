/** What a model says of somebody of whom nothing is known, neither visits nor covariates. */
import type { Cohort } from "../cohort/cohort.ts";
import { checkGiven } from "../errors.ts";
import { createRandom } from "../numeric/random.ts";
import { codedFor, modelAt } from "./covariate-model.ts";
import { markerIndex, markerModel, viewMarker } from "./fit.ts";
import { type ForecastGuard, guardFor } from "./forecast-guard.ts";
import { posteriorFunctionals } from "./mixture/conditioner.ts";
import { blendMixtures, mergeMixture, type NormalMixture } from "./mixture/normal-mixture.ts";
import type { TrajectoryModel } from "./model.ts";
import { placeIndividual } from "./place.ts";
import { viewPlacement } from "./placement.ts";
import { guardValues, type Prediction, type PredictOptions, predictChanged } from "./predict.ts";
import { checkTimes } from "./predicting/checks.ts";
import { measurementsAt } from "./predicting/measurements.ts";

/** Rows of covariates that a population is averaged over; of more, as many individuals at random. */
const MOST_ROWS = 200;

/**
 * Values of somebody of whom nothing is known, neither visits nor covariates: the average of the distributions of people with the covariates
 * given (those of the cohort), each of them without visits. Of a model without covariates what `predict` says without visits.
 * @throws what `predict` throws, and "missing-covariate" for covariates that are not the model's.
 * @example
 * const { median, lower, upper } = predictPopulation(model, cohort, [2, 4, 6]);
 */
export function predictPopulation(
  model: TrajectoryModel,
  cohort: Pick<Cohort, "covariates">,
  times: ArrayLike<number>,
  options: Pick<PredictOptions, "level" | "interval" | "marker"> & { readonly guard?: ForecastGuard } = {},
): Prediction {
  checkGiven("predictPopulation", { model, cohort, times, options });
  const { guard, ...others } = options;
  const k = markerIndex(model, options.marker);
  const at = checkTimes("predictPopulation", times);
  const measured = options.interval !== "curve";
  const nobody = { id: "population", markers: {} };
  const coded = codedFor(model, cohort);
  const P = coded === null ? 0 : model.covariates!.columns.length;
  const people = rowsOf(coded ?? new Float64Array(0), P).map(({ z, share }) => {
    const covariates = coded === null ? undefined : { coding: model.covariates!, values: z };
    const placement = viewPlacement(placeIndividual(model, nobody, covariates && { covariates }), k);
    const own = viewMarker(modelAt(model, z), k);
    const part = markerModel(own);
    const { rows } = measurementsAt(part, placement, at, measured);
    const functional = posteriorFunctionals(placement.posterior, part.mean.coefficients);
    const guarded = guard && guardValues(guardFor(guard, { times: [], values: [] }, z), placement, at, measured);
    // Distributions come one after the other, and each serves until the next: what is kept are near components merged.
    const found = Array.from(at, (_, t): NormalMixture => {
      const one = functional(rows, t * part.basis.numBasis, measured);
      return mergeMixture(guarded === undefined ? one.value : guarded.change(one, t).value, NEAR);
    });
    return { own, placement, share, found, support: guarded?.support };
  });
  const [{ own, placement }] = people;
  const support = at.map((_, t) => people.reduce((sum, one) => sum + one.share * (one.support?.[t] ?? 0), 0));
  return predictChanged({ ...own, farCovariates: [] }, placement, at, others, {
    ...(guard && { support }),
    change: (_, t) => ({ value: blendMixtures(people.map(({ share, found }) => [share, found[t]])) }),
  });
}

/** Components nearer than this, in standard deviations, are one. */
const NEAR = 0.05;

/** Different rows z [P] of coded columns [m,P] with the share of each; one empty row for none. */
function rowsOf(values: Float64Array, P: number): { readonly z: Float64Array; readonly share: number }[] {
  if (P === 0) return [{ z: values, share: 1 }];
  const m = values.length / P;
  const different = (individuals: ArrayLike<number>) => {
    const counts = new Map<string, { z: Float64Array; share: number }>();
    for (const i of Array.from(individuals)) {
      const z = values.slice(i * P, (i + 1) * P);
      const known = counts.get(z.join());
      counts.set(z.join(), { z, share: (known?.share ?? 0) + 1 / individuals.length });
    }
    return [...counts.values()];
  };
  const all = different(Array.from({ length: m }, (_, i) => i));
  return all.length <= MOST_ROWS ? all : different(createRandom(1).permutation(m).slice(0, MOST_ROWS));
}
