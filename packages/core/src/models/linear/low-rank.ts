/**
 * One engine for all linear models (docs/math/linear.md §1):
 *   y_i = B_i β + B_i L v_i + e_i,   v_i ~ N(0, I_r),   e_i ~ N(0, σ² I),   L [d,r] of any rank, singular allowed.
 * r = d is the linear mixed model (Σ = LL'), r = q the reduced-rank model (L = F). No n_i x n_i matrix is formed. With
 *   T_i = G_iL,   A_i = σ² I + L'T_i = C_iC_i',   z_i = C_i⁻¹L'g_i,   v̂_i = C_i⁻ᵀz_i,   Y_i = C_i⁻¹T_i',
 *   log p(y_i) = −½ [ n_i log 2π + (n_i − r) log σ² + 2 Σ_j log C_i,jj + (ρ_i − z_i'z_i)/σ² ],
 *   v_i | y_i ~ N(v̂_i, σ² A_i⁻¹),   w_i = L v_i.
 * The whole gradient needs three sums over individuals, with e_i = g_i − Y_i'z_i = g_i − G_iLv̂_i:
 *   E = Σ e_i,   D = ½ [ Σ e_ie_i'/σ⁴ − Σ (G_i − Y_i'Y_i)/σ² ],   Q = Σ (ρ_i − z_i'z_i)/σ²,
 *   ∂/∂β = E/σ²,   ∂/∂Σ = D,   ∂/∂L = 2DL,   ∂/∂log σ² = ½ (Q − N) − <D, LL'>.
 * Cost per individual O(d r (r + degree) + d² r), whatever the number of observations.
 */

import { type BasisStatistics, residualStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { LOG_2PI } from "../../numeric/special.ts";

/** Parameters of a linear model. */
export interface LowRankParameters {
  /** β [d]; a scalar mean μ is μ·1. */
  readonly meanCoefficients: Float64Array;
  /** σ². */
  readonly noiseVariance: number;
  /** L [d,r]. */
  readonly factor: Float64Array;
  /** r. */
  readonly rank: number;
}

/** Derivatives of the total log-likelihood, filled by `logLikelihoodScore`. */
export interface Score {
  /** σ² ∂/∂β = E, [d]. */
  readonly residual: Float64Array;
  /** ∂/∂Σ = D, symmetric [d,d]. */
  readonly covariance: Float64Array;
  logNoiseVariance: number;
}

/** Buffers for one individual at a time. */
export interface LowRankWorkspace {
  readonly d: number;
  readonly r: number;
  /** Row k of L is zero from column rowEnd[k] on (triangular factors cost less), [d]. */
  readonly rowEnd: Int32Array;
  readonly g: Float64Array; // [d]
  readonly T: Float64Array; // G L, later Y', [d,r]
  readonly C: Float64Array; // lower, reciprocals on the diagonal, [r,r]
  readonly z: Float64Array; // [r]
  readonly v: Float64Array; // v̂, [r]
  readonly P: Float64Array; // A⁻¹, [r,r]
  readonly scratch: Float64Array; // [r,r]
  /** ρ − z'z of the last individual. */
  misfit: number;
}

/** Buffers for models of basis size d and rank r. */
export function createLowRankWorkspace(d: number, r: number): LowRankWorkspace {
  return {
    d,
    r,
    rowEnd: new Int32Array(d),
    g: new Float64Array(d),
    T: new Float64Array(d * r),
    C: new Float64Array(r * r),
    z: new Float64Array(r),
    v: new Float64Array(r),
    P: new Float64Array(r * r),
    scratch: new Float64Array(r * r),
    misfit: 0,
  };
}

/** Buffers for the derivatives of a model of basis size d. */
export function createScore(d: number): Score {
  return { residual: new Float64Array(d), covariance: new Float64Array(d * d), logNoiseVariance: 0 };
}

/** log p(y_i) of every individual, written to `out` [m]. For new individuals this is their held-out score. */
export function individualLogLikelihoods(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  out: Float64Array = new Float64Array(statistics.numIndividuals),
): Float64Array {
  const ws = checkedWorkspace(statistics, parameters);
  for (let i = 0; i < statistics.numIndividuals; i++) out[i] = factorIndividual(statistics, i, parameters, ws);
  if (out.some(Number.isNaN)) throw notPositive(parameters);
  return out;
}

/** Σ_i log p(y_i). */
export function logLikelihood(statistics: BasisStatistics, parameters: LowRankParameters): number {
  const ws = checkedWorkspace(statistics, parameters);
  let total = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) total += factorIndividual(statistics, i, parameters, ws);
  if (Number.isNaN(total)) throw notPositive(parameters);
  return total;
}

