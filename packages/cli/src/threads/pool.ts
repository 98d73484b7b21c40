/** A pool of threads with one door for all tasks; with one job, or where no thread program is built, work is done here. */
import { setImmediate, setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { DtmError } from "@trajectory-maps/core";
import { Piscina } from "piscina";
import { fileExists } from "../io/read.ts";
import { runTask, type Task } from "./tasks.ts";
import type { Answer } from "./worker.ts";

export interface Pool {
  /** Tasks that can be under way at once. */
  readonly jobs: number;
  /** Does a task in a thread; what is listed in `transfer` moves there. */
  run(task: Task, transfer?: readonly MessagePort[]): Promise<unknown>;
  close(): Promise<void>;
}

/** A thread that has not loaded by then has failed, and has told so. */
const LOADING_MS = 60_000;
const LOOK_AGAIN_MS = 2;

/** Opens a pool of at most `jobs` threads; close it when done. */
export function openPool(jobs: number): Pool {
  // Built beside main.mjs; when the sources are run directly there is none.
  const program = fileURLToPath(new URL("./worker.mjs", import.meta.url));
  if (jobs <= 1 || !fileExists(program)) {
    return {
      jobs: 1,
      run: async (task) => {
        // Progress is drawn and signals are heard between tasks.
        await setImmediate();
        return runTask(task);
      },
      close: async () => {},
    };
  }
  // As many threads from start to end: one that is let go when idle would load the whole program again for its next task.
  const workerData = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const threads = new Piscina<Task, Answer>({ filename: program, minThreads: jobs, maxThreads: jobs, workerData });
  return {
    jobs,
    run: async (task, transfer = []) => {
      const answer = await threads.run(task, { transferList: [...transfer] });
      if ("result" in answer) return answer.result;
      const { code, message } = answer.failure;
      throw code === null ? new Error(message) : new DtmError(code, message);
    },
    close: async () => {
      // Node aborts the whole process when a thread is ended while it loads its program.
      const late = Date.now() + LOADING_MS;
      while (Atomics.load(workerData, 0) < jobs && Date.now() < late) await setTimeout(LOOK_AGAIN_MS);
      await threads.destroy();
    },
  };
}

/** Opens a pool, works with it, closes it whatever happens. */
export async function withPool<T>(jobs: number, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(jobs);
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}
