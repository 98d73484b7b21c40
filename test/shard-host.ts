/** Shards worked on elsewhere, for tests: workers that take parts in another order and talk in copies only. */
import { createShardWorker } from "../packages/core/src/models/shard-worker.ts";
import type { ShardHost } from "../packages/core/src/models/shards.ts";

/** Arrays that stand for shared memory: messages hold them as they are, everything else is copied. */
function message<T>(value: T, shared: ReadonlySet<unknown>): T {
  if (shared.has(value) || value === null || typeof value !== "object") return value;
  if (ArrayBuffer.isView(value)) return structuredClone(value);
  if (Array.isArray(value)) return value.map((v) => message(v, shared)) as T;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, message(v, shared)])) as T;
}

/** A host of several workers that take parts from the last to the first and talk in copies only. */
export function scrambledHost(numWorkers: number): ShardHost {
  const workers = Array.from({ length: numWorkers }, createShardWorker);
  return {
    open: (given) => {
      const statistics = [...given];
      const shared = new Set<unknown>();
      return {
        statistics,
        buffer: (length) => {
          const memory = new Float64Array(length);
          shared.add(memory);
          return memory;
        },
        run: (name, state, parts) => {
          const received = workers.map(() => message(state, shared));
          const answers = new Array<unknown>(parts.length);
          for (let k = parts.length - 1; k >= 0; k--) {
            const w = k % numWorkers;
            answers[k] = structuredClone(workers[w](statistics, name, received[w], message(parts[k], shared)));
          }
          return answers;
        },
      };
    },
  };
}
