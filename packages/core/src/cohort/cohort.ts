/**
 * The validated, columnar, immutable cohort: the only form in which observations enter the library.
 * Rows may come in any order; inside they are sorted by (id, time, value), so that nothing computed from a cohort
 * depends on the order of rows, bit for bit.
 */
import { DtmError } from "../errors.ts";
import { assembleColumns } from "./assemble.ts";
import { type PackedIds, packIds, selectIds } from "./ids.ts";
import { applyTransform, DEFAULT_MARKER, type Marker, TRANSFORMS } from "./marker.ts";

export interface Cohort {
  /** Ids packed as UTF-8, ascending by UTF-16 code unit, [m]: `idAt` and `idList` give them as text. */
  readonly ids: PackedIds;
  /** Observations of individual i are offsets[i] .. offsets[i+1]-1, [m+1]. */
  readonly offsets: Int32Array;
  /** Times, ascending within an individual, [N]. */
  readonly times: Float64Array;
  /** Marker values on their original scale, [N]. */
  readonly values: Float64Array;
  readonly marker: Marker;
}

export interface CohortColumns {
  readonly ids: readonly string[];
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** A cohort from columns in any order; refuses ragged columns, empty ids and numbers that are not finite. */
export function makeCohort(columns: CohortColumns, marker: Partial<Marker> = {}): Cohort {
  const { ids, times, values } = columns;
  const N = ids.length;
  if (times.length !== N || values.length !== N) {
    throw new DtmError(
      "shape",
      `makeCohort: expected columns of one length, received ${N} ids, ${times.length} times, ${values.length} values.`,
    );
  }
  if (N === 0) throw new DtmError("no-rows", "makeCohort: expected at least one observation, received none.");
  const fullMarker = { ...DEFAULT_MARKER, ...marker };
  if (!TRANSFORMS.includes(fullMarker.transform)) {
    throw new DtmError(
      "option",
      `makeCohort: expected a transform among ${TRANSFORMS.join(", ")}, received ${String(fullMarker.transform)}.`,
    );
  }
  for (let j = 0; j < N; j++) checkRow(ids[j], times[j], values[j], j, fullMarker);

  const numbers = new Map<string, number>();
  const individuals = Int32Array.from(ids, (id) => {
    const known = numbers.get(id);
    if (known !== undefined) return known;
    numbers.set(id, numbers.size);
    return numbers.size - 1;
  });
  const names = packIds([...numbers.keys()]);
  const { order: _, ...sorted } = assembleColumns({ names, individuals, times, values });
  return { ...sorted, marker: fullMarker };
}

function checkRow(id: string, time: number, value: number, row: number, marker: Marker): void {
  if (typeof id !== "string" || id === "") {
    throw new DtmError(
      "missing-id",
      `makeCohort: expected an id as non-empty text, received ${String(id)} in row ${row}.`,
    );
  }
  if (!Number.isFinite(time)) {
    throw new DtmError("not-finite", `makeCohort: expected a finite time, received ${time} in row ${row}.`);
  }
  if (!Number.isFinite(value)) {
    throw new DtmError("not-finite", `makeCohort: expected a finite value, received ${value} in row ${row}.`);
  }
  if (!Number.isFinite(applyTransform(marker.transform, value))) {
    throw new DtmError(
      "transform-domain",
      `makeCohort: expected a value in the domain of transform "${marker.transform}", received ${value} in row ${row}. Leave such rows out or choose another transform.`,
    );
  }
}

/** How many individuals a cohort has. */
export function numIndividuals(cohort: Cohort): number {
  return cohort.offsets.length - 1;
}

/** How many observations a cohort has. */
export function numObservations(cohort: Cohort): number {
  return cohort.times.length;
}

/** Order of text by UTF-16 code unit: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The cohort of the given individuals (positions, ascending or not; the result is in canonical order). */
export function selectIndividuals(cohort: Cohort, individuals: ArrayLike<number>): Cohort {
  const chosen = Int32Array.from(individuals).sort();
  return subset(cohort, chosen, (i) => [cohort.offsets[i], cohort.offsets[i + 1]]);
}

/**
 * The first `count(n)` observations of each individual with n observations (for conditioning a forecast) or, with
 * `rest`, the others; individuals left with none are dropped.
 */
export function selectVisits(cohort: Cohort, count: (n: number) => number, rest = false): Cohort {
  const kept: number[] = [];
  const range = (i: number): [number, number] => {
    const start = cohort.offsets[i];
    const end = cohort.offsets[i + 1];
    const cut = start + Math.min(Math.max(Math.floor(count(end - start)), 0), end - start);
    return rest ? [cut, end] : [start, cut];
  };
  for (let i = 0; i < numIndividuals(cohort); i++) {
    const [start, end] = range(i);
    if (end > start) kept.push(i);
  }
  return subset(cohort, kept, range);
}

function subset(cohort: Cohort, chosen: ArrayLike<number>, range: (i: number) => [number, number]): Cohort {
  const offsets = new Int32Array(chosen.length + 1);
  for (let k = 0; k < chosen.length; k++) {
    const [start, end] = range(chosen[k]);
    offsets[k + 1] = offsets[k] + (end - start);
  }
  const times = new Float64Array(offsets[chosen.length]);
  const values = new Float64Array(offsets[chosen.length]);
  for (let k = 0; k < chosen.length; k++) {
    const [start, end] = range(chosen[k]);
    times.set(cohort.times.subarray(start, end), offsets[k]);
    values.set(cohort.values.subarray(start, end), offsets[k]);
  }
  return { ids: selectIds(cohort.ids, chosen), offsets, times, values, marker: cohort.marker };
}
