/** One worker for the shards of all models: threads and other machines run this, and nothing else of a fit. */
import { dtmShards } from "./dtm/shards.ts";
import { linearShards } from "./linear/passes.ts";
import { paperShards } from "./paper/passes.ts";
import { placingShards } from "./placing/shards.ts";
import { type ShardFunction, shardFunction } from "./shards.ts";

/** A worker; it keeps nothing but scratch between pieces of work. */
export function createShardWorker(): ShardFunction {
  return shardFunction({ ...dtmShards(), ...linearShards(), ...paperShards(), ...placingShards() });
}
