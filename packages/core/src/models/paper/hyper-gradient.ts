/**
 * Gradient of the bound by μ, log σ², log α and log ℓ from data sums, for the RBF kernel (docs/math/dtm-paper.md §5).
 * Psi statistics obey ∂ψ1/∂log ℓ_c = ψ1 + 2ℓ_c² ∂ψ1/∂S_cc and ∂Ψ2/∂log ℓ_c = Ψ2 + ℓ_c² ∂Ψ2/∂S_cc + Ψ2 Δ_c²/(2ℓ_c²),
 * Δ = z_j − z_k. Hence with a = Σh'ψ1, b = −½Σ⟨W,Ψ2⟩, D_i the data part of ∂J_i/∂S and s_i = ∂(h'ψ1)/∂S,
 *   ∂/∂log ℓ_c = a + b + ℓ_c² Σ_i (D_i + s_i)_cc + Σ_jk V_jk Δ_c²/(2ℓ_c²) + ⟨Γ, ∂K⟩,
 *   V = −½ Σ_i W_i∘Ψ2_i = −(Σ_kl T_kl∘Ω_kl − K⁻¹∘Φ)/(2σ²).
 * D_i follows from the gradient that the local solver gives anyway, so no second pass over pairs is needed.
 */

import type { RbfKernel } from "../gp/kernel.ts";
import type { DataTotals } from "./elbo.ts";
import type { Engine } from "./engine.ts";
import { addCourseGradient } from "./gradients.ts";
import type { HyperGradient } from "./hyperparameters.ts";
import type { DataSums } from "./inducing-posterior.ts";
import { addKernelMatrixTerms, type KernelMatrixGradient } from "./kernel-gradient.ts";
import { computeRbfFirst, createPsiWorkspace, factorRbf, type PsiWorkspace, rbfFirstSlopes } from "./psi.ts";
import { covarianceOfFactor, logPriorSlope, unpackLocation } from "./state.ts";

/** What individuals add to the gradient beyond the data sums. */
export interface HyperSums {
  /** Σ σ⁻²(g_i − G_i A'ψ1), [d]. */
  readonly mean: Float64Array;
  /** Σ (D_i + s_i)_cc, [q]. */
  readonly slopes: Float64Array;
}

/** Scratch of `addIndividualHyper`. */
export interface HyperWorkspace {
  readonly psi: PsiWorkspace;
  readonly psi1: Float64Array; // [p]
  readonly slopes: Float64Array; // [q]
  readonly h: Float64Array; // [p]
  readonly w: Float64Array; // A'ψ1 [d]
  readonly m: Float64Array; // [q]
  readonly T: Float64Array; // [q,q]
  readonly S: Float64Array; // [q,q]
  readonly D: Float64Array; // [q,q]
}

/** Zero sums. */
export function createHyperSums(d: number, q: number): HyperSums {
  return { mean: new Float64Array(d), slopes: new Float64Array(q) };
}

/** Scratch for p inducing places in q dimensions and d coefficients. */
export function createHyperWorkspace(p: number, q: number, d: number): HyperWorkspace {
  const square = () => new Float64Array(q * q);
  return {
    psi: createPsiWorkspace(q),
    psi1: new Float64Array(p),
    slopes: new Float64Array(q),
    h: new Float64Array(p),
    w: new Float64Array(d),
    m: new Float64Array(q),
    T: square(),
    S: square(),
    D: square(),
  };
}

/**
 * Adds individual i, whose g_i is in `engine.g`, at θ_i = theta[i·P..] where its objective has gradient[gradientOffset..].
 */
