/**
 * Distributions of linear functionals b'(β + w) under a posterior of many nodes, in WebAssembly
 * (packages/core/assembly/course.ts): one after the other, means, deviations and quantiles of curve-distribution.ts and
 * quantiles.ts. Moments of the nodes stand in tiles of four in a room of the instance's memory, [tile][d + d(d+1)/2][4].
 */
import { fillNormalTable, NORMAL_TABLE_SIZE } from "../../numeric/normal-table.ts";
import { normalQuantile } from "../../numeric/special.ts";
import { createKernelInstance, type KernelInstance } from "../../wasm/instance.ts";
import { TILE, tileCount } from "../../wasm/tiles.ts";
import type { NormalMixture } from "./normal-mixture.ts";
import type { NodeChoice } from "./place.ts";
import type { CoefficientPosterior } from "./posterior.ts";

/** Views on the memory of one instance. */
export interface CourseRoom {
  readonly instance: KernelInstance;
  readonly numBasis: number; // d
  /** Tiles that fit. */
  readonly capacity: number;
  readonly context: Int32Array;
  /** Means, then lower triangles of covariances row by row, [tile][d + d(d+1)/2][4]. */
  readonly moments: Float64Array;
  /** Weights that sum to one, [tile][4]; zero for lanes without a node. */
  readonly weights: Float64Array;
  readonly offsets: Int32Array;
  readonly terms: Float64Array;
  readonly numbers: Float64Array;
  readonly means: Float64Array; // m_k [tile][4]
  readonly sds: Float64Array; // s_k [tile][4]
}

/** Mean and variance of a functional, and the components they come from; lanes of weight zero mean nothing. */
export interface CourseValue {
  readonly mean: number;
  readonly variance: number;
  readonly components: NormalMixture;
}

const NUM_TILES = 0;
const NUM_MEAN_TERMS = 2;
const NUM_TERMS = 3;

/** Entries and buffers of a room for so many tiles, but for the table of Φ. */
export function roomSize(d: number, tiles: number): { readonly entries: number; readonly buffers: number } {
  const numColumns = d + (d * (d + 1)) / 2;
  return { entries: tiles * TILE * (numColumns + 5) + 2 * numColumns + 5 + 7, buffers: 10 };
}

/** The table of Φ in the memory of an instance. */
export function normalTable(instance: KernelInstance): Float64Array {
  const table = instance.doubles(NORMAL_TABLE_SIZE);
  fillNormalTable(table);
  return table;
}

/** A room for so many tiles in an instance, whose table of Φ is given. */
export function createRoom(instance: KernelInstance, table: Float64Array, d: number, tiles: number): CourseRoom {
  const { doubles, integers } = instance;
  const numColumns = d + (d * (d + 1)) / 2;
  const context = integers(14);
  const moments = doubles(tiles * numColumns * TILE);
  const weights = doubles(tiles * TILE);
  const offsets = integers(numColumns);
  const terms = doubles(numColumns);
  const numbers = doubles(5);
  const means = doubles(tiles * TILE);
  const sds = doubles(tiles * TILE);
  const views = [moments, weights, offsets, terms, numbers, table, means, sds];
  const rest = [doubles(tiles * TILE), doubles(tiles * TILE)];
  context.set([0, numColumns, 0, 0, ...[...views, ...rest].map((view) => view.byteOffset)]);
  return { instance, numBasis: d, capacity: tiles, context, moments, weights, offsets, terms, numbers, means, sds };
}

/** A room of its own for the chosen nodes of any posterior. */
export function roomOf(posterior: CoefficientPosterior, choice: NodeChoice, d: number): CourseRoom {
  const K = choice.weights.length;
  const tiles = tileCount(K);
  const { entries, buffers } = roomSize(d, tiles);
  const instance = createKernelInstance(entries + NORMAL_TABLE_SIZE, buffers + 1);
  const room = createRoom(instance, normalTable(instance), d, tiles);
  const { moments } = room;
  const { means: m, covariances: S } = posterior;
  const numColumns = d + (d * (d + 1)) / 2;
  for (let r = 0; r < K; r++) {
    const k = choice.positions[r];
    let at = (r >> 2) * numColumns * TILE + (r & 3);
    for (let a = 0; a < d; a++, at += TILE) moments[at] = m[k * d + a];
    for (let a = 0; a < d; a++) for (let b = 0; b <= a; b++, at += TILE) moments[at] = S[(k * d + a) * d + b];
  }
  room.weights.set(choice.weights);
  setTiles(room, tiles);
  return room;
}

