/**
 * Passes over individuals shared among threads. The statistics stand in memory that all threads read; a pass is sent as
 * a message, its parts are taken by whoever is free, this thread among them, and the answers come back in the order of
 * parts. Threads sleep on a shared counter between passes, so that a pass of a few milliseconds is worth sharing; and
 * because this thread waits in place, the core needs no promises.
 */
import { setImmediate } from "node:timers/promises";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { DtmError } from "@trajectory-maps/core";
import {
  type BasisStatistics,
  type CohortStatistics,
  createShardWorker,
  mapColumns,
  type ShardBlock,
  type ShardFunction,
  type ShardHost,
  type ShardRunner,
} from "@trajectory-maps/core/hosts";
import type { ErrorCode } from "@trajectory-maps/core/ingest";
import type { Places } from "@trajectory-maps/core/models";
import { PLACEMENT_ROWS, placementRows } from "../commands/placements.ts";
import { type Pool, withPool } from "./pool.ts";

/** Places in the shared counters. */
const PASS = 0;
const NEXT = 1;
const DONE = 2;
const READY = 3;
const STOP = 4;
const NUM_COUNTERS = 5;

/** What a thread needs to take part. */
export interface ShardSeat {
  readonly counters: Int32Array;
  readonly port: MessagePort;
}

type ShardMessage =
  | { readonly kind: "statistics"; readonly statistics: CohortStatistics }
  | { readonly kind: "pass"; readonly name: string; readonly state: unknown; readonly parts: readonly unknown[] };

type ShardAnswers =
  | { readonly answers: readonly (readonly [number, unknown])[] }
  | { readonly failure: { readonly code: ErrorCode | null; readonly message: string } };

/** Threads at work on shards; `close` sends them home. */
export interface OpenShards extends ShardHost {
  close(): Promise<void>;
}

/** Seats all threads of the pool but one, whose place is this thread's; undefined for a pool of one. */
async function openShards(pool: Pool): Promise<OpenShards | undefined> {
  const numThreads = pool.jobs - 1;
  if (numThreads < 1) return undefined;
  const counters = new Int32Array(new SharedArrayBuffer(NUM_COUNTERS * Int32Array.BYTES_PER_ELEMENT));
  const channels = Array.from({ length: numThreads }, () => new MessageChannel());
  const serving = channels.map(({ port2 }) => pool.run({ kind: "shards", seat: { counters, port: port2 } }, [port2]));
  const failed = Promise.all(serving).then(() => undefined);
  // Threads that never arrive have an error to tell.
  while (Atomics.load(counters, READY) < numThreads) await Promise.race([setImmediate(), failed]);
  const ports = channels.map(({ port1 }) => port1);
  const send = (message: ShardMessage) => {
    for (const port of ports) port.postMessage(message);
  };
  let shown: CohortStatistics | undefined;
  const own = createThreadWorker();
  return {
    open: (given) => {
      const shared = given.map(shareStatistics);
      const statistics = shared.every((own, k) => own === given[k]) ? given : shared;
      const run: ShardRunner["run"] = (name, state, parts) => {
        if (parts.length === 1) return [own(statistics, name, state, parts[0])];
        if (shown !== statistics) send({ kind: "statistics", statistics });
        shown = statistics;
        Atomics.store(counters, NEXT, 0);
        Atomics.store(counters, DONE, 0);
        send({ kind: "pass", name, state, parts });
        Atomics.add(counters, PASS, 1);
        Atomics.notify(counters, PASS);
        const answers = new Array<unknown>(parts.length);
        let failure: unknown;
        try {
          takeParts(counters, parts, (part, k) => {
            answers[k] = own(statistics, name, state, part);
          });
        } catch (error) {
          failure = error;
          Atomics.store(counters, NEXT, parts.length);
        }
        for (let done = 0; done < numThreads; done = Atomics.load(counters, DONE)) Atomics.wait(counters, DONE, done);
        for (const port of ports) {
          const received = receiveMessageOnPort(port)?.message as ShardAnswers;
          if ("failure" in received) {
            const { code, message } = received.failure;
            failure ??= code === null ? new Error(message) : new DtmError(code, message);
          } else for (const [k, answer] of received.answers) answers[k] = answer;
        }
        if (failure !== undefined) throw failure;
        return answers;
      };
      return { statistics, buffer: (length) => new Float64Array(sharedBuffer(8 * length)), run };
    },
    close: async () => {
      Atomics.store(counters, STOP, 1);
      Atomics.add(counters, PASS, 1);
      Atomics.notify(counters, PASS);
      await Promise.allSettled(serving);
      for (const port of ports) port.close();
    },
  };
}

