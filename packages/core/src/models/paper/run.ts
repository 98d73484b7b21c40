/**
 * A fit of the published model as a resumable run: `step` until done, `snapshot` at any time, `finish` for the model.
 * A run resumed from a snapshot gives the same bits as one left undisturbed. The map stage belongs to the schedule; then
 * follow one local pass over all individuals and one exact update of q(u), which both only raise the bound.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DEFAULT_MARKER } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import { identity } from "../../numeric/matrix.ts";
import { chooseKernels } from "../../wasm/instance.ts";
import { checkCancelled, type FitControl, type FitProgress, type FitRecord, LIBRARY_VERSION, now } from "../fit.ts";
import { placeInducing } from "../gp/inducing.ts";
import type { Kernel } from "../gp/kernel.ts";
import { stableKernel } from "../gp/stable-kernel.ts";
import type { MapStart } from "../map-start.ts";
import { createEngine, type Engine, requireUpdate, termsOfSums, updateInducing } from "./engine.ts";
import { hyperLayout } from "./hyperparameters.ts";
import { inducingOfCoefficients } from "./inducing.ts";
import type { DtmPaperFit } from "./model.ts";
import { type DtmPaperOptions, type DtmPaperSettings, paperSettings, settingsRecord } from "./options.ts";
import { localStarts, placeInShards, sumInShards } from "./passes.ts";
import { clonePlain, type RunState, type Schedule, smallGain } from "./run-state.ts";
import { batchSchedule, coordinateSchedule } from "./schedules.ts";
import { type GlobalParameters, packLocations, unpackLocations } from "./state.ts";
import { stochasticSchedule } from "./stochastic.ts";

/** Where a run stands. */
export interface DtmPaperProgress extends FitProgress {
  readonly done: boolean;
}

/** A stored run: plain data for structured clone; resume it with the same statistics. */
export interface DtmPaperSnapshot {
  readonly kind: "dtm-paper-run";
  readonly version: string;
  readonly numIndividuals: number;
  readonly numObservations: number;
  readonly state: RunState;
}

/** A fit that is advanced step by step. */
export interface DtmPaperRun {
  /** One iteration (part of an epoch or of the last pass for large cohorts); reports where the run stands. */
  step(): DtmPaperProgress;
  snapshot(): DtmPaperSnapshot;
  /** Means of everybody's place as the fit stands, its own frame, [m,q]. */
  places(): Float64Array;
  /** The model. A run that is not done goes straight to the last local pass. */
  finish(): DtmPaperFit;
}

/** Individuals per step of the last local pass. */
const STEP_INDIVIDUALS = 4096;

/** Begins a fit from the linear models' start. */
export function startDtmPaper(
  statistics: BasisStatistics,
  start: MapStart,
  options: DtmPaperOptions = {},
): DtmPaperRun {
  const m = statistics.numIndividuals;
  const settings = paperSettings(options, m);
  const q = settings.mapDimension;
  checkOption(
    start.scores.length === m * q && start.locationMean.length === m * q,
    "startDtmPaper",
    `a start with places of ${m} individuals in ${q} dimensions`,
    `${start.scores.length} and ${start.locationMean.length} numbers`,
    "Compute the start with the same statistics and mapDimension.",
  );
  const { mean, covariance } = startPlaces(start, settings, m);
  const { parameters, warnings } = startParameters(statistics, start, settings, mean);
  const state: RunState = {
    settings,
    marker: options.marker ?? DEFAULT_MARKER,
    meanKind: start.mean.kind,
    start: parameters,
    stage: "map",
    parameters,
    theta: packLocations(mean, covariance, m, q, settings.diagonalLocations),
    sums: null,
    position: 0,
    batch: null,
    stochastic: null,
    iterations: 0,
    trace: [],
    warnings: [...new Set([...(options.warnings ?? []), ...start.warnings, ...warnings])],
    converged: false,
    verdict: "",
    milliseconds: { map: 0, places: 0 },
  };
  return runFrom(statistics, state, options);
}

/** Takes up a stored run; `control` brings progress and cancelling, the seed is the stored one. */
export function resumeDtmPaper(
  statistics: BasisStatistics,
  snapshot: DtmPaperSnapshot,
  control: FitControl = {},
): DtmPaperRun {
  const same =
    snapshot.kind === "dtm-paper-run" &&
    snapshot.numIndividuals === statistics.numIndividuals &&
    snapshot.numObservations === statistics.numObservations;
  if (!same) {
    throw new DtmError(
      "other-data",
      `resumeDtmPaper: expected statistics of ${snapshot.numIndividuals} individuals and ${snapshot.numObservations} observations, received ${statistics.numIndividuals} and ${statistics.numObservations}. Resume with the data the run was started on.`,
    );
  }
  return runFrom(statistics, clonePlain(snapshot.state), control);
}