/** Says how many tiles of the room are in use. */
export function setTiles(room: CourseRoom, tiles: number): void {
  room.context[NUM_TILES] = tiles;
}

/** Takes b'(β + w) + noise, b = rows[offset..offset+d), as the functional at hand. */
export function takeFunctional(
  room: CourseRoom,
  beta: Float64Array,
  rows: Float64Array,
  offset: number,
  noiseVariance: number,
): CourseValue {
  listFunctional(room, beta, rows, offset, noiseVariance);
  room.instance.exports.spreadCourse(room.context.byteOffset);
  return valueAtHand(room);
}

/** Writes the terms of b'β, b'E and b'Sb, and the noise, where the kernels read them. */
export function listFunctional(
  { numBasis: d, context, offsets, terms, numbers }: CourseRoom,
  beta: Float64Array,
  rows: Float64Array,
  offset: number,
  noiseVariance: number,
): void {
  const bytes = TILE * Float64Array.BYTES_PER_ELEMENT;
  let level = 0;
  let n = 0;
  // Few splines are above zero at one time.
  for (let a = 0; a < d; a++) {
    const b = rows[offset + a];
    if (b === 0) continue;
    level += b * beta[a];
    offsets[n] = a * bytes;
    terms[n++] = b;
  }
  context[NUM_MEAN_TERMS] = n;
  for (let a = 0; a < d; a++) {
    const b = rows[offset + a];
    if (b === 0) continue;
    const row = d + (a * (a + 1)) / 2;
    for (let c = 0; c <= a; c++) {
      const other = rows[offset + c];
      if (other === 0) continue;
      offsets[n] = (row + c) * bytes;
      terms[n++] = c === a ? b * b : 2 * b * other;
    }
  }
  context[NUM_TERMS] = n;
  numbers[0] = level;
  numbers[1] = noiseVariance;
}

/** The functional that was spread over the nodes last. */
export function valueAtHand({ context, numbers, weights, means, sds }: CourseRoom): CourseValue {
  const size = context[NUM_TILES] * TILE;
  return {
    mean: numbers[2],
    variance: numbers[3],
    components: { weights: weights.subarray(0, size), means: means.subarray(0, size), sds: sds.subarray(0, size) },
  };
}

/** Quantiles are solved for to this share of the spread. */
const ACCURACY = 1e-11;
/** Levels of quantiles, with the last two times and where quantiles were found there, in standard deviations from the mean. */
export interface Levels {
  readonly probabilities: readonly number[];
  /** Scores of the last time, then of the one before, [2,J]. */
  readonly scores: Float64Array;
  /** The last time and the one before; NaN without. */
  readonly times: Float64Array;
}

/** Levels that start where a normal distribution has them. */
export function startLevels(probabilities: readonly number[]): Levels {
  const scores = probabilities.map(normalQuantile);
  return {
    probabilities,
    scores: Float64Array.from([...scores, ...scores]),
    times: Float64Array.of(Number.NaN, Number.NaN),
  };
}

/**
 * The quantiles of the functional at hand, which belongs to `time`, to out. They are looked for on the line through those of the last two
 * times, since they move slowly.
 */
export function courseQuantiles(room: CourseRoom, levels: Levels, time: number, out: Float64Array): void {
  const { numbers, instance, context } = room;
  const { probabilities, scores, times } = levels;
  const J = probabilities.length;
  const mean = numbers[2];
  const spread = Math.sqrt(Math.max(numbers[3], 0));
  const ahead = (time - times[0]) / (times[0] - times[1]);
  // Far ahead of two near times, or without any, the last score is as good.
  const reach = Math.abs(ahead) <= 2 ? ahead : 0;
  for (let j = 0; j < J; j++) {
    const p = probabilities[j];
    // Cantelli's inequality: no distribution has its quantiles further out. A little room for rounding.
    const below = 1.001 * Math.sqrt((1 - p) / p);
    const above = 1.001 * Math.sqrt(p / (1 - p));
    const line = scores[j] + reach * (scores[j] - scores[J + j]);
    const y = instance.exports.courseQuantile(
      context.byteOffset,
      p,
      mean + Math.min(Math.max(line, -below), above) * spread,
      mean - below * spread,
      mean + above * spread,
      ACCURACY * spread,
    );
    scores[J + j] = scores[j];
    if (spread > 0) scores[j] = (y - mean) / spread;
    out[j] = y;
  }
  times[1] = times[0];
  times[0] = time;
}
