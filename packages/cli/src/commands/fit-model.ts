/** Which function of the core fits which kind of model; maps are fitted step by step, so that they can be interrupted. */
import { setImmediate } from "node:timers/promises";
import { DtmError, numIndividuals, resumeDtm, startDtm, type TrajectoryModel } from "@trajectory-maps/core";
import type { CohortStatistics, ShardHost } from "@trajectory-maps/core/hosts";
import type { ReadCohort } from "@trajectory-maps/core/ingest";
import {
  type BasisOptions,
  type DtmRun,
  type DtmRunSnapshot,
  embedPlaces,
  type FitDtmOptions,
  type FitProgress,
  fitLinear,
  isPublished,
  type LinearModels,
  type NoiseChoice,
} from "@trajectory-maps/core/models";
import { UsageError } from "../exit-codes.ts";
import { listenForSignals, type Signals, type StopSignal } from "../io/signals.ts";
import type { FittedModel } from "../print/summary.ts";
import type { Context } from "./command.ts";

export const KINDS = ["dtm", "dtm-paper", "lmm", "fpca"] as const;
export type Kind = (typeof KINDS)[number];

export const SCHEDULES = ["batch", "svi", "paper"] as const;
export const PRIORS = ["weak", "none"] as const;
export const RESIDUALS = ["capped", "none", "diagonal", "full"] as const;

export interface FitChoice {
  readonly kind: Kind;
  readonly mapDimension: 1 | 2 | 3;
  readonly mean: "scalar" | "spline";
  readonly seed: number;
  readonly noise: NoiseChoice;
  readonly schedule?: (typeof SCHEDULES)[number];
  readonly learn?: boolean;
  readonly tolerance?: number;
  readonly restarts?: number;
  readonly residual?: (typeof RESIDUALS)[number];
  readonly priors?: (typeof PRIORS)[number];
  /** The spline basis, where it is not the default one. */
  readonly basis?: BasisOptions;
}

/** A fitted model, with what it read of the cohort where that is at hand. */
export interface FinishedFit {
  readonly model: TrajectoryModel;
  readonly statistics?: CohortStatistics;
  /** Both linear models of the cohort, unless the fit was resumed. */
  readonly linear?: LinearModels;
}

/** A map fit that was stopped by a signal. */
export interface StoppedFit {
  readonly signal: StopSignal;
  readonly snapshot: DtmRunSnapshot;
}

/** What a fit is asked for, in words of those who expect a map of one or two dimensions. */
export function askedWords({ kind, mapDimension }: Pick<FitChoice, "kind" | "mapDimension">): string {
  return kind === "dtm" ? `${mapDimension === 3 ? "three" : mapDimension} dimensions` : `--model ${kind}`;
}

/** Fits both linear models; to everybody if one of them is asked for, else as baselines of a map. */
export function fitBoth(
  { cohort, markerColumns }: ReadCohort,
  choice: FitChoice,
  context: Context,
  shards: ShardHost | undefined,
  known: { readonly statistics?: CohortStatistics } = {},
): LinearModels {
  const { kind, mapDimension, mean, seed, noise, basis } = choice;
  const { priors = isPublished(choice) ? "none" : "weak" } = choice;
  const sample = kind === "lmm" || kind === "fpca" ? { sampleSize: numIndividuals(cohort) } : {};
  const options = {
    seed,
    mean,
    noise: known.statistics?.map((own) => own.noise) ?? noise,
    priors,
    columns: markerColumns,
    mapDimension,
    ...basis,
    ...(shards && { shards }),
    ...sample,
    ...known,
  };
  return context.talk.during("Linear models", (onProgress) => fitLinear(cohort, { ...options, onProgress }));
}

/** Listens for signals while a model and what belongs to it are fitted. */
export function listenWhileFitting({ talk }: Context): Signals {
  return listenForSignals((signal) => {
    talk.say(
      signal === "SIGINT"
        ? "Stopping after this step; the state will be kept. Press Ctrl-C again to stop at once."
        : "Stopping after this step; the state will be kept.",
    );
  });
}

/** The signal received so far, if any; handlers run only when the program lets go for a moment. */
export async function signalNow(signals: Signals): Promise<StopSignal | undefined> {
  await setImmediate();
  return signals.received();
}

