/**
 * Several markers as one (docs/math/linear.md §9). Values S_k y_ik with S_k = σ_1/σ_k all have the noise of the first marker, so that
 * the coefficients of all markers one after another, (S_k w_ik)_k [D], obey the model of one marker with
 *   G_i = blockdiag(G_ik),   c_i = (S_k c_ik)_k,   s_i = Σ_k S_k² s_ik,   n_i = Σ_k n_ik,   log|R_i| = Σ_k log|R_ik|,
 *   log p(y_i) = log p(S y_i) + Σ_k n_ik log S_k.
 * An individual without a marker has zeros there. One marker is its own stack, S = 1.
 */
import { type BasisStatistics, type CoefficientStatistics, pooledGram } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { type Noise, noiseLevel, noiseSpread } from "../../noise/noise.ts";
import type { LowRankParameters } from "./low-rank.ts";

/** Parameters of a linear model of one marker or several. */
export interface LinearParameters extends Omit<LowRankParameters, "noise"> {
  /** One for each marker. */
  readonly noises: readonly Noise[];
}

/** Statistics and parameters as those of one marker, in the unit of the first. */
export interface Stack {
  readonly statistics: CoefficientStatistics;
  readonly parameters: LowRankParameters;
  /** S_k of each coefficient, [D]. */
  readonly scales: Float64Array;
  /** Σ_k n_ik log S_k. */
  readonly logUnit: (individual: number) => number;
}

/** The most coefficients of all markers together: a fit takes the fourth power of their number for every individual. */
export const MOST_COEFFICIENTS = 40;

/** D, the number of coefficients of all markers. */
export function numCoefficients(statistics: readonly Pick<CoefficientStatistics, "basis">[]): number {
  return statistics.reduce((sum, { basis }) => sum + basis.numBasis, 0);
}

/** The marker of each coefficient, [D]. */
export function markerOfRow(statistics: readonly Pick<CoefficientStatistics, "basis">[]): Uint8Array {
  return Uint8Array.from(statistics.flatMap(({ basis }, k) => new Array<number>(basis.numBasis).fill(k)));
}

/** The rows of each marker, of M [D,n]. */
export function splitRows(
  statistics: readonly Pick<CoefficientStatistics, "basis">[],
  M: Float64Array,
): Float64Array[] {
  const n = M.length / numCoefficients(statistics);
  let to = 0;
  return statistics.map(({ basis }) => {
    const from = to;
    to += basis.numBasis * n;
    return M.slice(from, to);
  });
}

/** S_k = σ_1/σ_k of each coefficient, [D]. */
export function unitScales(
  statistics: readonly Pick<CoefficientStatistics, "basis">[],
  noises: readonly Noise[],
): Float64Array {
  return Float64Array.from(markerOfRow(statistics), (k) => unitScale(noises, k));
}

function unitScale(noises: readonly Noise[], k: number): number {
  return Math.sqrt(noiseLevel(noises[0]) / noiseLevel(noises[k]));
}

/** D·M with the entries of D [D] along the diagonal, for M [D,n]. */
export function scaleRows(scales: Float64Array, M: Float64Array): Float64Array {
  const n = M.length / scales.length;
  return M.map((v, e) => scales[Math.floor(e / n)] * v);
}

/** D⁻¹·M. */
export function unscaleRows(scales: Float64Array, M: Float64Array): Float64Array {
  const n = M.length / scales.length;
  return M.map((v, e) => v / scales[Math.floor(e / n)]);
}

/** Whether several markers' noises have levels of individuals, which a stack cannot hold (joint-levels.ts). */
export function haveLevels(noises: readonly Noise[]): boolean {
  return noises.length > 1 && noises.some((noise) => noiseSpread(noise) > 0);
}

