/**
 * One fit of a cohort that is spread over several places, such as hospitals or jobs of a cluster, none of which shows its individuals to
 * another. Every place runs the whole fit on its own individuals. Wherever the fit needs a sum over individuals it hands out its own and
 * takes up the sum over all places instead, so that all places go the same way and end with the same model: that of the cohort in one place,
 * sum by sum, since sums are added so that their order hardly matters. Rows of individuals never leave. Sums are asked for in one order, which the fit alone
 * determines; a place that is started anew goes the same way again.
 */
import { cohortSums } from "../basis/cohort-sums.ts";
import {
  type BasisStatistics,
  type CohortStatistics,
  type CohortSums,
  numVisits,
  pooledGram,
  statisticsBlock,
} from "../basis/statistics.ts";
import { DtmError } from "../errors.ts";
import { roundPairs, sumPairs } from "../numeric/pair-sum.ts";
import { compensatedSum } from "../numeric/sum.ts";
import { hereShards } from "./shard-worker.ts";
import {
  type Elsewhere,
  type RowSums,
  type ShardBlock,
  type ShardHost,
  type Spread,
  statisticsBlocks,
} from "./shards.ts";

/** Which of the places this is. */
export interface SpreadPlace {
  readonly place: number;
  readonly numPlaces: number;
}

/** Sums over all places from the pairs of sums (numeric/pair-sum.ts) here, [n] from [2n]. */
export type Exchange = (pairs: Float64Array, what: string, state?: string) => Float64Array;

/** What a place is given: sums over all places, and perhaps where its individuals are worked on and who looks at what it hands out. */
export interface SpreadOptions extends Pick<Spread, "inspect"> {
  /** Default: there is no other place. */
  readonly exchange?: Exchange;
  /** Default: here, one block after the other. */
  readonly host?: ShardHost;
  /** Of a cohort in one place: who else can work on all of it. */
  readonly elsewhere?: Elsewhere;
}

/** A host for one place. */
export function spreadShards({ place, numPlaces }: SpreadPlace, options: SpreadOptions = {}): ShardHost {
  const { exchange = roundPairs, inspect, host = hereShards(), elsewhere } = options;
  let before: number | undefined;
  let blocks: readonly ShardBlock[] = [];
  const total: Spread["total"] = (parts, what, state) => exchange(sumPairs(parts), what, state);
  const rows: RowSums = (what, sums) =>
    total(
      blocks.map(({ from, to }) => sums(from, to)),
      what,
    );
  const spread: Spread = {
    total,
    rows,
    ...(inspect && { inspect }),
    before: () => {
      if (before !== undefined) return before;
      throw new DtmError("not-fitted", "spreadShards: individuals before these are known once statistics are opened.");
    },
  };
  const opened: ShardHost["open"] = (statistics) => ({
    ...host.open(statistics),
    spread,
    ...(elsewhere && { elsewhere }),
  });
  const open: ShardHost["open"] = (statistics) => {
    if (before !== undefined) return opened(statistics);
    if (statistics[0].numIndividuals === 0) {
      throw new DtmError("too-few-individuals", "spreadShards: expected individuals at every place, received none.");
    }
    const counts = new Float64Array(numPlaces);
    counts[place] = statistics[0].numIndividuals;
    const sizes = total([counts], "individuals of each place");
    before = sizes.slice(0, place).reduce((sum, n) => sum + n, 0);
    blocks = statisticsBlocks(statistics);
    return opened(wholeStatistics(statistics, blocks, total));
  };
  return { open, spread };
}

/** Statistics of the individuals here that know the sums over all places. */
function wholeStatistics(
  statistics: CohortStatistics,
  blocks: readonly ShardBlock[],
  total: Spread["total"],
): CohortStatistics {
  return statistics.map((own): BasisStatistics => {
    const parts = blocks.map((block) => pack(cohortSums(partOf(own, block))));
    const whole = unpack(total(parts, "visits"), own.basis.numBasis);
    const averageGram = whole.design.map((v) => v / whole.numVisits);
    return { ...own, numObservations: whole.numObservations, averageGram, whole };
  });
}

/** The statistics of a block as those of a cohort of its own; Σ B'B of whitened ones is known of all together, and stands with the first. */
function partOf(statistics: BasisStatistics, block: ShardBlock): BasisStatistics {
  const part = statisticsBlock(statistics, block);
  const visits = numVisits(part);
  const share = block.from === 0 ? numVisits(statistics) / visits : 0;
  const plain = statistics.noise.correlation === undefined && statistics.noise.limits === undefined;
  return {
    ...part,
    numObservations: compensatedSum(part.counts),
    averageGram: plain ? pooledGram(part).map((v) => v / visits) : statistics.averageGram.map((v) => share * v),
  };
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
