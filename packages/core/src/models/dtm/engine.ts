/**
 * The machine of a fit: everything that follows from settings and start and stays fixed, with all buffers. An iteration
 * reads and writes the state through the operations below; the engine itself remembers nothing between iterations but
 * scratch and the node table that belongs to the state's q(u).
 */
import { weakNoisePrior } from "../../basis/noise-prior.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import {
  logNoisePrior,
  NO_NOISE_PRIOR,
  type Noise,
  type NoisePrior,
  noiseLevel,
  noiseSpread,
} from "../../noise/noise.ts";
import { takeRows } from "../../numeric/matrix.ts";
import type { Precondition } from "../../numeric/optimize/lbfgs.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import { chooseKernels, type KernelKind } from "../../wasm/instance.ts";
import { gridLocations } from "../gp/inducing.ts";
import type { MapStart } from "../map-start.ts";
import { type MeanDesign, meanDesign } from "../mean.ts";
import { localShards, type ShardRunner } from "../shards.ts";
import { type IndividualModel, packedStride, residualRoot } from "./individual-statistics.ts";
import { inducingWorkspace } from "./inducing-posterior.ts";
import { jointMean } from "./joint-mean.ts";
import { type KernelProblem, type KernelStepOptions, kernelStep, solveAt } from "./kernel-step.ts";
import type { LevelSquares } from "./level-statistics.ts";
import { nodeGeometry, nodeKernel } from "./node-kernel.ts";
import { type NodeTable, nodeTable } from "./node-table.ts";
import { latticeNodes, type MapNodes } from "./nodes.ts";
import { inducingLayout } from "./pairs.ts";
import type { DtmSettings } from "./settings.ts";
import { dtmShards, expectInShards, type Pass, startInShards, startSquaresInShards, type Visited } from "./shards.ts";
import type { StartingPlaces } from "./starting-places.ts";
import { type DtmState, referenceCovariance } from "./state.ts";

/** ε of the kernel matrix, relative to α. */
export const JITTER = 1e-6;

/** Fixed inputs and buffers of a fit. */
export interface MapEngine {
  readonly statistics: BasisStatistics;
  /** Where passes over individuals are run. */
  readonly shards: ShardRunner;
  readonly settings: DtmSettings;
  /** Which kernels the passes run on. */
  readonly kernels: KernelKind;
  readonly nodes: MapNodes;
  readonly inducing: Float64Array; // Z [p,q]
  /** A root of Σ_ref, [d,d]. */
  readonly referenceRoot: Float64Array;
  readonly anchor: StartAnchor;
  readonly lowestNoiseLevel: number;
  readonly noisePrior: NoisePrior;
  readonly mean: MeanDesign;
  readonly problem: KernelProblem;
  /** The table of the state's q(u). */
  table: NodeTable;
  /** Moments of the individuals of one pass, [count,K]; made by the first pass that needs them. */
  moments: Float64Array;
  /** The kernel's frame (kernel-frame.ts) at the last length-scale it was asked for. */
  frame: { readonly lengthscale: number; readonly vectors: Float64Array } | null;
  /** Squares of the individuals of one pass, where noise has levels; made by the first pass that needs them. */
  squares: LevelSquares | null;
  /** Bound at the last whole pass, and the way up from there once it is asked for. */
  bound: number;
  slope: Slope | null;
  /** Whom passes visit until they settle ("svi" of large cohorts). */
  sample: Int32Array | null;
}

/** What a pass says of the way up. */
export interface Slope {
  /** By the parameters of parameters.ts; 0 for those that are held. */
  readonly gradient: Float64Array;
  /** The inverse of the curvature for fixed responsibilities. */
  readonly precondition: Precondition;
  /** Ξ that is best for the responsibilities, and KL with it. */
  readonly covariance: Float64Array;
  readonly divergence: number;
  /** Σ_e that is best for them, where it is free. */
  readonly residualCovariance: Float64Array | null;
}

