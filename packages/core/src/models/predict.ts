/**
 * Predictions for a placed individual (docs/math/prediction.md): values, rates of change and threshold crossings at any
 * times, averaged over the posterior of the place and given on the marker's original scale. A declared transform is
 * undone on the distribution: quantiles and draws are mapped one by one, means are means of the mapped distribution.
 */
import { basisDomain, designMatrix } from "../basis/bspline.ts";
import { undoSlope, undoTransform } from "../cohort/marker.ts";
import { checkOption, DtmError } from "../errors.ts";
import { createRandom } from "../numeric/random.ts";
import { sortedQuantile } from "../numeric/select.ts";
import type { KernelChoice } from "../wasm/instance.ts";
import type { ModelBase } from "./fit.ts";
import { functionalDistribution } from "./mixture/curve-distribution.ts";
import { joinNodes } from "./mixture/join-nodes.ts";
import type { NormalMixture } from "./mixture/normal-mixture.ts";
import { coefficientSampler, dropLightNodes } from "./mixture/place.ts";
import { simultaneousBand } from "./mixture/simultaneous.ts";
import type { Placement } from "./placement.ts";
import { emptySeries, mapDimensionOf, NEGLIGIBLE_MASS, type PredictedSeries, valueSeries } from "./predict-values.ts";

export type { PredictedSeries } from "./predict-values.ts";

export interface PredictOptions {
  /** Probability inside the bands. Default 0.9. */
  readonly level?: number;
  /** "observation" includes measurement noise (a new measurement), "curve" does not. Default "observation". */
  readonly interval?: "curve" | "observation";
  /** Also give a band that holds whole curves with probability `level`. Default false. */
  readonly simultaneous?: boolean;
  /** Also give rates of change. Default false. */
  readonly rate?: boolean;
  /** Joins neighbouring nodes first, of more than two times: faster, bands good to about a hundredth of their width. */
  readonly quick?: boolean;
  /** Draws behind simultaneous bands and rates of transformed markers. Default 2000. */
  readonly numDraws?: number;
  readonly seed?: number;
  /** Kernels that sum over the nodes. Default: the fastest that run here. */
  readonly kernels?: KernelChoice;
}

export interface Prediction extends PredictedSeries {
  readonly times: Float64Array;
  readonly level: number;
  readonly interval: "curve" | "observation";
  readonly simultaneous?: { readonly lower: Float64Array; readonly upper: Float64Array };
  /** Change of the noise-free curve per unit of time. */
  readonly rate?: PredictedSeries;
  /** 1 where the time lies outside the training times: the curve is held constant there. */
  readonly extrapolated: Uint8Array;
}

export function predict(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  options: PredictOptions = {},
): Prediction {
  const { level = 0.9, interval = "observation", simultaneous = false, rate = false } = options;
  const { quick = false, kernels = "auto" } = options;
  checkLevel("predict", level);
  checkOption(
    interval === "curve" || interval === "observation",
    "predict",
    'interval "curve" or "observation"',
    interval,
    'Use "observation" for the band of a new measurement.',
  );
  checkDraws("predict", options.numDraws ?? 2000);
  const at = checkTimes(times);
  const noise = interval === "observation" ? model.noiseVariance : 0;
  const rows = designMatrix(model.basis, at);
  const { transform } = model.marker;
  const series = valueSeries(model, placement, rows, at, { level, noise, transform, quick, kernels });
  const [first, last] = basisDomain(model.basis);
  return {
    times: at,
    level,
    interval,
    ...series,
    extrapolated: Uint8Array.from(at, (t) => (t < first || t > last ? 1 : 0)),
    ...(simultaneous ? { simultaneous: wholeCurveBand(model, placement, at, level, noise, options) } : {}),
    ...(rate ? { rate: rateSeries(model, placement, at, level, options) } : {}),
  };
}

/** Draws of the curve (or, with `noise`, of new measurements) at the times, original scale, [S,T]. */
export function drawCurves(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  options: { readonly numDraws?: number; readonly seed?: number; readonly noise?: boolean } = {},
): Float64Array {
  const { numDraws = 2000, seed = 1, noise = false } = options;
  checkDraws("drawCurves", numDraws);
  const at = checkTimes(times);
  const rows = designMatrix(model.basis, at);
  const draws = drawFunctionals(model, placement, rows, at.length, numDraws, seed, noise ? model.noiseVariance : 0);
  return draws.map((v) => undoTransform(model.marker.transform, v));
}

/** Distribution of row t of `rows` applied to the curve, on the scale of the model. */
export function valueDistribution(
  model: ModelBase,
  placement: Placement,
  rows: Float64Array,
  t: number,
  noiseVariance: number,
): NormalMixture {
  const d = model.basis.numBasis;
  return functionalDistribution(placement.posterior, model.mean.coefficients, rows, t * d, noiseVariance);
}

