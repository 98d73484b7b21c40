/**
 * The passes of a linear fit over its individuals. Large cohorts are cut into blocks that shards work on
 * (models/shards.ts); every result is a sum over individuals or a row for each, so blocks are added, or put together, in
 * their order: the same bytes wherever they were worked on.
 */
import { type BasisStatistics, pooledGram } from "../../basis/statistics.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import type { KernelChoice } from "../../wasm/instance.ts";
import type { FitControl } from "../fit.ts";
import {
  localShards,
  type ShardBlock,
  type ShardFunction,
  type ShardHost,
  shardBlocks,
  statisticsBlock,
} from "../shards.ts";
import { type LinearPasses, type RankSums, rankSums } from "./em.ts";
import { createLowRankWorkspace, createScore, type LowRankParameters, logLikelihood, type Score } from "./low-rank.ts";
import { coefficientMeans, type EffectPosterior, effectPosterior } from "./posterior.ts";
import { createScorer } from "./scorer.ts";

export const LINEAR = "linear";

/** Fits of fewer individuals than this are one block. */
const WORTH_SHARING = 5_000;
/** A fit lays out its individuals once per block and thread, so blocks are few. */
const NUM_BLOCKS = 8;

interface LinearState {
  readonly task: "score" | "rank-sums" | "likelihood" | "coefficients" | "effects";
  readonly parameters: LowRankParameters;
  readonly kernels?: KernelChoice;
}

/** A block's part of a score. */
interface ScorePart extends Score {
  readonly value: number;
}

/** The passes of a fit of rank r; `gram` is Σ_i G_i [d,d]. */
export function createPasses(
  statistics: BasisStatistics,
  r: number,
  gram: Float64Array,
  { kernels, shards }: Pick<FitControl, "kernels" | "shards">,
): LinearPasses {
  const { numIndividuals: m } = statistics;
  if (m < WORTH_SHARING) {
    const ws = createLowRankWorkspace(statistics.basis.numBasis, r);
    return {
      score: createScorer(statistics, r, gram, kernels),
      rankSums: (parameters) => rankSums(statistics, parameters, ws),
    };
  }
  const runner = (shards ?? localShards(linearShards)).open(statistics);
  const blocks = Array.from({ length: NUM_BLOCKS }, (_, b) => ({
    from: Math.floor((b * m) / NUM_BLOCKS),
    to: Math.floor(((b + 1) * m) / NUM_BLOCKS),
  }));
  const run = (task: LinearState["task"], parameters: LowRankParameters) =>
    runner.run(LINEAR, { task, parameters, ...(kernels === undefined ? {} : { kernels }) }, blocks);
  return {
    score: (parameters, score) => addScores(run("score", parameters) as ScorePart[], score),
    rankSums: (parameters) => addRankSums(run("rank-sums", parameters) as RankSums[]),
  };
}

/** Σ_i log p(y_i) of everybody. */
export function totalLogLikelihood(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  shards?: ShardHost,
): number {
  return (runBlocks(statistics, "likelihood", parameters, shards) as number[]).reduce((sum, part) => sum + part, 0);
}

/** `coefficientMeans` of everybody. */
export function allCoefficientMeans(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  shards?: ShardHost,
): Float64Array {
  return joinFloats(runBlocks(statistics, "coefficients", parameters, shards) as Float64Array[]);
}

/** `effectPosterior` of everybody. */
export function allEffects(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  shards?: ShardHost,
): EffectPosterior {
  const parts = runBlocks(statistics, "effects", parameters, shards) as EffectPosterior[];
  return {
    mean: joinFloats(parts.map(({ mean }) => mean)),
    covariance: joinFloats(parts.map(({ covariance }) => covariance)),
  };
}

function runBlocks(
  statistics: BasisStatistics,
  task: LinearState["task"],
  parameters: LowRankParameters,
  shards: ShardHost = localShards(linearShards),
): unknown[] {
  return shards.open(statistics).run(LINEAR, { task, parameters }, shardBlocks(statistics.numIndividuals));
}

/** A worker for blocks of a linear fit; individuals once laid out are kept for as long as their statistics are. */
export function linearShards(): ShardFunction {
  const kept = new WeakMap<BasisStatistics, Map<string, LinearPasses>>();
  return (statistics, _name, state, part) => {
    const { task, parameters, kernels } = state as LinearState;
    const block = part as ShardBlock;
    switch (task) {
      case "likelihood":
        return logLikelihood(statisticsBlock(statistics, block), parameters);
      case "coefficients":
        return coefficientMeans(statisticsBlock(statistics, block), parameters);
      case "effects":
        return effectPosterior(statisticsBlock(statistics, block), parameters);
      default: {
        const known = kept.get(statistics) ?? new Map<string, LinearPasses>();
        kept.set(statistics, known);
        const name = `${block.from} ${block.to} ${parameters.rank} ${kernels}`;
        const passes = known.get(name) ?? blockPasses(statistics, block, parameters.rank, kernels);
        known.set(name, passes);
        if (task === "rank-sums") return passes.rankSums(parameters);
        const score = createScore(statistics.basis.numBasis);
        const value = passes.score(parameters, score);
        return { ...score, value } satisfies ScorePart;
      }
    }
  };
}

function blockPasses(
  statistics: BasisStatistics,
  block: ShardBlock,
  r: number,
  kernels: KernelChoice | undefined,
): LinearPasses {
  const views = statisticsBlock(statistics, block);
  const part = { ...views, numObservations: views.counts.reduce((sum, n) => sum + n, 0) };
  const ws = createLowRankWorkspace(statistics.basis.numBasis, r);
  return {
    score: createScorer(part, r, pooledGram(part), kernels),
    rankSums: (parameters) => rankSums(part, parameters, ws),
  };
}

/** The score of all: with the Gram matrix and N of a block in each part, derivatives add up as values do. */
function addScores(parts: readonly ScorePart[], score: Score): number {
  score.residual.fill(0);
  score.covariance.fill(0);
  score.logNoiseVariance = 0;
  let value = 0;
  for (const part of parts) {
    addTo(score.residual, part.residual);
    addTo(score.covariance, part.covariance);
    score.logNoiseVariance += part.logNoiseVariance;
    value += part.value;
  }
  return value;
}

function addRankSums([first, ...others]: readonly RankSums[]): RankSums {
  for (const part of others) {
    addTo(first.secondMoment, part.secondMoment);
    addTo(first.firstMoment, part.firstMoment);
    addTo(first.cross, part.cross);
    addTo(first.residual, part.residual);
    first.logLikelihood += part.logLikelihood;
    first.sumSquares += part.sumSquares;
  }
  return first;
}

function addTo(sum: Float64Array, part: Float64Array): void {
  for (let k = 0; k < sum.length; k++) sum[k] += part[k];
}
