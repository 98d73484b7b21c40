/**
 * Maximum likelihood of latent classes of curves with a random effect of the individual that all classes share
 * (docs/math/classes.md), by EM and, where there are effects, quasi-Newton steps:
 *   k ~ π,   e_i ~ N(0, LL'),   y_i | k, e_i ~ N(B_i(b_k + e_i), σ²I).
 * The effect is integrated out once per individual: with σ²I + L'G_iL = MM', W = M⁻¹L' and Q = W'W (mixture/effect.ts),
 *   G̃ = G − GQG,   g̃ = g − GQg,   log p(y_i | k) = log p(y_i | b = 0) − ½(b_k'G̃b_k − 2g̃'b_k)/σ²,
 * so that a class costs O(d²) whether there are effects or not; without them G̃ = G and g̃ = g.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { learnNoise, type Noise, noiseConstants, noiseLevel, withLevel } from "../../noise/noise.ts";
import { choleskyInPlace, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import { dot, joinFloats, multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { maximizeBfgs } from "../../numeric/optimize/bfgs.ts";
import { lowerFactor } from "../../numeric/semidefinite.ts";
import { logSumExp } from "../../numeric/special.ts";
import { semidefiniteRoot } from "../../numeric/symmetric-eigen.ts";
import { gaussianEffect } from "../mixture/effect.ts";

export interface ClassParameters {
  /** π_k, [K]. */
  readonly weights: Float64Array;
  /** b_k as deviations from the pooled mean, [K,d]. */
  readonly curves: Float64Array;
  /** L [d,d], or null for classes without effects of the individual. */
  readonly factor: Float64Array | null;
  readonly noise: Noise;
}

/** Everyone's statistics about the pooled mean, unpacked once. */
export interface ClassProblem {
  readonly statistics: BasisStatistics;
  readonly G: Float64Array; // [m,d,d]
  readonly g: Float64Array; // [m,d]
  readonly rho: Float64Array; // [m]
}

/** The problem of a cohort's statistics. */
export function classProblem(statistics: BasisStatistics): ClassProblem {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const pooled = new Float64Array(d).fill(statistics.center);
  const G = new Float64Array(m * d * d);
  const g = new Float64Array(m * d);
  for (let i = 0; i < m; i++) unpackGram(statistics, i, G.subarray(i * d * d, (i + 1) * d * d));
  return {
    statistics,
    G,
    g,
    rho: Float64Array.from({ length: m }, (_, i) => residualStatistics(statistics, i, pooled, g, i * d)),
  };
}

export interface ClassFit extends ClassParameters {
  readonly logLikelihood: number;
  readonly trace: readonly number[];
  readonly converged: boolean;
}

export const MAX_ITERATIONS = 500;
export const TOLERANCE = 1e-8;
/** With effects EM is slow: after this many of its iterations quasi-Newton steps go on. */
const FIRST_ITERATIONS = 10;

/** The maximum from responsibilities [m,K] and a first guess of the effect and the noise. */
export function runEm(
  problem: ClassProblem,
  responsibilities: Float64Array,
  start: Pick<ClassParameters, "factor" | "noise">,
): ClassFit {
  const { statistics } = problem;
  const K = responsibilities.length / statistics.numIndividuals;
  const empty = { weights: new Float64Array(K), curves: new Float64Array(K * statistics.basis.numBasis) };
  let parameters: ClassParameters = { ...start, ...empty };
  parameters = maximize(problem, parameters, integrateEffects(problem, parameters), responsibilities);
  const trace: number[] = [];
  let converged = false;
  const most = parameters.factor === null ? MAX_ITERATIONS : FIRST_ITERATIONS;
  while (trace.length < most && !converged) {
    const integrated = integrateEffects(problem, parameters);
    const { logLikelihood, shares } = expectClasses(integrated, parameters);
    const gain = logLikelihood - (trace[trace.length - 1] ?? Number.NEGATIVE_INFINITY);
    trace.push(logLikelihood);
    converged = gain < TOLERANCE * (1 + Math.abs(logLikelihood));
    if (!converged) parameters = maximize(problem, parameters, integrated, shares);
  }
  if (parameters.factor !== null) {
    const [unit, n] = [Math.sqrt(noiseLevel(parameters.noise)), K + parameters.curves.length];
    const { x, value, reason } = maximizeBfgs(
      (x, gradient) => classScore(problem, fromVector(x, parameters, unit), unit, gradient),
      toVector(parameters, unit),
      {
        maxEvaluations: MAX_ITERATIONS,
        minGain: 0.1 * TOLERANCE * (1 + Math.abs(trace[trace.length - 1])),
        firstStep: 0.1,
      },
    );
    const found = fromVector(x, parameters, unit);
    const d = statistics.basis.numBasis;
    parameters = {
      ...found,
      factor: lowerFactor(
        x.slice(n, -1).map((v) => unit * v),
        d,
        d,
      ),
    };
    trace.push(value);
    converged = reason !== "iterations";
  }
  return { ...parameters, logLikelihood: trace[trace.length - 1], trace, converged };
}

