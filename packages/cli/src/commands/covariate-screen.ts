/** dtm covariates RUN: do covariates move places? Score tests from the map as it is, without a refit. */
import { DtmError } from "@trajectory-maps/core";
import { codingOf } from "@trajectory-maps/core/models";
import { type CovariateTest, placeShifts, screenCovariates } from "@trajectory-maps/core/study";
import { UsageError } from "../exit-codes.ts";
import { openRun } from "../io/run-folder.ts";
import { covariatesPage } from "../print/covariates.ts";
import { withPool } from "../threads/pool.ts";
import { withShardsOf } from "../threads/shards.ts";
import { type Command, JOBS_OPTION, textOption } from "./command.ts";
import { COVARIATE_KINDS, covariateChoices, MISSING_OPTION, REFERENCE_OPTION, SUBJECTS_OPTION } from "./covariates.ts";
import { otherVisits, RUN_ARGUMENT, VISITS_OPTION } from "./groups.ts";
import { jobsOf, seedOf, wholeNumber } from "./numbers.ts";
import { readSubjectsTable } from "./subjects.ts";
import { COLUMN_OPTIONS } from "./visits.ts";

export const covariatesCommand: Command = {
  name: "covariates",
  description: "Test whether covariates move places on the map, one by one and without a refit.",
  arguments: [RUN_ARGUMENT],
  options: [
    { ...SUBJECTS_OPTION, description: "table of individuals with their covariates, a row each" },
    {
      flags: "--covariates <list>",
      description: "columns with commas; each may say :number or :category, as in age,stage:category",
    },
    REFERENCE_OPTION,
    MISSING_OPTION,
    { flags: "--draws <number>", description: "random draws behind each p-value", default: "9999" },
    ...COLUMN_OPTIONS.filter(({ flags }) => /--(id|delimiter|decimal|encoding) /.test(flags)),
    VISITS_OPTION,
    JOBS_OPTION,
  ],
  examples: ["dtm covariates run/ --subjects subjects.csv --covariates age,sex,treatment"],
  run: async ([folder = ""], options, context) => {
    const path = textOption(options, "subjects");
    const choices = covariateChoices(options, COVARIATE_KINDS);
    if (path === undefined || choices === undefined) {
      throw new UsageError(
        "Name a table of individuals and its columns: --subjects subjects.csv --covariates age,sex.",
      );
    }
    const draws = wholeNumber("--draws", textOption(options, "draws") ?? "9999", 99);
    const seed = seedOf(options);
    const { model, read } = await openRun(folder, otherVisits(options, context));
    const inModel = codingOf(model)?.covariates ?? [];
    const known = choices.covariates.find(({ name }) => inModel.some((own) => own.name === name));
    if (known !== undefined) {
      throw new UsageError(
        `--covariates: expected covariates that are not in the model, received "${known.name}", which shifts places there or moves the mean. dtm fit tells its effect; a test is of a map without it.`,
      );
    }
    const table = await readSubjectsTable(path, options, context);
    const places = await withPool(jobsOf(options), (pool) =>
      withShardsOf(pool, read.cohort.ids.length, async (shards) =>
        placeShifts(model, read.cohort, shards === undefined ? {} : { shards }),
      ),
    );
    const covariates = screenCovariates(places, table, choices, { draws, seed });
    checkTested(covariates);
    return { text: covariatesPage(covariates), json: { draws, seed, covariates } };
  },
};

/** A screen in which nothing could be tested is no answer. */
function checkTested(tests: readonly CovariateTest[]): void {
  if (tests.some(({ untested }) => untested === null)) return;
  const reasons = tests.map(({ covariate, untested }) => `${covariate}: ${untested}`).join(" ");
  throw new DtmError("nothing-to-test", `None of the covariates can be tested. ${reasons}`);
}
