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
import { bilinear, dot } from "../../numeric/matrix.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import {
  conditionalResidual,
  type IndividualModel,
  type IndividualWorkspace,
  individualWorkspace,
  packedStride,
  packIndividual,
} from "./individual-statistics.ts";
import type { MaximizationSums } from "./pass-outputs.ts";
import { createWasmPass, type WasmPass, wasmMaximizationSums } from "./wasm-pass.ts";

/** Scratch of one individual, and the sums. */
export interface MaximizationWorkspace {
  readonly individual: IndividualWorkspace;
  readonly packed: Float64Array; // [K]
  readonly C: Float64Array; // [d,d]
  readonly T: Float64Array;
  readonly R: Float64Array;
  readonly J: Float64Array;
  readonly product: Float64Array;
  readonly h: Float64Array; // [d]
  readonly u: Float64Array;
  readonly w: Float64Array;
  readonly sums: MaximizationSums;
  /** The passes in WebAssembly, where they are used. */
  readonly wasm: WasmPass | null;
}

/** Scratch for d coefficients; passes run on the given kernels. */
export function maximizationWorkspace(d: number, kernels: KernelKind = "typescript"): MaximizationWorkspace {
  const square = () => new Float64Array(d * d);
  const vector = () => new Float64Array(d);
  return {
    individual: individualWorkspace(d),
    packed: new Float64Array(packedStride(d)),
    C: square(),
    T: square(),
    R: square(),
    J: square(),
    product: square(),
    h: vector(),
    u: vector(),
    w: vector(),
    sums: {
      numIndividuals: 0,
      numObservations: 0,
      gram: square(),
      cross: vector(),
      fitted: vector(),
      sumSquares: 0,
      crossFitted: 0,
      quadratic: 0,
      residualMoment: square(),
    },
    wasm: kernels === "wasm-simd" ? createWasmPass(d) : null,
  };
}

/**
 * Fills the sums for `count` individuals (those listed, or the first) from their moments [count,K]. Σ E ee' is left 0
 * where a step does not read it (`residualMoment` false): with τ moved directly, only mean and noise need sums.
 */
export function maximizationSums(
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  model: IndividualModel,
  moments: Float64Array,
  ws: MaximizationWorkspace,
  residualMoment = true,
): MaximizationSums {
  const d = statistics.basis.numBasis;
  const stride = packedStride(d);
  const { individual, sums, R, u, w } = ws;
  const { G, g } = individual;
  clearSums(sums);
  sums.numIndividuals = count;
  if (ws.wasm !== null && (!residualMoment || model.residualRoot === null)) {
    addCounts(statistics, individuals, count, sums);
    wasmMaximizationSums(ws.wasm, statistics, individuals, count, model, moments, sums);
    return sums;
  }
  for (let at = 0; at < count; at++) {
    const i = individuals === null ? at : individuals[at];
    packIndividual(statistics, i, model, individual, ws.packed, 0);
    unpackMoments(moments, at * stride, d, u, R);
    if (model.residualRoot === null) {
      w.set(u);
    } else {
      conditionalResidual(model.residualRoot, model.noiseVariance, d, individual, ws.C, ws.T, ws.h);
      if (residualMoment) addResidualMoment(d, ws);
      coefficientMoments(d, ws);
    }
    sums.numObservations += statistics.counts[i];
    sums.sumSquares += individual.rho;
    for (let k = 0; k < d; k++) {
      let fitted = 0;
      for (let l = 0; l < d; l++) {
        const e = k * d + l;
        fitted += G[e] * w[l];
        sums.gram[e] += G[e];
        sums.quadratic += G[e] * R[e];
      }
      sums.fitted[k] += fitted;
      sums.cross[k] += g[k];
      sums.crossFitted += g[k] * w[k];
    }
  }
  return sums;
}

/** Σ n and Σ G of the individuals. */
function addCounts(
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  sums: MaximizationSums,
): void {
  const { numBand, bandRow, bandColumn, gram, counts } = statistics;
  const d = statistics.basis.numBasis;
  for (let at = 0; at < count; at++) {
    const i = individuals === null ? at : individuals[at];
    sums.numObservations += counts[i];
    for (let e = 0; e < numBand; e++) sums.gram[bandRow[e] * d + bandColumn[e]] += gram[i * numBand + e];
  }
  for (let k = 0; k < d; k++) for (let l = 0; l < k; l++) sums.gram[k * d + l] = sums.gram[l * d + k];
}