/** An engine for the lattice of the settings, or for one of another step. */
export function createEngine(
  statistics: BasisStatistics,
  anchor: StartAnchor,
  settings: DtmSettings,
  nodeStep: number = settings.nodeStep,
  shards: ShardRunner = localShards(dtmShards).open(statistics),
): MapEngine {
  const d = statistics.basis.numBasis;
  const q = settings.mapDimension;
  const nodes = latticeNodes(q, { step: nodeStep, radius: settings.nodeRadius });
  const inducing = gridLocations(q, settings.inducingPerDimension, settings.inducingHalfWidth);
  const geometry = nodeGeometry(nodes.locations, inducing, q, JITTER);
  const layout = inducingLayout(d, geometry);
  const kernels = chooseKernels(settings.kernels);
  const { numNodes, logWeights } = nodes;
  const stride = packedStride(d);
  const nodeSums = new Float64Array(stride * numNodes);
  const workspace = inducingWorkspace(layout, kernels);
  const lowest = lowestNoiseLevel(statistics, noiseLevel(anchor.noise));
  return {
    statistics,
    shards,
    settings,
    kernels,
    nodes,
    inducing,
    referenceRoot: residualRoot(anchor.reference, d),
    anchor,
    lowestNoiseLevel: lowest,
    noisePrior: settings.priors === "weak" ? weakNoisePrior(statistics, lowest) : NO_NOISE_PRIOR,
    mean: meanDesign(settings.mean, d),
    problem: { geometry, layout, nodeSums, workspace },
    table: { numNodes, stride, rows: new Float64Array(stride * numNodes), logWeights },
    moments: new Float64Array(0),
    frame: null,
    squares: null,
    bound: Number.NaN,
    slope: null,
    sample: null,
  };
}

/**
 * σ² stays above 1e-8 of its start and 1e-10 of the variance of the values (unless it starts below): curves that pass
 * through all observations would let the bound grow without limit.
 */
function lowestNoiseLevel({ sumSquares, numObservations }: BasisStatistics, first: number): number {
  return Math.min(first, Math.max(1e-8 * first, (1e-10 * compensatedSum(sumSquares)) / numObservations));
}

/** What a fit keeps of its linear start throughout. */
export interface StartAnchor {
  readonly reference: Float64Array; // Σ_ref [d,d]
  readonly noise: Noise;
}

/** Σ_ref and first noise of a linear start. */
export function startAnchor(start: MapStart, d: number): StartAnchor {
  return { reference: referenceCovariance(start, d), noise: start.noise };
}

/** The parameters on which individual statistics depend, with a root of Σ_e. */
export function individualModel(engine: MapEngine, state: DtmState): IndividualModel {
  const { settings, referenceRoot } = engine;
  const { mean, noise } = state;
  if (settings.residual === "none") return { mean, noise, residualRoot: null };
  if (state.tau === null) {
    return { mean, noise, residualRoot: residualRoot(state.residualCovariance, mean.length) };
  }
  return { mean, noise, residualRoot: scaledRoot(referenceRoot, state.tau) };
}

/** A root of τ Σ_ref from one of Σ_ref. */
export function scaledRoot(root: Float64Array, tau: number): Float64Array {
  const scale = Math.sqrt(tau);
  return root.map((v) => scale * v);
}

/** The optimal q(u) for the node sums in the engine, with a step of α and ℓ if asked; its table too. */
export function updateMap(engine: MapEngine, state: DtmState, kernel: KernelStepOptions | null): void {
  solveMap(engine, state, kernel);
  tabulateMap(engine, state);
}

/** The same without the table, for states that may not be visited; the mean moves together with q(u) if asked. */
export function solveMap(engine: MapEngine, state: DtmState, kernel: KernelStepOptions | null, withMean = false): void {
  const { layout, nodeSums } = engine.problem;
  const problem = { ...engine.problem, mean: withMean ? jointMean(layout, engine.mean, nodeSums) : null };
  const { signalVariance: alpha, lengthscale: ell } = state;
  const solution =
    kernel === null
      ? solveAt(problem, alpha, ell, false)
      : kernelStep(problem, alpha, ell, state.curvature, kernel).best;
  const { mean, covariance, divergence, meanShift } = solution.posterior;
  state.signalVariance = solution.kernel.signalVariance;
  state.lengthscale = solution.kernel.lengthscale;
  state.mean = state.mean.map((v, k) => v + meanShift[k]);
  state.inducingMean = mean;
  state.inducingCovariance = covariance;
  state.divergence = divergence;
}

/** Puts the node table of the state's map into the engine. */
export function tabulateMap(engine: MapEngine, state: DtmState): void {
  const { geometry, layout, workspace } = engine.problem;
  const { signalVariance, lengthscale, inducingMean, inducingCovariance } = state;
  if (inducingMean.length === 0) return;
  const kernel = nodeKernel(geometry, signalVariance, lengthscale, false);
  engine.table = nodeTable(layout, kernel, inducingMean, inducingCovariance, workspace, engine.nodes.logWeights);
}

