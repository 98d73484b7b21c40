/**
 * The mean function in the linear models: a constant μ (β = μ·1) or a spline with free β. Both are least squares
 * against residuals, with Σ_i G_i as normal matrix (docs/math/linear.md §2):
 *   scalar: δ = 1'E / N,   spline: δ = (Σ G_i)⁺ E,   where E = Σ_i B_i'(residuals of i).
 */
import { type BasisStatistics, pooledGram } from "../../basis/statistics.ts";
import { pseudoInverse } from "../../numeric/semidefinite.ts";
import { compensatedSum } from "../../numeric/sum.ts";

/** A constant population mean (published) or a mean curve. */
export type MeanKind = "scalar" | "spline";

export interface MeanProblem {
  readonly kind: MeanKind;
  /** Number of free mean parameters: 1 or d. */
  readonly numFree: number;
  /** Σ_i G_i [d,d]. */
  readonly gram: Float64Array;
  /** Its pseudo-inverse for a spline mean, [d,d]; empty for a scalar one. */
  readonly inverse: Float64Array;
  /** Mean coefficients that the times cannot determine (0 unless the spline's normal matrix is singular). */
  readonly numUndetermined: number;
}

/** Σ_i G_i [d,d] and its inverse, once per fit. */
export function prepareMean(statistics: BasisStatistics, kind: MeanKind): MeanProblem {
  const d = statistics.basis.numBasis;
  const gram = pooledGram(statistics);
  if (kind === "scalar") return { kind, numFree: 1, gram, inverse: new Float64Array(0), numUndetermined: 0 };
  const { inverse, rank } = pseudoInverse(gram, d);
  return { kind, numFree: d, gram, inverse, numUndetermined: d - rank };
}

/** The shift δ [d] of the mean coefficients that fits residuals with E = Σ_i B_i'(residuals) best. */
export function meanShift(problem: MeanProblem, E: Float64Array, numObservations: number): Float64Array {
  const d = E.length;
  const shift = new Float64Array(d);
  if (problem.kind === "scalar") {
    let s = 0;
    for (let k = 0; k < d; k++) s += E[k];
    return shift.fill(s / numObservations);
  }
  for (let k = 0; k < d; k++) for (let l = 0; l < d; l++) shift[k] += problem.inverse[k * d + l] * E[l];
  return shift;
}

/** Σ_i ‖residuals‖² changes by −2δ'E + δ'(ΣG)δ when the mean moves by δ. */
export function misfitChange(problem: MeanProblem, E: Float64Array, shift: Float64Array): number {
  const d = E.length;
  let change = 0;
  for (let k = 0; k < d; k++) {
    let s = -2 * E[k];
    for (let l = 0; l < d; l++) s += problem.gram[k * d + l] * shift[l];
    change += s * shift[k];
  }
  return change;
}

/** Least-squares mean coefficients [d] of the pooled observations, and their residual variance (divided by N). */
export function pooledMean(
  statistics: BasisStatistics,
  problem: MeanProblem,
): { meanCoefficients: Float64Array; variance: number } {
  const { numIndividuals: m, numObservations: N, cross, sumSquares, center } = statistics;
  const d = statistics.basis.numBasis;
  const E = new Float64Array(d);
  for (let i = 0; i < m; i++) for (let k = 0; k < d; k++) E[k] += cross[i * d + k];
  const shift = meanShift(problem, E, N);
  const variance = (compensatedSum(sumSquares) + misfitChange(problem, E, shift)) / N;
  return { meanCoefficients: shift.map((b) => center + b), variance: Math.max(variance, 0) };
}
