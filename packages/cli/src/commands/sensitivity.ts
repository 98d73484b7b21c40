/** dtm sensitivity RUN: the model fitted again with one choice changed at a time, and what changes. */
import type { Association } from "@trajectory-maps/core";
import type { StudyTask } from "@trajectory-maps/core/hosts";
import {
  type Adjustment,
  type GroupMethod,
  type SensitivityInput,
  studySensitivity,
  VARIANT_FAMILIES,
  type VariantFamily,
} from "@trajectory-maps/core/study";
import { UsageError } from "../exit-codes.ts";
import { toJson } from "../io/json.ts";
import { readResult } from "../io/results.ts";
import { openRun } from "../io/run-folder.ts";
import { readRunGroups } from "../io/run-groups.ts";
import { checkOutputs } from "../io/write.ts";
import { sensitivityPage } from "../print/sensitivity.ts";
import { type Pool, withPool } from "../threads/pool.ts";
import {
  type Command,
  type Context,
  FORCE_OPTION,
  JOBS_OPTION,
  listOption,
  type Options,
  textOption,
} from "./command.ts";
import { ADJUST_OPTIONS, readAdjustment } from "./covariates.ts";
import { otherVisits, RUN_ARGUMENT, runWritten, VISITS_OPTION } from "./groups.ts";
import { jobsOf, positiveNumber, seedOf, wholeNumber } from "./numbers.ts";
import { ASSOCIATE_FILE, GROUPS_FILE, SENSITIVITY_FILE, writeResults } from "./run-record.ts";
import { drawsOn, groupsOf, outcomesOf, type PlacedRun, placeRun } from "./study-parts.ts";
import { readSubjectsTable } from "./subjects.ts";
import { COLUMN_OPTIONS } from "./visits.ts";

export const sensitivity: Command = {
  name: "sensitivity",
  description:
    "Refit the model with one choice changed at a time: do places, groups, scores and outcomes hold? Writes sensitivity.json.",
  arguments: [RUN_ARGUMENT],
  options: [
    { flags: "--only <list>", description: `what to change, with commas, among ${VARIANT_FAMILIES.join(", ")}` },
    {
      flags: "--folds <number>",
      description: "parts individuals are split into for held-out scores; 0 for none",
      default: "5",
    },
    {
      flags: "--tail <share>",
      description: "visits after this quantile of all times are dropped, or shifted",
      default: "0.9",
    },
    {
      flags: "--shift <number>",
      description: "how far these are shifted, in noise standard deviations",
      default: "0.5",
    },
    {
      flags: "--subjects <file>",
      description: "table of individuals, for the outcomes that dtm associate has tested",
    },
    ...ADJUST_OPTIONS,
    ...COLUMN_OPTIONS.filter(({ flags }) => /--(id|delimiter|decimal|encoding) /.test(flags)),
    VISITS_OPTION,
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm sensitivity run/",
    "dtm sensitivity run/ --only dimension,basis,noise --folds 10",
    "dtm sensitivity run/ --subjects subjects.csv",
  ],
  writes: runWritten,
  run: async ([folder = ""], options, context) => {
    const choice = sensitivityChoice(options);
    const opened = await openRun(folder, otherVisits(options, context));
    checkOutputs(folder, [SENSITIVITY_FILE], options.force === true);
    const tested = await testedOutcomes(folder, opened.read.cohort, options, context);
    const run = placeRun({ ...opened, baselines: [] }, context);
    const json = await withPool(jobsOf(options), async (pool) => {
      const groups = await groupsIn(folder, run, choice.seed, pool, context);
      return context.talk.during("Refits with one choice changed", (onProgress) =>
        studySensitivity(
          { ...run, groups, ...tested?.input },
          {
            ...choice,
            ...tested?.draws,
            ...drawsOn(pool),
            jobs: pool.jobs,
            run: (task: StudyTask) => pool.run(task),
            onProgress: (done, of, stage) =>
              onProgress({ stage, iteration: done, maxIterations: of, value: Number.NaN }),
          },
        ),
      );
    });
    const files = [{ name: SENSITIVITY_FILE, text: toJson(json) }];
    const [written] = writeResults(folder, "sensitivity", files, context);
    return { text: `${sensitivityPage(json)}\n\nWritten   ${written}`, json };
  },
};

