/**
 * Sufficient statistics per individual: all that any model reads of the data (docs/math/basis.md §3).
 *   G_i = B_i'B_i (banded: |k−l| ≤ degree),  c_i = B_i'(y_i − center),  s_i = ‖y_i − center‖²,
 * y on the scale of the model (transform applied), center = pooled mean, rounded. Because the basis sums to one,
 *   B_i'1 = G_i 1,  1'(y_i − center) = 1'c_i,  n_i = 1'G_i 1,
 * so a mean function with coefficients β may move without reading observations again:
 *   g_i = B_i'(y_i − Bβ) = c_i − G_i β̃,   ρ_i = s_i − 2 β̃'c_i + β̃'G_i β̃,   β̃ = β − center·1.
 * Noise with a correlation R_i puts R_i⁻¹ between the factors of each (noise/serial.ts); that of white noise is I. Then G_i is no
 * longer banded, and of the last three B_i'R⁻¹1 = G_i 1 and 1'R⁻¹(y_i − center) = 1'c_i hold, while 1'G_i 1 is not n_i.
 * A value below or above a limit stands in them as a pseudo-value with a weight (noise/limits.ts).
 * This is the definition; many individuals go through its kernel (wasm/statistics.ts).
 * 12 + 5 + 1 doubles per individual for the default basis (15 + 5 + 2 with a correlation), whatever the number of observations.
 */
import { type Cohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { DtmError } from "../errors.ts";
import { type CensoredSites, censoredSites } from "../noise/limits.ts";
import { type Noise, whiteNoise } from "../noise/noise.ts";
import { filterVisits, type SerialCorrelation, UNCORRELATED, whitenedProducts } from "../noise/serial.ts";
import { joinFloats, takeRows } from "../numeric/matrix.ts";
import { roundedMean } from "../numeric/rounding.ts";
import { compensatedSum } from "../numeric/sum.ts";
import { chooseKernels, type KernelChoice } from "../wasm/instance.ts";
import {
  FEWEST_INDIVIDUALS,
  transformValues,
  type VisitColumns,
  type VisitSeries,
  visitColumns,
} from "../wasm/statistics.ts";
import type { Basis } from "./bspline.ts";
import { type Band, bandIndices, plainColumns, visitRows, whitenedColumns } from "./visit-columns.ts";

export interface BasisStatistics {
  readonly basis: Basis;
  readonly numIndividuals: number;
  /** Σ_i n_i. */
  readonly numObservations: number;
  /** Pooled mean of the transformed values, subtracted before `cross` and `sumSquares` are taken. */
  readonly center: number;
  /** The noise whose correlation R_i is in the columns; its level is not, models learn it. */
  readonly noise: Noise;
  /** Ḡ = Σ_i B_i'B_i / N of the whole cohort, the average weight of the observed times, whatever the noise, [d,d]. */
  readonly averageGram: Float64Array;
  /** Number of band entries per individual: pairs k ≤ l ≤ k + degree, or all k ≤ l where noise is correlated. */
  readonly numBand: number;
  /** Row k and column l of each band entry, [numBand]; ordered by k, then l. */
  readonly bandRow: Uint8Array;
  readonly bandColumn: Uint8Array;
  /** Band entries of G_i, [m,numBand]. */
  readonly gram: Float64Array;
  /** B_i'R⁻¹(y_i − center), [m,d]. */
  readonly cross: Float64Array;
  /** (y_i − center)'R⁻¹(y_i − center), [m]. */
  readonly sumSquares: Float64Array;
  /** log|R_i|, [m]. */
  readonly logDets: Float64Array;
  /** n_i, [m]: visits; one below or above a limit counts as the share of one that it says of the noise. */
  readonly counts: Float64Array;
  /** Visits of each, [m]. */
  readonly visits: Int32Array;
  /** Sums over the whole cohort, where it is spread and these are some of its individuals; N and Ḡ are then those of the whole too. */
  readonly whole?: CohortSums;
  /** Of statistics that were put together: where each part ends, so that sums are taken by part. */
  readonly ends?: readonly number[];
}

/** Sums over the individuals of a cohort (cohort-sums.ts). */
export interface CohortSums {
  readonly numIndividuals: number;
  readonly numVisits: number;
  readonly numObservations: number;
  /** Σ s_i. */
  readonly squares: number;
  /** Σ c_i, [d]. */
  readonly cross: Float64Array;
  /** Σ G_i and Σ B_i'B_i, which are the same for white noise, [d,d]. */
  readonly gram: Float64Array;
  readonly design: Float64Array;
  readonly scatter: Scatter;
}

/** Squares of values about individuals' own lines and own means, with their degrees of freedom. */
export interface Scatter {
  /** Of individuals with three values or more. */
  readonly aboutLines: { readonly squares: number; readonly freedom: number };
  readonly aboutMeans: { readonly squares: number; readonly freedom: number };
}

/** Statistics of coefficients, whatever their functions: what formulas read. Coefficients of several markers are stacked so. */
export interface CoefficientStatistics extends Omit<BasisStatistics, "basis" | "averageGram" | "whole" | "ends"> {
  readonly basis: Pick<Basis, "numBasis">;
}

/** Statistics of the same individuals, marker by marker; zeros where an individual lacks one. */
export type CohortStatistics = readonly BasisStatistics[];

/** Columns with the same number of entries for every individual. */
const COLUMNS = ["gram", "cross", "sumSquares", "logDets", "counts", "visits"] as const;
type Column = BasisStatistics[(typeof COLUMNS)[number]];

/** Where values are counted from: their mean, rounded. Any number near them will do. */
function roundMiddle(values: Float64Array): number {
  const mean = compensatedSum(values) / values.length;
  const sd = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length);
  return roundedMean(mean, sd);
}

