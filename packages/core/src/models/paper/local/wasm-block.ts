/**
 * Passes over blocks of individuals in WebAssembly, for q = 2, the RBF kernel and inducing places on a grid
 * (packages/core/assembly/local-block.ts): statistics and places of a block are copied in row by row, then one call works
 * on all of them. An individual out of the range of the fast grid is marked and left to the caller.
 */
import type { BasisStatistics } from "../../../basis/statistics.ts";
import { createKernelInstance, type KernelExports } from "../../../wasm/instance.ts";
import { paddedWidth } from "./padded-rows.ts";
import { type FeaturePlaces, fitsGridKernel } from "./wasm-local.ts";

/** Individuals per call: features of 32 individuals and 25 places are 27 kB, which fits the fastest memory. */
const CAPACITY = 32;

/** Doubles of scratch: the place of a pair, five tables of 64 pairs, two climbs. */
const PLACE = 34;
const TABLES = 5 * 128;
const CLIMBS = 2 * 52;

/** Views on the memory of one instance. */
export interface WasmBlock {
  readonly exports: KernelExports;
  /** Sizes for which the memory was made. */
  readonly key: string;
  readonly context: Int32Array;
  readonly capacity: number;
  readonly numParameters: number;
  readonly theta: Float64Array; // [capacity,P]
  readonly gram: Float64Array; // [capacity,stride]
  readonly cross: Float64Array; // [capacity,d]
  readonly results: Float64Array; // [capacity]
  readonly gradient: Float64Array; // [capacity,P]
  readonly slopes: Float64Array; // [capacity,2]
  readonly fits: Float64Array; // [capacity]
  readonly constants: Float64Array; // [capacity]
  readonly mean: Float64Array; // [width]
  /** The rows of G: where each begins, and its band entries and columns. */
  readonly starts: Int32Array; // [d + 1]
  readonly entries: Int32Array;
  readonly columns: Int32Array;
  readonly squares: Float64Array;
  readonly geometry: Float64Array;
  readonly tables: readonly [Float64Array, Float64Array];
  /** Σ ψ1 g', Σ Ψ2 G and Σ ψ1 G, rows of features. */
  readonly sums: readonly [Float64Array, Float64Array, Float64Array];
}

/**
 * Passes over up to `capacity` individuals: `load`, then any of the others. Row n of what is written belongs to the n-th
 * that was loaded.
 */
export interface LocalBlocks {
  readonly capacity: number;
  /** J without its constant, [capacity]; NaN out of range. */
  readonly results: Float64Array;
  /** ∂J/∂θ, [capacity,P]. */
  readonly gradient: Float64Array;
  /** ½(D2 + D2 of ψ1)_cc, what hyper-gradient.ts sums, [capacity,2]. */
  readonly slopes: Float64Array;
  /** Where each climb ended, [capacity,P]; who came out of range stays where it was. */
  readonly theta: Float64Array;
  /** β̃'(c + g), so that ρ = s − this, [capacity]. */
  readonly fits: Float64Array;
  /** c_i, [capacity]: to be filled before `climb`. */
  readonly constants: Float64Array;
  /** Individuals from..to−1 of the list (of the cohort if null) with their rows of θ [m,P]. */
  load(
    statistics: BasisStatistics,
    individuals: ArrayLike<number> | null,
    from: number,
    to: number,
    meanCoefficients: Float64Array,
    theta: Float64Array,
  ): void;
  /** Fills `results`. */
  evaluate(): void;
  /** Scaled conjugate gradients from θ; `results` then hold J with its constant. */
  climb(gradientTolerance: number, maxEvaluations: number): void;
  /** Adds weight · features × statistics to the solver's sums, with Σ ψ1 G if asked; `results` are 0 or NaN. */
  accumulate(weight: number, withCourse: boolean): void;
  /** Writes Σ G_kl ψ1 of those accumulated with it to out [p,numBand]. */
  readCourseSums(signalVariance: number, out: Float64Array): void;
}

