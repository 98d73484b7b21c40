/**
 * When a fit has settled. Whole passes stop once the map no longer moves. Every few iterations everybody's place is compared
 * with the place at the last check, after turning and mirroring, by the root mean square distance δ in prior standard
 * deviations of a place. Distances shrink by about ρ = √(δ/δ₂) from check to check, δ₂ two checks before, so
 *   δ ρ/(1 − ρ)
 * is still to come if the fit went on for ever. Where it and δ are below the tolerance, three times in a row, the fit has settled.
 * A plateau of the bound on which places still drift, or drift faster and faster, is none: ρ is near or above 1 there.
 *
 * Minibatches tremble, so they stop by the bound: a gain below tolerance · (1 + |F|), with F taken for values in units of
 * the first noise, so that the unit of the marker does not matter.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { type Noise, noiseLevel } from "../../noise/noise.ts";
import { turnedDistance } from "../../numeric/procrustes.ts";
import type { RowSums } from "../shards.ts";
import type { DtmSettings } from "./settings.ts";

/** Iterations between checks. */
export const CHECK_EVERY = 5;
/** The coarse lattice, which is not the one asked for, is left at this movement, after one check below it. */
const COARSE_MOVEMENT = 0.05;
const SMALL_CHECKS = { coarse: 1, fine: 3 } as const;
/** ρ is taken within these, so that neither one lucky check nor one slow one decides; and what it is before two checks. */
const RATE_BOUNDS = [0.3, 0.9] as const;
const FIRST_RATE = 0.8;

/** How the map moves. */
export interface Movement {
  /** δ at the last check and at the one before; NaN before there were any. */
  readonly last: number;
  readonly before: number;
  /** What is still to come; NaN where it is not known yet. */
  readonly remaining: number;
  /** Checks below the limit in a row. */
  readonly small: number;
}

export const UNKNOWN_MOVEMENT: Movement = {
  last: Number.NaN,
  before: Number.NaN,
  remaining: Number.NaN,
  small: 0,
};

/** The movement after a check, from the places then and now, [m,q]. */
export function nextMovement(
  { last, before, small }: Movement,
  from: Float64Array,
  to: Float64Array,
  q: number,
  limit: number,
  rows?: RowSums,
): Movement {
  const distance = turnedDistance(from, to, q, rows);
  const [least, most] = RATE_BOUNDS;
  const shrunk = Math.sqrt(distance / before);
  const rate = Number.isNaN(shrunk) ? FIRST_RATE : Math.min(Math.max(shrunk, least), most);
  const remaining = distance === 0 ? 0 : (distance * rate) / (1 - rate);
  const isSmall = distance < limit && remaining < limit;
  return { last: distance, before: last, remaining, small: isSmall ? small + 1 : 0 };
}

/** Whether a stage of whole passes has settled. */
export function hasSettled({ small }: Movement, stage: "coarse" | "fine"): boolean {
  return small >= SMALL_CHECKS[stage];
}

/** The movement below which a stage of whole passes counts places as at rest. */
export function movementLimit({ tolerance }: DtmSettings, stage: string): number {
  return stage === "coarse" ? Math.max(COARSE_MOVEMENT, tolerance) : tolerance;
}

/** The gain below which a pass by minibatches counts as none, where the bound is F. */
export function stopGain(
  fit: {
    readonly settings: DtmSettings;
    readonly markers: readonly { readonly statistics: BasisStatistics; readonly anchor: { readonly noise: Noise } }[];
  },
  bound: number,
): number {
  const unitFree = fit.markers.reduce(
    (sum, { statistics, anchor }) => sum + 0.5 * statistics.numObservations * Math.log(noiseLevel(anchor.noise)),
    bound,
  );
  return fit.settings.tolerance * (1 + Math.abs(unitFree));
}
