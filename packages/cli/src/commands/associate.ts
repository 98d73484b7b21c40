/** dtm associate RUN SUBJECTS: do outcomes differ over the map? The paper's Table 2, tested on whole posteriors. */
import { createHash } from "node:crypto";
import { type Association, numIndividuals } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";
import { checkAdjustable, type DifferenceMap } from "@trajectory-maps/core/study";
import { outcomeSentence, timeWord } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { toJson } from "../io/json.ts";
import { openRun } from "../io/run-folder.ts";
import { checkOutputs } from "../io/write.ts";
import { dropoutPage } from "../print/dropout.ts";
import { associationPage, survivalPage } from "../print/results.ts";
import { riskPage } from "../print/risk.ts";
import { line } from "../print/words.ts";
import { withPool } from "../threads/pool.ts";
import { withShardsOf } from "../threads/shards.ts";
import { type Command, FORCE_OPTION, inGroup, JOBS_OPTION, listOption, type Options, textOption } from "./command.ts";
import { ADJUST_OPTIONS, readAdjustment } from "./covariates.ts";
import { GROUP_OPTIONS, otherVisits, RUN_ARGUMENT, runWritten, VISITS_OPTION } from "./groups.ts";
import { jobsOf, realNumber, seedOf, wholeNumber } from "./numbers.ts";
import { unquote } from "./quoted.ts";
import { groupsOfRun, storedGroups } from "./run-groups.ts";
import { ASSOCIATE_FILE, runVerdict, writeResults } from "./run-record.ts";
import { associationOf, outcomesOf, placeRun } from "./study-parts.ts";
import { readSubjectsTable } from "./subjects.ts";
import { readEvents, type StudiedSurvival, survivalOf } from "./survival-part.ts";
import { COLUMN_OPTIONS } from "./visits.ts";

/** Options about outcomes, shared with the report. */
export const OUTCOME_OPTIONS = inGroup("Outcomes", [
  { flags: "--outcomes <list>", description: "with commas: name, name=level or name>=x" },
  { flags: "--event <name:column>", description: "time-to-event outcome and the column with its follow-up time" },
  {
    flags: "--landmark <time>",
    description: "only visits up to here place the individual (default: half have two visits)",
  },
  {
    flags: "--competing <list>",
    description: "events that end follow-up before the event, name:column with commas (transplant:followup_years)",
  },
  { flags: "--risk-times <list>", description: "times since the landmark at which risks are told, with commas" },
  {
    flags: "--deltas <list>",
    description: "shifts of the marker after the last visit of those with an event, per unit of time, with commas",
  },
  { flags: "--draws <number>", description: "random draws behind each p-value (default: 9999)" },
  ...ADJUST_OPTIONS,
]);