/** Statistics of a cohort; `center` defaults to the pooled mean (new individuals take centre and noise of the model). */
export function basisStatistics(
  cohort: Cohort,
  basis: Basis,
  options: { readonly center?: number; readonly noise?: Noise; readonly kernels?: KernelChoice } = {},
): BasisStatistics {
  const { center, noise = whiteNoise(1), kernels = "auto" } = options;
  const { marker, offsets, times, values: measured, censored } = onlyMarker(cohort);
  const m = numIndividuals(cohort);
  const N = times.length;
  const byKernels = m >= FEWEST_INDIVIDUALS && chooseKernels(kernels) === "wasm-simd";
  const values = byKernels
    ? transformValues(measured, marker.transform)
    : measured.map((v) => applyTransform(marker.transform, v));
  const origin = center ?? roundMiddle(values);
  const visits = Int32Array.from({ length: m }, (_, i) => offsets[i + 1] - offsets[i]);
  const series = { offsets, times, values, ...(censored && { censored }) };
  const columnsOf = (correlation?: SerialCorrelation): Band & VisitColumns => {
    const { start, ...band } = bandIndices(basis.numBasis, correlation ? basis.numBasis - 1 : basis.degree);
    if (byKernels) {
      return { ...band, ...visitColumns(basis, series, { center: origin, numBand: band.numBand }, correlation) };
    }
    return correlation === undefined
      ? { ...band, ...plainColumns(basis, series, origin, start) }
      : { ...band, ...whitenedColumns(basis, series, origin, correlation, band) };
  };
  const plain = {
    basis,
    numIndividuals: m,
    numObservations: N,
    center: origin,
    noise,
    ...columnsOf(),
    counts: Float64Array.from(visits),
    visits,
  };
  const averageGram = pooledGram(plain).map((v) => v / N);
  const correlated = noise.correlation === undefined ? {} : columnsOf(noise.correlation);
  const whitened = { ...plain, averageGram, ...correlated };
  return censored === undefined ? whitened : withSites(whitened, series);
}

/** Visits with values on the scale of the model, some below or above a limit as in a cohort. */
interface CensoredSeries extends VisitSeries {
  readonly censored?: Int8Array;
}

/** Statistics in which individuals with values below or above a limit have those of their pseudo-values. */
function withSites(statistics: BasisStatistics, series: CensoredSeries): BasisStatistics {
  const { basis, numBand, bandRow, bandColumn, gram, cross, sumSquares, logDets, counts, noise } = statistics;
  const d = basis.numBasis;
  const c = d + 1;
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const sites = visitSites(statistics, series, i);
    if (sites === undefined) continue;
    const { products, logDet } = whitenedProducts(filterVisits(sites, noise.correlation ?? UNCORRELATED));
    for (let e = 0; e < numBand; e++) gram[i * numBand + e] = products[bandRow[e] * c + bandColumn[e]];
    for (let a = 0; a < d; a++) cross[i * d + a] = products[a * c + d];
    sumSquares[i] = products[d * c + d];
    logDets[i] = logDet + sites.logDet;
    counts[i] = sites.count;
  }
  return { ...statistics, numObservations: compensatedSum(counts) };
}

/**
 * The visits of an individual with pseudo-values and weights for those below or above a limit; undefined where there is none.
 * @throws DtmError "option" if the noise does not say under what they are read.
 */
