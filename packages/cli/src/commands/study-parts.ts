/** The parts of a study, each computed the same way whether asked for alone, by a report or by the demo. */
import {
  type Association,
  associate,
  type Cohort,
  type Comparison,
  embed,
  type Groups,
  groupPlaces,
} from "@trajectory-maps/core";
import {
  type FoldResult,
  type MultiplierPlan,
  type RefitPart,
  type ShardHost,
  summarizeFolds,
} from "@trajectory-maps/core/hosts";
import { type Outcome, readOutcomes, type SubjectsTable, showComplaint } from "@trajectory-maps/core/ingest";
import {
  type Adjustment,
  type ComparedModel,
  type CompareOptions,
  type GroupMethod,
  type MapStability,
  type PlacedModel,
  studyStability,
} from "@trajectory-maps/core/study";
import type { OpenRun } from "../io/run-folder.ts";
import type { Pool } from "../threads/pool.ts";
import type { Context } from "./command.ts";

/** A run with everyone placed by its model and its baselines. */
export interface PlacedRun extends PlacedModel {
  readonly cohort: Cohort;
  readonly baselines: readonly PlacedModel[];
}

/** Places everyone of a run; a host of shards may spread the places under its model. */
export function placeRun({ model, baselines, read }: OpenRun, { talk }: Context, shards?: ShardHost): PlacedRun {
  const { cohort } = read;
  return talk.during("Places under the models of the run", () => ({
    cohort,
    model,
    placements: embed(model, cohort, shards === undefined ? {} : { shards }),
    // Linear models place at once.
    baselines: baselines.map((baseline) => ({ model: baseline, placements: embed(baseline, cohort) })),
  }));
}

/** Cross-validation of models, folds shared among threads. */
export function compareOn(
  cohort: Cohort,
  options: CompareOptions & {
    readonly models: readonly ComparedModel[];
    readonly folds: number;
    readonly repeats: number;
  },
  pool: Pool,
  { talk }: Context,
): Promise<Comparison> {
  const { folds, repeats } = options;
  const total = folds * repeats;
  return talk.during(`${folds}-fold cross-validation`, async (onProgress) => {
    let done = 0;
    const evaluate = async (fold: number) => {
      const results = (await pool.run({ kind: "fold", shared: cohort, part: { fold, options } })) as FoldResult[];
      onProgress({ stage: "folds", iteration: ++done, maxIterations: total, value: Number.NaN });
      return results;
    };
    const tasks = Array.from({ length: total }, (_, fold) => fold);
    return summarizeFolds((await inOrder(tasks, pool.jobs, evaluate)).flat(), options);
  });
}

/** Results in the order of the tasks; all tasks are handed over at once only if threads share them. */
export async function inOrder<T, R>(tasks: readonly T[], jobs: number, work: (task: T) => Promise<R>): Promise<R[]> {
  if (jobs > 1) return Promise.all(tasks.map(work));
  const results: R[] = [];
  for (const task of tasks) results.push(await work(task));
  return results;
}

export interface StudiedGroups {
  readonly groups: Groups;
  readonly stability: MapStability | null;
}

export interface GroupChoice {
  /** Default "bisect". */
  readonly method?: GroupMethod;
  readonly numGroups: number | "auto";
  /** Refits to 80% of the individuals; 0 for none. */
  readonly resamples: number;
  readonly seed: number;
  readonly better?: "high" | "low";
}

/** Groups of the places, and whether map and groups come back under refits. */
export async function groupsOf(
  run: PlacedRun,
  choice: GroupChoice,
  pool: Pool,
  { talk }: Context,
): Promise<StudiedGroups> {
  const { method = "bisect", numGroups, resamples, seed, better } = choice;
  const groups = talk.during("Groups", () =>
    groupPlaces(run.model, run.placements, { method, numGroups, seed, ...(better === undefined ? {} : { better }) }),
  );
  if (resamples === 0) return { groups, stability: null };
  const stability = await talk.during("Stability under refits", (onProgress) =>
    studyStability(run.model, run.cohort, groups.labels, groups.groups.length, {
      method,
      numResamples: resamples,
      seed,
      jobs: pool.jobs,
      run: async ({ cohort, ...part }) => (await pool.run({ kind: "resample", shared: cohort, part })) as RefitPart,
      onProgress: (done, of) => onProgress({ stage: "refits", iteration: done, maxIterations: of, value: Number.NaN }),
    }),
  );
  return { groups, stability };
}

/** Labels of outcomes for the individuals of a cohort, and a note of how it was understood. */
export function outcomesOf(
  names: readonly string[],
  table: SubjectsTable,
  cohort: Cohort,
  { talk }: Context,
): readonly Outcome[] {
  const { outcomes, warnings } = readOutcomes(names, table, cohort.ids);
  for (const { notes } of outcomes) for (const note of notes) talk.say(note);
  for (const warning of warnings) talk.warn(`${showComplaint(warning)} [${warning.code}]`);
  return outcomes;
}

/** How many draws, from which seed, adjusted for what. */
export interface DrawChoice {
  readonly draws: number;
  readonly seed: number;
  readonly adjustment?: Adjustment | undefined;
}

/** Draws of p-values shared among threads. */
export const drawsOn = (pool: Pool) => ({
  shards: pool.jobs,
  count: async (plan: MultiplierPlan, from: number, to: number) =>
    (await pool.run({ kind: "multipliers", shared: plan, part: { from, to } })) as number,
});

/** Outcomes against places. */
export function associationOf(
  run: PlacedRun,
  outcomes: readonly Outcome[],
  { adjustment, ...choice }: DrawChoice,
  pool: Pool,
  { talk }: Context,
): Promise<Association> {
  return talk.during("Outcomes and places", (onProgress) =>
    associate(
      {
        ...run,
        outcomes: outcomes.map(({ name, labels }) => ({ name, labels })),
        ...(adjustment === undefined ? {} : { adjustment }),
      },
      {
        ...choice,
        ...drawsOn(pool),
        onProgress: ({ outcome, done, total }) =>
          onProgress({ stage: outcome, iteration: done, maxIterations: total, value: Number.NaN }),
      },
    ),
  );
}
