/**
 * Where on the map outcomes are common: the smoothed share with its simultaneous band, in the study's own representation
 * and with the strata of the visit guard.                                          (docs/math/association.md §7)
 */
import type { Association } from "../associate/association.ts";
import { CASE, CONTROL } from "../associate/outcomes.ts";
import { type RiskSurface, type RiskSurfaceOptions, riskSurface } from "../associate/risk-surface.ts";
import { visitStrata } from "../associate/visit-guard.ts";

/** Where individuals stand, and how they were seen; `Placements` is one. */
export interface SurfacePlaces {
  /** [m,q]; of three coordinates the first two are drawn. */
  readonly location: ArrayLike<number>;
  readonly mapDimension: number;
  readonly numObservations: ArrayLike<number>;
  readonly lastTime: ArrayLike<number>;
}

/** The surface of one outcome with labels [m]: 1 case, 0 control, anything else unknown. */
export function outcomeSurface(
  places: SurfacePlaces,
  labels: ArrayLike<number>,
  options: RiskSurfaceOptions = {},
): RiskSurface {
  const { mapDimension: q, location, numObservations, lastTime } = places;
  const known = Array.from(labels, (_, i) => i).filter((i) => labels[i] === CASE || labels[i] === CONTROL);
  const drawn = Math.min(q, 2);
  return riskSurface(
    {
      locations: Float64Array.from(known.flatMap((i) => Array.from({ length: drawn }, (_, k) => location[i * q + k]))),
      mapDimension: drawn,
      labels: Uint8Array.from(known, (i) => labels[i]),
      strata: visitStrata(
        known.map((i) => numObservations[i]),
        known.map((i) => lastTime[i]),
      ),
    },
    options,
  );
}

export interface OutcomeSurfaceOptions {
  /** Lattice points along each axis. Default 129 on the line, 49 in the plane. */
  readonly gridSize?: number;
  /** Default 199: enough for a 95% quantile, and many outcomes of large cohorts stay quick. */
  readonly permutations?: number;
  /** Largest adjusted p-value of an outcome that gets a surface. Default 0.05, exclusive. */
  readonly level?: number;
  /** Lattice points with fewer individuals around them are left open. Default 11: a surface may be shared. */
  readonly minIndividuals?: number;
}

/** Surfaces of all outcomes below `level` after Holm, by name; none for maps of three dimensions, which cannot be drawn. */
export function outcomeSurfaces(
  association: Association,
  places: SurfacePlaces,
  outcomes: readonly { readonly name: string; readonly labels: Uint8Array }[],
  options: OutcomeSurfaceOptions = {},
): ReadonlyMap<string, RiskSurface> {
  const q = places.mapDimension;
  const { gridSize = q === 1 ? 129 : 49, permutations = 199, level = 0.05, minIndividuals = 11 } = options;
  const surfaces = new Map<string, RiskSurface>();
  if (q > 2) return surfaces;
  for (const { outcome, adjusted } of association.outcomes) {
    const labels = outcomes.find(({ name }) => name === outcome)?.labels;
    if (labels === undefined || !(adjusted.holm < level)) continue;
    const { seed } = association;
    surfaces.set(outcome, outcomeSurface(places, labels, { gridSize, permutations, minIndividuals, seed }));
  }
  return surfaces;
}
