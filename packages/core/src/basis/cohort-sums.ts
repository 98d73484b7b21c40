/**
 * What is read of a whole cohort beside the passes of a fit: sums over its individuals. They are those of the statistics at hand or, where
 * these are some individuals of a cohort that is spread over several places (models/spread.ts), the sums over all, which `whole` then holds.
 */
import { compensatedSum } from "../numeric/sum.ts";
import { scatterAbout } from "./noise-prior.ts";
import { type BasisStatistics, type CohortSums, numVisits, pooledGram } from "./statistics.ts";

/** The sums over the cohort that the statistics belong to. */
export function cohortSums(statistics: BasisStatistics): CohortSums {
  if (statistics.whole !== undefined) return statistics.whole;
  const visits = numVisits(statistics);
  return {
    numIndividuals: statistics.numIndividuals,
    numVisits: visits,
    numObservations: statistics.numObservations,
    squares: totalSquares(statistics),
    cross: totalCross(statistics),
    gram: pooledGram(statistics),
    design: statistics.averageGram.map((v) => v * visits),
    scatter: scatterAbout(statistics),
  };
}

/** Individuals of the cohort. */
export function cohortSize({ whole, numIndividuals }: BasisStatistics): number {
  return whole?.numIndividuals ?? numIndividuals;
}

/** Visits of the cohort. */
export function cohortVisits(statistics: BasisStatistics): number {
  return statistics.whole?.numVisits ?? numVisits(statistics);
}

/** Individuals, and values of all markers. */
export interface CohortSizes {
  readonly numIndividuals: number;
  readonly numObservations: number;
}

export function cohortSizes(statistics: readonly BasisStatistics[]): CohortSizes {
  const numObservations = statistics.reduce((sum, own) => sum + cohortVisits(own), 0);
  return { numIndividuals: cohortSize(statistics[0]), numObservations };
}

/** Σ s_i. */
export function totalSquares({ whole, sumSquares }: BasisStatistics): number {
  return whole?.squares ?? compensatedSum(sumSquares);
}

/** Σ c_i, [d]. */
export function totalCross({ whole, cross, basis }: BasisStatistics): Float64Array {
  const d = basis.numBasis;
  return (
    whole?.cross ?? Float64Array.from({ length: d }, (_, j) => compensatedSum(cross.filter((__, e) => e % d === j)))
  );
}

/** The sums of values less their centre, divided by `scale`. */
export function scaledSums(sums: CohortSums | undefined, scale: number): CohortSums | undefined {
  if (sums === undefined) return undefined;
  const squared = (of: { readonly squares: number; readonly freedom: number }) => ({
    ...of,
    squares: of.squares / scale / scale,
  });
  return {
    ...sums,
    squares: sums.squares / scale / scale,
    cross: sums.cross.map((c) => c / scale),
    scatter: { aboutLines: squared(sums.scatter.aboutLines), aboutMeans: squared(sums.scatter.aboutMeans) },
  };
}
