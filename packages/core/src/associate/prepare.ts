/**
 * What the tests of one outcome share: individuals whose outcome is known, their strata, and for each representation the
 * pooled kernel and the statistics to permute. Outcomes known for the same individuals share one preparation.
 */
import { DtmError } from "../errors.ts";
import { takeRows } from "../numeric/matrix.ts";
import {
  energyFeatures,
  gaussFeatures,
  type KernelFeatures,
  type TestFeatures,
  testFeatures,
  wideFeatures,
} from "./kernel-features.ts";
import { standardPlaces } from "./sample.ts";
import { visitStrata } from "./visit-guard.ts";

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
  /** Places in units of their covariance, [n,q]: one pooled bandwidth, H = S, for the test and for local shares. */
  readonly places: Float64Array;
  /** The Gaussian kernel of these: local shares, for the AUC. */
  readonly kernel: KernelFeatures;
  /** The statistic that is permuted. */
  readonly test: TestFeatures;
}

export interface PreparedTest {
  /** Individuals whose outcome is known, [n]. */
  readonly known: Int32Array;
  readonly visitCounts: Float64Array;
  /** Stratum of the visit guard of each, [n]. */
  readonly strata: Int32Array;
  readonly representations: readonly PreparedRepresentation[];
  /** The representation whose p-values stand at the top. */
  readonly primary: PreparedRepresentation;
  /** Energy distance in the primary representation. */
  readonly energy: KernelFeatures;
  /** Density statistics of draws from the posteriors of its places. */
  readonly draws: readonly TestFeatures[];
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
      locations: takeRows(locations, locations.length / m, order),
      draws: draws?.map((draw) => takeRows(draw, locations.length / m, order)),
    })),
    visitCounts: Float64Array.from(order, (i) => visitCounts[i]),
    lastTimes: Float64Array.from(order, (i) => lastTimes[i]),
    order,
  };
}

/** Prepares the tests of an outcome known for the individuals `known`; `primary` is the representation with all tests. */
export function prepare(individuals: Individuals, known: Int32Array, primary: string): PreparedTest {
  const m = individuals.order.length;
  const n = known.length;
  const visitCounts = takeRows(individuals.visitCounts, 1, known);
  const representations = individuals.representations.map(({ name, locations: all }) => {
    const mapDimension = all.length / m;
    const locations = takeRows(all, mapDimension, known);
    const places = standardPlaces(locations, mapDimension);
    const kernel = gaussFeatures(places, n, mapDimension);
    return { name, mapDimension, locations, places, kernel, test: testFeatures(kernel) };
  });
  const at = representations.findIndex(({ name }) => name === primary);
  const { locations, mapDimension } = representations[at];
  const draws = individuals.representations[at].draws ?? [];
  return {
    known,
    visitCounts,
    strata: visitStrata(visitCounts, takeRows(individuals.lastTimes, 1, known)),
    representations,
    primary: representations[at],
    energy: energyFeatures(locations, n, mapDimension),
    draws: draws.map((set) => wideFeatures(takeRows(set, mapDimension, known), mapDimension)),
  };
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
