/**
 * The curve of one individual over the nodes of a mixture in WebAssembly (packages/core/assembly/course.ts): moments of its
 * coefficients at every node with weight, and from them the distribution of linear functionals b'(β + w).
 */
import { type Noise, noiseLevel } from "../noise/noise.ts";
import { openKernels } from "./layout.ts";
import { COURSE } from "./layouts.ts";
import { TILE, tileCount, tileRows } from "./tiles.ts";

/** What the kernels read of a mixture (models/mixture/mixture.ts). */
export interface CourseTables {
  readonly numNodes: number; // Γ
  readonly numBasis: number; // d
  readonly means: Float64Array; // [Γ,d]
  readonly factors: Float64Array; // [Γ,d,d]
  readonly noise: Noise;
}

/** An individual: G and g, and its nodes [K] with weights that sum to one. */
export interface CourseIndividual {
  readonly gram: Float64Array; // [d,d]
  readonly cross: Float64Array; // [d]
  readonly nodes: Int32Array;
  readonly weights: Float64Array;
}

/** Components of a distribution; lanes without a node have weight zero. */
export interface SpreadFunctional {
  readonly weights: Float64Array;
  readonly means: Float64Array;
  readonly sds: Float64Array;
  /** Writes Σ w Φ((y − m)/s) and its density to out[0] and out[1]. */
  readonly sums: (y: number, out: Float64Array) => void;
}

/** Memory for a mixture, which is laid out once. */
export function openCourse(tables: CourseTables) {
  const { numBasis: d, numNodes: n } = tables;
  const memory = openKernels(COURSE, { numBasis: d, numTiles: tileCount(n) });
  const { buffers } = memory;
  tileRows(tables.factors, n, d * d, buffers.factors);
  tileRows(tables.means, n, d, buffers.means);
  buffers.noise[0] = noiseLevel(tables.noise);
  memory.run.fillNormals();
  return memory;
}

/**
 * Functionals b'(β + w) + N(0, added variance) of an individual, b = rows[offset..offset+d), level = b'β. What is returned serves until the
 * next functional, and the function until the next individual.
 */
export function courseFunctionals(
  { buffers, sizes, run }: ReturnType<typeof openCourse>,
  { gram, cross, nodes, weights }: CourseIndividual,
): (rows: Float64Array, offset: number, level: number, addedVariance: number) => SpreadFunctional {
  const { active, weights: shares, row, sums } = buffers;
  buffers.gram.set(gram);
  buffers.cross.set(cross);
  let count = 0;
  for (let k = 0; k < nodes.length; k++) {
    const tile = nodes[k] >> 2;
    if (count === 0 || active[count - 1] !== tile) {
      shares.fill(0, count * TILE, (count + 1) * TILE);
      active[count++] = tile;
    }
    shares[(count - 1) * TILE + (nodes[k] & 3)] = weights[k];
  }
  run.conditionTiles(count);
  const size = count * TILE;
  const components = {
    weights: shares.subarray(0, size),
    means: buffers.centers.subarray(0, size),
    sds: buffers.deviations.subarray(0, size),
    sums: (y: number, out: Float64Array): void => {
      run.sumNormals(count, y);
      out[0] = sums[0];
      out[1] = sums[1];
    },
  };
  return (rows, offset, level, addedVariance) => {
    for (let k = 0; k < sizes.numBasis; k++) row[k] = rows[offset + k];
    run.spreadFunctional(count, level, addedVariance);
    return components;
  };
}
