/**
 * Pieces of work that other threads and workers can do, in one list for all hosts: stateless, plain data in and out, so
 * that results never depend on who does them. What many pieces have in common (`shared`: a cohort, a plan) stands apart,
 * so that a host may send it once.
 */
import { countExceedances, type MultiplierPlan } from "../associate/multipliers.ts";
import type { Cohort } from "../cohort/cohort.ts";
import { DtmError } from "../errors.ts";
import { type CompareOptions, evaluateFold } from "../evaluate/compare.ts";
import { evaluateSeveralFold, type SeveralOptions } from "../evaluate/several-folds.ts";
import { fitSingleMap } from "../evaluate/sharing.ts";
import { type SuspectOptions, suspectValues } from "../evaluate/suspect-values.ts";
import { type GroupOptions, groupPlaces } from "../map/groups.ts";
import type { DtmModel } from "../models/dtm/model.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { Placements } from "../models/placement.ts";
import { type ResampleTask, refitPart } from "./group-stability.ts";
import { type PowerPlan, simulateStudy } from "./power-replicate.ts";
import {
  fitVariant,
  type SensitivityShared,
  scoreVariant,
  type VariantFoldTask,
  type VariantTask,
} from "./variant-fit.ts";

const TASKS = {
  /** One fold of a comparison, all models. */
  fold: (cohort: Cohort, { fold, options }: { readonly fold: number; readonly options: CompareOptions }) =>
    evaluateFold(cohort, fold, options),
  /** One fold of a comparison of models of several markers. */
  "several-fold": (cohort: Cohort, { fold, options }: { readonly fold: number; readonly options: SeveralOptions }) =>
    evaluateSeveralFold(cohort, fold, options),
  /** The map of one of several markers alone, for the sharing verdict. */
  single: (
    { cohort, model }: { readonly cohort: Cohort; readonly model: DtmModel },
    { marker }: { readonly marker: number },
  ) => fitSingleMap(cohort, model, marker),
  /** Places and groups by a refit to a part of the individuals. */
  resample: (cohort: Cohort, task: Omit<ResampleTask, "cohort">) => refitPart({ ...task, cohort }),
  /** A fit with one choice changed, with everybody's place and group. */
  variant: (shared: SensitivityShared, task: VariantTask) => fitVariant(shared, task),
  /** Scores of one fold under such a fit. */
  "variant-fold": (shared: SensitivityShared, task: VariantFoldTask) => scoreVariant(shared, task),
  /** A range of the draws behind an outcome's p-value. */
  multipliers: (plan: MultiplierPlan, { from, to }: { readonly from: number; readonly to: number }) =>
    countExceedances(plan, from, to),
  /** Groups of a placed cohort. */
  groups: (
    { model, placements }: { readonly model: TrajectoryModel; readonly placements: Placements },
    options: GroupOptions,
  ) => groupPlaces(model, placements, options),
  /** One simulated study of a planned one. */
  power: (plan: PowerPlan, { seed }: { readonly seed: number }) => simulateStudy(plan, seed),
  /** Values of a cohort that are probably wrong. */
  suspects: (cohort: Cohort, options: SuspectOptions) => suspectValues(cohort, options),
};

type Tasks = typeof TASKS;

/** A piece of work by its name, with what it shares with others. */
export type StudyTask = {
  readonly [K in keyof Tasks]: {
    readonly kind: K;
    readonly shared: Parameters<Tasks[K]>[0];
    readonly part: Parameters<Tasks[K]>[1];
  };
}[keyof Tasks];

/** Does one piece of work; an unknown name is refused. */
export function runStudyTask({ kind, shared, part }: StudyTask): unknown {
  const run = TASKS[kind] as ((shared: unknown, part: unknown) => unknown) | undefined;
  if (run === undefined) {
    throw new DtmError("option", `Expected a task among ${Object.keys(TASKS).join(", ")}, received ${String(kind)}.`);
  }
  return run(shared, part);
}
