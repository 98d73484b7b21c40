/**
 * Whether what was computed of an individual means anything. Values further than 2²⁶ noise deviations from what the model expects have squares that
 * leave no digit of a double for anything else, so that places and bands are rounding: with n values that is
 *   −2 log p(y) > n 2⁵².
 * A place is finite with a positive variance; a forecast is finite, its sd above 0 and its band open, unless it is held at a limit of the marker.
 * What fails is told as a reason beside the individual, and nothing is forecast from it.
 */
import { DtmError, showReceived } from "../errors.ts";
import type { PlaceFault, Placement, Places } from "./placement.ts";
import type { PredictedSeries } from "./predicting/series.ts";

/** Squared deviations, in noise variances, beyond which nothing is left of others. */
const NO_DIGITS = 2 ** 52;

const FAR_REASON = "values too far from what the model expects to be computed with";
const NOT_FINITE = "the place is no finite number";
const NO_VARIANCE = "the place has no variance";

/** Why the place of an individual with so many values means nothing; undefined if all is well. `covariance` [q,q]. */
export function placeFault(
  location: ArrayLike<number>,
  covariance: ArrayLike<number>,
  logLikelihood: number,
  numObservations: number,
): string | undefined {
  if (numObservations === 0) return undefined;
  const q = location.length;
  if (-2 * logLikelihood > numObservations * NO_DIGITS) return FAR_REASON;
  if (!Number.isFinite(logLikelihood)) return NOT_FINITE;
  for (let a = 0; a < q; a++) {
    const variance = covariance[a * q + a];
    if (!Number.isFinite(location[a]) || !Number.isFinite(variance)) return NOT_FINITE;
    // A direction that the model does not use has neither deviation nor variance.
    if (variance < 0 || (variance === 0 && location[a] !== 0)) return NO_VARIANCE;
  }
  return undefined;
}

/** All individuals whose place means nothing. */
export function placeFaults(
  places: Pick<Places, "ids" | "mapDimension" | "location" | "covariance" | "logLikelihood" | "numObservations">,
): PlaceFault[] {
  const { ids, mapDimension: q, location, covariance, logLikelihood, numObservations } = places;
  return ids.flatMap((_, i) => {
    const [x, S] = [location.subarray(i * q, (i + 1) * q), covariance.subarray(i * q * q, (i + 1) * q * q)];
    const reason = placeFault(x, S, logLikelihood[i], numObservations[i]);
    return reason === undefined ? [] : [{ individual: i, reason }];
  });
}

/** Refuses an individual whose place means nothing. */
export function refuseFault(where: string, { id, fault }: Pick<Placement, "id" | "fault">): void {
  if (fault !== undefined) throw notComputable(where, id, fault);
}

/** Refuses a forecast that is no finite number or has no spread. */
export function refuseImpossible(
  where: string,
  { id }: Pick<Placement, "id">,
  found: PredictedSeries & { readonly times: Float64Array; readonly beyondLimits: Uint8Array },
): void {
  const { times, mean, sd, median, lower, upper, beyondLimits } = found;
  for (let t = 0; t < times.length; t++) {
    const isNumber = [mean, sd, median, lower, upper].every((series) => Number.isFinite(series[t]));
    const isOpen = beyondLimits[t] === 1 || (sd[t] > 0 && lower[t] < upper[t]);
    if (isNumber && isOpen) continue;
    throw notComputable(where, id, isNumber ? "a forecast without any spread" : "a forecast that is no finite number");
  }
}

function notComputable(where: string, id: string, reason: string): DtmError {
  return new DtmError(
    "not-computable",
    `${where}: expected an individual that the model can tell something of, received "${showReceived(id)}": ${reason}. Look up its values: another unit, or a code for missing.`,
  );
}
