/**
 * When the fit has settled: three gains in a row below tolerance · (1 + |F|), with F taken for values in units of the first
 * noise, so that the unit of the marker does not matter. On the coarse lattice, whose bound is not the one asked for, three
 * times that is small enough.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { noiseLevel } from "../../noise/noise.ts";
import type { StartAnchor } from "./engine.ts";
import type { DtmSettings } from "./settings.ts";

/** Small gains in a row that end a stage. */
export const SMALL_GAINS_TO_STOP = 3;
/** The coarse stage ends at this multiple of the tolerance. */
const COARSE_TOLERANCE = 3;

/** The gain below which an iteration of a stage counts as none, where the bound is F. */
export function stopGain(
  fit: { readonly statistics: BasisStatistics; readonly settings: DtmSettings; readonly anchor: StartAnchor },
  stage: string,
  bound: number,
): number {
  const { statistics, settings, anchor } = fit;
  const unitFree = bound + 0.5 * statistics.numObservations * Math.log(noiseLevel(anchor.noise));
  return settings.tolerance * (stage === "coarse" ? COARSE_TOLERANCE : 1) * (1 + Math.abs(unitFree));
}
