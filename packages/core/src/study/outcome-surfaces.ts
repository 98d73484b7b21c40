/**
 * Where on the map associated outcomes are common: the smoothed share with its simultaneous band for every outcome that
 * is below 0.05 after Holm, in the study's own representation and with the strata of the visit guard.
 * (docs/math/association.md §7)
 */
import type { Association } from "../associate/association.ts";
import { CASE, CONTROL } from "../associate/outcomes.ts";
import { type RiskSurface, riskSurface } from "../associate/risk-surface.ts";
import { visitStrata } from "../associate/visit-guard.ts";
import type { Placements } from "../models/placement.ts";

export interface OutcomeSurfaceOptions {
  /** Lattice points along each axis. Default 129 on the line, 49 in the plane. */
  readonly gridSize?: number;
  /** Default 199: enough for a 95 % quantile, and many outcomes of large cohorts stay quick. */
  readonly permutations?: number;
  /** Largest adjusted p-value of an outcome that gets a surface. Default 0.05, exclusive. */
  readonly level?: number;
  /** Lattice points with fewer individuals around them are left open. Default 11: a surface may be shared. */
  readonly minIndividuals?: number;
}

/** Surfaces by name of outcome; none for maps of three dimensions, which cannot be drawn. */
export function outcomeSurfaces(
  association: Association,
  placements: Placements,
  outcomes: readonly { readonly name: string; readonly labels: Uint8Array }[],
  options: OutcomeSurfaceOptions = {},
): ReadonlyMap<string, RiskSurface> {
  const { mapDimension: q, location, numObservations, lastTime } = placements;
  const { gridSize = q === 1 ? 129 : 49, permutations = 199, level = 0.05, minIndividuals = 11 } = options;
  const surfaces = new Map<string, RiskSurface>();
  if (q > 2) return surfaces;
  for (const { outcome, adjusted } of association.outcomes) {
    const labels = outcomes.find(({ name }) => name === outcome)?.labels;
    if (labels === undefined || !(adjusted.holm < level)) continue;
    const known = [...labels.keys()].filter((i) => labels[i] === CASE || labels[i] === CONTROL);
    const { strata } = visitStrata(
      known.map((i) => numObservations[i]),
      known.map((i) => lastTime[i]),
    );
    const input = {
      locations: Float64Array.from(
        { length: known.length * q },
        (_, k) => location[known[Math.floor(k / q)] * q + (k % q)],
      ),
      mapDimension: q,
      labels: Uint8Array.from(known, (i) => labels[i]),
      strata,
    };
    surfaces.set(outcome, riskSurface(input, { gridSize, permutations, minIndividuals, seed: association.seed }));
  }
  return surfaces;
}
