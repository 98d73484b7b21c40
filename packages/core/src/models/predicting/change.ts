/**
 * Small questions about the noise-free curve f of a placed individual, answered under its posterior:
 *   P(f(t) < c)               exact: Σ_k w_k Φ((c − m_k)/s_k) on the scale of the model, which keeps order;
 *   f(t₁) − f(t₀)             exact mixture for an untransformed marker, by draws otherwise;
 *   f_a(t) − f_b(t)           by draws, the two individuals being independent given the model.
 * (docs/math/prediction.md)
 */

import { designMatrix } from "../../basis/bspline.ts";
import { markerScale } from "../../cohort/marker.ts";
import { type ModelBase, markerModel } from "../fit.ts";
import { posteriorFunctionals } from "../mixture/conditioner.ts";
import type { Placement } from "../placement.ts";
import { checkDraws, checkLevel, checkPlaced, checkTimes, modelThreshold } from "./checks.ts";
import { drawFunctionals } from "./draws.ts";
import { drawnSeries, type PredictedSeries, valueSeries } from "./series.ts";

export interface ChangeOptions {
  /** Probability inside the interval. Default 0.9. */
  readonly level?: number;
  /** Draws, where draws are needed. Default 4000. */
  readonly numDraws?: number;
  readonly seed?: number;
}

/** Median and central interval of one number, on the marker's original scale. */
export interface Interval {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

/** Added to the seed of the second individual of a difference, whose draws must not follow those of the first. */
const SECOND = 7919;

/** Probability that the curve is below the threshold (original scale) at each time, [T]. */
export function predictBelow(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  threshold: number,
): Float64Array {
  const own = markerModel(model);
  checkPlaced("predictBelow", model, placement);
  const level = modelThreshold("predictBelow", model, threshold);
  const d = own.basis.numBasis;
  const rows = designMatrix(own.basis, checkTimes("predictBelow", times));
  const functional = posteriorFunctionals(placement.posterior, own.mean.coefficients);
  const sums = new Float64Array(2);
  return Float64Array.from({ length: times.length }, (_, t) => {
    functional(rows, t * d, false).sums(level, sums);
    return sums[0];
  });
}

/** Change of the curve from one time to another. */
export function predictChange(
  model: ModelBase,
  placement: Placement,
  from: number,
  to: number,
  options: ChangeOptions = {},
): Interval {
  const own = markerModel(model);
  const { level = 0.9, numDraws = 4000, seed = 1 } = options;
  checkPlaced("predictChange", model, placement);
  checkLevel("predictChange", level);
  checkDraws("predictChange", numDraws);
  const { transform, limits } = own.marker;
  const d = own.basis.numBasis;
  const rows = designMatrix(own.basis, checkTimes("predictChange", [from, to]));
  if (transform === "identity" && limits === undefined) {
    const change = Float64Array.from({ length: d }, (_, k) => rows[d + k] - rows[k]);
    return intervalAt(valueSeries(own, placement, change, { level, measured: false, marker: { transform } }), 0);
  }
  const draws = drawFunctionals(model, placement, rows, { numDraws, seed }).map(markerScale(own.marker));
  const changes = Float64Array.from({ length: numDraws }, (_, s) => draws[2 * s + 1] - draws[2 * s]);
  return intervalAt(drawnSeries(changes, 1, level), 0);
}

/** Curve of the first individual minus that of the second at each time; `secondModel` where covariates give the second a model of its own. */
export function predictDifference(
  model: ModelBase,
  first: Placement,
  second: Placement,
  times: ArrayLike<number>,
  options: ChangeOptions & { readonly secondModel?: ModelBase } = {},
): Interval[] {
  const own = markerModel(model);
  const { level = 0.9, numDraws = 4000, seed = 1, secondModel = model } = options;
  checkPlaced("predictDifference", model, first);
  checkPlaced("predictDifference", secondModel, second);
  checkLevel("predictDifference", level);
  checkDraws("predictDifference", numDraws);
  const rows = designMatrix(own.basis, checkTimes("predictDifference", times));
  const scale = markerScale(own.marker);
  const a = drawFunctionals(model, first, rows, { numDraws, seed }).map(scale);
  const b = drawFunctionals(secondModel, second, rows, { numDraws, seed: seed + SECOND }).map(scale);
  const series = drawnSeries(
    a.map((v, k) => v - b[k]),
    times.length,
    level,
  );
  return Array.from(times, (_, t) => intervalAt(series, t));
}

function intervalAt({ median, lower, upper }: PredictedSeries, t: number): Interval {
  return { median: median[t], lower: lower[t], upper: upper[t] };
}
