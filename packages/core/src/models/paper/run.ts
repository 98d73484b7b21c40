/**
 * The published model as a fit that a run turns (models/run.ts). The map stage belongs to the schedule; then follow one
 * local pass over all individuals and one exact update of q(u), which both only raise the bound.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DEFAULT_MARKER } from "../../cohort/marker.ts";
import { checkOption } from "../../errors.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { identity } from "../../numeric/matrix.ts";
import { chooseKernels } from "../../wasm/instance.ts";
import type { FitControl } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { meanDesign } from "../mean.ts";
import {
  clonePlain,
  type FitRun,
  fitRecord,
  type IterativeFit,
  lastValue,
  openRun,
  type RunSnapshot,
  type RunStory,
} from "../run.ts";
import { createEngine, type PaperEngine, requireUpdate, setParameters, termsOfSums, updateInducing } from "./engine.ts";
import { hyperLayout } from "./hyperparameters.ts";
import { inducingOfCoefficients } from "./inducing.ts";
import type { DtmPaperModel } from "./model.ts";
import { type DtmPaperOptions, paperSettings, settingsRecord } from "./options.ts";
import { localStarts, placeInShards, sumOverAll } from "./passes.ts";
import type { PaperInputs, RunState, Schedule } from "./run-state.ts";
import { batchSchedule, coordinateSchedule, smallGain } from "./schedules.ts";
import { type PaperStart, paperStart } from "./start.ts";
import { unpackLocations } from "./state.ts";
import { stochasticSchedule } from "./stochastic.ts";

export type DtmPaperRun = FitRun<RunState, PaperInputs, DtmPaperModel>;
export type DtmPaperSnapshot = RunSnapshot<RunState, PaperInputs, "dtm-paper">;

/** Individuals per step of the last local pass. */
const STEP_INDIVIDUALS = 4096;

/** Begins a fit from the linear models' start. */
export function startDtmPaper(
  statistics: BasisStatistics,
  start: MapStart,
  options: DtmPaperOptions = {},
): DtmPaperRun {
  const m = statistics.numIndividuals;
  const { kind } = statistics.noise;
  checkOption(kind === "white", "startDtmPaper", "statistics of white noise", `"${kind}"`, 'Use kind "dtm" for it.');
  const settings = paperSettings(options, m);
  const q = settings.mapDimension;
  checkOption(
    start.scores?.length === m * q && start.locationMean.length === m * q,
    "startDtmPaper",
    `a start with places of ${m} individuals in ${q} dimensions`,
    `${start.scores?.length ?? 0} and ${start.locationMean.length} numbers`,
    "Compute the start with the same statistics and mapDimension.",
  );
  const first = paperStart(statistics, start, settings);
  const inputs: PaperInputs = {
    settings,
    marker: options.marker ?? DEFAULT_MARKER,
    columns: options.columns ?? null,
    meanKind: start.markers[0].mean.kind,
    start: first.parameters,
  };
  const warnings = [...new Set([...(options.warnings ?? []), ...start.warnings, ...first.warnings])];
  return openRun(paperFit(statistics, inputs, options, { ...first, warnings }), [statistics], options);
}

/** Takes up a stored run; `control` brings progress and cancelling, the seed is the stored one. */
export function resumeDtmPaper(
  statistics: BasisStatistics,
  snapshot: DtmPaperSnapshot,
  control: FitControl = {},
): DtmPaperRun {
  return openRun(paperFit(statistics, snapshot.inputs, control, null), [statistics], control, snapshot);
}

