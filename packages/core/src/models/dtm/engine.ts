/**
 * The machine of a fit: everything that follows from settings and start and stays fixed, with all buffers. An iteration
 * reads and writes the state through the operations below; the engine itself remembers nothing between iterations but
 * scratch and the node table that belongs to the state's q(u). Markers meet in the pass over individuals alone: they share the
 * responsibilities of the places, and all else is done for one marker after the other.
 */

import { totalSquares } from "../../basis/cohort-sums.ts";
import { weakNoisePrior } from "../../basis/noise-prior.ts";
import type { BasisStatistics, CohortStatistics } from "../../basis/statistics.ts";
import { NO_NOISE_PRIOR, type Noise, type NoisePrior, noiseLevel } from "../../noise/noise.ts";
import type { Precondition } from "../../numeric/optimize/lbfgs.ts";
import { chooseKernels, type KernelKind } from "../../wasm/instance.ts";
import { gridLocations } from "../gp/inducing.ts";
import type { MapStart, MarkerStart } from "../map-start.ts";
import { type EffectForm, type MeanCovariates, type MeanDesign, meanDesign } from "../mean.ts";
import { localShards, type ShardRunner } from "../shards.ts";
import { type IndividualModel, packedStride, residualRoot } from "./individual-statistics.ts";
import { inducingWorkspace } from "./inducing-posterior.ts";
import { jointMean } from "./joint-mean.ts";
import { type KernelProblem, type KernelStepOptions, kernelStep, solveAt } from "./kernel-step.ts";
import type { LevelSquares } from "./level-statistics.ts";
import { type NodeGeometry, type NodeKernel, nodeGeometry, nodeKernel } from "./node-kernel.ts";
import { nodeTable } from "./node-table.ts";
import { latticeNodes, type MapNodes } from "./nodes.ts";
import { inducingLayout } from "./pairs.ts";
import type { PlacePriors } from "./place-shift.ts";
import type { DtmSettings } from "./settings.ts";
import { dtmShards, type MarkerSums } from "./shards.ts";
import { type DtmState, type MarkerState, referenceCovariance } from "./state.ts";

/** ε of the kernel matrix, relative to α. */
export const JITTER = 1e-6;

/** Fixed inputs and buffers of a fit. */
export interface MapEngine {
  /** Where passes over individuals are run. */
  readonly shards: ShardRunner;
  readonly settings: DtmSettings;
  /** Which kernels the passes run on. */
  readonly kernels: KernelKind;
  readonly nodes: MapNodes;
  readonly inducing: Float64Array; // Z [p,q]
  readonly markers: readonly MarkerEngine[];
  readonly numIndividuals: number;
  /** Node sums of all markers, one after the other, [K,Γ]. */
  readonly nodeSums: Float64Array;
  /** Covariates that shift places, [m,P]; null without. */
  readonly covariates: Float64Array | null;
  /** Covariates with effects in the mean; null without. */
  readonly effects: EngineEffects | null;
  /** Priors of everybody's place under the Φ they were last asked for. */
  priors: (PlacePriors & { readonly shift: Float64Array }) | null;
  /** Moments of powers of places of the individuals of one pass, [count,T], where places are shifted. */
  placeMoments: Float64Array;
  /** Bound at the last whole pass, and the way up from there once it is asked for. */
  bound: number;
  slope: Slopes | null;
  /** Whom passes visit until they settle ("svi" of large cohorts). */
  sample: Int32Array | null;
}

/** Covariates with effects in the mean, z [m,P], where all shards can read them. */
export interface EngineEffects {
  readonly form: EffectForm;
  readonly values: Float64Array;
}

/** The part of one marker. */
export interface MarkerEngine {
  /** Its position among the markers. */
  readonly index: number;
  readonly statistics: BasisStatistics;
  readonly shards: ShardRunner;
  readonly settings: DtmSettings;
  readonly kernels: KernelKind;
  /** A root of Σ_ref, [d,d]. */
  readonly referenceRoot: Float64Array;
  readonly anchor: MarkerAnchor;
  readonly lowestNoiseLevel: number;
  readonly noisePrior: NoisePrior;
  readonly mean: MeanDesign;
  readonly effects: EngineEffects | null;
  /** Its node sums are a view on those of the map. */
  readonly problem: KernelProblem;
  /** f̄_g and R_g of the state's q(u), [K,Γ]. */
  table: Float64Array;
  /** What the last pass says of the next parameters. */
  sums: MarkerSums | null;
  /** Moments of everybody, [m,K]; made by the pass that information on effects needs. */
  moments: Float64Array;
  /** The kernel's frame (kernel-frame.ts) at the last length-scale it was asked for. */
  frame: { readonly lengthscale: number; readonly vectors: Float64Array } | null;
  /** Squares of the individuals of one pass, where noise has levels; made by the first pass that needs them. */
  squares: LevelSquares | null;
}

/** What a pass says of the way up: for each marker, then for its effects in the mean and for the shift of places, as far as there are any. */
export type Slopes = readonly (Slope | ParameterSlope)[];

/** By some of the parameters of parameters.ts. */
export interface ParameterSlope {
  /** 0 for those that are held. */
  readonly gradient: Float64Array;
  /** The inverse of the curvature for fixed responsibilities. */
  readonly precondition: Precondition;
}

