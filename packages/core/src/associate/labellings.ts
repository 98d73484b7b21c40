/**
 * Labels shuffled within strata. Labelling b draws from its own random stream (seed, b), so that any split of 0..B−1
 * between threads sees the same ones.                                              (docs/math/association.md §4)
 */
import { drawSubsetInPlace, openStream } from "../numeric/random.ts";

/** What a shuffle keeps: how many are marked in each stratum. Plain data. */
export interface Labellings {
  /** Individuals grouped by stratum, [n]; stratum s is starts[s]..starts[s+1]−1. */
  readonly order: Int32Array;
  readonly starts: Int32Array;
  /** Individuals to mark in each stratum. */
  readonly marked: Int32Array;
  readonly seed: number;
}

/** Individuals with a given label, ascending. */
export function indicesOf(labels: Uint8Array | Int32Array, label: number): Int32Array {
  return Int32Array.from(labels.keys()).filter((i) => labels[i] === label);
}

/** Labellings that mark as many in each stratum as have label 1; one stratum if `strata` [n] is left out. */
export function labellingsOf(labels: Uint8Array, strata: Int32Array | undefined, seed: number): Labellings {
  const of = strata ?? new Int32Array(labels.length);
  const order = Int32Array.from(of.keys()).sort((a, b) => of[a] - of[b] || a - b);
  const starts: number[] = [];
  const marked: number[] = [];
  for (const [k, i] of order.entries()) {
    if (k === 0 || of[i] !== of[order[k - 1]]) {
      starts.push(k);
      marked.push(0);
    }
    marked[marked.length - 1] += labels[i];
  }
  return { order, starts: Int32Array.from([...starts, order.length]), marked: Int32Array.from(marked), seed };
}

/** Visits labellings from..to−1 with the marked individuals in ascending order, in a buffer that is used again. */
export function eachLabelling(
  { order, starts, marked, seed }: Labellings,
  from: number,
  to: number,
  visit: (members: Int32Array, b: number) => void,
): void {
  const shuffled = new Int32Array(order.length);
  const members = new Int32Array(marked.reduce((s, m) => s + m, 0));
  for (let b = from; b < to; b++) {
    const stream = openStream(seed, b);
    shuffled.set(order);
    let count = 0;
    for (let s = 0; s < marked.length; s++) {
      drawSubsetInPlace(stream, shuffled, starts[s], starts[s + 1], marked[s]);
      for (let k = 0; k < marked[s]; k++) members[count++] = shuffled[starts[s] + k];
    }
    visit(members.sort(), b);
  }
}
