/**
 * The passes over individuals as shards (models/shards.ts). Four kinds of work on a block, all at given parameters:
 *   start     first guesses of places in, node sums of the block out (starting-places.ts);
 *   expect    node table in, Σ (c_i + λ_i) and node sums of the block out, moments into their rows;
 *   maximize  moments in, sums for mean, noise and residual out (maximization-step.ts);
 *   residual  moments in, Q(τ) of the block out (residual-step.ts).
 * Moments are rows by position in the pass, [count,K], in memory that all shards share.
 */
import type { KernelKind } from "../../wasm/instance.ts";
import { type ShardBlock, type ShardFunction, type ShardRunner, shardBlocks, statisticsBlock } from "../shards.ts";
import { type ExpectationWorkspace, expectationPass, expectationWorkspace } from "./expectation-step.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import { type MaximizationWorkspace, maximizationSums, maximizationWorkspace } from "./maximization-step.ts";
import type { NodeTable } from "./node-table.ts";
import type { MapNodes } from "./nodes.ts";
import type { MaximizationSums } from "./pass-outputs.ts";
import { residualObjective } from "./residual-step.ts";
import { addStartingSums, type StartingPlaces } from "./starting-places.ts";

/** Whom a pass visits: those listed, or the first `count`. */
export interface Visited {
  readonly individuals: Int32Array | null;
  readonly count: number;
}

interface ExpectState {
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
  readonly table: NodeTable;
  readonly withSums: boolean;
  readonly moments: Float64Array | null; // [count,K]
}

interface StartState {
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
  readonly nodes: MapNodes;
  readonly places: StartingPlaces; // by position in the pass
}

interface MaximizeState {
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
  readonly moments: Float64Array; // [count,K]
  readonly residualMoment: boolean;
}

interface ResidualState {
  readonly kernels: KernelKind;
  readonly model: IndividualModel;
  readonly referenceRoot: Float64Array; // [d,d]
  readonly tau: number;
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

/** A worker of these passes; it keeps nothing but scratch. */
export function dtmShards(): ShardFunction {
  const expectations = new Map<string, ExpectationWorkspace>();
  const maximizations = new Map<string, MaximizationWorkspace>();
  const maximization = (d: number, kernels: KernelKind): MaximizationWorkspace =>
    kept(maximizations, `${d} ${kernels}`, () => maximizationWorkspace(d, kernels));
  return (statistics, name, state, part) => {
    const d = statistics.basis.numBasis;
    const { individuals, from, to } = part as Part;
    const own = individuals === null ? statisticsBlock(statistics, { from, to }) : statistics;
    const rows = (all: Float64Array) => all.subarray(from * packedStride(d), to * packedStride(d));
    if (name === "dtm-expect") {
      const { kernels, model, table, withSums, moments } = state as ExpectState;
      const key = `${d} ${table.numNodes} ${kernels}`;
      const ws = kept(expectations, key, () => expectationWorkspace(d, table.numNodes, kernels));
      const nodeSums = withSums ? new Float64Array(table.rows.length) : null;
      const outputs = {
        ...(nodeSums === null ? {} : { nodeSums }),
        ...(moments === null ? {} : { moments: rows(moments) }),
      };
      const total = expectationPass(own, individuals, to - from, model, table, ws, outputs);
      return { total, nodeSums } satisfies ExpectAnswer;
    }
    if (name === "dtm-start") {
      const { kernels, model, nodes, places } = state as StartState;
      const { numNodes, mapDimension: q } = nodes;
      const key = `${d} ${numNodes} ${kernels}`;
      const ws = kept(expectations, key, () => expectationWorkspace(d, numNodes, kernels));
      const nodeSums = new Float64Array(packedStride(d) * numNodes);
      const ownPlaces = {
        means: places.means.subarray(from * q, to * q),
        covariances: places.covariances.subarray(from * q * q, to * q * q),
      };
      addStartingSums(own, individuals, to - from, model, nodes, ownPlaces, ws, nodeSums);
      return nodeSums;
    }
    if (name === "dtm-maximize") {
      const { kernels, model, moments, residualMoment } = state as MaximizeState;
      const ws = maximization(d, kernels);
      const sums = maximizationSums(own, individuals, to - from, model, rows(moments), ws, residualMoment);
      return copySums(sums);
    }
    const { kernels, model, referenceRoot, tau, moments } = state as ResidualState;
    const ws = maximization(d, kernels);
    return residualObjective(own, individuals, to - from, model, referenceRoot, tau, rows(moments), ws);
  };
}

/** Node sums Σ_i r_ig (g̃_i, G̃_i) of the starting responsibilities of the visited, [K,Γ]. */
export function startInShards(
  shards: ShardRunner,
  visited: Visited,
  kernels: KernelKind,
  model: IndividualModel,
  nodes: MapNodes,
  places: StartingPlaces,
  nodeSums: Float64Array,
): void {
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
  shards: ShardRunner,
  visited: Visited,
  kernels: KernelKind,
  model: IndividualModel,
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
  shards: ShardRunner,
  visited: Visited,
  kernels: KernelKind,
  model: IndividualModel,
  moments: Float64Array,
  residualMoment: boolean,
): MaximizationSums {
  const state: MaximizeState = { kernels, model, moments, residualMoment };
  const [first, ...rest] = shards.run("dtm-maximize", state, partsOf(visited)) as MaximizationSums[];
  for (const sums of rest) addSums(sums, first);
  return first;
}

/** Q(τ) of `residualObjective` over the visited, from their moments. */
export function residualInShards(
  shards: ShardRunner,
  visited: Visited,
  kernels: KernelKind,
  model: IndividualModel,
  referenceRoot: Float64Array,
  tau: number,
  moments: Float64Array,
): number {
  const state: ResidualState = { kernels, model, referenceRoot, tau, moments };
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

function copySums(sums: MaximizationSums): MaximizationSums {
  const { gram, cross, fitted, residualMoment } = sums;
  return {
    ...sums,
    gram: gram.slice(),
    cross: cross.slice(),
    fitted: fitted.slice(),
    residualMoment: residualMoment.slice(),
  };
}

function addSums(from: MaximizationSums, to: MaximizationSums): void {
  to.numIndividuals += from.numIndividuals;
  to.numObservations += from.numObservations;
  to.sumSquares += from.sumSquares;
  to.crossFitted += from.crossFitted;
  to.quadratic += from.quadratic;
  for (const name of ["gram", "cross", "fitted", "residualMoment"] as const) {
    for (let e = 0; e < to[name].length; e++) to[name][e] += from[name][e];
  }
}

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
