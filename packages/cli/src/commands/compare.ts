/** dtm compare VISITS: models by cross-validation over individuals, the paper's Table 1. */
import type { Cohort, Comparison } from "@trajectory-maps/core";
import { withCovariates } from "@trajectory-maps/core/ingest";
import { NOISE_CHOICES, type NoiseChoice, usualNoise } from "@trajectory-maps/core/models";
import {
  COMPARED_MODELS,
  type ComparedModel,
  DEFAULT_MODELS,
  defaultModels,
  type SeveralComparison,
  type SeveralOptions,
  verdictOnMap,
  WITH_COVARIATES,
} from "@trajectory-maps/core/study";
import { UsageError } from "../exit-codes.ts";
import { toJson } from "../io/json.ts";
import { isFolder } from "../io/read.ts";
import { openRun } from "../io/run-folder.ts";
import { checkOutputs } from "../io/write.ts";
import { comparisonPage } from "../print/results.ts";
import { severalPage } from "../print/sharing.ts";
import { verdictLines } from "../print/summary.ts";
import { withPool } from "../threads/pool.ts";
import {
  type Command,
  type Context,
  FORCE_OPTION,
  JOBS_OPTION,
  listOption,
  type Options,
  textOption,
} from "./command.ts";
import { compareMarkersOn } from "./compare-markers.ts";
import { COVARIATE_OPTIONS, readCovariates } from "./covariates.ts";
import { FHIR_OPTIONS } from "./fhir.ts";
import { runWritten } from "./groups.ts";
import { dimensionOf, jobsOf, meanOf, seedOf, wholeNumber } from "./numbers.ts";
import { COMPARE_FILE, runVerdict, writeResults } from "./run-record.ts";
import { compareOn } from "./study-parts.ts";
import { tellApart } from "./tables-apart.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readVisits, readVisitsFor, VISITS_ARGUMENT } from "./visits.ts";
import { QUERY_OPTIONS, visitsPath } from "./visits-source.ts";

export const compare: Command = {
  name: "compare",
  description: "Compare models on individuals they have not seen: log-likelihood, forecasts, coverage.",
  arguments: [
    { ...VISITS_ARGUMENT, optional: true, description: `${VISITS_ARGUMENT.description}; or the folder of a run` },
  ],
  options: [
    ...COLUMN_OPTIONS,
    ...QUERY_OPTIONS,
    ...MARKER_OPTIONS,
    ...FHIR_OPTIONS,
    ...COVARIATE_OPTIONS,
    {
      flags: "--models <list>",
      description: `with commas, among ${COMPARED_MODELS.join(", ")} (default: ${DEFAULT_MODELS.join(",")}, and with covariates ${WITH_COVARIATES.join(",")} beside them)`,
    },
    { flags: "--folds <number>", description: "parts individuals are split into", default: "10" },
    { flags: "--repeats <number>", description: "cross-validations with other splits", default: "1" },
    { flags: "--restarts <number>", description: "further starts of the map in each fold", default: "0" },
    {
      flags: "--mean <kind>",
      description: "population mean of fpca and dtm",
      default: "scalar",
      choices: ["scalar", "spline"],
    },
    { flags: "--dim <number>", description: "dimensions of the map, rank of fpca", default: "2" },
    {
      flags: "--noise <kind>",
      description: "noise of all but the models as published, as in fit (default: the run's, or as in fit --model dtm)",
      choices: NOISE_CHOICES,
    },
    { flags: "-o, --out <folder>", description: `run to write ${COMPARE_FILE} into` },
    { flags: "--visits <file>", description: "the visits, where the run keeps no copy" },
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm compare visits.csv --value bili --transform log --folds 10",
    "dtm compare run/ --models constant,line,lmm,fpca,dtm,dtm-paper,classes --json",
  ],
  writes: (args, options) => textOption(options, "out") ?? (options.fhir === undefined ? runWritten(args) : undefined),
  run: async ([table], given, context) => {
    const { visits: path, options } = await tellApart(visitsPath(table, given), undefined, given, context);
    const isRun = options.fhir === undefined && path !== "-" && isFolder(path);
    const folder = textOption(options, "out") ?? (isRun ? path : undefined);
    if (folder !== undefined) checkOutputs(folder, [COMPARE_FILE], options.force === true);
    const visits = textOption(options, "visits");
    const other =
      visits === undefined
        ? undefined
        : (model: Parameters<typeof readVisitsFor>[0]) => readVisitsFor(model, visits, options, context);
    if (isRun && options.covariates !== undefined) {
      throw new UsageError(
        "--covariates: expected with a table of visits; covariates of a run are those of its model.",
      );
    }
    const run = isRun ? await openRun(path, other) : undefined;
    const cohort = run?.read.cohort ?? (await readWithCovariates(path, options, context));
    const choice = compareChoice(options, cohort);
    const ofRun = run?.model.markers[0]?.noise.kind ?? usualNoise("dtm", cohort);
    const noise = (textOption(options, "noise") ?? ofRun) as NoiseChoice;
    const like = { ...choice, noise };
    const several = cohort.markers.length > 1;
    if (several) checkSeveral(options);
    const found = await withPool<Comparison | SeveralComparison>(jobsOf(options), (pool) =>
      several ? compareMarkersOn(cohort, severalOptions(like), pool, context) : compareOn(cohort, like, pool, context),
    );
    const verdict = run === undefined ? undefined : runVerdict(path, run.model, { comparison: found });
    const comparison = verdict === undefined ? found : { ...found, verdict: verdictOnMap(found.verdict, verdict) };
    const json = { ...comparison, noise, seed: choice.seed };
    const changes = verdict === undefined ? {} : { map: verdict };
    const files = [{ name: COMPARE_FILE, text: toJson(json) }];
    const written = folder === undefined ? [] : writeResults(folder, "compare", files, context, changes);
    const notes = written.map((file) => `\n\nWritten   ${file}`).join("");
    const lights = verdict === undefined ? "" : `\n\n${verdictLines(verdict)}`;
    const page = "markers" in comparison ? severalPage(comparison) : comparisonPage(comparison);
    return { text: `${page}${lights}${notes}`, json };
  },
};

