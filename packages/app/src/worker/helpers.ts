/**
 * Workers that help with long computations. The page starts them from the same source as the engine and ties each to it
 * by a channel: a worker of a page opened from disk cannot start others by itself. A free helper takes the next piece of
 * work; with no helper the engine does the work, letting messages in between pieces.
 */
import { DtmError } from "@trajectory-maps/core";
import { runStudyTask, type StudyTask } from "@trajectory-maps/core/hosts";
import { fromResult, type Result, toResult } from "./results.ts";

/** A piece of work on its way; `shared` is left out if it is what the helper was sent before. */
interface Order {
  readonly task: Omit<StudyTask, "shared">;
  readonly shared?: StudyTask["shared"];
}

export interface Helpers {
  /** How many work at once; 1 if the engine is alone. */
  readonly count: number;
  /** Does a piece of work, here or at a helper's; fails with the code "cancelled" once the signal says so. */
  run(task: StudyTask, signal: { readonly aborted: boolean }): Promise<unknown>;
  /** Gives up all work whose signal says so, begun or not. */
  drop(): void;
  /** Takes new helpers in the place of those before. */
  seat(ports: readonly MessagePort[]): void;
}

interface Waiting {
  readonly task: StudyTask;
  readonly signal: { readonly aborted: boolean };
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How many helpers a page starts: one for each core, at most four; none where there is one core only. */
export function numHelpers(cores: number): number {
  const helpers = Math.min(4, Math.floor(cores));
  return helpers > 1 ? helpers : 0;
}

/** The engine's end. */
export function createHelpers(): Helpers {
  let seats: readonly MessagePort[] = [];
  let free: MessagePort[] = [];
  let queue: Waiting[] = [];
  const begun = new Set<Waiting>();
  const sent = new WeakMap<MessagePort, StudyTask["shared"]>();
  /** The engine's own work, one piece after the other. */
  let last: Promise<unknown> = Promise.resolve();

  const next = () => {
    while (free.length > 0 && queue.length > 0) {
      give(free.pop()!, queue.shift()!);
    }
  };
  const give = (port: MessagePort, waiting: Waiting) => {
    const { task, resolve, reject } = waiting;
    const { shared, ...rest } = task;
    begun.add(waiting);
    port.onmessage = ({ data }: MessageEvent<Result<unknown>>) => {
      begun.delete(waiting);
      if (seats.includes(port)) free.push(port);
      try {
        resolve(fromResult(data));
      } catch (error) {
        reject(error);
      }
      next();
    };
    const known = sent.get(port) === shared;
    sent.set(port, shared);
    port.postMessage({ task: rest, ...(known ? {} : { shared }) } satisfies Order);
  };

  return {
    get count() {
      return Math.max(1, seats.length);
    },
    run: async (task, signal) => {
      if (seats.length === 0) {
        const before = last;
        last = (async () => {
          await before.catch(() => undefined);
          await listen(signal);
          return runStudyTask(task);
        })();
        return last;
      }
      if (signal.aborted) throw cancelled();
      return new Promise((resolve, reject) => {
        queue.push({ task, signal, resolve, reject });
        next();
      });
    },
    drop: () => {
      for (const waiting of [...begun, ...queue]) if (waiting.signal.aborted) waiting.reject(cancelled());
      queue = queue.filter(({ signal }) => !signal.aborted);
    },
    seat: (ports) => {
      // Those before go with the work they were started for, and so does all that they have not answered.
      for (const { reject } of [...begun, ...queue]) reject(cancelled());
      for (const port of seats) port.close();
      begun.clear();
      queue = [];
      seats = [...ports];
      free = [...ports];
    },
  };
}

/** The helper's end: does what comes through the port, one piece after the other. */
export function serve(port: MessagePort): void {
  let shared: StudyTask["shared"] | undefined;
  port.onmessage = async ({ data }: MessageEvent<Order>) => {
    shared = data.shared ?? shared;
    port.postMessage(await toResult(() => runStudyTask({ ...data.task, shared } as StudyTask)));
  };
}

/** Lets messages in, and ends the work if it was cancelled meanwhile. */
async function listen(signal: { readonly aborted: boolean }): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (signal.aborted) throw cancelled();
}

function cancelled(): DtmError {
  return new DtmError("cancelled", "Cancelled.");
}