export function visitSites(
  { basis, center, noise }: Pick<BasisStatistics, "basis" | "center" | "noise">,
  { offsets, times, values, censored }: CensoredSeries,
  i: number,
): CensoredSites | undefined {
  const sides = censored?.subarray(offsets[i], offsets[i + 1]);
  if (!sides?.some((side) => side !== 0)) return undefined;
  if (noise.limits === undefined) {
    throw new DtmError(
      "option",
      "Statistics: expected noise with what values below or above a limit are read under, received none. Take them by a fit or a model.",
    );
  }
  const own = times.subarray(offsets[i], offsets[i + 1]);
  const rows = visitRows(basis, own, values.subarray(offsets[i], offsets[i + 1]), center);
  return censoredSites({ times: own, rows }, sides, center, noise.limits, noise.correlation);
}

/** Writes G_i as a full symmetric matrix to out [d,d]. */
export function unpackGram(statistics: CoefficientStatistics, individual: number, out: Float64Array): void {
  const { numBand, gram } = statistics;
  const offset = individual * numBand;
  unpackBand(statistics, gram.subarray(offset, offset + numBand), out);
}

/** A band [numBand] as a full symmetric matrix [d,d]. */
export function unpackBand(
  { numBand, bandRow, bandColumn, basis }: CoefficientStatistics,
  band: Float64Array,
  out: Float64Array = new Float64Array(basis.numBasis ** 2),
): Float64Array {
  const d = basis.numBasis;
  out.fill(0, 0, d * d);
  for (let e = 0; e < numBand; e++) {
    out[bandRow[e] * d + bandColumn[e]] = band[e];
    out[bandColumn[e] * d + bandRow[e]] = band[e];
  }
  return out;
}

/**
 * Writes g_i = c_i − G_i β̃ to out[offset..offset+d] and returns ρ_i = s_i − 2β̃'c_i + β̃'G_iβ̃,
 * β̃ = meanCoefficients − center. A scalar mean μ is the vector μ·1.
 */
export function residualStatistics(
  statistics: CoefficientStatistics,
  individual: number,
  meanCoefficients: Float64Array,
  out: Float64Array,
  offset = 0,
): number {
  const { numBand, bandRow, bandColumn, gram, cross, sumSquares, center } = statistics;
  const d = statistics.basis.numBasis;
  const co = individual * d;
  for (let k = 0; k < d; k++) out[offset + k] = cross[co + k];
  const go = individual * numBand;
  for (let e = 0; e < numBand; e++) {
    const k = bandRow[e];
    const l = bandColumn[e];
    const v = gram[go + e];
    out[offset + k] -= v * (meanCoefficients[l] - center);
    if (k !== l) out[offset + l] -= v * (meanCoefficients[k] - center);
  }
  // ρ = s − β̃'(c + g), since g = c − Gβ̃.
  let rho = sumSquares[individual];
  for (let k = 0; k < d; k++) rho -= (meanCoefficients[k] - center) * (cross[co + k] + out[offset + k]);
  return Math.max(rho, 0);
}

/** The columns of all individuals. */
export function statisticsColumns(statistics: BasisStatistics): Column[] {
  return COLUMNS.map((name) => statistics[name]);
}

/** The statistics with other columns: each as `change` makes it from the old one and its entries per individual. */
export function mapColumns(
  statistics: BasisStatistics,
  change: (column: Column, width: number) => Column,
): BasisStatistics {
  const m = statistics.numIndividuals;
  const changed = COLUMNS.map((name) => [name, change(statistics[name], statistics[name].length / m)]);
  return { ...statistics, ...Object.fromEntries(changed) };
}

/** Statistics of individuals from..to−1 as views on the same numbers; N, centre and Ḡ stay those of the cohort. */
export function statisticsBlock(
  statistics: BasisStatistics,
  { from, to }: { readonly from: number; readonly to: number },
): BasisStatistics {
  const block = mapColumns(statistics, (column, width) => column.subarray(from * width, to * width));
  return { ...block, numIndividuals: to - from, ends: undefined };
}

