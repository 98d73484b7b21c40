/**
 * The passes over individuals of the recommended map in WebAssembly (packages/core/assembly/expectation.ts), 64 individuals
 * per call. Statistics of a block are copied into the kernels' memory, so that cohorts of any size pass through the same
 * few kilobytes. What each pass computes is defined in models/dtm.
 */

import { type Noise, noiseConstants, noiseLevel, noiseLevels } from "../noise/noise.ts";
import { LOG_2PI } from "../numeric/special.ts";
import { openKernels } from "./layout.ts";
import { PASS } from "./layouts.ts";
import { levelTable, MOST_LEVELS } from "./levels.ts";
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
  readonly logDets: ArrayLike<number>;
  readonly center: number;
}

interface Model {
  readonly mean: Float64Array;
  readonly noise: Noise;
  readonly residualRoot: Float64Array | null;
}

/** η and χ of individuals before and after a pass, [m,1 + d]. */
interface Squares {
  readonly before: Float64Array;
  readonly after: Float64Array;
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
    numLevels: MOST_LEVELS,
  });
  buffers.logPrior.fill(Number.NEGATIVE_INFINITY);
  buffers.placePrior.fill(Number.NEGATIVE_INFINITY);
  buffers.placePrior.fill(0, 0, numNodes);

  /** Loads model and blocks of individuals in turn; rows up to the next multiple of four are zero. */
  const forBlocks = (
    statistics: Statistics,
    model: Model,
    work: (first: number, size: number, padded: number) => void,
  ): void => {
    const { numIndividuals: m, numBand } = statistics;
    sizes.numBand = numBand;
    sizes.hasResidual = model.residualRoot === null ? 0 : 1;
    buffers.bandRow.set(statistics.bandRow);
    buffers.bandColumn.set(statistics.bandColumn);
    for (let k = 0; k < d; k++) buffers.mean[k] = model.mean[k] - statistics.center;
    if (model.residualRoot !== null) buffers.root.set(model.residualRoot);
    buffers.noise[0] = noiseLevel(model.noise);
    for (let first = 0; first < m; first += BLOCK) {
      const size = Math.min(BLOCK, m - first);
      const padded = Math.ceil(size / TILE) * TILE;
      loadRows(statistics.gram, numBand, buffers.gram, first, size, padded);
      loadRows(statistics.cross, d, buffers.cross, first, size, padded);
      loadRows(statistics.sumSquares, 1, buffers.squares, first, size, padded);
      work(first, size, padded);
    }
  };

  /** Loads levels, and for each block counts and squares, for the kernels of assembly/levels.ts. */
  const loadLevels = ({ noise }: Model): void => {
    const levels = noiseLevels(noise);
    sizes.numLevels = levels.z.length;
    buffers.levels.set(levelTable(levels));
  };
  const loadSquares = (
    { counts }: Statistics,
    { before, after }: Squares,
    first: number,
    size: number,
    padded: number,
  ) => {
    for (let b = 0; b < padded; b++) buffers.counts[b] = b < size ? counts[first + b] : 0;
    loadRows(before, 1 + d, buffers.squaresBefore, first, size, padded);
    loadRows(after, 1 + d, buffers.squaresAfter, first, size, padded);
  };
  /** log Σ_k p_k exp Q_k of the b-th individual of the block. */
  const levelDensity = ({ counts, logDets }: Statistics, first: number, b: number): number =>
    buffers.levelMaxima[b] + Math.log(buffers.levelSums[b]) - 0.5 * (counts[first + b] * LOG_2PI + logDets[first + b]);

  /** c = noise constant − ½[2 Σ log M_kk − d log σ² + (ρ − ζ'ζ)/σ²] of the b-th individual of the block. */
  const constants = (statistics: Statistics, model: Model) => {
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
      return ofNoise(first + b) - 0.5 * (logDet - prior + buffers.rests[b] / sigma2);
    };
  };

  return {
    /** `expectationPass`. */
    expect: (
      statistics: Statistics,
      model: Model,
      table: { readonly rows: Float64Array; readonly logWeights: Float64Array },
      outputs: {
        readonly nodeSums?: Float64Array;
        readonly moments?: Float64Array;
        readonly contributions?: Float64Array;
        readonly squares?: Squares;
      },
    ): number => {
      const { nodeSums, moments, contributions, squares } = outputs;
      toTiles(table.rows, stride, numNodes, buffers.table);
      toTiles(table.logWeights, 1, numNodes, buffers.logPrior);
      buffers.nodeSums.fill(0);
      const constant = squares
        ? (first: number, b: number) => levelDensity(statistics, first, b) - 0.5 * buffers.rests[b]
        : constants(statistics, model);
      if (squares) loadLevels(model);
      let total = 0;
      forBlocks(statistics, model, (first, size, padded) => {
        if (squares) {
          loadSquares(statistics, squares, first, size, padded);
          run.packLevels(padded);
        } else {
          run.packBlock(padded);
        }
        run.expectBlock(padded, nodeSums ? 1 : 0, moments || squares ? 1 : 0);
        if (squares) {
          run.squaresBlock(padded);
          squares.after.set(buffers.squaresAfter.subarray(0, size * (1 + d)), first * (1 + d));
        }
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
      statistics: Statistics,
      model: Model,
      { terms, powers }: { readonly terms: Float64Array; readonly powers: Float64Array },
      nodeSums: Float64Array,
      squares?: Squares,
    ): void => {
      if (squares) loadLevels(model);
      const numTerms = powers.length / numNodes;
      toTiles(powers, numTerms, numNodes, buffers.placeTable);
      buffers.nodeSums.fill(0);
      forBlocks(statistics, model, (first, size, padded) => {
        for (let b = 0; b < padded; b++) {
          for (let t = 0; t < numTerms; t++) {
            const at = ((b >> 2) * numTerms + t) * TILE + (b & 3);
            buffers.placeTerms[at] = b < size ? terms[(first + b) * numTerms + t] : 0;
          }
        }
        if (squares) {
          loadSquares(statistics, squares, first, size, padded);
          run.packLevels(padded);
        } else {
          run.packBlock(padded);
        }
        run.startBlock(padded, numTerms);
      });
      addFromTiles(buffers.nodeSums, stride, numNodes, nodeSums);
    },

    /** `levelSums`. */
    levels: (statistics: Statistics, model: Model, squares: Squares) => {
      loadLevels(model);
      buffers.totals.fill(0);
      let value = 0;
      forBlocks(statistics, model, (first, size, padded) => {
        loadSquares(statistics, squares, first, size, padded);
        run.levelsBlock(padded);
        for (let b = 0; b < size; b++) value += levelDensity(statistics, first, b);
      });
      const [logVariance, logTau, logSpread] = [0, 1, 2].map((e) => buffers.totals[2 * e] + buffers.totals[2 * e + 1]);
      return { value, logVariance, logTau, logSpread };
    },

    /** `residualObjective`. */
    residual: (statistics: Statistics, model: Model, moments: Float64Array): number => {
      const constant = constants(statistics, model);
      let total = 0;
      forBlocks(statistics, model, (first, size, padded) => {
        loadRows(moments, stride, buffers.moments, first, size, padded);
        run.packBlock(padded);
        run.residualBlock(padded);
        for (let b = 0; b < size; b++) total += constant(first, b) + buffers.sums[b];
      });
      return total;
    },

    /** `maximizationSums`, but for Σ E ee', which is left zero. */
    maximize: (statistics: Statistics, model: Model, moments: Float64Array) => {
      const { numIndividuals: m, numBand, bandRow, bandColumn, counts } = statistics;
      const gram = new Float64Array(d * d);
      let numObservations = 0;
      for (let i = 0; i < m; i++) {
        numObservations += counts[i];
        for (let e = 0; e < numBand; e++) gram[bandRow[e] * d + bandColumn[e]] += statistics.gram[i * numBand + e];
      }
      for (let k = 0; k < d; k++) for (let l = 0; l < k; l++) gram[k * d + l] = gram[l * d + k];
      buffers.totals.fill(0);
      forBlocks(statistics, model, (first, size, padded) => {
        loadRows(moments, stride, buffers.moments, first, size, padded);
        run.maximizeBlock(padded);
      });
      // Each total is a pair of lanes.
      const total = (e: number) => buffers.totals[2 * e] + buffers.totals[2 * e + 1];
      return {
        numObservations,
        gram,
        cross: Float64Array.from({ length: d }, (_, k) => total(k)),
        fitted: Float64Array.from({ length: d }, (_, k) => total(d + k)),
        sumSquares: total(2 * d),
        crossFitted: total(2 * d + 1),
        quadratic: total(2 * d + 2),
        residualMoment: new Float64Array(d * d),
      };
    },
  };
}

/** Rows first..first+size−1 of `from` [m,width] to the start of `to`, and zeros up to row `padded`. */
function loadRows(
  from: Float64Array,
  width: number,
  to: Float64Array,
  first: number,
  size: number,
  padded: number,
): void {
  to.set(from.subarray(first * width, (first + size) * width));
  to.fill(0, size * width, padded * width);
}
