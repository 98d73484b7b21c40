/**
 * Forecasts that are safe where the map knows little (docs/math/prediction.md §6, decision 0014): a map may bend steeply where few
 * similar individuals were followed that long. With n(t) of them still followed at t (follow-up.ts) the forecast is the map's with
 * weight n/(n + c) and that of the mixed model, given the same visits, with c/(n + c): bands widen towards what the population
 * allows.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { joinFloats } from "../numeric/matrix.ts";
import { markerModel } from "./fit.ts";
import { type FollowUp, followUpOf } from "./follow-up.ts";
import type { LmmModel } from "./linear/lmm.ts";
import { fitLmm } from "./linear-models.ts";
import type { NormalMixture } from "./mixture/normal-mixture.ts";
import type { MapModel } from "./model.ts";
import { embedPlaces } from "./place.ts";

/** c, in individuals; chosen with h by held-out CRPS (decision 0014). */
const FALLBACK_INDIVIDUALS = 3;

/** What a map's forecasts are held against. Holds places of single individuals: for use in memory. */
export interface ForecastGuard {
  /** A mixed model of the same cohort, with a mean curve, and with basis and noise of the map. */
  readonly mixedModel: LmmModel;
  readonly followUp: FollowUp;
}

/** The guard of a map from the cohort it was fitted to; its places and the mixed model are made unless they are known. */
export function forecastGuard(
  model: MapModel,
  cohort: Cohort,
  known: { readonly places?: Parameters<typeof followUpOf>[0]; readonly mixedModel?: LmmModel } = {},
): ForecastGuard {
  const { basis, noise } = markerModel(model);
  const mixedModel = known.mixedModel ?? fitLmm(cohort, { mean: "spline", noise, basis });
  return { mixedModel, followUp: followUpOf(known.places ?? embedPlaces(model, cohort)) };
}

/** Weight of the mixed model beside n similar individuals. */
export function fallbackWeight(support: number): number {
  return FALLBACK_INDIVIDUALS / (support + FALLBACK_INDIVIDUALS);
}

/** (1 − w) a + w b. */
export function blendMixtures(a: NormalMixture, b: NormalMixture, w: number): NormalMixture {
  return {
    weights: joinFloats([a.weights.map((v) => v * (1 - w)), b.weights.map((v) => v * w)]),
    means: joinFloats([a.means, b.means]),
    sds: joinFloats([a.sds, b.sds]),
  };
}
