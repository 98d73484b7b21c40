/** The page's end of the worker: an `Engine` whose methods throw DtmErrors again. */
import { proxy, type Remote, wrap } from "comlink";
import type { Engine } from "./api.ts";
import type { EngineDoor } from "./engine.worker.ts";
import EngineWorker from "./engine.worker.ts?worker&inline";
import { fromResult, type Result } from "./results.ts";

export interface EngineConnection {
  readonly engine: Engine;
  /** Ends the worker and all it holds. */
  close(): void;
}

/** Starts a worker. Functions among the arguments are called back from it; buffers are handed over. */
export function connectEngine(): EngineConnection {
  const worker = new EngineWorker();
  const door = wrap<EngineDoor>(worker) as Remote<EngineDoor>;
  const call = async (method: keyof Engine, args: readonly unknown[]) => {
    const sent = args.map((arg) => (typeof arg === "function" ? proxy(arg as () => void) : arg));
    return fromResult((await door.call(method, ...sent)) as Result<unknown>);
  };
  const engine = new Proxy({} as Engine, {
    get: (_, method) =>
      typeof method === "string" && method !== "then"
        ? (...args: unknown[]) => call(method as keyof Engine, args)
        : undefined,
  });
  return { engine, close: () => worker.terminate() };
}
