/**
 * What the observations of one individual say of a Gaussian effect on its coefficients: the residual effect of a map
 * (docs/math/dtm.md §3), or the deviation from the mean course of a node (docs/math/prediction.md §1). For
 * y = Bβ + Be + noise and e ~ N(0, LL') (any root, singular allowed), with G = B'B, g = B'(y − Bβ) and ρ = ‖y − Bβ‖²:
 *   σ²I + L'GL = MM' (Cholesky),   W = M⁻¹L',   ζ = Wg,
 *   log p(y) = −½[n log 2π + (n − d) log σ² + 2 Σ log M_kk + (ρ − ζ'ζ)/σ²],   e | y ~ N(W'ζ, σ²W'W),
 * forms that stay positive definite however small the noise or the covariance. O(d³), whatever n is.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { expectedSquares, levelDensities, rotateEffect } from "../../noise/levels.ts";
import { type Noise, noiseConstants, noiseLevel, noiseLevels } from "../../noise/noise.ts";
import { logDetFromCholesky, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { dot, multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { LOG_2PI } from "../../numeric/special.ts";

/** The statistics of one individual about a mean curve. */
export interface Observations {
  readonly n: number;
  /** Visits, where that is not n: the rank of G is no higher. */
  readonly visits?: number;
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly rho: number;
  readonly sigma2: number;
  /** −½[n log 2π + n log σ² + log|R|]. */
  readonly noiseConstant: number;
}

/** Observations of an individual about the curve with coefficients β [d]. */
export function observationsOf(
  statistics: BasisStatistics,
  individual: number,
  mean: Float64Array,
  noise: Noise,
): Observations {
  const G = new Float64Array(mean.length ** 2);
  const g = new Float64Array(mean.length);
  unpackGram(statistics, individual, G);
  const rho = residualStatistics(statistics, individual, mean, g);
  const noiseConstant = noiseConstants(noise, statistics)(individual);
  const [n, visits] = [statistics.counts[individual], statistics.visits[individual]];
  return { n, visits, G, g, rho, sigma2: noiseLevel(noise), noiseConstant };
}

/**
 * The observations at each noise level that an individual may have: σ² is s_k there, and the constant holds log p_k too, so that
 * densities are joint ones of values and level. The observations themselves where there is one level.
 */
export function atLevels(own: Observations, noise: Noise): readonly Observations[] {
  const { z, spread, variances, logWeights } = noiseLevels(noise);
  if (variances.length === 1) return [own];
  return Array.from(variances, (sigma2, k) => ({
    ...own,
    sigma2,
    noiseConstant: own.noiseConstant - 0.5 * own.n * spread * z[k] + logWeights[k],
  }));
}

/** An effect after the observations. */
export interface GaussianEffect {
  readonly W: Float64Array; // [d,d]
  readonly zeta: Float64Array; // [d]
  /** log p(y). */
  readonly logDensity: number;
}

/** The effect e ~ N(0, LL'), L [d,d], after observations. */
export function gaussianEffect({ G, g, rho, sigma2, noiseConstant }: Observations, L: Float64Array): GaussianEffect {
  const d = g.length;
  const W = transpose(L, d, d);
  const M = multiply(multiply(W, G, d, d, d), L, d, d, d);
  for (let k = 0; k < d; k++) M[k * d + k] += sigma2;
  factorAbove(M, d, sigma2);
  solveLowerMatrixInPlace(M, d, W, d);
  const zeta = multiplyVector(W, g, d, d);
  const logDet = logDetFromCholesky(M, d) - d * Math.log(sigma2);
  return { W, zeta, logDensity: noiseConstant - 0.5 * (logDet + Math.max(rho - dot(zeta, zeta), 0) / sigma2) };
}

/** log p_k + log p(y | level k) at each noise level, [K]: all from one eigendecomposition (noise/levels.ts). */
export function levelLogDensities(own: Observations, L: Float64Array, noise: Noise): Float64Array {
  const levels = noiseLevels(noise);
  if (levels.z.length === 1) return Float64Array.of(gaussianEffect(own, L).logDensity);
  const { n, sigma2, noiseConstant } = own;
  const rotated = rotateEffect(own.G, L, own.g.length);
  const logDet = -2 * noiseConstant - n * (LOG_2PI + Math.log(sigma2));
  const evidence = { n, logDet, delta: rotated.delta, ...expectedSquares(own, rotated) };
  return levelDensities(evidence, levels, 1).map((v, k) => v + levels.logWeights[k]);
}

/** Mean W'ζ [d] and covariance σ²W'W [d,d] of an effect. */
export function effectMoments(
  { W, zeta }: Pick<GaussianEffect, "W" | "zeta">,
  sigma2: number,
): { readonly mean: Float64Array; readonly covariance: Float64Array } {
  const d = zeta.length;
  const Wt = transpose(W, d, d);
  return { mean: multiplyVector(Wt, zeta, d, d), covariance: multiply(Wt, W, d, d, d).map((v) => sigma2 * v) };
}

/**
 * Cholesky factor of M, whose eigenvalues are at least `least`, in place. In exact arithmetic no pivot is below `least`; in
 * rounded arithmetic a noise-free cohort can bring one there.
 */
function factorAbove(M: Float64Array, d: number, least: number): void {
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let s = M[i * d + j];
      for (let k = 0; k < j; k++) s -= M[i * d + k] * M[j * d + k];
      M[i * d + j] = j < i ? s / M[j * d + j] : Math.sqrt(Math.max(s, least));
    }
    M.fill(0, i * d + i + 1, (i + 1) * d);
  }
}
