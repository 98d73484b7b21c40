/**
 * How well a design tells places and futures, on the map of a model. With posterior covariances S_i of places whose prior is N(0, I),
 *   Ŝ = mean_i S_i,   resolved share 1 − tr Ŝ/q,   of a direction v: 1 − v'Ŝv.
 * The mean posterior covariance and the covariance of posterior means add up to I, so a share is that of the prior variance which posterior means have. The eigenvectors of Ŝ
 * are the directions that the design resolves best and least. (docs/math/power.md §1)
 */

import { basisDomain } from "../basis/bspline.ts";
import { type Cohort, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { VISIT_CLASSES, visitClass } from "../cohort/visit-classes.ts";
import { markerModel } from "../models/fit.ts";
import type { MapModel } from "../models/model.ts";
import { placeIndividual } from "../models/place.ts";
import type { Placement, Placements } from "../models/placement.ts";
import { predict } from "../models/predict.ts";
import { meanAndSd } from "../numeric/moments.ts";
import { median, sortedQuantile } from "../numeric/select.ts";
import { chisquareQuantile, normalQuantile } from "../numeric/special.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";

/** How well places are known, of some individuals. */
export interface PlaceCertainty {
  /** Fewest and most visits; null for all. */
  readonly visits: { readonly from: number; readonly to: number | null } | null;
  /** Their share of the individuals. */
  readonly share: number;
  /** Median and quartiles of the radius of the 90% region: that of a circle as large (half the length on a map of one dimension), in prior standard deviations. */
  readonly radius: { readonly median: number; readonly lower: number; readonly upper: number };
  /** Share of the prior variance of places that is resolved, and its Monte Carlo error. */
  readonly resolved: number;
  readonly resolvedError: number;
}

export interface DesignPlaces {
  /** Radius of the 90% region of somebody without visits. */
  readonly priorRadius: number;
  readonly all: PlaceCertainty;
  /** By number of visits. */
  readonly classes: readonly PlaceCertainty[];
  /** Directions of the shown map from the best to the least resolved, with the share of the prior variance along each. */
  readonly directions: readonly { readonly direction: Float64Array; readonly resolved: number }[];
}

/** How well the places of a simulated cohort are known. */
export function placesOf(placements: Placements): DesignPlaces {
  const { mapDimension: q, numObservations, covariance } = placements;
  const m = numObservations.length;
  const everybody = Array.from({ length: m }, (_, i) => i);
  const radius = placements.area90.map((size) => (q === 1 ? size / 2 : Math.sqrt(size / Math.PI)));
  const traceOf = (i: number) => {
    let sum = 0;
    for (let c = 0; c < q; c++) sum += covariance[i * q * q + c * q + c];
    return sum;
  };
  const certaintyOf = (who: readonly number[], visits: PlaceCertainty["visits"]): PlaceCertainty => {
    const sorted = Float64Array.from(who, (i) => radius[i]).sort();
    const { mean, sd } = meanAndSd(who.map((i) => 1 - traceOf(i) / q));
    const [lower, middle, upper] = [0.25, 0.5, 0.75].map((p) => sortedQuantile(sorted, p));
    return {
      visits,
      share: who.length / m,
      radius: { median: middle, lower, upper },
      resolved: mean,
      resolvedError: who.length > 1 ? sd / Math.sqrt(who.length) : Number.NaN,
    };
  };
  const S = new Float64Array(q * q);
  for (let i = 0; i < m; i++) for (let k = 0; k < q * q; k++) S[k] += covariance[i * q * q + k] / m;
  const { values, vectors } = symmetricEigen(S, q);
  const directions = Array.from(values, (value, a) => ({
    direction: Float64Array.from({ length: q }, (_, c) => vectors[c * q + a]),
    resolved: 1 - value,
  })).reverse();
  const classes = VISIT_CLASSES.flatMap((from, k) => {
    const who = everybody.filter((i) => visitClass(numObservations[i]) === k);
    const next = VISIT_CLASSES[k + 1];
    return who.length === 0 ? [] : [certaintyOf(who, { from, to: next === undefined ? null : next - 1 })];
  });
  return { priorRadius: Math.sqrt(chisquareQuantile(0.9, q)), all: certaintyOf(everybody, null), classes, directions };
}

/** Width of 90% bands at a time, from visits up to an earlier one. */
export interface ForecastWidth {
  readonly time: number;
  /** Median width on the marker's own scale, and of the band of somebody without visits. */
  readonly width: number;
  readonly widthWithoutVisits: number;
  /** Mean width in standard deviations of the marker at that time, both on the scale of the model, and its Monte Carlo error. */
  readonly inSds: number;
  readonly inSdsError: number;
}

export interface DesignForecasts {
  /** Visits up to here are known. */
  readonly until: number;
  /** Individuals behind the widths. */
  readonly numIndividuals: number;
  readonly widths: readonly ForecastWidth[];
}

/** Individuals who are forecast at most: the error of a width is then below a hundredth of it. */
const MOST_FORECAST = 200;
/** Standard deviations between the ends of a 90% band of a Gaussian. */
export const BAND_SDS = 2 * normalQuantile(0.95);

/**
 * Forecasts of a simulated cohort, from visits in the first half of the follow-up (half the median last visit), at thirds of what remains of it, or at the times
 * given. The standard deviation of the marker at a time is that of a Gaussian whose 90% band is as wide as the band of somebody without visits.
 */
export function forecastsOf(model: MapModel, cohort: Cohort, at?: readonly number[]): DesignForecasts {
  const { marker, basis } = markerModel(model);
  const { offsets, times, values } = onlyMarker(cohort);
  const last = median(cohort.ids.map((_, i) => times[offsets[i + 1] - 1]));
  const [first, end] = basisDomain(basis);
  // Where everybody is seen once there is no follow-up to halve: forecasts then reach to the end of the model's times.
  const [until, to] = last > first ? [rounded(first + (last - first) / 2), last] : [last, end];
  const asked = at ?? [1, 2, 3].map((k) => rounded(until + ((to - until) * k) / 3));
  const widthsOf = (placement: Placement) => {
    const { lower, upper } = predict(model, placement, asked, { level: 0.9 });
    const inModel = (x: number) => applyTransform(marker.transform, x);
    return asked.map((_, k) => [upper[k] - lower[k], inModel(upper[k]) - inModel(lower[k])] as const);
  };
  const nobody = widthsOf(placeIndividual(model, { times: [], values: [] }));
  const known = cohort.ids
    .map((_, i) => {
      const own = times.subarray(offsets[i], offsets[i + 1]);
      return { i, count: own.filter((t) => t <= until).length };
    })
    .filter(({ count }) => count > 0)
    .slice(0, MOST_FORECAST);
  const each = known.map(({ i, count }) => {
    const [from, until] = [offsets[i], offsets[i] + count];
    return widthsOf(placeIndividual(model, { times: times.slice(from, until), values: values.slice(from, until) }));
  });
  const widths = asked.map((time, k): ForecastWidth => {
    const { mean, sd } = meanAndSd(each.map((own) => (BAND_SDS * own[k][1]) / nobody[k][1]));
    return {
      time,
      width: median(each.map((own) => own[k][0])),
      widthWithoutVisits: nobody[k][0],
      inSds: mean,
      inSdsError: sd / Math.sqrt(each.length),
    };
  });
  return { until, numIndividuals: each.length, widths };
}

const rounded = (time: number) => Number(time.toPrecision(2));