/** The work of the core's models, and that of writing tables. */
function createThreadWorker(): ShardFunction {
  const models = createShardWorker();
  return (statistics, name, state, part) =>
    name === PLACEMENT_ROWS
      ? placementRows(state as Places, part as ShardBlock)
      : models(statistics, name, state, part);
}

/** The life of a thread in its seat: waits for a pass, takes parts until none is left, answers. */
export function serveShards({ counters, port }: ShardSeat): void {
  const work = createThreadWorker();
  let statistics: CohortStatistics | undefined;
  let pass = 0;
  Atomics.add(counters, READY, 1);
  for (;;) {
    Atomics.wait(counters, PASS, pass);
    pass = Atomics.load(counters, PASS);
    if (Atomics.load(counters, STOP) === 1) return;
    let message = receiveMessageOnPort(port)?.message as ShardMessage;
    if (message.kind === "statistics") {
      statistics = message.statistics;
      message = receiveMessageOnPort(port)?.message as ShardMessage;
    }
    if (message.kind === "pass" && statistics !== undefined) {
      port.postMessage(answerParts(counters, message, statistics, work));
    }
    Atomics.add(counters, DONE, 1);
    Atomics.notify(counters, DONE);
  }
}

function answerParts(
  counters: Int32Array,
  { name, state, parts }: Extract<ShardMessage, { kind: "pass" }>,
  statistics: CohortStatistics,
  work: ShardFunction,
): ShardAnswers {
  const answers: [number, unknown][] = [];
  try {
    takeParts(counters, parts, (part, k) => answers.push([k, work(statistics, name, state, part)]));
    return { answers };
  } catch (error) {
    Atomics.store(counters, NEXT, parts.length);
    const message = error instanceof Error ? error.message : String(error);
    return { failure: { code: error instanceof DtmError ? error.code : null, message } };
  }
}

function takeParts(counters: Int32Array, parts: readonly unknown[], take: (part: unknown, k: number) => void): void {
  for (let k = Atomics.add(counters, NEXT, 1); k < parts.length; k = Atomics.add(counters, NEXT, 1)) take(parts[k], k);
}

/** The statistics in shared memory; those already there are taken as they are. */
function shareStatistics(statistics: BasisStatistics): BasisStatistics {
  if (statistics.gram.buffer instanceof SharedArrayBuffer) return statistics;
  return mapColumns(statistics, (from) => {
    const memory = sharedBuffer(from.byteLength);
    const to = from instanceof Int32Array ? new Int32Array(memory) : new Float64Array(memory);
    to.set(from);
    return to;
  });
}

function sharedBuffer(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

/** Individuals from which passes are worth sharing: below, threads take longer to start than they save. */
const WORTH_SHARING = 5_000;

/** Works with threads as a host for shards, if there are any and the cohort is large enough for them. */
export async function withShards<T>(
  jobs: number,
  numIndividuals: number,
  work: (shards: ShardHost | undefined) => Promise<T>,
): Promise<T> {
  if (jobs <= 1 || numIndividuals < WORTH_SHARING) return work(undefined);
  return withPool(jobs, (pool) => withShardsOf(pool, numIndividuals, work));
}

/** The same with the threads of a pool that is open already. */
export async function withShardsOf<T>(
  pool: Pool,
  numIndividuals: number,
  work: (shards: ShardHost | undefined) => Promise<T>,
): Promise<T> {
  const shards = numIndividuals < WORTH_SHARING ? undefined : await openShards(pool);
  try {
    return await work(shards);
  } finally {
    await shards?.close();
  }
}