/** The placement with the nodes that count, joined where `quick` is wanted: fewer to draw from. */
function shownNodes(model: ModelBase, placement: Placement, { quick = false }: PredictOptions): Placement {
  const { posterior: full } = placement;
  const posterior = quick ? joinNodes(full, mapDimensionOf(full), model.basis.numBasis) : full;
  return { ...placement, posterior: dropLightNodes(posterior, NEGLIGIBLE_MASS) };
}

function wholeCurveBand(
  model: ModelBase,
  placement: Placement,
  at: Float64Array,
  level: number,
  noise: number,
  options: PredictOptions,
): { lower: Float64Array; upper: Float64Array } {
  const { numDraws = 2000, seed = 1 } = options;
  const rows = designMatrix(model.basis, at);
  const draws = drawFunctionals(model, shownNodes(model, placement, options), rows, at.length, numDraws, seed, noise);
  const band = simultaneousBand(draws, numDraws, at.length, level);
  const undo = (v: number) => undoTransform(model.marker.transform, v);
  return { lower: band.lower.map(undo), upper: band.upper.map(undo) };
}

/** Rates of change: exact for an untransformed marker, by draws of (value, slope) otherwise. */
function rateSeries(
  model: ModelBase,
  placement: Placement,
  at: Float64Array,
  level: number,
  options: PredictOptions,
): PredictedSeries {
  const T = at.length;
  const slopes = designMatrix(model.basis, at, true);
  const { transform } = model.marker;
  const { quick = false, kernels = "auto" } = options;
  if (transform === "identity") {
    return valueSeries(model, placement, slopes, at, { level, noise: 0, transform, quick, kernels });
  }
  const out = emptySeries(T);
  const { numDraws = 2000, seed = 1 } = options;
  const rows = designMatrix(model.basis, at);
  const both = new Float64Array(rows.length * 2);
  both.set(rows);
  both.set(slopes, rows.length);
  const shown = shownNodes(model, placement, options);
  const draws = drawFunctionals(model, shown, both, 2 * T, numDraws, seed, 0);
  const rates = new Float64Array(numDraws);
  for (let t = 0; t < T; t++) {
    let mean = 0;
    for (let s = 0; s < numDraws; s++) {
      rates[s] = undoSlope(transform, draws[s * 2 * T + t]) * draws[s * 2 * T + T + t];
      mean += rates[s] / numDraws;
    }
    let variance = 0;
    for (let s = 0; s < numDraws; s++) variance += (rates[s] - mean) ** 2 / (numDraws - 1);
    rates.sort();
    out.mean[t] = mean;
    out.sd[t] = Math.sqrt(variance);
    out.median[t] = sortedQuantile(rates, 0.5);
    out.lower[t] = sortedQuantile(rates, 0.5 * (1 - level));
    out.upper[t] = sortedQuantile(rates, 0.5 * (1 + level));
  }
  return out;
}

/** Draws of rows·(β + w), with independent noise per row if wanted, on the scale of the model, [S,T]. */
function drawFunctionals(
  model: ModelBase,
  placement: Placement,
  rows: Float64Array,
  T: number,
  numDraws: number,
  seed: number,
  noiseVariance: number,
): Float64Array {
  const d = model.basis.numBasis;
  const sampler = coefficientSampler(placement.posterior, d);
  const random = createRandom(seed);
  const sigma = Math.sqrt(noiseVariance);
  const w = new Float64Array(d);
  const out = new Float64Array(numDraws * T);
  for (let s = 0; s < numDraws; s++) {
    sampler.draw(random, w, 0);
    for (let t = 0; t < T; t++) {
      let v = sigma > 0 ? sigma * random.normal() : 0;
      for (let k = 0; k < d; k++) v += rows[t * d + k] * (w[k] + model.mean.coefficients[k]);
      out[s * T + t] = v;
    }
  }
  return out;
}

/** Refuses a level that is no probability strictly inside (0, 1). */
export function checkLevel(where: string, level: number): void {
  const ok = typeof level === "number" && level > 0 && level < 1;
  checkOption(ok, where, "level between 0 and 1", level, "Use 0.9 for a 90 % band.");
}

/** Refuses a number of draws that is not a whole number of 10 or more. */
export function checkDraws(where: string, numDraws: number): void {
  const ok = Number.isInteger(numDraws) && numDraws >= 10 && numDraws <= 1e7;
  checkOption(ok, where, "numDraws as a whole number from 10 to 10,000,000", numDraws, "Use 2000.");
}

function checkTimes(times: ArrayLike<number>): Float64Array {
  const at = Float64Array.from(times);
  const bad = at.findIndex((t) => !Number.isFinite(t));
  if (bad >= 0)
    throw new DtmError("not-finite", `predict: expected finite times, received ${at[bad]} at position ${bad}.`);
  return at;
}
