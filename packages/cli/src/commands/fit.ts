/** dtm fit VISITS: read a table of visits, fit a model and its baselines, place everyone, write the folder of a run. */
import { join } from "node:path";
import { DtmError, type ReadCohort, readCohort, saveModel, type TrajectoryModel } from "@trajectory-maps/core";
import { NotConvergedError, StoppedError, UsageError } from "../exit-codes.ts";
import { type Checkpoint, checkpointText, readCheckpoint } from "../io/checkpoint.ts";
import { toCsv } from "../io/csv.ts";
import { fileExists, nameOf, readText } from "../io/read.ts";
import { BASELINES, CHECKPOINT_FILE, isPrivate, VISITS_FILE, visitsCsv } from "../io/run-folder.ts";
import { checkOutputs, type OutputFile, removeFile, writeOutputs } from "../io/write.ts";
import { cohortSummary, courseTable, type FittedModel, mapPicture, mapSummary, modelTable } from "../print/summary.ts";
import { type Command, type CommandResult, type Context, FORCE_OPTION, type Options, textOption } from "./command.ts";
import {
  type FitChoice,
  fitAny,
  fitLinear,
  fitMap,
  KINDS,
  type Kind,
  placeAll,
  SCHEDULES,
  type StoppedFit,
} from "./fit-model.ts";
import { dimensionOf, meanOf, seedOf } from "./numbers.ts";
import { placementsCsv } from "./placements.ts";
import { type RunRecord, runRecord, runRecordText } from "./run-record.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readVisits, VISITS_ARGUMENT } from "./visits.ts";

export const fit: Command = {
  name: "fit",
  description: "Fit a model to a table of visits, place everyone, and write the folder of a run.",
  arguments: [{ ...VISITS_ARGUMENT, optional: true }],
  options: [
    ...COLUMN_OPTIONS,
    ...MARKER_OPTIONS,
    { flags: "--model <kind>", description: "kind of model", default: "dtm", choices: KINDS },
    { flags: "--dim <number>", description: "dimensions of the map: 1, 2 or 3", default: "2" },
    { flags: "--mean <kind>", description: "population mean", default: "scalar", choices: ["scalar", "spline"] },
    { flags: "--schedule <name>", description: "how the map is fitted (default: batch)", choices: SCHEDULES },
    { flags: "--learn", description: "learn the published map's noise, variance and length-scale too" },
    { flags: "-o, --out <folder>", description: "where results go", default: "run" },
    { flags: "--no-visits", description: "keep no copy of the visits in the run" },
    { flags: "--strict", description: "exit code 5 if the fit did not converge" },
    { flags: "--resume <folder>", description: "go on with an interrupted fit" },
    FORCE_OPTION,
  ],
  examples: [
    "dtm fit visits.csv --id patient_id --time years --value fvc -o run/",
    "dtm fit visits.csv.gz --value bili --transform log --mean spline -o pbc/",
    "dtm fit --resume run/",
  ],
  run: async ([path], options, context) => {
    const resumed = textOption(options, "resume");
    if (resumed !== undefined) return resume(resumed, path, options, context);
    if (path === undefined)
      throw new UsageError('Name the table of visits: dtm fit visits.csv ("-" for standard input).');
    const folder = textOption(options, "out") ?? "run";
    const choice = choiceOf(options);
    const names = outputNames(options.visits !== false);
    checkOutputs(folder, names, options.force === true);
    const read = readVisits(path, options, context);
    const stopped = (found: StoppedFit) => keep(found, { folder, source: nameOf(path), read, choice, options });
    const fitted = await fitAny(read, choice, context);
    if ("snapshot" in fitted) throw stopped(fitted);
    return finish(fitted, { folder, source: nameOf(path), read, choice, options, context });
  },
};

export function choiceOf(options: Options): FitChoice {
  const schedule = textOption(options, "schedule") as FitChoice["schedule"];
  const kind = (textOption(options, "model") ?? "dtm") as Kind;
  if (schedule === "paper" && kind !== "dtm-paper") {
    throw new UsageError(`--schedule paper: expected with --model dtm-paper, received with --model ${kind}.`);
  }
  return {
    kind,
    mapDimension: dimensionOf(options),
    mean: meanOf(options),
    seed: seedOf(options),
    ...(schedule === undefined ? {} : { schedule }),
    ...(options.learn === true ? { learn: true } : {}),
  };
}

interface Work {
  readonly folder: string;
  readonly source: string;
  readonly read: ReadCohort;
  readonly choice: FitChoice;
  readonly options: Options;
}

/** Names of the files of a run. */
export function outputNames(withVisits: boolean): string[] {
  const baselines = BASELINES.map((name) => `baselines/${name}.json`);
  return ["model.json", ...baselines, ...(withVisits ? [VISITS_FILE] : []), "placements.csv", "trace.csv", "run.json"];
}

