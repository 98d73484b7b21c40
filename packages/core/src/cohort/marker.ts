/**
 * What is measured and on which scale it is modelled. A declared transform maps the marker to the scale of the model;
 * it is undone on distributions (quantiles, draws), never on means.
 */
import { checkOption, DtmError } from "../errors.ts";

export const TRANSFORMS = ["identity", "log", "log1p", "sqrt", "logit"] as const;
export type Transform = (typeof TRANSFORMS)[number];

export interface Marker {
  readonly name: string;
  /** Unit of the values, e.g. "mg/dl"; empty if unknown. */
  readonly unit: string;
  /** Unit of the times, e.g. "years"; empty if unknown. */
  readonly timeUnit: string;
  readonly transform: Transform;
  /** What the values can be, such as 0 to 30 of a score: predictions and drawings keep within. */
  readonly limits?: Limits;
}

/** Lowest and highest value, both included; null for an open end. */
export type Limits = readonly [lowest: number | null, highest: number | null];

export const DEFAULT_MARKER: Marker = { name: "value", unit: "", timeUnit: "", transform: "identity" };

/** What values have a transform: the limits that it implies. */
const TRANSFORM_LIMITS: Readonly<Record<Transform, readonly [number, number]>> = {
  identity: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  log: [0, Number.POSITIVE_INFINITY],
  log1p: [-1, Number.POSITIVE_INFINITY],
  sqrt: [0, Number.POSITIVE_INFINITY],
  logit: [0, 1],
};

/** Lowest and highest value of the marker, as given and as its transform implies; infinite for an open end. */
export function valueLimits({ transform, limits }: Pick<Marker, "transform" | "limits">): readonly [number, number] {
  const [low, high] = TRANSFORM_LIMITS[transform];
  return [Math.max(low, limits?.[0] ?? low), Math.min(high, limits?.[1] ?? high)];
}

/** z on the scale of the model ↦ the marker's value, within its limits; monotone, so quantiles may be mapped one by one. */
export function markerScale(marker: Pick<Marker, "transform" | "limits">): (z: number) => number {
  const [low, high] = valueLimits(marker);
  return (z) => Math.min(Math.max(undoTransform(marker.transform, z), low), high);
}

/** The marker itself; refuses a transform that is not known, and limits that leave no values between them. */
export function checkMarker(where: string, marker: Marker): Marker {
  const { transform, limits } = marker;
  const isTransform = TRANSFORMS.includes(transform);
  checkOption(isTransform, where, `a transform among ${TRANSFORMS.join(", ")}`, String(transform), "");
  const [low, high] = valueLimits(marker);
  checkOption(low < high, where, "limits [lowest, highest] with values between them", String(limits), "");
  return marker;
}

/**
 * Sizes of numbers that can be computed with. A model holds variances, sums of squares: of numbers of these sizes they stay below the
 * 1e100 that a model file may hold, and squares of variances are neither infinite nor 0.
 */
const LEAST_SIZE = 1e-45;
const MOST_SIZE = 1e45;
/** The same in words that follow "expected". */
export const COMPUTABLE_SIZES = "0 or from 1e-45 to 1e45 in size";

/** Whether a number can be computed with: read, fitted and saved. */
export function isComputable(x: number): boolean {
  const size = Math.abs(x);
  return x === 0 || (size >= LEAST_SIZE && size <= MOST_SIZE);
}

/** The value on the scale of the model; NaN outside the transform's domain. */
export function applyTransform(transform: Transform, value: number): number {
  switch (transform) {
    case "identity":
      return value;
    case "log":
      return value > 0 ? Math.log(value) : Number.NaN;
    case "log1p":
      return value > -1 ? Math.log1p(value) : Number.NaN;
    case "sqrt":
      return value >= 0 ? Math.sqrt(value) : Number.NaN;
    case "logit":
      return value > 0 && value < 1 ? Math.log(value) - Math.log1p(-value) : Number.NaN;
    default:
      throw unknownTransform(transform);
  }
}

/** The value on the original scale; monotone, so quantiles may be mapped one by one. */
export function undoTransform(transform: Transform, value: number): number {
  switch (transform) {
    case "identity":
      return value;
    case "log":
      return Math.exp(value);
    case "log1p":
      return Math.expm1(value);
    case "sqrt":
      return value > 0 ? value * value : 0;
    case "logit":
      return logistic(value);
    default:
      throw unknownTransform(transform);
  }
}

/** Derivative of `undoTransform` at z: change of the marker per unit of the model's scale. */
export function undoSlope(transform: Transform, z: number): number {
  switch (transform) {
    case "identity":
      return 1;
    case "log":
    case "log1p":
      return Math.exp(z);
    case "sqrt":
      return 2 * Math.max(z, 0);
    case "logit": {
      const p = logistic(z);
      return p * (1 - p);
    }
    default:
      throw unknownTransform(transform);
  }
}

/** 1/(1 + e^−z), without loss of digits on either side. */
function logistic(z: number): number {
  if (z >= 0) return 1 / (1 + Math.exp(-z));
  const e = Math.exp(z);
  return e / (1 + e);
}

/** For the default of a switch over transforms: a new one that is missing there does not compile. */
export function unknownTransform(transform: never): DtmError {
  return new DtmError("option", `transform: expected one of ${TRANSFORMS.join(", ")}, received ${String(transform)}.`);
}

/** Years in one unit of time, in the singular; undefined for a unit we do not know. */
export function yearsPer(timeUnit: string): number | undefined {
  const years: Readonly<Record<string, number>> = { year: 1, month: 1 / 12, week: 7 / 365.25, day: 1 / 365.25 };
  return years[timeUnit];
}
