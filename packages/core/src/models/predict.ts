/**
 * Predictions for a placed individual (docs/math/prediction.md): values, rates of change and threshold crossings at any
 * times, averaged over the posterior of the place and given on the marker's original scale. A declared transform is
 * undone on the distribution: quantiles and draws are mapped one by one, means are means of the mapped distribution. Values keep
 * within the limits of the marker.
 */

import { basisDomain, designMatrix } from "../basis/bspline.ts";
import { checkMarker, markerScale, undoSlope, valueLimits } from "../cohort/marker.ts";
import { checkGiven, checkNames, checkOption, checkSeed, DtmError, optionNames } from "../errors.ts";
import { joinFloats } from "../numeric/matrix.ts";
import type { KernelChoice } from "../wasm/instance.ts";
import { BASE_LEVEL, calibrationFactors } from "./conformal.ts";
import { type ModelBase, markerIndex, markerModel, viewMarker } from "./fit.ts";
import { followUpSupport, SUPPORTED } from "./follow-up.ts";
import { fallBack, fallbackWeight, heldTime, type OwnGuard } from "./forecast-guard.ts";
import { type FunctionalValue, posteriorFunctionals } from "./mixture/conditioner.ts";
import { blendSums } from "./mixture/normal-mixture.ts";
import { type Placement, viewPlacement } from "./placement.ts";
import { checkDraws, checkLevel, checkPlaced, checkTimes } from "./predicting/checks.ts";
import { drawFunctionals, drawValues } from "./predicting/draws.ts";
import { measurementsAt } from "./predicting/measurements.ts";
import { drawnSeries, type PredictedSeries, type ValueOptions, valueSeries } from "./predicting/series.ts";
import { simultaneousBand } from "./predicting/simultaneous.ts";
import { refuseImpossible } from "./result-checks.ts";

export type BandKind = "curve" | "observation" | "conformal";

export interface PredictOptions {
  /** Probability inside the bands. Default 0.9. */
  readonly level?: number;
  /**
   * "observation" includes measurement noise (a new measurement), "curve" does not. "conformal" is the band of a new measurement
   * after the last visit as calibrated on individuals who were not in the fit (`calibrateForecasts`). Default "observation".
   */
  readonly interval?: BandKind;
  /** Also give a band that holds whole curves with probability `level`. Default false. */
  readonly simultaneous?: boolean;
  /** Also give rates of change. Default false. */
  readonly rate?: boolean;
  /** Draws behind simultaneous bands and rates of transformed markers. Default 2000. */
  readonly numDraws?: number;
  readonly seed?: number;
  /** Similar individuals and a mixed model that values of a map fall back on (`guardFor`). */
  readonly guard?: OwnGuard;
  /** Kernels that sum over the nodes. Default: the fastest that run here. */
  readonly kernels?: KernelChoice;
  /** Which of several markers, by its name. */
  readonly marker?: string;
}

const PREDICT_OPTIONS = optionNames<PredictOptions>({
  ...{ level: true, interval: true, simultaneous: true, rate: true, numDraws: true, seed: true, guard: true },
  ...{ kernels: true, marker: true },
});

export interface Prediction extends Omit<PredictedSeries, "below"> {
  readonly times: Float64Array;
  readonly level: number;
  readonly interval: BandKind;
  readonly simultaneous?: { readonly lower: Float64Array; readonly upper: Float64Array };
  /** Where the cohort of the model had a lower limit of detection: that limit, and the probability of a measurement below it, [T]. */
  readonly belowLimit?: { readonly limit: number; readonly probability: Float64Array };
  /** Change of the noise-free curve per unit of time. */
  readonly rate?: PredictedSeries;
  /**
   * 1 where the time lies outside the training times (the curve is held constant there) or, with a guard, after the last visit
   * where too few similar individuals were followed that long; everywhere for covariates far outside those fitted.
   */
  readonly extrapolated: Uint8Array;
  /** 1 where the whole band lies beyond a limit of the marker: values are held there, and the band has no width. */
  readonly beyondLimits: Uint8Array;
  /** Similar individuals still followed at each time, with a guard. */
  readonly support?: Float64Array;
  /** Weight of the model itself at each time, with a guard; the rest is the mixed model's. */
  readonly modelWeight?: Float64Array;
}

