/**
 * Timing on machines that others use too (docs/benchmarks.md): short chunks of all variants in turn, least time of each;
 * long jobs by CPU time, peer and ours in turn, least of each. Ratios in one run are what counts.
 */
import process from "node:process";

/** One way of doing the same work. */
export interface Variant {
  readonly name: string;
  /** Nanoseconds of one unit of work, from one chunk of about a millisecond. */
  readonly chunk: () => number | Promise<number>;
}

/** Least nanoseconds per unit of each variant over interleaved rounds. */
export async function interleave(variants: readonly Variant[], rounds = 60): Promise<(name: string) => number> {
  const least = new Map(variants.map(({ name }) => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, chunk } of variants) least.set(name, Math.min(least.get(name)!, await chunk()));
  }
  return (name) => least.get(name)!;
}

/** A chunk that calls `work` (of `units` units) often enough to fill about a millisecond. */
export function chunkOf(work: () => void, units = 1, milliseconds = 1): () => number {
  let repeats = 0;
  return () => {
    if (repeats === 0) {
      const once = leastOf(work, 20);
      repeats = Math.max(1, Math.round((milliseconds * 1e6) / once));
    }
    const began = process.hrtime.bigint();
    for (let k = 0; k < repeats; k++) work();
    return Number(process.hrtime.bigint() - began) / (repeats * units);
  };
}

/** A chunk whose work must be prepared anew each time; only `work` is timed. */
export function preparedChunk(prepare: () => void, work: () => void, repeats = 4): () => number {
  return () => {
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < repeats; k++) {
      prepare();
      const began = process.hrtime.bigint();
      work();
      least = Math.min(least, Number(process.hrtime.bigint() - began));
    }
    return least;
  };
}

/** Least nanoseconds of some calls, not below 50. */
function leastOf(work: () => void, calls: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let k = 0; k < calls; k++) {
    const began = process.hrtime.bigint();
    work();
    least = Math.min(least, Number(process.hrtime.bigint() - began));
  }
  return Math.max(least, 50);
}

export interface Used<T> {
  /** CPU seconds, user and system, of all threads of this process. */
  readonly cpu: number;
  /** Wall-clock seconds. */
  readonly wall: number;
  readonly value: T;
}

/** CPU and wall-clock seconds of one run. */
export async function cpuOf<T>(work: () => T | Promise<T>): Promise<Used<T>> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  const began = performance.now();
  const value = await work();
  const used = process.cpuUsage(before);
  return { cpu: (used.user + used.system) / 1e6, wall: (performance.now() - began) / 1000, value };
}

/** Least CPU and wall-clock seconds over repeats; the value of the last. */
export async function leastCpu<T>(work: () => T | Promise<T>, repeats = 3): Promise<Used<T>> {
  let best = await cpuOf(work);
  for (let k = 1; k < repeats; k++) {
    const next = await cpuOf(work);
    best = { cpu: Math.min(best.cpu, next.cpu), wall: Math.min(best.wall, next.wall), value: next.value };
  }
  return best;
}
