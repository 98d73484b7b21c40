/** Pieces of work that threads can share: stateless, plain data in and out, so that results never depend on how many. */
import {
  type Cohort,
  type ComparedModel,
  type CompareOptions,
  countExceedances,
  embed,
  evaluateFold,
  type PermutationPlan,
  type ResampleTask,
  resampleLabels,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { type ShardSeat, serveShards } from "./shards.ts";

export type Task =
  | {
      readonly kind: "fold";
      readonly cohort: Cohort;
      readonly model: ComparedModel;
      readonly fold: number;
      readonly options: CompareOptions;
    }
  | { readonly kind: "resample"; readonly task: ResampleTask }
  | { readonly kind: "places"; readonly model: TrajectoryModel; readonly cohort: Cohort }
  | { readonly kind: "shards"; readonly seat: ShardSeat }
  | { readonly kind: "permutations"; readonly plan: PermutationPlan; readonly from: number; readonly to: number };

/** Does one piece of work. */
export function runTask(task: Task): unknown {
  switch (task.kind) {
    case "fold":
      return evaluateFold(task.cohort, task.model, task.fold, task.options);
    case "resample":
      return resampleLabels(task.task);
    case "places":
      return embed(task.model, task.cohort);
    case "shards":
      return serveShards(task.seat);
    case "permutations":
      return countExceedances(task.plan, task.from, task.to);
    default:
      throw new Error(`Expected a task of a known kind, received ${JSON.stringify(task satisfies never)}.`);
  }
}
