/**
 * From functionals of a placed individual's curve to summaries on the marker's original scale (docs/math/prediction.md §3):
 * each row b gives the mixture of normals of b'(β + w) + noise; its quantiles are mapped one by one, its mean and deviation are
 * those of the mapped distribution.
 */
import {
  type Marker,
  markerScale,
  type Transform,
  undoTransform,
  unknownTransform,
  valueLimits,
} from "../../cohort/marker.ts";
import { dot } from "../../numeric/matrix.ts";
import { gaussHermite } from "../../numeric/quadrature.ts";
import { sortedQuantile } from "../../numeric/select.ts";
import { LOG_2PI, normalCdf } from "../../numeric/special.ts";
import type { KernelChoice } from "../../wasm/instance.ts";
import type { MarkerModel } from "../fit.ts";
import { type FunctionalValue, posteriorFunctionals } from "../mixture/conditioner.ts";
import type { GivenMeasurement } from "../mixture/curve-distribution.ts";
import { mixtureCdf, type NormalMixture, quantileSolver } from "../mixture/normal-mixture.ts";
import type { Placement } from "../placement.ts";

/** Summary of one quantity at each time, on the marker's original scale. */
export interface PredictedSeries {
  readonly mean: Float64Array; // [T]
  readonly sd: Float64Array; // [T]
  readonly median: Float64Array; // [T]
  readonly lower: Float64Array; // [T]
  readonly upper: Float64Array; // [T]
  /** Probability to lie below the limit asked for, [T]. */
  readonly below?: Float64Array;
}

/** A distribution, with sums over its components where there is a faster way than over each. */
export type ChangedValue = Pick<FunctionalValue, "value"> & Partial<FunctionalValue>;

export interface ValueOptions {
  /** Probability inside the band. */
  readonly level: number;
  /** Whether the noise of a new measurement is added. */
  readonly measured: boolean;
  /** Transform to be undone, and limits to keep within. */
  readonly marker: Pick<Marker, "transform" | "limits">;
  readonly kernels?: KernelChoice;
  /** Shift and variance of the noise at each row, where they depend on the visits (measurements.ts). */
  readonly given?: readonly GivenMeasurement[];
  /** What is made of the distribution at each row before it is summarised. Default: nothing. */
  readonly change?: (own: FunctionalValue, row: number) => ChangedValue;
  /** A limit on the scale of the model, to tell how probably the value lies below. */
  readonly limit?: number;
}

/** Summaries of `rows` [T,d] applied to the individual's curve. */
export function valueSeries(
  { basis, mean }: Pick<MarkerModel, "basis" | "mean">,
  { posterior }: Pick<Placement, "posterior">,
  rows: Float64Array,
  { level, measured, marker, kernels, given, change, limit }: ValueOptions,
): PredictedSeries {
  const d = basis.numBasis;
  const out = emptySeries(rows.length / d);
  const below = limit === undefined ? undefined : new Float64Array(out.mean.length);
  const functional = posteriorFunctionals(posterior, mean.coefficients, kernels);
  const { transform } = marker;
  const scale = markerScale(marker);
  const [lowest, highest] = valueLimits(marker);
  const probabilities = bandLevels(level);
  // Quantiles in standard deviations off the mean: they move slowly from time to time, so the last are where to look next.
  const scores: (number | undefined)[] = probabilities.map(() => undefined);
  for (let t = 0; t < out.mean.length; t++) {
    const own = functional(rows, t * d, measured, given?.[t]);
    const { value, sums }: ChangedValue = change === undefined ? own : change(own, t);
    const solver = quantileSolver(value, sums);
    const [median, lower, upper] = probabilities.map((p, j) => {
      const y = solver.quantile(p, scores[j]);
      scores[j] = solver.spread > 0 ? (y - solver.mean) / solver.spread : undefined;
      return scale(y);
    });
    const { mean, sd } =
      transform === "identity" ? { ...solver, sd: solver.spread } : transformedMoments(value, transform);
    out.mean[t] = Math.min(Math.max(mean, lowest), highest);
    out.sd[t] = sd;
    out.median[t] = median;
    out.lower[t] = lower;
    out.upper[t] = upper;
    if (below !== undefined) below[t] = mixtureCdf(value, limit!);
  }
  return below === undefined ? out : { ...out, below };
}