/**
 * Log-likelihood and its derivatives by log π (before they are normalised), b and L in `unit`s, and log σ². With the residual
 * u_ik = (g̃_i − G̃_ib_k)/σ² = B_i'V_i⁻¹(y_i − B_ib_k),
 *   ∂/∂b_k = Σ_i r_ik u_ik,   ∂/∂L = Σ_i (Σ_k r_ik u_iku_ik' − G̃_i/σ²) L,   ∂/∂log σ² = ½(Σ E‖residual‖²/σ² − N).
 */
function classScore(problem: ClassProblem, parameters: ClassParameters, unit: number, gradient: Float64Array): number {
  const { statistics } = problem;
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const { weights, curves, factor } = parameters;
  const K = weights.length;
  const integrated = integrateEffects(problem, parameters);
  const { logLikelihood, shares } = expectClasses(integrated, parameters);
  const { G, g, sigma2 } = integrated;
  const byCovariance = new Float64Array(d * d);
  const u = new Float64Array(d);
  gradient.fill(0);
  for (let i = 0; i < m; i++) {
    for (let a = 0; a < d * d; a++) byCovariance[a] -= G[i * d * d + a] / sigma2;
    for (let k = 0; k < K; k++) {
      const r = shares[i * K + k];
      gradient[k] += r - weights[k];
      for (let a = 0; a < d; a++) {
        let s = g[i * d + a];
        for (let c = 0; c < d; c++) s -= G[(i * d + a) * d + c] * curves[k * d + c];
        u[a] = s / sigma2;
        gradient[K + k * d + a] += r * u[a] * unit;
      }
      for (let a = 0; a < d; a++) for (let c = 0; c < d; c++) byCovariance[a * d + c] += r * u[a] * u[c];
    }
  }
  const byFactor = multiply(byCovariance, factor!, d, d, d);
  for (let a = 0; a < d * d; a++) gradient[K + K * d + a] = byFactor[a] * unit;
  const { squares } = expectEffects(problem, integrated, shares, curves);
  gradient[gradient.length - 1] = 0.5 * (squares / sigma2 - statistics.numObservations);
  return logLikelihood;
}

/** Parameters in free coordinates: log π, b and L in `unit`s, log σ². */
function toVector({ weights, curves, factor, noise }: ClassParameters, unit: number): Float64Array {
  const scaled = joinFloats([curves, factor!]).map((v) => v / unit);
  return joinFloats([weights.map(Math.log), scaled, Float64Array.of(Math.log(noiseLevel(noise)))]);
}

function fromVector(x: Float64Array, like: ClassParameters, unit: number): ClassParameters {
  const K = like.weights.length;
  const n = K + like.curves.length;
  const total = logSumExp(x.subarray(0, K));
  return {
    weights: x.slice(0, K).map((v) => Math.max(Math.exp(v - total), Number.MIN_VALUE)),
    curves: x.slice(K, n).map((v) => unit * v),
    factor: x.slice(n, -1).map((v) => unit * v),
    noise: withLevel(like.noise, Math.exp(x[x.length - 1])),
  };
}

/** What is left of each individual once its effect is integrated out. */
interface Integrated {
  /** log p(y_i | b = 0), [m]. */
  readonly base: Float64Array;
  readonly G: Float64Array; // G̃ [m,d,d]
  readonly g: Float64Array; // g̃ [m,d]
  readonly Q: Float64Array | null; // [m,d,d]
  readonly sigma2: number;
}

function integrateEffects({ statistics, G, g, rho }: ClassProblem, { factor, noise }: ClassParameters): Integrated {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const sigma2 = noiseLevel(noise);
  const constant = noiseConstants(noise, statistics);
  if (factor === null) return { base: rho.map((r, i) => constant(i) - (0.5 * r) / sigma2), G, g, Q: null, sigma2 };
  const base = new Float64Array(m);
  const left = { G: new Float64Array(m * d * d), g: new Float64Array(m * d), Q: new Float64Array(m * d * d) };
  for (let i = 0; i < m; i++) {
    const [Gi, gi] = [G.subarray(i * d * d, (i + 1) * d * d), g.subarray(i * d, (i + 1) * d)];
    const own = { n: statistics.counts[i], G: Gi, g: gi, rho: rho[i], sigma2, noiseConstant: constant(i) };
    const { W, logDensity } = gaussianEffect(own, factor);
    const Q = multiply(transpose(W, d, d), W, d, d, d);
    const GQ = multiply(Gi, Q, d, d, d);
    const [GQG, GQg] = [multiply(GQ, Gi, d, d, d), multiplyVector(GQ, gi, d, d)];
    base[i] = logDensity;
    for (let a = 0; a < d * d; a++) left.G[i * d * d + a] = Gi[a] - GQG[a];
    for (let a = 0; a < d; a++) left.g[i * d + a] = gi[a] - GQg[a];
    left.Q.set(Q, i * d * d);
  }
  return { base, ...left, sigma2 };
}

