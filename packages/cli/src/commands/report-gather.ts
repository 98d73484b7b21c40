/** The parts of a report: from the files of its run where they are what is asked for, computed otherwise. */
import type { Comparison } from "@trajectory-maps/core";
import { type Outcome, plainOutcomes, type SubjectsTable } from "@trajectory-maps/core/ingest";
import {
  type Adjustment,
  characteristicColumns,
  defaultModels,
  type SeveralComparison,
} from "@trajectory-maps/core/study";
import { type Study, studyCharacteristics, studyGroups } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { readResult } from "../io/results.ts";
import type { OpenRun } from "../io/run-folder.ts";
import type { Pool } from "../threads/pool.ts";
import { associationChoice, associationJson, eventChoice, labelsDigest } from "./associate.ts";
import { type Context, listOption, type Options, textOption } from "./command.ts";
import { compareChoice, severalOptions } from "./compare.ts";
import { compareMarkersOn } from "./compare-markers.ts";
import { readAdjustment } from "./covariates.ts";
import { unquote } from "./quoted.ts";
import { groupsOfRun, type StoredGroups, storedGroups } from "./run-groups.ts";
import { ASSOCIATE_FILE, COMPARE_FILE, SENSITIVITY_FILE } from "./run-record.ts";
import { associationOf, compareOn, outcomesOf, type PlacedRun } from "./study-parts.ts";
import { readSubjectsTable } from "./subjects.ts";
import { type EventData, eventData, readEvents, type StudiedEvents, survivalOf } from "./survival-part.ts";

export interface Gathered {
  readonly study: Partial<Study>;
  readonly several?: SeveralComparison;
  readonly computed: readonly string[];
  readonly reused: readonly string[];
}

type StoredComparison = (Comparison | SeveralComparison) & { readonly folds?: number };
type StudyAssociation = NonNullable<Study["association"]>;
type StudySurvival = NonNullable<Study["survival"]>;
/** As associate.json has it; `data` is not in files of earlier versions. */
type StoredAssociation = Omit<StudyAssociation, "outcomes"> & {
  readonly outcomes: readonly (StudyAssociation["outcomes"][number] & { readonly data?: string })[];
  readonly survival?: StudySurvival & { readonly data?: EventData };
};

/** What is read and what the run holds: whatever is wrong with either is told before any work is done. */
export interface Asked {
  readonly groups: StoredGroups | undefined;
  readonly comparison: StoredComparison | undefined;
  readonly association: StoredAssociation | undefined;
  readonly sensitivity: Study["sensitivity"];
  readonly table?: SubjectsTable;
  readonly outcomes: readonly Outcome[];
  /** Columns that tell an outcome, an event or follow-up: no characteristics. */
  readonly columns: readonly string[];
  readonly events?: StudiedEvents;
  readonly adjustment: Adjustment | undefined;
}

export async function readAsked(
  folder: string,
  { read: { cohort } }: OpenRun,
  options: Options,
  context: Context,
): Promise<Asked> {
  const association = readResult<StoredAssociation>(folder, ASSOCIATE_FILE);
  const stored = {
    groups: storedGroups(folder, options, context),
    comparison: readResult<StoredComparison>(folder, COMPARE_FILE),
    association,
    sensitivity: readResult<NonNullable<Study["sensitivity"]>>(folder, SENSITIVITY_FILE),
  };
  const path = textOption(options, "subjects");
  const named = listOption(options, "outcomes")?.map(unquote);
  const event = textOption(options, "event");
  if (path === undefined) {
    if (named !== undefined || event !== undefined) {
      throw new UsageError("Outcomes are read from a table of individuals: add --subjects subjects.csv.");
    }
    if (options.characteristics !== undefined) {
      throw new UsageError("--characteristics: expected a table of individuals: add --subjects subjects.csv.");
    }
    return { ...stored, outcomes: [], columns: [], adjustment: readAdjustment(undefined, cohort, options, context) };
  }
  const table = await readSubjectsTable(path, options, context);
  const names = named ?? association?.outcomes.map(({ outcome }) => outcome) ?? plainOutcomes(table);
  if (named === undefined && association === undefined) {
    context.talk.say(`Outcomes: ${names.join(", ") || "none"} (every column with two values; choose with --outcomes).`);
  }
  const outcomes = outcomesOf(names, table, cohort, context);
  const adjustment = readAdjustment(table, cohort, options, context);
  const events =
    event === undefined ? undefined : readEvents(cohort, table, { event, ...eventChoice(options) }, context);
  const followUp = event?.slice(event.lastIndexOf(":") + 1) ?? "";
  // "stage>=3" is of the column stage.
  const columns = [...names.map((name) => name.replace(/(=|[<>]=?).*$/, "")), followUp];
  return { ...stored, table, outcomes, columns, adjustment, ...(events === undefined ? {} : { events }) };
}

