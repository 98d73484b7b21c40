/**
 * The passes over individuals of the published model as shards (models/shards.ts), under given parameters and q(u):
 *   visit      local steps of those listed, then their part of (𝒴, Ω);   sum  (𝒴, Ω) at θ as it stands;
 *   objective  Σ J_i at θ;                                               places  local steps from several starts.
 * θ [m,P] stands in memory that all shards share; parts touch different rows. Sums of blocks are added in their order,
 * whoever made them: without threads the engine of the run makes them itself.
 */
import { type ShardBlock, type ShardFunction, shardBlocks } from "../shards.ts";
import { createEngine, type Engine, type EngineOptions, setParameters } from "./engine.ts";
import { createSums, type DataSums } from "./inducing-posterior.ts";
import type { LocalSolveOptions } from "./local/local.ts";
import { solvePlaces } from "./local-pass.ts";
import { accumulateEach, type Individuals, solveEach, sumObjectivesOf } from "./passes.ts";
import type { GlobalParameters } from "./state.ts";

/** What a piece of work does with its block. */
type Task =
  | {
      readonly kind: "visit";
      readonly theta: Float64Array;
      readonly weight: number;
      readonly local: LocalSolveOptions;
    }
  | { readonly kind: "sum"; readonly theta: Float64Array }
  | { readonly kind: "objective"; readonly theta: Float64Array }
  | {
      readonly kind: "places";
      readonly theta: Float64Array;
      readonly local: LocalSolveOptions;
      readonly starts: Float64Array | null;
    };

/** Individuals by position in the cohort, or those listed. */
interface Part extends ShardBlock {
  readonly individuals: Int32Array | null;
}

/** All that a worker must know of a run beside the statistics. */
interface PassState {
  readonly parameters: GlobalParameters;
  readonly options: EngineOptions;
  readonly mean: Float64Array;
  readonly blocks: Float64Array;
  readonly task: Task;
}

/** Local steps of the listed individuals; leaves the sums of all of them, times the weight, in `out`. */
export function visitInShards(
  engine: Engine,
  theta: Float64Array,
  individuals: Int32Array,
  weight: number,
  local: LocalSolveOptions,
  out: DataSums,
): void {
  const task = { kind: "visit", theta, weight, local } as const;
  const parts = partsOf(individuals.length, individuals);
  if (parts.length === 1) gatherPart(engine, task, parts[0], out);
  else addAll(runParts(engine, task, parts) as DataSums[], out);
}

/** Sums over everybody at θ, left in `engine.sums`. */
export function sumInShards(engine: Engine, theta: Float64Array): void {
  const parts = partsOf(engine.statistics.numIndividuals, null);
  addAll(runParts(engine, { kind: "sum", theta }, parts) as DataSums[], engine.sums);
}

/** Σ J_i over everybody at θ under the engine's q(u). */
export function objectiveInShards(engine: Engine, theta: Float64Array): number {
  const parts = partsOf(engine.statistics.numIndividuals, null);
  const values = runParts(engine, { kind: "objective", theta }, parts) as number[];
  return values.reduce((total, value) => total + value, 0);
}

/** `solvePlaces` of individuals from..to−1; θ is updated in place. */
export function placeInShards(
  engine: Engine,
  theta: Float64Array,
  { from, to }: ShardBlock,
  local: LocalSolveOptions,
  starts: Float64Array | null,
): void {
  const parts = partsOf(to - from, null).map((part) => ({ ...part, from: part.from + from, to: part.to + from }));
  runParts(engine, { kind: "places", theta, local, starts }, parts);
}

/** A worker of these passes; it keeps an engine for the statistics at hand. */
export function paperShards(): ShardFunction {
  let kept: Engine | null = null;
  let last: unknown = null;
  return (statistics, _name, state, part) => {
    const { parameters, options, mean, blocks, task } = state as PassState;
    if (kept === null || kept.statistics !== statistics) kept = createEngine(statistics, parameters, options);
    if (last !== state) {
      setParameters(kept, sameKernel(kept.parameters, parameters));
      kept.posterior.mean.set(mean);
      kept.posterior.blocks.set(blocks);
      kept.solver.setGlobal(mean, blocks, kept.factor.inverse, parameters.noiseVariance);
      last = state;
    }
    return doPart(kept, task, part as Part);
  };
}

/** The parameters with the kernel and places known before where they are equal, so that nothing is factored again. */
function sameKernel(before: GlobalParameters, now: GlobalParameters): GlobalParameters {
  const same =
    JSON.stringify(before.kernel) === JSON.stringify(now.kernel) &&
    before.inducingLocations.every((z, e) => z === now.inducingLocations[e]);
  return same ? { ...now, kernel: before.kernel, inducingLocations: before.inducingLocations } : now;
}

function runParts(engine: Engine, task: Task, parts: readonly Part[]): unknown[] {
  const { shards, parameters, options, posterior } = engine;
  if (shards === null || parts.length === 1) return parts.map((part) => doPart(engine, task, part));
  const state: PassState = { parameters, options, mean: posterior.mean, blocks: posterior.blocks, task };
  return shards.run("paper", state, parts);
}

function doPart(engine: Engine, task: Task, part: Part): DataSums | number {
  const { theta } = task;
  if (task.kind === "places") return solvePlaces(engine, theta, part.from, part.to, task.local, task.starts);
  if (task.kind === "objective") return sumObjectivesOf(engine, theta, membersOf(part), null);
  const { numInducing: p, numBasis: d } = engine.parameters;
  const sums = createSums(engine.statistics, p, d);
  gatherPart(engine, task, part, sums);
  return sums;
}

/** Sums of a part, after local steps if the task asks for them. */
function gatherPart(engine: Engine, task: Task & { kind: "visit" | "sum" }, part: Part, out: DataSums): void {
  const { solver } = engine;
  const { theta } = task;
  const who = membersOf(part);
  solver.resetSums();
  if (task.kind === "visit") solveEach(engine, theta, who, task.local);
  accumulateEach(engine, theta, who, task.kind === "visit" ? task.weight : 1);
  solver.readSums(out.cross, out.gram);
}

/** A list is that of the part alone. */
function membersOf({ from, to, individuals: list }: Part): Individuals {
  return list === null ? { list, from, to } : { list, from: 0, to: to - from };
}

function partsOf(count: number, individuals: Int32Array | null): Part[] {
  return shardBlocks(count).map(({ from, to }) => ({
    from,
    to,
    individuals: individuals === null ? null : individuals.slice(from, to),
  }));
}

function addAll(parts: readonly DataSums[], out: DataSums): void {
  out.cross.set(parts[0].cross);
  out.gram.set(parts[0].gram);
  for (let k = 1; k < parts.length; k++) {
    const { cross, gram } = parts[k];
    for (let e = 0; e < cross.length; e++) out.cross[e] += cross[e];
    for (let e = 0; e < gram.length; e++) out.gram[e] += gram[e];
  }
}
