/**
 * The validated, columnar, immutable cohort: the only form in which observations enter the library.
 * Rows may come in any order; inside they are sorted by (id, time, value), so that nothing computed from a cohort
 * depends on the order of rows, bit for bit.
 */
import { checkForm, checkGiven, checkNumbers, checkOption, DtmError, isNamed } from "../errors.ts";
import { takeRows } from "../numeric/matrix.ts";
import { assembleColumns } from "./assemble.ts";
import type { CodedCovariates } from "./coding.ts";
import { applyTransform, COMPUTABLE_SIZES, checkMarker, DEFAULT_MARKER, isComputable, type Marker } from "./marker.ts";

export { compareText } from "./assemble.ts";

export interface Cohort {
  /** Ids, ascending by UTF-16 code unit, [m]. */
  readonly ids: readonly string[];
  /** What was measured of these individuals: one marker or more, each at times of its own; who lacks one has an empty range. */
  readonly markers: readonly MarkerSeries[];
  /** What is known of each at the first visit, where a fit is to take it into account. */
  readonly covariates?: CodedCovariates;
}

/** The observations of one marker. */
export interface MarkerSeries {
  readonly marker: Marker;
  /** Observations of individual i are offsets[i] .. offsets[i+1]-1, [m+1]. */
  readonly offsets: Int32Array;
  /** Times, ascending within an individual, [N]. */
  readonly times: Float64Array;
  /** Marker values on their original scale, [N]. */
  readonly values: Float64Array;
  /** −1 where the value is only known to lie below the number given, 1 where above it, 0 where it is that number, [N]; absent where all are. */
  readonly censored?: Int8Array;
}

export interface CohortColumns {
  readonly ids: readonly string[];
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** −1 for a value below the limit given, 1 for one above, 0 for a measured one; all measured by default. */
  readonly censored?: ArrayLike<number>;
}

/**
 * A cohort from columns in any order; refuses ragged columns, empty ids and numbers that are not finite.
 * @throws DtmError "shape", "no-rows", "missing-id", "not-finite", "transform-domain", or "option" for a transform.
 * @example
 * const cohort = makeCohort({ ids: ["a", "a", "b"], times: [0, 1, 0], values: [80, 77, 91] }, { name: "FVC", unit: "%" });
 */
export function makeCohort(columns: CohortColumns, marker: Partial<Marker> = {}): Cohort {
  checkGiven("makeCohort", { columns, marker });
  const { ids, times, values, censored } = columns;
  checkGiven("makeCohort", { ids, times, values });
  checkForm(
    Array.isArray(ids),
    "makeCohort",
    "ids as a list of text",
    ids,
    'Give ["a", "a", "b"], one for each value.',
  );
  checkNumbers("makeCohort", "times", times);
  checkNumbers("makeCohort", "values", values);
  if (censored !== undefined) checkNumbers("makeCohort", "sides of limits", censored);
  const N = ids.length;
  if (times.length !== N || values.length !== N || (censored !== undefined && censored.length !== N)) {
    throw new DtmError(
      "shape",
      `makeCohort: expected columns of one length, received ${N} ids, ${times.length} times, ${values.length} values${censored === undefined ? "" : `, ${censored.length} sides of limits`}.`,
    );
  }
  if (N === 0) throw new DtmError("no-rows", "makeCohort: expected at least one observation, received none.");
  const fullMarker = checkMarker("makeCohort", { ...DEFAULT_MARKER, ...marker });
  for (let j = 0; j < N; j++) checkRow(ids[j], times[j], values[j], j, fullMarker);

  const numbers = new Map<string, number>();
  const individuals = Int32Array.from(ids, (id) => {
    const known = numbers.get(id);
    if (known !== undefined) return known;
    numbers.set(id, numbers.size);
    return numbers.size - 1;
  });
  const {
    ids: sorted,
    order: _,
    ...series
  } = assembleColumns([...numbers.keys()], [{ individuals, times, values, ...(censored && { censored }) }]);
  return { ids: sorted, markers: [{ marker: fullMarker, ...series }] };
}

function checkRow(id: string, time: number, value: number, row: number, marker: Marker): void {
  if (typeof id !== "string" || id === "") {
    throw new DtmError(
      "missing-id",
      `makeCohort: expected an id as non-empty text, received ${String(id)} in row ${row}.`,
    );
  }
  for (const [what, x] of [
    ["time", time],
    ["value", value],
  ] as const) {
    if (isComputable(x)) continue;
    throw new DtmError(
      "not-finite",
      `makeCohort: expected a finite ${what}, ${COMPUTABLE_SIZES}, received ${x} in row ${row}.`,
    );
  }
  if (!Number.isFinite(applyTransform(marker.transform, value))) {
    throw new DtmError(
      "transform-domain",
      `makeCohort: expected a value in the domain of transform "${marker.transform}", received ${value} in row ${row}. Leave such rows out or choose another transform.`,
    );
  }
}

