/**
 * The passes over individuals of the recommended map in WebAssembly (packages/core/assembly/expectation.ts), 64 individuals
 * per call. Statistics of a block are copied into the kernels' memory, so that cohorts of any size pass through the same
 * few kilobytes. What each pass computes is defined in models/dtm.
 */

import { type Noise, noiseConstants, noiseLevel } from "../noise/noise.ts";
import { openKernels } from "./layout.ts";
import { PASS } from "./layouts.ts";
import { addFromTiles, TILE, tileCount, toTiles } from "./tiles.ts";

/** Individuals per call; a multiple of four. */
const BLOCK = 64;
/** Terms of a quadratic in one or two coordinates, at most. */
const MOST_TERMS = 5;

/** The part of `BasisStatistics` that kernels read. */
export interface Statistics {
  readonly numIndividuals: number; // m
  readonly numBand: number;
  readonly bandRow: ArrayLike<number>;
  readonly bandColumn: ArrayLike<number>;
  readonly gram: Float64Array; // [m,numBand]
  readonly cross: Float64Array; // [m,d]
  readonly sumSquares: Float64Array; // [m]
  readonly counts: ArrayLike<number>;
  readonly center: number;
}

interface Individuals {
  readonly statistics: Statistics;
  readonly listed: Int32Array | null;
  readonly count: number;
}

interface Model {
  readonly mean: Float64Array;
  readonly noise: Noise;
  readonly residualRoot: Float64Array | null;
}

