/** Pieces of work that threads can share: those of a study, and a seat at the passes of a fit. */
import { runStudyTask, type StudyTask } from "@trajectory-maps/core/hosts";
import { type ShardSeat, serveShards } from "./shards.ts";

export type Task = StudyTask | { readonly kind: "shards"; readonly seat: ShardSeat };

/** Does one piece of work. */
export function runTask(task: Task): unknown {
  return task.kind === "shards" ? serveShards(task.seat) : runStudyTask(task);
}
