/**
 * The curve of one individual over the nodes of a mixture in WebAssembly (packages/core/assembly/course.ts): moments of its
 * coefficients at every node and noise level with weight, and from them the distribution of linear functionals b'(β + w).
 */
import { openKernels } from "./layout.ts";
import { COURSE } from "./layouts.ts";
import { TILE, tileCount, tileRows } from "./tiles.ts";

/** What the kernels read of a mixture (models/mixture/mixture.ts). */
export interface CourseTables {
  readonly numNodes: number; // Γ
  readonly numBasis: number; // d
  readonly means: Float64Array; // [Γ,d]
  readonly factors: Float64Array; // [Γ,d,d]
}

/** An individual: G and g, and its components kΓ + g, node g at noise level k, with weights that sum to one and noise variances, [C]. */
export interface CourseIndividual {
  readonly gram: Float64Array; // [d,d]
  readonly cross: Float64Array; // [d]
  readonly components: Int32Array;
  readonly shares: Float64Array;
  readonly noiseVariances: Float64Array;
}

/** Components of a distribution; lanes without a node have weight zero. */
export interface SpreadFunctional {
  readonly weights: Float64Array;
  readonly means: Float64Array;
  readonly sds: Float64Array;
  /** Writes Σ w Φ((y − m)/s) and its density to out[0] and out[1]. */
  readonly sums: (y: number, out: Float64Array) => void;
}

/**
 * Functionals b'(β + w) + noise of an individual, b = rows[offset..offset+d), level = b'β, its noise a multiple of that of the component. What
 * is returned serves until the next functional.
 */
export type CourseFunctionals = (rows: Float64Array, offset: number, level: number, noise: number) => SpreadFunctional;

/**
 * Functionals of one individual after the other; those of one serve until the next. Memory for the mixture is laid out once, and anew when
 * somebody has weight in more tiles and levels than anybody before.
 */
export function openCourse(tables: CourseTables): (individual: CourseIndividual) => CourseFunctionals {
  let numActive = tileCount(tables.numNodes);
  let memory = layOut(tables, numActive);
  return (individual) => {
    const found = activeTiles(individual, tables.numNodes);
    if (found.count > numActive) {
      numActive = Math.max(found.count, 2 * numActive);
      memory = layOut(tables, numActive);
    }
    return courseFunctionals(memory, individual, found, tables.numNodes);
  };
}

function layOut(tables: CourseTables, numActive: number) {
  const { numBasis, numNodes: n } = tables;
  const memory = openKernels(COURSE, { numBasis, numTiles: tileCount(n), numActive });
  const { buffers } = memory;
  tileRows(tables.factors, n, numBasis * numBasis, buffers.factors);
  tileRows(tables.means, n, numBasis, buffers.means);
  memory.run.fillNormals();
  return memory;
}

/** Where the tile of a node at a level stands among those that are active, [tile, level], all levels of a tile together. */
function activeTiles({ components }: CourseIndividual, n: number) {
  const numLevels = Math.floor(components[components.length - 1] / n) + 1;
  const places = new Int32Array(tileCount(n) * numLevels);
  const slots = components.map((e) => ((e % n) >> 2) * numLevels + Math.floor(e / n));
  for (const slot of slots) places[slot] = 1;
  let count = 0;
  for (let slot = 0; slot < places.length; slot++) if (places[slot] === 1) places[slot] = count++;
  return { count, places: slots.map((slot) => places[slot]) };
}

function courseFunctionals(
  { buffers, sizes, run }: ReturnType<typeof layOut>,
  { gram, cross, components, shares, noiseVariances }: CourseIndividual,
  { count, places }: ReturnType<typeof activeTiles>,
  n: number,
): CourseFunctionals {
  const { active, noises, weights, row, sums } = buffers;
  buffers.gram.set(gram);
  buffers.cross.set(cross);
  const size = count * TILE;
  weights.fill(0, 0, size);
  places.forEach((place, c) => {
    const node = components[c] % n;
    active[place] = node >> 2;
    noises[place] = noiseVariances[c];
    weights[place * TILE + (node & 3)] = shares[c];
  });
  run.conditionTiles(count);
  const found = {
    weights: weights.subarray(0, size),
    means: buffers.centers.subarray(0, size),
    sds: buffers.deviations.subarray(0, size),
    sums: (y: number, out: Float64Array): void => {
      run.sumNormals(count, y);
      out[0] = sums[0];
      out[1] = sums[1];
    },
  };
  return (rows, offset, level, noise) => {
    for (let k = 0; k < sizes.numBasis; k++) row[k] = rows[offset + k];
    run.spreadFunctional(count, level, noise);
    return found;
  };
}
