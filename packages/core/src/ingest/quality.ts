/**
 * The quality of a cohort in numbers, before any model: who was seen how often and for how long, what is missing,
 * repeated or suspicious, and which pairs of times were observed in the same individuals (the design: where it is empty,
 * a covariance over time is extrapolation). Holds no rows.
 */
import { type Cohort, numIndividuals, numObservations, onlyMarker, selectVisits } from "../cohort/cohort.ts";
import { type CensoringLimit, censoringLimits } from "../cohort/limits.ts";
import { applyTransform, type Marker, undoTransform } from "../cohort/marker.ts";
import { markerCohort, numMeasured } from "../cohort/several-markers.ts";
import { countVisitClasses } from "../cohort/visit-classes.ts";
import type { Complaint, ErrorCode } from "../errors.ts";
import { meanAndSd } from "../numeric/moments.ts";
import { sortedQuantile } from "../numeric/select.ts";
import type { ReadCohort } from "./read-cohort.ts";

/** Smallest, quartiles and largest, [5]. */
export type FiveNumbers = readonly [number, number, number, number, number];

export interface CohortQuality {
  readonly marker: Marker;
  readonly individuals: number;
  readonly observations: number;
  readonly rows: number;
  readonly rowsLeftOut: number;
  /** Observations of an individual. */
  readonly visits: FiveNumbers;
  readonly singleVisit: number;
  /** Individuals with 1, 2, 3, 4–5, 6–8 and 9 or more observations, [6]. */
  readonly visitClasses: readonly number[];
  readonly firstTime: number;
  readonly lastTime: number;
  readonly distinctTimes: number;
  /** Last minus first time of individuals seen at least twice. */
  readonly spans: FiveNumbers | null;
  /** Time between neighbouring observations. */
  readonly gaps: FiveNumbers | null;
  /** Values beyond a limit stand here with the limit. */
  readonly values: { readonly mean: number; readonly sd: number; readonly quantiles: FiveNumbers };
  /** Limits that values are only known to lie below or above, and how many do. */
  readonly limits: readonly CensoringLimit[];
  /** Rows concerned, by kind of finding. */
  readonly findings: {
    readonly missing: number;
    readonly duplicates: number;
    readonly sameTime: number;
    readonly suspectedCodes: number;
    readonly outliers: number;
    readonly negativeTimes: number;
  };
  readonly design: CoveredPairs;
  /** Values in bins that are equal on the scale of the model, with round edges. */
  readonly histogram: { readonly edges: readonly number[]; readonly counts: readonly number[] };
  readonly warnings: readonly Complaint[];
  readonly notes: readonly string[];
}

/** The quality of a cohort of several markers: of all together, and of each. */
export interface MarkersQuality {
  readonly individuals: number;
  readonly observations: number;
  readonly rows: number;
  readonly rowsLeftOut: number;
  /** Individuals without a value of each marker, [K]. */
  readonly lacking: readonly number[];
  /** Individuals with values of both of two markers, [K,K]. */
  readonly measured: readonly number[];
  /** Of each marker by itself, among those who have it, [K]. */
  readonly markers: readonly CohortQuality[];
  readonly warnings: readonly Complaint[];
  readonly notes: readonly string[];
}

/** How many individuals have observations in both of two bins of time. */
export interface CoveredPairs {
  readonly edges: readonly number[]; // [n+1]
  readonly counts: readonly number[]; // [n,n], symmetric
  /** Share of the pairs of bins, a ≤ b, seen in at least one individual. */
  readonly covered: number;
}

const DESIGN_BINS = 12;
const VALUE_BINS = 24;

/**
 * The quality of a cohort as it was read.
 * @example
 * const { individuals, visits, findings } = inspectCohort(readCohort(text));
 */
export function inspectCohort(
  read: Pick<ReadCohort, "cohort" | "numRows" | "numRowsLeftOut" | "warnings" | "notes">,
): CohortQuality {
  const { cohort, warnings, notes } = read;
  const { marker, times, values, offsets } = onlyMarker(cohort);
  const m = numIndividuals(cohort);
  const counts = Float64Array.from({ length: m }, (_, i) => offsets[i + 1] - offsets[i]);
  const spans: number[] = [];
  const gaps: number[] = [];
  for (let i = 0; i < m; i++) {
    if (counts[i] > 1) spans.push(times[offsets[i + 1] - 1] - times[offsets[i]]);
    for (let j = offsets[i] + 1; j < offsets[i + 1]; j++) gaps.push(times[j] - times[j - 1]);
  }
  const visitClasses = countVisitClasses(counts);
  const sortedTimes = times.slice().sort();
  const countOf = (code: ErrorCode) => warnings.filter((w) => w.code === code).reduce((s, w) => s + (w.count ?? 1), 0);
  return {
    marker,
    individuals: m,
    observations: times.length,
    rows: read.numRows,
    rowsLeftOut: read.numRowsLeftOut,
    visits: fiveNumbers(counts)!,
    singleVisit: visitClasses[0],
    visitClasses,
    firstTime: sortedTimes[0],
    lastTime: sortedTimes[sortedTimes.length - 1],
    distinctTimes: new Set(times).size,
    spans: fiveNumbers(spans),
    gaps: fiveNumbers(gaps),
    values: { ...meanAndSd(values), quantiles: fiveNumbers(values)! },
    limits: censoringLimits(onlyMarker(cohort)),
    findings: {
      missing: countOf("missing-value"),
      duplicates: countOf("duplicate-rows"),
      sameTime: countOf("same-time"),
      suspectedCodes: countOf("suspected-missing-code"),
      outliers: countOf("outlier"),
      negativeTimes: countOf("negative-time"),
    },
    design: coveredPairs(cohort, sortedTimes[0], sortedTimes[sortedTimes.length - 1]),
    histogram: valueHistogram(cohort),
    warnings,
    notes,
  };
}

