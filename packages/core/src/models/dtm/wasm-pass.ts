/**
 * The passes over individuals in WebAssembly (packages/core/assembly/expectation.ts): the same sums as expectation-step.ts,
 * residual-step.ts and maximization-step.ts, 64 individuals per call. Statistics of a block are copied into the kernels'
 * memory, so that cohorts of any size pass through the same few kilobytes.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { openKernels } from "../../wasm/layout.ts";
import { PASS } from "../../wasm/layouts.ts";
import { addFromTiles, TILE, tileCount, toTiles } from "../../wasm/tiles.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import type { NodeTable } from "./node-table.ts";
import type { ExpectationOutputs, MaximizationSums } from "./pass-outputs.ts";

/** Individuals per call; a multiple of four. */
const BLOCK = 64;

/** Terms of a quadratic in one or two coordinates, at most. */
const MOST_TERMS = 5;

/** Memory for d coefficients and Γ nodes (none for passes that need no nodes). */
export function createWasmPass(d: number, numNodes = 0) {
  const pass = openKernels(PASS, {
    numBasis: d,
    numBand: (d * (d + 1)) / 2,
    stride: packedStride(d),
    numTiles: tileCount(numNodes),
    hasResidual: 0,
    block: BLOCK,
    numTerms: MOST_TERMS,
  });
  pass.buffers.logPrior.fill(Number.NEGATIVE_INFINITY);
  pass.buffers.placePrior.fill(Number.NEGATIVE_INFINITY);
  return pass;
}

export type WasmPass = ReturnType<typeof createWasmPass>;

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
  loadModel(pass, statistics, model);
  toTiles(table.rows, K, numNodes, pass.buffers.table);
  toTiles(table.logWeights, 1, numNodes, pass.buffers.logPrior);
  if (nodeSums) pass.buffers.nodeSums.fill(0);
  let total = 0;
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    pass.run.packBlock(padded);
    pass.run.expectBlock(padded, nodeSums ? 1 : 0, moments ? 1 : 0);
    for (let b = 0; b < size; b++) {
      const i = individuals === null ? first + b : individuals[first + b];
      const lambda = pass.buffers.maxima[b] + Math.log(pass.buffers.sums[b]);
      const contribution = constant(pass, statistics.counts[i], model, b) + lambda;
      total += contribution;
      if (contributions) contributions[first + b] = contribution;
    }
    if (moments) moments.set(pass.buffers.moments.subarray(0, size * K), first * K);
  }
  if (nodeSums) addFromTiles(pass.buffers.nodeSums, K, numNodes, nodeSums);
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
  const K = pass.sizes.stride;
  const numNodes = nodeSums.length / K;
  const numTerms = powers.length / numNodes;
  loadModel(pass, statistics, model);
  toTiles(powers, numTerms, numNodes, pass.buffers.placeTable);
  pass.buffers.placePrior.fill(0, 0, numNodes);
  pass.buffers.nodeSums.fill(0);
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    for (let b = 0; b < padded; b++) {
      for (let t = 0; t < numTerms; t++) {
        const at = ((b >> 2) * numTerms + t) * TILE + (b & 3);
        pass.buffers.placeTerms[at] = b < size ? terms[(first + b) * numTerms + t] : 0;
      }
    }
    pass.run.packBlock(padded);
    pass.run.startBlock(padded, numTerms);
  }
  addFromTiles(pass.buffers.nodeSums, K, numNodes, nodeSums);
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
  loadModel(pass, statistics, model);
  let total = 0;
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    loadMoments(pass, moments, first, size, padded);
    pass.run.packBlock(padded);
    pass.run.residualBlock(padded);
    for (let b = 0; b < size; b++) {
      const i = individuals === null ? first + b : individuals[first + b];
      total += constant(pass, statistics.counts[i], model, b) + pass.buffers.sums[b];
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
  const { totals } = pass.buffers;
  const d = pass.sizes.numBasis;
  loadModel(pass, statistics, model);
  totals.fill(0);
  for (let first = 0; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    const padded = loadBlock(pass, statistics, individuals, first, size);
    loadMoments(pass, moments, first, size, padded);
    pass.run.maximizeBlock(padded);
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
  const { buffers, sizes } = pass;
  sizes.numBand = statistics.numBand;
  sizes.hasResidual = model.residualRoot === null ? 0 : 1;
  buffers.bandRow.set(statistics.bandRow);
  buffers.bandColumn.set(statistics.bandColumn);
  for (let k = 0; k < sizes.numBasis; k++) buffers.mean[k] = model.mean[k] - statistics.center;
  if (model.residualRoot !== null) buffers.root.set(model.residualRoot);
  buffers.noise[0] = model.noiseVariance;
}

/** Statistics of a block; rows up to the next multiple of four are zero. Returns that multiple. */
function loadBlock(
  pass: WasmPass,
  statistics: BasisStatistics,
  individuals: Int32Array | null,
  first: number,
  size: number,
): number {
  const { gram, cross, squares } = pass.buffers;
  const d = pass.sizes.numBasis;
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
  const K = pass.sizes.stride;
  pass.buffers.moments.set(moments.subarray(first * K, (first + size) * K));
  pass.buffers.moments.fill(0, size * K, padded * K);
}

/** c = −½[n log 2π + (n − d) log σ² + 2 Σ log M_kk + (ρ − ζ'ζ)/σ²] of the b-th individual of the block. */
function constant(pass: WasmPass, n: number, model: IndividualModel, b: number): number {
  const { products, diagonals } = pass.buffers;
  const d = pass.sizes.numBasis;
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
  return -0.5 * (n * LOG_2PI + (n - d) * Math.log(sigma2) + logDet + pass.buffers.rests[b] / sigma2);
}
