/** What predictions refuse. */

import { applyTransform } from "../../cohort/marker.ts";
import { checkOption, DtmError, showReceived } from "../../errors.ts";
import { fitKey, type ModelBase, markerModel } from "../fit.ts";
import type { Placement } from "../placement.ts";

/** A threshold on the scale of the model; refuses one outside the transform's domain. */
export function modelThreshold(where: string, model: ModelBase, threshold: number): number {
  const { transform } = markerModel(model).marker;
  const level = applyTransform(transform, threshold);
  checkOption(
    Number.isFinite(level),
    where,
    `a threshold in the domain of transform "${transform}"`,
    threshold,
    "Give the threshold on the marker's original scale.",
  );
  return level;
}

/** Refuses a placement by another fit: its numbers mean something else there. */
export function checkPlaced(where: string, model: ModelBase, { id, placedBy }: Placement): void {
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

/** The times as numbers; refuses any that is not finite. */
export function checkTimes(where: string, times: ArrayLike<number>): Float64Array {
  const at = Float64Array.from(times);
  const bad = at.findIndex((t) => !Number.isFinite(t));
  if (bad >= 0) {
    throw new DtmError("not-finite", `${where}: expected finite times, received ${at[bad]} at position ${bad}.`);
  }
  return at;
}
