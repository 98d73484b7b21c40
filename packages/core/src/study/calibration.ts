/** Calibration of a fitted model's forecasts by refits: each fold of the cohort is forecast by a model of the others. */
import type { Cohort } from "../cohort/cohort.ts";
import { splitCohort } from "../cohort/split.ts";
import { calibrateForecasts } from "../evaluate/calibrate.ts";
import type { ForecastCalibration } from "../models/conformal.ts";
import type { FitControl } from "../models/fit.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { refitLike } from "./refit.ts";

export interface CalibrationOptions extends Pick<FitControl, "seed" | "signal"> {
  /** Default 5, or as many as there are individuals. */
  readonly folds?: number;
  readonly onProgress?: (done: number, of: number) => void;
}

/**
 * The calibration of each marker of a model, from the cohort it was fitted to.
 * @throws DtmError "option" for fewer than two folds.
 * @example
 * const calibrated = withCalibrations(model, calibrateByRefits(model, cohort));
 */
export function calibrateByRefits(
  model: TrajectoryModel,
  cohort: Cohort,
  { folds = 5, seed = 1, signal, onProgress }: CalibrationOptions = {},
): ForecastCalibration[] {
  const parts = splitCohort(cohort, Math.min(folds, cohort.ids.length), seed).map(({ train, test }, f) => {
    const part = { model: refitLike(model, train, { seed, signal, coarse: true }), cohort: test, train };
    onProgress?.(f + 1, folds);
    return part;
  });
  return model.markers.map((_, k) => calibrateForecasts(parts, k));
}