/** Summaries of draws [S,T], one time a column. */
export function drawnSeries(draws: Float64Array, T: number, level: number): PredictedSeries {
  const S = draws.length / T;
  const out = emptySeries(T);
  for (let t = 0; t < T; t++) {
    const column = Float64Array.from({ length: S }, (_, s) => draws[s * T + t]).sort();
    const mean = column.reduce((sum, v) => sum + v / S, 0);
    out.mean[t] = mean;
    out.sd[t] = Math.sqrt(column.reduce((sum, v) => sum + (v - mean) ** 2 / (S - 1), 0));
    [out.median[t], out.lower[t], out.upper[t]] = bandLevels(level).map((p) => sortedQuantile(column, p));
  }
  return out;
}

function emptySeries(T: number): PredictedSeries {
  const series = () => new Float64Array(T);
  return { mean: series(), sd: series(), median: series(), lower: series(), upper: series() };
}

/** Median, lower and upper end of the central band of this level. */
function bandLevels(level: number): readonly number[] {
  return [0.5, 0.5 * (1 - level), 0.5 * (1 + level)];
}

/**
 * Mean and variance of the undone transform, in closed form but for logit. For sqrt, with x = max(z, 0), z ~ N(m, s²):
 *   E x² = (m² + s²)Φ + msφ,   E x⁴ = (m⁴ + 6m²s² + 3s⁴)Φ + (m³s + 5ms³)φ,   Φ, φ at m/s.
 */
function transformedMoments(
  value: NormalMixture,
  transform: Exclude<Transform, "identity">,
): { mean: number; sd: number } {
  const K = value.weights.length;
  const first = new Float64Array(K);
  const second = new Float64Array(K);
  const rule = transform === "logit" ? gaussHermite(40) : null;
  for (let k = 0; k < K; k++) {
    if (value.weights[k] === 0) continue;
    const m = value.means[k];
    const s = value.sds[k];
    const v = s * s;
    switch (transform) {
      case "log":
      case "log1p":
        first[k] = Math.exp(m + 0.5 * v);
        second[k] = Math.expm1(v) * first[k] * first[k];
        if (transform === "log1p") first[k] -= 1;
        break;
      case "sqrt": {
        const below = normalCdf(m / s);
        const density = s * Math.exp(-0.5 * (m / s) ** 2 - 0.5 * LOG_2PI);
        first[k] = (m * m + v) * below + m * density;
        const fourth = (m ** 4 + 6 * m * m * v + 3 * v * v) * below + (m ** 3 + 5 * m * v) * density;
        second[k] = fourth - first[k] * first[k];
        break;
      }
      case "logit": {
        const { nodes, weights } = s > SMOOTH ? trapezoids(s) : rule!;
        let square = 0;
        for (let h = 0; h < nodes.length; h++) {
          const y = undoTransform(transform, m + s * nodes[h]);
          first[k] += weights[h] * y;
          square += weights[h] * y * y;
        }
        second[k] = square - first[k] * first[k];
        break;
      }
      default:
        throw unknownTransform(transform);
    }
  }
  const mean = dot(value.weights, first);
  let variance = 0;
  for (let k = 0; k < K; k++) variance += value.weights[k] * (second[k] + (first[k] - mean) ** 2);
  return { mean, sd: Math.sqrt(Math.max(variance, 0)) };
}

/** Deviation on the logit scale beyond which 40 nodes of Gauss and Hermite lose the eighth digit. */
const SMOOTH = 2;
/** Standard deviations to either side that a sum takes in, and its shortest step. */
const REACH = 8.5;
const SHORTEST_STEP = 1 / 256;

/**
 * Trapezoids for E f(m + sz), z ~ N(0,1), f the inverse logit: its poles lie π/s from the real line, so steps h of z err by
 * about exp(−2π²/(sh)), 3e-9 for h = 1/s.
 */
function trapezoids(s: number): { readonly nodes: Float64Array; readonly weights: Float64Array } {
  const step = Math.max(1 / s, SHORTEST_STEP);
  const n = Math.ceil(REACH / step);
  const nodes = Float64Array.from({ length: 2 * n + 1 }, (_, k) => (k - n) * step);
  return { nodes, weights: nodes.map((z) => step * Math.exp(-0.5 * z * z - 0.5 * LOG_2PI)) };
}