export const associate: Command = {
  name: "associate",
  description: "Test whether outcomes differ over the map, however visits differ; writes associate.json.",
  arguments: [RUN_ARGUMENT, { name: "subjects", description: "CSV with one row per individual" }],
  options: [
    ...OUTCOME_OPTIONS,
    ...COLUMN_OPTIONS.filter(({ flags }) => /--(id|delimiter|decimal|encoding) /.test(flags)),
    ...GROUP_OPTIONS.filter(({ flags }) => flags.startsWith("--groups")),
    VISITS_OPTION,
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm associate run/ subjects.csv --outcomes death,ascites_ever,stage_baseline>=3",
    "dtm associate run/ subjects.csv --outcomes death --event death:followup_years --landmark 2",
    "dtm associate run/ subjects.csv --event death:followup_years --competing transplant:followup_years",
    "dtm associate run/ subjects.csv --outcomes death --adjust age,sex",
  ],
  writes: runWritten,
  run: async ([folder = "", path = "-"], options, context) => {
    const names = listOption(options, "outcomes")?.map(unquote) ?? [];
    const event = textOption(options, "event");
    if (names.length === 0 && event === undefined) {
      throw new UsageError("Name the outcomes: --outcomes death,ascites_ever (or --event death:followup_years).");
    }
    const choice = associationChoice(options);
    const opened = await openRun(folder, otherVisits(options, context));
    checkOutputs(folder, [ASSOCIATE_FILE], options.force === true);
    const table = await readSubjectsTable(path, options, context);
    const outcomes = outcomesOf(names, table, opened.read.cohort, context);
    const adjustment = readAdjustment(table, opened.read.cohort, options, context);
    checkAdjustable(outcomes, adjustment);
    const { cohort } = opened.read;
    const events =
      event === undefined ? undefined : readEvents(cohort, table, { event, ...eventChoice(options) }, context);
    const stored = storedGroups(folder, options, context);
    const { run, association, survival } = await withPool(jobsOf(options), async (pool) => {
      const size = numIndividuals(cohort);
      const run = await withShardsOf(pool, size, async (shards) => placeRun(opened, context, shards));
      const found = await associationOf(run, outcomes, { ...choice, adjustment }, pool, context);
      if (events === undefined) return { run, association: found, survival: null };
      const { groups } = await groupsOfRun(run, stored, { ...options, stability: "0" }, pool, context);
      return {
        run,
        association: found,
        survival: await survivalOf(run, groups, events, { ...choice, adjustment }, pool),
      };
    });
    const { timeUnit } = run.model.markers[0]!.marker;
    const json = associationJson(association, outcomes, survival, timeUnit);
    const files = [{ name: ASSOCIATE_FILE, text: toJson(json), private: true }];
    const [written] = writeResults(folder, "associate", files, context);
    const { state, headline } = runVerdict(folder, run.model, {});
    const pages = [
      ...(state === "poor" || state === "caution" ? [line("The map", headline)] : []),
      ...(outcomes.length > 0 ? [associationPage(association, timeUnit, outcomes)] : []),
      ...(survival === null
        ? []
        : [survivalPage(survival, timeUnit), riskPage(survival, timeUnit), dropoutPage(survival.dropout)]),
      `Written   ${written}`,
    ];
    return { text: pages.join("\n\n"), json };
  },
};

export function associationChoice(options: Options) {
  return {
    draws: wholeNumber("--draws", textOption(options, "draws") ?? "9999", 99),
    seed: seedOf(options),
  };
}

/** What is said of the event besides its name. */
export function eventChoice(options: Options) {
  const landmark = textOption(options, "landmark");
  const numbers = (flag: string, key: string) => listOption(options, key)?.map((text) => realNumber(flag, text));
  const riskTimes = numbers("--risk-times", "riskTimes");
  const deltas = numbers("--deltas", "deltas");
  return {
    competing: listOption(options, "competing") ?? [],
    ...(landmark === undefined ? {} : { landmark: realNumber("--landmark", landmark) }),
    ...(riskTimes === undefined ? {} : { riskTimes }),
    ...(deltas === undefined ? {} : { deltas }),
  };
}

/** associate.json: the association with the meaning of each outcome, and survival if asked for. */
export function associationJson(
  association: Association,
  outcomes: readonly Outcome[],
  survival: StudiedSurvival | null,
  timeUnit: string,
) {
  const words = { timeWord: timeWord(timeUnit) };
  const meaning = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  return {
    ...association,
    outcomes: association.outcomes.map((found) => ({
      ...found,
      data: labelsDigest(meaning.get(found.outcome)),
      caseMeans: meaning.get(found.outcome)?.caseMeans ?? "",
      controlMeans: meaning.get(found.outcome)?.controlMeans ?? "",
      sentence: outcomeSentence(found, words),
      differenceMap: found.differenceMap && rounded(found.differenceMap),
    })),
    ...(survival === null ? {} : { survival }),
  };
}

/** SHA-256 of who has an outcome: a report from another table of individuals must not tell this result. */
export function labelsDigest(outcome: Outcome | undefined): string {
  return createHash("sha256")
    .update(outcome?.labels ?? new Uint8Array(0))
    .digest("hex");
}

/** A map with as many digits as it has meaning: four decimals of a share, tenths of an individual. */
function rounded(map: DifferenceMap) {
  const to = (values: Float64Array, digits: number) => values.map((v) => Math.round(v * 10 ** digits) / 10 ** digits);
  return {
    ...map,
    difference: to(map.difference, 6),
    halfWidth: to(map.halfWidth, 6),
    share: to(map.share, 4),
    individuals: to(map.individuals, 1),
  };
}
