/**
 * A fit of the recommended map as a run that can be stepped, stored and resumed bit for bit (docs/math/dtm.md §9).
 * Stages of one start: iterations on a coarse lattice until the bound nearly settles there (the map hardly depends on the
 * lattice, and a coarse one is cheap), then on the lattice asked for; or minibatches on the coarse one and a last
 * whole pass on the other. With restarts, one start after the other; the largest bound wins.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { clearHistory } from "../../numeric/optimize/anderson.ts";
import { checkCancelled, type FitControl, type FitProgress, now } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { localShards, type ShardRunner } from "../shards.ts";
import { batchIteration, gainThreshold, resumeBatch, startBatch } from "./batch.ts";
import { createEngine, type Engine, placeMeans, restoreMap, type StartAnchor, startAnchor } from "./engine.ts";
import { finishModel } from "./finish.ts";
import type { DtmModel } from "./model.ts";
import { compareStarts, differentMaps, type FinishedStart, type StartResult, startingPlaces } from "./restarts.ts";
import { type DtmOptions, type DtmSettings, dtmSettings } from "./settings.ts";
import { dtmShards } from "./shards.ts";
import { copyState, type DtmState, firstState } from "./state.ts";
import { closeSvi, startSvi, sviPass } from "./svi.ts";

/** Step of the coarse lattice (q = 2), used if the lattice asked for is finer than the second number. */
const COARSE_STEP = 0.4;
const FINEST_WITHOUT_COARSE = 0.3;
/** The coarse stage ends at this multiple of the tolerance, or after this share of the iterations. */
const COARSE_TOLERANCE = 3;
const COARSE_SHARE = 0.5;

type Stage = "coarse" | "fine" | "svi" | "done";

/** Everything a run has to remember, beside the cohort's statistics. Plain data. */
export interface DtmSnapshot {
  readonly format: "dtm-run";
  readonly settings: DtmSettings;
  readonly anchor: StartAnchor;
  /** Kept while a start is still to come. */
  readonly start: MapStart | null;
  readonly numIndividuals: number;
  readonly numObservations: number;
  readonly center: number;
  readonly stage: Stage;
  readonly startIndex: number;
  readonly coarseIterations: number;
  readonly state: DtmState;
  readonly finished: readonly FinishedStart[];
  readonly best: BestStart | null;
  readonly warnings: readonly string[];
  readonly milliseconds: number;
}

interface BestStart {
  readonly startIndex: number;
  readonly coarseIterations: number;
  readonly state: DtmState;
}

/** A fit under way. */
export interface DtmRun {
  /** One iteration (or pass over minibatches); false when nothing is left to do. */
  step(): boolean;
  progress(): FitProgress;
  /** A copy of all that is needed to resume; survives structured clone. */
  snapshot(): DtmSnapshot;
  /** Means of everybody's place as the fit stands, its own frame, [m,q]; one pass over the cohort. */
  places(): Float64Array;
  /** The finished starts of a fit with restarts, the best first; none without. */
  starts(): readonly StartResult[];
  /** The model of the best bound so far; the run can go on. */
  finish(): DtmModel;
}

/** Starts a fit; nothing is computed before the first `step`. */
export function startDtm(statistics: BasisStatistics, start: MapStart, options: DtmOptions = {}): DtmRun {
  const settings = dtmSettings(options, start.mean.kind, statistics.numIndividuals);
  const d = statistics.basis.numBasis;
  checkStart(statistics, start, settings.mapDimension);
  return makeRun(statistics, options, {
    format: "dtm-run",
    settings,
    anchor: startAnchor(start, d),
    start,
    numIndividuals: statistics.numIndividuals,
    numObservations: statistics.numObservations,
    center: statistics.center,
    stage: firstStage(settings),
    startIndex: 0,
    coarseIterations: 0,
    state: firstState(start, settings, d),
    finished: [],
    best: null,
    warnings: start.warnings,
    milliseconds: 0,
  });
}