/**
 * Σ_i log p(y_i), with its derivatives written to `score`; NaN if some A_i is numerically not positive definite.
 * `gram` is Σ_i G_i [d,d].
 */
export function logLikelihoodScore(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  gram: Float64Array,
  score: Score,
  ws: LowRankWorkspace,
): number {
  const { d } = ws;
  const { residual: E, covariance: D } = score;
  const sigma2 = parameters.noiseVariance;
  readFactorShape(parameters, ws);
  for (let k = 0; k < d; k++) {
    E[k] = 0;
    for (let l = 0; l <= k; l++) D[k * d + l] = 0;
  }
  let total = 0;
  let misfit = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) {
    total += factorIndividual(statistics, i, parameters, ws);
    misfit += ws.misfit;
    addIndividualScore(ws, sigma2, E, D);
  }
  finishScore(parameters, gram, statistics.numObservations, misfit, score);
  return total;
}

/** Turns E, the lower triangle of Σ (ee'/σ² + Y'Y) and Σ (ρ − z'z) into the derivatives. */
export function finishScore(
  parameters: LowRankParameters,
  gram: Float64Array,
  numObservations: number,
  misfit: number,
  score: Score,
): void {
  const { noiseVariance: sigma2, factor: L, rank: r, meanCoefficients } = parameters;
  const D = score.covariance;
  const d = meanCoefficients.length;
  let inner = 0;
  for (let k = 0; k < d; k++) {
    for (let l = 0; l <= k; l++) {
      const s = (0.5 * (D[k * d + l] - gram[k * d + l])) / sigma2;
      D[k * d + l] = s;
      D[l * d + k] = s;
      let sigma = 0;
      for (let a = 0; a < r; a++) sigma += L[k * r + a] * L[l * r + a];
      inner += (k === l ? 1 : 2) * s * sigma;
    }
  }
  score.logNoiseVariance = 0.5 * (misfit / sigma2 - numObservations) - inner;
}

/**
 * Kernel: adds e to E [d] and the lower triangle of ee'/σ² + Y'Y to D [d,d], for the individual factored last.
 * Overwrites T by Y' and g by e.
 */
function addIndividualScore(ws: LowRankWorkspace, sigma2: number, E: Float64Array, D: Float64Array): void {
  const { d, r, g, T, C, z } = ws;
  for (let k = 0; k < d; k++) {
    const row = k * r;
    let e = g[k];
    for (let a = 0; a < r; a++) {
      let s = T[row + a];
      for (let c = 0; c < a; c++) s -= C[a * r + c] * T[row + c];
      s *= C[a * r + a];
      T[row + a] = s;
      e -= s * z[a];
    }
    g[k] = e;
    E[k] += e;
    const scaled = e / sigma2;
    for (let l = 0; l <= k; l++) {
      let s = scaled * g[l];
      for (let a = 0; a < r; a++) s += T[row + a] * T[l * r + a];
      D[k * d + l] += s;
    }
  }
}

/**
 * About how far rounding moves the log-likelihood: that of a sum over all individuals, and that of ρ_i − z_i'z_i, which
 * is felt where the noise is very small beside the values. `sumSquares` is Σ ‖y_i − center‖².
 */
export function likelihoodRounding(value: number, sumSquares: number, sigma2: number): number {
  return 1e-13 * Math.abs(value) + (2e-15 * sumSquares) / sigma2;
}

/** ∂/∂L = 2DL, written to `out` [d,r]. */
export function factorGradient(parameters: LowRankParameters, score: Score, d: number, out: Float64Array): void {
  const { rank: r, factor: L } = parameters;
  const D = score.covariance;
  for (let k = 0; k < d; k++) {
    for (let a = 0; a < r; a++) {
      let s = 0;
      for (let l = 0; l < d; l++) s += D[k * d + l] * L[l * r + a];
      out[k * r + a] = 2 * s;
    }
  }
}

/**
 * Kernel: writes g, T, C and z of individual i to the workspace and returns log p(y_i); NaN if A_i is numerically not
 * positive definite. `readFactorShape` must have been called for these parameters.
 */
