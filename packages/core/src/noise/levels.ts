/**
 * Individuals with a noise level of their own (docs/math/noise.md §3): noise variance s = σ²λ_i, log λ_i = ωz, z on a grid of
 * 33 levels with weights p_k ∝ exp(−z_k²/2); ω = 0 is one level. All levels follow from one eigendecomposition per individual.
 * With whitened statistics G = B'R⁻¹B, g = B'R⁻¹r, ρ = r'R⁻¹r (r the values about the mean curve), an effect N(0, τLL') on the
 * coefficients (L of d columns, or of r < d, which then takes the place of d below) and L'GL = Q diag(δ) Q',
 *   T = LQ,   V = GT (columns t_j, v_j),   a = T'g,
 *   log|V_k| = log|R| + (n − d) log s_k + Σ_j log(s_k + τδ_j),     x'V_k⁻¹x = [x'R⁻¹x − τ Σ_j (t_j'B'R⁻¹x)²/(s_k + τδ_j)]/s_k
 * for V_k = τBLL'B' + s_kR: O(d) for each level, each σ², τ and ω.
 */
import { bilinear, dot, identity, multiply, multiplyTransposed, multiplyVector, transpose } from "../numeric/matrix.ts";
import { LOG_2PI, logSumExp } from "../numeric/special.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";

/** The levels of a noise: s_k = σ² exp(ωz_k) and log p_k, [K]. */
export interface NoiseLevels {
  readonly spread: number; // ω
  readonly z: Float64Array;
  readonly variances: Float64Array;
  readonly logWeights: Float64Array;
}

/** z = −4, −3.75, …, 4. */
const HIGHEST = 4;
const STEP = 0.25;
const GRID = Float64Array.from({ length: (2 * HIGHEST) / STEP + 1 }, (_, k) => k * STEP - HIGHEST);

/** The levels of variance σ² and spread ω; a single one for ω = 0. */
export function levelsOf(variance: number, spread: number): NoiseLevels {
  const z = spread === 0 ? new Float64Array(1) : GRID;
  const logDensity = z.map((v) => -0.5 * v * v);
  const total = logSumExp(logDensity);
  return {
    spread,
    z,
    variances: z.map((v) => variance * Math.exp(spread * v)),
    logWeights: logDensity.map((v) => v - total),
  };
}

/** Whitened statistics of one individual about a mean curve. */
export interface WhitenedStatistics {
  readonly G: Float64Array; // [d,d]
  readonly g: Float64Array; // [d]
  readonly rho: number;
}

/** An individual in the frame in which the effect and the noise of every level are diagonal. */
export interface RotatedEffect {
  readonly delta: Float64Array; // δ [r], 0 or more
  readonly Q: Float64Array; // [r,r]
  readonly T: Float64Array; // [d,r]
  readonly V: Float64Array; // [d,r]
}

/** The frame of an individual for the root L [d,r] of the effect's covariance. */
export function rotateEffect(G: Float64Array, L: Float64Array, d: number, r = d): RotatedEffect {
  const { values, vectors } = symmetricEigen(multiply(multiply(transpose(L, d, r), G, r, d, d), L, r, d, r), r);
  const T = multiply(L, vectors, d, r, r);
  return { delta: values.map((v) => Math.max(v, 0)), Q: vectors, T, V: multiply(G, T, d, d, r) };
}

/** What the values of one individual say of its level. */
export interface LevelEvidence {
  readonly n: number;
  /** log|R|. */
  readonly logDet: number;
  readonly delta: Float64Array; // δ [d]
  /** η = E(r − Bf)'R⁻¹(r − Bf). */
  readonly eta: number;
  /** ξ_j = E(t_j'B'R⁻¹(r − Bf))², [d]. */
  readonly xi: Float64Array;
}

/**
 * η = ρ − 2g'f̄ + ⟨G, R̄⟩ and ξ_j = a_j² − 2a_j v_j'f̄ + v_j'R̄v_j for E f = f̄ and E ff' = R̄; ρ and a² without f.
 */
export function expectedSquares(
  { G, g, rho }: WhitenedStatistics,
  { T, V }: Pick<RotatedEffect, "T" | "V">,
  f?: { readonly mean: Float64Array; readonly moment: Float64Array },
): Pick<LevelEvidence, "eta" | "xi"> {
  const d = g.length;
  const r = T.length / d;
  const a = multiplyVector(transpose(T, d, r), g, r, d);
  if (f === undefined) return { eta: rho, xi: a.map((v) => v * v) };
  const Vt = transpose(V, d, r);
  const fitted = multiplyVector(Vt, f.mean, r, d);
  const xi = a.map((v, j) => {
    const vj = Vt.subarray(j * d, (j + 1) * d);
    return v * v - 2 * v * fitted[j] + bilinear(vj, f.moment, vj);
  });
  return { eta: rho - 2 * dot(g, f.mean) + dot(G, f.moment), xi };
}

/** Q_k = −½[n log 2π + log|V_k| + (η − τ Σ_j ξ_j/(s_k + τδ_j))/s_k], [K]. */
export function levelDensities(
  { n, logDet, delta, eta, xi }: LevelEvidence,
  { variances }: NoiseLevels,
  tau: number,
): Float64Array {
  const d = delta.length;
  return variances.map((s) => {
    let [logs, explained] = [0, 0];
    for (let j = 0; j < d; j++) {
      logs += Math.log(s + tau * delta[j]);
      explained += xi[j] / (s + tau * delta[j]);
    }
    return -0.5 * (n * LOG_2PI + logDet + (n - d) * Math.log(s) + logs + (eta - tau * explained) / s);
  });
}

