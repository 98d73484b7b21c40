/**
 * Canonical factors (docs/math/linear.md §4). The likelihood knows L only through Σ = LL': of all L Q with Q orthogonal
 * we keep the one with orthogonal columns, longest first, the entry of largest magnitude of each column positive.
 * That is AD of the singular value decomposition L = ADQ'.
 */
import { multiply, multiplyTransposed, transpose } from "../../numeric/matrix.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { LinearParameters } from "./stack.ts";

/** Columns shorter than this share of the longest (squared) count as zero. */
const RANK_CUTOFF = 1e-9;

/** AD [d,r] of L = ADQ', signs by the rule. */
export function canonicalFactor(L: Float64Array, d: number, r: number): Float64Array {
  const LtL = multiply(transpose(L, d, r), L, r, d, r);
  const F = multiply(L, symmetricEigen(LtL, r).vectors, d, r, r);
  fixColumnSignsInPlace(F, d, r);
  return F;
}

/** Flips columns of F [d,r] so that the entry of largest magnitude in each is positive. */
export function fixColumnSignsInPlace(F: Float64Array, d: number, r: number): void {
  for (let a = 0; a < r; a++) {
    let largest = 0;
    for (let k = 0; k < d; k++) if (Math.abs(F[k * r + a]) > Math.abs(largest)) largest = F[k * r + a];
    if (largest < 0) for (let k = 0; k < d; k++) F[k * r + a] = -F[k * r + a];
  }
}

/** Σ = LL' [d,d]. */
export function factorCovariance(L: Float64Array, d: number, r: number): Float64Array {
  return multiplyTransposed(L, L, d, r, d);
}

/** Number of directions in which L varies: columns of the canonical factor that are not negligible. */
export function numericalRank(L: Float64Array, d: number, r: number): number {
  const F = canonicalFactor(L, d, r);
  const lengths = new Float64Array(r); // squared
  for (let k = 0; k < d; k++) for (let a = 0; a < r; a++) lengths[a] += F[k * r + a] * F[k * r + a];
  return lengths.filter((length) => length > RANK_CUTOFF * lengths[0]).length;
}

/** The same mean and noise with the leading q directions of Σ = LL', longest first; zeros beyond the rank of L. */
export function leadingStart(parameters: LinearParameters, q: number): LinearParameters {
  const { factor, rank: r, meanCoefficients } = parameters;
  const d = meanCoefficients.length;
  const F = canonicalFactor(factor, d, r);
  const leading = new Float64Array(d * q);
  for (let k = 0; k < d; k++) for (let a = 0; a < Math.min(r, q); a++) leading[k * q + a] = F[k * r + a];
  return { ...parameters, factor: leading, rank: q };
}
