/** The page's end of the worker: an `Engine` whose methods throw DtmErrors again. */
import { DtmError } from "@trajectory-maps/core";
import { proxy, type Remote, wrap } from "comlink";
import type { Engine } from "./api.ts";
import type { EngineDoor } from "./engine.worker.ts";
import EngineWorker from "./engine.worker.ts?worker&inline";
import { fromResult, type Result } from "./results.ts";

export interface EngineConnection {
  readonly engine: Engine;
  /** Ends the worker and all it holds; what was asked of it fails with the code "forgotten". */
  close(): void;
}

/** Starts a worker. Functions among the arguments are called back from it; buffers are handed over. */
export function connectEngine(): EngineConnection {
  const worker = new EngineWorker();
  const door = wrap<EngineDoor>(worker) as Remote<EngineDoor>;
  // A worker that was ended answers nobody: those who wait must hear of it from here.
  const waiting = new Set<(reason: DtmError) => void>();
  const call = async (method: keyof Engine, args: readonly unknown[]) => {
    const sent = args.map((arg) => (typeof arg === "function" ? proxy(arg as () => void) : arg));
    const answer = await new Promise((resolve, reject) => {
      waiting.add(reject);
      door
        .call(method, ...sent)
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    });
    return fromResult(answer as Result<unknown>);
  };
  const engine = new Proxy({} as Engine, {
    get: (_, method) =>
      typeof method === "string" && method !== "then"
        ? (...args: unknown[]) => call(method as keyof Engine, args)
        : undefined,
  });
  const close = () => {
    worker.terminate();
    for (const reject of waiting) reject(new DtmError("forgotten", "Everything was forgotten."));
    waiting.clear();
  };
  return { engine, close };
}
