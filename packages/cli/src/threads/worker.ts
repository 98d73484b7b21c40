/**
 * The program of a thread. Errors travel as data, because a copy between threads would lose their code. Threads that have
 * loaded it are counted, so that none is ended before.
 */
import { workerData } from "node:worker_threads";
import { DtmError } from "@trajectory-maps/core";
import type { ErrorCode } from "@trajectory-maps/core/ingest";
import { runTask, type Task } from "./tasks.ts";

export type Answer =
  | { readonly result: unknown }
  | { readonly failure: { readonly code: ErrorCode | null; readonly message: string } };

export default function answer(task: Task): Answer {
  try {
    return { result: runTask(task) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { failure: { code: error instanceof DtmError ? error.code : null, message } };
  }
}

const loaded: unknown = workerData;
// After whoever asked for this module has it.
if (loaded instanceof Int32Array) queueMicrotask(() => Atomics.add(loaded, 0, 1));
