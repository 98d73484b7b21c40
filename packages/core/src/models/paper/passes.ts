/**
 * Passes over individuals under the engine's parameters and q(u): objectives, local steps, sums of features. In large
 * cohorts they are shards (models/shards.ts): θ [m,P] stands in memory that all shards share, and parts touch different
 * rows. Sums of blocks are added in their order, whoever made them: without threads the engine of the run makes them itself.
 */
import { type ShardBlock, type ShardFunctions, type ShardWork, shardBlocks } from "../shards.ts";
import {
  createEngine,
  type EngineOptions,
  loadIndividual,
  type PaperEngine,
  setParameters,
  useInducing,
} from "./engine.ts";
import type { DataSums } from "./inducing.ts";
import type { FeatureSums, LocalSolveOptions } from "./local.ts";
import type { GlobalParameters } from "./state.ts";

const START_DISTANCE = 1.5;
const START_LOG_SD = Math.log(0.5);
/** Another start must win by more than the solver's own error. */
const MIN_GAIN = 1e-6;

/** J_i has more than one maximum for a few individuals: other starts are 0 and ±1.5 along each axis, sd 0.5, [2q+1,P]. */
export function localStarts(q: number, P: number): Float64Array {
  const starts = new Float64Array((2 * q + 1) * P);
  for (let s = 0; s <= 2 * q; s++) {
    if (s > 0) starts[s * P + ((s - 1) >> 1)] = s % 2 === 1 ? START_DISTANCE : -START_DISTANCE;
    for (let c = 0; c < q; c++) starts[s * P + q + c] = START_LOG_SD;
  }
  return starts;
}

/** Maximises J_i from θ_i as it stands and, if `starts` are given, from each of them; θ_i is updated. Returns J_i. */
export function solvePlace(
  engine: PaperEngine,
  theta: Float64Array,
  i: number,
  options: LocalSolveOptions,
  starts: Float64Array | null,
): number {
  const { solver, numLocal: P } = engine;
  loadIndividual(engine, i);
  let best = solver.solve(theta, i * P, options);
  for (let s = 0; s < (starts?.length ?? 0); s += P) {
    const trial = starts!.slice(s, s + P);
    const value = solver.solve(trial, 0, options);
    if (value > best + MIN_GAIN) {
      best = value;
      theta.set(trial, i * P);
    }
  }
  return best;
}

/** Σ J_i at θ of the listed (default all); writes ∂J_i/∂θ_i to gradient [m,P] and adds what gradients.ts sums to slopes [q]. */
export function sumObjectives(
  engine: PaperEngine,
  theta: Float64Array,
  gradient: Float64Array | null,
  slopes: Float64Array | null = null,
  individuals: ArrayLike<number> | null = null,
): number {
  const { solver, numLocal: P } = engine;
  const own = new Float64Array(P);
  let total = 0;
  const count = individuals?.length ?? engine.statistics.numIndividuals;
  for (let n = 0; n < count; n++) {
    const i = individuals?.[n] ?? n;
    loadIndividual(engine, i);
    total += solver.evaluate(theta, i * P, own, null);
    gradient?.set(own, i * P);
    if (slopes !== null) for (let c = 0; c < slopes.length; c++) slopes[c] += solver.slopes[c];
  }
  return total;
}

/** Local steps of the listed individuals; leaves the sums of all of them, times the weight, in `out`. */
export function visitInShards(
  engine: PaperEngine,
  theta: Float64Array,
  individuals: Int32Array,
  weight: number,
  local: LocalSolveOptions,
  out: DataSums,
): void {
  const parts = shardBlocks(individuals.length).map(({ from, to }) => {
    return { from: 0, to: to - from, individuals: individuals.slice(from, to) };
  });
  runParts(engine, { theta, local, weight }, parts);
  engine.solver.readSums(out);
}

/** Sums over everybody at θ, left in `engine.sums`. */
export function sumOverAll(engine: PaperEngine, theta: Float64Array): void {
  runParts(engine, { theta, weight: 1 }, shardBlocks(engine.statistics.numIndividuals));
  engine.solver.readSums(engine.sums);
}