/** Fits the published model: starts, steps until done, finishes. */
export function fitDtmPaperStatistics(
  statistics: BasisStatistics,
  start: MapStart,
  options: DtmPaperOptions = {},
): DtmPaperFit {
  const run = startDtmPaper(statistics, start, options);
  while (!run.step().done);
  return run.finish();
}

function runFrom(statistics: BasisStatistics, state: RunState, control: FitControl): DtmPaperRun {
  const { settings } = state;
  const shards = control.shards?.open(statistics) ?? null;
  const options = {
    diagonal: settings.diagonalLocations,
    priors: settings.priors,
    sharedLengthscale: settings.sharedLengthscale,
    kernels: chooseKernels(settings.kernels),
  };
  const engine = createEngine(shards?.statistics ?? statistics, state.parameters, options, shards);
  // Places are written where every shard can reach them; "batch" makes places of its own.
  const share = (): void => {
    if (shards === null) return;
    const shared = shards.buffer(state.theta.length);
    shared.set(state.theta);
    state.theta = shared;
  };
  share();
  let schedule: Schedule | null = null;
  let ready = false;

  const leaveMap = (): void => {
    schedule ??= openSchedule(engine, state);
    const sums = schedule.leave();
    if (settings.schedule === "batch") share();
    if (sums === null) sumInShards(engine, state.theta);
    state.sums = sums ?? clonePlain(engine.sums);
    state.stage = "places";
    state.position = 0;
    ready = false;
  };

  const stepPlaces = (): void => {
    const began = now();
    const { theta } = state;
    const m = statistics.numIndividuals;
    if (!ready) {
      requireUpdate(updateInducing(engine, state.sums!));
      ready = true;
    }
    const literal = settings.schedule === "paper";
    const starts = literal ? null : localStarts(settings.mapDimension, engine.numLocal);
    const method = literal ? "scg" : "newton";
    const to = Math.min(m, state.position + STEP_INDIVIDUALS);
    const local = { method, gradientTolerance: 1e-5, maxEvaluations: 200 } as const;
    placeInShards(engine, theta, { from: state.position, to }, local, starts);
    state.position = to;
    if (to === m) {
      sumInShards(engine, theta);
      requireUpdate(updateInducing(engine));
      state.trace.push(termsOfSums(engine, theta).total);
      state.sums = null;
      state.stage = "done";
    }
    state.milliseconds.places += now() - began;
  };

  const stepMap = (): void => {
    const began = now();
    schedule ??= openSchedule(engine, state);
    const over = schedule.step();
    state.milliseconds.map += now() - began;
    if (over) leaveMap();
  };

  const progress = (): DtmPaperProgress => ({
    stage: state.stage === "map" ? "map" : "places",
    iteration: state.stage === "map" ? state.iterations : state.position,
    maxIterations: state.stage === "map" ? (schedule?.maxIterations ?? 0) : statistics.numIndividuals,
    value: state.trace[state.trace.length - 1],
    ...(settings.schedule === "batch" || settings.schedule === "coordinate" ? { stopGain: smallGain(state) } : {}),
    done: state.stage === "done",
  });

  return {
    step: () => {
      checkCancelled(control.signal);
      if (state.stage === "map") stepMap();
      else if (state.stage === "places") stepPlaces();
      const now = progress();
      control.onProgress?.(now);
      return now;
    },
    snapshot: () => ({
      kind: "dtm-paper-run",
      version: LIBRARY_VERSION,
      numIndividuals: statistics.numIndividuals,
      numObservations: statistics.numObservations,
      state: clonePlain(state),
    }),
    places: () => {
      const { mapDimension, diagonalLocations } = settings;
      return unpackLocations(state.theta, statistics.numIndividuals, mapDimension, diagonalLocations).mean;
    },
    finish: () => {
      if (state.stage === "map") {
        leaveMap();
        state.verdict = `Stopped by the caller after ${state.iterations} iterations.`;
      }
      while (state.stage === "places") {
        checkCancelled(control.signal);
        stepPlaces();
      }
      return finishedFit(engine, state);
    },
  };
}