/** Fits a map, or goes on with one from a snapshot; a signal ends it with a snapshot. */
export function fitMap(
  read: ReadCohort,
  choice: FitChoice,
  context: Context,
  signals: Signals,
  shards: ShardHost | undefined,
  keep: Keep,
  snapshot?: DtmRunSnapshot,
): Promise<FinishedFit | StoppedFit> {
  const published = isPublished(choice);
  return context.talk.during(published ? "Trajectory map as published" : "Trajectory map", async (onProgress) => {
    // Handlers run only when this loop lets go; before the linear start, a signal would wait for it.
    await setImmediate();
    const threads = shards === undefined ? {} : { shards };
    const run =
      snapshot === undefined
        ? startDtm(read.cohort, { ...mapOptions(read, choice, onProgress), ...threads })
        : resumeDtm(read.cohort, snapshot, { onProgress, ...threads });
    return await runSteps(run, signals.received, keep);
  });
}

/** Offered the state of a map now and then, to be kept. */
export type Keep = (snapshot: () => DtmRunSnapshot) => void;

export async function runSteps(
  run: DtmRun,
  received: () => StopSignal | undefined,
  keep: Keep = () => {},
): Promise<FinishedFit | StoppedFit> {
  let last = Date.now();
  while (!run.step().done) {
    if (Date.now() - last < 40) continue;
    await setImmediate();
    last = Date.now();
    const signal = received();
    if (signal !== undefined) return { signal, snapshot: run.snapshot() };
    keep(() => run.snapshot());
  }
  return { model: run.finish(), statistics: run.statistics, ...(run.linear && { linear: run.linear }) };
}

export function mapOptions(
  { columns, markerColumns }: Pick<ReadCohort, "columns" | "markerColumns">,
  choice: FitChoice,
  onProgress: (progress: FitProgress) => void,
): FitDtmOptions {
  const { mapDimension, mean, seed, noise, schedule, learn, tolerance, restarts, residual, priors, basis } = choice;
  const common = {
    seed,
    onProgress,
    mean,
    noise,
    ...basis,
    ...(tolerance === undefined ? {} : { tolerance }),
  };
  if (isPublished(choice)) {
    return {
      ...common,
      kind: "dtm-paper",
      columns,
      mapDimension,
      ...(schedule === undefined ? {} : { schedule }),
      ...(learn === undefined ? {} : { learn }),
    };
  }
  if (schedule === "paper") {
    throw new UsageError(
      "--schedule paper: expected with --model dtm-paper, received with --model dtm. Name that model.",
    );
  }
  return {
    ...common,
    columns: markerColumns,
    mapDimension: mapDimension as 1 | 2,
    ...(priors === undefined ? {} : { priors }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(restarts === undefined ? {} : { restarts }),
    ...(residual === undefined ? {} : { residual }),
  };
}

/** Fits any kind of model. */
export function fitAny(
  read: ReadCohort,
  choice: FitChoice,
  context: Context,
  signals: Signals,
  shards: ShardHost | undefined,
  keep: Keep,
): Promise<FinishedFit | StoppedFit> {
  const { kind } = choice;
  if (kind === "lmm" || kind === "fpca") {
    const linear = fitBoth(read, choice, context, shards);
    const model = linear[kind];
    if (model === undefined) throw new DtmError("no-convergence", linear.leftOut.join(" "));
    return Promise.resolve({ model, linear });
  }
  return fitMap(read, choice, context, signals, shards, keep);
}

/** Everyone in the cohort placed by a model. */
export function placeAll(
  model: TrajectoryModel,
  statistics: CohortStatistics,
  read: ReadCohort,
  { talk }: Context,
  shards: ShardHost | undefined,
): FittedModel {
  if (!model.record.converged) talk.warn(model.record.verdict);
  const known = { statistics, ...(shards === undefined ? {} : { shards }) };
  const placements = talk.during("  places of everyone", () => embedPlaces(model, read.cohort, known));
  return { model, placements, logLikelihood: placements.logLikelihood.reduce((sum, v) => sum + v, 0) };
}