/** A pass over some individuals at the parameters of a state; where noise has levels, with their squares. */
export function passOver(engine: MapEngine, state: DtmState, visited: Visited): Pass {
  const { shards, kernels } = engine;
  const pass = { shards, visited, kernels, model: individualModel(engine, state) };
  if (state.squares === null) return pass;
  const width = 1 + state.mean.length;
  const rows = visited === null ? state.squares : takeRows(state.squares, width, visited);
  const { before, after } = squaresFor(engine, rows.length);
  before.set(rows);
  return { ...pass, squares: { before, after } };
}

/** The buffers for squares of `length` numbers. */
function squaresFor(engine: MapEngine, length: number): LevelSquares {
  if (engine.squares?.before.length !== length) {
    engine.squares = { before: engine.shards.buffer(length), after: engine.shards.buffer(length) };
  }
  return engine.squares;
}

/** The state goes on with the squares that the last pass over the visited left. */
export function keepSquares(engine: MapEngine, state: DtmState, visited: Visited): void {
  if (state.squares === null || engine.squares === null) return;
  const { after } = engine.squares;
  if (visited === null) {
    state.squares = Float64Array.from(after);
    return;
  }
  const width = 1 + state.mean.length;
  const kept = state.squares;
  visited.forEach((i, k) => {
    kept.set(after.subarray(k * width, (k + 1) * width), i * width);
  });
}

/** Node sums of the starting responsibilities of some individuals, left in the engine. */
export function startVisited(engine: MapEngine, state: DtmState, visited: Visited, places: StartingPlaces): void {
  if (noiseSpread(state.noise) > 0) {
    // Everybody's level as the mixed model has it, whoever is visited first.
    state.squares = new Float64Array(engine.statistics.numIndividuals * (1 + state.mean.length));
    const { mean, noise } = state;
    const all = passOver(engine, state, null);
    startSquaresInShards({ ...all, model: { mean, noise, residualRoot: engine.referenceRoot } });
    keepSquares(engine, state, null);
  }
  startInShards(passOver(engine, state, visited), engine.nodes, places, engine.problem.nodeSums);
}

/** What of the bound does not depend on individuals: the prior of the noise, less the KL of q(u). */
export function commonTerms({ noisePrior }: MapEngine, { noise, divergence }: DtmState): number {
  return logNoisePrior(noise, noisePrior) - divergence;
}

/** An expectation pass over everybody; returns the bound, NaN if numbers left the range of doubles. */
export function expectBound(
  engine: MapEngine,
  state: DtmState,
  nodeSums: Float64Array | null,
  moments: Float64Array | null,
): number {
  return expectVisited(engine, state, null, nodeSums, moments) + commonTerms(engine, state);
}

/** An expectation pass over some individuals; returns Σ (c_i + λ_i), adds to node sums and writes moments where given. */
export function expectVisited(
  engine: MapEngine,
  state: DtmState,
  visited: Visited,
  nodeSums: Float64Array | null,
  moments: Float64Array | null,
): number {
  return expectInShards(passOver(engine, state, visited), engine.table, nodeSums, moments);
}

/** The bound itself, or an error if it is not finite. */
export function checkBound(state: DtmState, bound: number): number {
  if (Number.isFinite(bound)) return bound;
  throw new DtmError(
    "not-finite",
    `dtm: expected a finite bound, received ${bound} in iteration ${state.iteration}. Check the values for extremes, or use fewer basis functions.`,
  );
}

/**
 * Means Σ_g r_ig x_g of everybody's place under the responsibilities, fit's frame, [m,q]: the moments of a table that has the
 * coordinates of the nodes as further rows, which no individual's row reads.
 */
export function placeMeans(engine: MapEngine, state: DtmState): Float64Array {
  const { statistics, table, nodes, shards } = engine;
  const { mapDimension: q, numNodes: n, locations } = nodes;
  const m = statistics.numIndividuals;
  const K = table.stride;
  const stride = K + 2;
  const rows = new Float64Array(stride * n);
  rows.set(table.rows);
  for (let g = 0; g < n; g++) for (let c = 0; c < q; c++) rows[(K + c) * n + g] = locations[g * q + c];
  const moments = shards.buffer(m * stride);
  expectInShards(passOver(engine, state, null), { ...table, stride, rows }, null, moments);
  return Float64Array.from({ length: m * q }, (_, e) => moments[Math.floor(e / q) * stride + K + (e % q)]);
}

/** The buffer for moments of `count` individuals. */
export function momentsFor(engine: MapEngine, count: number): Float64Array {
  const length = count * engine.table.stride;
  if (engine.moments.length < length) engine.moments = engine.shards.buffer(length);
  return engine.moments;
}
