/**
 * What follows the fit of a model: baselines, places, files, summary. A signal meanwhile keeps what is finished, and
 * `dtm fit --resume` does the rest.
 */

import { join } from "node:path";
import { saveModel, type TrajectoryModel } from "@trajectory-maps/core";
import { modelStatistics, type ShardHost } from "@trajectory-maps/core/hosts";
import { leftOutNote, type ReadCohort } from "@trajectory-maps/core/ingest";
import { linearLogLikelihood } from "@trajectory-maps/core/models";
import { judgeSharing, type SharingVerdict, type SingleMap } from "@trajectory-maps/core/study";
import { effectCautions, effectTables, toCsv } from "@trajectory-maps/report";
import { FileError, NotConvergedError } from "../exit-codes.ts";
import { DIGESTS_FILE, digestText, type PrivateDigests, RECORD_FILE } from "../io/belongs.ts";
import { type Checkpoints, UNFINISHED } from "../io/checkpoint.ts";
import { fileExists } from "../io/read.ts";
import {
  BASELINES,
  COVARIATES_FILE,
  covariatesCsv,
  isPrivate,
  LATER_FILES,
  VISITS_FILE,
  visitsCsv,
} from "../io/run-folder.ts";
import type { Signals } from "../io/signals.ts";
import { type OutputFile, writeOutputs } from "../io/write.ts";
import { fitPage } from "../print/fit-page.ts";
import type { FittedModel, ScoredFit } from "../print/summary.ts";
import { withPool } from "../threads/pool.ts";
import type { CommandResult, Context, Options } from "./command.ts";
import type { Keeper } from "./fit-keep.ts";
import { type FinishedFit, type FitChoice, fitBoth, placeAll, signalNow } from "./fit-model.ts";
import { jobsOf } from "./numbers.ts";
import { placementsCsv } from "./placements.ts";
import { type RunRecord, runRecord, sealed } from "./run-record.ts";
import { inOrder } from "./study-parts.ts";
import { unusedAxes } from "./unused-axes.ts";

/** A fit under way: what it reads, what was asked for, where results go. */
export interface Work {
  readonly folder: string;
  readonly source: string;
  readonly read: ReadCohort;
  readonly choice: FitChoice;
  readonly options: Options;
  readonly context: Context;
  readonly checkpoints: Checkpoints;
  /** What is written beside the run's own files. */
  readonly also: readonly OutputFile[];
  readonly keeper: Keeper;
  readonly signals: Signals;
  /** Threads for passes over individuals, if there are any. */
  readonly shards: ShardHost | undefined;
}

/** Names of the files of a run. */
export function outputNames(withVisits: boolean, withCovariates = false): string[] {
  const baselines = BASELINES.map((name) => `baselines/${name}.json`);
  const copies = withVisits ? [VISITS_FILE, ...(withCovariates ? [COVARIATES_FILE] : [])] : [];
  return ["model.json", ...baselines, ...copies, "placements.csv", "trace.csv", DIGESTS_FILE, RECORD_FILE];
}

/** Baselines, places, files and the summary of a fitted model. */
export async function finishRun(bare: FinishedFit, work: Work): Promise<CommandResult> {
  const { folder, read, options } = work;
  const model = withLeftOut(bare.model, read);
  const { files, record, fitted, baselines } = await assembleRun({ ...bare, model }, work);
  const paths = writeRun(work, files);
  const cautions = effectCautions(model, read.cohort, fitted.placements);
  const page = fitPage({ cohort: read.cohort, fitted, baselines, cautions, sharing: record.sharing });
  const text = `${page}\n\nWritten   ${paths.map((path) => path + privacyMark(path, folder)).join("\n          ")}`;
  const strict = options.strict === true && !model.record.converged;
  const failure = strict ? { failure: new NotConvergedError(`${model.record.verdict} (--strict)`) } : {};
  const covariates = effectTables(model);
  return {
    text,
    json: {
      run: record,
      folder,
      milliseconds: model.record.milliseconds,
      ...(covariates && { covariates: { ...covariates, cautions } }),
    },
    ...failure,
  };
}

/** The log-likelihood or bound of a model, iteration by iteration. */
export function traceCsv({ record }: TrajectoryModel): string {
  return toCsv(
    ["iteration", "value"],
    record.trace.map((value, k) => [k + 1, value]),
  );
}

/**
 * Writes the files of a run in place of those that are there, as one change: groups, comparisons, outcomes, baselines, visits and
 * covariates of the run that was here before say nothing of the new one, and are removed with it.
 */