export function factorIndividual(
  statistics: BasisStatistics,
  i: number,
  parameters: LowRankParameters,
  ws: LowRankWorkspace,
): number {
  const { d, r, rowEnd, g, T, C, z } = ws;
  const { numBand, bandRow, bandColumn, gram } = statistics;
  const { factor: L, noiseVariance: sigma2 } = parameters;
  const rho = residualStatistics(statistics, i, parameters.meanCoefficients, g);

  // T = G L by the band of G, over the nonzero part of the rows of L.
  for (let k = 0; k < d * r; k++) T[k] = 0;
  const offset = i * numBand;
  for (let j = 0; j < numBand; j++) {
    const G = gram[offset + j];
    const k = bandRow[j];
    const l = bandColumn[j];
    for (let c = 0; c < rowEnd[l]; c++) T[k * r + c] += G * L[l * r + c];
    if (k !== l) for (let c = 0; c < rowEnd[k]; c++) T[l * r + c] += G * L[k * r + c];
  }

  // A = σ² I + L'T (lower triangle) into C, b = L'g into z.
  for (let a = 0; a < r; a++) {
    z[a] = 0;
    for (let c = 0; c < a; c++) C[a * r + c] = 0;
    C[a * r + a] = sigma2;
  }
  for (let k = 0; k < d; k++) {
    const row = k * r;
    const gk = g[k];
    for (let a = 0; a < rowEnd[k]; a++) {
      const l = L[row + a];
      z[a] += l * gk;
      for (let c = 0; c <= a; c++) C[a * r + c] += l * T[row + c];
    }
  }

  // Cholesky in place with reciprocal diagonal, and z = C⁻¹b on the way.
  let logDet = 0;
  let explained = 0;
  for (let a = 0; a < r; a++) {
    const ra = a * r;
    let b = z[a];
    let diagonal = C[ra + a];
    for (let c = 0; c < a; c++) {
      const rc = c * r;
      let s = C[ra + c];
      for (let h = 0; h < c; h++) s -= C[ra + h] * C[rc + h];
      s *= C[rc + c];
      C[ra + c] = s;
      diagonal -= s * s;
      b -= s * z[c];
    }
    if (!(diagonal > 0)) return Number.NaN;
    const inverse = 1 / Math.sqrt(diagonal);
    C[ra + a] = inverse;
    z[a] = b * inverse;
    explained += z[a] * z[a];
    logDet += Math.log(diagonal);
  }
  ws.misfit = rho - explained;
  const n = statistics.counts[i];
  return -0.5 * (n * LOG_2PI + (n - r) * Math.log(sigma2) + logDet + ws.misfit / sigma2);
}

/** Kernel: writes v̂ = C⁻ᵀz and P = A⁻¹ = C⁻ᵀC⁻¹ of the individual factored last. */
export function solvePosterior(ws: LowRankWorkspace): void {
  const { r, C, z, v, P, scratch: X } = ws;
  // X = C⁻¹, row by row; the diagonal of C holds reciprocals.
  for (let a = 0; a < r; a++) {
    const inverse = C[a * r + a];
    for (let c = 0; c < a; c++) {
      let s = 0;
      for (let h = c; h < a; h++) s -= C[a * r + h] * X[h * r + c];
      X[a * r + c] = s * inverse;
    }
    X[a * r + a] = inverse;
  }
  for (let a = 0; a < r; a++) {
    let mean = 0;
    for (let h = a; h < r; h++) mean += X[h * r + a] * z[h];
    v[a] = mean;
    for (let c = 0; c <= a; c++) {
      let s = 0;
      for (let h = a; h < r; h++) s += X[h * r + a] * X[h * r + c];
      P[a * r + c] = s;
      P[c * r + a] = s;
    }
  }
}

/** Notes where the rows of L end, so that triangular factors cost less. */
export function readFactorShape(
  parameters: LowRankParameters,
  { d, r, rowEnd }: Pick<LowRankWorkspace, "d" | "r" | "rowEnd">,
): void {
  const L = parameters.factor;
  for (let k = 0; k < d; k++) {
    let end = r;
    while (end > 0 && L[k * r + end - 1] === 0) end--;
    rowEnd[k] = end;
  }
}

/** Workspace for a pass over the individuals; refuses parameters of another basis. */
export function checkedWorkspace(statistics: BasisStatistics, parameters: LowRankParameters): LowRankWorkspace {
  const d = statistics.basis.numBasis;
  const { rank: r, factor, meanCoefficients } = parameters;
  if (factor.length !== d * r || meanCoefficients.length !== d) {
    throw new DtmError(
      "shape",
      `Linear model: expected a factor of ${d} x ${r} and ${d} mean coefficients, received ${factor.length} and ${meanCoefficients.length} numbers. Use parameters and statistics of one basis.`,
    );
  }
  const ws = createLowRankWorkspace(d, r);
  readFactorShape(parameters, ws);
  return ws;
}

/** The complaint that some A_i was not positive definite. */
export function notPositive(parameters: LowRankParameters): DtmError {
  return new DtmError(
    "not-positive-definite",
    `Linear model: expected a noise variance that is positive and not negligible beside the signal, received ${parameters.noiseVariance}. Check for values that repeat exactly.`,
  );
}
