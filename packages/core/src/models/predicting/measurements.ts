/**
 * New measurements of a placed individual whose noise is correlated with that of its visits (docs/math/noise.md §6). With the mean of
 * the noise at t linear in the rows (B, y − center) of the visits (noise/serial.ts),
 *   y(t) = (b − m^B)'(β + w) + m^y + center · 1'm^B + noise of variance s v(t),
 * so a measurement is a functional of the curve like any other, with a shift and a variance of its own.
 */
import { designMatrix } from "../../basis/bspline.ts";
import { visitRows } from "../../basis/visit-columns.ts";
import { givenNoise } from "../../noise/serial.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import type { MarkerModel } from "../fit.ts";
import type { GivenMeasurement } from "../mixture/curve-distribution.ts";
import type { VisitHistory } from "../placement.ts";

export interface Measurements {
  /** b, or b − m^B, [T,d]. */
  readonly rows: Float64Array;
  /** Shift and variance of each, where they depend on the visits. */
  readonly given?: readonly GivenMeasurement[];
  /** For draws: what each takes of the values y − center of those before it, [T,T]. */
  readonly carried?: Float64Array;
}

/**
 * Values at the times given the visits: of the curve, or of new measurements if `measured`, for draws of all of them `jointly`. The
 * curve may be held at other times than those of the measurements.
 */
export function measurementsAt(
  { basis, noise, center }: Pick<MarkerModel, "basis" | "noise" | "center">,
  { visits = NO_VISITS }: { readonly visits?: VisitHistory },
  times: ArrayLike<number>,
  measured: boolean,
  jointly = false,
  curveTimes = times,
): Measurements {
  const rows = designMatrix(basis, Float64Array.from(curveTimes));
  const { correlation } = noise;
  if (!measured || correlation === undefined || (visits.times.length === 0 && !jointly)) return { rows };
  const d = basis.numBasis;
  const T = times.length;
  const { times: seen, values, weights } = visits;
  const history = { times: seen, rows: visitRows(basis, seen, values, center), ...(weights && { weights }) };
  const own = jointly ? visitRows(basis, times, new Float64Array(T).fill(center), center) : undefined;
  const found = givenNoise(history, correlation, times, own);
  const given = found.map(({ mean, variance }, t) => {
    let shift = mean[d];
    for (let k = 0; k < d; k++) {
      rows[t * d + k] -= mean[k];
      shift += center * mean[k];
    }
    return { shift, variance };
  });
  return { rows, given, ...(jointly ? { carried: joinFloats(found.map(({ mean }) => mean.subarray(d + 1))) } : {}) };
}

const NO_VISITS: VisitHistory = { times: new Float64Array(0), values: new Float64Array(0) };
