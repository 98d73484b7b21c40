/**
 * The passes over individuals as shards (models/shards.ts). Kinds of work on a block, all at given parameters:
 *   start     first guesses of places in, node sums of the block out (starting-places.ts);
 *   expect    node table in, Σ (c_i + λ_i) and node sums of the block out, moments into their rows;
 *   maximize  moments in, sums for mean, noise and residual out (maximization-step.ts);
 *   residual  moments in, Q of the block out (residual-step.ts);
 *   squares, levels  where noise has levels: first squares of the block, and 𝒬 with its slopes (level-statistics.ts).
 * Moments [count,K] and squares [count,1 + d] are rows by position in the pass, in memory that all shards share.
 */
import { type BasisStatistics, selectStatistics, statisticsBlock } from "../../basis/statistics.ts";
import { takeRows } from "../../numeric/matrix.ts";
import { wasmPasses } from "../../wasm/expectation.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { type ShardBlock, type ShardFunctions, type ShardRunner, type ShardWork, shardBlocks } from "../shards.ts";
import { expectationPass } from "./expectation-step.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import { type LevelSquares, type LevelSums, levelSums, startingSquares } from "./level-statistics.ts";
import { addMaximizationSums, type MaximizationSums, maximizationSums } from "./maximization-step.ts";
import type { NodeTable } from "./node-table.ts";
import type { MapNodes } from "./nodes.ts";
import { residualObjective } from "./residual-step.ts";
import { addStartingSums, type StartingPlaces, startingWeights } from "./starting-places.ts";

/** Whom a pass visits, in this order; null for everybody. */
export type Visited = Int32Array | null;

/** Where a pass runs, on which kernels and at which parameters. */
export interface Pass {
  readonly shards: ShardRunner;
  readonly visited: Visited;
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
  /** Where noise has levels. */
  readonly squares?: LevelSquares;
}

/** What every shard gets: kernels and parameters, and what its work asks for beside. */
type PassState = Pick<Pass, "kernels" | "model" | "squares">;

interface StartTask {
  readonly nodes: MapNodes;
  readonly places: StartingPlaces; // by position in the pass
}

interface ExpectTask {
  readonly table: NodeTable;
  readonly withSums: boolean;
  readonly moments: Float64Array | null; // [count,stride]
}

interface MaximizeTask {
  readonly moments: Float64Array; // [count,K]
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
  const passes = (kernels: KernelKind, d: number, numNodes: number, stride = packedStride(d)): typeof definitions => {
    if (kernels === "typescript") return definitions;
    const key = `${d} ${numNodes} ${stride}`;
    const found = opened.get(key) ?? wasmPasses(d, numNodes, stride);
    opened.set(key, found);
    return found;
  };
  const work =
    <Task>(
      answer: (statistics: BasisStatistics, part: Part, state: PassState & Task, d: number) => unknown,
    ): ShardWork =>
    (statistics, state, part) =>
      answer(
        visitedStatistics(statistics, part as Part),
        part as Part,
        state as PassState & Task,
        statistics.basis.numBasis,
      );
  return {
    "dtm-expect": work<ExpectTask>((statistics, part, { kernels, model, table, withSums, moments, squares }, d) => {
      const { from, to } = part;
      const { stride, numNodes } = table;
      const nodeSums = withSums ? new Float64Array(stride * numNodes) : undefined;
      const rows = moments?.subarray(from * stride, to * stride);
      const outputs = { nodeSums, moments: rows, squares: squaresOf(squares, d, part) };
      const total = passes(kernels, d, numNodes, stride).expect(statistics, model, table, outputs);
      return { total, nodeSums };
    }),
    "dtm-start": work<StartTask>((statistics, part, { kernels, model, nodes, places, squares }, d) => {
      const { from, to } = part;
      const { numNodes, mapDimension: q } = nodes;
      const nodeSums = new Float64Array(packedStride(d) * numNodes);
      const weights = startingWeights(nodes, {
        means: places.means.subarray(from * q, to * q),
        covariances: places.covariances.subarray(from * q * q, to * q * q),
      });
      passes(kernels, d, numNodes).start(statistics, model, weights, nodeSums, squaresOf(squares, d, part));
      return nodeSums;
    }),
    "dtm-squares": work<object>((statistics, part, { model, squares }, d) => {
      const own = squaresOf(squares, d, part);
      if (own !== undefined) startingSquares(statistics, model, own.after);
    }),
    "dtm-levels": work<object>((statistics, part, { kernels, model, squares }, d) => {
      const own = squaresOf(squares, d, part);
      return own === undefined ? null : passes(kernels, d, 0).levels(statistics, model, own);
    }),
    "dtm-maximize": work<MaximizeTask>((statistics, part, { kernels, model, moments, residualMoment }, d) => {
      // The kernel has no Σ E ee', which a free residual covariance reads.
      const able = residualMoment && model.residualRoot !== null ? "typescript" : kernels;
      return passes(able, d, 0).maximize(statistics, model, rowsOf(moments, d, part));
    }),
    "dtm-residual": work<Pick<MaximizeTask, "moments">>((statistics, part, { kernels, model, moments }, d) =>
      passes(kernels, d, 0).residual(statistics, model, rowsOf(moments, d, part)),
    ),
  };
}