export function stackMarkers(statistics: readonly BasisStatistics[], parameters: LinearParameters): Stack {
  const { noises, meanCoefficients, factor, rank } = parameters;
  checkMarkers(statistics, noises);
  const S = noises.map((_, k) => unitScale(noises, k));
  const scales = unitScales(statistics, noises);
  const logS = S.map(Math.log);
  const logUnit = (i: number) => statistics.reduce((sum, { counts }, k) => sum + counts[i] * logS[k], 0);
  if (statistics.length === 1) {
    return {
      statistics: statistics[0],
      parameters: { meanCoefficients, noise: noises[0], factor, rank },
      scales,
      logUnit,
    };
  }
  const centers = Float64Array.from(markerOfRow(statistics), (k) => statistics[k].center);
  return {
    statistics: stackStatistics(statistics, S),
    parameters: {
      meanCoefficients: meanCoefficients.map((b, j) => scales[j] * (b - centers[j])),
      noise: noises[0],
      factor: scaleRows(scales, factor),
      rank,
    },
    scales,
    logUnit,
  };
}

/** The statistics of values S_k (y_ik − center_k), markers one after another; one marker's are its own. */
export function stackStatistics(
  statistics: readonly BasisStatistics[],
  S: readonly number[] = statistics.map(() => 1),
): CoefficientStatistics {
  const [first, ...others] = statistics;
  if (others.length === 0) return first;
  const m = first.numIndividuals;
  const D = numCoefficients(statistics);
  const numBand = statistics.reduce((sum, own) => sum + own.numBand, 0);
  const bandRow = new Uint8Array(numBand);
  const bandColumn = new Uint8Array(numBand);
  const gram = new Float64Array(m * numBand);
  const cross = new Float64Array(m * D);
  const sumSquares = new Float64Array(m);
  const logDets = new Float64Array(m);
  const counts = new Float64Array(m);
  const visits = new Int32Array(m);
  let [row, entry] = [0, 0];
  statistics.forEach((own, k) => {
    const d = own.basis.numBasis;
    for (let e = 0; e < own.numBand; e++) {
      bandRow[entry + e] = row + own.bandRow[e];
      bandColumn[entry + e] = row + own.bandColumn[e];
    }
    for (let i = 0; i < m; i++) {
      gram.set(own.gram.subarray(i * own.numBand, (i + 1) * own.numBand), i * numBand + entry);
      for (let j = 0; j < d; j++) cross[i * D + row + j] = S[k] * own.cross[i * d + j];
      sumSquares[i] += S[k] * S[k] * own.sumSquares[i];
      logDets[i] += own.logDets[i];
      counts[i] += own.counts[i];
      visits[i] += own.visits[i];
    }
    row += d;
    entry += own.numBand;
  });
  const numObservations = statistics.reduce((sum, own) => sum + own.numObservations, 0);
  return {
    ...{ basis: { numBasis: D }, numIndividuals: m, numObservations, center: 0, noise: first.noise },
    ...{ numBand, bandRow, bandColumn, gram, cross, sumSquares, logDets, counts, visits },
  };
}

/** Σ G of all markers, one after another along the diagonal, [D,D]. */
export function stackedGram(statistics: readonly BasisStatistics[]): Float64Array {
  const D = numCoefficients(statistics);
  const total = new Float64Array(D * D);
  let row = 0;
  for (const own of statistics) {
    const d = own.basis.numBasis;
    const gram = own.whole?.gram ?? pooledGram(own);
    for (let k = 0; k < d; k++) total.set(gram.subarray(k * d, (k + 1) * d), (row + k) * D + row);
    row += d;
  }
  return total;
}

function checkMarkers(statistics: readonly BasisStatistics[], noises: readonly Noise[]): void {
  const m = statistics[0]?.numIndividuals;
  if (noises.length !== statistics.length || statistics.some(({ numIndividuals }) => numIndividuals !== m)) {
    throw new DtmError(
      "shape",
      `Linear model: expected statistics of ${noises.length} markers of the same individuals, received those of ${statistics.length} with ${statistics.map((own) => own.numIndividuals).join(", ")} individuals. Take the statistics of all markers from one cohort.`,
    );
  }
  if (haveLevels(noises)) {
    throw new DtmError(
      "option",
      `Linear model of several markers: expected noise of one level, received ${noises.map(({ kind }) => kind).join(", ")}. Stack what joint-levels.ts makes of them.`,
    );
  }
}