/** What the passes need of the solver whose memory they use. */
export interface BlockOwner {
  learnBand(statistics: BasisStatistics): void;
  /** Makes sure that the tables in the memory are those of the global state. */
  requireTables(): void;
  countEvaluations(count: number): void;
}

/** The passes of one solver. */
export function localBlocks(block: WasmBlock, owner: BlockOwner): LocalBlocks {
  const { exports, context, results, gradient, slopes, theta, fits, constants, sums } = block;
  const at = context.byteOffset;
  let count = 0;
  return {
    capacity: block.capacity,
    results,
    gradient,
    slopes,
    theta,
    fits,
    constants,
    load: (statistics, individuals, from, to, meanCoefficients, places) => {
      owner.learnBand(statistics);
      count = to - from;
      loadRows(block, statistics, individuals, from, to, meanCoefficients, places);
    },
    evaluate: () => {
      owner.requireTables();
      exports.evaluateBlock(at, count);
      owner.countEvaluations(count);
    },
    climb: (gradientTolerance, maxEvaluations) => {
      owner.requireTables();
      owner.countEvaluations(exports.climbBlock(at, count, gradientTolerance, maxEvaluations));
    },
    accumulate: (weight, withCourse) => exports.sumBlock(at, count, weight, withCourse ? 1 : 0),
    readCourseSums: (signalVariance, out) => {
      const numBand = context[BAND_SIZES + 1];
      const stride = context[BAND_SIZES + 4];
      const p = context[BAND_SIZES + 5] * context[BAND_SIZES + 6];
      for (let j = 0; j < p; j++) {
        for (let e = 0; e < numBand; e++) out[j * numBand + e] = signalVariance * sums[2][j * stride + e];
      }
    },
  };
}

/** Position of the sizes that follow the band in the context. */
const BAND_SIZES = 28;

/** The memory for places and d coefficients, the given one if it fits; null where the kernels do not apply. */
export function wasmBlock(
  places: FeaturePlaces,
  numParameters: number,
  d: number,
  before: WasmBlock | null,
): WasmBlock | null {
  const { grid, squares } = places;
  if (grid === null || !fitsGridKernel(grid)) return null;
  const key = [numParameters, d, ...grid.counts].join(" ");
  const block = before?.key === key ? before : create(grid.counts, numParameters, d, key);
  block.squares.set(squares);
  block.geometry.set([...grid.first, ...grid.spacing]);
  for (const sums of block.sums) sums.fill(0);
  return block;
}

function create(counts: ArrayLike<number>, numParameters: number, d: number, key: string): WasmBlock {
  const [n0, n1] = [counts[0], counts[1]];
  const nodes = [n0 * n1, (2 * n0 - 1) * (2 * n1 - 1)];
  const [s0, s1] = nodes.map(paddedWidth);
  const width = paddedWidth(d);
  const most = paddedWidth((d * (d + 1)) / 2);
  const rows = CAPACITY * (2 * numParameters + most + d + width + 5);
  const features = s0 * (2 * width + most + 4 + CAPACITY) + s1 * (2 * most + 4 + CAPACITY);
  const rest = 2 * width + 4 * most + d * d + 6 + PLACE + TABLES + CLIMBS;
  const { exports, doubles, integers } = createKernelInstance(rows + features + rest + 18, 30);
  const context = integers(35);
  const theta = doubles(CAPACITY * numParameters);
  const gram = doubles(CAPACITY * most);
  const cross = doubles(CAPACITY * d);
  const residual = doubles(CAPACITY * width);
  const results = doubles(CAPACITY);
  const gradient = doubles(CAPACITY * numParameters);
  const slopes = doubles(CAPACITY * 2);
  const fits = doubles(CAPACITY);
  const constants = doubles(CAPACITY);
  const mean = doubles(width);
  const starts = integers(d + 1);
  const entries = integers(d * d);
  const columns = integers(d * d);
  const squares = doubles(2);
  const geometry = doubles(4);
  const tables = [doubles(s0 * width), doubles(s1 * most)] as const;
  const sums = [doubles(s0 * width), doubles(s1 * most), doubles(s0 * most)] as const;
  const weights = [doubles(4 * most), doubles(4 * s0), doubles(4 * s1)];
  const values = [doubles(CAPACITY * s0), doubles(CAPACITY * s1)];
  const scratch = [doubles(PLACE), doubles(TABLES), doubles(CLIMBS)];
  const rowsOf = [theta, gram, cross, residual, results, gradient, slopes, fits, constants];
  const fixed = [mean, starts, entries, columns, squares, geometry];
  const views = [...rowsOf, ...fixed, ...tables, ...sums, ...weights, ...values, ...scratch];
  context.set([...views.map((view) => view.byteOffset), numParameters, 0, d, width, 0, n0, n1]);
  return {
    exports,
    key,
    context,
    capacity: CAPACITY,
    numParameters,
    theta,
    gram,
    cross,
    results,
    gradient,
    slopes,
    fits,
    constants,
    mean,
    starts,
    entries,
    columns,
    squares,
    geometry,
    tables,
    sums,
  };
}

