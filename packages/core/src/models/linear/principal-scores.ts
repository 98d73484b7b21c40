/**
 * The map of the linear mixed model (docs/math/linear.md §6): principal component scores of the posterior means ŵ_i.
 * With center c = mean of ŵ_i and (1/m) Σ (ŵ_i − c)(ŵ_i − c)' = Q diag(λ) Q', the scores are
 *   x_i = Λ'(ŵ_i − c),   Λ = Q_{1:q} diag(λ)^{−1/2},
 * so that each has variance one over individuals (divided by m). Sign: entry of largest magnitude in each loading
 * positive. Equal to √m A_{1:q} of the singular value decomposition W_c = ADQ'.
 */
import { multiply } from "../../numeric/matrix.ts";
import { columnSums, covarianceOf } from "../../numeric/moments.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { RowSums } from "../shards.ts";
import { fixColumnSignsInPlace } from "./canonical.ts";

/** Components with less than this share of the first one's variance carry no information: their scores are 0. */
const VARIANCE_CUTOFF = 1e-12;

export interface PrincipalScores {
  /** c [d]. */
  readonly center: Float64Array;
  /** Λ [d,q]; a column of zeros where the posterior means do not vary. */
  readonly loadings: Float64Array;
  /** x_i [m,q]. */
  readonly scores: Float64Array;
  /** Number of components that vary, at most q. */
  readonly numVarying: number;
}

/** Scores of the first q principal components of the rows of W [m,d], and of further rows where `rows` adds their sums. */
export function principalScores(
  W: Float64Array,
  m: number,
  d: number,
  q: number,
  rows: RowSums = (_, sums) => sums(0, m),
): PrincipalScores {
  const what = "coefficients of the mixed model";
  const block = (from: number, to: number) => W.subarray(from * d, to * d);
  const sums = rows(what, (from, to) => Float64Array.of(to - from, ...columnSums(block(from, to), to - from, d)));
  const center = sums.slice(1).map((s) => s / sums[0]);
  const squares = rows(what, (from, to) => covarianceOf(block(from, to), to - from, d, center, 1));
  const { values, vectors } = symmetricEigen(
    squares.map((s) => s / sums[0]),
    d,
  );
  const loadings = new Float64Array(d * q);
  let numVarying = 0;
  for (let c = 0; c < q; c++) {
    if (!(values[c] > VARIANCE_CUTOFF * values[0])) continue;
    numVarying++;
    for (let k = 0; k < d; k++) loadings[k * q + c] = vectors[k * d + c] / Math.sqrt(values[c]);
  }
  fixColumnSignsInPlace(loadings, d, q);
  const centred = W.map((w, k) => w - center[k % d]);
  const scores = multiply(centred, loadings, m, d, q);
  return { center, loadings, scores, numVarying };
}
