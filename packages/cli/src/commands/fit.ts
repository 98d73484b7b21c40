/** dtm fit VISITS: read a table of visits, fit a model and its baselines, place everyone, write the folder of a run. */
import { loadModel, numIndividuals } from "@trajectory-maps/core";
import { type ReadCohort, readCohortFile, withCovariates } from "@trajectory-maps/core/ingest";
import { isPublished, NOISE_CHOICES, type NoiseChoice, usualNoise } from "@trajectory-maps/core/models";
import { csvPieces } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import {
  type Checkpoint,
  hasCheckpoint,
  openCheckpoints,
  readCheckpoint,
  visitsOfUnfinished,
} from "../io/checkpoint.ts";
import { begunFiles } from "../io/protocol.ts";
import { FROM_OMOP, fileExists, nameOf, readBlocks } from "../io/read.ts";
import { OMOP_SUBJECTS_FILE, readVisitsCopy, visitsCsv } from "../io/run-folder.ts";
import { checkOutputs } from "../io/write.ts";
import { flagOf, longName } from "../option-names.ts";
import { withShards } from "../threads/shards.ts";
import { BASIS_OPTIONS, basisOf, given } from "./basis.ts";
import {
  COMMON_OPTIONS,
  type Command,
  type CommandResult,
  type Context,
  FORCE_OPTION,
  inGroup,
  JOBS_OPTION,
  type Options,
  textOption,
} from "./command.ts";
import { COVARIATE_OPTIONS, covariateChoices, readCovariates } from "./covariates.ts";
import { FHIR_OPTIONS } from "./fhir.ts";
import { finishRun, outputNames, type Work } from "./fit-finish.ts";
import { openKeeper } from "./fit-keep.ts";
import {
  askedWords,
  type FinishedFit,
  type FitChoice,
  fitAny,
  fitMap,
  type Keep,
  KINDS,
  type Kind,
  listenWhileFitting,
  PRIORS,
  RESIDUALS,
  SCHEDULES,
  type StoppedFit,
} from "./fit-model.ts";
import { planOf } from "./fit-plan.ts";
import { fitStatistics } from "./fit-statistics.ts";
import { dimensionOf, jobsOf, meanOf, positiveNumber, seedOf, wholeNumber } from "./numbers.ts";
import { OMOP_OPTIONS, OUTCOME_OPTION, omopSubjects } from "./omop.ts";
import { originTable } from "./origin-table.ts";
import { formOf } from "./table-form.ts";
import { tellApart } from "./tables-apart.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readVisits, sharedColumns, tableForm, VISITS_ARGUMENT } from "./visits.ts";
import { QUERY_OPTIONS, visitsPath } from "./visits-source.ts";

/** What a map is asked for, whatever it is fitted to. */
export const MAP_OPTIONS = inGroup("Model", [
  { flags: "--dim <number>", description: "dimensions of the map: 1, 2 or 3", default: "2" },
  { flags: "--mean <kind>", description: "population mean", default: "scalar", choices: ["scalar", "spline"] },
  {
    flags: "--restarts <number>",
    description: "further starts of the map; the best is kept (default: 2 up to 5,000 individuals)",
  },
  {
    flags: "--tolerance <number>",
    description: "movement of places, in standard deviations, at which the map has settled (default: 0.01)",
  },
  { flags: "--residual <kind>", description: "residual effect beside the map (default: capped)", choices: RESIDUALS },
  {
    flags: "--priors <kind>",
    description: "priors on noise and covariance for small cohorts (default: weak; none for the published map)",
    choices: PRIORS,
  },
]);