function sensitivityChoice(options: Options) {
  const families = listOption(options, "only");
  const odd = families?.find((name) => !(VARIANT_FAMILIES as readonly string[]).includes(name));
  if (odd !== undefined || families?.length === 0) {
    throw new UsageError(
      `--only: expected names among ${VARIANT_FAMILIES.join(", ")}, received "${odd ?? textOption(options, "only") ?? ""}".`,
    );
  }
  const folds = wholeNumber("--folds", textOption(options, "folds") ?? "5", 0);
  if (folds === 1) throw new UsageError("--folds: expected 0 for no scores, or 2 or more, received 1.");
  const tail = positiveNumber("--tail", textOption(options, "tail") ?? "0.9");
  if (tail >= 1) throw new UsageError(`--tail: expected a share between 0 and 1, received ${tail}.`);
  return {
    folds,
    tail,
    shift: positiveNumber("--shift", textOption(options, "shift") ?? "0.5"),
    seed: seedOf(options),
    ...(families === undefined ? {} : { families: families as VariantFamily[] }),
  };
}

/** The groups that dtm groups wrote into the run, or those of the rule. */
async function groupsIn(
  folder: string,
  run: PlacedRun,
  seed: number,
  pool: Pool,
  context: Context,
): Promise<SensitivityInput["groups"]> {
  const method = readResult<{ readonly method: GroupMethod }>(folder, GROUPS_FILE)?.method;
  const found = await readRunGroups(folder, run.cohort.ids);
  if (found !== undefined && method !== undefined) {
    return { labels: found.labels, numGroups: found.groups.length, method };
  }
  context.talk.say("The run has no groups yet; they are made by the rule of dtm groups.");
  const { groups } = await groupsOf(run, { numGroups: "auto", resamples: 0, seed }, pool, context);
  return { labels: groups.labels, numGroups: groups.groups.length, method: groups.method };
}

/** The outcomes of the run's association with the draws and the seed of their tests; undefined without a table of individuals. */
async function testedOutcomes(folder: string, cohort: PlacedRun["cohort"], options: Options, context: Context) {
  const stored = readResult<Pick<Association, "outcomes" | "adjustedFor" | "draws" | "seed">>(folder, ASSOCIATE_FILE);
  const path = textOption(options, "subjects");
  if (path === undefined) {
    if (options.adjust !== undefined) {
      throw new UsageError("--adjust: expected a table of individuals: add --subjects subjects.csv.");
    }
    if (stored !== undefined) context.talk.say("Outcomes are tested again with --subjects FILE.");
    return undefined;
  }
  if (stored === undefined || stored.outcomes.length === 0) {
    throw new UsageError(
      `--subjects: expected a run whose outcomes were tested, received ${folder} without ${ASSOCIATE_FILE}. Run dtm associate first, or leave it out.`,
    );
  }
  const table = await readSubjectsTable(path, options, context);
  const adjustment = readAdjustment(table, cohort, options, context);
  checkSameAdjustment(stored.adjustedFor, adjustment);
  const names = stored.outcomes.map(({ outcome }) => outcome);
  const outcomes = outcomesOf(names, table, cohort, context).map(({ name, labels }) => ({ name, labels }));
  const { draws, seed: testSeed } = stored;
  return { input: { outcomes, ...(adjustment && { adjustment }) }, draws: { draws, testSeed } };
}

/** Refuses tests that are adjusted for other covariates than those of the run. */
function checkSameAdjustment(stored: readonly string[], adjustment: Adjustment | undefined): void {
  if (String(stored) === String(adjustment?.names ?? [])) return;
  const expected =
    stored.length === 0 ? "none, as in the run's tests" : `--adjust ${stored.join(",")}, as in the run's tests`;
  throw new UsageError(`--adjust: expected ${expected}, received ${adjustment?.names.join(",") ?? "none"}.`);
}