/**
 * Values of a placed individual at any times: median and band, of new measurements or of the noise-free curve.
 * @throws DtmError "option" for a level or interval out of range, "not-finite" for times that are not numbers, "other-model" for a placement by
 * another model.
 * @example
 * const { median, lower, upper } = predict(model, someone, [2, 4, 6], { level: 0.9 });
 */
export function predict(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  options: PredictOptions = {},
): Prediction {
  checkGiven("predict", { model, placement, times, options });
  checkNames("predict", options, PREDICT_OPTIONS);
  checkSeed("predict", options.seed);
  checkPlaced("predict", model, placement);
  if (model.markers.length > 1) {
    const k = markerIndex(model, options.marker);
    return predict(viewMarker(model, k), viewPlacement(placement, k), times, options);
  }
  const at = checkTimes("predict", times);
  const measured = (options.interval ?? "observation") !== "curve";
  const guarded = options.guard === undefined ? undefined : guardValues(options.guard, placement, at, measured);
  const found = predictChanged(model, placement, at, options, guarded);
  // Exactly at a place, without visits, a curve may have no spread.
  if (placement.numObservations > 0) refuseImpossible("predict", placement, found);
  return found;
}

/** What is made of the values of a placement at each time before they are told. */
export interface ChangedValues {
  readonly support?: Float64Array;
  readonly change: NonNullable<ValueOptions["change"]>;
}

/** The prediction of one marker, with values changed before they are told. */
export function predictChanged(
  model: ModelBase,
  placement: Placement,
  at: Float64Array,
  options: PredictOptions,
  changed: ChangedValues | undefined,
): Prediction {
  const own = markerModel(model);
  const { level = 0.9, interval = "observation", simultaneous = false, rate = false } = options;
  const { numDraws = 2000, seed = 1, kernels = "auto" } = options;
  checkLevel("predict", level);
  checkOption(
    interval === "curve" || interval === "observation" || interval === "conformal",
    "predict",
    'interval "curve", "observation" or "conformal"',
    interval,
    'Use "observation" for the band of a new measurement.',
  );
  checkDraws("predict", numDraws);
  const measured = interval !== "curve";
  const { rows, ...noise } = measurementsAt(own, placement, at, measured);
  const marker = checkMarker("predict", own.marker);
  const scale = markerScale(marker);
  const wholeCurves = () => {
    const draws = drawValues(model, placement, at, { numDraws, seed }, measured);
    const band = simultaneousBand(draws, numDraws, at.length, level);
    return { lower: band.lower.map(scale), upper: band.upper.map(scale) };
  };
  const [first, last] = basisDomain(own.basis);
  const support = changed?.support;
  const change = changed && { change: changed.change };
  const limit = measured ? own.noise.limits?.lower : undefined;
  const { below, ...series } = valueSeries(own, placement, rows, {
    ...{ level, measured, marker, kernels, limit },
    ...noise,
    ...change,
  });
  // Up to the last visit the individual's own values speak.
  const unsupported = (t: number, k: number) =>
    support !== undefined && t > placement.lastTime && support[k] < SUPPORTED;
  const isFar = (model.farCovariates ?? []).length > 0;
  const outside = (t: number, k: number) => isFar || t < first || t > last || unsupported(t, k);
  const { lower, upper } =
    interval === "conformal" ? conformalBand(model, placement, at, level, series, changed?.change) : series;
  const [lowest, highest] = valueLimits(marker);
  const isHeld = (y: number, k: number) => y === upper[k] && (y === lowest || y === highest);
  return {
    times: at,
    level,
    interval,
    ...series,
    lower,
    upper,
    beyondLimits: Uint8Array.from(lower, (y, k) => (isHeld(y, k) ? 1 : 0)),
    ...(below && { belowLimit: { limit: scale(limit!), probability: below } }),
    extrapolated: Uint8Array.from(at, (t, k) => (outside(t, k) ? 1 : 0)),
    ...(support && { support, modelWeight: support.map((n) => 1 - fallbackWeight(n)) }),
    ...(simultaneous ? { simultaneous: wholeCurves() } : {}),
    ...(rate ? { rate: rateSeries(model, placement, at, { level, numDraws, seed, kernels }) } : {}),
  };
}

