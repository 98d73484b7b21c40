/** What predictions refuse. */

import { applyTransform } from "../../cohort/marker.ts";
import { checkForm, checkNumbers, checkOption, DtmError, isNamed, showReceived } from "../../errors.ts";
import { checkModel, fitKey, type ModelBase, markerModel } from "../fit.ts";
import type { Placement } from "../placement.ts";
import { refuseFault } from "../result-checks.ts";

/** A threshold on the scale of the model; refuses one outside the transform's domain. */
export function modelThreshold(where: string, model: ModelBase, threshold: number): number {
  const { transform } = markerModel(model).marker;
  const level = applyTransform(transform, threshold);
  checkOption(
    typeof threshold === "number" && Number.isFinite(level),
    where,
    `a threshold in the domain of transform "${transform}"`,
    threshold,
    "Give the threshold on the marker's original scale.",
  );
  return level;
}

/** Refuses what is no placement, one by another fit, whose numbers mean something else there, and one of which nothing can be said. */
export function checkPlaced(where: string, model: ModelBase, placement: Placement): void {
  checkModel(where, model);
  const isPlaced = isNamed(placement) && isNamed(placement.posterior) && ArrayBuffer.isView(placement.location);
  checkForm(isPlaced, where, "a placed individual", placement, "Place it first: placeIndividual(model, history).");
  const { id, placedBy, fault } = placement;
  refuseFault(where, { id, fault });
  if (placedBy === undefined || placedBy === fitKey(model)) return;
  throw new DtmError(
    "other-model",
    `${where}: expected an individual placed by this model (${fitKey(model)}), received "${showReceived(id)}" placed by another (${placedBy}). Place it by this model first (placeIndividual).`,
  );
}

/** Refuses a level that is no probability strictly inside (0, 1). */
export function checkLevel(where: string, level: number): void {
  const ok = typeof level === "number" && level > 0 && level < 1;
  checkOption(ok, where, "level between 0 and 1", level, "Use 0.9 for a 90% band.");
}

/** Refuses a number of draws that is not a whole number of 10 or more. */
export function checkDraws(where: string, numDraws: number): void {
  const ok = Number.isInteger(numDraws) && numDraws >= 10 && numDraws <= 1e7;
  checkOption(ok, where, "numDraws as a whole number from 10 to 10,000,000", numDraws, "Use 2000.");
}

/** The times as numbers; refuses what is no list, and any that is not finite. */
export function checkTimes(where: string, times: ArrayLike<number>): Float64Array {
  return Float64Array.from(checkNumbers(where, "times", times));
}