/** E step: log-likelihood and shares of classes r_ik, [m,K]. */
function expectClasses(
  { base, G, g, sigma2 }: Integrated,
  { weights, curves }: ClassParameters,
): { readonly logLikelihood: number; readonly shares: Float64Array } {
  const K = weights.length;
  const d = curves.length / K;
  const logWeights = weights.map(Math.log);
  const shares = new Float64Array(base.length * K);
  const scores = new Float64Array(K);
  let logLikelihood = 0;
  for (let i = 0; i < base.length; i++) {
    for (let k = 0; k < K; k++) scores[k] = logWeights[k] - (0.5 * misfitChange(G, g, i, curves, k, d)) / sigma2;
    const norm = logSumExp(scores);
    for (let k = 0; k < K; k++) shares[i * K + k] = Math.exp(scores[k] - norm);
    logLikelihood += base[i] + norm;
  }
  return { logLikelihood, shares };
}

/** b_k'G_ib_k − 2g_i'b_k: what the curve of class k changes in the squared misfit of i. */
function misfitChange(G: Float64Array, g: Float64Array, i: number, curves: Float64Array, k: number, d: number): number {
  let s = 0;
  for (let a = 0; a < d; a++) {
    let t = 0;
    for (let c = 0; c < d; c++) t += G[(i * d + a) * d + c] * curves[k * d + c];
    s += curves[k * d + a] * (t - 2 * g[i * d + a]);
  }
  return s;
}

/** M step for given shares: weights, curves by generalised least squares, then effects and noise with these curves. */
function maximize(
  problem: ClassProblem,
  { factor, noise, weights: { length: K } }: ClassParameters,
  integrated: Integrated,
  shares: Float64Array,
): ClassParameters {
  const { statistics } = problem;
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const weights = new Float64Array(K);
  const curves = new Float64Array(K * d);
  for (let k = 0; k < K; k++) {
    const A = new Float64Array(d * d);
    const b = new Float64Array(d);
    for (let i = 0; i < m; i++) {
      const w = shares[i * K + k];
      weights[k] += w / m;
      for (let a = 0; a < d; a++) b[a] += w * integrated.g[i * d + a];
      for (let a = 0; a < d * d; a++) A[a] += w * integrated.G[i * d * d + a];
    }
    weights[k] = Math.max(weights[k], Number.MIN_VALUE);
    // A class that covers only part of the time span keeps the pooled mean elsewhere.
    let scale = 0;
    for (let a = 0; a < d; a++) scale = Math.max(scale, A[a * d + a]);
    for (let a = 0; a < d; a++) A[a * d + a] += 1e-6 * scale + Number.MIN_VALUE;
    if (choleskyInPlace(A, d)) {
      solveCholeskyInPlace(A, d, b);
      curves.set(b, k * d);
    }
  }
  const { squares, covariance } = expectEffects(problem, integrated, shares, curves);
  return {
    weights,
    curves,
    factor: factor === null ? null : lowerFactor(rootOf(covariance, d), d, d),
    noise: learnNoise(noise, squares, statistics.numObservations, Number.MIN_VALUE),
  };
}

/**
 * Σ_ik r_ik E‖y_i − B_i(b_k + e)‖² and Σ_ik r_ik E[ee'] / m, with e | y_i, k ~ N(Qh, σ²Q), h = g_i − G_ib_k:
 *   E‖·‖² = ρ_i + b_k'G_ib_k − 2g_i'b_k − 2h'Qh + h'QGQh + σ² tr GQ.
 */
function expectEffects(
  { statistics, G, g, rho }: ClassProblem,
  { Q, sigma2 }: Integrated,
  shares: Float64Array,
  curves: Float64Array,
): { readonly squares: number; readonly covariance: Float64Array } {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const K = shares.length / m;
  const covariance = new Float64Array(d * d);
  const h = new Float64Array(d);
  let squares = 0;
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < K; k++) {
      squares += shares[i * K + k] * Math.max(rho[i] + misfitChange(G, g, i, curves, k, d), 0);
    }
    if (Q === null) continue;
    const [Gi, Qi] = [G.subarray(i * d * d, (i + 1) * d * d), Q.subarray(i * d * d, (i + 1) * d * d)];
    for (let a = 0; a < d * d; a++) covariance[a] += (sigma2 * Qi[a]) / m;
    squares += sigma2 * dot(Gi, Qi);
    for (let k = 0; k < K; k++) {
      const r = shares[i * K + k];
      for (let a = 0; a < d; a++) {
        h[a] = g[i * d + a];
        for (let c = 0; c < d; c++) h[a] -= Gi[a * d + c] * curves[k * d + c];
      }
      const e = multiplyVector(Qi, h, d, d);
      squares += r * (dot(e, multiplyVector(Gi, e, d, d)) - 2 * dot(e, h));
      for (let a = 0; a < d; a++) for (let c = 0; c < d; c++) covariance[a * d + c] += (r * e[a] * e[c]) / m;
    }
  }
  return { squares, covariance };
}

function rootOf(S: Float64Array, d: number): Float64Array {
  const L = S.slice();
  return choleskyInPlace(L, d) ? L : semidefiniteRoot(S, d);
}