/** Baselines, places, files and the summary of a fitted model. */
function finish(model: TrajectoryModel, work: Work & { readonly context: Context }): CommandResult {
  const { folder, read, context, options } = work;
  const { files, record, fitted, baselines } = assembleRun(model, work, context);
  const paths = writeOutputs(folder, files);
  removeFile(join(folder, CHECKPOINT_FILE));
  const text = [
    `${cohortSummary(read.cohort)}\n`,
    `${modelTable([...baselines.filter((b) => b.model.kind !== model.kind), fitted])}\n`,
    `${mapSummary(model)}\n`,
    `${mapPicture(fitted)}\n`,
    `${courseTable(model)}\n`,
    `Written   ${paths.map((path) => path + privacyMark(path, folder)).join("\n          ")}`,
  ].join("\n");
  const strict = options.strict === true && !model.record.converged;
  const failure = strict ? { failure: new NotConvergedError(`${model.record.verdict} (--strict)`) } : {};
  return { text, json: { run: record, folder }, ...failure };
}

function privacyMark(path: string, folder: string): string {
  const name = path.slice(join(folder, "x").length - 1).replaceAll("\\", "/");
  return isPrivate(name) ? "   (private)" : "";
}

/** Everything `dtm fit` writes. */
export function assembleRun(
  model: TrajectoryModel,
  work: Work,
  context: Context,
): {
  readonly files: OutputFile[];
  readonly record: RunRecord;
  readonly fitted: FittedModel;
  readonly baselines: readonly FittedModel[];
} {
  const { read, options } = work;
  const baselines = BASELINES.flatMap((kind) => {
    const own = model.kind === kind ? model : tryBaseline(kind, work, context);
    return own === undefined ? [] : [placeAll(own, read, context)];
  });
  const fitted = baselines.find((b) => b.model === model) ?? placeAll(model, read, context);
  const texts: Record<string, () => string> = {
    "model.json": () => saveModel(model),
    ...Object.fromEntries(baselines.map((b) => [`baselines/${b.model.kind}.json`, () => saveModel(b.model)])),
    [VISITS_FILE]: () => visitsCsv(read.cohort),
    "placements.csv": () => placementsCsv(fitted.placements),
    "trace.csv": () => {
      const rows = model.record.trace.map((value, k) => [k + 1, value]);
      return toCsv(["iteration", "value"], rows);
    },
    "run.json": () => runRecordText(record),
  };
  const names = outputNames(options.visits !== false).filter((name) => name in texts);
  const record = runRecord(model, read, { command: context.commandLine, source: work.source, files: names });
  const files = names.map((name) => ({ name, text: texts[name]?.() ?? "", private: isPrivate(name) }));
  return { files, record, fitted, baselines };
}

/** A baseline, or a warning: that one cannot be fitted says nothing against the model that was asked for. */
function tryBaseline(kind: "lmm" | "fpca", { read, choice }: Work, context: Context): TrajectoryModel | undefined {
  try {
    return fitLinear(read, { ...choice, kind }, context);
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    context.talk.warn(`The baseline ${kind} is left out: ${error.message}`);
    return undefined;
  }
}

/** Writes the state of an interrupted fit and says how to go on. */
function keep({ signal, snapshot }: StoppedFit, { folder, source, read, choice, options }: Work): StoppedError {
  const checkpoint: Checkpoint = {
    kind: snapshot.kind,
    mapDimension: choice.mapDimension,
    mean: choice.mean,
    seed: choice.seed,
    marker: read.cohort.marker,
    columns: read.columns,
    source,
    snapshot,
  };
  const withVisits = options.visits !== false;
  writeOutputs(folder, [
    { name: CHECKPOINT_FILE, text: checkpointText(checkpoint), private: true },
    ...(withVisits ? [{ name: VISITS_FILE, text: visitsCsv(read.cohort), private: true }] : []),
  ]);
  const visits = withVisits ? "" : " VISITS";
  return new StoppedError(signal, `Stopped; the state is kept. Go on with: dtm fit${visits} --resume ${folder}`);
}

async function resume(
  folder: string,
  path: string | undefined,
  options: Options,
  context: Context,
): Promise<CommandResult> {
  const checkpoint = readCheckpoint(folder);
  const { kind, mapDimension, mean, seed, marker, source } = checkpoint;
  const copy = join(folder, VISITS_FILE);
  if (path === undefined && !fileExists(copy)) {
    throw new UsageError(`${folder} keeps no copy of the visits. Name them: dtm fit VISITS --resume ${folder}.`);
  }
  const columns = path === undefined ? { id: "id", time: "time", value: "value" } : checkpoint.columns;
  const read = {
    ...readCohort(readText(path ?? copy), { columns, marker, file: nameOf(path ?? copy) }),
    columns: checkpoint.columns,
  };
  const choice = { kind, mapDimension, mean, seed };
  const kept = { ...options, visits: options.visits !== false && fileExists(copy) };
  const work = { folder, source, read, choice, options: kept };
  const fitted = await fitMap(read, choice, context, checkpoint.snapshot);
  if ("snapshot" in fitted) throw keep(fitted, work);
  return finish(fitted, { ...work, context });
}
