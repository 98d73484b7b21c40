/**
 * One estimate from M analyses of drawn data (Rubin 1987). With estimates Q_m and variances U_m,
 *   Q̄ = mean Q_m,   W = mean U_m,   B = Σ (Q_m − Q̄)²/(M − 1),   T = W + (1 + 1/M) B,
 *   λ = (1 + 1/M) B/T,   ν_M = (M − 1)/λ²,   ν_o = (1 − λ) ν (ν + 1)/(ν + 3)   for ν degrees with complete data,
 *   1/ν* = 1/ν_M + 1/ν_o   (Barnard and Rubin 1999),
 * and (Q − Q̄)/√T about Student's t on ν*. The fraction of missing information is (r + 2/(ν* + 3))/(r + 1), r = (1 + 1/M) B/W.
 *                                                                                        (docs/math/survival.md §10)
 */
import { checkOption, DtmError } from "../errors.ts";
import { studentQuantile, studentTwoSided } from "./special.ts";

export interface PooledEstimate {
  readonly estimate: number;
  readonly standardError: number; // √T
  readonly withinVariance: number; // W
  readonly betweenVariance: number; // B
  readonly degrees: number; // ν*
  readonly missingInformation: number;
  readonly lower: number;
  readonly upper: number;
  /** Of zero. */
  readonly pValue: number;
}

/** Rubin's rules for one parameter; `completeDegrees` ν, default infinite. */
export function poolEstimates(
  estimates: ArrayLike<number>,
  variances: ArrayLike<number>,
  { completeDegrees = Number.POSITIVE_INFINITY, level = 0.95 } = {},
): PooledEstimate {
  const M = estimates.length;
  if (M < 2 || variances.length !== M) {
    throw new DtmError(
      "shape",
      `poolEstimates: expected two or more estimates with a variance each, received ${M} and ${variances.length}.`,
    );
  }
  checkOption(level > 0 && level < 1, "poolEstimates: level", "a share between 0 and 1", level, "Try 0.95.");
  const mean = (x: ArrayLike<number>) => Array.from(x).reduce((a, b) => a + b, 0) / M;
  const estimate = mean(estimates);
  const W = mean(variances);
  const B = Array.from(estimates).reduce((sum, q) => sum + (q - estimate) ** 2, 0) / (M - 1);
  const added = (1 + 1 / M) * B;
  const total = W + added;
  const lambda = added / total;
  const nu = completeDegrees;
  const observed = Number.isFinite(nu) ? ((1 - lambda) * nu * (nu + 1)) / (nu + 3) : nu;
  const degrees = 1 / (lambda ** 2 / (M - 1) + 1 / observed);
  const r = added / W;
  const standardError = Math.sqrt(total);
  const half = studentQuantile(0.5 + 0.5 * level, degrees) * standardError;
  return {
    estimate,
    standardError,
    withinVariance: W,
    betweenVariance: B,
    degrees,
    missingInformation: Number.isFinite(degrees) ? (r + 2 / (degrees + 3)) / (r + 1) : lambda,
    lower: estimate - half,
    upper: estimate + half,
    pValue: studentTwoSided(estimate / standardError, degrees),
  };
}
