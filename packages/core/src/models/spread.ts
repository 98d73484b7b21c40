/**
 * One fit of a cohort that is spread over several places, such as hospitals or jobs of a cluster, none of which shows its individuals to
 * another. Every place runs the whole fit on its own individuals. Wherever the fit needs a sum over individuals it hands out its own and
 * takes up the sum over all places instead, so that all places go the same way and end with the same model: that of the cohort in one place,
 * but for the order in which numbers are added. Rows of individuals never leave. Sums are asked for in one order, which the fit alone
 * determines; a place that is started anew goes the same way again.
 */
import type { CohortSums } from "../basis/cohort-sums.ts";
import { cohortSums } from "../basis/cohort-sums.ts";
import type { BasisStatistics, CohortStatistics } from "../basis/statistics.ts";
import { DtmError } from "../errors.ts";
import { hereShards } from "./shard-worker.ts";
import type { ShardHost, Spread, Total } from "./shards.ts";

/** Which of the places this is. */
export interface SpreadPlace {
  readonly place: number;
  readonly numPlaces: number;
}

/** What a place is given: sums over all places, and perhaps where its individuals are worked on and who looks at what it hands out. */
export interface SpreadOptions extends Pick<Spread, "total" | "inspect"> {
  /** Default: here, one block after the other. */
  readonly host?: ShardHost;
}

/** A host for one place. */
export function spreadShards({ place, numPlaces }: SpreadPlace, options: SpreadOptions): ShardHost {
  const { total, inspect, host = hereShards() } = options;
  let before: number | undefined;
  const spread: Spread = {
    total,
    ...(inspect && { inspect }),
    before: () => {
      if (before !== undefined) return before;
      throw new DtmError("not-fitted", "spreadShards: individuals before these are known once statistics are opened.");
    },
  };
  const open: ShardHost["open"] = (statistics) => {
    if (before !== undefined) return { ...host.open(statistics), spread };
    if (statistics[0].numIndividuals === 0) {
      throw new DtmError("too-few-individuals", "spreadShards: expected individuals at every place, received none.");
    }
    const counts = new Float64Array(numPlaces);
    counts[place] = statistics[0].numIndividuals;
    const sizes = total(counts, "individuals of each place");
    before = sizes.slice(0, place).reduce((sum, n) => sum + n, 0);
    return { ...host.open(wholeStatistics(statistics, total)), spread };
  };
  return { open, spread };
}

/** Statistics of the individuals here that know the sums over all places. */
function wholeStatistics(statistics: CohortStatistics, total: Total): CohortStatistics {
  return statistics.map((own): BasisStatistics => {
    const here = cohortSums(own);
    const whole = unpack(total(pack(here), "visits"), own.basis.numBasis);
    const averageGram = whole.design.map((v) => v / whole.numVisits);
    return { ...own, numObservations: whole.numObservations, averageGram, whole };
  });
}

function pack({ scatter: { aboutLines, aboutMeans }, ...sums }: CohortSums): Float64Array {
  const { numIndividuals, numVisits, numObservations, squares, cross, gram, design } = sums;
  return Float64Array.of(
    ...[numIndividuals, numVisits, numObservations, squares],
    ...[aboutLines.squares, aboutLines.freedom, aboutMeans.squares, aboutMeans.freedom],
    ...cross,
    ...gram,
    ...design,
  );
}

function unpack(sums: Float64Array, d: number): CohortSums {
  const [numIndividuals, numVisits, numObservations, squares] = sums;
  const [lines, freedomOfLines, means, freedomOfMeans] = sums.subarray(4);
  const columns = sums.subarray(8);
  return {
    ...{ numIndividuals, numVisits, numObservations, squares },
    cross: columns.slice(0, d),
    gram: columns.slice(d, d + d * d),
    design: columns.slice(d + d * d),
    scatter: {
      aboutLines: { squares: lines, freedom: freedomOfLines },
      aboutMeans: { squares: means, freedom: freedomOfMeans },
    },
  };
}
