/** Questions about a fitted map: groups and their stability, baselines, outcomes, survival, comparison of models. */
import { associate, DtmError, embed, type Groups, groupPlaces, markerModel } from "@trajectory-maps/core";
import {
  type FoldResult,
  type MultiplierPlan,
  type RefitPart,
  type StudyTask,
  summarizeFolds,
} from "@trajectory-maps/core/hosts";
import { readFollowUp, readOutcomes, visitTimes } from "@trajectory-maps/core/ingest";
import { fitLinear } from "@trajectory-maps/core/models";
import {
  differenceMap,
  judgeSharing,
  landmarkSurvival,
  MAP_KERNEL,
  type PosteriorFeatures,
  posteriorFeatures,
  type SeveralFold,
  type SingleMap,
  studyStability,
  summarizeSeveral,
} from "@trajectory-maps/core/study";
import type { BaselinePlaces, Progress, WorkerApi } from "./api.ts";
import type { Helpers } from "./helpers.ts";
import { notFitted, type Session } from "./session.ts";

type StudyDoor = Pick<
  WorkerApi,
  | "groups"
  | "stability"
  | "sharing"
  | "baselines"
  | "associate"
  | "shareSurface"
  | "survival"
  | "compare"
  | "compareSeveral"
  | "cancel"
>;

/** Pieces that draws are cut into: enough for each of four helpers to have work until the end. */
const SHARDS = 8;

export interface Questions {
  readonly door: StudyDoor;
  /** Gives up groups and the verdict on sharing of a map that is no longer there. */
  forget(): void;
}