export function writeRun(
  { folder, context, keeper }: Pick<Work, "folder" | "context"> & { readonly keeper?: Keeper },
  written: readonly OutputFile[],
): string[] {
  const refit = fileExists(join(folder, RECORD_FILE));
  const others = [...(refit ? LATER_FILES : []), ...outputNames(true, true)];
  const stale = others.filter((name) => {
    return fileExists(join(folder, name)) && written.every((file) => file.name !== name);
  });
  let paths: string[];
  try {
    paths = writeOutputs(folder, written, [...stale, UNFINISHED]);
  } catch (error) {
    if (!(error instanceof FileError) || keeper === undefined) throw error;
    throw new FileError(`${error.message}${keeper.remedy()}`);
  }
  if (stale.length > 0) {
    context.talk.warn(`Results of the previous model in ${folder} are removed: ${stale.join(", ")}.`);
  }
  return paths;
}

function privacyMark(path: string, folder: string): string {
  const name = path.slice(join(folder, "x").length - 1).replaceAll("\\", "/");
  return isPrivate(name) ? "   (private)" : "";
}

/** The model with the rows that were left out counted in its record, which travels with it. */
function withLeftOut<M extends TrajectoryModel>(model: M, read: ReadCohort): M {
  const note = leftOutNote(read);
  if (note === undefined || model.record.warnings.includes(note)) return model;
  return { ...model, record: { ...model.record, warnings: [...model.record.warnings, note] } };
}

/** Everything `dtm fit` writes. */
async function assembleRun(
  finished: FinishedFit,
  work: Work,
): Promise<{
  readonly files: OutputFile[];
  readonly record: RunRecord;
  readonly fitted: FittedModel;
  readonly baselines: readonly ScoredFit[];
}> {
  const { read, options, context, signals, shards } = work;
  const { model } = finished;
  const statistics = finished.statistics ?? modelStatistics(model, read.cohort);
  const early = await signalNow(signals);
  if (early !== undefined) throw work.keeper.stopped(early, model);
  work.keeper.offerModel(model);
  const linear = finished.linear ?? fitBoth(read, work.choice, context, shards, { statistics });
  const known = shards === undefined ? {} : { shards };
  for (const note of linear.leftOut) context.talk.warn(note);
  const baselines = BASELINES.flatMap((kind) => {
    const other = linear[kind];
    const baseline = model.kind === kind ? model : other && withLeftOut(other, read);
    if (baseline === undefined) return [];
    if (baseline !== model && !baseline.record.converged) context.talk.warn(baseline.record.verdict);
    return [{ model: baseline, logLikelihood: linearLogLikelihood(baseline, statistics, known) }];
  });
  const fitted = placeAll(model, statistics, read, context, shards);
  const unused = unusedAxes(model);
  if (unused !== undefined) context.talk.warn(unused);
  const texts: Record<string, () => OutputFile["text"]> = {
    "model.json": () => saveModel(model),
    ...Object.fromEntries(baselines.map((b) => [`baselines/${b.model.kind}.json`, () => saveModel(b.model)])),
    [VISITS_FILE]: () => visitsCsv(read.cohort),
    [COVARIATES_FILE]: () => covariatesCsv(read.cohort),
    "placements.csv": () => placementsCsv(model, fitted.placements, shards?.open(statistics)),
    "trace.csv": () => traceCsv(model),
  };
  const names = outputNames(options.visits !== false, read.cohort.covariates !== undefined).filter(
    (name) => name in texts,
  );
  const beside = [...work.also, ...(context.beside ?? [])];
  const about = {
    command: context.commandLine,
    source: work.source,
    files: [...names, ...beside.map(({ name }) => name), DIGESTS_FILE, RECORD_FILE],
  };
  const sharing = await sharingOf(model, work);
  const plain = runRecord(model, read, about, sharing);
  const told = [...plain.warnings, ...linear.leftOut, ...(unused === undefined ? [] : [unused])];
  const record = { ...plain, warnings: [...new Set(told)] };
  const signal = await signalNow(signals);
  if (signal !== undefined) throw work.keeper.stopped(signal, model);
  const own = names.map((name) => ({ name, text: texts[name]?.() ?? "", private: isPrivate(name) }));
  // Visits that are not kept are known again by their digest.
  const notKept: PrivateDigests = options.visits === false ? { [VISITS_FILE]: digestText(visitsCsv(read.cohort)) } : {};
  const files = [...own, ...beside, ...sealed(record, notKept)];
  return { files, record, fitted, baselines };
}

/** Whether the markers of a map share it, from a map of each alone; undefined for other models. */
function sharingOf(model: TrajectoryModel, { read, options, context }: Work): Promise<SharingVerdict | undefined> {
  if (model.kind !== "dtm" || model.markers.length === 1) return Promise.resolve(undefined);
  const { cohort } = read;
  return context.talk.during("Maps of each marker alone", () =>
    withPool(jobsOf(options), async (pool) => {
      const shared = { cohort, model };
      const tasks = model.markers.map((_, marker) => marker);
      const fit = async (marker: number) => (await pool.run({ kind: "single", shared, part: { marker } })) as SingleMap;
      return judgeSharing(cohort, model, await inOrder(tasks, pool.jobs, fit));
    }),
  );
}
