/**
 * The shape of an oracle check: one number (worst error) against one tolerance. A checker reads one kind of fixture
 * file, recomputes what it lists and returns its checks. Rule unless the file's note says otherwise: 1e-8 of the
 * array's largest magnitude.
 */
import type { Basis } from "../../packages/core/src/basis/bspline.ts";
import { type BasisStatistics, basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { type Cohort, makeCohort } from "../../packages/core/src/cohort/cohort.ts";
import { combineMarkers } from "../../packages/core/src/cohort/several-markers.ts";

export interface Check {
  /** Path of the quantity inside the file. */
  readonly name: string;
  readonly error: number;
  readonly tolerance: number;
}

/** Recomputes one fixture file (parsed JSON). */
export type Checker = (fixture: never) => Check[];

export type Nested = number | readonly Nested[];

/** All numbers of nested lists in reading order. */
export function flatten(nested: Nested): Float64Array {
  const out: number[] = [];
  const visit = (x: Nested): void => {
    if (typeof x === "number") out.push(x);
    else for (const y of x) visit(y);
  };
  visit(nested);
  return Float64Array.from(out);
}

/** Worst absolute difference over the largest magnitude expected; infinite if sizes differ or anything is NaN. */
export function compare(name: string, actual: Nested | Float64Array, expected: Nested, tolerance = 1e-8): Check {
  const a = actual instanceof Float64Array ? actual : flatten(actual);
  const b = flatten(expected);
  if (a.length !== b.length) return { name, error: Number.POSITIVE_INFINITY, tolerance };
  let scale = 0;
  let worst = 0;
  for (let k = 0; k < b.length; k++) {
    scale = Math.max(scale, Math.abs(b[k]));
    const difference = Math.abs(a[k] - b[k]);
    worst = Math.max(worst, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
  }
  return { name, error: scale > 0 ? worst / scale : worst, tolerance };
}

/** Absolute difference of two numbers. */
export function compareAbsolute(name: string, actual: number, expected: number, tolerance: number): Check {
  const difference = Math.abs(actual - expected);
  return { name, error: Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference, tolerance };
}

/** One-sided: how far `actual` falls short of `floor` (0 if it does not). */
export function atLeast(name: string, actual: number, floor: number, tolerance: number): Check {
  const short = Math.max(0, floor - actual);
  return { name, error: Number.isNaN(actual) ? Number.POSITIVE_INFINITY : short, tolerance };
}

/** A cohort from a fixture's numeric subjects; ids are padded so that their order as text is their order as numbers. */
export function fixtureCohort(subjects: readonly number[], t: readonly number[], y: readonly number[]): Cohort {
  return makeCohort({ ids: subjects.map((s) => String(s).padStart(8, "0")), times: t, values: y });
}

/** A cohort of several markers from a fixture's lists, one for each; markers are named by their number. */
export function fixtureMarkers(
  markers: readonly {
    readonly individual: readonly number[];
    readonly time: readonly number[];
    readonly value: readonly number[];
  }[],
): Cohort {
  return combineMarkers(
    markers.map(({ individual, time, value }, k) => {
      const { ids, markers: own } = fixtureCohort(individual, time, value);
      return { ids, markers: own.map((series) => ({ ...series, marker: { ...series.marker, name: `${k}` } })) };
    }),
  );
}

/** A basis from a fixture's knot vector. */
export function fixtureBasis(knots: readonly number[], degree: number): Basis {
  return { degree, numBasis: knots.length - degree - 1, knots: Float64Array.from(knots), placement: "given" };
}

/** The data block that most fixtures share. */
export interface FixtureData {
  readonly subject: readonly number[];
  readonly t: readonly number[];
  readonly y: readonly number[];
  readonly knots: readonly number[];
  readonly degree: number;
}

export function fixtureStatistics(data: FixtureData): BasisStatistics {
  return basisStatistics(fixtureCohort(data.subject, data.t, data.y), fixtureBasis(data.knots, data.degree));
}

/** Numbers of R, null for its NA. */
export type WithNull = readonly (number | null)[];

/** `compare` where R gives a number; where R gives none, ours must be NaN or `other` (a band of a curve still at 1). */
export function compareKnown(
  name: string,
  actual: ArrayLike<number>,
  expected: WithNull,
  tolerance: number,
  other = 1,
): Check {
  const wrong = expected.some((e, j) => e === null && !(Number.isNaN(actual[j]) || actual[j] === other));
  if (wrong || actual.length !== expected.length) return { name, error: Number.POSITIVE_INFINITY, tolerance };
  const known = Array.from(expected.keys()).filter((j) => expected[j] !== null);
  return compare(
    name,
    known.map((j) => actual[j]),
    known.map((j) => expected[j]!),
    tolerance,
  );
}