export const fit: Command = {
  name: "fit",
  description: "Fit a model to a table of visits, place every individual, and write the results to a folder.",
  arguments: [
    VISITS_ARGUMENT,
    { name: "subjects", description: "table of individuals, as --subjects names it", optional: true },
  ],
  options: [
    ...COLUMN_OPTIONS,
    ...QUERY_OPTIONS,
    ...OMOP_OPTIONS,
    OUTCOME_OPTION,
    ...MARKER_OPTIONS,
    ...FHIR_OPTIONS,
    { group: "Model", flags: "--model <kind>", description: "kind of model", default: "dtm", choices: KINDS },
    ...MAP_OPTIONS,
    {
      group: "Model",
      flags: "--schedule <name>",
      description: "how the map is fitted (default: batch; svi above 50,000 individuals)",
      choices: SCHEDULES,
    },
    {
      group: "Model",
      flags: "--noise <kind>",
      description:
        "measurement noise: white, one variance for all; level, more or less for each individual; serial, correlated between neighbouring visits; auto, what of these the data ask for (default: auto for --model dtm with one marker and no covariates, else white)",
      choices: NOISE_CHOICES,
    },
    ...COVARIATE_OPTIONS,
    ...BASIS_OPTIONS,
    {
      flags: "--statistics <files>",
      description: "files of dtm statistics instead of visits, with commas, or a folder of them",
    },
    {
      flags: "--by-file",
      description:
        "with --statistics: add sums file by file, which gives the bytes of dtm federate of a site for each, and of dtm shards",
    },
    {
      flags: "--rounds <folder>",
      description:
        "with --by-file: have another program, such as Spark, answer the passes of the map over individuals, by files in this new folder",
    },
    {
      group: "Model",
      flags: "--learn",
      description: "also learn the noise, variance and length-scale of the published map",
    },
    { flags: "-o, --out <folder>", description: "folder for results", default: "run" },
    { flags: "--no-visits", description: "keep no copy of the visits in the results" },
    { flags: "--strict", description: "exit code 5 if the fit did not converge" },
    { flags: "--dry-run", description: "read and check the visits, print the plan, write nothing" },
    { flags: "--resume <folder>", description: "resume an interrupted fit" },
    {
      flags: "--checkpoint <seconds>",
      description: "how often the state of a map under way is kept, to be resumed from",
      default: "30",
    },
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm fit visits.csv --id patient_id --time years --value fvc -o run/",
    "dtm fit visits.csv.gz --value bili --transform log --mean spline -o pbc/",
    "dtm fit visits.csv --markers bili:log,albumin,protime:log -o three/",
    "dtm fit study.xlsx --sheet Visits --value fvc -o run/",
    "dtm fit --sql \"select id, time, value from 'visits/*.parquet'\" -o run/",
    "dtm fit --omop postgres://me@localhost/cdm --measurement 3004410 --outcome death -o run/",
    "dtm fit visits.csv --value fvc --dry-run",
    "dtm fit visits.csv --value fvc --origin column:onset --subjects subjects.csv -o run/",
    "dtm fit wide.csv --time-unit months -o run/ --wide",
    "dtm fit --fhir export/ --code 2160-0 -o creatinine/",
    "dtm fit --resume run/",
    "dtm fit --statistics statistics.parquet -o run/",
  ],
  writes: (_, options) =>
    options.dryRun === true ? undefined : (textOption(options, "resume") ?? textOption(options, "out") ?? "run"),
  run: async ([first, second], given, context) => {
    const { visits: table, options } =
      first === undefined ? { visits: undefined, options: given } : await tellApart(first, second, given, context);
    const resumed = textOption(options, "resume");
    if (resumed !== undefined) return resume(resumed, table, options, context);
    const statistics = textOption(options, "statistics");
    if (statistics !== undefined) return fitStatistics(statistics, table, choiceOf(options), options, context);
    // A table behind --wide was taken for its patterns: that is said first.
    formOf(options);
    const path = visitsPath(table, options);
    const folder = textOption(options, "out") ?? "run";
    const asked = choiceOf(options);
    const outcomes = options.outcome === undefined ? [] : [OMOP_SUBJECTS_FILE];
    if (outcomes.length > 0 && path !== FROM_OMOP)
      throw new UsageError("--outcome: expected with --omop. Leave it out.");
    const names = [...outputNames(options.visits !== false, covariateChoices(options) !== undefined), ...outcomes];
    checkOutputs(folder, names, options.force === true);
    checkUnfinished(folder, options.force === true);
    const read = await readDescribed(path, asked, options, context);
    const model = isPublished(asked) ? "dtm-paper" : asked.kind;
    const choice = { ...asked, noise: asked.noise ?? usualNoise(model, read.cohort, asked.residual) };
    if (options.dryRun === true) return planOf(read, choice, folder, names);
    const subjects = outcomes.length === 0 ? undefined : await omopSubjects(options);
    const also =
      subjects === undefined
        ? []
        : [
            {
              name: OMOP_SUBJECTS_FILE,
              text: csvPieces(subjects.columns, subjects.rows, { exact: true }),
              private: true,
            },
          ];
    const copy = options.visits === false ? undefined : () => visitsCsv(read.cohort);
    const checkpoints = openCheckpoints(folder, { visits: copy });
    const about = { folder, source: nameOf(path), read, choice, options, context, checkpoints, also };
    return whileListening(about, (work, keep) => fitAny(read, choice, context, work.signals, work.shards, keep));
  },
};

