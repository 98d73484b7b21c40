/** The page's end of the worker: an `WorkerApi` whose methods throw DtmErrors again. */
import { DtmError } from "@trajectory-maps/core";
import { proxy, type Remote, transfer, wrap } from "comlink";
import type { WorkerApi } from "./api.ts";
import type { EngineDoor } from "./engine.worker.ts";
import EngineWorker from "./engine.worker.ts?worker&inline";
import { numHelpers } from "./helpers.ts";
import { fromResult, type Result } from "./results.ts";

export interface EngineConnection {
  readonly engine: WorkerApi;
  /** Ends the worker and all it holds; what was asked of it fails with the code "forgotten". */
  close(): void;
}

/** How many helpers a call gets: as many as there are cores for work that is cut into pieces, one for what is made apart. */
function helpersFor(method: keyof WorkerApi, args: readonly unknown[]): number {
  if (method === "groups") return args[1] === true ? 1 : 0;
  if (method === "suspects") return 1;
  const shared = method === "associate" || method === "stability" || method === "compare";
  return shared ? numHelpers(navigator.hardwareConcurrency) : 0;
}

/** Starts a worker. Functions among the arguments are called back from it; buffers are handed over. */
export function connectEngine(): EngineConnection {
  const worker = new EngineWorker();
  const door = wrap<EngineDoor>(worker) as Remote<EngineDoor>;
  // A worker that was ended answers nobody: those who wait must hear of it from here.
  const waiting = new Set<(reason: DtmError) => void>();
  const call = async (method: keyof WorkerApi, args: readonly unknown[]) => {
    const sent = args.map((arg) => (typeof arg === "function" ? proxy(arg as () => void) : arg));
    const { ports, dismiss } = hireHelpers(helpersFor(method, args));
    const answer = await new Promise((resolve, reject) => {
      waiting.add(reject);
      door
        .call(method, transfer(ports, ports), ...sent)
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    }).finally(dismiss);
    return fromResult(answer as Result<unknown>);
  };
  const engine = new Proxy({} as WorkerApi, {
    get: (_, method) =>
      typeof method === "string" && method !== "then"
        ? (...args: unknown[]) => call(method as keyof WorkerApi, args)
        : undefined,
  });
  const close = () => {
    worker.terminate();
    for (const reject of waiting) reject(new DtmError("forgotten", "Everything was forgotten."));
    waiting.clear();
  };
  return { engine, close };
}

/** Starts helpers for one call; they end with it, whatever they are at. Where none can be made the engine is alone. */
function hireHelpers(count: number): { readonly ports: MessagePort[]; readonly dismiss: () => void } {
  const workers: Worker[] = [];
  const ports: MessagePort[] = [];
  for (let k = 0; k < count; k++) {
    const worker = startWorker();
    if (worker === null) break;
    const { port1, port2 } = new MessageChannel();
    void (wrap<EngineDoor>(worker) as Remote<EngineDoor>).help(transfer(port1, [port1]));
    workers.push(worker);
    ports.push(port2);
  }
  return {
    ports,
    dismiss: () => {
      for (const worker of workers) worker.terminate();
    },
  };
}

function startWorker(): Worker | null {
  try {
    return new EngineWorker();
  } catch {
    return null;
  }
}