/** Several markers have their own list of models. */
function checkSeveral(options: Options): void {
  if (textOption(options, "models") !== undefined) {
    throw new UsageError(
      "--models: with several markers one map, a map for each, the mixed model of all and one for each are compared. Leave it out.",
    );
  }
  if (dimensionOf(options) === 3) throw new UsageError("--dim: expected 1 or 2 with several markers, received 3.");
}

/** Visits, with the covariates that are asked for. */
async function readWithCovariates(path: string, options: Options, context: Context): Promise<Cohort> {
  const { cohort, subjects } = await readVisits(path, options, context);
  const covariates = await readCovariates(path, cohort, options, context, {}, subjects);
  return covariates === undefined ? cohort : withCovariates(cohort, covariates);
}

/** What a comparison of several markers takes of the options. */
export function severalOptions({ models: _, mapDimension, ...others }: CompareLike): SeveralChoice {
  return { ...others, mapDimension: mapDimension as 1 | 2 };
}

type CompareLike = ReturnType<typeof compareChoice> & { readonly noise: NoiseChoice };
type SeveralChoice = SeveralOptions & { readonly folds: number; readonly repeats: number };

/** Options of a comparison, checked. */
export function compareChoice(options: Options, cohort: Cohort) {
  const names = listOption(options, "models") ?? defaultModels(cohort);
  const unknown = names.filter((name) => !(COMPARED_MODELS as readonly string[]).includes(name));
  if (unknown.length > 0 || names.length === 0 || new Set(names).size !== names.length) {
    const received = unknown.length > 0 ? unknown.join(", ") : `"${textOption(options, "models") ?? ""}"`;
    throw new UsageError(
      `--models: expected distinct names among ${COMPARED_MODELS.join(", ")}, received ${received}.`,
    );
  }
  const odd = names.find((name) => (WITH_COVARIATES as readonly string[]).includes(name));
  if (odd !== undefined && cohort.covariates === undefined) {
    throw new UsageError(`--models: expected a run with covariates, or --covariates, for ${odd}. Leave it out.`);
  }
  return {
    models: names as ComparedModel[],
    folds: wholeNumber("--folds", textOption(options, "folds") ?? "10", 2),
    repeats: wholeNumber("--repeats", textOption(options, "repeats") ?? "1", 1),
    restarts: wholeNumber("--restarts", textOption(options, "restarts") ?? "0", 0),
    mean: meanOf(options),
    mapDimension: dimensionOf(options),
    seed: seedOf(options),
  };
}
