/** Which function of the core fits which kind of model; maps are fitted step by step, so that they can be interrupted. */
import { setImmediate } from "node:timers/promises";
import {
  type BasisStatistics,
  createRandom,
  type DtmRun,
  type DtmRunSnapshot,
  embedPlaces,
  type FitDtmOptions,
  type FitProgress,
  type FpcaModel,
  fitFpca,
  fitLmm,
  type LmmModel,
  numIndividuals,
  type ReadCohort,
  resumeDtm,
  type ShardHost,
  selectIndividuals,
  selectStatistics,
  startDtm,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { UsageError } from "../exit-codes.ts";
import { listenForSignals, type Signals, type StopSignal } from "../io/signals.ts";
import type { FittedModel } from "../print/summary.ts";
import type { Context } from "./command.ts";

export const KINDS = ["dtm", "dtm-paper", "lmm", "fpca"] as const;
export type Kind = (typeof KINDS)[number];

export const SCHEDULES = ["batch", "svi", "paper"] as const;

export interface FitChoice {
  readonly kind: Kind;
  readonly mapDimension: 1 | 2 | 3;
  readonly mean: "scalar" | "spline";
  readonly seed: number;
  readonly schedule?: (typeof SCHEDULES)[number];
  readonly learn?: boolean;
}

const TITLES: Readonly<Record<Kind, string>> = {
  lmm: "Linear mixed model",
  fpca: "Functional principal components",
  dtm: "Trajectory map",
  "dtm-paper": "Trajectory map as published",
};

/** A fitted model, with what it read of the cohort where that is at hand. */
export interface FinishedFit {
  readonly model: TrajectoryModel;
  readonly statistics?: BasisStatistics;
}

/** A map fit that was stopped by a signal. */
export interface StoppedFit {
  readonly signal: StopSignal;
  readonly snapshot: DtmRunSnapshot;
}

/** Fits a linear model. */
export function fitLinear(
  read: ReadCohort,
  choice: FitChoice & { readonly kind: "lmm" | "fpca" },
  context: Context,
  shards: ShardHost | undefined,
  known: { readonly statistics?: BasisStatistics; readonly lmm?: LmmModel } = {},
): LmmModel | FpcaModel {
  const { cohort, columns } = read;
  const { kind, mapDimension, mean, seed } = choice;
  return context.talk.during(TITLES[kind], (onProgress) => {
    const { lmm, ...taken } = known;
    const common = { seed, onProgress, mean, columns, ...(shards === undefined ? {} : { shards }), ...taken };
    return kind === "lmm"
      ? fitLmm(cohort, { ...common, mapDimension })
      : fitFpca(cohort, { ...common, rank: mapDimension, ...(lmm === undefined ? {} : { lmm }) });
  });
}

/** Above this many individuals maps are fitted by minibatches unless told otherwise, and baselines to a sample. */
export const MANY_INDIVIDUALS = 50_000;
const BASELINE_SAMPLE = 20_000;

/**
 * A linear model of the same visits, to compare with, from the statistics of the model it stands beside. In a large cohort
 * it is fitted to a random sample and says so. Components start from the linear mixed model, if there is one.
 */
export function fitBaseline(
  read: ReadCohort,
  choice: FitChoice & { readonly kind: "lmm" | "fpca" },
  statistics: BasisStatistics,
  lmm: LmmModel | undefined,
  context: Context,
  shards: ShardHost | undefined,
): LmmModel | FpcaModel {
  const m = numIndividuals(read.cohort);
  const start = lmm === undefined ? {} : { lmm };
  if (m <= MANY_INDIVIDUALS) return fitLinear(read, choice, context, shards, { statistics, ...start });
  const sample = createRandom(choice.seed).permutation(m).slice(0, BASELINE_SAMPLE).sort();
  const cohort = selectIndividuals(read.cohort, sample);
  const taken = { statistics: selectStatistics(statistics, sample), ...start };
  const model = fitLinear({ ...read, cohort }, choice, context, shards, taken);
  const note = `Fitted to a random sample of ${BASELINE_SAMPLE} of ${m} individuals.`;
  return { ...model, record: { ...model.record, warnings: [...model.record.warnings, note] } };
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
  snapshot?: DtmRunSnapshot,
): Promise<FinishedFit | StoppedFit> {
  const kind = choice.mapDimension === 3 ? "dtm-paper" : choice.kind;
  return context.talk.during(TITLES[kind], async (onProgress) => {
    // Handlers run only when this loop lets go; before the linear start, a signal would wait for it.
    await setImmediate();
    const threads = shards === undefined ? {} : { shards };
    const run =
      snapshot === undefined
        ? startDtm(read.cohort, { ...mapOptions(read, choice, onProgress), ...threads })
        : resumeDtm(read.cohort, snapshot, { onProgress, ...threads });
    return await runSteps(run, signals.received);
  });
}

async function runSteps(run: DtmRun, received: () => StopSignal | undefined): Promise<FinishedFit | StoppedFit> {
  let last = Date.now();
  while (!run.step().done) {
    if (Date.now() - last < 40) continue;
    await setImmediate();
    last = Date.now();
    const signal = received();
    if (signal !== undefined) return { signal, snapshot: run.snapshot() };
  }
  return { model: run.finish(), statistics: run.statistics };
}

function mapOptions(
  { columns }: ReadCohort,
  { kind, mapDimension, mean, seed, schedule, learn }: FitChoice,
  onProgress: (progress: FitProgress) => void,
): FitDtmOptions {
  const common = { seed, onProgress, mean, columns };
  if (kind === "dtm-paper" || mapDimension === 3) {
    return {
      ...common,
      kind: "dtm-paper",
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
  return { ...common, mapDimension, ...(schedule === undefined ? {} : { schedule }) };
}

/** Fits any kind of model. */
export function fitAny(
  read: ReadCohort,
  choice: FitChoice,
  context: Context,
  signals: Signals,
  shards: ShardHost | undefined,
): Promise<FinishedFit | StoppedFit> {
  const { kind } = choice;
  if (kind === "lmm" || kind === "fpca") {
    return Promise.resolve({ model: fitLinear(read, { ...choice, kind }, context, shards) });
  }
  return fitMap(read, choice, context, signals, shards);
}

/** Everyone in the cohort placed by a model. */
export function placeAll(
  model: TrajectoryModel,
  statistics: BasisStatistics,
  read: ReadCohort,
  { talk }: Context,
  shards: ShardHost | undefined,
): FittedModel {
  if (!model.record.converged) talk.warn(model.record.verdict);
  const known = { statistics, ...(shards === undefined ? {} : { shards }) };
  const placements = talk.during("  places of everyone", () => embedPlaces(model, read.cohort, known));
  return { model, placements, logLikelihood: placements.logLikelihood.reduce((sum, v) => sum + v, 0) };
}
