/**
 * The effects v_i of one individual after its observations, under any noise (docs/math/linear.md §1, docs/math/noise.md §3).
 * Where noise has levels, s = σ²λ, they are averaged over the posterior q_k of the level: with L'GL = Q diag(δ) Q' and a = Q'L'g,
 *   v | k ~ N(Qu_k, s_k Q diag(1/(s_k + δ)) Q'),   u_kj = a_j/(s_k + δ_j),   q_k ∝ p_k p(y | k) of noise/levels.ts for τ = 1.
 * EM and quasi-Newton read the moments of v, and those divided by λ, since squares count 1/λ of what they would in the middle.
 */
import { type CoefficientStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import {
  type LevelEvidence,
  type LevelPosterior,
  levelDensities,
  levelPosterior,
  levelSlopes,
  type NoiseLevels,
  type RotatedEffect,
  rotateEffect,
  type WhitenedStatistics,
} from "../../noise/levels.ts";
import { noiseLevel, noiseLevels } from "../../noise/noise.ts";
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
  parameters: LowRankParameters,
  levels: NoiseLevels,
): EffectsReader {
  const { noise, rank: r } = parameters;
  const sigma2 = noiseLevel(noise);
  const rotatedOf = rotatedReader(statistics, parameters, levels);
  const u = new Float64Array(r);
  return (i) => {
    const { g, rho, a, Q, evidence, logSum, weights } = rotatedOf(i);
    const { delta } = evidence;
    // E u and E uu', plain and divided by λ, in the frame of Q.
    const [mean, weightedMean] = [new Float64Array(r), new Float64Array(r)];
    const [moment, weightedMoment] = [new Float64Array(r * r), new Float64Array(r * r)];
    let precision = 0;
    for (let k = 0; k < weights.length; k++) {
      const s = levels.variances[k];
      const q = weights[k];
      const w = (q * sigma2) / s;
      precision += w;
      for (let b = 0; b < r; b++) {
        u[b] = a[b] / (s + delta[b]);
        mean[b] += q * u[b];
        weightedMean[b] += w * u[b];
        moment[b * r + b] += (q * s) / (s + delta[b]);
        weightedMoment[b * r + b] += (w * s) / (s + delta[b]);
        for (let c = 0; c <= b; c++) {
          moment[b * r + c] += q * u[b] * u[c];
          weightedMoment[b * r + c] += w * u[b] * u[c];
        }
      }
    }
    for (let b = 0; b < r; b++) {
      for (let c = 0; c <= b; c++) {
        weightedMoment[c * r + b] = weightedMoment[b * r + c];
        moment[b * r + c] = (moment[b * r + c] - mean[b] * mean[c]) / sigma2; // Cov u / σ²
        moment[c * r + b] = moment[b * r + c];
      }
    }
    const turned = (x: Float64Array) => multiplyTransposed(multiply(Q, x, r, r, r), Q, r, r, r);
    return {
      logDensity: logSum,
      g,
      rho,
      v: multiplyVector(Q, mean, r, r),
      P: turned(moment),
      precision,
      weightedMean: multiplyVector(Q, weightedMean, r, r),
      weightedMoment: turned(weightedMoment),
      bySpread: levelSlopes(evidence, levels, 1, weights).logSpread,
    };
  };
}

/** One individual in the frame where all levels are diagonal, with their posterior; arrays serve until the next is asked for. */
export interface RotatedIndividual extends RotatedEffect, WhitenedStatistics, LevelPosterior {
  readonly a: Float64Array; // T'g [r]
  readonly evidence: LevelEvidence;
}

export function rotatedReader(
  statistics: CoefficientStatistics,
  { meanCoefficients, factor: L, rank: r }: LowRankParameters,
  levels: NoiseLevels,
): (individual: number) => RotatedIndividual {
  const d = statistics.basis.numBasis;
  const G = new Float64Array(d * d);
  const g = new Float64Array(d);
  return (i) => {
    unpackGram(statistics, i, G);
    const rho = residualStatistics(statistics, i, meanCoefficients, g);
    const rotated = rotateEffect(G, L, d, r);
    const a = multiplyVector(transpose(rotated.T, d, r), g, r, d);
    const { counts, logDets } = statistics;
    const { delta } = rotated;
    const evidence = { n: counts[i], logDet: logDets[i], delta, eta: rho, xi: a.map((v) => v * v) };
    return { ...rotated, G, g, rho, a, evidence, ...levelPosterior(levelDensities(evidence, levels, 1), levels) };
  };
}
