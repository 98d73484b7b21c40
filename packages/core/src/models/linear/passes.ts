/**
 * The passes of the linear models over individuals, in blocks that shards work on (models/shards.ts). Every result is a
 * sum over individuals or a row for each, so blocks are added, or put together, in their order: the same bytes wherever
 * they were worked on.
 */
import { type BasisStatistics, pooledGram, statisticsBlock } from "../../basis/statistics.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { type LinearKernel, openLinearKernel } from "../../wasm/linear.ts";
import type { FitControl } from "../fit.ts";
import {
  localShards,
  type ShardBlock,
  type ShardFunctions,
  type ShardHost,
  type ShardWork,
  shardBlocks,
} from "../shards.ts";
import { type Expectation, expectationSums, unpackExpectation } from "./expectation.ts";
import { logLikelihood } from "./likelihood.ts";
import type { LowRankParameters } from "./low-rank.ts";
import { type EffectPosterior, effectPosterior, type LinearMap } from "./posterior.ts";

const LINEAR = "linear";

/** Passes over fewer individuals than this are not worth a thread's while. */
const WORTH_SHARING = 5_000;

interface LinearState {
  readonly task: "expectation" | "likelihood" | "effects";
  readonly parameters: LowRankParameters;
  readonly kernels?: KernelChoice;
  readonly through?: LinearMap;
}

/** The E step over everybody as a function of the parameters. */
export type ExpectationStep = (parameters: LowRankParameters) => Expectation;

/** The E step of a fit, in the kernels asked for. */
export function createExpectationStep(
  statistics: BasisStatistics,
  { kernels, shards }: Pick<FitControl, "kernels" | "shards"> = {},
): ExpectationStep {
  const run = openPasses(statistics, shards);
  const gram = pooledGram(statistics);
  return (parameters) => {
    const [first, ...others] = run({ task: "expectation", parameters, kernels }) as Float64Array[];
    for (const part of others) for (let k = 0; k < part.length; k++) first[k] += part[k];
    return unpackExpectation(statistics, parameters.rank, first, gram);
  };
}

/** Σ_i log p(y_i) of everybody. */
export function totalLogLikelihood(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  shards?: ShardHost,
): number {
  const parts = openPasses(statistics, shards)({ task: "likelihood", parameters }) as number[];
  return parts.reduce((sum, part) => sum + part, 0);
}

/** `effectPosterior` of everybody. */
export function allEffects(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  through?: LinearMap,
  shards?: ShardHost,
): EffectPosterior {
  const parts = openPasses(statistics, shards)({ task: "effects", parameters, through }) as EffectPosterior[];
  return {
    mean: joinFloats(parts.map(({ mean }) => mean)),
    covariance: joinFloats(parts.map(({ covariance }) => covariance)),
  };
}

function openPasses(statistics: BasisStatistics, shards?: ShardHost): (state: LinearState) => unknown[] {
  const m = statistics.numIndividuals;
  const host = m < WORTH_SHARING ? undefined : shards;
  const runner = (host ?? localShards(linearShards)).open(statistics);
  return (state) => runner.run(LINEAR, state, shardBlocks(m));
}

/** A worker for blocks of the linear models; it keeps the memory of kernels. */
export function linearShards(): ShardFunctions {
  const open = new Map<string, LinearKernel>();
  const work: ShardWork = (statistics, state, part) => {
    const { task, parameters, kernels, through } = state as LinearState;
    const block = statisticsBlock(statistics, part as ShardBlock);
    if (task === "likelihood") return logLikelihood(block, parameters);
    if (task === "effects") return effectPosterior(block, parameters, through);
    if (chooseKernels(kernels) === "typescript") return expectationSums(block, parameters);
    const { numBasis } = statistics.basis;
    const shape = `${numBasis} ${statistics.numBand} ${parameters.rank}`;
    const kernel = open.get(shape) ?? openLinearKernel(numBasis, statistics.numBand, parameters.rank);
    open.set(shape, kernel);
    return kernel(block, parameters);
  };
  return { [LINEAR]: work };
}