export async function gather(
  run: PlacedRun,
  asked: Asked,
  options: Options,
  pool: Pool,
  context: Context,
): Promise<Gathered> {
  const computed: string[] = [];
  const reused: string[] = [];
  const note = (part: string, stored: boolean) => (stored ? reused : computed).push(part);

  const { groups: stored, sensitivity, table } = asked;
  const studied = await groupsOfRun(run, stored, options, pool, context);
  note("groups", stored !== undefined);
  const kept = stored?.groups.map(({ pairsKept }, group) => ({ group, pairsKept: pairsKept ?? Number.NaN }));
  const stability = stored?.stability ? { ...stored.stability, groups: kept ?? [] } : studied.stability;
  const number = stored?.choice ?? studied.groups.choice;

  const earlier = sameFolds(asked.comparison, options, context);
  const comparison = earlier ?? (options.compare === false ? undefined : await compared(run, options, pool, context));
  if (comparison !== undefined) note("comparison", earlier !== undefined);

  const isStored = isTheSame(asked, options, context);
  const association =
    asked.outcomes.length === 0 || isStored ? asked.association : await tested(run, asked, options, pool, context);
  if (association !== undefined) note("association", association === asked.association);

  const survival =
    asked.events === undefined
      ? storedSurvival(run, asked, context)
      : await survivalOf(
          run,
          studied.groups,
          asked.events,
          { ...associationChoice(options), adjustment: asked.adjustment },
          pool,
        );
  if (survival !== undefined) note("survival", asked.events === undefined);
  if (sensitivity !== undefined) note("sensitivity", true);

  const columns =
    table &&
    characteristicsFor(table, run, options, [
      ...asked.columns,
      survival?.event ?? "",
      ...(survival?.competing?.names ?? []),
    ]);
  return {
    study: {
      ...(sensitivity && { sensitivity }),
      groups: studyGroups(studied.groups, { number, stability }),
      characteristics: studyCharacteristics(
        run.cohort,
        { labels: studied.groups.labels, numGroups: studied.groups.groups.length },
        table && columns && { table, columns },
      ),
      ...(comparison === undefined || "markers" in comparison ? {} : { comparison }),
      ...(association === undefined || association.outcomes.length === 0 ? {} : { association }),
      ...(asked.outcomes.length === 0 ? {} : { outcomes: asked.outcomes }),
      ...(survival === undefined ? {} : { survival: { ...survival, logRank: survival.logRank ?? undefined } }),
    },
    ...(comparison !== undefined && "markers" in comparison ? { several: comparison } : {}),
    computed,
    reused,
  };
}

/** The stored comparison, unless other folds were asked for. */
function sameFolds(stored: StoredComparison | undefined, options: Options, { originOf }: Context) {
  const isOther = originOf?.("folds") !== undefined && String(stored?.folds) !== textOption(options, "folds");
  return isOther ? undefined : stored;
}

async function compared(run: PlacedRun, options: Options, pool: Pool, context: Context) {
  const kind = run.model.kind === "dtm-paper" ? "dtm-paper" : "dtm";
  const models = defaultModels(run.cohort).map((model) => (model === "dtm" ? kind : model));
  const settings = compareChoice(
    { ...options, models: models.join(","), dim: String(run.model.mapDimension) },
    run.cohort,
  );
  const { mean, noise } = run.model.markers[0]!;
  const like = { ...settings, mean: mean.kind, noise: noise.kind };
  return run.model.markers.length > 1
    ? await compareMarkersOn(run.cohort, severalOptions(like), pool, context)
    : await compareOn(run.cohort, like, pool, context);
}

/** Whether stored tests are of these people with these outcomes, adjusted and drawn as asked for where anything is said of it. */
function isTheSame({ association: stored, outcomes, adjustment }: Asked, options: Options, { originOf }: Context) {
  if (stored === undefined) return false;
  if (adjustment !== undefined && String(stored.adjustedFor ?? []) !== String(adjustment.names)) return false;
  const { draws, seed } = associationChoice(options);
  if (originOf?.("draws") !== undefined && stored.draws !== draws) return false;
  if (originOf?.("seed") !== undefined && stored.seed !== seed) return false;
  return outcomes.every((own) =>
    stored.outcomes.some(({ outcome, data }) => outcome === own.name && data === labelsDigest(own)),
  );
}

async function tested(run: PlacedRun, { outcomes, adjustment }: Asked, options: Options, pool: Pool, context: Context) {
  const result = await associationOf(run, outcomes, { ...associationChoice(options), adjustment }, pool, context);
  const { timeUnit } = run.model.markers[0]!.marker;
  return associationJson(result, outcomes, null, timeUnit) as StoredAssociation;
}

/** Survival as dtm associate left it, unless the table that is named has other follow-up. */
function storedSurvival({ cohort }: PlacedRun, { association, table }: Asked, context: Context) {
  const stored = association?.survival;
  if (stored === undefined || table === undefined) return stored;
  const { event, competing, sha256 } = stored.data ?? { event: "", competing: [], sha256: "" };
  const silent = { ...context, talk: { ...context.talk, say: () => {}, warn: () => {} } };
  try {
    if (eventData(readEvents(cohort, table, { event, competing }, silent)).sha256 === sha256) return stored;
  } catch {
    // A table without the event has other follow-up too.
  }
  context.talk.warn(
    `${ASSOCIATE_FILE} tells survival by another table of individuals than --subjects: it is left out. Name the event: --event ${event || "name:column"}.`,
  );
  return undefined;
}

/** Columns of the table of characteristics: those named, else all that describe individuals but outcomes and follow-up. */
function characteristicsFor(
  table: SubjectsTable,
  { cohort }: PlacedRun,
  options: Options,
  outcomes: readonly string[],
): readonly string[] {
  const named = listOption(options, "characteristics")?.map(unquote);
  return named ?? characteristicColumns(table, cohort.ids).filter((name) => !outcomes.includes(name));
}
