/**
 * What all fits share: how they are controlled (seed, progress, cancel), what every fitted model holds, and the record
 * a fit leaves behind. Models are plain readonly data; nothing exists unfitted.
 */

import type { Basis } from "../basis/bspline.ts";
import type { CovariateCoding, CovariateEffect } from "../cohort/coding.ts";
import type { Marker } from "../cohort/marker.ts";
import { checkForm, checkGiven, DtmError, isNamed } from "../errors.ts";
import type { Noise } from "../noise/noise.ts";
import type { KernelChoice, KernelKind } from "../wasm/instance.ts";
import type { ForecastCalibration } from "./conformal.ts";
import type { EffectCovariances } from "./effect-covariances.ts";
import type { ShardHost } from "./shards.ts";

/** Anything with an `aborted` flag: an AbortSignal fits. */
export interface CancelSignal {
  readonly aborted: boolean;
}

export interface FitProgress {
  /** What is being done, in words: "linear mixed model", "map", ... */
  readonly stage: string;
  readonly iteration: number;
  readonly maxIterations: number;
  /** Log-likelihood or bound after this iteration. */
  readonly value: number;
  /** Gain of an iteration below which the stop rule counts it as none; left out where the schedule has no such rule. */
  readonly stopGain?: number;
  /** Where the fit stops by the movement of places: what is still expected (NaN where not known yet), and the limit. */
  readonly movement?: { readonly remaining: number; readonly limit: number };
}

/** Arguments of every fit beside the model's own options. */
export interface FitControl {
  /** Seed of all randomness. Default 1. */
  readonly seed?: number;
  readonly onProgress?: (progress: FitProgress) => void;
  /** Checked once per iteration; an aborted fit throws DtmError "cancelled". */
  readonly signal?: CancelSignal;
  /**
   * Kernels of a fit: WebAssembly where it runs ("auto", the default), or one kind whatever happens. Both give the
   * same results to rounding; each gives the same bytes everywhere.
   */
  readonly kernels?: KernelChoice;
  /** Where map fits run their passes over individuals; results are the same everywhere. Default: here, one by one. */
  readonly shards?: ShardHost;
}

/** Weak priors, worth a few observations and individuals, or none: maximum likelihood. */
export type PriorChoice = "weak" | "none";

/** JSON values: what options in a fit record may hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A start of a fit beside the best one. */
export interface StartResult {
  /** Where it started from, in words. */
  readonly name: string;
  readonly bound: number;
  /** Procrustes R² of its places with those of the best start. */
  readonly agreement: number;
  /** Whether it found the map of the best start: an agreement of 0.9 or more. */
  readonly sameMap: boolean;
  /** Whether its bound is within 2 units of log evidence of the best. */
  readonly similarBound: boolean;
}

/** What a fit did and how it ended. Holds nothing of single individuals. */
export interface FitRecord {
  /** Version of this library. */
  readonly version: string;
  /** All options in force, defaults included. */
  readonly options: { readonly [key: string]: Json };
  readonly seed: number;
  readonly numIndividuals: number;
  readonly numObservations: number;
  /** Log-likelihood or bound after each iteration (or epoch). */
  readonly trace: readonly number[];
  readonly iterations: number;
  readonly converged: boolean;
  /** One sentence: whether and why the fit stopped. */
  readonly verdict: string;
  readonly warnings: readonly string[];
  /** What each of several starts came to, the best first; absent where there was one, and in files of older versions. */
  readonly starts?: readonly StartResult[];
  /** Kernels that were used; absent in files of older versions. */
  readonly kernels?: KernelKind;
  /** Wall-clock time by stage; left out of saved model files, so that equal fits give equal bytes. */
  readonly milliseconds: { readonly [stage: string]: number };
}

/** Population mean curve b(t)'β; a scalar mean μ is stored as μ·1, since the basis sums to one. */
export interface MeanFunction {
  readonly kind: "scalar" | "spline";
  /** β on the scale of the model, [d]. */
  readonly coefficients: Float64Array;
}

/** Names of the columns a cohort was last read from, for reading the next one alike. */
export interface ColumnNames {
  readonly id: string;
  readonly time: string;
  readonly value: string;
  /** In a table with one value column for all markers: the column that names the marker, and how it is written there. */
  readonly marker?: string;
  readonly level?: string;
  /** From when times were counted (first, column:NAME, date:2010-01-31), and whether they were dates; absent for numbers as they were. */
  readonly origin?: string;
  readonly dates?: true;
}

/** What a model holds of one marker; places are shared by all markers. */
export interface MarkerModel {
  readonly marker: Marker;
  readonly columns?: ColumnNames;
  readonly basis: Basis;
  readonly mean: MeanFunction;
  readonly noise: Noise;
  /** Rounded mean of the training values on the scale of the model (BasisStatistics.center). */
  readonly center: number;
  /** Of one of several markers: what its forecast bands are multiplied by, given all markers. */
  readonly calibration?: ForecastCalibration;
  /** γ [P,h] of covariates with effects in the mean, by coded column, then column of the form. */
  readonly effects?: Float64Array;
}

