/**
 * The recommended map as a fit that a run turns (models/run.ts, docs/math/dtm.md §9). Stages of one start: iterations on a
 * coarse lattice until the bound nearly settles there (the map hardly depends on the lattice, and a coarse one is cheap),
 * then on the lattice asked for; or minibatches on the coarse one and a last whole pass on the other.
 */
import { cohortSize } from "../../basis/cohort-sums.ts";
import type { CohortStatistics } from "../../basis/statistics.ts";
import type { CodedCovariates } from "../../cohort/coding.ts";
import { columnsWith, takeColumns } from "../../covariates/covariates.ts";
import { checkOption, DtmError } from "../../errors.ts";
import { noiseSpread } from "../../noise/noise.ts";
import type { FitControl } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { effectColumns, type MeanCovariates, meanCovariates } from "../mean.ts";
import { completeRun, type FitRun, type IterativeFit, lastValue, openRun, type RunSnapshot } from "../run.ts";
import { localShards } from "../shards.ts";
import { batchIteration, resumeBatch, startBatch } from "./batch.ts";
import { createEngine, type MapEngine, type MarkerAnchor, startAnchors, tabulateMap } from "./engine.ts";
import { type FinishInputs, finishModel } from "./finish.ts";
import type { DtmModel } from "./model.ts";
import { placeMeans } from "./passes.ts";
import { type DtmOptions, type DtmSettings, dtmSettings } from "./settings.ts";
import { dtmShards } from "./shards.ts";
import { startingPlaces } from "./starting-places.ts";
import { type DtmState, firstState } from "./state.ts";
import { movementLimit, UNKNOWN_MOVEMENT } from "./stop-rule.ts";
import { closeSvi, startSvi, sviPass } from "./svi.ts";

/** Step of the coarse lattice (q = 2), used if the lattice asked for is finer than the second number. */
const COARSE_STEP = 0.4;
const FINEST_WITHOUT_COARSE = 0.3;
/** The coarse stage ends after this share of the iterations at the latest. */
const COARSE_SHARE = 0.5;

/** What a fit is made from beside the statistics. */
export interface DtmInputs extends FinishInputs {
  readonly settings: DtmSettings;
  readonly anchors: readonly MarkerAnchor[];
  /** Kept while a start is still to come. */
  readonly start: MapStart | null;
}

export type DtmSnapshot = RunSnapshot<DtmState, DtmInputs, "dtm">;
export type DtmRun = FitRun<DtmState, DtmInputs, DtmModel>;

/** Starts a fit; nothing is computed before the first `step`. */
export function startDtm(statistics: CohortStatistics, start: MapStart, options: DtmOptions = {}): DtmRun {
  const settings = dtmSettings(options, start, cohortSize(statistics[0]));
  const { shards } = options;
  checkOption(
    shards?.spread === undefined || settings.schedule === "batch",
    "dtm",
    'schedule "batch" for a cohort that is spread',
    settings.schedule,
    "Ask for it.",
  );
  const covariates = checkCovariates(options.covariates, statistics, settings);
  checkStart(statistics, start, settings, covariates && meanCovariates(covariates));
  const levelsAble = settings.residual === "capped" || settings.residual === "none";
  checkOption(
    levelsAble || start.markers.every(({ noise }) => noiseSpread(noise) === 0),
    "dtm",
    'residual "capped" or "none" with noise levels',
    settings.residual,
    'Use noise "white" for a free residual covariance.',
  );
  const inputs = {
    settings,
    anchors: startAnchors(start),
    start,
    warnings: start.warnings,
    covariates,
    ...(start.mixedModel && { mixedModel: start.mixedModel }),
  };
  return openRun(dtmFit(statistics, inputs, options), statistics, options);
}

/** Goes on from a snapshot with the same statistics; the result has the same bits as a run never interrupted. */
export function resumeDtm(statistics: CohortStatistics, snapshot: DtmSnapshot, control: FitControl = {}): DtmRun {
  return openRun(dtmFit(statistics, snapshot.inputs, control), statistics, control, snapshot);
}

/** A whole fit from a linear start: what `step` by `step` comes to, for tests and oracles; products open runs (fit-models.ts). */
export function fitDtmFrom(statistics: CohortStatistics, start: MapStart, options: DtmOptions = {}): DtmModel {
  return completeRun(startDtm(statistics, start, options));
}

