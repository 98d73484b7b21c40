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
import { NotConvergedError, StoppedError } from "../exit-codes.ts";
import { type Checkpoint, checkpointText } from "../io/checkpoint.ts";
import { fileExists } from "../io/read.ts";
import {
  BASELINES,
  CHECKPOINT_FILE,
  COVARIATES_FILE,
  covariatesCsv,
  isPrivate,
  LATER_FILES,
  VISITS_FILE,
  visitsCsv,
} from "../io/run-folder.ts";
import type { Signals, StopSignal } from "../io/signals.ts";
import { type OutputFile, removeFile, writeOutputs } from "../io/write.ts";
import { fitPage } from "../print/fit-page.ts";
import type { FittedModel, ScoredFit } from "../print/summary.ts";
import { withPool } from "../threads/pool.ts";
import type { CommandResult, Context, Options } from "./command.ts";
import { type FinishedFit, type FitChoice, fitBoth, placeAll, signalNow } from "./fit-model.ts";
import { jobsOf } from "./numbers.ts";
import { placementsCsv } from "./placements.ts";
import { type RunRecord, runRecord, runRecordText } from "./run-record.ts";
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
  readonly signals: Signals;
  /** Threads for passes over individuals, if there are any. */
  readonly shards: ShardHost | undefined;
}

/** Names of the files of a run. */
export function outputNames(withVisits: boolean, withCovariates = false): string[] {
  const baselines = BASELINES.map((name) => `baselines/${name}.json`);
  const copies = withVisits ? [VISITS_FILE, ...(withCovariates ? [COVARIATES_FILE] : [])] : [];
  return ["model.json", ...baselines, ...copies, "placements.csv", "trace.csv", "run.json"];
}

/** Baselines, places, files and the summary of a fitted model. */
export async function finishRun(bare: FinishedFit, work: Work): Promise<CommandResult> {
  const { folder, read, options } = work;
  const model = withLeftOut(bare.model, read);
  const { files, record, fitted, baselines } = await assembleRun({ ...bare, model }, work);
  const refit = fileExists(join(folder, "run.json"));
  const paths = writeOutputs(folder, files);
  removeFile(join(folder, CHECKPOINT_FILE));
  if (refit) removeStale(work, files);
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

/** Groups, comparisons, outcomes, baselines, visits and covariates of the run that was here before say nothing of the new one. */
export function removeStale(
  { folder, context }: Pick<Work, "folder" | "context">,
  written: readonly OutputFile[],
): void {
  const others = outputNames(true, true).filter((name) => written.every((file) => file.name !== name));
  const stale = [...LATER_FILES, ...others].filter((name) => fileExists(join(folder, name)));
  for (const name of stale) removeFile(join(folder, name));
  if (stale.length > 0) {
    context.talk.warn(`Results of the previous model in ${folder} are removed: ${stale.join(", ")}.`);
  }
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
  if (early !== undefined) throw keepFinished(early, model, work);
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
    "run.json": () => runRecordText(record),
  };
  const names = outputNames(options.visits !== false, read.cohort.covariates !== undefined).filter(
    (name) => name in texts,
  );
  const about = { command: context.commandLine, source: work.source, files: names };
  const sharing = await sharingOf(model, work);
  const plain = runRecord(model, read, about, sharing);
  const told = [...plain.warnings, ...linear.leftOut, ...(unused === undefined ? [] : [unused])];
  const record = { ...plain, warnings: [...new Set(told)] };
  const signal = await signalNow(signals);
  if (signal !== undefined) throw keepFinished(signal, model, work);
  const files = names.map((name) => ({ name, text: texts[name]?.() ?? "", private: isPrivate(name) }));
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

/** Keeps the state of a map under way, and says how to go on. */
export function keepSnapshot(signal: StopSignal, snapshot: Checkpoint["snapshot"], work: Work): StoppedError {
  return keep(signal, work, snapshot, []);
}

/** Keeps a model that is fitted while its baselines or places are not, and says how to go on. */
function keepFinished(signal: StopSignal, model: TrajectoryModel, work: Work): StoppedError {
  // What an earlier run left here does not belong to this model.
  for (const name of outputNames(true, true)) removeFile(join(work.folder, name));
  return keep(signal, work, null, [{ name: "model.json", text: saveModel(model) }]);
}

function keep(
  signal: StopSignal,
  { folder, source, read, choice, options }: Work,
  snapshot: Checkpoint["snapshot"],
  files: readonly OutputFile[],
): StoppedError {
  const { cohort, columns, ...reading } = read;
  const checkpoint: Checkpoint = {
    kind: snapshot?.kind ?? choice.kind,
    mapDimension: choice.mapDimension,
    mean: choice.mean,
    seed: choice.seed,
    markers: cohort.markers.map(({ marker }) => marker),
    columns,
    source,
    reading,
    snapshot,
  };
  const withVisits = options.visits !== false;
  writeOutputs(folder, [
    ...files,
    { name: CHECKPOINT_FILE, text: checkpointText(checkpoint), private: true },
    ...(withVisits ? [{ name: VISITS_FILE, text: visitsCsv(cohort), private: true }] : []),
  ]);
  const visits = withVisits ? "" : " VISITS";
  const kept = snapshot === null ? "the model is kept" : "the state is kept";
  return new StoppedError(signal, `Stopped; ${kept}. Resume with: dtm fit${visits} --resume ${folder}`);
}
