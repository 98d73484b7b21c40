/**
 * Statistics of many individuals in WebAssembly (packages/core/assembly/statistics.ts; the definition is basis/statistics.ts), block by
 * block. Bits are those of the definition wherever log and exp of the engine are fdlibm's (V8); elsewhere some differ in the last
 * place.
 */
import { openKernels } from "./layout.ts";
import { VISITS } from "./layouts.ts";

/** What the kernels read of a basis (basis/bspline.ts). */
export interface SplineTable {
  readonly degree: number;
  readonly numBasis: number;
  readonly knots: Float64Array;
}

/** Visits of all individuals, those of i at offsets[i]..offsets[i+1] in order of time. */
export interface VisitSeries {
  readonly offsets: ArrayLike<number>; // [m + 1]
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Columns of statistics, each with the same number of entries for every individual. */
export interface VisitColumns {
  readonly gram: Float64Array; // [m,numBand]
  readonly cross: Float64Array; // [m,d]
  readonly sumSquares: Float64Array; // [m]
  readonly logDets: Float64Array; // [m]
}

/** Transforms by the numbers that kernels know them by. */
const TRANSFORMS = ["identity", "log", "log1p", "sqrt", "logit"] as const;

/** Individuals per call at most, and visits unless one individual has more. */
const BLOCK = 512;
const VISITS_AT_ONCE = 4096;

/** Fewer individuals are not worth laying out. */
export const FEWEST_INDIVIDUALS = 64;

/** Values on the scale of the model. */
export function transformValues(values: Float64Array, transform: (typeof TRANSFORMS)[number]): Float64Array {
  const { buffers, run } = openKernels(VISITS, {
    ...{ numBasis: 0, degree: 0, numBand: 0, block: 0, numVisits: VISITS_AT_ONCE },
    transform: TRANSFORMS.indexOf(transform),
  });
  const out = new Float64Array(values.length);
  for (let from = 0; from < values.length; from += VISITS_AT_ONCE) {
    const part = values.subarray(from, from + VISITS_AT_ONCE);
    buffers.values.set(part);
    run.transformVisits(part.length);
    out.set(buffers.values.subarray(0, part.length), from);
  }
  return out;
}

/** Statistics of values on the scale of the model; `correlation` where visits correlate, and then all pairs are in the band. */
export function visitColumns(
  { degree, numBasis, knots }: SplineTable,
  { offsets, times, values }: VisitSeries,
  { center, numBand }: { readonly center: number; readonly numBand: number },
  correlation?: { readonly range: number; readonly whiteShare: number },
): VisitColumns {
  const m = offsets.length - 1;
  let mostVisits = VISITS_AT_ONCE;
  for (let i = 0; i < m; i++) mostVisits = Math.max(mostVisits, offsets[i + 1] - offsets[i]);
  const sizes = { numBasis, degree, numBand, block: BLOCK, numVisits: mostVisits, transform: 0 };
  const { buffers, run } = openKernels(VISITS, sizes);
  buffers.knots.set(knots);
  buffers.center[0] = center;
  if (correlation !== undefined) buffers.correlation.set([correlation.range, correlation.whiteShare]);
  const out = {
    gram: new Float64Array(m * numBand),
    cross: new Float64Array(m * numBasis),
    sumSquares: new Float64Array(m),
    logDets: new Float64Array(m),
  };
  for (let first = 0; first < m; ) {
    const start = offsets[first];
    let size = 0;
    for (; size < BLOCK && first + size < m && offsets[first + size + 1] - start <= mostVisits; size++) {
      buffers.offsets[size] = offsets[first + size] - start;
    }
    const end = offsets[first + size];
    buffers.offsets[size] = end - start;
    buffers.times.set(times.subarray(start, end));
    buffers.values.set(values.subarray(start, end));
    if (correlation === undefined) run.sumVisits(size);
    else run.whitenVisits(size);
    out.gram.set(buffers.gram.subarray(0, size * numBand), first * numBand);
    out.cross.set(buffers.cross.subarray(0, size * numBasis), first * numBasis);
    out.sumSquares.set(buffers.squares.subarray(0, size), first);
    out.logDets.set(buffers.logDets.subarray(0, size), first);
    first += size;
  }
  return out;
}
