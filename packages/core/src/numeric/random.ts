/**
 * Seeded randomness as a value that is passed along: one generator per seed, with a state that can be stored; and many
 * streams of one seed, of which number k can be opened without drawing those before it, so that work split between
 * threads in any way draws the same numbers. The generator is pure-rand's xoroshiro128+; its first draws from small seeds
 * are poor, so seeds are hashed and some draws are dropped.
 */
import poissonFactory from "@stdlib/random-base-poisson";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus, xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";
import { normalQuantile } from "./special.ts";

export interface Random {
  /** Uniform on [0, 1). */
  uniform(): number;
  /** Standard normal, by inversion: one uniform per draw, so that the state tells all. */
  normal(): number;
  /** Uniform integer in 0..n-1. */
  integer(n: number): number;
  gamma(shape: number): number;
  beta(a: number, b: number): number;
  poisson(mean: number): number;
  /** Index drawn with the given probabilities (they need not be normalised). */
  categorical(weights: ArrayLike<number>): number;
  /** The same for many draws with the same probabilities. */
  categoricalOf(weights: ArrayLike<number>): () => number;
  /** A random permutation of 0..n-1. */
  permutation(n: number): Int32Array;
  /** The generator's state as plain numbers, for checkpoints. */
  state(): readonly number[];
}

/** A generator for a seed (any finite number; integers are usual) or restored from a stored state. */
export function createRandom(seed: number | readonly number[]): Random {
  const generator = typeof seed === "number" ? xoroshiro128plus(hash(GOLDEN, [seed])) : xoroshiro128plusFromState(seed);
  if (typeof seed === "number") for (let i = 0; i < 64; i++) generator.next();
  const uniform = () => uniformFloat64(generator);
  const positive = () => {
    let u = uniform();
    while (u === 0) u = uniform();
    return u;
  };
  const normal = () => normalQuantile(positive());
  const gamma = (shape: number) => drawGamma(shape, normal, positive);
  const poissonOf = poissonFactory.factory({ prng: positive });
  const random: Random = {
    uniform,
    normal,
    integer: (n) => Math.floor(uniform() * n),
    gamma,
    beta: (a, b) => {
      const x = gamma(a);
      return x / (x + gamma(b));
    },
    poisson: (mean) => (mean > 0 ? poissonOf(mean) : 0),
    categorical: (weights) => random.categoricalOf(weights)(),
    categoricalOf: (weights) => {
      const sums = new Float64Array(weights.length);
      let total = 0;
      for (let i = 0; i < sums.length; i++) sums[i] = total += weights[i];
      return () => {
        const u = uniform() * total;
        let [low, high] = [0, sums.length - 1];
        while (low < high) {
          const middle = (low + high) >> 1;
          if (sums[middle] > u) high = middle;
          else low = middle + 1;
        }
        return low;
      };
    },
    permutation: (n) => {
      const order = Int32Array.from({ length: n }, (_, i) => i);
      for (let i = n - 1; i > 0; i--) {
        const j = random.integer(i + 1);
        const t = order[i];
        order[i] = order[j];
        order[j] = t;
      }
      return order;
    },
    state: () => generator.getState(),
  };
  return random;
}

/**
 * Gamma variate of scale 1 (Marsaglia & Tsang 2000). Our own, because library versions keep a normal draw back for the
 * next call, which the generator's state does not tell.
 */
function drawGamma(shape: number, normal: () => number, positive: () => number): number {
  if (shape < 1) return drawGamma(shape + 1, normal, positive) * positive() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(positive()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

export interface RandomStream {
  /** Uniform integer in −2³¹..2³¹−1. */
  next(): number;
}

/** Opens stream `index` (a whole number below 2⁵³) of `seed` (any finite number); the state is a hash of both. */
export function openStream(seed: number, index: number): RandomStream {
  const stream = xoroshiro128plusFromState([1, 2, 3, 4].map((lane) => hash(Math.imul(lane, GOLDEN), [seed, index])));
  for (let k = 0; k < 16; k++) stream.next();
  return stream;
}

/** Moves a uniform random subset of `size` of items[from..to) to its front, in place: the first steps of Fisher and Yates. */
export function drawSubsetInPlace(
  stream: RandomStream,
  items: Int32Array,
  from: number,
  to: number,
  size: number,
): void {
  for (let k = from; k < from + size; k++) {
    // One of r = to − k, with its share to r parts in 2³².
    const other = k + Math.floor(((stream.next() >>> 0) * (to - k)) / 2 ** 32);
    const item = items[other];
    items[other] = items[k];
    items[k] = item;
  }
}

const GOLDEN = 0x9e3779b9;

/** A 32-bit mix of doubles, so that seeds 1, 2, 3 start far apart. */
function hash(start: number, values: readonly number[]): number {
  const words = new Uint32Array(new Float64Array(values).buffer);
  let h = start;
  for (const word of words) {
    h = Math.imul(h ^ word, 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    h ^= h >>> 16;
  }
  return h | 0;
}