/** What `inspectCohort` says, marker by marker; a warning about one marker is told with it alone. */
export function inspectMarkers(
  read: Pick<ReadCohort, "cohort" | "markerColumns" | "numRows" | "numRowsLeftOut" | "warnings" | "notes">,
): MarkersQuality {
  const { cohort, markerColumns, numRows, numRowsLeftOut, warnings, notes } = read;
  const individuals = numIndividuals(cohort);
  const isOf = ({ where }: Complaint, k: number) => {
    const { value, level } = markerColumns[k];
    return level === undefined ? where.column === value : where.marker === level;
  };
  const present = cohort.markers.flatMap(({ times }, k) => (times.length > 0 ? [k] : []));
  const markers = present.map((k) => {
    const own = selectVisits(markerCohort(cohort, k), (n) => n);
    const told = warnings.filter((warning) => isOf(warning, k));
    return inspectCohort({ cohort: own, numRows, numRowsLeftOut, warnings: told, notes: [] });
  });
  const measured = cohort.markers.flatMap((a) =>
    cohort.markers.map((b) => cohort.ids.filter((_, i) => [a, b].every(({ offsets: o }) => o[i + 1] > o[i])).length),
  );
  return {
    individuals,
    observations: numObservations(cohort),
    rows: numRows,
    rowsLeftOut: numRowsLeftOut,
    lacking: numMeasured(cohort).map((count) => individuals - count),
    measured,
    markers,
    warnings: warnings.filter((warning) => !present.some((k) => isOf(warning, k))),
    notes,
  };
}

/** Individuals with observations in bins a and b of time, [n,n] over equal bins. */
export function coveredPairs(cohort: Cohort, first: number, last: number, n = DESIGN_BINS): CoveredPairs {
  const { offsets, times } = onlyMarker(cohort);
  const edges = Array.from({ length: n + 1 }, (_, k) => first + ((last - first) * k) / n);
  const counts = new Array<number>(n * n).fill(0);
  for (let i = 0; i < numIndividuals(cohort); i++) {
    const seen = new Set<number>();
    for (let j = offsets[i]; j < offsets[i + 1]; j++) seen.add(binOf(times[j], first, last, n));
    for (const a of seen) for (const b of seen) counts[a * n + b]++;
  }
  let covered = 0;
  for (let a = 0; a < n; a++) for (let b = a; b < n; b++) if (counts[a * n + b] > 0) covered++;
  return { edges, counts, covered: covered / ((n * (n + 1)) / 2) };
}

/**
 * About n bins of equal width on the scale of the model, edges on the marker's own: a log marker gets bins of equal ratio.
 * Edges are round (multiples of a round width, parts of a decade), so that the ends are not the extreme measurements.
 */
export function valueHistogram(cohort: Cohort, n = VALUE_BINS): CohortQuality["histogram"] {
  const { values, marker } = onlyMarker(cohort);
  const { transform } = marker;
  const x = Float64Array.from(values, (v) => applyTransform(transform, v));
  const usable = x.every(Number.isFinite);
  const scaled = usable ? x : values;
  const low = scaled.reduce((least, v) => Math.min(least, v), Number.POSITIVE_INFINITY);
  const high = scaled.reduce((most, v) => Math.max(most, v), Number.NEGATIVE_INFINITY);
  const width = roundWidth((high - low) / n, usable && (transform === "log" || transform === "log1p"));
  const first = Math.floor(low / width + 1e-9);
  const numBins = Math.max(1, Math.floor(high / width + 1e-9) + 1 - first);
  const counts = new Array<number>(numBins).fill(0);
  for (const v of scaled) counts[Math.min(numBins - 1, Math.max(0, Math.floor(v / width + 1e-9) - first))]++;
  const edges = Array.from({ length: numBins + 1 }, (_, k) => {
    const edge = (first + k) * width;
    return Number((usable ? undoTransform(transform, edge) : edge).toPrecision(12));
  });
  return { edges, counts };
}

/** A round width near the one wanted: 1, 2 or 5 times a power of ten, or a decade of a log scale in equal parts. */
function roundWidth(wanted: number, decades: boolean): number {
  if (!(wanted > 0)) return 1;
  if (decades) {
    const parts = [1, 2, 4, 5, 8, 10, 20, 40, 80, 100, 200];
    return Math.LN10 / (parts.find((p) => Math.LN10 / p <= 1.3 * wanted) ?? 400);
  }
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((k) => k * power).find((width) => width >= wanted * 0.75)!;
}

function binOf(x: number, low: number, high: number, n: number): number {
  return high > low ? Math.min(n - 1, Math.max(0, Math.floor((n * (x - low)) / (high - low)))) : 0;
}

/** Quantiles of type 7; null of nothing. */
function fiveNumbers(x: ArrayLike<number>): FiveNumbers | null {
  if (x.length === 0) return null;
  const sorted = Float64Array.from(x).sort();
  const at = (p: number) => sortedQuantile(sorted, p);
  return [at(0), at(0.25), at(0.5), at(0.75), at(1)];
}