/** Statistics of several parts of a cohort, one after the other; sums over it are taken by part. */
export function joinStatistics(parts: readonly CohortStatistics[]): CohortStatistics {
  let end = 0;
  const ends = parts.map(([{ numIndividuals }]) => {
    end += numIndividuals;
    return end;
  });
  return parts[0].map((first, k) => {
    const own = parts.map((part) => part[k]);
    const visits = own.map(numVisits);
    const total = visits.reduce((sum, n) => sum + n, 0);
    const joined = COLUMNS.map((name) => {
      const columns = own.map((one) => one[name]);
      return [
        name,
        name === "visits" ? Int32Array.from(columns.flatMap((one) => [...one])) : joinFloats(columns as Float64Array[]),
      ];
    });
    return {
      ...first,
      ...Object.fromEntries(joined),
      numIndividuals: end,
      numObservations: own.reduce((sum, { numObservations }) => sum + numObservations, 0),
      averageGram: first.averageGram.map(
        (_, e) => own.reduce((sum, { averageGram }, j) => sum + averageGram[e] * visits[j], 0) / total,
      ),
      ends,
    };
  });
}

/** Statistics of some individuals, in the given order, from statistics already taken. */
export function selectStatistics(statistics: BasisStatistics, individuals: ArrayLike<number>): BasisStatistics {
  refuseSpread(statistics, "a sample of individuals");
  const m = individuals.length;
  const selected = mapColumns(statistics, (column, width) => {
    if (column instanceof Float64Array) return takeRows(column, width, individuals);
    const out = new Int32Array(m * width);
    for (let i = 0; i < m; i++) for (let k = 0; k < width; k++) out[i * width + k] = column[individuals[i] * width + k];
    return out;
  });
  return {
    ...selected,
    numIndividuals: m,
    ends: undefined,
    numObservations: selected.counts.reduce((sum, n) => sum + n, 0),
  };
}

/** Statistics of values less B_io_i, with o_i [d] of each individual, offsets [m,d]. */
export function movedStatistics(statistics: BasisStatistics, offsets: Float64Array): BasisStatistics {
  refuseSpread(statistics, "effects of covariates in the mean");
  const { numIndividuals: m, center } = statistics;
  const d = statistics.basis.numBasis;
  const cross = new Float64Array(m * d);
  const sumSquares = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    const moved = offsets.slice(i * d, (i + 1) * d).map((o) => center + o);
    sumSquares[i] = residualStatistics(statistics, i, moved, cross, i * d);
  }
  return { ...statistics, cross, sumSquares };
}

/** Statistics of values and curves divided by √λ_i, with weights 1/λ_i [m]. */
export function weightedStatistics(statistics: BasisStatistics, weights: Float64Array): BasisStatistics {
  refuseSpread(statistics, "noise levels of several markers");
  const weigh = (column: Float64Array, width: number) => column.map((v, e) => weights[Math.floor(e / width)] * v);
  const { gram, cross, sumSquares, numBand, basis } = statistics;
  return {
    ...statistics,
    gram: weigh(gram, numBand),
    cross: weigh(cross, basis.numBasis),
    sumSquares: weigh(sumSquares, 1),
  };
}

/** Sums over a spread cohort hold for all of its values as they were measured. */
function refuseSpread({ whole }: BasisStatistics, what: string): void {
  if (whole === undefined) return;
  throw new DtmError(
    "option",
    `A cohort that is spread over several places: expected a fit without ${what}, received one with it. Fit it in one place, or leave that out.`,
  );
}

/** Statistics of the same individuals as if nobody had been measured. */
export function unmeasured(statistics: BasisStatistics): BasisStatistics {
  const zeros = mapColumns(statistics, (column) => column.map(() => 0));
  return { ...zeros, numObservations: 0 };
}

/** Σ_i G_i, [d,d]. */
export function pooledGram(statistics: CoefficientStatistics): Float64Array {
  const { numIndividuals, numBand, bandRow, bandColumn, gram } = statistics;
  const d = statistics.basis.numBasis;
  const total = new Float64Array(d * d);
  for (let e = 0; e < numBand; e++) {
    let s = 0;
    for (let i = 0; i < numIndividuals; i++) s += gram[i * numBand + e];
    total[bandRow[e] * d + bandColumn[e]] = s;
    total[bandColumn[e] * d + bandRow[e]] = s;
  }
  return total;
}

/** Visits of all individuals. */
export function numVisits({ visits }: Pick<BasisStatistics, "visits">): number {
  return visits.reduce((sum, n) => sum + n, 0);
}

/** Number of distinct observation times, an upper limit for the size of the basis; not counted beyond `most`. */
export function countDistinctTimes(cohort: Cohort, most = Number.POSITIVE_INFINITY): number {
  const { times } = onlyMarker(cohort);
  const seen = new Set<number>();
  for (let j = 0; j < times.length && seen.size < most; j++) seen.add(times[j]);
  return seen.size;
}
