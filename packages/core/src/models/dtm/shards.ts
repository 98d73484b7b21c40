/**
 * The passes over individuals as shards (models/shards.ts). Four kinds of work on a block, all at given parameters:
 *   start     first guesses of places in, node sums of the block out (starting-places.ts);
 *   expect    node table in, Σ (c_i + λ_i) and node sums of the block out, moments into their rows;
 *   maximize  moments in, sums for mean, noise and residual out (maximization-step.ts);
 *   residual  moments in, Q of the block out (residual-step.ts).
 * Moments are rows by position in the pass, [count,K], in memory that all shards share.
 */
import { wasmPasses } from "../../wasm/expectation.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { type ShardBlock, type ShardFunctions, type ShardRunner, shardBlocks, statisticsBlock } from "../shards.ts";
import { expectationPass } from "./expectation-step.ts";
import { type IndividualModel, type Individuals, packedStride } from "./individual-statistics.ts";
import {
  addMaximizationSums,
  createMaximizationSums,
  type MaximizationSums,
  maximizationSums,
} from "./maximization-step.ts";
import type { NodeTable } from "./node-table.ts";
import type { MapNodes } from "./nodes.ts";
import { residualObjective } from "./residual-step.ts";
import { addStartingSums, type StartingPlaces, startingWeights } from "./starting-places.ts";

/** Whom a pass visits: those listed, or the first `count`. */
export interface Visited {
  readonly individuals: Int32Array | null;
  readonly count: number;
}

/** Where a pass runs, on which kernels and at which parameters. */
export interface Pass {
  readonly shards: ShardRunner;
  readonly visited: Visited;
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
}

interface PassState {
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
}

interface ExpectState extends PassState {
  readonly table: NodeTable;
  readonly withSums: boolean;
  readonly moments: Float64Array | null; // [count,stride]
}

interface StartState extends PassState {
  readonly nodes: MapNodes;
  readonly places: StartingPlaces; // by position in the pass
}

interface MaximizeState extends PassState {
  readonly moments: Float64Array; // [count,K]
  readonly residualMoment: boolean;
}

interface ResidualState extends PassState {
  readonly moments: Float64Array; // [count,K]
}

/** A block by position in the pass, and who stands there; null for the positions themselves. */
interface Part extends ShardBlock {
  readonly individuals: Int32Array | null;
}

interface ExpectAnswer {
  readonly total: number;
  readonly nodeSums: Float64Array | null;
}

/** The work of these passes; nothing but scratch is kept. */
export function dtmShards(): ShardFunctions {
  const opened = new Map<string, ReturnType<typeof wasmPasses>>();
  const kernelsFor = (d: number, numNodes: number, stride: number) => {
    const key = `${d} ${numNodes} ${stride}`;
    const found = opened.get(key) ?? wasmPasses(d, numNodes, stride);
    opened.set(key, found);
    return found;
  };
  return {
    "dtm-expect": (statistics, state, part) => {
      const { kernels, model, table, withSums, moments } = state as ExpectState;
      const { stride, numNodes } = table;
      const { from, to } = part as Part;
      const nodeSums = withSums ? new Float64Array(stride * numNodes) : null;
      const outputs = {
        ...(nodeSums === null ? {} : { nodeSums }),
        ...(moments === null ? {} : { moments: moments.subarray(from * stride, to * stride) }),
      };
      const individuals = individualsOf(statistics, part as Part);
      const total =
        kernels === "wasm-simd"
          ? kernelsFor(statistics.basis.numBasis, numNodes, stride).expect(individuals, model, table, outputs)
          : expectationPass(individuals, model, table, outputs);
      return { total, nodeSums } satisfies ExpectAnswer;
    },
    "dtm-start": (statistics, state, part) => {
      const { kernels, model, nodes, places } = state as StartState;
      const { numNodes, mapDimension: q } = nodes;
      const { from, to } = part as Part;
      const d = statistics.basis.numBasis;
      const stride = packedStride(d);
      const nodeSums = new Float64Array(stride * numNodes);
      const weights = startingWeights(nodes, {
        means: places.means.subarray(from * q, to * q),
        covariances: places.covariances.subarray(from * q * q, to * q * q),
      });
      const individuals = individualsOf(statistics, part as Part);
      if (kernels === "wasm-simd") kernelsFor(d, numNodes, stride).start(individuals, model, weights, nodeSums);
      else addStartingSums(individuals, model, weights, nodeSums);
      return nodeSums;
    },
    "dtm-maximize": (statistics, state, part) => {
      const { kernels, model, moments, residualMoment } = state as MaximizeState;
      const d = statistics.basis.numBasis;
      const individuals = individualsOf(statistics, part as Part);
      const own = rowsOf(moments, d, part as Part);
      // The kernel has no Σ E ee', which a free residual covariance reads.
      if (kernels !== "wasm-simd" || (residualMoment && model.residualRoot !== null)) {
        return maximizationSums(individuals, model, own);
      }
      const sums = createMaximizationSums(d);
      kernelsFor(d, 0, packedStride(d)).maximize(individuals, model, own, sums);
      return sums;
    },
    "dtm-residual": (statistics, state, part) => {
      const { kernels, model, moments } = state as ResidualState;
      const d = statistics.basis.numBasis;
      const individuals = individualsOf(statistics, part as Part);
      const own = rowsOf(moments, d, part as Part);
      return kernels === "wasm-simd"
        ? kernelsFor(d, 0, packedStride(d)).residual(individuals, model, own)
        : residualObjective(individuals, model, own);
    },
  };
}

