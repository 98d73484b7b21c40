/**
 * What covariates do under a fitted model, in natural units (docs/math/covariates.md §5): effects in the mean as a level in the middle of
 * the times and a change per unit of time, with t intervals; shifts of places as arrows with ellipses and Wald's test. An effect γ of the
 * coded column (x − c)/s is γ/s per unit of x, or from the reference to the level.
 */
import { basisDomain, designMatrix } from "../basis/bspline.ts";
import type { CovariateCoding } from "../cohort/coding.ts";
import { columnsWith } from "../covariates/covariates.ts";
import { checkOption } from "../errors.ts";
import { bilinear, dot, joinFloats, multiply } from "../numeric/matrix.ts";
import { chisquareQuantile, chisquareUpper, studentQuantile } from "../numeric/special.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";
import type { DtmModel } from "./dtm/model.ts";
import type { MixedModelEffects, ModelBase } from "./fit.ts";
import { effectColumns } from "./mean.ts";
import type { TrajectoryModel } from "./model.ts";
import { showCovariance, showLocation } from "./orient.ts";

/** A comparison by a covariate: between levels, or between values that are `step` apart. */
export interface CovariateStep {
  readonly covariate: string;
  /** The level that is compared with the reference; null for a number. */
  readonly level: string | null;
  readonly reference: string | null;
  readonly step: number;
}

/** An effect in the mean of a marker, on the scale of the model. */
export interface EffectRow extends CovariateStep, EffectEstimate {
  readonly marker: string;
  /** In the middle of the times, or per unit of time, on average over them. */
  readonly quantity: "level" | "rate";
  /** When the level is that: the middle of the times. Null of a rate, and of an effect that is the same at all times. */
  readonly time: number | null;
  /** The same effect in the mixed model with these covariates and a mean curve, which has no places to take part of it; null where it is not known. */
  readonly mixedModel: EffectEstimate | null;
  /** Such as "log mg/dl per year, m against f". */
  readonly unit: string;
}

/** An estimate with its t interval. */
export interface EffectEstimate {
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
  /** The larger of two: model-based, which counts on the model being right, and robust, by leaving out one individual after another. */
  readonly standardError: number;
  /** Which of them it is. */
  readonly errorKind: "model-based" | "robust";
}

/** A shift of places, shown frame. */
export interface ShiftRow extends CovariateStep {
  readonly shift: Float64Array; // [q]
  readonly covariance: Float64Array; // [q,q]
  readonly length: number;
  /** Half-axes of the ellipse around the tip of the arrow, and their directions as columns, [q] and [q,q]. */
  readonly halfAxes: Float64Array;
  readonly axes: Float64Array;
  /** Wald's test of no shift: φ'C⁻¹φ on q degrees of freedom. */
  readonly test: { readonly statistic: number; readonly degrees: number; readonly pValue: number };
  readonly unit: string;
}

export interface EffectTables {
  readonly effects: readonly EffectRow[];
  readonly shifts: readonly ShiftRow[];
}

export interface EffectTablesOptions {
  /** Probability of intervals and ellipses. Default 0.95. */
  readonly level?: number;
  /** Steps of numbers that effects are told for, such as 10 for years of age. Default 1. */
  readonly steps?: Readonly<Record<string, number>>;
}

/**
 * The effects of a model's covariates; both tables are empty for a model without any.
 * @throws DtmError "option" for a level outside 0 to 1, a step of 0, or a map seen through one of several markers.
 * @example
 * const { effects, shifts } = covariateEffects(model, { steps: { age: 10 } });
 */
export function covariateEffects(model: TrajectoryModel, options: EffectTablesOptions = {}): EffectTables {
  const { level = 0.95, steps = {} } = options;
  const where = "covariateEffects";
  checkOption(level > 0 && level < 1, where, "a level between 0 and 1", level, "Use 0.95.");
  for (const [name, step] of Object.entries(steps)) {
    checkOption(Number.isFinite(step) && step !== 0, where, `a step of ${name} other than 0`, step, "Use 1.");
  }
  const { covariates: coding } = model;
  if (coding === undefined) return { effects: [], shifts: [] };
  const shifts = model.kind === "dtm" ? shiftRows(model, coding, level, steps) : [];
  return { effects: effectRows(model, coding, level, steps), shifts };
}

/** The comparison of a coded column, by how much z differs in it, and its words. */
function stepOf({ covariates, columns }: CovariateCoding, column: number, steps: EffectTablesOptions["steps"]) {
  const { covariate: c, level, scale } = columns[column];
  const { name, levels, kind } = covariates[c];
  const step = level === null ? (steps?.[name] ?? 1) : 1;
  const reference = level === null ? null : kind === "category" ? levels[0] : "known";
  const number = step === 1 ? `unit of ${name}` : `${step} of ${name}`;
  const words = level === null ? `per ${number}` : `${name}: ${level} against ${reference}`;
  return { compared: { covariate: name, level, reference, step }, perZ: step / scale, words };
}

