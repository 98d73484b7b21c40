/** How much of a placement lies where a map says nothing: further than a length-scale from every inducing place. */
import type { SparseMap } from "./gp/sparse-map.ts";
import type { PlacePosterior } from "./mixture/posterior.ts";

/** Posterior mass of nodes that are outside; `isOutside` as `outsidePlaces` gives it for all nodes of the mixture. */
export function outsideMass({ nodes, weights }: PlacePosterior, isOutside: Uint8Array): number {
  let mass = 0;
  for (let k = 0; k < weights.length; k++) mass += isOutside[nodes[k]] * weights[k];
  return mass;
}

/** 1 for each of the places x [n,q] with Σ_c ((x_c − z_jc)/ℓ_c)² > 1 for every inducing place z_j, else 0; 0 for a linear map. */
export function outsidePlaces(map: SparseMap, locations: Float64Array): Uint8Array {
  const { mapDimension: q, numInducing: p, inducingLocations: Z, kernel } = map;
  const outside = new Uint8Array(locations.length / q);
  if (kernel.kind === "linear") return outside;
  const inverse = Float64Array.from(kernel.lengthscales, (l) => 1 / l);
  const box = boundingBox(Z, p, q);
  // Neighbouring nodes are near the same inducing place, so the last one found is asked first.
  let near = 0;
  for (let k = 0; k < outside.length; k++) {
    let distance = 0;
    for (let c = 0; c < q; c++) {
      const x = locations[k * q + c];
      const u = Math.max(box[c] - x, x - box[q + c], 0) * inverse[c];
      distance += u * u;
    }
    // A node a length-scale away is inside, whatever way the last digit was rounded.
    for (let tried = 0; tried < p && distance <= LIMIT; tried++) {
      let s = 0;
      for (let c = 0; c < q; c++) {
        const u = (locations[k * q + c] - Z[near * q + c]) * inverse[c];
        s += u * u;
      }
      if (s <= LIMIT) break;
      if (tried === p - 1) distance = s;
      else near = near + 1 < p ? near + 1 : 0;
    }
    if (distance > LIMIT) outside[k] = 1;
  }
  return outside;
}

const LIMIT = 1 + 1e-12;

/** Smallest, then largest coordinates of places Z [p,q]: no place is nearer than this box, [2q]. */
function boundingBox(Z: Float64Array, p: number, q: number): Float64Array {
  const box = new Float64Array(2 * q).fill(Number.POSITIVE_INFINITY, 0, q).fill(Number.NEGATIVE_INFINITY, q);
  for (let j = 0; j < p; j++) {
    for (let c = 0; c < q; c++) {
      box[c] = Math.min(box[c], Z[j * q + c]);
      box[q + c] = Math.max(box[q + c], Z[j * q + c]);
    }
  }
  return box;
}
