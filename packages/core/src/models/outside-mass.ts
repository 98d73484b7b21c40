/** How much of a placement lies where a map says nothing: further than a length-scale from every inducing place. */
import type { SparseMap } from "./gp/sparse-map.ts";
import type { PlacePosterior } from "./mixture/posterior.ts";

/** Posterior mass of the nodes with Σ_c ((x_c − z_jc)/ℓ_c)² > 1 for every inducing place z_j; 0 for a linear map. */
export function outsideMass(map: SparseMap, posterior: PlacePosterior): number {
  const { mapDimension: q, numInducing: p, inducingLocations: Z, kernel } = map;
  if (kernel.kind === "linear") return 0;
  const { weights, locations } = posterior;
  const inverse = Float64Array.from(kernel.lengthscales, (l) => 1 / l);
  let mass = 0;
  // Neighbouring nodes are near the same inducing place, so the last one found is asked first.
  let near = 0;
  for (let k = 0; k < weights.length; k++) {
    let tried = 0;
    for (; tried < p; tried++) {
      let s = 0;
      for (let c = 0; c < q; c++) {
        const u = (locations[k * q + c] - Z[near * q + c]) * inverse[c];
        s += u * u;
      }
      // A node a length-scale away is inside, whatever way the last digit was rounded.
      if (s <= 1 + 1e-12) break;
      near = near + 1 < p ? near + 1 : 0;
    }
    if (tried === p) mass += weights[k];
  }
  return mass;
}