/** What a pass says of the way up for one marker. */
export interface Slope extends ParameterSlope {
  /** Ξ that is best for the responsibilities, and KL with it. */
  readonly covariance: Float64Array;
  readonly divergence: number;
  /** Σ_e that is best for them, where it is free. */
  readonly residualCovariance: Float64Array | null;
}

/** An engine for the lattice of the settings, or for one of another step. */
export function createEngine(
  statistics: CohortStatistics,
  anchors: readonly MarkerAnchor[],
  settings: DtmSettings,
  nodeStep: number = settings.nodeStep,
  shards: ShardRunner = localShards(dtmShards).open(statistics),
  covariates: Float64Array | null = null,
  inMean: MeanCovariates | null = null,
): MapEngine {
  const q = settings.mapDimension;
  const nodes = latticeNodes(q, { step: nodeStep, radius: settings.nodeRadius });
  const inducing = gridLocations(q, settings.inducingPerDimension, settings.inducingHalfWidth);
  const geometry = nodeGeometry(nodes.locations, inducing, q, JITTER);
  const lengths = statistics.map(({ basis }) => packedStride(basis.numBasis) * nodes.numNodes);
  const nodeSums = new Float64Array(lengths.reduce((sum, length) => sum + length, 0));
  const effects = inMean && { form: inMean.form, values: shards.buffer(inMean.covariates.length) };
  effects?.values.set(inMean!.covariates);
  const common = { shards, settings, kernels: chooseKernels(settings.kernels), effects };
  let from = 0;
  const markers = statistics.map((own, index) => {
    const sums = nodeSums.subarray(from, from + lengths[index]);
    from += lengths[index];
    return markerEngine(index, own, anchors[index], { ...common, geometry }, sums);
  });
  const [{ numIndividuals }] = statistics;
  return {
    ...{ ...common, nodes, inducing, markers, numIndividuals, nodeSums, covariates },
    ...{ priors: null, placeMoments: new Float64Array(0), bound: Number.NaN, slope: null, sample: null },
  };
}

function markerEngine(
  index: number,
  statistics: BasisStatistics,
  anchor: MarkerAnchor,
  {
    geometry,
    ...common
  }: Pick<MapEngine, "shards" | "settings" | "kernels" | "effects"> & { readonly geometry: NodeGeometry },
  nodeSums: Float64Array,
): MarkerEngine {
  const { settings, kernels } = common;
  const d = statistics.basis.numBasis;
  const layout = inducingLayout(d, geometry);
  const workspace = inducingWorkspace(layout, kernels);
  const lowest = lowestNoiseLevel(statistics, noiseLevel(anchor.noise));
  return {
    ...common,
    index,
    statistics,
    referenceRoot: residualRoot(anchor.reference, d),
    anchor,
    lowestNoiseLevel: lowest,
    noisePrior: settings.priors === "weak" ? weakNoisePrior(statistics, lowest) : NO_NOISE_PRIOR,
    mean: meanDesign(settings.mean, d),
    problem: { geometry, layout, nodeSums, workspace },
    table: new Float64Array(nodeSums.length),
    sums: null,
    moments: new Float64Array(0),
    frame: null,
    squares: null,
  };
}

/**
 * σ² stays above 1e-8 of its start and 1e-10 of the variance of the values (unless it starts below): curves that pass
 * through all observations would let the bound grow without limit.
 */
function lowestNoiseLevel(statistics: BasisStatistics, first: number): number {
  const variance = totalSquares(statistics) / statistics.numObservations;
  return Math.min(first, Math.max(1e-8 * first, 1e-10 * variance));
}

/** What a fit keeps of a marker's linear start throughout. */
export interface MarkerAnchor {
  readonly reference: Float64Array; // Σ_ref [d,d]
  readonly noise: Noise;
}

/** Σ_ref and first noise of each marker of a linear start. */
export function startAnchors({ markers }: MapStart): MarkerAnchor[] {
  return markers.map((start: MarkerStart) => ({ reference: referenceCovariance(start), noise: start.noise }));
}

/** The parameters on which individual statistics depend, with a root of Σ_e. */
export function individualModel(engine: MarkerEngine, state: MarkerState): IndividualModel {
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

/** The optimal q(u) of every marker for the node sums in the engine, with a step of α and ℓ if asked; its table too. */
export function updateMap(engine: MapEngine, state: DtmState, kernel: KernelStepOptions | null): void {
  const solved = engine.markers.map((marker, k) => solveMap(marker, state.markers[k], kernel));
  tabulateMap(engine, state, solved);
}

/** The same of one marker without the table; the mean moves together with q(u) if asked. Returns the kernel at the nodes, for the table. */
export function solveMap(
  engine: MarkerEngine,
  state: MarkerState,
  kernel: KernelStepOptions | null,
  withMean = false,
): NodeKernel {
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
  return solution.kernel;
}

/** Puts the node table of the state's map into the engine, with the kernel of each marker at the nodes where it is known. */
export function tabulateMap({ markers }: MapEngine, state: DtmState, kernels?: readonly NodeKernel[]): void {
  markers.forEach((marker, k) => {
    const { geometry, layout, workspace } = marker.problem;
    const { signalVariance, lengthscale, inducingMean, inducingCovariance } = state.markers[k];
    if (inducingMean.length === 0) return;
    const kernel = kernels?.[k] ?? nodeKernel(geometry, signalVariance, lengthscale, false);
    marker.table = nodeTable(layout, kernel, inducingMean, inducingCovariance, workspace);
  });
}