/**
 * δ, by which the mean's coefficients move, [d]. Coefficients that the observed times do not determine (directions in
 * which Σ G vanishes) stay where they are.
 */
export function meanShift(sums: MaximizationSums, kind: "scalar" | "spline", d: number): Float64Array {
  const b = sums.cross.map((v, k) => v - sums.fitted[k]);
  if (kind === "scalar") {
    let total = 0;
    for (let k = 0; k < d; k++) total += b[k];
    return b.fill(total / sums.numObservations);
  }
  const { values, vectors } = symmetricEigen(sums.gram, d);
  const shift = new Float64Array(d);
  for (let c = 0; c < d && values[c] > 1e-12 * values[0]; c++) {
    let along = 0;
    for (let k = 0; k < d; k++) along += vectors[k * d + c] * b[k];
    for (let k = 0; k < d; k++) shift[k] += (along / values[c]) * vectors[k * d + c];
  }
  return shift;
}

/** σ² after the mean has moved by δ. */
export function updatedNoiseVariance(sums: MaximizationSums, shift: Float64Array): number {
  const sumSquares = sums.sumSquares - 2 * dot(shift, sums.cross) + bilinear(shift, sums.gram, shift);
  const crossFitted = sums.crossFitted - dot(shift, sums.fitted);
  return (sumSquares - 2 * crossFitted + sums.quadratic) / sums.numObservations;
}

/** f̄ [d] and R̄ [d,d] from packed moments (f̄, −½R̄_kk, −R̄_kl). */
export function unpackMoments(
  moments: Float64Array,
  offset: number,
  d: number,
  f: Float64Array,
  R: Float64Array,
): void {
  let e = offset + d;
  for (let k = 0; k < d; k++) {
    f[k] = moments[offset + k];
    R[k * d + k] = -2 * moments[e++];
    for (let l = k + 1; l < d; l++) {
      const v = -moments[e++];
      R[k * d + l] = v;
      R[l * d + k] = v;
    }
  }
}

/** Adds E ee' = T R̄ T' − (T f̄)h' − h(T f̄)' + hh' + C. */
function addResidualMoment(d: number, ws: MaximizationWorkspace): void {
  const { T, R, C, h, u, w, product } = ws;
  const out = ws.sums.residualMoment;
  multiplySquare(T, R, d, product);
  for (let k = 0; k < d; k++) {
    let s = 0;
    for (let l = 0; l < d; l++) s += T[k * d + l] * u[l];
    w[k] = s; // T f̄
  }
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) {
      let s = C[k * d + l] + h[k] * h[l] - w[k] * h[l] - h[k] * w[l];
      for (let a = 0; a < d; a++) s += product[k * d + a] * T[l * d + a];
      out[k * d + l] += s;
    }
  }
}

/** Replaces R̄ by E ww' and writes E w to w. */
function coefficientMoments(d: number, ws: MaximizationWorkspace): void {
  const { T, R, C, J, h, u, w, product } = ws;
  for (let e = 0; e < d * d; e++) J[e] = -T[e];
  for (let k = 0; k < d; k++) J[k * d + k] += 1;
  multiplySquare(J, R, d, product);
  for (let k = 0; k < d; k++) {
    let s = 0;
    for (let l = 0; l < d; l++) s += J[k * d + l] * u[l];
    w[k] = s; // J f̄
  }
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) {
      let s = C[k * d + l] + h[k] * h[l] + w[k] * h[l] + h[k] * w[l];
      for (let a = 0; a < d; a++) s += product[k * d + a] * J[l * d + a];
      R[k * d + l] = s;
    }
  }
  for (let k = 0; k < d; k++) w[k] += h[k];
}

function multiplySquare(A: Float64Array, B: Float64Array, d: number, out: Float64Array): void {
  for (let k = 0; k < d; k++) {
    for (let l = 0; l < d; l++) {
      let s = 0;
      for (let a = 0; a < d; a++) s += A[k * d + a] * B[a * d + l];
      out[k * d + l] = s;
    }
  }
}

function clearSums(sums: MaximizationSums): void {
  sums.numObservations = 0;
  sums.sumSquares = 0;
  sums.crossFitted = 0;
  sums.quadratic = 0;
  sums.gram.fill(0);
  sums.cross.fill(0);
  sums.fitted.fill(0);
  sums.residualMoment.fill(0);
}