/** Refuses to begin anew where an interrupted fit waits to be resumed. */
function checkUnfinished(folder: string, force: boolean): void {
  if (force || !hasCheckpoint(folder)) return;
  throw new UsageError(
    `${folder} holds an unfinished fit. Finish it with dtm fit --resume ${folder}, name another folder, or use --force to begin anew.`,
  );
}

/** The visits, with covariates of individuals where they are asked for. */
async function readDescribed(path: string, choice: AskedFit, options: Options, context: Context): Promise<ReadCohort> {
  const { subjects, ...read } = await readVisits(path, options, context);
  const { kind, mapDimension } = choice;
  if (covariateChoices(options) !== undefined && (kind !== "dtm" || isPublished(choice))) {
    throw new UsageError(
      `--covariates: expected with --model dtm of one or two dimensions, received ${askedWords(choice)}.`,
    );
  }
  const covariates = await readCovariates(path, read.cohort, options, context, { mapDimension }, subjects);
  return covariates === undefined ? read : { ...read, cohort: withCovariates(read.cohort, covariates) };
}

/** Fits and finishes in the run's folder; a signal keeps what is there. */
async function whileListening(
  about: Omit<Work, "signals" | "shards" | "keeper">,
  fitting: (work: Work, keep: Keep) => Promise<FinishedFit | StoppedFit>,
): Promise<CommandResult> {
  const { read, options, context } = about;
  const keeper = openKeeper(about);
  const signals = listenWhileFitting(context);
  try {
    return await withShards(jobsOf(options), numIndividuals(read.cohort), async (shards) => {
      const work = { ...about, signals, shards, keeper };
      const fitted = await fitting(work, keeper.offer);
      if ("snapshot" in fitted) throw keeper.stopped(fitted.signal, fitted.snapshot);
      return await finishRun(fitted, work);
    });
  } finally {
    signals.release();
  }
}

/** What a fit is asked for: the noise is chosen by the cohort where it is left out. */
type AskedFit = Omit<FitChoice, "noise"> & Partial<Pick<FitChoice, "noise">>;