export function addIndividualHyper(
  engine: Engine,
  kernel: RbfKernel,
  i: number,
  theta: Float64Array,
  gradient: Float64Array,
  gradientOffset: number,
  weight: number,
  out: HyperSums,
  work: HyperWorkspace,
): void {
  const { statistics, parameters, posterior, options, numLocal: P, g } = engine;
  const { inducingLocations: Z, numInducing: p, mapDimension: q, numBasis: d, noiseVariance } = parameters;
  const { psi, psi1, slopes, h, w, m, T, S, D } = work;
  const A = posterior.mean;
  unpackLocation(theta, i * P, q, options.diagonal, m, T);
  covarianceOfFactor(T, q, S);
  if (q === 2) firstPart2(kernel, Z, p, d, A, g, work);
  else {
    factorRbf(kernel, q, S, psi);
    computeRbfFirst(kernel, Z, p, q, m, psi1, psi);
    w.fill(0);
    for (let j = 0; j < p; j++) {
      h[j] = 0;
      for (let k = 0; k < d; k++) {
        h[j] += A[j * d + k] * g[k];
        w[k] += A[j * d + k] * psi1[j];
      }
    }
    rbfFirstSlopes(Z, p, q, m, psi1, h, slopes, psi);
  }
  addCourseGradient(statistics, i, g, w, weight / noiseVariance, out.mean);
  dataSlope(gradient, gradientOffset, T, q, options.diagonal, D);
  for (let c = 0; c < q; c++) out.slopes[c] += weight * (D[c * q + c] + slopes[c] / noiseVariance);
}

/**
 * Kernel for q = 2 at m, S of the workspace, one sweep over inducing places: w = A'ψ1 and
 *   slopes_c = ½ Σ_j (Ag)_j ψ1_j (v_jc² − P_cc),   v_j = P(m − z_j),   P = (S + Λ)⁻¹.
 */
function firstPart2(
  { signalVariance, lengthscales }: RbfKernel,
  Z: Float64Array,
  p: number,
  d: number,
  A: Float64Array,
  g: Float64Array,
  { m, S, w, slopes }: HyperWorkspace,
): void {
  const la = lengthscales[0] * lengthscales[0];
  const lb = lengthscales[1] * lengthscales[1];
  const a = la + S[0];
  const b = lb + S[3];
  const determinant = a * b - S[1] * S[1];
  const P0 = b / determinant;
  const P1 = -S[1] / determinant;
  const P3 = a / determinant;
  const scale = signalVariance * Math.sqrt((la * lb) / determinant);
  const m0 = m[0];
  const m1 = m[1];
  let s0 = 0;
  let s1 = 0;
  for (let k = 0; k < d; k++) w[k] = 0;
  for (let j = 0, at = 0; j < p; j++) {
    const u = m0 - Z[2 * j];
    const v = m1 - Z[2 * j + 1];
    const x = P0 * u + P1 * v;
    const y = P1 * u + P3 * v;
    const psi = scale * Math.exp(-0.5 * (u * x + v * y));
    let h = 0;
    for (let k = 0; k < d; k++, at++) {
      h += A[at] * g[k];
      w[k] += A[at] * psi;
    }
    h *= psi;
    s0 += h * (x * x - P0);
    s1 += h * (y * y - P3);
  }
  slopes[0] = 0.5 * s0;
  slopes[1] = 0.5 * s1;
}

/**
 * The gradient from sums over all individuals (or estimates of them) under the engine's q(u); Γ = ∂ℒ/∂K says what is
 * held fixed when K moves.
 */
