/** One worker for the shards of all models: threads and other machines run this, and nothing else of a fit. */
import { dtmShards } from "./dtm/shards.ts";
import { LINEAR, linearShards } from "./linear/passes.ts";
import { PAPER, paperShards } from "./paper/passes.ts";
import { PLACING, placingShards } from "./placing/shards.ts";
import { type ShardFunction, type ShardWork, shardFunction } from "./shards.ts";

/** A worker; it keeps nothing but scratch between pieces of work. */
export function createShardWorker(): ShardFunction {
  const named =
    (name: string, work: ShardFunction): ShardWork =>
    (statistics, state, part) =>
      work(statistics, name, state, part);
  return shardFunction({
    ...dtmShards(),
    [LINEAR]: named(LINEAR, linearShards()),
    [PLACING]: named(PLACING, placingShards()),
    [PAPER]: named(PAPER, paperShards()),
  });
}
