/**
 * Many independent streams of one seed: stream number k can be opened without drawing the streams before it, so that
 * work split between threads in any way draws the same numbers. The 128-bit state is a hash of (seed, k).
 */
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

export interface RandomStream {
  /** Uniform integer in −2³¹..2³¹−1. */
  next(): number;
}

/** Opens stream `index` (a whole number below 2⁵³) of `seed` (any finite number). */
export function openStream(seed: number, index: number): RandomStream {
  const words = new Uint32Array(new Float64Array([seed, index]).buffer);
  const state = [0, 0, 0, 0].map((_, lane) => {
    let h = Math.imul(lane + 1, 0x9e3779b9);
    for (const word of words) {
      h = Math.imul(h ^ word, 0x85ebca6b);
      h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
      h ^= h >>> 16;
    }
    return h;
  });
  const stream = xoroshiro128plusFromState(state);
  // The first draws of this generator mix little of the state.
  for (let k = 0; k < 16; k++) stream.next();
  return stream;
}

/** Uniform integer in 0..n−1 from one draw; for n below a million each has its share to 1 part in 4,000. */
export function drawBelow(stream: RandomStream, n: number): number {
  return Math.floor(((stream.next() >>> 0) * n) / 4294967296);
}

/** Moves a uniform random subset of `size` of items[from..to) to its front, in place. */
export function drawSubsetInPlace(
  stream: RandomStream,
  items: Int32Array,
  from: number,
  to: number,
  size: number,
): void {
  for (let k = 0; k < size; k++) {
    const other = from + k + drawBelow(stream, to - from - k);
    const item = items[other];
    items[other] = items[from + k];
    items[from + k] = item;
  }
}
