/**
 * The E step of the linear models (docs/math/linear.md §3). With the posterior v_i | y_i ~ N(v̂_i, C_i) and
 * E_i = C_i + v̂_iv̂_i', the complete-data likelihood is known to EM and quasi-Newton alike through
 *   S = Σ E_i [r,r],   M = Σ E_i ⊗ G_i [rd,rd],   K = Σ v̂_i ⊗ G_i [rd,d],   Y = Σ v̂_ig_i' [r,d],   Σ g_i [d],   Σ ρ_i,   Σ G_i.
 * Where noise has levels, all but S are those of values and curves divided by √λ_i: E v_iv_i'/λ_i ⊗ G_i and so on (effects.ts).
 * Indices (a,k) of factor entries L_ka stand at a·d + k: columns of L one after another, f = vec L.
 *
 * A pass adds up packed sums (`addExpectations`: this file is the definition, assembly/linear.ts the kernel); packed sums
 * of blocks add up, and `unpackExpectation` makes matrices of them once. Several markers are stacked (stack.ts): d is then the number
 * of all their coefficients, and squares are kept apart by marker.
 */
import { type CoefficientStatistics, unpackBand } from "../../basis/statistics.ts";
import { noiseLevel, noiseSpread } from "../../noise/noise.ts";
import { multiplyVector, transpose } from "../../numeric/matrix.ts";
import { effectsReader } from "./effects.ts";
import type { LowRankParameters } from "./low-rank.ts";
import type { LinearParameters } from "./stack.ts";

export interface Expectation {
  /** Σ_i log p(y_i); NaN if some A_i is numerically not positive definite. */
  readonly logLikelihood: number;
  /** ∂ℓ/∂log ω; 0 for noise of one level. */
  readonly logSpread: number;
  readonly gram: Float64Array; // Σ G [d,d]
  readonly effects: Float64Array; // S
  readonly secondMoment: Float64Array; // M
  readonly firstMoment: Float64Array; // K
  readonly cross: Float64Array; // Y
  readonly residual: Float64Array; // Σ g
  /** Σ ρ of each marker. */
  readonly sumSquares: Float64Array;
  /** The marker of each coefficient, [d]. */
  readonly rowMarker: Uint8Array;
}

/**
 * Number of packed sums: ℓ, Σ ρ, Σ g, Y, the pairs a ≥ c of S, then pairs and v̂ against each entry of the band of G; where noise
 * has levels, also ∂ℓ/∂log ω and the band of Σ G/λ.
 */
export function numSums(d: number, r: number, numBand: number, leveled = false): number {
  const numPairs = (r * (r + 1)) / 2;
  return 2 + d + r * d + numPairs + (numPairs + r) * numBand + (leveled ? 1 + numBand : 0);
}

/** The packed sums of all individuals in the statistics. */
export function expectationSums(statistics: CoefficientStatistics, parameters: LowRankParameters): Float64Array {
  const effectsOf = effectsReader(statistics, parameters);
  const r = parameters.rank;
  const d = statistics.basis.numBasis;
  const { numBand, gram, numIndividuals: m } = statistics;
  const { noise } = parameters;
  const sigma2 = noiseLevel(noise);
  const leveled = noiseSpread(noise) > 0;
  const numPairs = (r * (r + 1)) / 2;
  const moments = new Float64Array(numPairs + r);
  const sums = new Float64Array(numSums(d, r, numBand, leveled));
  for (let i = 0; i < m; i++) {
    const { logDensity, g, rho, v, P, precision, weightedMean, weightedMoment, bySpread } = effectsOf(i);
    sums[0] += logDensity;
    sums[1] += precision * rho;
    let at = 2;
    for (let k = 0; k < d; k++) sums[at++] += precision * g[k];
    for (let a = 0; a < r; a++) for (let k = 0; k < d; k++) sums[at++] += weightedMean[a] * g[k];
    for (let a = 0, j = 0; a < r; a++) {
      for (let c = 0; c <= a; c++) {
        sums[at++] += sigma2 * P[a * r + c] + v[a] * v[c];
        moments[j++] = weightedMoment[a * r + c];
      }
    }
    moments.set(weightedMean, numPairs);
    for (let h = 0; h < moments.length; h++) {
      for (let e = 0; e < numBand; e++) sums[at++] += moments[h] * gram[i * numBand + e];
    }
    if (!leveled) continue;
    sums[at++] += bySpread;
    for (let e = 0; e < numBand; e++) sums[at++] += precision * gram[i * numBand + e];
  }
  return sums;
}