/** The posterior of the level. */
export interface LevelPosterior {
  /** log Σ_k p_k exp Q_k. */
  readonly logSum: number;
  /** q_k ∝ p_k exp Q_k, [K]. */
  readonly weights: Float64Array;
}

export function levelPosterior(densities: Float64Array, { logWeights }: NoiseLevels): LevelPosterior {
  const joint = densities.map((v, k) => v + logWeights[k]);
  const logSum = logSumExp(joint);
  return { logSum, weights: joint.map((v) => Math.exp(v - logSum)) };
}

/** E log λ and its standard deviation under weights of the levels. */
export function logLevelMoments(weights: Float64Array, { spread, z }: NoiseLevels): { mean: number; sd: number } {
  const mean = dot(weights, z);
  const square = weights.reduce((sum, q, k) => sum + q * (z[k] - mean) ** 2, 0);
  return { mean: spread * mean, sd: spread * Math.sqrt(square) };
}

/** Derivatives of log Σ_k p_k exp Q_k by log σ², log τ and log ω. */
export interface LevelSlopes {
  readonly logVariance: number;
  readonly logTau: number;
  readonly logSpread: number;
}

/**
 * With h_j = ξ_j/(s + τδ_j) and χ = (η − τ Σ h_j)/s,
 *   ∂Q/∂log s = −½[n − d + Σ s/(s + τδ_j) − χ + τ Σ h_j/(s + τδ_j)],   ∂Q/∂log τ = −½τ Σ (δ_j − h_j)/(s + τδ_j),
 * averaged over q_k; ω moves log s_k by ωz_k.
 */
export function levelSlopes(
  { n, delta, eta, xi }: LevelEvidence,
  { spread, z, variances }: NoiseLevels,
  tau: number,
  weights: Float64Array,
): LevelSlopes {
  const d = delta.length;
  let [logVariance, logTau, logSpread] = [0, 0, 0];
  variances.forEach((s, k) => {
    let [bySigma, byTau, explained] = [n - d, 0, 0];
    for (let j = 0; j < d; j++) {
      const v = s + tau * delta[j];
      const h = xi[j] / v;
      explained += h;
      bySigma += (s + tau * h) / v;
      byTau += (delta[j] - h) / v;
    }
    bySigma -= (eta - tau * explained) / s;
    logVariance -= 0.5 * weights[k] * bySigma;
    logTau -= 0.5 * weights[k] * tau * byTau;
    logSpread -= 0.5 * weights[k] * spread * z[k] * bySigma;
  });
  return { logVariance, logTau, logSpread };
}

/**
 * What the values say of f, averaged over weights of the levels: with α = Σ_k q_k/s_k and β_j = Σ_k q_k τ/[s_k(s_k + τδ_j)],
 *   G̃ = αG − Σ_j β_j v_jv_j',   g̃ = αg − Σ_j β_j a_j v_j.
 */
export function averagedStatistics(
  { G, g }: WhitenedStatistics,
  { delta, T, V }: RotatedEffect,
  { variances }: NoiseLevels,
  tau: number,
  weights: Float64Array,
): { readonly gram: Float64Array; readonly cross: Float64Array } {
  const d = g.length;
  const a = multiplyVector(transpose(T, d, d), g, d, d);
  const alpha = variances.reduce((sum, s, k) => sum + weights[k] / s, 0);
  const beta = delta.map((v) => variances.reduce((sum, s, k) => sum + (weights[k] * tau) / (s * (s + tau * v)), 0));
  const weighted = V.map((v, e) => v * beta[e % d]);
  const shrunk = multiplyVector(weighted, a, d, d);
  const VV = multiplyTransposed(weighted, V, d, d, d);
  return { gram: G.map((v, e) => alpha * v - VV[e]), cross: g.map((v, k) => alpha * v - shrunk[k]) };
}

/** Σ_k q_k/s_k (1, E[w | k], E[ww' | k]) of the coefficients w = f + e. */
export interface PrecisionMoments {
  readonly total: number;
  readonly first: Float64Array; // [d]
  readonly second: Float64Array; // [d,d]
}

/**
 * At level s, with C = sτ T diag(1/(s + τδ)) T', h = Cg/s and J = I − CG/s:  E w = Jf̄ + h and
 * E ww' = JR̄J' + (Jf̄)h' + h(Jf̄)' + hh' + C.
 * A definition: moments for `serialSlopes` and `whiteErrors`, which tests and oracles use.
 */
export function precisionMoments(
  { G, g }: WhitenedStatistics,
  { delta, T }: RotatedEffect,
  { variances }: NoiseLevels,
  tau: number,
  weights: Float64Array,
  f: { readonly mean: Float64Array; readonly moment: Float64Array },
): PrecisionMoments {
  const d = g.length;
  const first = new Float64Array(d);
  const second = new Float64Array(d * d);
  let total = 0;
  variances.forEach((s, k) => {
    const share = weights[k] / s;
    total += share;
    const scaled = T.map((t, e) => (t * tau) / (s + tau * delta[e % d]));
    const shrink = multiplyTransposed(scaled, T, d, d, d); // C/s
    const h = multiplyVector(shrink, g, d, d);
    const unit = identity(d);
    const J = multiply(shrink, G, d, d, d).map((v, e) => unit[e] - v);
    const Jf = multiplyVector(J, f.mean, d, d);
    const JRJ = multiplyTransposed(multiply(J, f.moment, d, d, d), J, d, d, d);
    for (let a = 0; a < d; a++) {
      first[a] += share * (Jf[a] + h[a]);
      for (let b = 0; b < d; b++) {
        const cross = Jf[a] * h[b] + h[a] * Jf[b] + h[a] * h[b];
        second[a * d + b] += share * (JRJ[a * d + b] + cross + s * shrink[a * d + b]);
      }
    }
  });
  return { total, first, second };
}