function openSchedule(engine: Engine, state: RunState): Schedule {
  const { settings } = state;
  const layout = hyperLayout(state.start, engine.statistics, {
    hyperparameters: settings.learn,
    inducing: settings.learnInducing,
    scalarMean: state.meanKind === "scalar",
    sharedLengthscale: settings.sharedLengthscale,
  });
  switch (settings.schedule) {
    case "batch":
      return batchSchedule(engine, layout, state);
    case "coordinate":
      return coordinateSchedule(engine, state);
    case "svi":
    case "paper":
      return stochasticSchedule(engine, layout, state);
  }
}

/** Starting places as means [m,q] and covariances [m,q,q]. */
function startPlaces(
  start: MapStart,
  settings: DtmPaperSettings,
  m: number,
): { mean: Float64Array; covariance: Float64Array } {
  if (settings.startPlaces === "fpca") return { mean: start.locationMean, covariance: start.locationCovariance };
  const q = settings.mapDimension;
  const covariance = new Float64Array(m * q * q);
  for (let i = 0; i < m; i++) covariance.set(identity(q, settings.startSd ** 2), i * q * q);
  return { mean: start.scores, covariance };
}

/** Hyperparameters of the linear mixed model: μ (or β), σ², α = Tr Σ/d, ℓ = 1 unless given. */
function startParameters(
  statistics: BasisStatistics,
  start: MapStart,
  settings: DtmPaperSettings,
  places: Float64Array,
): { parameters: GlobalParameters; warnings: readonly string[] } {
  const d = statistics.basis.numBasis;
  const q = settings.mapDimension;
  let total = 0;
  for (let k = 0; k < d; k++) total += start.covariance[k * d + k];
  // E ‖f(x)‖² is αd for the RBF kernel and αdq for the linear one.
  const signalVariance = settings.signalVariance ?? total / (settings.kernel === "rbf" ? d : d * q);
  checkOption(
    signalVariance > 0,
    "fitDtmPaper",
    "individuals that differ (Tr Σ above 0 in the linear mixed model)",
    signalVariance,
    "Give signalVariance.",
  );
  const inducing = placeInducing(settings.inducing, q, places, settings.seed, "fitDtmPaper");
  const { locations: Z, count: p } = inducing;
  const lengthscales = Float64Array.from(settings.lengthscales);
  const wanted: Kernel =
    settings.kernel === "rbf"
      ? { kind: "rbf", signalVariance, lengthscales, jitter: settings.jitter }
      : { kind: "linear", signalVariance, jitter: settings.jitter };
  const { kernel, warning } = stableKernel(wanted, Z, p, q);
  const parameters: GlobalParameters = {
    kernel,
    inducingLocations: Z,
    numInducing: p,
    mapDimension: q,
    numBasis: d,
    meanCoefficients: start.mean.coefficients.slice(),
    noiseVariance: start.noiseVariance,
  };
  return { parameters, warnings: warning === null ? [] : [warning] };
}

/** The model of a run that is done. */
function finishedFit(engine: Engine, state: RunState): DtmPaperFit {
  const { statistics, numLocal } = engine;
  const { settings, parameters, theta } = state;
  const { numInducing: p, numBasis: d, mapDimension: q } = parameters;
  sumInShards(engine, theta);
  requireUpdate(updateInducing(engine));
  const posterior = inducingOfCoefficients(engine.posterior, engine.factor, p, d);
  const record: FitRecord = {
    version: LIBRARY_VERSION,
    options: { ...settingsRecord(settings), numInducing: p, numBasis: d, degree: statistics.basis.degree },
    seed: settings.seed,
    numIndividuals: statistics.numIndividuals,
    numObservations: statistics.numObservations,
    trace: [...state.trace],
    iterations: state.iterations,
    converged: state.converged,
    verdict: state.verdict,
    warnings: [...state.warnings],
    kernels: engine.options.kernels,
    milliseconds: { ...state.milliseconds },
  };
  return {
    model: {
      kind: "dtm-paper",
      basis: statistics.basis,
      marker: state.marker,
      mean: { kind: state.meanKind, coefficients: parameters.meanCoefficients.slice() },
      noiseVariance: parameters.noiseVariance,
      center: statistics.center,
      mapDimension: q,
      orientation: identity(q),
      map: {
        kernel: clonePlain(parameters.kernel),
        mapDimension: q,
        numInducing: p,
        numBasis: d,
        inducingLocations: parameters.inducingLocations.slice(),
        inducingMean: posterior.mean,
        inducingCovariance: posterior.covariance,
      },
      diagonalLocations: settings.diagonalLocations,
      schedule: settings.schedule,
      learned: settings.learn || settings.learnInducing,
      elbo: termsOfSums(engine, theta),
      record,
    },
    locations: unpackLocations(theta, theta.length / numLocal, q, settings.diagonalLocations),
  };
}
