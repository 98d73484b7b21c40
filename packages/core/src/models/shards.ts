/**
 * Work over individuals as stateless shards: state and a block of individuals in, sums or rows of the block out, all
 * plain data. Blocks depend on the number of individuals alone and their sums are added in the order of blocks, so that
 * a result has the same bytes wherever the blocks were worked on: here, in threads, or on other machines. The core runs
 * them one after the other; a host handed in as an option may spread them.
 */
import type { CohortStatistics } from "../basis/statistics.ts";
import { DtmError } from "../errors.ts";

/** Does one piece of work: `name` says which, `state` is common to all parts, `part` names the block. */
export type ShardFunction = (statistics: CohortStatistics, name: string, state: unknown, part: unknown) => unknown;

/** The work of one name: state common to all parts, and a part. */
export type ShardWork = (statistics: CohortStatistics, state: unknown, part: unknown) => unknown;

/** Work by its name. */
export type ShardFunctions = Readonly<Record<string, ShardWork>>;

/** A worker that looks work up by its name, and refuses names it does not know. */
export function shardFunction(works: ShardFunctions): ShardFunction {
  return (statistics, name, state, part) => {
    const work = works[name];
    if (work === undefined) {
      throw new DtmError(
        "shape",
        `shards: expected work named ${Object.keys(works).join(", ")}, received "${name}". Host and library must be of one version.`,
      );
    }
    return work(statistics, state, part);
  };
}

/** Runs pieces of work over the individuals of one cohort. */
export interface ShardRunner {
  /** The statistics of each marker, where every shard can read them. */
  readonly statistics: CohortStatistics;
  /** Zeros that every shard can read and write; parts must not overlap. */
  buffer(length: number): Float64Array;
  /** The answers of all parts, in their order. */
  run(name: string, state: unknown, parts: readonly unknown[]): unknown[];
  readonly spread?: Spread;
  readonly elsewhere?: Elsewhere;
}

/** Sums over everybody of all numbers in the answers, in their order, from shards that stand elsewhere; undefined for work they cannot do. */
export type Elsewhere = (name: string, state: unknown) => Float64Array | undefined;

/** Where shards are run; threads are one. */
export interface ShardHost {
  open(statistics: CohortStatistics): ShardRunner;
  readonly spread?: Spread;
}

/** Sums of blocks of rows: what `sums` makes of rows from..to−1, added up. */
export type RowSums = (what: string, sums: (from: number, to: number) => Float64Array) => Float64Array;

/** How single individuals stand out from node sums of a map (dtm/cells.ts). Of each node, [Γ]: Σ_i r_ig, and the largest r_ig. */
export interface NodeCells {
  readonly people: Float64Array;
  readonly largest: Float64Array;
}

/**
 * Of a cohort that is spread over several places (spread.ts). Every place asks for the same sums in the same order, at the same
 * parameters; `what` says what they are of, and `state` is a checksum of the parameters.
 */
export interface Spread {
  /** Sums over all individuals of the cohort, from those of the blocks here. */
  readonly total: (blocks: readonly Float64Array[], what: string, state?: string) => Float64Array;
  /** The same of rows of the individuals here. */
  readonly rows: RowSums;
  /** Individuals of the cohort that come before those here. */
  readonly before: () => number;
  /** Hears, before node sums of a map are handed out, how single individuals stand out from them; may throw to refuse. */
  readonly inspect?: (cells: NodeCells) => void;
}

/** Individuals from..to−1 of the cohort or of a list. */
export interface ShardBlock {
  readonly from: number;
  readonly to: number;
}

const SMALLEST_BLOCK = 256;
const LARGEST_BLOCK = 4096;
/** Blocks per pass before they grow: enough for eight threads to share evenly. */
const BLOCKS_WANTED = 32;

/** The blocks of everybody in the statistics: none has individuals of two files. */
export function statisticsBlocks([{ numIndividuals, ends = [numIndividuals] }]: CohortStatistics): ShardBlock[] {
  return ends.flatMap((end, k) => {
    const start = ends[k - 1] ?? 0;
    return shardBlocks(end - start).map(({ from, to }) => ({ from: start + from, to: start + to }));
  });
}

/** The fixed blocks of `count` individuals: 256 to 4,096 each, whatever the number of threads. */
export function shardBlocks(count: number): ShardBlock[] {
  const wanted = Math.ceil(count / BLOCKS_WANTED / 64) * 64;
  const size = Math.min(Math.max(wanted, SMALLEST_BLOCK), LARGEST_BLOCK);
  const blocks: ShardBlock[] = [];
  for (let from = 0; from < count; from += size) blocks.push({ from, to: Math.min(from + size, count) });
  return blocks;
}

/** Shards run here, one after the other. */
export function localShards(works: () => ShardFunctions): ShardHost {
  return {
    open: (statistics) => {
      const answer = shardFunction(works());
      return {
        statistics,
        buffer: (length) => new Float64Array(length),
        run: (name, state, parts) => parts.map((part) => answer(statistics, name, state, part)),
      };
    },
  };
}