/**
 * The calibrated band at times after the last visit; before, and without any visit, there is no forecast to be calibrated, and the
 * model's own band stands. The factors are of the band that is shown, with a guard where there is one, and its median stays inside.
 */
function conformalBand(
  model: ModelBase,
  placement: Placement,
  at: Float64Array,
  level: number,
  own: PredictedSeries,
  change?: ValueOptions["change"],
): { readonly lower: Float64Array; readonly upper: Float64Array } {
  const part = markerModel(model);
  const { calibration } = model;
  if (calibration === undefined) {
    throw new DtmError(
      "option",
      'predict: expected a calibrated model for interval "conformal", received one without a calibration. Calibrate it first (calibrateForecasts, dtm calibrate).',
    );
  }
  const { rows, ...noise } = measurementsAt(part, placement, at, true);
  const base = valueSeries(part, placement, rows, {
    ...noise,
    level: BASE_LEVEL,
    measured: true,
    marker: { transform: "identity" },
    ...(change && { change }),
  });
  const { numObservations: known, lastTime } = placement;
  const scale = markerScale(part.marker);
  const [lower, upper] = [own.lower.slice(), own.upper.slice()];
  at.forEach((t, k) => {
    if (known === 0 || t <= lastTime) return;
    const factors = calibrationFactors(calibration, known, t - lastTime, level);
    const m = base.median[k];
    lower[k] = Math.min(own.median[k], scale(m - factors.lower * (m - base.lower[k])));
    upper[k] = Math.max(own.median[k], scale(m + factors.upper * (base.upper[k] - m)));
  });
  return { lower, upper };
}

/** The mixed model's share of the values at the times, and the support behind it. */
export function guardValues(
  { guard, fallback }: OwnGuard,
  placement: Placement,
  at: Float64Array,
  measured: boolean,
): Required<ChangedValues> {
  const other = markerModel(guard.mixedModel);
  const d = other.basis.numBasis;
  const held = at.map((t) => heldTime(guard, fallback, t));
  const { rows, given } = measurementsAt(other, fallback, at, measured, false, held);
  const functional = posteriorFunctionals(fallback.posterior, other.mean.coefficients);
  const support = at.map(followUpSupport(guard.followUp, placement));
  const change = (own: FunctionalValue, t: number) => {
    const other = functional(rows, t * d, measured, given?.[t]);
    const w = fallbackWeight(support[t]);
    // Sums over the many components of a map stay where they are fast.
    return { value: fallBack(own.value, other.value, support[t]), sums: blendSums(1 - w, own.sums, w, other.sums) };
  };
  return { support, change };
}

/** Draws of the curve (or, with `noise`, of new measurements) at the times, original scale, [S,T]. */
export function drawCurves(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  options: { readonly numDraws?: number; readonly seed?: number; readonly noise?: boolean } = {},
): Float64Array {
  const own = markerModel(model);
  const { numDraws = 2000, seed = 1, noise = false } = options;
  checkPlaced("drawCurves", model, placement);
  checkDraws("drawCurves", numDraws);
  const at = checkTimes("drawCurves", times);
  const draws = drawValues(model, placement, at, { numDraws, seed }, noise);
  return draws.map(markerScale(own.marker));
}

/** Rates of change: exact for an untransformed marker, by draws of (value, slope) otherwise. */
function rateSeries(
  model: ModelBase,
  placement: Placement,
  at: Float64Array,
  { level, numDraws, seed, kernels }: Required<Pick<PredictOptions, "level" | "numDraws" | "seed" | "kernels">>,
): PredictedSeries {
  const own = markerModel(model);
  const T = at.length;
  const { transform } = own.marker;
  const slopes = designMatrix(own.basis, at, true);
  if (transform === "identity") {
    return valueSeries(own, placement, slopes, { level, measured: false, marker: { transform }, kernels });
  }
  const both = joinFloats([designMatrix(own.basis, at), slopes]);
  const draws = drawFunctionals(model, placement, both, { numDraws, seed });
  const rates = Float64Array.from({ length: numDraws * T }, (_, e) => {
    const value = Math.floor(e / T) * 2 * T + (e % T);
    return undoSlope(transform, draws[value]) * draws[value + T];
  });
  return drawnSeries(rates, T, level);
}
