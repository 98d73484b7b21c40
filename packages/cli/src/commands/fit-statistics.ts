/** dtm fit --statistics FILES: a map fitted to statistics that were taken before, shard by shard perhaps; the run keeps no visits. */
import { saveModel } from "@trajectory-maps/core";
import { embedStatistics, numVisits, type ShardHost, spreadShards, startPrepared } from "@trajectory-maps/core/hosts";
import { isPublished, linearLogLikelihood } from "@trajectory-maps/core/models";
import { NotConvergedError, StoppedError, UsageError } from "../exit-codes.ts";
import { DIGESTS_FILE, RECORD_FILE } from "../io/belongs.ts";
import { whileLocked } from "../io/lock.ts";
import { openQuestions } from "../io/questions.ts";
import { BASELINES, isPrivate } from "../io/run-folder.ts";
import { type ReadStatistics, readStatistics, readStatisticsByFile, statisticsFiles } from "../io/statistics-file.ts";
import { checkOutputs, type OutputFile } from "../io/write.ts";
import { longName } from "../option-names.ts";
import { mapPicture, mapSummary, modelTable, noiseSummary } from "../print/summary.ts";
import { counted, line } from "../print/words.ts";
import { withShards } from "../threads/shards.ts";
import { BASIS_OPTIONS } from "./basis.ts";
import { type CommandResult, type Context, type OptionSpec, type Options, textOption } from "./command.ts";
import { COVARIATE_OPTIONS } from "./covariates.ts";
import { FHIR_OPTIONS } from "./fhir.ts";
import { outputNames, traceCsv, writeRun } from "./fit-finish.ts";
import { askedWords, type FitChoice, listenWhileFitting, mapOptions, runSteps } from "./fit-model.ts";
import { jobsOf } from "./numbers.ts";
import { OMOP_OPTIONS } from "./omop.ts";
import { placementsCsv } from "./placements.ts";
import { runRecord, sealed } from "./run-record.ts";
import { refuseOptions } from "./statistics.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS } from "./visits.ts";
import { QUERY_OPTIONS } from "./visits-source.ts";

/** Names of options without a default: a given one was asked for. */
const namesOf = (options: readonly OptionSpec[]) =>
  options.filter((option) => option.default === undefined).map(longName);
/** Options that say something of visits, which are not read. */
const OF_VISITS = [
  ...namesOf([...COLUMN_OPTIONS, ...QUERY_OPTIONS, ...OMOP_OPTIONS, ...MARKER_OPTIONS, ...FHIR_OPTIONS]),
  ...namesOf(BASIS_OPTIONS),
  ...["noise", "subjects"],
];
const OF_COVARIATES = namesOf(COVARIATE_OPTIONS).filter((name) => name !== "subjects");

/** How long a fit waits for each answer of another program. */
const ANSWER_SECONDS = 3600;
/** How long a place waits for another process of the same place to write its run. */
const PATIENCE_MS = 60_000;

export async function fitStatistics(
  list: string,
  path: string | undefined,
  asked: Omit<FitChoice, "noise">,
  options: Options,
  context: Context,
): Promise<CommandResult> {
  if (path !== undefined) throw new UsageError(`--statistics: expected instead of visits, received with ${path}.`);
  refuseOptions(
    options,
    OF_COVARIATES,
    "expected with visits; files of statistics carry no covariates. Fit the visits",
  );
  refuseOptions(
    options,
    OF_VISITS,
    "expected with visits; statistics bring their own. Give it to dtm statistics, or fit the visits",
  );
  if (asked.kind !== "dtm" || isPublished(asked)) {
    throw new UsageError(
      `--statistics: expected with --model dtm of one or two dimensions, received ${askedWords(asked)}.`,
    );
  }
  const folder = textOption(options, "out") ?? "run";
  checkOutputs(folder, STATISTICS_OUTPUTS, options.force === true);
  const files = statisticsFiles(list);
  const byFile = options.byFile === true;
  const read = await context.talk.during("Statistics", () =>
    byFile ? readStatisticsByFile(files) : readStatistics(files),
  );
  const source = files.length === 1 ? files[0]! : `${files[0]} and ${files.length - 1} more`;
  const rounds = textOption(options, "rounds");
  if (rounds !== undefined && !byFile) throw new UsageError("--rounds: expected with --by-file. Ask for both.");
  const elsewhere = rounds === undefined ? {} : { elsewhere: openQuestions(rounds, ANSWER_SECONDS) };
  const spread = (host: ShardHost | undefined) =>
    spreadShards({ place: 0, numPlaces: 1 }, { ...(host && { host }), ...elsewhere });
  const choice = byFile ? { ...asked, schedule: "batch" as const } : asked;
  return fitRead({ read, source, folder, asked: choice, options, context, ...(byFile && { spread }) });
}

/** Files that a fit of statistics may write. */
export const STATISTICS_OUTPUTS = outputNames(false);

