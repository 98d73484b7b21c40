/**
 * Forecasts that are safe where the map knows little (docs/math/prediction.md §6, decision 0014): a map may bend steeply where few
 * similar individuals were followed that long. With n(t) the number of training individuals near the place x ~ N(m, S) who were
 * still seen at time t,
 *   n(t) = Σ_{i: last_i ≥ t} E exp(−½‖x − x_i‖²/h²),
 * the forecast is the map's with weight n/(n + c) and that of the mixed model, given the same visits, with c/(n + c): bands
 * widen towards what the population allows. Where n(t) < SUPPORTED a forecast counts as extrapolated.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { choleskyInPlace, logDetFromCholesky, solveLowerInPlace } from "../numeric/cholesky.ts";
import { dot, joinFloats } from "../numeric/matrix.ts";
import type { LmmModel } from "./linear/lmm.ts";
import type { NormalMixture } from "./mixture/normal-mixture.ts";
import type { MapModel } from "./model.ts";
import { embedPlaces } from "./place.ts";
import type { Placement } from "./placement.ts";

/** h, in prior standard deviations of the map. */
const RADIUS = 0.5;
/** c, in individuals; both chosen by held-out CRPS (decision 0014). */
const FALLBACK_INDIVIDUALS = 3;
/** Similar individuals still seen that a forecast needs so as not to count as extrapolated. */
export const SUPPORTED = 5;

/** What a map's forecasts are held against. Holds places of single individuals: for use in memory. */
export interface ForecastGuard {
  /** A mixed model of the same cohort, best with a mean curve. */
  readonly mixedModel: LmmModel;
  /** Shown places of the training individuals, [m,q]. */
  readonly locations: Float64Array;
  /** Times of their last visits, [m]. */
  readonly lastTimes: Float64Array;
}

/** The guard of a map, from the cohort that it and the mixed model were fitted to. */
export function forecastGuard(model: MapModel, mixedModel: LmmModel, cohort: Cohort): ForecastGuard {
  const { location, lastTime } = embedPlaces(model, cohort);
  return { mixedModel, locations: location, lastTimes: lastTime };
}

/** n(t) for an individual at a shown place with its covariance. */
export function followUpSupport(
  { locations, lastTimes }: Pick<ForecastGuard, "locations" | "lastTimes">,
  { location, covariance }: Pick<Placement, "location" | "covariance">,
): (time: number) => number {
  // E exp(−½‖x − x_i‖²/h²) = |I + S/h²|^−½ exp(−½ (m − x_i)'(h²I + S)⁻¹(m − x_i)).
  const q = location.length;
  const V = covariance.slice();
  for (let k = 0; k < q; k++) V[k * q + k] += RADIUS * RADIUS;
  choleskyInPlace(V, q);
  const scale = Math.exp(q * Math.log(RADIUS) - 0.5 * logDetFromCholesky(V, q));
  const near = lastTimes.map((_, i) => {
    const r = location.map((x, k) => x - locations[i * q + k]);
    solveLowerInPlace(V, q, r);
    return scale * Math.exp(-0.5 * dot(r, r));
  });
  const order = Int32Array.from(lastTimes, (_, i) => i).sort((a, b) => lastTimes[b] - lastTimes[a]);
  // Sums over those seen longest first: support falls with time.
  const ends = Float64Array.from(order, (i) => lastTimes[i]);
  const sums = new Float64Array(order.length + 1);
  order.forEach((i, k) => {
    sums[k + 1] = sums[k] + near[i];
  });
  return (time) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] >= time) low = middle + 1;
      else high = middle;
    }
    return sums[low];
  };
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
