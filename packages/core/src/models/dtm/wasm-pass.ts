/**
 * The passes over individuals in WebAssembly (packages/core/assembly/expectation.ts): the same sums as expectation-step.ts,
 * residual-step.ts and maximization-step.ts, 64 individuals per call. Statistics of a block are copied into the kernels'
 * memory, so that cohorts of any size pass through the same few kilobytes.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { createKernelInstance, type KernelExports } from "../../wasm/instance.ts";
import { addFromTiles, TILE, tileCount, toTiles } from "../../wasm/tiles.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import type { NodeTable } from "./node-table.ts";
import type { ExpectationOutputs, MaximizationSums } from "./pass-outputs.ts";

/** Individuals per call; a multiple of four. */
const BLOCK = 64;

/** Views on the memory of one instance; names and shapes as in the kernel. */
export interface WasmPass {
  readonly exports: KernelExports;
  readonly numBasis: number;
  readonly context: Int32Array;
  readonly noise: Float64Array;
  readonly bandRow: Int32Array;
  readonly bandColumn: Int32Array;
  readonly mean: Float64Array;
  readonly root: Float64Array;
  readonly gram: Float64Array;
  readonly cross: Float64Array;
  readonly squares: Float64Array;
  readonly rests: Float64Array;
  readonly diagonals: Float64Array;
  readonly products: Float64Array;
  readonly table: Float64Array;
  readonly logPrior: Float64Array;
  readonly maxima: Float64Array;
  readonly sums: Float64Array;
  readonly nodeSums: Float64Array;
  readonly moments: Float64Array;
  readonly totals: Float64Array;
  readonly placeTerms: Float64Array;
  readonly placeTable: Float64Array;
  readonly placePrior: Float64Array;
}

/** Position in the context, in the order of the kernel's `Pass`. */
const BAND_SIZE = 1;
const HAS_RESIDUAL = 4;
/** Size of the context: five numbers and the addresses of all views. */
const CONTEXT = 31;
/** Terms of a quadratic in one or two coordinates, at most. */
const MOST_TERMS = 5;

/** Memory for d coefficients and Γ nodes (none for passes that need no nodes). */
export function createWasmPass(d: number, numNodes = 0): WasmPass {
  const K = packedStride(d);
  const tiles = tileCount(numNodes);
  const numBand = (d * (d + 1)) / 2;
  const width = K + numBand + 3 * d + 8;
  const scratch = 2 * (5 * d * d + 3 * d);
  const instance = createKernelInstance(
    64 +
      numBand +
      2 * d * d +
      9 * d +
      6 +
      scratch +
      BLOCK * (width + K) +
      4 * K +
      BLOCK * MOST_TERMS +
      tiles * (2 * TILE * K + (6 + MOST_TERMS) * TILE + 1),
    CONTEXT,
  );
  const { doubles, integers } = instance;
  const context = integers(CONTEXT);
  const views = {
    noise: doubles(1),
    bandRow: integers(numBand),
    bandColumn: integers(numBand),
    mean: doubles(d),
    root: doubles(d * d),
    gram: doubles(BLOCK * numBand),
    cross: doubles(BLOCK * d),
    squares: doubles(BLOCK),
    scratch: doubles(scratch),
    packed: doubles(BLOCK * K),
    rests: doubles(BLOCK),
    diagonals: doubles(BLOCK * d),
    products: doubles(BLOCK),
    table: doubles(tiles * K * TILE),
    logPrior: doubles(tiles * TILE).fill(Number.NEGATIVE_INFINITY),
    weights: doubles(tiles * TILE * TILE),
    active: integers(tiles),
    maxima: doubles(BLOCK),
    sums: doubles(BLOCK),
    block: doubles(TILE * K),
    nodeSums: doubles(tiles * K * TILE),
    moments: doubles(BLOCK * K),
    totals: doubles(2 * (2 * d + 3)),
    placeTerms: doubles(BLOCK * MOST_TERMS),
    placeTable: doubles(tiles * MOST_TERMS * TILE),
    placePrior: doubles(tiles * TILE).fill(Number.NEGATIVE_INFINITY),
  };
  context.set([d, 0, K, tiles, 0, ...Object.values(views).map((view) => view.byteOffset)]);
  return { exports: instance.exports, numBasis: d, context, ...views };
}

/** One pass over `count` individuals; `expectationPass` in WebAssembly. */
export function wasmExpectationPass(
  pass: WasmPass,
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  model: IndividualModel,
  table: NodeTable,
  { nodeSums, moments, contributions }: ExpectationOutputs,
): number {
  const { stride: K, numNodes } = table;
  const context = pass.context.byteOffset;
  loadModel(pass, statistics, model);
  toTiles(table.rows, K, numNodes, pass.table);
  toTiles(table.logWeights, 1, numNodes, pass.logPrior);
  if (nodeSums) pass.nodeSums.fill(0);
  let total = 0;
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    pass.exports.packBlock(context, padded);
    pass.exports.expectBlock(context, padded, nodeSums ? 1 : 0, moments ? 1 : 0);
    for (let b = 0; b < size; b++) {
      const i = individuals === null ? first + b : individuals[first + b];
      const lambda = pass.maxima[b] + Math.log(pass.sums[b]);
      const contribution = constant(pass, statistics.counts[i], model, b) + lambda;
      total += contribution;
      if (contributions) contributions[first + b] = contribution;
    }
    if (moments) moments.set(pass.moments.subarray(0, size * K), first * K);
  }
  if (nodeSums) addFromTiles(pass.nodeSums, K, numNodes, nodeSums);
  return total;
}

/**
 * Adds Σ_i r_ig (g̃_i, G̃_i) with r_ig ∝ exp Σ_t terms[i,t] powers[t,g] to node sums [K,Γ]; terms [count,T] by position,
 * powers [T,Γ].
 */