function dtmFit(
  statistics: CohortStatistics,
  inputs: DtmInputs,
  control: FitControl,
): IterativeFit<DtmState, DtmInputs, DtmModel> {
  const { settings, anchors, covariates } = inputs;
  const { mapDimension, restarts, maxIterations, seed } = settings;
  const shards = (control.shards ?? localShards(dtmShards)).open(statistics);
  const shifting = covariates === null ? [] : columnsWith(covariates.coding, ["places"]);
  const shiftedBy =
    covariates === null || shifting.length === 0
      ? null
      : takeColumns(covariates.values, covariates.coding.columns.length, shifting);
  const inMean = covariates && meanCovariates(covariates);
  /** Engines by lattice, each with the state to which its table and sums belong. */
  const engines = new Map<number, { readonly engine: MapEngine; owner: DtmState | null }>();

  /** The engine of the state's stage, with the state's table and, where iterations read them, sums and moments. */
  const engineOf = (state: DtmState): MapEngine => {
    const step = latticeStep(settings, state);
    const held = engines.get(step) ?? {
      engine: createEngine(shards.statistics, anchors, settings, step, shards, shiftedBy, inMean),
      owner: null,
    };
    engines.set(step, held);
    if (held.owner === state) return held.engine;
    held.owner = state;
    if (state.iteration > 0) {
      if (state.stage === "coarse" || state.stage === "fine") resumeBatch(held.engine, state);
      else tabulateMap(held.engine, state);
    }
    return held.engine;
  };

  /**
   * From the coarse lattice to the one asked for. Bounds on different lattices do not compare, so the trace begins anew, and
   * so do checks of movement; what was learned of the way up stays.
   */
  const refine = (state: DtmState): void => {
    state.coarseIterations = state.iteration;
    state.stage = "fine";
    state.settled = false;
    state.movement = UNKNOWN_MOVEMENT;
    const engine = engineOf(state);
    state.trace = [engine.bound];
    state.places = placeMeans(engine, state);
  };

  const close = (state: DtmState): void => {
    if (state.stage === "coarse") refine(state);
    const minibatches = state.stage === "svi";
    state.stage = "done";
    if (minibatches) closeSvi(engineOf(state), state);
  };

  const firstStep = (state: DtmState): void => {
    const engine = engineOf(state);
    const before = shards.spread?.before() ?? 0;
    const places = startingPlaces(linearStartOf(inputs), state.start, mapDimension, seed, before);
    if (state.stage === "svi") startSvi(engine, state, places);
    else startBatch(engine, state, places);
  };

  return {
    kind: "dtm",
    mapDimension,
    restarts,
    inputs: (startsLeft) => ({ ...inputs, start: startsLeft ? inputs.start : null }),
    begin: (start) => ({
      ...firstState(linearStartOf(inputs), settings, shifting.length),
      start,
      stage: settings.schedule === "svi" ? "svi" : hasCoarse(settings) ? "coarse" : "fine",
    }),
    step: (state) => {
      if (state.iteration === 0) firstStep(state);
      else if (state.stage === "svi") sviPass(engineOf(state), state);
      else batchIteration(engineOf(state), state);
      const { settled, iteration } = state;
      if (state.stage === "coarse") {
        if (settled || iteration >= COARSE_SHARE * maxIterations) refine(state);
      } else if (settled || iteration >= maxIterations) {
        close(state);
      }
    },
    progress: ({ stage, iteration, trace, movement }) => ({
      stage: stage === "coarse" ? "map, coarse lattice" : stage === "svi" ? "map, minibatches" : "map",
      iteration,
      maxIterations,
      value: lastValue(trace),
      ...(settings.schedule === "batch"
        ? { movement: { remaining: movement.remaining, limit: movementLimit(settings, stage) } }
        : {}),
    }),
    clock: () => "map",
    places: (state) => placeMeans(engineOf(state), state),
    close,
    model: (state, story) => finishModel(engineOf(state), state, story, inputs),
  };
}

function linearStartOf({ start }: DtmInputs): MapStart {
  if (start !== null) return start;
  throw new DtmError("bad-snapshot", "resumeDtm: the snapshot lacks the linear start it needs to go on.");
}

function latticeStep(settings: DtmSettings, { stage }: DtmState): number {
  const coarse = stage === "coarse" || (stage === "svi" && hasCoarse(settings));
  return coarse ? COARSE_STEP : settings.nodeStep;
}

/** Whether a coarse lattice goes before the one asked for. */
function hasCoarse({ mapDimension, nodeStep }: DtmSettings): boolean {
  return mapDimension === 2 && nodeStep < FINEST_WITHOUT_COARSE;
}

/** Covariates of as many individuals as there are. */
function checkCovariates(
  covariates: CodedCovariates | undefined,
  statistics: CohortStatistics,
  { residual }: DtmSettings,
): DtmInputs["covariates"] {
  if (covariates === undefined) return null;
  // Without residual effects people are placed on another lattice than that of the fit.
  checkOption(
    residual !== "none",
    "dtm",
    "covariates with residual effects",
    'residual "none"',
    "Leave one of them out.",
  );
  const { coding, values } = covariates;
  const m = values.length / coding.columns.length;
  const [{ numIndividuals }] = statistics;
  const remedy = "Code them for the individuals of the cohort, and leave out of it whom they leave out.";
  checkOption(m === numIndividuals, "dtm", `covariates of ${numIndividuals} individuals`, `those of ${m}`, remedy);
  return { coding, values };
}

function checkStart(
  statistics: CohortStatistics,
  start: MapStart,
  { mapDimension: q, restarts }: DtmSettings,
  inMean: MeanCovariates | null,
): void {
  const [{ numIndividuals: m }] = statistics;
  const sizes = statistics.map(({ basis }) => basis.numBasis);
  start.markers.forEach(({ effects }, k) => {
    const expected = inMean === null ? 0 : inMean.numCovariates * effectColumns(inMean.form, statistics[k].basis).h;
    const remedy = "Make the start from linear models with the same covariates.";
    checkOption(
      (effects?.length ?? 0) === expected,
      "dtm",
      `${expected} effects at the start`,
      effects?.length,
      remedy,
    );
  });
  const received = start.markers.map(({ mean }) => mean.coefficients.length);
  const wrong =
    start.locationMean.length !== m * q ||
    start.locationCovariance.length !== m * q * q ||
    (start.scores?.length ?? (restarts > 0 ? 0 : m * q)) !== m * q ||
    start.markers.some(({ covariance }, k) => covariance.length !== sizes[k] ** 2) ||
    received.join() !== sizes.join();
  if (wrong) {
    throw new DtmError(
      "shape",
      `startDtm: expected a linear start of ${m} individuals, ${q} map dimensions and ${sizes.join(", ")} basis functions, received ${start.locationMean.length} place coordinates and ${received.join(", ")} mean coefficients. Make the start from the same statistics with the same mapDimension.`,
    );
  }
}