/** Takes over the layout of the band; sums taken under another one are dropped. */
export function loadBand(block: WasmBlock, statistics: BasisStatistics): void {
  const { context, starts, entries, columns, sums } = block;
  const { numBand, bandRow, bandColumn } = statistics;
  let next = 0;
  for (let k = 0; k < statistics.basis.numBasis; k++) {
    starts[k] = next;
    for (let e = 0; e < numBand; e++) {
      if (bandRow[e] !== k && bandColumn[e] !== k) continue;
      entries[next] = e;
      columns[next++] = bandRow[e] === k ? bandColumn[e] : bandRow[e];
    }
    starts[k + 1] = next;
  }
  context[BAND_SIZES + 1] = statistics.numBand;
  context[BAND_SIZES + 4] = paddedWidth(statistics.numBand);
  block.gram.fill(0);
  for (const part of sums) part.fill(0);
}

/** Copies individuals from..to−1 of the list (of the cohort if null) in: statistics about the mean, and rows of θ. */
export function loadRows(
  block: WasmBlock,
  statistics: BasisStatistics,
  individuals: ArrayLike<number> | null,
  from: number,
  to: number,
  meanCoefficients: Float64Array,
  theta: Float64Array,
): void {
  const { gram, cross, mean, numParameters: P } = block;
  const { numBand, center } = statistics;
  const d = meanCoefficients.length;
  const stride = paddedWidth(numBand);
  for (let k = 0; k < d; k++) mean[k] = meanCoefficients[k] - center;
  if (individuals === null) {
    // Rows lie side by side on both sides, but for the padding of the band.
    cross.set(statistics.cross.subarray(from * d, to * d));
    block.theta.set(theta.subarray(from * P, to * P));
    if (numBand === stride) gram.set(statistics.gram.subarray(from * numBand, to * numBand));
    else for (let i = from; i < to; i++) copyRow(statistics.gram, i * numBand, numBand, gram, (i - from) * stride);
  } else {
    for (let n = 0; n < to - from; n++) {
      const i = individuals[from + n];
      copyRow(statistics.gram, i * numBand, numBand, gram, n * stride);
      copyRow(statistics.cross, i * d, d, cross, n * d);
      copyRow(theta, i * P, P, block.theta, n * P);
    }
  }
  block.exports.blockResiduals(block.context.byteOffset, to - from);
}

function copyRow(from: Float64Array, at: number, length: number, to: Float64Array, position: number): void {
  for (let k = 0; k < length; k++) to[position + k] = from[at + k];
}

/** Moves Σ ψ1 g' and Σ Ψ2 G into tables of the same rows, adding to them. */
export function takeBlockSums({ sums }: WasmBlock, first: Float64Array, second: Float64Array): void {
  for (let e = 0; e < first.length; e++) first[e] += sums[0][e];
  for (let e = 0; e < second.length; e++) second[e] += sums[1][e];
  sums[0].fill(0);
  sums[1].fill(0);
}
