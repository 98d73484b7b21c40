/**
 * One engine for all linear models (docs/math/linear.md §1):
 *   y_i = B_i β + B_i L v_i + e_i,   v_i ~ N(0, I_r),   e_i ~ N(0, σ² I),   L [d,r] of any rank, singular allowed.
 * r = d is the linear mixed model (Σ = LL'), r = q the reduced-rank model (L = F). No n_i x n_i matrix is formed. With
 *   T_i = G_iL,   A_i = σ² I + L'T_i = C_iC_i',   z_i = C_i⁻¹L'g_i,   v̂_i = C_i⁻ᵀz_i,
 *   log p(y_i) = −½ [ n_i log 2π + (n_i − r) log σ² + 2 Σ_j log C_i,jj + (ρ_i − z_i'z_i)/σ² ],
 *   v_i | y_i ~ N(v̂_i, σ² A_i⁻¹),   w_i = L v_i.
 * Cost per individual O(d r (r + degree)), whatever the number of observations. effects.ts averages this over levels of noise.
 */

import { type CoefficientStatistics, residualStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { type Noise, noiseConstants, noiseLevel } from "../../noise/noise.ts";
import {
  choleskyInPlace,
  invertFromCholesky,
  logDetFromCholesky,
  solveLowerInPlace,
  solveLowerTransposeInPlace,
} from "../../numeric/cholesky.ts";
import { dot } from "../../numeric/matrix.ts";

/** Parameters of a linear model. */
export interface LowRankParameters {
  /** β [d]; a scalar mean μ is μ·1. */
  readonly meanCoefficients: Float64Array;
  readonly noise: Noise;
  /** L [d,r]. */
  readonly factor: Float64Array;
  /** r. */
  readonly rank: number;
}

/** Buffers for one individual at a time. */
export interface LowRankWorkspace {
  readonly d: number;
  readonly r: number;
  readonly g: Float64Array; // [d]
  readonly T: Float64Array; // G L, [d,r]
  readonly C: Float64Array; // lower, [r,r]
  readonly z: Float64Array; // [r]
  readonly v: Float64Array; // v̂, [r]
  readonly P: Float64Array; // A⁻¹, [r,r]
  readonly scratch: Float64Array; // [r,r]
  /** ρ of the last individual. */
  sumSquares: number;
}

/** Workspace for a pass over the individuals; refuses parameters of another basis. */
export function createWorkspace(statistics: CoefficientStatistics, parameters: LowRankParameters): LowRankWorkspace {
  const d = statistics.basis.numBasis;
  const { rank: r, factor, meanCoefficients } = parameters;
  if (factor.length !== d * r || meanCoefficients.length !== d) {
    throw new DtmError(
      "shape",
      `Linear model: expected a factor of ${d} x ${r} and ${d} mean coefficients, received ${factor.length} and ${meanCoefficients.length} numbers. Use parameters and statistics of one basis.`,
    );
  }
  return {
    d,
    r,
    g: new Float64Array(d),
    T: new Float64Array(d * r),
    C: new Float64Array(r * r),
    z: new Float64Array(r),
    v: new Float64Array(r),
    P: new Float64Array(r * r),
    scratch: new Float64Array(r * r),
    sumSquares: 0,
  };
}

/**
 * Kernel: writes g, T, C, z and ρ of individual i to the workspace and returns log p(y_i); NaN if A_i is numerically not
 * positive definite.
 */
export function factorIndividual(
  statistics: CoefficientStatistics,
  i: number,
  parameters: LowRankParameters,
  ws: LowRankWorkspace,
): number {
  const { d, r, g, T, C, z } = ws;
  const { numBand, bandRow, bandColumn, gram } = statistics;
  const { factor: L, noise } = parameters;
  const sigma2 = noiseLevel(noise);
  ws.sumSquares = residualStatistics(statistics, i, parameters.meanCoefficients, g);

  // T = G L by the band of G.
  T.fill(0);
  const offset = i * numBand;
  for (let j = 0; j < numBand; j++) {
    const G = gram[offset + j];
    const k = bandRow[j];
    const l = bandColumn[j];
    for (let c = 0; c < r; c++) T[k * r + c] += G * L[l * r + c];
    if (k !== l) for (let c = 0; c < r; c++) T[l * r + c] += G * L[k * r + c];
  }

  // A = σ² I + L'T (lower triangle) into C, b = L'g into z.
  C.fill(0);
  for (let a = 0; a < r; a++) {
    z[a] = 0;
    C[a * r + a] = sigma2;
  }
  for (let k = 0; k < d; k++) {
    for (let a = 0; a < r; a++) {
      const l = L[k * r + a];
      z[a] += l * g[k];
      for (let c = 0; c <= a; c++) C[a * r + c] += l * T[k * r + c];
    }
  }

  if (!choleskyInPlace(C, r)) return Number.NaN;
  solveLowerInPlace(C, r, z);
  const logDet = logDetFromCholesky(C, r) - r * Math.log(sigma2);
  return noiseConstants(noise, statistics)(i) - 0.5 * (logDet + (ws.sumSquares - dot(z, z)) / sigma2);
}

/** Kernel: writes v̂ = C⁻ᵀz and P = A⁻¹ = C⁻ᵀC⁻¹ of the individual factored last. */
export function solvePosterior({ r, C, z, v, P, scratch }: LowRankWorkspace): void {
  v.set(z);
  solveLowerTransposeInPlace(C, r, v);
  invertFromCholesky(C, r, P, scratch);
}

/** The complaint that some A_i was not positive definite. */
export function notPositive(noises: readonly Noise[]): DtmError {
  return new DtmError(
    "not-positive-definite",
    `Linear model: expected a noise variance that is positive and not negligible beside the signal, received ${noises.map(noiseLevel).join(", ")}. Check for values that repeat exactly.`,
  );
}
