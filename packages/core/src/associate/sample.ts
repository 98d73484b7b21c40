/** Moments of one sample of places and the checks that every density estimate needs. */
import { DtmError } from "../errors.ts";
import { solveLowerInPlace } from "../numeric/cholesky.ts";
import { columnMeans, covarianceOf } from "../numeric/moments.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";

/** Places x [n,d] row-major with their mean [d] and covariance [d,d] (divisor n − 1). */
export interface Sample {
  readonly x: Float64Array;
  readonly n: number;
  readonly d: number;
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  /** Symmetric square root of the covariance and its inverse, [d,d]. */
  readonly root: Float64Array;
  readonly inverseRoot: Float64Array;
}

/** Below this share of the largest, an eigenvalue of the correlation matrix is rounding error. */
const SINGULAR = 1e-12;

/** Describes a sample; refuses n ≤ d, columns without spread and places on a line or plane. `what` names it in errors. */
export function describeSample(x: Float64Array, d: number, what = "places"): Sample {
  const n = x.length / d;
  if (!Number.isInteger(n) || d < 1) {
    throw new DtmError("shape", `${what}: expected [n,${d}] numbers, received ${x.length}; give whole rows.`);
  }
  for (let k = 0; k < x.length; k++) {
    if (!Number.isFinite(x[k])) {
      const where = `row ${Math.floor(k / d)}, coordinate ${(k % d) + 1}`;
      throw new DtmError("not-finite", `${what}: expected finite numbers, received ${x[k]} in ${where}; leave it out.`);
    }
  }
  if (n <= d) {
    throw new DtmError(
      "too-few-individuals",
      `${what}: expected more than ${d} individuals for a density in ${d} dimensions, received ${n}; ` +
        "pool outcomes.",
    );
  }
  const mean = columnMeans(x, n, d);
  const covariance = covarianceOf(x, n, d, mean);
  for (let k = 0; k < d; k++) checkSpread(x, n, d, k, what);
  const { root, inverseRoot } = covarianceRoots(covariance, d, what);
  return { x, n, d, mean, covariance, root, inverseRoot };
}

/** out [n,d] = L⁻¹x for each row x, L lower triangular [d,d]. */
export function whitenRows(x: Float64Array, n: number, d: number, L: Float64Array): Float64Array {
  const out = x.slice();
  for (let i = 0; i < n; i++) solveLowerInPlace(L, d, out.subarray(i * d, (i + 1) * d));
  return out;
}

function checkSpread(x: Float64Array, n: number, d: number, k: number, what: string): void {
  for (let i = 1; i < n; i++) if (x[i * d + k] !== x[k]) return;
  throw new DtmError(
    "constant-column",
    `${what}: expected places that differ in every coordinate, received ${x[k]} for all ${n} individuals in ` +
      `coordinate ${k + 1}; leave that coordinate out.`,
  );
}

/** S^½ and S^−½; refuses a correlation matrix that is singular to rounding. */
function covarianceRoots(
  S: Float64Array,
  d: number,
  what: string,
): { readonly root: Float64Array; readonly inverseRoot: Float64Array } {
  const correlation = new Float64Array(d * d);
  for (let a = 0; a < d; a++) {
    for (let b = 0; b < d; b++) correlation[a * d + b] = S[a * d + b] / Math.sqrt(S[a * d + a] * S[b * d + b]);
  }
  const spread = symmetricEigen(correlation, d).values;
  if (!(spread[d - 1] > SINGULAR * spread[0])) {
    throw new DtmError(
      "singular-covariance",
      `${what}: expected places that fill ${d} dimensions, received a singular covariance; use fewer coordinates.`,
    );
  }
  const { values, vectors } = symmetricEigen(S, d);
  const root = new Float64Array(d * d);
  const inverseRoot = new Float64Array(d * d);
  for (let a = 0; a < d; a++) {
    for (let b = 0; b < d; b++) {
      for (let k = 0; k < d; k++) {
        const v = vectors[a * d + k] * vectors[b * d + k];
        root[a * d + b] += v * Math.sqrt(values[k]);
        inverseRoot[a * d + b] += v / Math.sqrt(values[k]);
      }
    }
  }
  return { root, inverseRoot };
}
