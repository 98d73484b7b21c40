/** From the last state of a fit to the model: share of variance, warnings, verdict, record. */

import type { CodedCovariates } from "../../cohort/coding.ts";
import { noiseLevel } from "../../noise/noise.ts";
import { spreadWarnings } from "../../noise/words.ts";
import { identity } from "../../numeric/matrix.ts";
import { roundedGram } from "../../numeric/rounding.ts";
import { pseudoInverse } from "../../numeric/semidefinite.ts";
import type { FitRecord, MixedModelEffects } from "../fit.ts";
import { rbfKernel } from "../gp/kernel.ts";
import { fitRecord, lastValue, type RunStory } from "../run.ts";
import { carriedVariance, residualVariance } from "./carried.ts";
import { finishEffects } from "./effect-covariance.ts";
import { JITTER, type MapEngine, type MarkerEngine } from "./engine.ts";
import { LENGTHSCALE_BOUNDS } from "./kernel-step.ts";
import type { DtmMarkerModel, DtmModel } from "./model.ts";
import { placeMeans, priorsUnder } from "./passes.ts";
import { momentsOfPowers, shiftInformation } from "./place-shift.ts";
import { recordedOptions } from "./settings.ts";
import type { DtmState, MarkerState } from "./state.ts";
import { stopGain } from "./stop-rule.ts";
import { SMOOTHING } from "./svi.ts";

/** A parameter within this of its limit, relatively, sits at it. */
const AT_LIMIT = 1e-6;
const LEAST_SHARE = 0.5;

/** What a model takes from the start of its fit. */
export interface FinishInputs {
  readonly warnings: readonly string[];
  readonly covariates: CodedCovariates | null;
  /** Effects in the mean as the linear start has them, which stand beside the map's. */
  readonly mixedModel?: MixedModelEffects;
}

/** The model of a state whose bound is the last of its trace; the engine's table belongs to the state. */
export function finishModel(
  engine: MapEngine,
  state: DtmState,
  story: RunStory,
  { warnings, covariates, mixedModel }: FinishInputs,
): DtmModel {
  const { nodes, settings } = engine;
  const markers = engine.markers.map((marker, k) => finishMarker(engine, marker, state.markers[k]));
  const q = settings.mapDimension;
  return {
    kind: "dtm",
    markers,
    mapDimension: q,
    orientation: identity(q),
    nodes: {
      locations: nodes.locations.slice(),
      logWeights: nodes.logWeights.slice(),
      step: nodes.step,
      radius: nodes.radius,
    },
    record: recordOf(engine, state, story, [...warnings, ...stateWarnings(engine, state, markers)]),
    ...(covariates === null ? {} : { covariates: covariates.coding }),
    ...(engine.effects === null
      ? {}
      : { effects: { ...finishEffects(engine, state), ...(mixedModel && { mixedModel }) } }),
    ...(state.shift === null ? {} : { shift: finishShift(engine, state, state.shift) }),
    bound: lastValue(state.trace),
  };
}

/** Φ with its covariance, from the places of a last pass. */
function finishShift(engine: MapEngine, state: DtmState, shift: Float64Array): NonNullable<DtmModel["shift"]> {
  const q = engine.nodes.mapDimension;
  placeMeans(engine, state);
  const prior = priorsUnder(engine, shift);
  const { covariances } = momentsOfPowers(engine.placeMoments, q);
  const learned = prior.covariances.map((v, e) => v - covariances[e]);
  const { inverse } = pseudoInverse(shiftInformation(learned, engine.covariates!, q), shift.length);
  return { loadings: shift.slice(), covariance: inverse };
}

function finishMarker({ inducing, nodes }: MapEngine, engine: MarkerEngine, state: MarkerState): DtmMarkerModel {
  const { statistics, settings, problem } = engine;
  const { basis, center } = statistics;
  const q = settings.mapDimension;
  const gram = roundedGram(statistics.averageGram, statistics.numObservations);
  return {
    ...settings.markers[engine.index],
    basis,
    mean: { kind: settings.mean, coefficients: state.mean.slice() },
    ...(state.effects === null ? {} : { effects: state.effects.slice() }),
    noise: state.noise,
    center,
    map: {
      kernel: rbfKernel(q, state.signalVariance, state.lengthscale, JITTER),
      mapDimension: q,
      numInducing: problem.layout.numInducing,
      numBasis: basis.numBasis,
      inducingLocations: inducing.slice(),
      inducingMean: state.inducingMean.slice(),
      inducingCovariance: state.inducingCovariance.slice(),
    },
    residual: {
      kind: settings.residual,
      covariance: state.residualCovariance.slice(),
      tau: state.tau,
      cap: settings.cap,
      atCap: state.tau !== null && settings.cap !== null && state.tau >= settings.cap * (1 - AT_LIMIT),
    },
    varianceShare: mapShare(engine, nodes.logWeights, state, gram),
    averageGram: gram,
  };
}

/** Tr(Ḡ Cov f̄)/[Tr(Ḡ Cov f̄) + Tr(Ḡ Σ_e)], the covariance of f̄(x) taken over the prior of places. */
export function mapShare(
  { table, problem }: Pick<MarkerEngine, "table" | "problem">,
  logWeights: Float64Array,
  state: Pick<MarkerState, "residualCovariance">,
  gram: Float64Array,
): number {
  const carried = carriedVariance(table, { basis: problem.layout.numNodes, node: 1 }, logWeights, gram);
  const residual = residualVariance(gram, state.residualCovariance);
  return carried + residual > 0 ? carried / (carried + residual) : 0;
}