function effectRows(
  { markers, effects }: ModelBase,
  coding: CovariateCoding,
  level: number,
  steps: EffectTablesOptions["steps"],
): EffectRow[] {
  if (effects === undefined) return [];
  const { form, covariance, mixedModel } = effects;
  const columns = columnsWith(coding, [form]);
  const n = markers.reduce((sum, part) => sum + part.effects!.length, 0);
  const remedy = "Ask the model of all markers.";
  checkOption(covariance.length === n * n, "covariateEffects", "the effects of all markers", "those of some", remedy);
  const own = { ...effects, coefficients: joinFloats(markers.map((part) => part.effects!)) };
  let from = 0;
  return markers.flatMap(({ marker, basis }) => {
    const H = effectColumns(form, basis);
    const [begin, end] = basisDomain(basis);
    const times = Float64Array.of((begin + end) / 2, begin, end);
    const at = multiply(designMatrix(basis, times), H.columns, 3, basis.numBasis, H.h);
    const middle = at.slice(0, H.h);
    const rate = middle.map((_, t) => (at[2 * H.h + t] - at[H.h + t]) / (end - begin));
    const scale = marker.transform === "identity" ? "" : `${marker.transform} `;
    const unit = `${scale}${marker.unit || marker.name}`;
    return columns.flatMap((column) => {
      const { compared, perZ, words } = stepOf(coding, column, steps);
      const start = from;
      from += H.h;
      const time = form === "level" ? null : times[0];
      const row = (quantity: EffectRow["quantity"], weights: Float64Array, text: string): EffectRow => {
        const a = weights.map((v) => perZ * v);
        const estimate = estimateOf(own, a, start, level);
        const beside = mixedModel ? estimateOf(mixedModel, a, start, level) : null;
        const told = { marker: marker.name, ...compared, quantity, time: quantity === "level" ? time : null };
        return { ...told, ...estimate, mixedModel: beside, unit: text };
      };
      const middleTime = Number(times[0].toPrecision(3));
      const when = marker.timeUnit === "" ? `time ${middleTime}` : `${middleTime} ${marker.timeUnit}`;
      const levelRow = row("level", middle, `${unit}${time === null ? "" : ` at ${when}`}, ${words}`);
      if (form === "level") return [levelRow];
      return [levelRow, row("rate", rate, `${unit} per ${marker.timeUnit || "unit of time"}, ${words}`)];
    });
  });
}

/** a'γ of the γ from `from` on, for weights a [h], with its interval of probability `level`. */
function estimateOf(
  { coefficients, covariance, robustCovariance, degreesOfFreedom }: MixedModelEffects,
  a: Float64Array,
  from: number,
  level: number,
): EffectEstimate {
  const [h, n] = [a.length, coefficients.length];
  const errorOf = (V: Float64Array) => {
    const block = Float64Array.from({ length: h * h }, (_, e) => V[(from + Math.floor(e / h)) * n + from + (e % h)]);
    return Math.sqrt(Math.max(bilinear(a, block, a), 0));
  };
  const modelBased = errorOf(covariance);
  // Files from before there were robust errors have none.
  const robust = robustCovariance === undefined ? 0 : errorOf(robustCovariance);
  const standardError = Math.max(modelBased, robust);
  const half = studentQuantile((1 + level) / 2, degreesOfFreedom) * standardError;
  const estimate = dot(a, coefficients.subarray(from, from + h));
  const errorKind = robust > modelBased ? "robust" : "model-based";
  return { estimate, lower: estimate - half, upper: estimate + half, standardError, errorKind };
}

function shiftRows(
  { shift, mapDimension: q, orientation }: DtmModel,
  coding: CovariateCoding,
  level: number,
  steps: EffectTablesOptions["steps"],
): ShiftRow[] {
  if (shift === undefined) return [];
  const columns = columnsWith(coding, ["places"]);
  const P = columns.length;
  const radius = Math.sqrt(chisquareQuantile(level, q));
  return columns.map((column, c) => {
    const { compared, perZ, words } = stepOf(coding, column, steps);
    const own = Float64Array.from({ length: q }, (_, a) => perZ * shift.loadings[a * P + c]);
    const block = Float64Array.from({ length: q * q }, (_, e) => {
      const [a, b] = [Math.floor(e / q), e % q];
      return perZ ** 2 * shift.covariance[(a * P + c) * q * P + b * P + c];
    });
    const shown = showLocation(orientation, own, q);
    const covariance = showCovariance(orientation, block, q);
    const { values, vectors } = symmetricEigen(covariance, q);
    const statistic = values.reduce((sum, v, k) => {
      const along = shown.reduce((total, s, a) => total + s * vectors[a * q + k], 0);
      return sum + along ** 2 / Math.max(v, Number.MIN_VALUE);
    }, 0);
    return {
      ...compared,
      shift: shown,
      covariance,
      length: Math.hypot(...shown),
      halfAxes: Float64Array.from(values, (v) => radius * Math.sqrt(Math.max(v, 0))),
      axes: vectors.slice(),
      test: { statistic, degrees: q, pValue: chisquareUpper(statistic, q) },
      unit: `standard deviations of places, ${words}`,
    };
  });
}
