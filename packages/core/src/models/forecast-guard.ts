/**
 * Forecasts that are safe where the map knows little (docs/math/prediction.md §6, decision 0014): a map may bend steeply where few
 * similar individuals were followed that long. With n(t) of them still followed at t (follow-up.ts) the forecast is the map's with
 * weight n/(n + c) and that of the mixed model, given the same visits and covariates, with c/(n + c): bands widen towards what the
 * population allows. The mixed model is not extrapolated either: its course is held where too few of the whole cohort are left.
 */
import { type Cohort, onlyMarker } from "../cohort/cohort.ts";
import { codedFor, modelAt } from "./covariate-model.ts";
import { markerModel } from "./fit.ts";
import { type FollowUp, followedTo, followUpOf } from "./follow-up.ts";
import type { LmmModel } from "./linear/lmm.ts";
import { fitLmm } from "./linear-models.ts";
import { mixedModelForm } from "./mean.ts";
import { blendMixtures, type NormalMixture } from "./mixture/normal-mixture.ts";
import type { MapModel } from "./model.ts";
import type { Visits } from "./new-individuals.ts";
import { embedPlaces, placeIndividual } from "./place.ts";
import type { Placement } from "./placement.ts";

/** c, in individuals; chosen with h by held-out CRPS (decision 0014). */
const FALLBACK_INDIVIDUALS = 3;

/** What a map's forecasts are held against. Holds places of single individuals: for use in memory. */
export interface ForecastGuard {
  /** A mixed model of the same cohort with the same covariates, with a mean curve, and with basis and noise of the map. */
  readonly mixedModel: LmmModel;
  readonly followUp: FollowUp;
  /** The last time to which enough of the cohort have visits of the marker: after it the mixed model is held. */
  readonly followedTo: number;
}

/** The guard as it is for one individual. */
export interface OwnGuard {
  readonly guard: ForecastGuard;
  /** The individual placed by the mixed model. */
  readonly fallback: Placement;
}

/** The guard of a map from the cohort it was fitted to; its places and the mixed model are made unless they are known. */
export function forecastGuard(
  model: MapModel,
  cohort: Cohort,
  known: { readonly places?: Parameters<typeof followUpOf>[0]; readonly mixedModel?: LmmModel } = {},
): ForecastGuard {
  const { basis, noise } = markerModel(model);
  const effects = model.covariates && { effects: mixedModelForm(model.covariates) };
  const mixedModel = known.mixedModel ?? fitLmm(cohort, { mean: "spline", noise, basis, ...effects });
  const followUp = followUpOf(known.places ?? embedPlaces(model, cohort));
  return { mixedModel, followUp, followedTo: followedTo(lastVisits(cohort)) };
}

/** The last visits of those who have the marker. */
function lastVisits(cohort: Cohort): number[] {
  const { offsets, times } = onlyMarker(cohort);
  return cohort.ids.flatMap((_, i) => (offsets[i + 1] > offsets[i] ? [times[offsets[i + 1] - 1]] : []));
}

/** The guard for an individual with these visits of the marker, and coded covariates [P] where the model has such. */
export function guardFor(guard: ForecastGuard, visits: Visits, covariates?: Float64Array): OwnGuard {
  const { mixedModel } = guard;
  const { covariates: coding } = mixedModel;
  const values = codedFor(mixedModel, coding && covariates ? { covariates: { coding, values: covariates } } : {});
  const own = values === null ? mixedModel : modelAt(mixedModel, values);
  return { guard: { ...guard, mixedModel: own }, fallback: placeIndividual(own, visits) };
}

/** The time whose course stands for that of the mixed model at t: none after both the cohort and the individual were followed. */
export function heldTime(guard: ForecastGuard, { lastTime }: Pick<Placement, "lastTime">, t: number): number {
  return Math.min(t, Math.max(guard.followedTo, lastTime));
}

/** Weight of the mixed model beside n similar individuals. */
export function fallbackWeight(support: number): number {
  return FALLBACK_INDIVIDUALS / (support + FALLBACK_INDIVIDUALS);
}

/** The forecast of the map that falls back on that of the mixed model, beside n similar individuals. */
export function fallBack(map: NormalMixture, mixedModel: NormalMixture, support: number): NormalMixture {
  const w = fallbackWeight(support);
  return blendMixtures([
    [1 - w, map],
    [w, mixedModel],
  ]);
}