/** Matrices from packed sums for a model of rank r, as those of one marker; `pooled` is Σ G [d,d], for noise of one level. */
export function unpackExpectation(
  statistics: CoefficientStatistics,
  r: number,
  sums: Float64Array,
  pooled: Float64Array,
): Expectation {
  const { numBand, bandRow, bandColumn } = statistics;
  const d = statistics.basis.numBasis;
  const n = r * d;
  const effects = new Float64Array(r * r);
  const secondMoment = new Float64Array(n * n);
  const firstMoment = new Float64Array(n * d);
  const pairs = 2 + d + n;
  let at = pairs + (r * (r + 1)) / 2;
  for (let a = 0, j = pairs; a < r; a++) {
    for (let c = 0; c <= a; c++, j++) {
      effects[a * r + c] = sums[j];
      effects[c * r + a] = sums[j];
      for (let e = 0; e < numBand; e++) {
        const [k, l, s] = [bandRow[e], bandColumn[e], sums[at++]];
        secondMoment[(a * d + k) * n + c * d + l] = s;
        secondMoment[(a * d + l) * n + c * d + k] = s;
        secondMoment[(c * d + k) * n + a * d + l] = s;
        secondMoment[(c * d + l) * n + a * d + k] = s;
      }
    }
  }
  for (let a = 0; a < r; a++) {
    for (let e = 0; e < numBand; e++) {
      const [k, l, s] = [bandRow[e], bandColumn[e], sums[at++]];
      firstMoment[(a * d + k) * d + l] = s;
      firstMoment[(a * d + l) * d + k] = s;
    }
  }
  const leveled = at < sums.length;
  return {
    logLikelihood: sums[0],
    logSpread: leveled ? sums[at] : 0,
    gram: leveled ? unpackBand(statistics, sums.subarray(at + 1)) : pooled,
    effects,
    secondMoment,
    firstMoment,
    cross: sums.slice(2 + d, pairs),
    residual: sums.slice(2, 2 + d),
    sumSquares: sums.slice(1, 2),
    rowMarker: new Uint8Array(d),
  };
}

/** What a factor leaves of the observations, in expectation over the effects. */
export interface Remainder {
  /** Σ B_i'(y_i − B_iβ − B_iLv̂_i) = Σ g_i − K'f, [d]. */
  readonly residual: Float64Array;
  /** Σ E‖y_i − B_iβ − B_iLv_i‖² = Σ ρ_i − 2Y'f + f'Mf of each marker: no G_i, so no M, joins two. */
  readonly sumSquares: Float64Array;
  /** Y − Mf, [r,d] as f. */
  readonly unexplained: Float64Array;
}

/** The remainder of a factor L [d,r], with the effects expected under the parameters of the E step. */
export function remainder(expected: Expectation, L: Float64Array): Remainder {
  const { secondMoment: M, firstMoment: K, cross: Y, rowMarker } = expected;
  const n = Y.length;
  const d = expected.residual.length;
  const f = transpose(L, d, n / d);
  const Mf = multiplyVector(M, f, n, n);
  const residual = expected.residual.slice();
  const sumSquares = expected.sumSquares.slice();
  for (let j = 0; j < n; j++) {
    sumSquares[rowMarker[j % d]] += (Mf[j] - 2 * Y[j]) * f[j];
    for (let k = 0; k < d; k++) residual[k] -= K[j * d + k] * f[j];
  }
  return { residual, sumSquares, unexplained: Y.map((y, j) => y - Mf[j]) };
}

/** Derivatives of the log-likelihood. */
export interface Score {
  readonly meanCoefficients: Float64Array; // ∂/∂β [d]
  readonly logNoiseLevels: Float64Array; // ∂/∂log σ² of each marker
  readonly logSpread: number; // ∂/∂log ω
  readonly factor: Float64Array; // ∂/∂L [d,r]
}

/** The derivatives at the parameters of the E step; by Fisher's identity those of the complete-data likelihood. */
export function scoreOf(
  expected: Expectation,
  { noises, factor: L, rank: r, meanCoefficients }: LinearParameters,
  statistics: readonly Pick<CoefficientStatistics, "numObservations">[],
): Score {
  const sigma2 = noises.map(noiseLevel);
  const { rowMarker } = expected;
  const { residual, sumSquares, unexplained } = remainder(expected, L);
  return {
    meanCoefficients: residual.map((e, k) => e / sigma2[rowMarker[k]]),
    logNoiseLevels: sumSquares.map((s, k) => 0.5 * (s / sigma2[k] - statistics[k].numObservations)),
    logSpread: expected.logSpread,
    factor: transpose(unexplained, r, meanCoefficients.length).map((u, e) => u / sigma2[rowMarker[Math.floor(e / r)]]),
  };
}
