/**
 * Random subsets for millions of permutations. The generator is Doty-Humphrey's sfc32: 32-bit additions, shifts and one
 * rotation, so that it stays in registers for a whole subset. Its state is three words drawn from stream (seed, index)
 * and a counter that makes every period at least 2³².
 */
import { openStream } from "./random-stream.ts";

/** State of the generator, [4]; opened by `openDraws`. */
export type DrawState = Int32Array;

/** The generator of permutation `index` of `seed`, written into `state` [4]. */
export function openDraws(seed: number, index: number, state: DrawState): void {
  const stream = openStream(seed, index);
  for (let k = 0; k < 3; k++) state[k] = stream.next();
  state[3] = 1;
}

/**
 * Flips the bits of a uniform random subset of `size` of the items[from..to), which are moved to the front: the first
 * steps of Fisher and Yates. Bit i is bit i mod 32 of bits[⌊i/32⌋]. With u uniform in 0..2³²−1, ⌊u r / 2³²⌋ is one of r
 * with its share to r parts in 2³².
 */
export function flipSubset(
  state: DrawState,
  items: Int32Array,
  from: number,
  to: number,
  size: number,
  bits: Int32Array,
): void {
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  const end = (from + size) | 0;
  for (let k = from | 0; k < end; k = (k + 1) | 0) {
    const u = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + u) | 0;
    const other = (k + (((u >>> 0) * ((to - k) * INVERSE)) | 0)) | 0;
    const item = items[other];
    items[other] = items[k];
    items[k] = item;
    bits[item >>> 5] ^= 1 << (item & 31);
  }
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

/** Writes the numbers of the bits that are set, ascending, into out, and returns how many there are. */
export function listBits(bits: Int32Array, out: Int32Array): number {
  let count = 0;
  for (let w = 0; w < bits.length; w++) {
    // The lowest bit of x is x & −x.
    for (let x = bits[w]; x !== 0; x &= x - 1) {
      out[count] = ((w << 5) + 31 - Math.clz32(x & -x)) | 0;
      count = (count + 1) | 0;
    }
  }
  return count;
}

const INVERSE = 2 ** -32;
