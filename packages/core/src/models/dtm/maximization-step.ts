/**
 * The maximisation step for the mean, the noise and a free residual covariance, for fixed responsibilities
 * (docs/math/dtm.md §8): exact EM with w_i = f(x_i) + e_i as the missing data. With f̄_i = Σ_g r_ig f̄_g,
 * R̄_i = Σ_g r_ig R_g, the conditional law E(e | f) = h − Tf, Cov = C (individual-statistics) and J = I − T:
 *   E w = J f̄ + h,          E ww' = J R̄ J' + (J f̄)h' + h(J f̄)' + hh' + C,
 *                           E ee' = T R̄ T' − (T f̄)h' − h(T f̄)' + hh' + C,
 *   β ← β + δ,  δ = (Σ G_i)⁻¹ b  (spline)  or  1'b/N  (scalar),  b = Σ_i (g_i − G_i E w_i),
 *   σ² ← (1/N) Σ_i [ρ_i − 2 g_i'E w_i + ⟨G_i, E w_iw_i'⟩]  with g_i, ρ_i at the new mean,
 *   Σ_e ← (1/m) Σ_i E e_ie_i'.
 * Only sums over individuals are kept; g and ρ move to the new mean by expanding in δ, which is small. O(d³) each.
 */

import type { BasisStatistics } from "../../basis/statistics.ts";
import { addTo, bilinear, dot, multiply, multiplyTransposed, multiplyVector } from "../../numeric/matrix.ts";
import { meanShift as leastSquaresShift, type MeanDesign } from "../mean.ts";
import {
  conditionalResidual,
  type IndividualModel,
  individualStatistics,
  packedStride,
} from "./individual-statistics.ts";

/** Sums over individuals from which the updates follow. */
export interface MaximizationSums {
  numObservations: number;
  readonly gram: Float64Array; // Σ G [d,d]
  readonly cross: Float64Array; // Σ g [d]
  readonly fitted: Float64Array; // Σ G E w [d]
  sumSquares: number; // Σ ρ
  crossFitted: number; // Σ g'E w
  quadratic: number; // Σ ⟨G, E ww'⟩
  readonly residualMoment: Float64Array; // Σ E ee' [d,d]; zero where no step reads it
}

/** Empty sums for d coefficients. */
export function createMaximizationSums(d: number): MaximizationSums {
  return {
    numObservations: 0,
    gram: new Float64Array(d * d),
    cross: new Float64Array(d),
    fitted: new Float64Array(d),
    sumSquares: 0,
    crossFitted: 0,
    quadratic: 0,
    residualMoment: new Float64Array(d * d),
  };
}

/** Adds sums to others. */
export function addMaximizationSums(from: MaximizationSums, to: MaximizationSums): void {
  for (const name of ["numObservations", "sumSquares", "crossFitted", "quadratic"] as const) {
    to[name] += from[name];
  }
  for (const name of ["gram", "cross", "fitted", "residualMoment"] as const) addTo(to[name], from[name]);
}

/** The sums over individuals from their moments [m,K]. */
export function maximizationSums(
  statistics: BasisStatistics,
  model: IndividualModel,
  moments: Float64Array,
): MaximizationSums {
  const d = statistics.basis.numBasis;
  const stride = packedStride(d);
  const sums = createMaximizationSums(d);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const own = individualStatistics(statistics, i, model);
    let { f: w, R: ww } = unpackMoments(moments.subarray(i * stride, (i + 1) * stride), d);
    if (model.residualRoot !== null) {
      const { C, T, h } = conditionalResidual(own);
      // e = h − Tf + N(0, C) and w = h + Jf + N(0, C): second moments of an affine function of f.
      const J = T.map((v, e) => (Math.floor(e / d) === e % d ? 1 - v : -v));
      const minusT = T.map((v) => -v);
      addTo(sums.residualMoment, affineMoment(minusT, h, C, w, ww, d));
      ww = affineMoment(J, h, C, w, ww, d);
      w = multiplyVector(J, w, d, d).map((v, k) => v + h[k]);
    }
    const fitted = multiplyVector(own.G, w, d, d);
    sums.numObservations += statistics.counts[i];
    sums.sumSquares += own.rho;
    sums.crossFitted += dot(own.g, w);
    sums.quadratic += dot(own.G, ww);
    addTo(sums.gram, own.G);
    addTo(sums.cross, own.g);
    addTo(sums.fitted, fitted);
  }
  return sums;
}

/** A R A' + (A f)h' + h(A f)' + hh' + C, the second moment of h + A f + N(0, C) for E f and E ff' = R. */
function affineMoment(
  A: Float64Array,
  h: Float64Array,
  C: Float64Array,
  f: Float64Array,
  R: Float64Array,
  d: number,
): Float64Array {
  const Af = multiplyVector(A, f, d, d);
  const moment = multiplyTransposed(multiply(A, R, d, d, d), A, d, d, d);
  return moment.map((v, e) => {
    const k = Math.floor(e / d);
    const l = e % d;
    return v + C[e] + h[k] * h[l] + Af[k] * h[l] + h[k] * Af[l];
  });
}

/** δ, by which the mean's coefficients move, [d]; those that the observed times do not determine stay where they are. */
export function meanShift(design: MeanDesign, sums: MaximizationSums): Float64Array {
  const residuals = sums.cross.map((v, k) => v - sums.fitted[k]);
  return leastSquaresShift(design, sums.gram, residuals);
}

/** Σ_i [ρ_i − 2 g_i'E w_i + ⟨G_i, E w_iw_i'⟩] after the mean has moved by δ. */
export function remainingSquares(sums: MaximizationSums, shift: Float64Array): number {
  const sumSquares = sums.sumSquares - 2 * dot(shift, sums.cross) + bilinear(shift, sums.gram, shift);
  const crossFitted = sums.crossFitted - dot(shift, sums.fitted);
  return sumSquares - 2 * crossFitted + sums.quadratic;
}

/** f̄ [d] and R̄ [d,d] from packed moments (f̄, −½R̄_kk, −R̄_kl). */
export function unpackMoments(moments: Float64Array, d: number): { f: Float64Array; R: Float64Array } {
  const R = new Float64Array(d * d);
  for (let k = 0, e = d; k < d; k++) {
    for (let l = k; l < d; l++, e++) {
      const v = k === l ? -2 * moments[e] : -moments[e];
      R[k * d + l] = v;
      R[l * d + k] = v;
    }
  }
  return { f: moments.slice(0, d), R };
}
