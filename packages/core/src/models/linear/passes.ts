/**
 * The passes of the linear models over individuals, in blocks that shards work on (models/shards.ts). Every result is a
 * sum over individuals or a row for each, so blocks are added, or put together, in their order: the same bytes wherever
 * they were worked on.
 */
import { totalCross, totalSquares } from "../../basis/cohort-sums.ts";
import { type BasisStatistics, statisticsBlock } from "../../basis/statistics.ts";
import { noiseLevel } from "../../noise/noise.ts";
import { bytesChecksum } from "../../numeric/crc.ts";
import { addTo, joinFloats } from "../../numeric/matrix.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { type LinearKernels, openLinearKernels } from "../../wasm/linear.ts";
import type { FitControl } from "../fit.ts";
import { localShards, type ShardBlock, type ShardFunctions, type ShardHost, statisticsBlocks } from "../shards.ts";
import { type Expectation, expectationSums, unpackExpectation } from "./expectation.ts";
import { logLikelihood } from "./likelihood.ts";
import { notPositive } from "./low-rank.ts";
import { type EffectPosterior, effectPosterior, type LinearMap } from "./posterior.ts";
import {
  haveLevels,
  type LinearParameters,
  markerOfRow,
  splitRows,
  stackedGram,
  stackMarkers,
  stackStatistics,
  unitScales,
} from "./stack.ts";

const LINEAR = "linear";

/** Passes over fewer individuals than this are not worth a thread's while. */
const WORTH_SHARING = 5_000;

interface LinearState {
  readonly task: "expectation" | "likelihood" | "effects";
  readonly parameters: LinearParameters;
  readonly kernels?: KernelChoice;
  readonly through?: LinearMap;
}

/** The E step over everybody as a function of the parameters. */
export type ExpectationStep = (parameters: LinearParameters) => Expectation;

/** The E step of a fit, in the kernels asked for. */
export function createExpectationStep(
  statistics: readonly BasisStatistics[],
  { kernels, shards }: Pick<FitControl, "kernels" | "shards"> = {},
): ExpectationStep {
  const run = openPasses(statistics, shards);
  const stacked = stackStatistics(statistics.map((own) => statisticsBlock(own, { from: 0, to: 0 })));
  const gram = stackedGram(statistics);
  const inOwnUnits = ownUnits(statistics);
  return (parameters) => {
    const parts = run({ task: "expectation", parameters, kernels }) as Float64Array[];
    const { factor, meanCoefficients } = parameters;
    const sums =
      shards?.spread?.total(parts, "linear model", bytesChecksum([factor, meanCoefficients])) ?? added(parts);
    return inOwnUnits(unpackExpectation(stacked, parameters.rank, sums, gram), parameters);
  };
}

function added([first, ...others]: readonly Float64Array[]): Float64Array {
  for (const part of others) addTo(first, part);
  return first;
}

/**
 * Expectations of a stack in the units of its markers: g and Y divided by S_k, and squares of each marker, which follow from sums
 * that do not change, Σ ρ = Σ s − β̃'(Σ c + Σ g). Those of one marker are the pass's own, weighted by levels where noise has them.
 */
function ownUnits(
  statistics: readonly BasisStatistics[],
): (expected: Expectation, parameters: LinearParameters) => Expectation {
  const rowMarker = markerOfRow(statistics);
  const totals = statistics.map(totalSquares);
  const sums = statistics.map(totalCross);
  return (expected, { noises, meanCoefficients }) => {
    const S = unitScales(statistics, noises);
    const D = S.length;
    const residual = expected.residual.map((g, k) => g / S[k]);
    const means = splitRows(statistics, meanCoefficients);
    const squares = splitRows(statistics, residual).map((g, k) =>
      g.reduce((rho, v, j) => rho - (means[k][j] - statistics[k].center) * (sums[k][j] + v), totals[k]),
    );
    const logUnit = statistics.reduce(
      (sum, { numObservations: N }, k) => sum + 0.5 * N * Math.log(noiseLevel(noises[0]) / noiseLevel(noises[k])),
      0,
    );
    return {
      ...expected,
      logLikelihood: expected.logLikelihood + logUnit,
      cross: expected.cross.map((y, e) => y / S[e % D]),
      residual,
      sumSquares: statistics.length === 1 ? expected.sumSquares : Float64Array.from(squares, (s) => Math.max(s, 0)),
      rowMarker,
    };
  };
}

/** Σ_i log p(y_i) of everybody. */
export function totalLogLikelihood(
  statistics: readonly BasisStatistics[],
  parameters: LinearParameters,
  shards?: ShardHost,
): number {
  const parts = openPasses(statistics, shards)({ task: "likelihood", parameters }) as number[];
  return parts.reduce((sum, part) => sum + part, 0);
}

/** `effectPosterior` of everybody. */
export function allEffects(
  statistics: readonly BasisStatistics[],
  parameters: LinearParameters,
  through?: LinearMap,
  shards?: ShardHost,
): EffectPosterior {
  const parts = openPasses(statistics, shards)({ task: "effects", parameters, through }) as EffectPosterior[];
  return {
    mean: joinFloats(parts.map(({ mean }) => mean)),
    covariance: joinFloats(parts.map(({ covariance }) => covariance)),
  };
}

function openPasses(statistics: readonly BasisStatistics[], shards?: ShardHost): (state: LinearState) => unknown[] {
  const m = statistics[0].numIndividuals;
  const host = m < WORTH_SHARING ? undefined : shards;
  const runner = (host ?? localShards(linearShards)).open(statistics);
  return (state) => runner.run(LINEAR, state, statisticsBlocks(statistics));
}

/** A worker for blocks of the linear models; it keeps the memory of kernels. */
export function linearShards(): ShardFunctions {
  const work = linearWork();
  return { [LINEAR]: (statistics, state, part) => work(statistics, state as LinearState, part as ShardBlock) };
}

function linearWork() {
  const open = new Map<string, LinearKernels>();
  return (
    statistics: readonly BasisStatistics[],
    { task, parameters, kernels, through }: LinearState,
    part: ShardBlock,
  ): unknown => {
    const block = statistics.map((own) => statisticsBlock(own, part));
    const isPlain = chooseKernels(kernels) === "typescript";
    // The levels of several markers have no kernel.
    if (task === "likelihood" && (isPlain || haveLevels(parameters.noises))) return logLikelihood(block, parameters);
    if (task === "effects") return effectPosterior(block, parameters, through, kernels);
    const stack = stackMarkers(block, parameters);
    if (isPlain) return expectationSums(stack.statistics, stack.parameters);
    const { numBand, basis } = stack.statistics;
    const shape = `${basis.numBasis} ${numBand} ${parameters.rank}`;
    const kernel = open.get(shape) ?? openLinearKernels(basis.numBasis, numBand, parameters.rank);
    open.set(shape, kernel);
    const sums = kernel.expect(stack.statistics, stack.parameters);
    if (task === "expectation") return sums;
    if (Number.isNaN(sums[0])) throw notPositive(parameters.noises);
    return block[0].counts.reduce((total, _, i) => total + stack.logUnit(i), sums[0]);
  };
}
