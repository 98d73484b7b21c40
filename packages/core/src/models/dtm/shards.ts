/**
 * The passes over individuals as shards (models/shards.ts). Kinds of work on a block, all at given parameters; of all markers:
 *   start     first guesses of places in, node sums of the block out (starting-places.ts);
 *   expect    node table in, Σ (c_i + λ_i) and node sums of the block out, moments into their rows;
 * and of one marker:
 *   maximize  moments in, sums for mean, noise and residual out (maximization-step.ts);
 *   residual  moments in, Q of the block out (residual-step.ts);
 *   effects   moments in, score and information on effects of covariates in the mean out (mean-effects.ts);
 *   squares, levels  where noise has levels: first squares of the block, and 𝒬 with its slopes (level-statistics.ts).
 * Moments [count,K] and squares [count,1 + d] are rows by position in the pass, in memory that all shards share.
 */
import {
  type BasisStatistics,
  type CohortStatistics,
  selectStatistics,
  statisticsBlock,
} from "../../basis/statistics.ts";
import { takeRows } from "../../numeric/matrix.ts";
import { wasmPasses } from "../../wasm/expectation.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { type EffectForm, effectColumns, withoutEffects } from "../mean.ts";
import { type ShardBlock, type ShardFunctions, type ShardRunner, type ShardWork, shardBlocks } from "../shards.ts";
import { expectationPass, type PlaceShift } from "./expectation-step.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import { type LevelSquares, type LevelSums, levelSums, startingSquares } from "./level-statistics.ts";
import { addMaximizationSums, type MaximizationSums, maximizationSums } from "./maximization-step.ts";
import { addEffectSums, type EffectSums, effectSums } from "./mean-effects.ts";
import type { NodeTable } from "./node-table.ts";
import type { MapNodes } from "./nodes.ts";
import { residualObjective } from "./residual-step.ts";
import { addStartingSums, type StartingPlaces, startingWeights } from "./starting-places.ts";

/** Whom a pass visits, in this order; null for everybody. */
export type Visited = Int32Array | null;

/** Where a pass runs, on which kernels and at which parameters of each marker. */
export interface Pass {
  readonly shards: ShardRunner;
  readonly visited: Visited;
  readonly kernels: KernelKind;
  readonly models: readonly IndividualModel[];
  /** Of markers whose noise has levels. */
  readonly squares: readonly (LevelSquares | undefined)[];
  readonly effects?: PassEffects;
  /** Where priors of places differ between individuals, by position in the pass. */
  readonly shift?: PlaceShift;
}

/** Effects of covariates in the mean: passes see statistics of values without them. */
export interface PassEffects {
  readonly form: EffectForm;
  /** z by position in the pass, [count,P]. */
  readonly values: Float64Array;
  /** γ [P,h] of the markers of the pass. */
  readonly coefficients: readonly Float64Array[];
}

/** A pass for one marker alone. */
export interface MarkerPass extends Pick<Pass, "shards" | "visited" | "kernels" | "effects"> {
  readonly marker: number;
  readonly model: IndividualModel;
  readonly squares?: LevelSquares;
}

/** What every shard gets: kernels and parameters, and what its work asks for beside. */
type PassState = Pick<Pass, "kernels" | "models" | "squares" | "shift" | "effects"> & { readonly count: number };
type MarkerState = Pick<MarkerPass, "kernels" | "marker" | "model" | "squares" | "effects"> & {
  readonly count: number;
};

interface StartTask {
  readonly nodes: MapNodes;
  readonly places: StartingPlaces; // by position in the pass
}

interface ExpectTask {
  readonly table: NodeTable;
  readonly withSums: boolean;
  readonly moments: readonly Float64Array[] | null; // [count,K] of each marker
  readonly placeMoments: Float64Array | null; // [count,T]
}

interface MomentsTask {
  readonly moments: Float64Array; // [count,K]
}

interface MaximizeTask extends MomentsTask {
  readonly residualMoment: boolean;
}

/** A block by position in the pass, and who stands there. */
interface Part extends ShardBlock {
  readonly visited: Visited;
}

/** The definitions, in the form of the kernels (wasm/expectation.ts). */
const definitions = {
  expect: expectationPass,
  start: addStartingSums,
  maximize: maximizationSums,
  residual: residualObjective,
  levels: levelSums,
};