function individualsOf(statistics: ShardRunner["statistics"], { individuals: listed, from, to }: Part): Individuals {
  const own = listed === null ? statisticsBlock(statistics, { from, to }) : statistics;
  return { statistics: own, listed, count: to - from };
}

function rowsOf(moments: Float64Array, d: number, { from, to }: Part): Float64Array {
  return moments.subarray(from * packedStride(d), to * packedStride(d));
}

/** Node sums Σ_i r_ig (g̃_i, G̃_i) of the starting responsibilities of the visited, [K,Γ]. */
export function startInShards(pass: Pass, nodes: MapNodes, places: StartingPlaces, nodeSums: Float64Array): void {
  const { shards, visited, kernels, model } = pass;
  const { individuals, count } = visited;
  const q = nodes.mapDimension;
  // The places of the visited, in their order, where all shards can read them.
  const means = shards.buffer(count * q);
  const covariances = shards.buffer(count * q * q);
  for (let at = 0; at < count; at++) {
    const i = individuals === null ? at : individuals[at];
    for (let c = 0; c < q; c++) means[at * q + c] = places.means[i * q + c];
    for (let c = 0; c < q * q; c++) covariances[at * q * q + c] = places.covariances[i * q * q + c];
  }
  const state: StartState = { kernels, model, nodes, places: { means, covariances } };
  nodeSums.fill(0);
  for (const part of shards.run("dtm-start", state, partsOf(visited)) as Float64Array[]) {
    for (let e = 0; e < nodeSums.length; e++) nodeSums[e] += part[e];
  }
}

/** One pass over the visited; returns Σ (c_i + λ_i) and adds to node sums [K,Γ] if given. */
export function expectInShards(
  { shards, visited, kernels, model }: Pass,
  table: NodeTable,
  nodeSums: Float64Array | null,
  moments: Float64Array | null,
): number {
  const state: ExpectState = { kernels, model, table, withSums: nodeSums !== null, moments };
  const answers = shards.run("dtm-expect", state, partsOf(visited)) as ExpectAnswer[];
  let total = 0;
  for (const answer of answers) {
    total += answer.total;
    if (nodeSums === null || answer.nodeSums === null) continue;
    for (let e = 0; e < nodeSums.length; e++) nodeSums[e] += answer.nodeSums[e];
  }
  return total;
}

/** The sums of `maximizationSums` over the visited, from their moments. */
export function maximizeInShards(
  { shards, visited, kernels, model }: Pass,
  moments: Float64Array,
  residualMoment: boolean,
): MaximizationSums {
  const state: MaximizeState = { kernels, model, moments, residualMoment };
  const [first, ...rest] = shards.run("dtm-maximize", state, partsOf(visited)) as MaximizationSums[];
  for (const sums of rest) addMaximizationSums(sums, first);
  return first;
}

/** Q of `residualObjective` over the visited, from their moments. */
export function residualInShards({ shards, visited, kernels, model }: Pass, moments: Float64Array): number {
  const state: ResidualState = { kernels, model, moments };
  const values = shards.run("dtm-residual", state, partsOf(visited)) as number[];
  return values.reduce((total, value) => total + value, 0);
}

function partsOf({ individuals, count }: Visited): Part[] {
  return shardBlocks(count).map(({ from, to }) => ({
    from,
    to,
    individuals: individuals === null ? null : individuals.slice(from, to),
  }));
}
