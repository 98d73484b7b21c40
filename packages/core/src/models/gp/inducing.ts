/**
 * Inducing points z_1..z_p of the sparse Gaussian process, rows of Z [p,q]: a regular grid, the centres of a k-means
 * clustering of the starting places, or given ones.
 *
 * Default grids keep the spacing at the starting length-scale 1 or below, since the bound falls quickly when they are
 * coarser: 9 on [−2,2] for q = 1; 5×5 on [−2,2]² for q = 2; for q = 3, where every global step costs (dp)³, 4×4×4 on
 * [−1.5,1.5]³ (spacing 1 with 64 points instead of 125).
 */
import { kmeans } from "ml-kmeans";
import { checkOption } from "../../errors.ts";
import { createRandom } from "../../numeric/random.ts";

/** How to place inducing points. */
export type InducingOptions =
  | {
      readonly placement: "grid";
      /** Points per axis. Default 9, 5, 4 for q = 1, 2, 3. */
      readonly perDimension?: number;
      /** The grid covers [−halfWidth, halfWidth] on each axis. Default 2, 2, 1.5 for q = 1, 2, 3. */
      readonly halfWidth?: number;
    }
  | {
      readonly placement: "kmeans";
      /** Number of centres p. Default as many as the default grid has. */
      readonly count?: number;
    }
  | {
      readonly placement: "given";
      /** Z, rows are places, [p][q]. */
      readonly locations: readonly (readonly number[])[];
    };

/** Inducing points and how many there are. */
interface InducingPlaces {
  readonly locations: Float64Array; // Z [p,q]
  readonly count: number; // p
}

const DEFAULT_PER_DIMENSION = [9, 5, 4];
const DEFAULT_HALF_WIDTH = [2, 2, 1.5];
/** k-means reads at most this many places: centres of a sample are as good, and cost does not grow with m. */
const MAX_CLUSTERED = 5000;

/** Z of the given options; `places` X [m,q] are where individuals start and are read by "kmeans" alone. */
export function placeInducing(
  options: InducingOptions,
  q: number,
  places: Float64Array,
  seed: number,
  where = "placeInducing",
): InducingPlaces {
  if (options.placement === "given") return givenLocations(options.locations, q, where);
  const perDimension = DEFAULT_PER_DIMENSION[q - 1];
  if (options.placement === "kmeans") {
    const p = options.count ?? perDimension ** q;
    return { locations: kmeansLocations(places, q, p, seed, where), count: p };
  }
  const { perDimension: g = perDimension, halfWidth = DEFAULT_HALF_WIDTH[q - 1] } = options;
  checkOption(
    Number.isInteger(g) && g >= 2,
    where,
    "inducing.perDimension of 2 or more",
    g,
    "Use 5 for two dimensions.",
  );
  checkOption(halfWidth > 0, where, "inducing.halfWidth above 0", halfWidth, "Use 2: places have unit variance.");
  return { locations: gridLocations(q, g, halfWidth), count: g ** q };
}

/** A regular grid with `perDimension` points per axis on [−halfWidth, halfWidth]^q, first dimension slowest. */
export function gridLocations(q: number, perDimension: number, halfWidth = 2): Float64Array {
  const p = perDimension ** q;
  const Z = new Float64Array(p * q);
  for (let j = 0; j < p; j++) {
    let rest = j;
    for (let c = q - 1; c >= 0; c--) {
      const k = rest % perDimension;
      rest = (rest - k) / perDimension;
      Z[j * q + c] = perDimension > 1 ? -halfWidth + (2 * halfWidth * k) / (perDimension - 1) : 0;
    }
  }
  return Z;
}

/** Centres of a seeded k-means clustering of places X [m,q], sorted by coordinates, [p,q]. */
export function kmeansLocations(
  X: Float64Array,
  q: number,
  p: number,
  seed: number,
  where = "kmeansLocations",
): Float64Array {
  const m = X.length / q;
  const points: number[][] = [];
  const chosen = m > MAX_CLUSTERED ? createRandom(seed).permutation(m).subarray(0, MAX_CLUSTERED).sort() : null;
  for (let n = 0; n < (chosen?.length ?? m); n++) {
    const i = chosen === null ? n : chosen[n];
    points.push(Array.from(X.subarray(i * q, (i + 1) * q)));
  }
  const distinct = new Set(points.map((x) => x.join(" "))).size;
  checkOption(
    Number.isInteger(p) && p >= 1 && p <= distinct,
    where,
    `a number of k-means centres between 1 and ${distinct} (the number of distinct starting places)`,
    p,
    "Ask for fewer centres or use a grid.",
  );
  const { centroids } = kmeans(points, p, { seed: Math.abs(Math.trunc(seed)) % 2 ** 31, maxIterations: 100 });
  centroids.sort((a, b) => {
    const c = a.findIndex((x, k) => x !== b[k]);
    return c < 0 ? 0 : a[c] - b[c];
  });
  return Float64Array.from(centroids.flat());
}

function givenLocations(locations: readonly (readonly number[])[], q: number, where: string): InducingPlaces {
  const ok = locations.length > 0 && locations.every((z) => z.length === q && z.every(Number.isFinite));
  const received = `${locations.length} rows, the first of length ${locations[0]?.length ?? 0}`;
  checkOption(
    ok,
    where,
    `inducing points as rows of ${q} finite numbers`,
    received,
    "Give one row per inducing point.",
  );
  return { locations: Float64Array.from(locations.flat()), count: locations.length };
}