function visitedStatistics(statistics: BasisStatistics, part: Part): BasisStatistics {
  return part.visited === null ? statisticsBlock(statistics, part) : selectStatistics(statistics, part.visited);
}

function rowsOf(moments: Float64Array, d: number, { from, to }: Part): Float64Array {
  return moments.subarray(from * packedStride(d), to * packedStride(d));
}

function squaresOf(squares: LevelSquares | undefined, d: number, { from, to }: Part): LevelSquares | undefined {
  const rows = (of: Float64Array) => of.subarray(from * (1 + d), to * (1 + d));
  return squares && { before: rows(squares.before), after: rows(squares.after) };
}

/** The answers of all blocks of a pass, in their order. */
function runPass<Answer>({ shards, visited, kernels, model, squares }: Pass, name: string, task: object): Answer[] {
  const parts = shardBlocks(visited?.length ?? shards.statistics.numIndividuals).map(
    ({ from, to }): Part => ({ from, to, visited: visited === null ? null : visited.slice(from, to) }),
  );
  return shards.run(name, { kernels, model, squares, ...task }, parts) as Answer[];
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

/** One pass over the visited; returns Σ (c_i + λ_i) and adds to node sums [K,Γ] if given. */
export function expectInShards(
  pass: Pass,
  table: NodeTable,
  nodeSums: Float64Array | null,
  moments: Float64Array | null,
): number {
  const task: ExpectTask = { table, withSums: nodeSums !== null, moments };
  let total = 0;
  for (const answer of runPass<{ total: number; nodeSums?: Float64Array }>(pass, "dtm-expect", task)) {
    total += answer.total;
    if (nodeSums !== null && answer.nodeSums !== undefined) addTo(nodeSums, answer.nodeSums);
  }
  return total;
}

/** The sums of `maximizationSums` over the visited, from their moments. */
export function maximizeInShards(pass: Pass, moments: Float64Array, residualMoment: boolean): MaximizationSums {
  const task: MaximizeTask = { moments, residualMoment };
  const [first, ...rest] = runPass<MaximizationSums>(pass, "dtm-maximize", task);
  for (const sums of rest) addMaximizationSums(sums, first);
  return first;
}

/** Q of `residualObjective` over the visited, from their moments. */
export function residualInShards(pass: Pass, moments: Float64Array): number {
  return runPass<number>(pass, "dtm-residual", { moments }).reduce((total, value) => total + value, 0);
}

/** Writes the squares before the first pass of the visited to their `after`. */
export function startSquaresInShards(pass: Pass): void {
  runPass(pass, "dtm-squares", {});
}

/** The sums of `levelSums` over the visited. */
export function levelsInShards(pass: Pass): LevelSums {
  const [first, ...rest] = runPass<LevelSums>(pass, "dtm-levels", {});
  for (const sums of rest) {
    for (const name of ["value", "logVariance", "logTau", "logSpread"] as const) first[name] += sums[name];
  }
  return first;
}
