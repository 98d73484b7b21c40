/**
 * Statistics of individuals whose noise has a level of its own (docs/math/noise.md §3), s_k = σ²exp(ωz_k), with the residual effect
 * e ~ N(0, LL') integrated out. Given weights q_k of the levels,
 *   G̃ = Σ_k q_k B'V_k⁻¹B,   g̃ = Σ_k q_k B'V_k⁻¹(y − Bβ),   c = Σ_k q_k [log N(y − Bβ | 0, V_k) + log p_k − log q_k],
 * packed as those of white noise, so that all that follows is the same. The weights are the best for what the last pass left of
 * the values: q_k ∝ p_k exp Q_k of the squares
 *   η = E‖y − Bβ − Bf‖²,   χ_j = ξ_j/δ_j, the part of η along the j-th direction of the effect, [1 + d],
 * over the responsibilities of that pass. χ does not depend on the size τ of the effect, so squares serve while τ moves.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import {
  averagedStatistics,
  expectedSquares,
  type LevelEvidence,
  levelDensities,
  levelPosterior,
  levelSlopes,
  type NoiseLevels,
  type RotatedEffect,
  rotateEffect,
} from "../../noise/levels.ts";
import { noiseLevels } from "../../noise/noise.ts";
import { multiplyVector, transpose } from "../../numeric/matrix.ts";
import { type Observations, observationsOf } from "../mixture/effect.ts";
import { type IndividualModel, packedRow } from "./individual-statistics.ts";

/** Directions whose δ is below this share of the largest carry rounding only. */
const NO_DIRECTION = 1e-12;

/** The squares of individuals before a pass, which weigh their levels, and after it; rows by position in the pass, [count,1 + d]. */
export interface LevelSquares {
  readonly before: Float64Array;
  readonly after: Float64Array;
  /** δ of the pass, [count,d]. */
  readonly directions: Float64Array;
}

/** One individual in a pass. */
export interface LevelStatistics {
  readonly own: Observations;
  readonly rotated: RotatedEffect;
  /** c and (g̃, G̃), as in individual-statistics.ts. */
  readonly constant: number;
  readonly row: Float64Array;
}

/** The statistics of one individual from its squares [1 + d]. */
export function levelStatistics(
  statistics: BasisStatistics,
  individual: number,
  { mean, noise, residualRoot }: IndividualModel,
  squares: Float64Array,
): LevelStatistics {
  const d = mean.length;
  const levels = noiseLevels(noise);
  const own = observationsOf(statistics, individual, mean, noise);
  const rotated = rotateEffect(own.G, residualRoot ?? new Float64Array(d * d), d);
  const { delta } = rotated;
  const logDet = statistics.logDets[individual];
  const weights = weighLevels(evidenceOf(own.n, logDet, delta, squares), levels);
  const { gram, cross } = averagedStatistics(own, rotated, levels, 1, weights);
  const atZero = levelDensities({ n: own.n, logDet, delta, ...expectedSquares(own, rotated) }, levels, 1);
  const constant = weights.reduce(
    (sum, q, k) => sum + (q > 0 ? q * (atZero[k] + levels.logWeights[k] - Math.log(q)) : 0),
    0,
  );
  return { own, rotated, constant, row: packedRow(cross, gram) };
}

/** What squares say of the level. */
function evidenceOf(n: number, logDet: number, delta: Float64Array, squares: Float64Array): LevelEvidence {
  return { n, logDet, delta, eta: squares[0], xi: delta.map((v, j) => v * squares[1 + j]) };
}

function weighLevels(evidence: LevelEvidence, levels: NoiseLevels): Float64Array {
  return levelPosterior(levelDensities(evidence, levels, 1), levels).weights;
}

/** Writes the squares of an individual over f with E f = f̄ and E ff' = R̄ to out [1 + d], and its δ [d]. */
export function writeSquares(
  { own, rotated }: Pick<LevelStatistics, "own" | "rotated">,
  f: { readonly mean: Float64Array; readonly moment: Float64Array },
  out: Float64Array,
  directions: Float64Array,
): void {
  const { eta, xi } = expectedSquares(own, rotated, f);
  out[0] = eta;
  const { delta } = rotated;
  directions.set(delta);
  delta.forEach((v, j) => {
    out[1 + j] = v > NO_DIRECTION * delta[0] ? xi[j] / v : 0;
  });
}

/**
 * The squares before the first pass, [m,1 + d], from the mixed model: Σ_ref = LL' for the whole course, with w given the values and
 * a level k as effects.ts of models/linear has it. In the frame of the individual
 *   ξ_j = Σ_k q_k [(a_j s_k/(s_k + δ_j))² + δ_j² s_k/(s_k + δ_j)],   η = Σ_k q_k [ρ − Σ_j 2a_ju_kj + Σ_j δ_j(u_kj² + s_k/(s_k + δ_j))].
 */
export function startingSquares(
  statistics: BasisStatistics,
  { mean, noise, residualRoot: L }: IndividualModel,
  out: Float64Array,
): void {
  const d = mean.length;
  const levels = noiseLevels(noise);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const own = observationsOf(statistics, i, mean, noise);
    const rotated = rotateEffect(own.G, L ?? new Float64Array(d * d), d);
    const { delta, T } = rotated;
    const weights = weighLevels(
      { n: own.n, logDet: statistics.logDets[i], delta, ...expectedSquares(own, rotated) },
      levels,
    );
    const a = multiplyVector(transpose(T, d, d), own.g, d, d);
    const squares = out.subarray(i * (1 + d), (i + 1) * (1 + d)).fill(0);
    levels.variances.forEach((s, k) => {
      let eta = own.rho;
      for (let j = 0; j < d; j++) {
        const shrink = 1 / (s + delta[j]);
        const u = a[j] * shrink;
        eta += delta[j] * (u * u + s * shrink) - 2 * a[j] * u;
        if (delta[j] > NO_DIRECTION * delta[0]) {
          squares[1 + j] += weights[k] * ((a[j] * s * shrink) ** 2 / delta[j] + delta[j] * s * shrink);
        }
      }
      squares[0] += weights[k] * eta;
    });
  }
}

/** 𝒬 = Σ_i log Σ_k p_k exp Q_ik, and slopes by log σ², log τ and log ω. */
export interface LevelSums {
  value: number;
  logVariance: number;
  logTau: number;
  logSpread: number;
}

/**
 * 𝒬 of the squares after a pass, levels at their best for them; slopes for levels at their best for the squares before it, which are
 * those of the bound with everything that the pass settled held fixed. The effect is `scale` times that of the pass. Without
 * `slopes` these are zero.
 */
export function levelSums(
  statistics: BasisStatistics,
  { mean, noise }: IndividualModel,
  { before, after, directions }: LevelSquares,
  scale = 1,
  slopes = true,
): LevelSums {
  const d = mean.length;
  const levels = noiseLevels(noise);
  const sums = { value: 0, logVariance: 0, logTau: 0, logSpread: 0 };
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const delta = directions.subarray(i * d, (i + 1) * d).map((v) => scale * v);
    const of = (squares: Float64Array) =>
      evidenceOf(statistics.counts[i], statistics.logDets[i], delta, squares.subarray(i * (1 + d), (i + 1) * (1 + d)));
    const evidence = of(after);
    sums.value += levelPosterior(levelDensities(evidence, levels, 1), levels).logSum;
    if (!slopes) continue;
    const { logVariance, logTau, logSpread } = levelSlopes(evidence, levels, 1, weighLevels(of(before), levels));
    sums.logVariance += logVariance;
    sums.logTau += logTau;
    sums.logSpread += logSpread;
  }
  return sums;
}
