/**
 * Effects of covariates in the mean of the map (docs/math/covariates.md §3). The coefficients of individual i and marker k have the mean
 * A_ik(β_k, γ_k), A_ik = [D_k, z_i1H_k, …, z_iPH_k] (columns of models/mean.ts). With f̄_i and Cov f over the responsibilities of a pass,
 *   score  s_ik = A_ik'(g̃_ik − G̃_ik f̄_ik),   complete information  I^c_k = Σ_i A_ik'G̃_ikA_ik,
 *   observed (Louis)  I = I^c − Σ_i U_i'C_iU_i,   U_i = blockdiag_k G̃_ikA_ik,   C_i = Cov(f_i1, …, f_iK), [D,D].
 * Σ s is the gradient of the bound with the map held fixed and I^c its curvature for fixed responsibilities, in which an EM step is exact.
 * With C_i over nodes alone I is minus the Hessian of the bound; for intervals C_i holds the uncertainty of the map too.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { addTo, multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import type { EffectColumns, MeanDesign } from "../mean.ts";
import { type IndividualModel, individualStatistics, packedStride } from "./individual-statistics.ts";
import { type LevelSquares, levelStatistics } from "./level-statistics.ts";

/** What the mean of a marker is made of: D [d,s], null to leave it out, and H [d,h]. */
export interface MeanParts {
  readonly mean: MeanDesign | null;
  readonly effect: EffectColumns;
}

/** A_i [d,S] of an individual with covariates z [P]. */
export function individualDesign({ mean, effect }: MeanParts, z: ArrayLike<number>, d: number): Float64Array {
  const s = mean?.numColumns ?? 0;
  const { columns: H, h } = effect;
  const S = s + h * z.length;
  const A = new Float64Array(d * S);
  for (let k = 0; k < d; k++) {
    if (mean !== null) A.set(mean.columns.subarray(k * s, (k + 1) * s), k * S);
    for (let c = 0; c < z.length; c++) {
      for (let t = 0; t < h; t++) A[k * S + s + c * h + t] = z[c] * H[k * h + t];
    }
  }
  return A;
}

/** What of an individual and a marker says something of the mean. */
export interface MeanEvidence {
  /** s = A'(g̃ − G̃f̄), [S]. */
  readonly score: Float64Array;
  /** A'G̃A, [S,S]. */
  readonly complete: Float64Array;
  /** G̃A, [d,S]. */
  readonly weighted: Float64Array;
}

/** The evidence of packed statistics (g̃, G̃), f̄ [d] and A [d,S]. */
export function meanEvidence(row: Float64Array, fitted: Float64Array, design: Float64Array): MeanEvidence {
  const d = fitted.length;
  const S = design.length / d;
  const gram = new Float64Array(d * d);
  for (let k = 0, e = d; k < d; k++) {
    for (let l = k; l < d; l++, e++) {
      gram[k * d + l] = row[e];
      gram[l * d + k] = row[e];
    }
  }
  const explained = multiplyVector(gram, fitted, d, d);
  const open = explained.map((v, k) => row[k] - v);
  const At = transpose(design, d, S);
  const weighted = multiply(gram, design, d, d, S);
  return { score: multiplyVector(At, open, S, d), complete: multiply(At, weighted, S, d, S), weighted };
}

/** Adds U'CU of one individual to `sum` [S,S], for the parts of all markers and C [D,D]. */
export function addLostInformation(parts: readonly MeanEvidence[], covariance: Float64Array, sum: Float64Array): void {
  const widths = parts.map(({ score }) => score.length);
  const heights = parts.map(({ weighted, score }) => weighted.length / score.length);
  const S = widths.reduce((total, v) => total + v, 0);
  const D = heights.reduce((total, v) => total + v, 0);
  const U = new Float64Array(D * S);
  let [row, column] = [0, 0];
  parts.forEach(({ weighted }, k) => {
    for (let a = 0; a < heights[k]; a++) {
      U.set(weighted.subarray(a * widths[k], (a + 1) * widths[k]), (row + a) * S + column);
    }
    row += heights[k];
    column += widths[k];
  });
  const lost = multiply(transpose(U, D, S), multiply(covariance, U, D, D, S), S, D, S);
  for (let e = 0; e < lost.length; e++) sum[e] += lost[e];
}

/** Σ s [S] and I^c [S,S] of some individuals. */
export interface EffectSums {
  readonly score: Float64Array;
  readonly complete: Float64Array;
}

/** The sums for γ of one marker, from moments [m,K] and covariates z [m,P]; squares where noise has levels. */
export function effectSums(
  statistics: BasisStatistics,
  model: IndividualModel,
  moments: Float64Array,
  effect: EffectColumns,
  z: Float64Array,
  squares?: LevelSquares,
): EffectSums {
  const d = statistics.basis.numBasis;
  const { numIndividuals: m } = statistics;
  const P = z.length / m;
  const S = effect.h * P;
  const sums = { score: new Float64Array(S), complete: new Float64Array(S * S) };
  const stride = packedStride(d);
  for (let i = 0; i < m; i++) {
    if (statistics.counts[i] === 0) continue;
    const row = rowOf(statistics, i, model, squares?.before);
    const design = individualDesign({ mean: null, effect }, z.subarray(i * P, (i + 1) * P), d);
    const { score, complete } = meanEvidence(row, moments.subarray(i * stride, i * stride + d), design);
    addTo(sums.score, score);
    addTo(sums.complete, complete);
  }
  return sums;
}

/** (g̃, G̃) of an individual in a pass. */
export function rowOf(
  statistics: BasisStatistics,
  i: number,
  model: IndividualModel,
  squares: Float64Array | undefined,
): Float64Array {
  if (squares === undefined) return individualStatistics(statistics, i, model).row;
  const width = 1 + statistics.basis.numBasis;
  return levelStatistics(statistics, i, model, squares.subarray(i * width, (i + 1) * width)).row;
}

/** Adds sums to others. */
export function addEffectSums(from: EffectSums, to: EffectSums): void {
  addTo(to.score, from.score);
  addTo(to.complete, from.complete);
}