export function hyperGradientOfSums(
  engine: Engine,
  kernel: RbfKernel,
  sums: DataSums,
  data: DataTotals,
  hyper: HyperSums,
  Gamma: KernelMatrixGradient,
): HyperGradient {
  const { parameters, posterior, factor, options } = engine;
  const { inducingLocations: Z, numInducing: p, mapDimension: q, numBasis: d, noiseVariance: s2 } = parameters;
  const { priors } = options;
  const V = weightedSums(engine, sums);
  let b = 0;
  for (let e = 0; e < p * p; e++) b += V[e];
  let a = 0;
  for (let e = 0; e < p * d; e++) a += (posterior.mean[e] * sums.cross[e]) / s2;
  const variance = (0.5 * data.variance) / s2;
  // Everything that is proportional to 1/σ².
  const scaled = a + b - variance - (0.5 * data.sumSquares) / s2;
  const out = {
    meanCoefficients: hyper.mean,
    logNoiseVariance: -0.5 * data.numObservations - scaled + logPriorSlope(priors.logNoiseVariance, s2),
    logSignalVariance: a + 2 * b - variance + logPriorSlope(priors.logSignalVariance, kernel.signalVariance),
    logLengthscales: new Float64Array(q),
    inducing: new Float64Array(p * q),
  };
  addSeparation(kernel, Z, p, q, V, out.logLengthscales);
  const share = options.sharedLengthscale ? 1 / q : 1;
  for (let c = 0; c < q; c++) {
    const ell = kernel.lengthscales[c];
    out.logLengthscales[c] += a + b + ell * ell * hyper.slopes[c];
    out.logLengthscales[c] += share * logPriorSlope(priors.logLengthscale, ell);
  }
  addKernelMatrixTerms(kernel, Z, p, q, Gamma, factor.matrix, out);
  return out;
}

/** V = −½ Σ_i W_i∘Ψ2_i from the sums, [p,p]; its entries add up to b. */
function weightedSums(engine: Engine, sums: DataSums): Float64Array {
  const { statistics: band, parameters, posterior, factor } = engine;
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  const pp = p * p;
  const V = new Float64Array(pp);
  const { blocks } = posterior;
  const { gram } = sums;
  const weight = -0.5 / noiseVariance;
  for (let b = 0; b < band.numBand; b++) {
    const k = band.bandRow[b];
    const l = band.bandColumn[b];
    const T = (k * d + l) * pp;
    const omega = b * pp;
    if (k === l) {
      for (let e = 0; e < pp; e++) V[e] += weight * (blocks[T + e] - factor.inverse[e]) * gram[omega + e];
    } else {
      for (let e = 0; e < pp; e++) V[e] += 2 * weight * blocks[T + e] * gram[omega + e];
    }
  }
  return V;
}

/** Adds Σ_jk V_jk Δ_c²/(2ℓ_c²) to out [q]. */
function addSeparation(
  kernel: RbfKernel,
  Z: Float64Array,
  p: number,
  q: number,
  V: Float64Array,
  out: Float64Array,
): void {
  for (let j = 0; j < p; j++) {
    for (let k = 0; k < j; k++) {
      // Pairs j > k stand for both orders.
      const v = V[j * p + k] + V[k * p + j];
      for (let c = 0; c < q; c++) {
        const dz = (Z[j * q + c] - Z[k * q + c]) / kernel.lengthscales[c];
        out[c] += 0.5 * v * dz * dz;
      }
    }
  }
}

/**
 * D = the data part of ∂J/∂S from the gradient by (log diag T, lower T), whose KL part is −T_cc² + 1 and −T_cb:
 *   (D T)_cc = (∂_cc − 1 + T_cc²)/(2T_cc),   (D T)_cb = (∂_cb + T_cb)/2  for c > b,
 * solved for D column by column from the last. With a diagonal S only the diagonal of D is written.
 */
function dataSlope(
  gradient: Float64Array,
  offset: number,
  T: Float64Array,
  q: number,
  diagonal: boolean,
  D: Float64Array,
): void {
  for (let b = q - 1; b >= 0; b--) {
    for (let c = q - 1; c >= b; c--) {
      const t = T[c * q + b];
      let s = 0;
      if (c === b) s = (gradient[offset + q + c] - 1 + t * t) / (2 * t);
      else if (diagonal) continue;
      else s = 0.5 * (gradient[offset + 2 * q + (c * (c - 1)) / 2 + b] + t);
      if (!diagonal) for (let a = b + 1; a < q; a++) s -= D[c * q + a] * T[a * q + b];
      s /= T[b * q + b];
      D[c * q + b] = s;
      D[b * q + c] = s;
    }
  }
}