/** The passes for d coefficients, Γ nodes and tables of `stride` rows; buffers of nodes are empty for Γ = 0. */
export function wasmPasses(d: number, numNodes: number, stride: number) {
  const { buffers, sizes, run } = openKernels(PASS, {
    numBasis: d,
    numBand: (d * (d + 1)) / 2,
    stride,
    numTiles: tileCount(numNodes),
    hasResidual: 0,
    block: BLOCK,
    numTerms: MOST_TERMS,
  });
  buffers.logPrior.fill(Number.NEGATIVE_INFINITY);
  buffers.placePrior.fill(Number.NEGATIVE_INFINITY);
  buffers.placePrior.fill(0, 0, numNodes);

  /** Loads model and blocks of individuals in turn; rows up to the next multiple of four are zero. */
  const forBlocks = (
    { statistics, listed, count }: Individuals,
    model: Model,
    work: (first: number, size: number, padded: number) => void,
  ): void => {
    const { numBand } = statistics;
    sizes.numBand = numBand;
    sizes.hasResidual = model.residualRoot === null ? 0 : 1;
    buffers.bandRow.set(statistics.bandRow);
    buffers.bandColumn.set(statistics.bandColumn);
    for (let k = 0; k < d; k++) buffers.mean[k] = model.mean[k] - statistics.center;
    if (model.residualRoot !== null) buffers.root.set(model.residualRoot);
    buffers.noise[0] = noiseLevel(model.noise);
    for (let first = 0; first < count; first += BLOCK) {
      const size = Math.min(BLOCK, count - first);
      const padded = Math.ceil(size / TILE) * TILE;
      for (let b = 0; b < size; b++) {
        const i = listed === null ? first + b : listed[first + b];
        for (let e = 0; e < numBand; e++) buffers.gram[b * numBand + e] = statistics.gram[i * numBand + e];
        for (let k = 0; k < d; k++) buffers.cross[b * d + k] = statistics.cross[i * d + k];
        buffers.squares[b] = statistics.sumSquares[i];
      }
      buffers.gram.fill(0, size * numBand, padded * numBand);
      buffers.cross.fill(0, size * d, padded * d);
      buffers.squares.fill(0, size, padded);
      work(first, size, padded);
    }
  };

  const loadMoments = (moments: Float64Array, first: number, size: number, padded: number): void => {
    buffers.moments.set(moments.subarray(first * stride, (first + size) * stride));
    buffers.moments.fill(0, size * stride, padded * stride);
  };

  /** c = noise constant − ½[2 Σ log M_kk − d log σ² + (ρ − ζ'ζ)/σ²] of the b-th individual of the block. */
  const constants = ({ statistics, listed }: Individuals, model: Model) => {
    const sigma2 = noiseLevel(model.noise);
    const ofNoise = noiseConstants(model.noise, statistics);
    const prior = d * Math.log(sigma2);
    return (first: number, b: number): number => {
      let logDet = prior;
      if (model.residualRoot !== null) {
        const product = buffers.products[b];
        logDet = 2 * Math.log(product);
        // The product may leave the range of doubles (large bases, extreme scales).
        if (!(product > 1e-280 && product < 1e280)) {
          logDet = 0;
          for (let k = 0; k < d; k++) logDet += 2 * Math.log(buffers.diagonals[((b >> 1) * d + k) * 2 + (b & 1)]);
        }
      }
      const i = listed === null ? first + b : listed[first + b];
      return ofNoise(i) - 0.5 * (logDet - prior + buffers.rests[b] / sigma2);
    };
  };

  return {
    /** `expectationPass`. */
    expect: (
      individuals: Individuals,
      model: Model,
      table: { readonly rows: Float64Array; readonly logWeights: Float64Array },
      outputs: {
        readonly nodeSums?: Float64Array;
        readonly moments?: Float64Array;
        readonly contributions?: Float64Array;
      },
    ): number => {
      const { nodeSums, moments, contributions } = outputs;
      toTiles(table.rows, stride, numNodes, buffers.table);
      toTiles(table.logWeights, 1, numNodes, buffers.logPrior);
      buffers.nodeSums.fill(0);
      const constant = constants(individuals, model);
      let total = 0;
      forBlocks(individuals, model, (first, size, padded) => {
        run.packBlock(padded);
        run.expectBlock(padded, nodeSums ? 1 : 0, moments ? 1 : 0);
        for (let b = 0; b < size; b++) {
          const lambda = buffers.maxima[b] + Math.log(buffers.sums[b]);
          const contribution = constant(first, b) + lambda;
          total += contribution;
          if (contributions) contributions[first + b] = contribution;
        }
        if (moments) moments.set(buffers.moments.subarray(0, size * stride), first * stride);
      });
      if (nodeSums) addFromTiles(buffers.nodeSums, stride, numNodes, nodeSums);
      return total;
    },

    /** `addStartingSums`. */
    start: (
      individuals: Individuals,
      model: Model,
      { terms, powers }: { readonly terms: Float64Array; readonly powers: Float64Array },
      nodeSums: Float64Array,
    ): void => {
      const numTerms = powers.length / numNodes;
      toTiles(powers, numTerms, numNodes, buffers.placeTable);
      buffers.nodeSums.fill(0);
      forBlocks(individuals, model, (first, size, padded) => {
        for (let b = 0; b < padded; b++) {
          for (let t = 0; t < numTerms; t++) {
            const at = ((b >> 2) * numTerms + t) * TILE + (b & 3);
            buffers.placeTerms[at] = b < size ? terms[(first + b) * numTerms + t] : 0;
          }
        }
        run.packBlock(padded);
        run.startBlock(padded, numTerms);
      });
      addFromTiles(buffers.nodeSums, stride, numNodes, nodeSums);
    },

    /** `residualObjective`. */
    residual: (individuals: Individuals, model: Model, moments: Float64Array): number => {
      const constant = constants(individuals, model);
      let total = 0;
      forBlocks(individuals, model, (first, size, padded) => {
        loadMoments(moments, first, size, padded);
        run.packBlock(padded);
        run.residualBlock(padded);
        for (let b = 0; b < size; b++) total += constant(first, b) + buffers.sums[b];
      });
      return total;
    },

    /** Adds what `maximizationSums` has for mean and noise: all but Σ E ee'. */
    maximize: (
      individuals: Individuals,
      model: Model,
      moments: Float64Array,
      sums: {
        numIndividuals: number;
        numObservations: number;
        readonly gram: Float64Array;
        readonly cross: Float64Array;
        readonly fitted: Float64Array;
        sumSquares: number;
        crossFitted: number;
        quadratic: number;
      },
    ): void => {
      const { statistics, listed, count } = individuals;
      const { numBand, bandRow, bandColumn, gram, counts } = statistics;
      sums.numIndividuals += count;
      for (let at = 0; at < count; at++) {
        const i = listed === null ? at : listed[at];
        sums.numObservations += counts[i];
        for (let e = 0; e < numBand; e++) sums.gram[bandRow[e] * d + bandColumn[e]] += gram[i * numBand + e];
      }
      for (let k = 0; k < d; k++) for (let l = 0; l < k; l++) sums.gram[k * d + l] = sums.gram[l * d + k];
      buffers.totals.fill(0);
      forBlocks(individuals, model, (first, size, padded) => {
        loadMoments(moments, first, size, padded);
        run.maximizeBlock(padded);
      });
      // Each total is a pair of lanes.
      const total = (e: number) => buffers.totals[2 * e] + buffers.totals[2 * e + 1];
      for (let k = 0; k < d; k++) {
        sums.cross[k] += total(k);
        sums.fitted[k] += total(d + k);
      }
      sums.sumSquares += total(2 * d);
      sums.crossFitted += total(2 * d + 1);
      sums.quadratic += total(2 * d + 2);
    },
  };
}
