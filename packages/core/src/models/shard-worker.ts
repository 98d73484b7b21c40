/** One worker for the shards of all models: threads and other machines run this, and nothing else of a fit. */
import { dtmShards } from "./dtm/shards.ts";
import { placingShards } from "./embed.ts";
import type { ShardFunction } from "./shards.ts";

/** A worker; it keeps nothing but scratch between pieces of work. */
export function createShardWorker(): ShardFunction {
  const passes = dtmShards();
  const places = placingShards();
  return (statistics, name, state, part) =>
    name.startsWith("dtm-") ? passes(statistics, name, state, part) : places(statistics, name, state, part);
}