/** Effects γ of all markers, one after another, [ΣPh], with how well they are known. */
export interface MixedModelEffects extends EffectCovariances {
  readonly coefficients: Float64Array;
}

/** Fields common to all fitted models. */
export interface ModelBase<Part extends MarkerModel = MarkerModel> {
  /** One for each marker; fits hold one so far. */
  readonly markers: readonly Part[];
  readonly mapDimension: number;
  /**
   * Orthogonal matrix Q [q,q] applied at the doorway: a place x of the fit is shown as Q'x.
   * Rows index the fit's frame, columns the shown axes.
   */
  readonly orientation: Float64Array;
  readonly record: FitRecord;
  /** What forecast bands are multiplied by to hold what they promise, once that was measured; of several markers it stands with each. */
  readonly calibration?: ForecastCalibration;
  /** How covariates of individuals are coded, where the model has any. */
  readonly covariates?: CovariateCoding;
  /** Effects of covariates in the mean; their γ stand with the markers, whose mean is that of z = 0. */
  readonly effects?: EffectCovariances & {
    readonly form: Exclude<CovariateEffect, "places">;
    /** Effects of the mixed model with the same covariates and a mean curve, beside those of a map, whose places take part of them. */
    readonly mixedModel?: MixedModelEffects;
  };
  /** Of a model as it is for one individual (`modelFor`): covariates of theirs far outside those fitted. Forecasts are then extrapolated. */
  readonly farCovariates?: readonly string[];
}

/** Throws a DtmError unless this is a model as a fit or `loadModel` gives it: for callers whom no compiler warns. */
export function checkModel(where: string, model: unknown): void {
  checkGiven(where, { model });
  const parts = isNamed(model) && isNamed(model.record) && Array.isArray(model.markers) ? model.markers : [];
  const isPart = (part: unknown) => isNamed(part) && isNamed(part.basis) && ArrayBuffer.isView(part.basis.knots);
  const isModel = parts.length > 0 && parts.every(isPart);
  checkForm(isModel, where, "a fitted model", model, "Fit one, or read its file: loadModel(text), not JSON.parse.");
}

/**
 * What a model of one marker holds of it: marker, basis, mean, noise and, for a map, the map.
 * @example const { marker, basis } = markerModel(model);
 * @throws DtmError "several-markers" for a model of more than one marker, which the caller cannot handle.
 */
export function markerModel<Part extends MarkerModel>(model: { readonly markers: readonly Part[] }): Part {
  checkGiven("markerModel", { model });
  const isModel = Array.isArray(model.markers);
  checkForm(isModel, "markerModel", "a fitted model", model, "Fit one, or read its file: loadModel(text).");
  const [part, ...others] = model.markers;
  if (part === undefined || others.length > 0) {
    const names = model.markers.map(({ marker }) => marker.name).join(", ");
    throw new DtmError(
      "several-markers",
      `markerModel: expected a model of one marker, received ${model.markers.length} (${names}). Use a model of one of them.`,
    );
  }
  return part;
}

/**
 * A map of several markers seen through one of them: courses, forecasts and terrain of that marker on the map of all. Whoever is placed
 * by a view is placed by that marker alone.
 * @example const albumin = viewMarker(model, markerIndex(model, "albumin"));
 */
export function viewMarker<M extends { readonly markers: readonly MarkerModel[] }>(model: M, marker: number): M {
  if (model.markers.length === 1) return model;
  const part = model.markers[marker];
  const { calibration } = part;
  return { ...model, markers: [part], ...(calibration && { calibration }) };
}

/**
 * The position of a marker by its name; of the only one without a name.
 * @throws DtmError "option" for a name that no marker has, or for none where there are several.
 */
export function markerIndex({ markers }: Pick<ModelBase, "markers">, name?: string): number {
  if (name === undefined && markers.length === 1) return 0;
  const index = markers.findIndex(({ marker }) => marker.name === name);
  if (index >= 0) return index;
  const names = markers.map(({ marker }) => marker.name).join(", ");
  throw new DtmError("option", `Expected one of the markers ${names}, received ${name ?? "none"}. Name one of them.`);
}

/** Tells fits apart: the same for a model, its file, its markers and what it is for an individual with covariates. */
export function fitKey({ mapDimension, record }: Pick<ModelBase, "mapDimension" | "record">): string {
  const { numIndividuals, numObservations, seed, iterations, trace } = record;
  const reached = trace.length === 0 ? "unknown" : trace[trace.length - 1];
  return `${mapDimension} dimensions, ${numIndividuals} individuals, ${numObservations} observations, seed ${seed}, ${iterations} iterations to ${reached}`;
}

export const LIBRARY_VERSION = "0.1.0";

/** Throws DtmError "cancelled" once the signal is set. */
export function checkCancelled(signal: CancelSignal | undefined): void {
  if (signal?.aborted)
    throw new DtmError("cancelled", "The fit was cancelled before it finished; nothing was returned.");
}

/** Milliseconds since the epoch; the only clock of the core, used for `FitRecord.milliseconds`. */
export function now(): number {
  return Date.now();
}