function recordOf(engine: MapEngine, state: DtmState, story: RunStory, warnings: readonly string[]): FitRecord {
  const { settings, shards } = engine;
  return fitRecord(shards.statistics, {
    options: { ...recordedOptions(settings), noise: state.markers[0].noise.kind },
    seed: settings.seed,
    trace: [...state.trace],
    iterations: state.iteration,
    converged: state.settled && !noiseLimited(engine, state),
    verdict: verdict(engine, state, story),
    warnings,
    ...(story.starts.length > 0 ? { starts: story.starts } : {}),
    kernels: engine.kernels,
    milliseconds: story.milliseconds,
  });
}

function verdict(engine: MapEngine, state: DtmState, { interrupted }: RunStory): string {
  const { settings } = engine;
  const { iteration, coarseIterations, trace } = state;
  const stochastic = settings.schedule === "svi";
  const unit = stochastic ? "passes" : "iterations";
  const count =
    coarseIterations > 0
      ? `${iteration} iterations (${coarseIterations} on a coarser lattice)`
      : `${iteration} ${unit}`;
  if (state.settled && noiseLimited(engine, state)) {
    return `Stopped after ${count} with the noise at its lower limit: the bound has no maximum for these data.`;
  }
  if (state.settled && stochastic) {
    const limit = stopGain(engine, lastValue(trace)).toPrecision(2);
    return `Settled: after ${count}${sampled(engine)} the bound, estimated from minibatches and averaged over ${SMOOTHING} passes, rose by less than ${limit} a pass, twice in a row; passes over everybody (schedule "batch") may still gain.`;
  }
  if (state.settled) {
    return state.movement.small > 0
      ? `Settled: after ${count}, places are expected to move by less than ${settings.tolerance} of their standard deviation (root mean square) if the fit went on.`
      : `Settled: after ${count}, no further step raises the bound.`;
  }
  const ended = interrupted ? "on request after" : "at the limit of";
  const remedy = interrupted ? "" : " Allow more with maxIterations.";
  return `Stopped ${ended} ${count} before the map had settled${unsettled(engine, state)}.${remedy}`;
}

/** Whether the noise variance of a marker sits at its lower limit. */
function noiseLimited({ markers }: MapEngine, state: DtmState): boolean {
  return markers.some(
    ({ lowestNoiseLevel }, k) => noiseLevel(state.markers[k].noise) <= lowestNoiseLevel * (1 + AT_LIMIT),
  );
}

/** How far from settled a fit was stopped, as far as it is known. */
function unsettled({ settings }: MapEngine, { trace, movement }: DtmState): string {
  if (settings.schedule === "batch" && Number.isFinite(movement.remaining)) {
    return `: places are expected to move by about ${movement.remaining.toPrecision(2)} of their standard deviation (the limit is ${settings.tolerance})`;
  }
  const gain = trace.length > 1 ? trace[trace.length - 1] - trace[trace.length - 2] : Number.NaN;
  return Number.isNaN(gain) ? "" : `; the last gain was ${gain.toPrecision(3)}`;
}

/** Where a large cohort settled on a sample of itself. */
function sampled({ settings, numIndividuals }: MapEngine): string {
  const { sampleSize } = settings;
  return sampleSize < numIndividuals ? ` (all but the last over a random ${sampleSize} individuals)` : "";
}

function stateWarnings(engine: MapEngine, state: DtmState, markers: readonly DtmMarkerModel[]): string[] {
  const warnings: string[] = [];
  if (state.worstFall > 0) {
    warnings.push(
      `The bound fell by ${state.worstFall.toPrecision(3)} in one iteration, more than rounding explains; the fit may be numerically unstable.`,
    );
  }
  if (noiseLimited(engine, state)) {
    warnings.push(
      "The noise variance was held at its lower limit: the curves pass through the observations, and the bound has no maximum.",
    );
  }
  return [...warnings, ...markers.flatMap((own) => markerWarnings(own, markers.length > 1))];
}

function markerWarnings({ marker, noise, varianceShare, map }: DtmMarkerModel, named: boolean): string[] {
  const warnings: string[] = [];
  const of = named ? `${marker.name}: ` : "";
  const the = named ? "the" : "The";
  warnings.push(...spreadWarnings(noise).map((text) => of + text));
  if (varianceShare < LEAST_SHARE) {
    warnings.push(
      `${of}${the} map carries only ${Math.round(100 * varianceShare)} % of the variance between individuals: places explain little.`,
    );
  }
  const [shortest, longest] = LENGTHSCALE_BOUNDS;
  const lengthscale = map.kernel.kind === "rbf" ? map.kernel.lengthscales[0] : 1;
  if (lengthscale >= longest * (1 - AT_LIMIT)) {
    warnings.push(`${of}${the} length-scale reached its upper limit of ${longest}: the map is as good as linear.`);
  } else if (lengthscale <= shortest * (1 + AT_LIMIT)) {
    warnings.push(`${of}${the} length-scale reached its lower limit of ${shortest}: the map is as rough as it may be.`);
  }
  return warnings;
}
