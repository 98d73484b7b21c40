/**
 * The kernel of the permutation test: a Gaussian with one pooled bandwidth H = S, the covariance of all places tested.
 * A bandwidth for estimating a density shrinks with the number of individuals and asks where single individuals stand;
 * two samples differ, if they do, over wide parts of a map, and a bandwidth that does not shrink finds differences of
 * the order n^−½ (Anderson, Hall & Titterington 1994). The plug-in bandwidth misses planted outcomes that this one
 * finds nearly as often as a test that knows the true groups.                      (docs/math/association.md §4)
 */
import { cholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { LOG_2PI } from "../numeric/special.ts";
import { kdeForm, MATRIX_LIMIT, type PooledKernel } from "./permutation.ts";
import { gaussFeatures, type QuadraticForm } from "./quadratic-form.ts";
import { describeSample, whitenRows } from "./sample.ts";

/** The kernel of places x [n,q] whose bandwidth is one standard deviation in every direction. */
export function wideKernel(x: Float64Array, q: number): PooledKernel {
  const { n, covariance } = describeSample(x, q, "places");
  const L = cholesky(covariance, q, "covariance of the places");
  const peak = Math.exp(-0.5 * (q * LOG_2PI + logDetFromCholesky(L, q)));
  return { z: whitenRows(x, n, q, L), peak, bandwidth: covariance };
}

/**
 * The statistic to permute for places x [n,q]: a'Ka with the wide kernel. Where it is held by centred features, its row
 * sums are those of the centred kernel; shares need `kdeForm(kernel, n)`.
 */
export function wideForm(x: Float64Array, q: number, kernel: PooledKernel = wideKernel(x, q)): QuadraticForm {
  const n = x.length / q;
  const few = n > MATRIX_LIMIT ? gaussFeatures(kernel.z, n, q, kernel.peak) : undefined;
  return few ?? kdeForm(kernel, n);
}