export function choiceOf(options: Options): AskedFit {
  const schedule = textOption(options, "schedule") as FitChoice["schedule"];
  const kind = (textOption(options, "model") ?? "dtm") as Kind;
  if (schedule === "paper" && kind !== "dtm-paper") {
    throw new UsageError(`--schedule paper: expected with --model dtm-paper, received with --model ${kind}.`);
  }
  if (schedule !== undefined && (kind === "lmm" || kind === "fpca")) {
    throw new UsageError(`--schedule ${schedule}: expected with a map, received with --model ${kind}. Leave it out.`);
  }
  const published = isPublished({ kind, mapDimension: dimensionOf(options) });
  // Three dimensions are those of the published map, whatever is asked for.
  const [which, instead] =
    kind === "dtm"
      ? ["the map of --dim 3, the published one,", "use --dim 1 or 2"]
      : ["the published map", "use --model dtm"];
  if (options.priors === "weak" && published) {
    throw new UsageError(`--priors weak: ${which} has none. Leave it out, or ${instead}.`);
  }
  if (options.markers !== undefined && published) {
    throw new UsageError(`--markers: ${which} has one marker. Use --value, or --model dtm with --dim 1 or 2.`);
  }
  const noise = textOption(options, "noise") as NoiseChoice | undefined;
  if (noise !== undefined && noise !== "white" && published) {
    throw new UsageError(`--noise ${noise}: ${which} has white noise. Leave it out, or ${instead}.`);
  }
  for (const name of ["restarts", "residual"]) {
    if (options[name] !== undefined && (published || kind !== "dtm")) {
      throw new UsageError(`--${name}: expected with --model dtm and at most two dimensions. Leave it out.`);
    }
  }
  if (options.tolerance !== undefined && kind !== "dtm" && kind !== "dtm-paper") {
    throw new UsageError(`--tolerance: expected with a map, received with --model ${kind}. Leave it out.`);
  }
  const basis = basisOf(options);
  return {
    kind,
    mapDimension: dimensionOf(options),
    mean: meanOf(options),
    seed: seedOf(options),
    ...(noise === undefined ? {} : { noise }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(options.learn === true ? { learn: true } : {}),
    ...given(options, "tolerance", positiveNumber),
    ...given(options, "restarts", (name, text) => wholeNumber(name, text, 0)),
    ...given(options, "residual", (_, text) => text as FitChoice["residual"]),
    ...given(options, "priors", (_, text) => text as FitChoice["priors"]),
    ...(Object.keys(basis).length > 0 ? { basis } : {}),
  };
}

/** Options that a resumed fit takes; all others were settled when it began. Those of the form of a table go with one. */
const RESUMED = ["resume", "checkpoint", "jobs", "visits", "strict", "json", "config", "progress", "quiet", "debug"];
const TABLE_FORM = [
  ...["delimiter", "decimal", "skipLine", "encoding", "thousands", "wide", "subjects"],
  ...["dateOrder", "yearPivot", "partialDates"],
];

/** Refuses flags that a resumed fit would pass over, and says which settings of a file or the environment it does. */
function checkResumed(hasTable: boolean, { originOf, talk }: Context): void {
  const taken = hasTable ? [...RESUMED, ...TABLE_FORM] : RESUMED;
  const unused = (origin: "flag" | "setting") =>
    [...fit.options, ...COMMON_OPTIONS]
      .filter((option) => !taken.includes(longName(option)) && originOf?.(longName(option)) === origin)
      .map(flagOf)
      .join(", ");
  const [flags, settings] = [unused("flag"), unused("setting")];
  if (flags !== "") {
    throw new UsageError(
      `--resume: expected no other choices than those the fit began with, received ${flags}. Leave them out, or start a new fit.`,
    );
  }
  if (settings !== "") talk.say(`Not used by --resume, which keeps what the fit began with: ${settings}.`);
}

/** The visits of an interrupted fit from the table that they were read from. */
async function readAgain(
  path: string,
  { markers, columns, reading }: Checkpoint,
  options: Options,
  context: Context,
): Promise<ReadCohort> {
  const { markerColumns, conversions = [] } = reading;
  if (conversions.length > 0) {
    throw new UsageError(
      "--resume: units were converted as the visits were read. Start the fit again, and keep its copy of them.",
    );
  }
  const which =
    markers.length === 1
      ? { columns, marker: markers[0]! }
      : {
          columns: { ...sharedColumns(columns), ...(columns.marker && { value: columns.value }) },
          markers: markers.map((marker, k) => ({
            ...marker,
            column: markerColumns[k]?.level ?? markerColumns[k]?.value ?? marker.name,
          })),
          ...(columns.marker && { markerColumn: columns.marker }),
        };
  return readCohortFile(readBlocks(path), {
    ...which,
    ...tableForm(options),
    ...(await originTable(options, context, columns.origin)),
    file: nameOf(path),
    onBad: reading.numRowsLeftOut > 0 ? "leave-out" : "refuse",
    keepRepeats: !reading.leftOut.some(({ code }) => code === "duplicate-rows"),
  });
}

async function resume(
  folder: string,
  path: string | undefined,
  options: Options,
  context: Context,
): Promise<CommandResult> {
  checkResumed(path !== undefined, context);
  const checkpoint = readCheckpoint(folder, context.talk.warn);
  const { kind, mapDimension, mean, seed, markers, source, snapshot, model } = checkpoint;
  const copy = visitsOfUnfinished(folder);
  if (path === undefined && !fileExists(copy)) {
    throw new UsageError(`${folder} keeps no copy of the visits. Name them: dtm fit VISITS --resume ${folder}.`);
  }
  const { cohort } = await (path === undefined
    ? readVisitsCopy(copy, markers)
    : readAgain(path, checkpoint, options, context));
  const { covariates } = checkpoint;
  const described = covariates === null ? cohort : { ...cohort, covariates };
  const read = { ...checkpoint.reading, cohort: described, columns: checkpoint.columns };
  const fitted = model === null ? undefined : loadModel(model);
  const { noise } = (snapshot ?? fitted!).markers[0]!;
  const choice = { kind, mapDimension, mean, seed, noise: noise.kind };
  const kept = { ...options, visits: options.visits !== false && fileExists(copy) };
  const checkpoints = openCheckpoints(folder, checkpoint);
  // A study whose fit is resumed by hand goes on from there.
  const also = context.beside === undefined ? begunFiles(folder) : [];
  const about = { folder, source, read, choice, options: kept, context, checkpoints, also };
  return whileListening(about, async ({ signals, shards }, keep) =>
    snapshot === null ? { model: fitted! } : await fitMap(read, choice, context, signals, shards, keep, snapshot),
  );
}