/** Goes on from a snapshot with the same statistics; the result has the same bits as a run never interrupted. */
export function resumeDtm(statistics: BasisStatistics, snapshot: DtmSnapshot, control: FitControl = {}): DtmRun {
  const { numIndividuals, numObservations, center } = statistics;
  if (
    snapshot.numIndividuals !== numIndividuals ||
    snapshot.numObservations !== numObservations ||
    snapshot.center !== center
  ) {
    throw new DtmError(
      "snapshot-mismatch",
      `resumeDtm: expected the cohort of the snapshot (${snapshot.numIndividuals} individuals, ${snapshot.numObservations} observations, mean ${snapshot.center}), received ${numIndividuals}, ${numObservations} and ${center}. Resume with the same data.`,
    );
  }
  return makeRun(statistics, control, snapshot);
}

/** A whole fit from a linear start. */
export function fitDtmFrom(statistics: BasisStatistics, start: MapStart, options: DtmOptions = {}): DtmModel {
  const run = startDtm(statistics, start, options);
  while (run.step());
  return run.finish();
}

/** A snapshot in motion, with the engine of its stage. */
interface RunData extends Mutable<DtmSnapshot> {
  readonly shards: ShardRunner;
  engine: Engine;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function makeRun(statistics: BasisStatistics, control: FitControl, from: DtmSnapshot): DtmRun {
  const shards = (control.shards ?? localShards(dtmShards)).open(statistics);
  const engine = makeEngine(shards, from.anchor, from.settings, from.stage);
  const run: RunData = { ...from, state: copyState(from.state), shards, engine };
  // Iterations read what the last pass left in the engine: take it again.
  if (run.state.iteration > 0 && run.stage === "svi") restoreMap(engine, run.state);
  else if (run.state.iteration > 0 && run.stage !== "done") resumeBatch(engine, run.state);
  return {
    step: () => stepRun(run, control),
    progress: () => progressOf(run),
    snapshot: () => snapshotOf(run),
    places: () => placeMeans(run.engine, run.state),
    starts: () => (run.settings.restarts === 0 ? [] : compareStarts(run.finished, run.settings.mapDimension)),
    finish: () => finishRun(run),
  };
}

function stepRun(run: RunData, control: FitControl): boolean {
  if (run.stage === "done") return false;
  checkCancelled(control.signal);
  const began = now();
  iterate(run);
  const { settled, iteration } = run.state;
  const { maxIterations } = run.settings;
  if (run.stage === "coarse") {
    if (settled || iteration >= COARSE_SHARE * maxIterations) refine(run);
  } else if (settled || iteration >= maxIterations) {
    endStart(run);
  }
  run.milliseconds += now() - began;
  control.onProgress?.(progressOf(run));
  const left = run.startIndex < run.settings.restarts;
  if (isDone(run) && left) nextStart(run);
  return !isDone(run);
}

function iterate(run: RunData): void {
  const { engine, state, settings, stage } = run;
  if (state.iteration === 0) {
    const places = startingPlaces(startOf(run), run.startIndex, settings.mapDimension, settings.seed);
    if (stage === "svi") startSvi(engine, state, places);
    else startBatch(engine, state, places);
  } else if (stage === "svi") {
    sviPass(engine, state);
  } else {
    batchIteration(engine, state, toleranceOf(run));
  }
}

/**
 * From the coarse lattice to the one asked for. Bounds on different lattices do not compare, so the trace begins anew; nor
 * do steps, so the acceleration does too.
 */
function refine(run: RunData): void {
  const { state } = run;
  run.coarseIterations = state.iteration;
  run.stage = "fine";
  run.engine = makeEngine(run.shards, run.anchor, run.settings, run.stage);
  state.settled = false;
  state.smallGains = 0;
  state.trace.length = 0;
  state.trace.push(resumeBatch(run.engine, state));
  clearHistory(state.history);
}

function endStart(run: RunData): void {
  const { state, startIndex, best } = run;
  if (run.stage === "coarse") refine(run);
  if (run.stage === "svi") {
    run.stage = "fine";
    run.engine = makeEngine(run.shards, run.anchor, run.settings, run.stage);
    restoreMap(run.engine, state);
    closeSvi(run.engine, state);
  }
  const bound = lastBound(state);
  const places = run.settings.restarts > 0 ? placeMeans(run.engine, state) : new Float64Array(0);
  run.finished = [...run.finished, { index: startIndex, bound, places }];
  if (best === null || bound > lastBound(best.state)) {
    run.best = { startIndex, coarseIterations: run.coarseIterations, state: copyState(state) };
  }
  run.stage = "done";
}

function nextStart(run: RunData): void {
  run.startIndex++;
  run.coarseIterations = 0;
  run.stage = firstStage(run.settings);
  run.state = firstState(startOf(run), run.settings, run.shards.statistics.basis.numBasis);
  run.engine = makeEngine(run.shards, run.anchor, run.settings, run.stage);
}

/** Works on a copy, so that the run can go on. */
function finishRun(running: RunData): DtmModel {
  const { shards, anchor, settings } = running;
  const run: RunData = { ...running, state: copyState(running.state) };
  const interrupted = !isDone(run);
  if (interrupted && run.state.iteration > 0) endStart(run);
  const { best, finished } = run;
  if (best === null) {
    throw new DtmError("not-fitted", "startDtm: finish was called before the first step; call step first.");
  }
  const engine = makeEngine(shards, anchor, settings, "fine");
  restoreMap(engine, best.state);
  return finishModel(engine, best.state, {
    coarseIterations: best.coarseIterations,
    interrupted,
    warnings: [...run.warnings, ...(finished.length < 2 ? [] : differentMaps(finished, settings.mapDimension))],
    milliseconds: run.milliseconds,
  });
}

function snapshotOf(run: RunData): DtmSnapshot {
  const { shards: _shards, engine: _engine, ...data } = run;
  const startIsDue = run.state.iteration === 0 || run.startIndex < run.settings.restarts;
  return { ...data, state: copyState(run.state), start: startIsDue ? run.start : null };
}

/** The tolerance of a stage: the coarse one ends earlier. */
function toleranceOf({ settings, stage }: RunData): number {
  return settings.tolerance * (stage === "coarse" ? COARSE_TOLERANCE : 1);
}

function progressOf(run: RunData): FitProgress {
  const { stage, startIndex, settings, state, engine } = run;
  const name = stage === "coarse" ? "map, coarse lattice" : stage === "svi" ? "map, minibatches" : "map";
  return {
    stage: settings.restarts === 0 ? name : `${name}, start ${startIndex + 1} of ${settings.restarts + 1}`,
    iteration: state.iteration,
    maxIterations: settings.maxIterations,
    value: state.trace.length > 0 ? lastBound(state) : Number.NaN,
    ...(settings.schedule === "svi" || state.trace.length === 0
      ? {}
      : { stopGain: gainThreshold(engine, state, toleranceOf(run)) }),
  };
}

function isDone(run: RunData): boolean {
  return run.stage === "done";
}

function lastBound(state: DtmState): number {
  return state.trace[state.trace.length - 1];
}

function startOf(run: RunData): MapStart {
  if (run.start === null) {
    throw new DtmError("snapshot-mismatch", "resumeDtm: the snapshot lacks the linear start it needs to go on.");
  }
  return run.start;
}

function makeEngine(shards: ShardRunner, anchor: StartAnchor, settings: DtmSettings, stage: Stage): Engine {
  const coarse = stage === "coarse" || (stage === "svi" && hasCoarse(settings));
  return createEngine(shards.statistics, anchor, settings, coarse ? COARSE_STEP : settings.nodeStep, shards);
}

function firstStage(settings: DtmSettings): Stage {
  if (settings.schedule === "svi") return "svi";
  return hasCoarse(settings) ? "coarse" : "fine";
}

/** Whether a coarse lattice goes before the one asked for. */
function hasCoarse({ mapDimension, nodeStep }: DtmSettings): boolean {
  return mapDimension === 2 && nodeStep < FINEST_WITHOUT_COARSE;
}

function checkStart(statistics: BasisStatistics, start: MapStart, q: number): void {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const wrong =
    start.locationMean.length !== m * q ||
    start.locationCovariance.length !== m * q * q ||
    start.scores.length !== m * q ||
    start.covariance.length !== d * d ||
    start.mean.coefficients.length !== d;
  if (wrong) {
    throw new DtmError(
      "shape",
      `startDtm: expected a linear start of ${m} individuals, ${q} map dimensions and ${d} basis functions, received ${start.locationMean.length} place coordinates, ${start.covariance.length} covariance entries and ${start.mean.coefficients.length} mean coefficients. Make the start from the same statistics with the same mapDimension.`,
    );
  }
}
