/**
 * Pieces of work that other workers can do: stateless, plain data in and out, so that results never depend on who does
 * them. What many pieces share (a plan, a cohort) stands apart and is sent to each worker once.
 */
import {
  type Cohort,
  type ComparedModel,
  countExceedances,
  evaluateFold,
  groupPlaces,
  type PermutationPlan,
  type ResampleTask,
  resampleLabels,
} from "@trajectory-maps/core";
import type { CompareChoice, Fitted, GroupChoice } from "./api.ts";

/** A piece of work with what it shares with others. */
export type Task =
  | { readonly kind: "permutations"; readonly shared: PermutationPlan; readonly from: number; readonly to: number }
  | { readonly kind: "resample"; readonly shared: Cohort; readonly task: Omit<ResampleTask, "cohort"> }
  | {
      readonly kind: "fold";
      readonly shared: Cohort;
      readonly model: ComparedModel;
      readonly fold: number;
      readonly choice: CompareChoice;
    }
  | { readonly kind: "groups"; readonly shared: Pick<Fitted, "model" | "placements">; readonly choice: GroupChoice };

/** Does one piece of work. */
export function runTask(task: Task): unknown {
  switch (task.kind) {
    case "permutations":
      return countExceedances(task.shared, task.from, task.to);
    case "resample":
      return resampleLabels({ ...task.task, cohort: task.shared });
    case "fold":
      return evaluateFold(task.shared, task.model, task.fold, task.choice);
    case "groups":
      return groupPlaces(task.shared.model, task.shared.placements, task.choice);
  }
}
