/** Where a map says nothing: further than a length-scale from every inducing point. */
import type { SparseMap } from "./sparse-map.ts";

/** A place a length-scale away is inside, whatever way the last digit was rounded. */
const LIMIT = 1 + 1e-12;

/** 1 for each of the places x [n,q] (fit's frame) with Σ_c ((x_c − z_jc)/ℓ_c)² > 1 for every z_j, else 0; 0 for a linear map. */
export function outsidePlaces(map: SparseMap, locations: Float64Array): Uint8Array {
  const { mapDimension: q, numInducing: p, inducingLocations: Z, kernel } = map;
  const outside = new Uint8Array(locations.length / q);
  if (kernel.kind === "linear") return outside;
  for (let k = 0; k < outside.length; k++) {
    let nearest = Number.POSITIVE_INFINITY;
    for (let j = 0; j < p; j++) {
      let s = 0;
      for (let c = 0; c < q; c++) s += ((locations[k * q + c] - Z[j * q + c]) / kernel.lengthscales[c]) ** 2;
      nearest = Math.min(nearest, s);
    }
    if (nearest > LIMIT) outside[k] = 1;
  }
  return outside;
}
