/**
 * Forecast bands that hold what they promise, whatever the model (docs/math/prediction.md §7). On the scale of the model let
 * m, l, u be the median and the ends of its own 90% band of a new measurement. For a later visit y of an individual
 *   r⁺ = (y − m)/(u − m),   r⁻ = (m − y)/(m − l).
 * Individuals are exchangeable, their visits are not. Of n individuals who were not in the fit each weighs 1/(n + 1), spread
 * evenly over its visits, and 1/(n + 1) lies at infinity for the one to come. With c⁺ the (1 + level)/2-quantile of r⁺ under
 * these weights and c⁻ that of r⁻,
 *   [ m − c⁻(m − l),  m + c⁺(u − m) ]
 * holds a visit of a new individual, any one of those in question, with probability `level` at least (Lee, Barber & Willett 2023).
 * That is done by classes of visits known and time since the last of them; a class with few individuals is joined with its
 * neighbours in visits known.
 */
import { DtmError } from "../errors.ts";

/** Factors of the model's own band, by classes; holds quantiles over many individuals and nothing of any of them. */
export interface ForecastCalibration {
  /** Probabilities for which there are factors. */
  readonly levels: readonly number[];
  /** First number of visits known of each class, rising from 1. */
  readonly knownFrom: readonly number[];
  /** First time since the last visit of each class, rising from 0. */
  readonly horizonFrom: readonly number[];
  readonly numIndividuals: number;
  /** By class of visits known, then of time: individuals behind it and c⁻, c⁺ for each level; null where they are too few. */
  readonly classes: readonly CalibrationClass[];
  /** Share of later visits inside the 90% bands, individuals not in the fit weighing the same; files of earlier versions have none. */
  readonly coverage?: ForecastCoverage;
}

export interface ForecastCoverage {
  /** Of the model's own band. */
  readonly own: number;
  /** Of the calibrated band, by factors from other individuals. */
  readonly calibrated: number;
}

export interface CalibrationClass {
  readonly numIndividuals: number;
  /** Where the class itself has too few: others, the nearest in visits known or at last everybody, are counted in. */
  readonly borrowed?: true;
  readonly lower: readonly (number | null)[];
  readonly upper: readonly (number | null)[];
}

/** The band of which factors are taken. */
export const BASE_LEVEL = 0.9;
export const CALIBRATED_LEVELS = [0.5, 0.8, 0.9, 0.95] as const;

/** c⁻ and c⁺ for a forecast from so many visits, so long after the last of them. */
export function calibrationFactors(
  { levels, knownFrom, horizonFrom, classes, numIndividuals }: ForecastCalibration,
  known: number,
  horizon: number,
  level: number,
): { readonly lower: number; readonly upper: number } {
  const at = levels.indexOf(level);
  if (at < 0) {
    throw new DtmError(
      "option",
      `predict: expected one of the calibrated levels ${levels.join(", ")}, received ${level}. Choose one of them.`,
    );
  }
  const { lower, upper } = classes[classOf(knownFrom, known) * horizonFrom.length + classOf(horizonFrom, horizon)];
  const [below, above] = [lower[at], upper[at]];
  if (below === null || above === null) {
    throw new DtmError(
      "option",
      `predict: expected a level that ${numIndividuals} calibration individuals can tell, received ${level}. Use a lower level, or keep more individuals for calibration.`,
    );
  }
  return { lower: below, upper: above };
}

/** Whether there are factors for that level in every class. */
export function isCalibratedAt({ levels, classes }: ForecastCalibration, level: number): boolean {
  const at = levels.indexOf(level);
  return at >= 0 && classes.every(({ lower, upper }) => lower[at] !== null && upper[at] !== null);
}

/** The last class that begins at or before x; the first for what lies before all. */
export function classOf(from: readonly number[], x: number): number {
  let k = from.length - 1;
  while (k > 0 && x < from[k]) k--;
  return k;
}