/** The work of these passes; nothing but scratch is kept. */
export function dtmShards(): ShardFunctions {
  const opened = new Map<string, typeof definitions>();
  const passes = (kernels: KernelKind, sizes: readonly number[], numNodes: number, stride = rowLength(sizes)) => {
    if (kernels === "typescript") return definitions;
    const key = `${sizes} ${numNodes} ${stride}`;
    const found = opened.get(key) ?? wasmPasses(sizes, numNodes, stride);
    opened.set(key, found);
    return found;
  };
  const work =
    <Task>(
      answer: (
        statistics: CohortStatistics,
        part: Part,
        state: PassState & Task,
        squares: (LevelSquares | undefined)[],
      ) => unknown,
    ): ShardWork =>
    (statistics, given, part) => {
      const state = given as PassState & Task;
      const squares = state.squares.map((own, k) => squaresOf(own, sizeOf(statistics[k]), part as Part));
      return answer(visitedStatistics(statistics, part as Part, state), part as Part, state, squares);
    };
  const markerWork =
    <Task>(
      answer: (statistics: BasisStatistics, part: Part, state: MarkerState & Task, d: number) => unknown,
    ): ShardWork =>
    (statistics, given, part) => {
      const state = given as MarkerState & Task;
      const own = statistics[state.marker];
      const d = sizeOf(own);
      const squares = squaresOf(state.squares, d, part as Part);
      return answer(visitedStatistics([own], part as Part, state)[0], part as Part, { ...state, squares }, d);
    };
  return {
    "dtm-expect": work<ExpectTask>((statistics, { from, to }, state, squares) => {
      const { kernels, models, table, withSums, moments, placeMoments, shift } = state;
      const { stride, numNodes } = table;
      const sizes = statistics.map(sizeOf);
      const nodeSums = withSums ? new Float64Array(rowLength(sizes) * numNodes) : undefined;
      const rows = (of: Float64Array, width: number) => of.subarray(from * width, to * width);
      const outputs = {
        nodeSums,
        moments: moments?.map((of, k) => rows(of, packedStride(sizes[k]))),
        placeMoments: placeMoments === null ? undefined : rows(placeMoments, placeMoments.length / state.count),
        squares: squares.some((own) => own !== undefined) ? squares : undefined,
        shift: shift && {
          terms: rows(shift.terms, shift.terms.length / state.count),
          logNormalizers: rows(shift.logNormalizers, 1),
        },
      };
      const total = passes(kernels, sizes, numNodes, stride).expect(statistics, models, table, outputs);
      return { total, nodeSums };
    }),
    "dtm-start": work<StartTask>((statistics, { from, to }, { kernels, models, nodes, places }, squares) => {
      const { numNodes, mapDimension: q } = nodes;
      const sizes = statistics.map(sizeOf);
      const nodeSums = new Float64Array(rowLength(sizes) * numNodes);
      const weights = startingWeights(nodes, {
        means: places.means.subarray(from * q, to * q),
        covariances: places.covariances.subarray(from * q * q, to * q * q),
      });
      passes(kernels, sizes, numNodes).start(statistics, models, weights, nodeSums, squares);
      return nodeSums;
    }),
    "dtm-squares": work<object>((statistics, _, { models }, squares) => {
      squares.forEach((own, k) => {
        if (own !== undefined) startingSquares(statistics[k], models[k], own.after);
      });
    }),
    "dtm-effects": markerWork<MomentsTask>((statistics, part, { model, moments, squares, effects, count }, d) =>
      effects === undefined
        ? null
        : effectSums(
            statistics,
            model,
            rowsOf(moments, d, part),
            effectColumns(effects.form, statistics.basis),
            covariatesOf(effects, part, count),
            squares,
          ),
    ),
    "dtm-levels": markerWork<object>((statistics, _, { kernels, model, squares }, d) =>
      squares === undefined ? null : passes(kernels, [d], 0).levels(statistics, model, squares),
    ),
    "dtm-maximize": markerWork<MaximizeTask>((statistics, part, { kernels, model, moments, residualMoment }, d) => {
      // The kernel has no Σ E ee', which a free residual covariance reads.
      const able = residualMoment && model.residualRoot !== null ? "typescript" : kernels;
      return passes(able, [d], 0).maximize(statistics, model, rowsOf(moments, d, part));
    }),
    "dtm-residual": markerWork<Pick<MaximizeTask, "moments">>((statistics, part, { kernels, model, moments }, d) =>
      passes(kernels, [d], 0).residual(statistics, model, rowsOf(moments, d, part)),
    ),
  };
}

function sizeOf({ basis }: BasisStatistics): number {
  return basis.numBasis;
}

/** Length of an individual's row of all markers. */
function rowLength(sizes: readonly number[]): number {
  return sizes.reduce((sum, d) => sum + packedStride(d), 0);
}

/** The statistics of a block, without effects of covariates in the mean. */
function visitedStatistics(
  statistics: CohortStatistics,
  part: Part,
  { effects, count }: Pick<PassState, "effects" | "count">,
): CohortStatistics {
  const { from, to, visited } = part;
  const block = statistics.map((own) =>
    visited === null ? statisticsBlock(own, { from, to }) : selectStatistics(own, visited),
  );
  return effects === undefined ? block : withoutEffects(block, effects, covariatesOf(effects, part, count));
}