/** A fit of statistics that have been read. */
export interface StatisticsFit {
  readonly read: ReadStatistics;
  /** Where they are from, in words. */
  readonly source: string;
  readonly folder: string;
  readonly asked: Omit<FitChoice, "noise">;
  readonly options: Options;
  readonly context: Context;
  /** Of a cohort that is spread: how sums over all places are had. */
  readonly spread?: (threads: ShardHost | undefined) => ShardHost;
  /** Hears the model once everything is written. */
  readonly onModel?: (text: string) => void;
}

/** Fits a map, places everybody, and writes the run. */
export async function fitRead(fit: StatisticsFit): Promise<CommandResult> {
  const { read, source, folder, asked, options, context, spread, onModel } = fit;
  // A place that waits for others would not hear a signal; it can be ended at any moment, and run twice: its files have the same bytes.
  const waits = onModel !== undefined;
  const signals = waits ? { received: () => undefined, release: () => {} } : listenWhileFitting(context);
  try {
    return await withShards(jobsOf(options), read.ids.length, async (threads) => {
      const shards = spread === undefined ? threads : spread(threads);
      const { kind } = read.plan.markers[0]!.noise;
      const { model, statistics, linear } = await context.talk.during("Trajectory map", async (onProgress) => {
        const given = mapOptions(columnsOf(read), { ...asked, noise: kind }, onProgress);
        const prepared = {
          ...read,
          markers: read.plan.markers.map(({ marker }) => marker),
          warnings: read.plan.warnings,
        };
        const run = startPrepared(prepared, { ...given, ...(shards && { shards }) });
        const fitted = await runSteps(run, signals.received);
        if ("snapshot" in fitted)
          throw new StoppedError(fitted.signal, "Stopped; of a fit to statistics nothing is kept.");
        return { ...fitted, statistics: fitted.statistics ?? read.statistics };
      });
      if (!model.record.converged) context.talk.warn(model.record.verdict);
      const here = threads === undefined ? {} : { shards: threads };
      const baselines = BASELINES.flatMap((name) => linear?.[name] ?? []).map((baseline) => ({
        model: baseline,
        logLikelihood: linearLogLikelihood(baseline, statistics, here),
      }));
      const placements = context.talk.during("  places of everyone", () =>
        embedStatistics(model, read.ids, statistics, here),
      );
      const fitted = { model, placements, logLikelihood: placements.logLikelihood.reduce((sum, v) => sum + v, 0) };
      const texts: Record<string, OutputFile["text"]> = {
        "model.json": saveModel(model),
        ...Object.fromEntries(baselines.map((own) => [`baselines/${own.model.kind}.json`, saveModel(own.model)])),
        "placements.csv": placementsCsv(model, placements, threads?.open(statistics)),
        "trace.csv": traceCsv(model),
      };
      const numRows = statistics.reduce((sum, own) => sum + numVisits(own), 0);
      const about = { command: context.commandLine, source, files: [...Object.keys(texts), DIGESTS_FILE, RECORD_FILE] };
      const reading = { ...columnsOf(read), numRows, numRowsLeftOut: 0, warnings: [], notes: [] };
      const record = runRecord(model, reading, about);
      const outputs = STATISTICS_OUTPUTS.flatMap((name) =>
        texts[name] === undefined ? [] : [{ name, text: texts[name], private: isPrivate(name) }],
      );
      const files = [...outputs, ...sealed(record, {})];
      // The lock of a fit is held from its beginning; a place takes it when it is done waiting, one that runs twice in turn.
      const paths = await whileLocked(
        waits ? folder : undefined,
        () => writeRun({ folder, context }, files),
        PATIENCE_MS,
      );
      onModel?.(texts["model.json"] as string);
      const cohort = `${counted(read.ids.length, "individual")}, ${counted(numRows, "observation")}`;
      const text = [
        `${line("Cohort", `${cohort}${waits ? ` here of ${counted(model.record.numIndividuals, "individual")} in all` : ""}, from ${source}`)}\n`,
        // Of a place, scores of the baselines are over the individuals here, and the bound is over all: not side by side.
        `${waits ? modelTable([fitted], model.record.numIndividuals) : modelTable([...baselines, fitted], read.ids.length)}\n`,
        ...(noiseSummary(model) === "" ? [] : [`${noiseSummary(model)}\n`]),
        `${mapSummary(model)}\n`,
        `${mapPicture(fitted)}\n`,
        `Written   ${paths.join("\n          ")}`,
      ].join("\n");
      const strict = options.strict === true && !model.record.converged;
      const failure = strict ? { failure: new NotConvergedError(`${model.record.verdict} (--strict)`) } : {};
      return { text, json: { run: record, folder }, ...failure };
    });
  } finally {
    signals.release();
  }
}

/** The columns that statistics were read from, as far as they say. */
function columnsOf({ plan }: ReadStatistics) {
  const markerColumns = plan.markers.map(
    ({ columns, marker }) => columns ?? { id: "id", time: "time", value: marker.name },
  );
  return { columns: markerColumns[0]!, markerColumns };
}