/** The questions; `helpers` share the long computations, `grouper` makes groups. */
export function createQuestions(session: Session, helpers: Helpers, grouper: Helpers): Questions {
  let baselines: { readonly of: object; readonly places: readonly BaselinePlaces[] } | null = null;
  let mapFeatures: { readonly of: object; readonly features: PosteriorFeatures } | null = null;
  let cancelled = { aborted: false };
  /** Draws of p-values, shared among the helpers. */
  const drawsOn = (signal: { aborted: boolean }) => ({
    signal,
    shards: SHARDS,
    count: (shared: MultiplierPlan, from: number, to: number) =>
      helpers.run({ kind: "multipliers", shared, part: { from, to } }, signal) as Promise<number>,
  });
  const begin = () => {
    cancelled.aborted = true;
    helpers.drop();
    cancelled = { aborted: false };
    return cancelled;
  };
  const study = () => {
    if (session.loaded === null || session.fitted === null) throw notFitted();
    return { ...session.fitted, cohort: session.fitted.cohort ?? session.loaded.cohort };
  };
  let grouping: { readonly signal: { aborted: boolean }; readonly found: Promise<Groups> } | null = null;
  const forgetGroups = () => {
    if (grouping === null) return;
    grouping.signal.aborted = true;
    grouping = null;
    grouper.drop();
  };
  let judging = { aborted: false };
  const forget = () => {
    forgetGroups();
    judging.aborted = true;
    helpers.drop();
  };
  /** The groups of the map: those there are, those being made, else made now. */
  const groups = async () => {
    const { model, placements } = study();
    return session.groups ?? (await grouping?.found) ?? groupPlaces(model, placements);
  };
  const labelsOf = (name: string) => {
    const { placements } = study();
    if (session.subjects === null) {
      throw new DtmError(
        "no-outcomes",
        "Expected a table of individuals with outcomes, received none. Add one under Data.",
      );
    }
    return readOutcomes([name], session.subjects.table, placements.ids).outcomes[0];
  };
  const baselinePlaces = () => {
    const { cohort, model, placements } = study();
    if (baselines?.of !== placements) {
      const mapDimension = Math.min(2, model.mapDimension);
      const { markers } = model;
      const { lmm, fpca } =
        session.linear?.lmm.mapDimension === mapDimension
          ? session.linear
          : fitLinear(cohort, {
              mean: markers[0].mean.kind,
              noise: markers.map(({ noise }) => noise),
              basis: markers.map(({ basis }) => basis),
              mapDimension,
            });
      baselines = {
        of: placements,
        places: (fpca === undefined ? [lmm] : [lmm, fpca]).map((fitted) => ({
          name: fitted.kind,
          model: fitted,
          placements: embed(fitted, cohort),
        })),
      };
    }
    return baselines.places;
  };

  /** What every fold gives, by the helpers. */
  const inFolds = async <T>(
    folds: number,
    task: (fold: number) => StudyTask,
    signal: { aborted: boolean },
    onProgress: Progress,
  ): Promise<T[]> => {
    let done = 0;
    const evaluated = async (fold: number) => {
      const result = (await helpers.run(task(fold), signal)) as T;
      onProgress(++done, folds, `fold ${fold + 1}`);
      return result;
    };
    onProgress(0, folds, "");
    return Promise.all(Array.from({ length: folds }, (_, fold) => evaluated(fold)));
  };
  const door: StudyDoor = {
    groups: async (choice) => {
      const { model, placements } = study();
      forgetGroups();
      const signal = { aborted: false };
      const task = { kind: "groups", shared: { model, placements }, part: choice } as const;
      const current = { signal, found: grouper.run(task, signal) as Promise<Groups> };
      grouping = current;
      try {
        const found = await current.found;
        session.groups = found;
        return found;
      } finally {
        if (grouping === current) grouping = null;
      }
    },
    stability: async (numResamples, seed, onProgress) => {
      const signal = begin();
      const { model, cohort } = study();
      const { labels, groups: list } = await groups();
      return unlessCancelled(signal, () =>
        studyStability(model, cohort, labels, list.length, {
          numResamples,
          seed,
          jobs: helpers.count,
          run: ({ cohort: shared, ...part }) =>
            helpers.run({ kind: "resample", shared, part }, signal) as Promise<RefitPart>,
          onProgress: (done, of) => onProgress(done, of, "resamples"),
        }),
      );
    },
    sharing: async () => {
      const { model, cohort } = study();
      if (model.kind !== "dtm" || model.markers.length === 1) return null;
      judging.aborted = true;
      const signal = { aborted: false };
      judging = signal;
      const shared = { cohort, model };
      return unlessCancelled(signal, async () => {
        const fit = (marker: number) => helpers.run({ kind: "single", shared, part: { marker } }, signal);
        const singles = await Promise.all(model.markers.map((_, marker) => fit(marker) as Promise<SingleMap>));
        return judgeSharing(cohort, model, singles);
      });
    },
    baselines: async () => baselinePlaces(),
    associate: async ({ outcomes, draws, seed }, onProgress) => {
      const signal = begin();
      const run = study();
      const labels = outcomes.map(labelsOf);
      return unlessCancelled(signal, () =>
        associate(
          {
            ...run,
            baselines: baselinePlaces(),
            outcomes: labels.map(({ name, labels: of }) => ({ name, labels: of })),
          },
          {
            draws,
            seed,
            ...drawsOn(signal),
            onProgress: ({ outcome, done, total }) => onProgress(done, total, outcome),
          },
        ),
      );
    },
    shareSurface: async (outcome) => {
      const { model, cohort, placements } = study();
      if (mapFeatures?.of !== placements) {
        mapFeatures = { of: placements, features: posteriorFeatures(model, cohort, [MAP_KERNEL])[0] };
      }
      const map = differenceMap(mapFeatures.features, model.mapDimension, labelsOf(outcome).labels);
      const [x, y] = map.axes;
      // The first axis of the core is the slowest; grids of the page have rows along y.
      const turn = <T extends Float64Array | Int8Array>(from: T): T => {
        const out = from.slice() as T;
        for (let a = 0; a < x.length; a++)
          for (let b = 0; b < y.length; b++) out[b * x.length + a] = from[a * y.length + b];
        return out;
      };
      return {
        outcome,
        x,
        y,
        share: turn(map.share),
        outside: turn(map.outside),
      };
    },
    survival: async (event, timeColumn, landmark) => {
      const run = study();
      const outcome = labelsOf(event);
      const table = session.subjects!.table;
      const followUp = readFollowUp(table, timeColumn, outcome.labels, run.placements.ids, visitTimes(run.cohort));
      return landmarkSurvival({ ...run, groups: await groups() }, event, followUp, landmark);
    },
    compare: async (choice, onProgress) => {
      const signal = begin();
      const { cohort, model } = study();
      const options = { ...choice, noise: markerModel(model).noise.kind };
      return unlessCancelled(signal, async () => {
        const task = (fold: number) => ({ kind: "fold", shared: cohort, part: { fold, options } }) as const;
        const results = await inFolds<FoldResult[]>(choice.folds, task, signal, onProgress);
        return summarizeFolds(results.flat(), choice);
      });
    },
    compareSeveral: async ({ folds, mean, mapDimension, seed }, onProgress) => {
      const signal = begin();
      const { cohort, model } = study();
      const noise = model.markers[0].noise.kind;
      const options = { folds, mean, seed, noise, mapDimension: mapDimension === 1 ? 1 : 2 } as const;
      return unlessCancelled(signal, async () => {
        const task = (fold: number) => ({ kind: "several-fold", shared: cohort, part: { fold, options } }) as const;
        return summarizeSeveral(await inFolds<SeveralFold>(folds, task, signal, onProgress));
      });
    },
    cancel: async () => {
      cancelled.aborted = true;
      helpers.drop();
    },
  };
  return { door, forget };
}

/** The result, or null if the work was cancelled. */
async function unlessCancelled<T>(signal: { readonly aborted: boolean }, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted && error instanceof DtmError && error.code === "cancelled") return null;
    throw error;
  }
}