/** z of a block, [to − from,P]. */
function covariatesOf({ values }: PassEffects, { from, to }: Part, count: number): Float64Array {
  const P = values.length / count;
  return values.subarray(from * P, to * P);
}

function rowsOf(moments: Float64Array, d: number, { from, to }: Part): Float64Array {
  return moments.subarray(from * packedStride(d), to * packedStride(d));
}

function squaresOf(squares: LevelSquares | undefined, d: number, { from, to }: Part): LevelSquares | undefined {
  const rows = (of: Float64Array) => of.subarray(from * (1 + d), to * (1 + d));
  return squares && { before: rows(squares.before), after: rows(squares.after) };
}

/** The answers of all blocks of a pass, in their order. */
function runPass<Answer>({ shards, visited, ...state }: Pass | MarkerPass, name: string, task: object): Answer[] {
  const count = visited?.length ?? shards.statistics[0].numIndividuals;
  const parts = shardBlocks(count).map(
    ({ from, to }): Part => ({ from, to, visited: visited === null ? null : visited.slice(from, to) }),
  );
  return shards.run(name, { ...state, count, ...task }, parts) as Answer[];
}

function addTo(sums: Float64Array, part: Float64Array): void {
  for (let e = 0; e < sums.length; e++) sums[e] += part[e];
}

/** Node sums Σ_i r_ig (g̃_i, G̃_i) of the starting responsibilities of the visited, [K,Γ]. */
export function startInShards(pass: Pass, nodes: MapNodes, places: StartingPlaces, nodeSums: Float64Array): void {
  const { shards, visited } = pass;
  const q = nodes.mapDimension;
  // The places of the visited, in their order, where all shards can read them.
  const shared = (rows: Float64Array, width: number) => {
    const own = visited === null ? rows : takeRows(rows, width, visited);
    const out = shards.buffer(own.length);
    out.set(own);
    return out;
  };
  const task: StartTask = {
    nodes,
    places: { means: shared(places.means, q), covariances: shared(places.covariances, q * q) },
  };
  nodeSums.fill(0);
  for (const part of runPass<Float64Array>(pass, "dtm-start", task)) addTo(nodeSums, part);
}

/** What a pass may give beside Σ (c_i + λ_i). */
interface PassOutputs {
  /** Added to, [K,Γ]. */
  readonly nodeSums?: Float64Array | null;
  readonly moments?: readonly Float64Array[] | null;
  readonly placeMoments?: Float64Array | null;
}

/** One pass over the visited; returns Σ (c_i + λ_i). */
export function expectInShards(pass: Pass, table: NodeTable, outputs: PassOutputs): number {
  const { nodeSums = null, moments = null, placeMoments = null } = outputs;
  const task: ExpectTask = { table, withSums: nodeSums !== null, moments, placeMoments };
  let total = 0;
  for (const answer of runPass<{ total: number; nodeSums?: Float64Array }>(pass, "dtm-expect", task)) {
    total += answer.total;
    if (nodeSums !== null && answer.nodeSums !== undefined) addTo(nodeSums, answer.nodeSums);
  }
  return total;
}

/** The sums of `maximizationSums` over the visited, from their moments. */
export function maximizeInShards(pass: MarkerPass, moments: Float64Array, residualMoment: boolean): MaximizationSums {
  const task: MaximizeTask = { moments, residualMoment };
  const [first, ...rest] = runPass<MaximizationSums>(pass, "dtm-maximize", task);
  for (const sums of rest) addMaximizationSums(sums, first);
  return first;
}

/** Q of `residualObjective` over the visited, from their moments. */
export function residualInShards(pass: MarkerPass, moments: Float64Array): number {
  return runPass<number>(pass, "dtm-residual", { moments }).reduce((total, value) => total + value, 0);
}

/** Writes the squares before the first pass of the visited to their `after`. */
export function startSquaresInShards(pass: Pass): void {
  runPass(pass, "dtm-squares", {});
}

/** The sums of `effectSums` over the visited, from their moments. */
export function effectsInShards(pass: MarkerPass, moments: Float64Array): EffectSums {
  const [first, ...rest] = runPass<EffectSums>(pass, "dtm-effects", { moments });
  for (const sums of rest) addEffectSums(sums, first);
  return first;
}

/** The sums of `levelSums` over the visited. */
export function levelsInShards(pass: MarkerPass): LevelSums {
  const [first, ...rest] = runPass<LevelSums>(pass, "dtm-levels", {});
  for (const sums of rest) {
    for (const name of ["value", "logVariance", "logTau", "logSpread"] as const) first[name] += sums[name];
  }
  return first;
}