/** `first` is where a new fit starts; null for one that is resumed. */
function paperFit(
  statistics: BasisStatistics,
  inputs: PaperInputs,
  control: FitControl,
  first: PaperStart | null,
): IterativeFit<RunState, PaperInputs, DtmPaperModel> {
  const { settings, start } = inputs;
  const { schedule: name, mapDimension: q, diagonalLocations, priors, sharedLengthscale } = settings;
  const m = statistics.numIndividuals;
  const shards = control.shards?.open([statistics]) ?? null;
  const options = { diagonal: diagonalLocations, priors, sharedLengthscale, kernels: chooseKernels(settings.kernels) };
  const engine = createEngine(shards?.statistics[0] ?? statistics, start, options, shards);
  const literal = name === "paper";

  /** Places are written where every shard can reach them. */
  const share = (state: RunState): void => {
    if (shards === null) return;
    const shared = shards.buffer(state.theta.length);
    shared.set(state.theta);
    state.theta = shared;
  };

  /** The state that the engine is at, with its schedule; another state is taken up as a stored one would be. */
  let held: { readonly state: RunState; schedule: Schedule | null } | null = null;
  const take = (state: RunState) => {
    if (held?.state === state) return held;
    setParameters(engine, state.parameters);
    share(state);
    if (state.sums !== null) requireUpdate(updateInducing(engine, state.sums));
    held = { state, schedule: null };
    return held;
  };

  const scheduleOf = (state: RunState): Schedule => {
    const turn = take(state);
    turn.schedule ??= openSchedule(engine, inputs, state);
    return turn.schedule;
  };

  const leaveMap = (state: RunState): void => {
    const sums = scheduleOf(state).leave();
    // "batch" makes places of its own.
    if (name === "batch") share(state);
    if (sums === null) sumOverAll(engine, state.theta);
    state.sums = sums ?? clonePlain(engine.sums);
    requireUpdate(updateInducing(engine, state.sums));
    state.stage = "places";
    state.position = 0;
  };

  const stepPlaces = (state: RunState): void => {
    take(state);
    const starts = literal ? null : localStarts(q, engine.numLocal);
    const to = Math.min(m, state.position + STEP_INDIVIDUALS);
    const method = literal ? "scg" : "newton";
    const local = { method, gradientTolerance: 1e-5, maxEvaluations: 200 } as const;
    placeInShards(engine, state.theta, { from: state.position, to }, local, starts);
    state.position = to;
    if (to < m) return;
    updateAt(state);
    state.trace.push(termsOfSums(engine, state.theta).total);
    state.sums = null;
    state.stage = "done";
  };

  /** The exact update of q(u) for the places as they are. */
  const updateAt = (state: RunState): void => {
    sumOverAll(engine, state.theta);
    requireUpdate(updateInducing(engine));
  };

  return {
    kind: "dtm-paper",
    mapDimension: q,
    restarts: 0,
    inputs: () => inputs,
    begin: () => ({
      stage: "map",
      iteration: 0,
      trace: [],
      parameters: start,
      theta: first!.theta,
      sums: null,
      position: 0,
      batch: null,
      stochastic: null,
      warnings: [...first!.warnings],
      converged: false,
      verdict: "",
    }),
    step: (state) => {
      if (state.stage === "places") stepPlaces(state);
      else if (scheduleOf(state).step()) leaveMap(state);
    },
    progress: ({ stage, iteration, position, trace }) => {
      const map = stage === "map";
      const judged = name === "batch" || name === "coordinate";
      const planned = judged ? settings.maxIterations : settings.epochs;
      return {
        stage: map ? "map" : "places",
        iteration: map ? iteration : position,
        maxIterations: map ? planned : m,
        value: lastValue(trace),
        ...(judged ? { stopGain: smallGain(settings, trace) } : {}),
      };
    },
    clock: ({ stage }) => stage,
    places: ({ theta }) => unpackLocations(theta, q, diagonalLocations).mean,
    close: (state) => {
      if (state.stage === "map") {
        leaveMap(state);
        state.verdict = `Stopped by the caller after ${state.iteration} iterations.`;
      }
      while (state.stage === "places") stepPlaces(state);
    },
    model: (state, story) => {
      take(state);
      updateAt(state);
      return finishedModel(engine, inputs, state, story);
    },
  };
}

function openSchedule(engine: PaperEngine, { settings, start, meanKind }: PaperInputs, state: RunState): Schedule {
  const layout = hyperLayout(start, engine.statistics, settings, meanDesign(meanKind, start.numBasis));
  switch (settings.schedule) {
    case "batch":
      return batchSchedule(engine, layout, settings, state);
    case "coordinate":
      return coordinateSchedule(engine, settings, state);
    case "svi":
    case "paper":
      return stochasticSchedule(engine, layout, settings, state);
  }
}

/** The model of the engine's q(u) and sums, which are those of the state. */
function finishedModel(
  engine: PaperEngine,
  { settings, marker, columns, meanKind }: PaperInputs,
  state: RunState,
  { milliseconds }: RunStory,
): DtmPaperModel {
  const { statistics } = engine;
  const { parameters, iteration, converged, verdict, trace, warnings } = state;
  const { numInducing: p, numBasis: d, mapDimension: q } = parameters;
  const posterior = inducingOfCoefficients(engine, engine.posterior);
  return {
    kind: "dtm-paper",
    markers: [
      {
        marker,
        ...(columns === null ? {} : { columns }),
        basis: statistics.basis,
        mean: { kind: meanKind, coefficients: parameters.meanCoefficients.slice() },
        noise: whiteNoise(parameters.noiseVariance),
        center: statistics.center,
        map: {
          kernel: clonePlain(parameters.kernel),
          mapDimension: q,
          numInducing: p,
          numBasis: d,
          inducingLocations: parameters.inducingLocations.slice(),
          inducingMean: posterior.mean,
          inducingCovariance: posterior.covariance,
        },
      },
    ],
    mapDimension: q,
    orientation: identity(q),
    diagonalLocations: settings.diagonalLocations,
    schedule: settings.schedule,
    learned: settings.learn,
    elbo: termsOfSums(engine, state.theta),
    record: fitRecord([statistics], {
      options: { ...settingsRecord(settings), numInducing: p, numBasis: d, degree: statistics.basis.degree },
      seed: settings.seed,
      trace: [...trace],
      iterations: iteration,
      converged,
      verdict,
      warnings: [...warnings],
      kernels: engine.options.kernels ?? "typescript",
      milliseconds,
    }),
  };
}
