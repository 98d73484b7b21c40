/**
 * Mean, deviation and central band of linear functionals of a placed individual's curve, one after the other: values at
 * times, or rates (docs/math/prediction.md §3). Through WebAssembly (mixture/wasm-course.ts) where it runs and the posterior has
 * nodes enough, else through mixture/curve-distribution.ts and mixture/quantiles.ts.
 */
import { type Transform, undoTransform } from "../cohort/marker.ts";
import { gaussHermite } from "../numeric/quadrature.ts";
import { LOG_2PI, normalCdf } from "../numeric/special.ts";
import { chooseKernels, type KernelChoice } from "../wasm/instance.ts";
import type { ModelBase } from "./fit.ts";
import { functionalDistribution } from "./mixture/curve-distribution.ts";
import { groupComponents } from "./mixture/group-components.ts";
import { joinNodes } from "./mixture/join-nodes.ts";
import type { NormalMixture } from "./mixture/normal-mixture.ts";
import { heavyNodes } from "./mixture/place.ts";
import type { CoefficientPosterior } from "./mixture/posterior.ts";
import { mixtureQuantiles } from "./mixture/quantiles.ts";
import {
  type CourseRoom,
  type CourseValue,
  courseQuantiles,
  roomOf,
  startLevels,
  takeFunctional,
} from "./mixture/wasm-course.ts";
import { conditionedRoom, joinedRoom, nodeFunctional } from "./mixture/wasm-posterior.ts";
import type { Placement } from "./placement.ts";

/** Summary of one quantity at each time, on the marker's original scale. */
export interface PredictedSeries {
  readonly mean: Float64Array; // [T]
  readonly sd: Float64Array; // [T]
  readonly median: Float64Array; // [T]
  readonly lower: Float64Array; // [T]
  readonly upper: Float64Array; // [T]
}

export interface ValueOptions {
  /** Probability inside the band. */
  readonly level: number;
  /** Variance of the measurement noise to be added. */
  readonly noise: number;
  /** Transform to be undone. */
  readonly transform: Transform;
  /** Joins neighbouring nodes first, for levels up to 0.999. */
  readonly quick: boolean;
  readonly kernels: KernelChoice;
}

/** Nodes that together hold less than this change no printed digit and are left out. */
export const NEGLIGIBLE_MASS = 1e-7;

/** The same for quick bands, where a thousandth of the width does not matter. */
const QUICK_MASS = 1e-5;

/** Of what lies outside the band, at most this share is left out: ends far out are made of light nodes. */
const TAIL_SHARE = 1e-3;

/** Joining neighbours blurs ends further out than those of this level. */
const QUICK_UP_TO = 0.999;

/** Mass that may be left out of a band of this level. */
function leftOut(quick: boolean, level: number): number {
  return Math.min(quick ? QUICK_MASS : NEGLIGIBLE_MASS, TAIL_SHARE * (1 - level));
}

/** Summaries of `rows` [T,d], each belonging to a time and applied to the individual's curve. */
export function valueSeries(
  model: Pick<ModelBase, "basis" | "mean">,
  placement: Pick<Placement, "posterior">,
  rows: Float64Array,
  times: Float64Array,
  given: ValueOptions,
): PredictedSeries {
  const T = times.length;
  const options = { ...given, quick: given.quick && given.level <= QUICK_UP_TO };
  const series = emptySeries(T);
  if (fewSeries(model, placement.posterior, rows, times, options, series)) return series;
  const room = roomFor(placement.posterior, model.basis.numBasis, T, options);
  if (room === null) typescriptSeries(model, placement.posterior, rows, options, series);
  else roomSeries(model, room, rows, times, options, series);
  return series;
}

/** Series of T zeros. */
export function emptySeries(T: number): PredictedSeries {
  const series = () => new Float64Array(T);
  return { mean: series(), sd: series(), median: series(), lower: series(), upper: series() };
}

/** q of the nodes of a posterior; 0 where they are no places. */
export function mapDimensionOf(posterior: CoefficientPosterior): number {
  return posterior.locations.length / posterior.weights.length;
}

/** Median, lower and upper end of the central band of this level. */
function bandLevels(level: number): readonly number[] {
  return [0.5, 0.5 * (1 - level), 0.5 * (1 + level)];
}

/** Nodes times functionals from which on it pays to copy moments into a room. */
const WORTH_COPYING = 4000;

/** The nodes that count, in a room; null where TypeScript is to be used. */
function roomFor(
  posterior: CoefficientPosterior,
  d: number,
  T: number,
  { level, quick, kernels }: ValueOptions,
): CourseRoom | null {
  if (chooseKernels(kernels) !== "wasm-simd") return null;
  const mass = leftOut(quick, level);
  const known = quick ? joinedRoom(posterior, mass) : conditionedRoom(posterior, mass);
  if (known !== null || quick || posterior.weights.length * T < WORTH_COPYING) return known;
  return roomOf(posterior, heavyNodes(posterior.weights, mass), d);
}