export function wasmStartingSums(
  pass: WasmPass,
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  model: IndividualModel,
  terms: Float64Array,
  powers: Float64Array,
  nodeSums: Float64Array,
): void {
  const K = packedStride(pass.numBasis);
  const numNodes = nodeSums.length / K;
  const numTerms = powers.length / numNodes;
  const context = pass.context.byteOffset;
  loadModel(pass, statistics, model);
  toTiles(powers, numTerms, numNodes, pass.placeTable);
  pass.placePrior.fill(0, 0, numNodes);
  pass.nodeSums.fill(0);
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    for (let b = 0; b < padded; b++) {
      for (let t = 0; t < numTerms; t++) {
        const at = ((b >> 2) * numTerms + t) * TILE + (b & 3);
        pass.placeTerms[at] = b < size ? terms[(first + b) * numTerms + t] : 0;
      }
    }
    pass.exports.packBlock(context, padded);
    pass.exports.startBlock(context, padded, numTerms);
  }
  addFromTiles(pass.nodeSums, K, numNodes, nodeSums);
}

/** Q(τ) of `residualObjective` for the model with its residual root, from moments [count,K]. */
export function wasmResidualObjective(
  pass: WasmPass,
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  model: IndividualModel,
  moments: Float64Array,
): number {
  const context = pass.context.byteOffset;
  loadModel(pass, statistics, model);
  let total = 0;
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    loadMoments(pass, moments, first, size, padded);
    pass.exports.packBlock(context, padded);
    pass.exports.residualBlock(context, padded);
    for (let b = 0; b < size; b++) {
      const i = individuals === null ? first + b : individuals[first + b];
      total += constant(pass, statistics.counts[i], model, b) + pass.sums[b];
    }
  }
  return total;
}

/** Adds to the sums what mean and noise need: all but Σ G, the counts and Σ E ee'. */
export function wasmMaximizationSums(
  pass: WasmPass,
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  count: number,
  model: IndividualModel,
  moments: Float64Array,
  sums: MaximizationSums,
): void {
  const { totals, numBasis: d } = pass;
  loadModel(pass, statistics, model);
  totals.fill(0);
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    loadMoments(pass, moments, first, size, padded);
    pass.exports.maximizeBlock(pass.context.byteOffset, padded);
  }
  // Each total is a pair of lanes.
  const total = (e: number) => totals[2 * e] + totals[2 * e + 1];
  for (let k = 0; k < d; k++) {
    sums.cross[k] += total(k);
    sums.fitted[k] += total(d + k);
  }
  sums.sumSquares += total(2 * d);
  sums.crossFitted += total(2 * d + 1);
  sums.quadratic += total(2 * d + 2);
}

/** Band, mean, noise and residual root. */
function loadModel(pass: WasmPass, statistics: BasisStatistics, model: IndividualModel): void {
  const { context, numBasis: d } = pass;
  context[BAND_SIZE] = statistics.numBand;
  context[HAS_RESIDUAL] = model.residualRoot === null ? 0 : 1;
  pass.bandRow.set(statistics.bandRow);
  pass.bandColumn.set(statistics.bandColumn);
  for (let k = 0; k < d; k++) pass.mean[k] = model.mean[k] - statistics.center;
  if (model.residualRoot !== null) pass.root.set(model.residualRoot);
  pass.noise[0] = model.noiseVariance;
}

/** Statistics of a block; rows up to the next multiple of four are zero. Returns that multiple. */
function loadBlock(
  pass: WasmPass,
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  first: number,
  size: number,
): number {
  const { gram, cross, squares, numBasis: d } = pass;
  const { numBand, sumSquares } = statistics;
  const padded = Math.ceil(size / TILE) * TILE;
  if (individuals === null) {
    gram.set(statistics.gram.subarray(first * numBand, (first + size) * numBand));
    cross.set(statistics.cross.subarray(first * d, (first + size) * d));
    squares.set(sumSquares.subarray(first, first + size));
  } else {
    for (let b = 0; b < size; b++) {
      const i = individuals[first + b];
      for (let e = 0; e < numBand; e++) gram[b * numBand + e] = statistics.gram[i * numBand + e];
      for (let k = 0; k < d; k++) cross[b * d + k] = statistics.cross[i * d + k];
      squares[b] = sumSquares[i];
    }
  }
  gram.fill(0, size * numBand, padded * numBand);
  cross.fill(0, size * d, padded * d);
  squares.fill(0, size, padded);
  return padded;
}

function loadMoments(pass: WasmPass, moments: Float64Array, first: number, size: number, padded: number): void {
  const K = packedStride(pass.numBasis);
  pass.moments.set(moments.subarray(first * K, (first + size) * K));
  pass.moments.fill(0, size * K, padded * K);
}

/** c = −½[n log 2π + (n − d) log σ² + 2 Σ log M_kk + (ρ − ζ'ζ)/σ²] of the b-th individual of the block. */
function constant(pass: WasmPass, n: number, model: IndividualModel, b: number): number {
  const { numBasis: d, products, diagonals } = pass;
  const { noiseVariance: sigma2 } = model;
  let logDet = d * Math.log(sigma2);
  if (model.residualRoot !== null) {
    const product = products[b];
    logDet = 2 * Math.log(product);
    // The product may leave the range of doubles (large bases, extreme scales).
    if (!(product > 1e-280 && product < 1e280)) {
      logDet = 0;
      for (let k = 0; k < d; k++) logDet += 2 * Math.log(diagonals[((b >> 1) * d + k) * 2 + (b & 1)]);
    }
  }
  return -0.5 * (n * LOG_2PI + (n - d) * Math.log(sigma2) + logDet + pass.rests[b] / sigma2);
}
