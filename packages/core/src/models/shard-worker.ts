/** One worker for the shards of all models: threads and other machines run this, and nothing else of a fit. */
import { dtmShards } from "./dtm/shards.ts";
import { linearShards } from "./linear/passes.ts";
import { paperShards } from "./paper/passes.ts";
import { placingShards } from "./placing/shards.ts";
import { localShards, type ShardFunction, type ShardFunctions, type ShardHost, shardFunction } from "./shards.ts";

/** A worker; it keeps nothing but scratch between pieces of work. */
export function createShardWorker(): ShardFunction {
  return shardFunction(allShards());
}

function allShards(): ShardFunctions {
  return { ...dtmShards(), ...linearShards(), ...paperShards(), ...placingShards() };
}

/** All work done here, one block after the other. */
export function hereShards(): ShardHost {
  return localShards(allShards);
}
