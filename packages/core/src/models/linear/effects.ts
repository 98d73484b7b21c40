/**
 * The effects v_i of one individual after its observations, under any noise (docs/math/linear.md §1, docs/math/noise.md §3).
 * Where noise has levels, s = σ²λ, they are averaged over the posterior q_k of the level: with L'GL = Q diag(δ) Q' and a = Q'L'g,
 *   v | k ~ N(Qu_k, s_k Q diag(1/(s_k + δ)) Q'),   u_kj = a_j/(s_k + δ_j),   q_k ∝ p_k p(y | k) of noise/levels.ts for τ = 1.
 * EM and quasi-Newton read the moments of v, and those divided by λ, since squares count 1/λ of what they would in the middle.
 */
import { type CoefficientStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import {
  expectedSquares,
  levelDensities,
  levelPosterior,
  levelSlopes,
  type NoiseLevels,
  rotateEffect,
} from "../../noise/levels.ts";
import { noiseLevel, noiseLevels, whiteNoise } from "../../noise/noise.ts";
import { multiply, multiplyTransposed, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { createWorkspace, factorIndividual, type LowRankParameters, solvePosterior } from "./low-rank.ts";

/** One individual; arrays serve until the next is asked for. */
export interface IndividualEffects {
  /** log p(y_i); NaN if some A_i is numerically not positive definite. */
  readonly logDensity: number;
  readonly g: Float64Array; // B'(y − Bβ) [d]
  readonly rho: number; // ‖y − Bβ‖²
  readonly v: Float64Array; // E v [r]
  readonly P: Float64Array; // Cov v / σ² [r,r]
  /** E 1/λ, E v/λ [r] and E vv'/λ [r,r]. */
  readonly precision: number;
  readonly weightedMean: Float64Array;
  readonly weightedMoment: Float64Array;
  /** ∂ log p(y_i)/∂ log ω. */
  readonly bySpread: number;
}

/** Reads one individual of the statistics after the other. */
export type EffectsReader = (individual: number) => IndividualEffects;

export function effectsReader(statistics: CoefficientStatistics, parameters: LowRankParameters): EffectsReader {
  const levels = noiseLevels(parameters.noise);
  return levels.z.length === 1 ? oneLevel(statistics, parameters) : manyLevels(statistics, parameters, levels);
}

function oneLevel(statistics: CoefficientStatistics, parameters: LowRankParameters): EffectsReader {
  const ws = createWorkspace(statistics, parameters);
  const sigma2 = noiseLevel(parameters.noise);
  const { r, g, v, P } = ws;
  const weightedMoment = new Float64Array(r * r);
  return (i) => {
    const logDensity = factorIndividual(statistics, i, parameters, ws);
    solvePosterior(ws);
    for (let a = 0; a < r; a++) {
      for (let c = 0; c < r; c++) weightedMoment[a * r + c] = sigma2 * P[a * r + c] + v[a] * v[c];
    }
    return { logDensity, g, rho: ws.sumSquares, v, P, precision: 1, weightedMean: v, weightedMoment, bySpread: 0 };
  };
}

function manyLevels(
  statistics: CoefficientStatistics,
  { meanCoefficients, noise, factor: L, rank: r }: LowRankParameters,
  levels: NoiseLevels,
): EffectsReader {
  const d = statistics.basis.numBasis;
  const sigma2 = noiseLevel(noise);
  const G = new Float64Array(d * d);
  const g = new Float64Array(d);
  return (i) => {
    unpackGram(statistics, i, G);
    const rho = residualStatistics(statistics, i, meanCoefficients, g);
    const rotated = rotateEffect(G, L, d, r);
    const { delta, T, Q } = rotated;
    const evidence = {
      n: statistics.counts[i],
      logDet: statistics.logDets[i],
      delta,
      ...expectedSquares({ G, g, rho }, rotated),
    };
    const { logSum, weights } = levelPosterior(levelDensities(evidence, levels, 1), levels);
    const a = multiplyVector(transpose(T, d, r), g, r, d);
    // E uu' and E u, plain and divided by λ, in the frame of Q.
    const frame = () => ({ mean: new Float64Array(r), moment: new Float64Array(r * r), total: 0 });
    const [plain, weighted] = [frame(), frame()];
    levels.variances.forEach((s, k) => {
      const u = a.map((v, j) => v / (s + delta[j]));
      for (const { into, share } of [
        { into: plain, share: weights[k] },
        { into: weighted, share: (weights[k] * sigma2) / s },
      ]) {
        into.total += share;
        for (let b = 0; b < r; b++) {
          into.mean[b] += share * u[b];
          into.moment[b * r + b] += (share * s) / (s + delta[b]);
          for (let c = 0; c < r; c++) into.moment[b * r + c] += share * u[b] * u[c];
        }
      }
    });
    const turned = (x: Float64Array) => multiplyTransposed(multiply(Q, x, r, r, r), Q, r, r, r);
    const spread = plain.moment.map(
      (v, e) => (v - plain.mean[Math.floor(e / r)] * plain.mean[e % r]) / sigma2, // Cov u / σ²
    );
    return {
      logDensity: logSum,
      g,
      rho,
      v: multiplyVector(Q, plain.mean, r, r),
      P: turned(spread),
      precision: weighted.total,
      weightedMean: multiplyVector(Q, weighted.mean, r, r),
      weightedMoment: turned(weighted.moment),
      bySpread: levelSlopes(evidence, levels, 1, weights).logSpread,
    };
  };
}

/** The levels of one individual's noise as white noises, with their posterior weights. */
export function levelShares(
  statistics: CoefficientStatistics,
  parameters: LowRankParameters,
): (individual: number) => readonly { readonly share: number; readonly parameters: LowRankParameters }[] {
  const levels = noiseLevels(parameters.noise);
  if (levels.z.length === 1) return () => [{ share: 1, parameters }];
  const ws = createWorkspace(statistics, parameters);
  const white = Array.from(levels.variances, (s) => ({ ...parameters, noise: whiteNoise(s) }));
  return (i) => {
    const densities = Float64Array.from(white, (at) => factorIndividual(statistics, i, at, ws));
    const { weights } = levelPosterior(densities, levels);
    return white.map((at, k) => ({ share: weights[k], parameters: at }));
  };
}
