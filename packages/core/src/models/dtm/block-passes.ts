/**
 * A pass over individuals from its blocks (shards.ts): all of them are run, wherever, and their sums added in the order of blocks; of a cohort
 * that is spread (models/spread.ts) the sums over all places are taken instead.
 */
import { DtmError } from "../../errors.ts";
import { bytesChecksum } from "../../numeric/crc.ts";
import { addTo, takeRows } from "../../numeric/matrix.ts";
import { type NodeCells, shardBlocks, statisticsBlocks } from "../shards.ts";
import { addCells } from "./cells.ts";
import { addMaximizationSums } from "./maximization-step.ts";
import { addEffectSums } from "./mean-effects.ts";
import type { NodeTable } from "./node-table.ts";
import type { MapNodes } from "./nodes.ts";
import type { ExpectAnswer, ExpectTask, Learning, MarkerSums, Part, Pass, StartTask } from "./shards.ts";
import type { StartingPlaces } from "./starting-places.ts";

/** The answers of all blocks of a pass, in their order. */
function runPass<Answer>(pass: Pass, name: string, task: object): Answer[] {
  const { shards, visited } = pass;
  const state = stateOf(pass, task);
  const { count } = state;
  const blocks = visited === null ? statisticsBlocks(shards.statistics) : shardBlocks(count);
  const parts = blocks.map(
    ({ from, to }): Part => ({ from, to, visited: visited === null ? null : visited.slice(from, to) }),
  );
  return shards.run(name, state, parts) as Answer[];
}

/** What every shard of a pass gets. */
function stateOf<Task>({ shards, visited, ...state }: Pass, task: Task) {
  return { ...state, count: visited?.length ?? shards.statistics[0].numIndividuals, ...task };
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
  const parts = runPass<Float64Array>(pass, "dtm-start", task);
  inspectCells(pass, "dtm-start-cells", task);
  if (shards.spread !== undefined) {
    nodeSums.set(shards.spread.total(parts, "map"));
    return;
  }
  nodeSums.fill(0);
  for (const part of parts) addTo(nodeSums, part);
}

/** Rows that a pass may leave, of each individual. */
interface PassRows {
  readonly moments?: readonly Float64Array[] | null;
  readonly placeMoments?: Float64Array | null;
}

/** Rows of the visited, and no sums. */
export function rowsInShards(pass: Pass, table: NodeTable, { moments = null, placeMoments = null }: PassRows): void {
  const task: ExpectTask = { table, withSums: false, learning: null, moments, placeMoments };
  runPass(pass, "dtm-expect", task);
}

/** What a pass may give beside Σ (c_i + λ_i). */
interface PassOutputs extends Pick<PassRows, "placeMoments"> {
  /** Where node sums go, [K,Γ]. */
  readonly nodeSums?: Float64Array | null;
  readonly learning?: Learning | null;
}

/** One pass over the visited: Σ (c_i + λ_i), and the sums of each marker where parameters are learned. */
export function expectInShards(
  pass: Pass,
  table: NodeTable,
  { nodeSums = null, learning = null, placeMoments = null }: PassOutputs,
): Pick<ExpectAnswer, "total" | "markers"> {
  const task: ExpectTask = { table, withSums: nodeSums !== null, learning, moments: null, placeMoments };
  const all = expectElsewhere(pass, task) ?? expectHere(pass, task);
  if (all.nodeSums !== undefined) nodeSums?.set(all.nodeSums);
  return all;
}

function expectHere(pass: Pass, task: ExpectTask): ExpectAnswer {
  const answers = runPass<ExpectAnswer>(pass, "dtm-expect", task);
  const { spread } = pass.shards;
  if (task.withSums) inspectCells(pass, "dtm-cells", { table: task.table });
  if (spread === undefined) return answers.reduce(addAnswers);
  const blocks = answers.map((answer) => Float64Array.from(numbersIn(answer)));
  return filledWith(spread.total(blocks, "map", bytesChecksum([task.table.rows])), answers[0]);
}

/** The pass over everybody by shards that stand elsewhere, where there are some that can. */
function expectElsewhere(pass: Pass, task: ExpectTask): ExpectAnswer | undefined {
  const { shards, visited } = pass;
  const state = stateOf(pass, task);
  const sums = visited === null ? shards.elsewhere?.("dtm-expect", state) : undefined;
  if (sums === undefined) return undefined;
  // Nobody's answer has the form of everybody's.
  const nobody: Part = { from: 0, to: 0, visited: null };
  const [empty] = shards.run("dtm-expect", state, [nobody]) as [ExpectAnswer];
  return filledWith(sums, empty);
}

/** Shows how single individuals stand out from node sums to whoever looks at what a place hands out. */
function inspectCells(pass: Pass, name: string, task: object): void {
  const inspect = pass.shards.spread?.inspect;
  if (inspect === undefined) return;
  const [cells, ...more] = runPass<NodeCells>(pass, name, task);
  for (const own of more) addCells(own, cells);
  inspect(cells);
}

/** A sum of answers, in the place of the first. */
function addAnswers(sum: ExpectAnswer, answer: ExpectAnswer): ExpectAnswer {
  if (sum.nodeSums !== undefined) addTo(sum.nodeSums, answer.nodeSums!);
  sum.markers?.forEach((own, k) => {
    addMarkerSums(answer.markers![k], own);
  });
  return { ...sum, total: sum.total + answer.total };
}

/** An answer of the form given, of these numbers. */
function filledWith(sums: Float64Array, form: ExpectAnswer): ExpectAnswer {
  let at = 0;
  const filled = (of: unknown): unknown => {
    if (typeof of === "number") return sums[at++];
    if (of instanceof Float64Array) {
      at += of.length;
      return sums.slice(at - of.length, at);
    }
    if (Array.isArray(of)) return of.map(filled);
    if (of === null || of === undefined) return of;
    return Object.fromEntries(Object.entries(of).map(([name, own]) => [name, filled(own)]));
  };
  const answer = filled(form) as ExpectAnswer;
  if (at === sums.length) return answer;
  throw new DtmError("shape", `dtm: expected ${at} sums of a pass, received ${sums.length}.`);
}

/** All numbers of plain data, in its order. */
function* numbersIn(of: unknown): Iterable<number> {
  if (typeof of === "number") yield of;
  else if (of instanceof Float64Array) yield* of;
  else if (of !== null && of !== undefined) for (const own of Object.values(of)) yield* numbersIn(own);
}

/** Adds sums to others. */
function addMarkerSums(from: MarkerSums, to: MarkerSums): void {
  if (from.maximization !== null) addMaximizationSums(from.maximization, to.maximization!);
  if (from.effects !== null) addEffectSums(from.effects, to.effects!);
  for (const name of ["value", "logVariance", "logTau", "logSpread"] as const) {
    if (from.levels !== null) to.levels![name] += from.levels[name];
  }
  addTo(to.values, from.values);
}

/** Writes the squares before the first pass of the visited to their `after`. */
export function startSquaresInShards(pass: Pass): void {
  runPass(pass, "dtm-squares", {});
}