/** Σ J_i over everybody at θ under the engine's q(u). */
export function objectiveInShards(engine: PaperEngine, theta: Float64Array): number {
  return runParts(engine, { theta }, shardBlocks(engine.statistics.numIndividuals));
}

/** Local steps of individuals from..to−1; θ, which all shards share, is updated in place. */
export function placeInShards(
  engine: PaperEngine,
  theta: Float64Array,
  { from, to }: ShardBlock,
  local: LocalSolveOptions,
  starts: Float64Array | null,
): void {
  const parts = shardBlocks(to - from).map((block) => ({ from: block.from + from, to: block.to + from }));
  runParts(engine, { theta, local, starts }, parts);
}

/** What a pass does with its individuals. */
interface Task {
  readonly theta: Float64Array;
  /** Local steps; without them J_i is taken at θ as it stands. */
  readonly local?: LocalSolveOptions;
  /** Further starts of the local steps. */
  readonly starts?: Float64Array | null;
  /** Sums of data are gathered, times this; without it objectives are. */
  readonly weight?: number;
}

/** Positions from..to−1 in the cohort, or in a list of its individuals. */
interface Part extends ShardBlock {
  readonly individuals?: Int32Array;
}

interface Answer {
  readonly objective: number; // Σ J_i
  readonly sums: FeatureSums;
}

/** All that a worker must know of a run beside the statistics. */
interface PassState {
  readonly parameters: GlobalParameters;
  readonly options: EngineOptions;
  readonly mean: Float64Array;
  readonly blocks: Float64Array;
  readonly task: Task;
}

/** Under which name the passes are known to the worker of all shards. */
const PAPER = "paper";

/** A worker of these passes; it keeps an engine for the statistics at hand. */
export function paperShards(): ShardFunctions {
  let kept: PaperEngine | null = null;
  let last: unknown = null;
  const work: ShardWork = ([statistics], state, part) => {
    const { parameters, options, mean, blocks, task } = state as PassState;
    if (kept === null || kept.statistics !== statistics) kept = createEngine(statistics, parameters, options);
    if (last !== state) {
      setParameters(kept, parameters);
      kept.posterior.mean.set(mean);
      kept.posterior.blocks.set(blocks);
      useInducing(kept);
      last = state;
    }
    return answerPart(kept, task, part as Part);
  };
  return { [PAPER]: work };
}

/** Does all parts, here or in the shards of the engine; returns Σ J_i and leaves the sums in the engine's solver. */
function runParts(engine: PaperEngine, task: Task, parts: readonly Part[]): number {
  const { shards, solver, parameters, options, posterior } = engine;
  if (parts.length === 1) return doPart(engine, task, parts[0]);
  const state: PassState = { parameters, options, mean: posterior.mean, blocks: posterior.blocks, task };
  const answers =
    shards === null
      ? parts.map((part) => answerPart(engine, task, part))
      : (shards.run(PAPER, state, parts) as Answer[]);
  solver.joinSums(answers.map(({ sums }) => sums));
  return answers.reduce((total, { objective }) => total + objective, 0);
}

function answerPart(engine: PaperEngine, task: Task, part: Part): Answer {
  return { objective: doPart(engine, task, part), sums: engine.solver.copySums() };
}

/** Returns Σ J_i of the part and leaves its sums in the engine's solver. */
function doPart(engine: PaperEngine, task: Task, { from, to, individuals }: Part): number {
  const { solver, numLocal: P } = engine;
  const { theta, local, starts = null, weight } = task;
  let objective = 0;
  solver.resetSums();
  for (let n = from; n < to; n++) {
    const i = individuals?.[n] ?? n;
    if (local !== undefined) objective += solvePlace(engine, theta, i, local, starts);
    else {
      loadIndividual(engine, i);
      if (weight === undefined) objective += solver.evaluate(theta, i * P, null, null);
    }
    if (weight !== undefined) solver.accumulate(theta, i * P, weight);
  }
  return objective;
}
