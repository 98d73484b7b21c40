/**
 * What the tests of one outcome share: individuals whose outcome is known, their strata, and for each representation the
 * pooled kernel and the statistics to permute. Outcomes known for the same individuals share one preparation.
 */
import { DtmError } from "../errors.ts";
import { energyForm, kdeForm, type PooledKernel } from "./permutation.ts";
import type { QuadraticForm } from "./quadratic-form.ts";
import { type VisitStrata, visitStrata } from "./visit-guard.ts";
import { wideForm, wideKernel } from "./wide-kernel.ts";

/** Places of all individuals under one model. */
export interface Representation {
  /** "lmm", "fpca", "dtm", ... */
  readonly name: string;
  /** x [m,q]. */
  readonly locations: Float64Array;
  /** Draws from the posterior of the places, [m,q] each, for a second check of the primary representation. */
  readonly draws?: readonly Float64Array[];
}

/** The individuals of an association in an order that does not depend on the caller's. */
export interface Individuals {
  readonly representations: readonly Representation[];
  readonly visitCounts: Float64Array;
  readonly lastTimes: Float64Array;
  /** Caller's index of each individual, [m]. */
  readonly order: Int32Array;
}

export interface PreparedRepresentation {
  readonly name: string;
  readonly mapDimension: number;
  /** x [n,q] of the known. */
  readonly locations: Float64Array;
  /** One pooled bandwidth, H = S, for the statistic and for the shares of its effect size. */
  readonly kernel: PooledKernel;
  /** The kernel itself, not centred: local shares, for the AUC. */
  readonly shares: QuadraticForm;
  /** The statistic that is permuted; may be held centred. */
  readonly wide: QuadraticForm;
}

export interface Prepared {
  /** Individuals whose outcome is known, [n]. */
  readonly known: Int32Array;
  readonly visitCounts: Float64Array;
  readonly guard: VisitStrata;
  readonly representations: readonly PreparedRepresentation[];
  /** Energy distance in the primary representation. */
  readonly energy: QuadraticForm;
  /** Density statistics of draws from the posteriors of its places. */
  readonly draws: readonly QuadraticForm[];
}

/** Sorts individuals by visits, last time and places; equal ones are exchangeable in every statistic. */
export function orderIndividuals(
  representations: readonly Representation[],
  visitCounts: ArrayLike<number>,
  lastTimes: ArrayLike<number>,
): Individuals {
  const m = visitCounts.length;
  for (const { name, locations } of representations) {
    if (lastTimes.length !== m || locations.length === 0 || locations.length % m !== 0) {
      throw new DtmError(
        "shape",
        `associate: expected places [m,q] and last times [m] for ${m} visit counts, received ${locations.length} numbers ` +
          `for "${name}" and ${lastTimes.length} times.`,
      );
    }
  }
  const order = Int32Array.from({ length: m }, (_, i) => i).sort(
    (a, b) => visitCounts[a] - visitCounts[b] || lastTimes[a] - lastTimes[b] || comparePlaces(representations, m, a, b),
  );
  return {
    representations: representations.map(({ name, locations, draws }) => ({
      name,
      locations: takeRows(locations, m, order),
      draws: draws?.map((draw) => takeRows(draw, m, order)),
    })),
    visitCounts: Float64Array.from(order, (i) => visitCounts[i]),
    lastTimes: Float64Array.from(order, (i) => lastTimes[i]),
    order,
  };
}

/** Prepares the tests of an outcome known for the individuals `known`; `primary` is the representation with all tests. */
export function prepare(individuals: Individuals, known: Int32Array, primary: string): Prepared {
  const m = individuals.order.length;
  const visitCounts = takeRows(individuals.visitCounts, m, known);
  const guard = visitStrata(visitCounts, takeRows(individuals.lastTimes, m, known));
  const representations = individuals.representations.map(({ name, locations: all }) => {
    const mapDimension = all.length / m;
    const locations = takeRows(all, m, known);
    const kernel = wideKernel(locations, mapDimension);
    const wide = wideForm(locations, mapDimension, kernel);
    // Small cohorts hold the whole kernel, which serves both.
    const shares = wide.kind === "features" ? kdeForm(kernel, known.length) : wide;
    return { name, mapDimension, locations, kernel, shares, wide };
  });
  const { locations } = representations.find(({ name }) => name === primary)!;
  const sets = individuals.representations.find(({ name }) => name === primary)?.draws ?? [];
  const draws = sets.map((set) => wideForm(takeRows(set, m, known), set.length / m));
  return { known, visitCounts, guard, representations, energy: energyForm(locations, known.length), draws };
}

/** Rows of x [m,q] in the given order, q from the length. */
export function takeRows(x: Float64Array, m: number, rows: Int32Array): Float64Array {
  const q = x.length / m;
  const out = new Float64Array(rows.length * q);
  for (let k = 0; k < rows.length; k++) for (let a = 0; a < q; a++) out[k * q + a] = x[rows[k] * q + a];
  return out;
}

function comparePlaces(representations: readonly Representation[], m: number, a: number, b: number): number {
  for (const { locations } of representations) {
    const q = locations.length / m;
    for (let k = 0; k < q; k++) {
      const difference = locations[a * q + k] - locations[b * q + k];
      if (difference !== 0) return difference;
    }
  }
  return 0;
}
