/** One worker for the shards of all models: threads and other machines run this, and nothing else of a fit. */
import { dtmShards } from "./dtm/shards.ts";
import { placingShards } from "./embed.ts";
import { LINEAR, linearShards } from "./linear/passes.ts";
import { PAPER, paperShards } from "./paper/passes.ts";
import type { ShardFunction } from "./shards.ts";

/** A worker; it keeps nothing but scratch between pieces of work. */
export function createShardWorker(): ShardFunction {
  const [map, published, places, linear] = [dtmShards(), paperShards(), placingShards(), linearShards()];
  return (statistics, name, state, part) => {
    const work = name === LINEAR ? linear : name === "places" ? places : name === PAPER ? published : map;
    return work(statistics, name, state, part);
  };
}