function roomSeries(
  model: Pick<ModelBase, "basis" | "mean">,
  room: CourseRoom,
  rows: Float64Array,
  times: Float64Array,
  { level, noise, transform }: ValueOptions,
  out: PredictedSeries,
): void {
  const d = model.basis.numBasis;
  const levels = startLevels(bandLevels(level));
  const quantiles = new Float64Array(3);
  for (let t = 0; t < out.mean.length; t++) {
    const value = takeFunctional(room, model.mean.coefficients, rows, t * d, noise);
    courseQuantiles(room, levels, times[t], quantiles);
    summarizeInto(out, t, momentsOf(value, transform), quantiles, transform);
  }
}

/** Up to so many functionals are had sooner one by one than from moments of all coefficients. */
const FEW = 2;

/** Whether there were few functionals, and nodes of which they could be had one by one. */
function fewSeries(
  model: Pick<ModelBase, "basis" | "mean">,
  posterior: CoefficientPosterior,
  rows: Float64Array,
  times: Float64Array,
  { level, noise, transform, kernels }: ValueOptions,
  out: PredictedSeries,
): boolean {
  if (times.length > FEW || chooseKernels(kernels) !== "wasm-simd") return false;
  const d = model.basis.numBasis;
  const levels = startLevels(bandLevels(level));
  const quantiles = new Float64Array(3);
  for (let t = 0; t < times.length; t++) {
    const functional = { beta: model.mean.coefficients, rows, offset: t * d, noiseVariance: noise };
    const found = nodeFunctional(posterior, leftOut(false, level), functional);
    if (found === null) return false;
    courseQuantiles(found.room, levels, times[t], quantiles);
    summarizeInto(out, t, momentsOf(found.value, transform), quantiles, transform);
  }
  return true;
}

function momentsOf(value: CourseValue, transform: Transform): { readonly mean: number; readonly variance: number } {
  return transform === "identity" ? value : transformedMoments(value.components, transform);
}

function typescriptSeries(
  model: Pick<ModelBase, "basis" | "mean">,
  posterior: CoefficientPosterior,
  rows: Float64Array,
  { level, noise, transform, quick }: ValueOptions,
  out: PredictedSeries,
): void {
  const d = model.basis.numBasis;
  const shown = quick ? joinNodes(posterior, mapDimensionOf(posterior), d) : posterior;
  const choice = heavyNodes(shown.weights, leftOut(false, level));
  const levels = bandLevels(level);
  for (let t = 0; t < out.mean.length; t++) {
    const full = functionalDistribution(shown, model.mean.coefficients, rows, t * d, noise, choice);
    const value = quick ? groupComponents(full) : full;
    summarizeInto(out, t, transformedMoments(value, transform), mixtureQuantiles(value, levels), transform);
  }
}

/** Mean, sd, median and central band from moments on the original scale and quantiles on that of the model. */
function summarizeInto(
  out: PredictedSeries,
  t: number,
  moments: { readonly mean: number; readonly variance: number },
  quantiles: Float64Array,
  transform: Transform,
): void {
  out.mean[t] = moments.mean;
  out.sd[t] = Math.sqrt(Math.max(moments.variance, 0));
  out.median[t] = undoTransform(transform, quantiles[0]);
  out.lower[t] = undoTransform(transform, quantiles[1]);
  out.upper[t] = undoTransform(transform, quantiles[2]);
}

/**
 * Mean and variance of the undone transform, in closed form but for logit. For sqrt, with x = max(z, 0), z ~ N(m, s²):
 *   E x² = (m² + s²)Φ + msφ,   E x⁴ = (m⁴ + 6m²s² + 3s⁴)Φ + (m³s + 5ms³)φ,   Φ, φ at m/s.
 */
function transformedMoments(value: NormalMixture, transform: Transform): { mean: number; variance: number } {
  const K = value.weights.length;
  const first = new Float64Array(K);
  const second = new Float64Array(K);
  const rule = transform === "logit" ? gaussHermite(40) : null;
  for (let k = 0; k < K; k++) {
    // Lanes of a tile without a node.
    if (value.weights[k] === 0) continue;
    const m = value.means[k];
    const v = value.sds[k] * value.sds[k];
    if (transform === "identity") {
      first[k] = m;
      second[k] = v;
    } else if (transform === "sqrt") {
      const s = value.sds[k];
      const below = normalCdf(m / s);
      const density = s * Math.exp(-0.5 * (m / s) ** 2 - 0.5 * LOG_2PI);
      first[k] = (m * m + v) * below + m * density;
      const fourth = (m ** 4 + 6 * m * m * v + 3 * v * v) * below + (m ** 3 + 5 * m * v) * density;
      second[k] = fourth - first[k] * first[k];
    } else if (rule === null) {
      first[k] = Math.exp(m + 0.5 * v);
      second[k] = Math.expm1(v) * first[k] * first[k];
      if (transform === "log1p") first[k] -= 1;
    } else {
      const { nodes, weights } = value.sds[k] > SMOOTH ? trapezoids(value.sds[k]) : rule;
      let square = 0;
      for (let h = 0; h < nodes.length; h++) {
        const y = undoTransform(transform, m + value.sds[k] * nodes[h]);
        first[k] += weights[h] * y;
        square += weights[h] * y * y;
      }
      second[k] = square - first[k] * first[k];
    }
  }
  let mean = 0;
  for (let k = 0; k < K; k++) mean += value.weights[k] * first[k];
  let variance = 0;
  for (let k = 0; k < K; k++) variance += value.weights[k] * (second[k] + (first[k] - mean) ** 2);
  return { mean, variance };
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