/** Throws a DtmError unless this is a cohort: for callers whom no compiler warns. */
export function checkCohort(where: string, cohort: unknown): void {
  checkGiven(where, { cohort });
  const parts = isNamed(cohort) && Array.isArray(cohort.ids) && Array.isArray(cohort.markers) ? cohort.markers : [];
  const isCohort = parts.length > 0 && parts.every((part) => isNamed(part) && ArrayBuffer.isView(part.offsets));
  checkForm(isCohort, where, "a cohort", cohort, "Make one of a table (readCohort) or of columns (makeCohort).");
}

/**
 * The observations of a cohort's only marker, for what handles one; refuses a cohort of several.
 * @throws DtmError "several-markers".
 */
export function onlyMarker({ markers }: Cohort): MarkerSeries {
  if (markers.length === 1) return markers[0];
  const names = markers.map(({ marker }) => marker.name).join(", ");
  throw new DtmError(
    "several-markers",
    `Expected a cohort of one marker, received ${markers.length}${names === "" ? "" : ` (${names})`}. Take one of them.`,
  );
}

/**
 * How many individuals a cohort has.
 * @example
 * numIndividuals(cohort); // 312
 */
export function numIndividuals(cohort: Cohort): number {
  checkCohort("numIndividuals", cohort);
  return cohort.ids.length;
}

/** How many observations a cohort has, of all its markers. */
export function numObservations(cohort: Cohort): number {
  return cohort.markers.reduce((sum, { times }) => sum + times.length, 0);
}

/**
 * The cohort of the given individuals (positions, ascending or not; the result is in canonical order).
 * @throws DtmError "option" for a position that the cohort does not have, or for one given twice.
 * @example
 * const first = selectIndividuals(cohort, [0, 1, 2]);
 */
export function selectIndividuals(cohort: Cohort, individuals: ArrayLike<number>): Cohort {
  checkCohort("selectIndividuals", cohort);
  checkGiven("selectIndividuals", { individuals });
  checkNumbers("selectIndividuals", "individuals", individuals);
  const m = numIndividuals(cohort);
  const odd = Array.from(individuals).find((i) => !(Number.isInteger(i) && i >= 0 && i < m));
  const remedy = "Give positions in cohort.ids, counted from 0.";
  checkOption(odd === undefined, "selectIndividuals", `whole numbers from 0 to ${m - 1}`, odd, remedy);
  const chosen = Int32Array.from(individuals).sort();
  const twice = chosen.find((i, k) => i === chosen[k - 1]);
  checkOption(
    twice === undefined,
    "selectIndividuals",
    "every individual once",
    `${twice} twice`,
    "Leave it out once.",
  );
  return subset(cohort, chosen, ({ offsets }, i) => [offsets[i], offsets[i + 1]]);
}

/**
 * The first `count(n, times, i)` observations of each individual i with n observations of a marker (for conditioning a
 * forecast) or, with `rest`, the others; individuals left with none are dropped.
 */
export function selectVisits(
  cohort: Cohort,
  count: (n: number, times: Float64Array, individual: number) => number,
  rest = false,
): Cohort {
  const range: Range = ({ offsets, times }, i) => {
    const [start, end] = [offsets[i], offsets[i + 1]];
    const wanted = Math.floor(count(end - start, times.subarray(start, end), i));
    const cut = start + Math.min(Math.max(wanted, 0), end - start);
    return rest ? [cut, end] : [start, cut];
  };
  const kept = Int32Array.from({ length: numIndividuals(cohort) }, (_, i) => i).filter((i) =>
    cohort.markers.some((series) => {
      const [start, end] = range(series, i);
      return end > start;
    }),
  );
  return subset(cohort, kept, range);
}

/** Which observations of individual i are taken: from, and up to but not including. */
type Range = (series: MarkerSeries, i: number) => readonly [number, number];

function subset(cohort: Cohort, chosen: Int32Array, range: Range): Cohort {
  const markers = cohort.markers.map((series) => {
    const offsets = new Int32Array(chosen.length + 1);
    for (let k = 0; k < chosen.length; k++) {
      const [start, end] = range(series, chosen[k]);
      offsets[k + 1] = offsets[k] + (end - start);
    }
    const times = new Float64Array(offsets[chosen.length]);
    const values = new Float64Array(offsets[chosen.length]);
    const censored = series.censored && new Int8Array(offsets[chosen.length]);
    for (let k = 0; k < chosen.length; k++) {
      const [start, end] = range(series, chosen[k]);
      times.set(series.times.subarray(start, end), offsets[k]);
      values.set(series.values.subarray(start, end), offsets[k]);
      censored?.set(series.censored!.subarray(start, end), offsets[k]);
    }
    return { marker: series.marker, offsets, times, values, ...censoredSides(censored) };
  });
  const { covariates } = cohort;
  const coded = covariates && { coding: covariates.coding, values: rowsOf(covariates, chosen) };
  return { ids: Array.from(chosen, (i) => cohort.ids[i]), markers, ...(coded && { covariates: coded }) };
}

/** The column of a series, absent where nothing is a limit. */
export function censoredSides(censored: Int8Array | undefined): Pick<MarkerSeries, "censored"> {
  return censored?.some((side) => side !== 0) ? { censored } : {};
}

function rowsOf({ coding, values }: CodedCovariates, chosen: Int32Array): Float64Array {
  return takeRows(values, coding.columns.length, chosen);
}
