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
import { addFromTiles, packedStride, TILE, tileCount, toTiles } from "./tiles.ts";

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

/** η and χ of individuals before and after a pass, [m,1 + d], and their δ in it, [m,d]. */
interface Squares {
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly directions: Float64Array;
}

/** Places of individuals beside their rows: what the prior of each is shifted by, η [m,q], and the log of what that divides it by. */
interface Shift {
  readonly terms: Float64Array; // [m,q]
  readonly logNormalizers: Float64Array; // [m]
}

/**
 * The passes for markers of d_k coefficients each, Γ nodes and tables of `stride` rows: those of the markers one after the other, and
 * what else the table has of the nodes. Buffers of nodes are empty for Γ = 0.
 */
export function wasmPasses(numBasis: readonly number[], numNodes: number, stride: number) {
  const largest = Math.max(...numBasis);
  const records = numBasis.map((d) => 2 * d * d + 3 * d + 1);
  const { buffers, sizes, run } = openKernels(PASS, {
    numBasis: largest,
    numBand: (largest * (largest + 1)) / 2,
    stride,
    numTiles: tileCount(numNodes),
    hasResidual: 0,
    block: BLOCK,
    numTerms: MOST_TERMS,
    numLevels: MOST_LEVELS,
    rowStart: 0,
    recordStart: 0,
    recordSize: records.reduce((sum, size) => sum + size, 0),
  });
  buffers.logPrior.fill(Number.NEGATIVE_INFINITY);
  buffers.placePrior.fill(Number.NEGATIVE_INFINITY);
  buffers.placePrior.fill(0, 0, numNodes);
  const starts = numBasis.map((_, k) => sumOf(numBasis.slice(0, k), packedStride));
  const rowsOfMarkers = sumOf(numBasis, packedStride);

  /** Which marker's parameters are loaded; none before a pass. */
  let loaded = -1;
  const load = (k: number, statistics: Statistics, model: Model): void => {
    if (loaded === k) return;
    loaded = k;
    sizes.numBasis = numBasis[k];
    sizes.numBand = statistics.numBand;
    sizes.hasResidual = model.residualRoot === null ? 0 : 1;
    sizes.rowStart = starts[k];
    sizes.recordStart = (BLOCK / 2) * sumOf(records.slice(0, k), (size) => size);
    buffers.bandRow.set(statistics.bandRow);
    buffers.bandColumn.set(statistics.bandColumn);
    for (let a = 0; a < numBasis[k]; a++) buffers.mean[a] = model.mean[a] - statistics.center;
    if (model.residualRoot !== null) buffers.root.set(model.residualRoot);
    buffers.noise[0] = noiseLevel(model.noise);
    const levels = noiseLevels(model.noise);
    sizes.numLevels = levels.z.length;
    buffers.levels.set(levelTable(levels));
  };

  /** Blocks of individuals in turn; rows up to the next multiple of four are zero. */
  const forBlocks = (m: number, work: (first: number, size: number, padded: number) => void): void => {
    loaded = -1;
    for (let first = 0; first < m; first += BLOCK) {
      const size = Math.min(BLOCK, m - first);
      work(first, size, Math.ceil(size / TILE) * TILE);
    }
  };

  /** A marker's part of a block, with its squares where noise has levels. */
  const loadBlock = (
    k: number,
    statistics: Statistics,
    model: Model,
    squares: Squares | undefined,
    first: number,
    size: number,
    padded: number,
  ): void => {
    load(k, statistics, model);
    loadRows(statistics.gram, statistics.numBand, buffers.gram, first, size, padded);
    loadRows(statistics.cross, numBasis[k], buffers.cross, first, size, padded);
    loadRows(statistics.sumSquares, 1, buffers.squares, first, size, padded);
    if (squares === undefined) return;
    loadCounts(statistics, first, size, padded);
    loadRows(squares.before, 1 + numBasis[k], buffers.squaresBefore, first, size, padded);
  };
  const loadCounts = ({ counts }: Statistics, first: number, size: number, padded: number): void => {
    for (let b = 0; b < padded; b++) buffers.counts[b] = b < size ? counts[first + b] : 0;
  };
  const packOne = (squares: Squares | undefined, padded: number): void => {
    if (squares) run.packLevels(padded);
    else run.packBlock(padded);
  };
  /** log Σ_k p_k exp Q_k of the b-th individual of the block. */
  const levelDensity = ({ counts, logDets }: Statistics, first: number, b: number): number =>
    buffers.levelMaxima[b] + Math.log(buffers.levelSums[b]) - 0.5 * (counts[first + b] * LOG_2PI + logDets[first + b]);

  /** c = noise constant − ½[2 Σ log M_kk − d log σ² + (ρ − ζ'ζ)/σ²] of the b-th individual of the block. */
  const constants = (d: number, statistics: Statistics, model: Model, squares?: Squares) => {
    if (squares) return (first: number, b: number) => levelDensity(statistics, first, b) - 0.5 * buffers.rests[b];
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

  /** What stands beside the markers' rows of a block: the shifts of the priors, and zeros. */
  const loadTail = (shift: Shift | undefined, first: number, size: number, padded: number): void => {
    const q = shift === undefined ? 0 : shift.terms.length / shift.logNormalizers.length;
    for (let row = rowsOfMarkers; row < stride; row++) {
      const c = row - rowsOfMarkers;
      for (let b = 0; b < padded; b++) {
        const at = ((b >> 2) * stride + row) * TILE + (b & 3);
        buffers.packed[at] = shift !== undefined && c < q && b < size ? shift.terms[(first + b) * q + c] : 0;
      }
    }
  };

  return {
    /** `expectationPass`. */
    expect: (
      statistics: readonly Statistics[],
      models: readonly Model[],
      table: { readonly rows: Float64Array; readonly logWeights: Float64Array },
      outputs: {
        readonly nodeSums?: Float64Array;
        readonly moments?: readonly Float64Array[];
        readonly placeMoments?: Float64Array;
        readonly contributions?: Float64Array;
        readonly squares?: readonly (Squares | undefined)[];
        readonly shift?: Shift;
      },
    ): number => {
      const { nodeSums, moments, placeMoments, contributions, squares, shift } = outputs;
      toTiles(table.rows, stride, numNodes, buffers.table);
      toTiles(table.logWeights, 1, numNodes, buffers.logPrior);
      buffers.nodeSums.fill(0);
      const constantsOf = statistics.map((own, k) => constants(numBasis[k], own, models[k], squares?.[k]));
      const constant = new Float64Array(BLOCK);
      const withLevels = squares?.some((own) => own !== undefined) ?? false;
      const writesMoments = moments || placeMoments || withLevels ? 1 : 0;
      let total = 0;
      forBlocks(statistics[0].numIndividuals, (first, size, padded) => {
        for (let b = 0; b < size; b++) constant[b] = shift === undefined ? 0 : -shift.logNormalizers[first + b];
        statistics.forEach((own, k) => {
          loadBlock(k, own, models[k], squares?.[k], first, size, padded);
          packOne(squares?.[k], padded);
          for (let b = 0; b < size; b++) constant[b] += constantsOf[k](first, b);
        });
        loadTail(shift, first, size, padded);
        run.expectBlock(padded, nodeSums ? 1 : 0, writesMoments);
        for (let b = 0; b < size; b++) {
          const contribution = constant[b] + (buffers.maxima[b] + Math.log(buffers.sums[b]));
          total += contribution;
          if (contributions) contributions[first + b] = contribution;
        }
        moments?.forEach((rows, k) => {
          takeColumns(buffers.moments, stride, starts[k], packedStride(numBasis[k]), size, rows, first);
        });
        if (placeMoments) {
          const width = placeMoments.length / statistics[0].numIndividuals;
          takeColumns(buffers.moments, stride, rowsOfMarkers, width, size, placeMoments, first);
        }
        squares?.forEach((own, k) => {
          if (own === undefined) return;
          load(k, statistics[k], models[k]);
          run.squaresBlock(padded);
          storeRows(buffers.squaresAfter, 1 + numBasis[k], own.after, first, size);
          storeRows(buffers.directions, numBasis[k], own.directions, first, size);
        });
      });
      if (nodeSums) addFromTiles(buffers.nodeSums, rowsOfMarkers, numNodes, nodeSums, stride);
      return total;
    },

    /** `addStartingSums`. */
    start: (
      statistics: readonly Statistics[],
      models: readonly Model[],
      { terms, powers }: { readonly terms: Float64Array; readonly powers: Float64Array },
      nodeSums: Float64Array,
      squares?: readonly (Squares | undefined)[],
    ): void => {
      const numTerms = powers.length / numNodes;
      toTiles(powers, numTerms, numNodes, buffers.placeTable);
      buffers.nodeSums.fill(0);
      forBlocks(statistics[0].numIndividuals, (first, size, padded) => {
        for (let b = 0; b < padded; b++) {
          for (let t = 0; t < numTerms; t++) {
            const at = ((b >> 2) * numTerms + t) * TILE + (b & 3);
            buffers.placeTerms[at] = b < size ? terms[(first + b) * numTerms + t] : 0;
          }
        }
        statistics.forEach((own, k) => {
          loadBlock(k, own, models[k], squares?.[k], first, size, padded);
          packOne(squares?.[k], padded);
        });
        run.startBlock(padded, numTerms);
      });
      addFromTiles(buffers.nodeSums, rowsOfMarkers, numNodes, nodeSums, stride);
    },

    /** `levelSums` of one marker. */
    levels: (
      statistics: Statistics,
      model: Model,
      { before, after, directions }: Squares,
      scale = 1,
      slopes = true,
    ) => {
      const [d] = numBasis;
      buffers.totals.fill(0);
      let value = 0;
      forBlocks(statistics.numIndividuals, (first, size, padded) => {
        load(0, statistics, model);
        loadCounts(statistics, first, size, padded);
        loadRows(before, 1 + d, buffers.squaresBefore, first, size, padded);
        loadRows(after, 1 + d, buffers.squaresAfter, first, size, padded);
        loadRows(directions, d, buffers.directions, first, size, padded);
        for (let e = 0; e < size * d; e++) buffers.directions[e] *= scale;
        run.levelsBlock(padded, slopes ? 1 : 0);
        for (let b = 0; b < size; b++) value += levelDensity(statistics, first, b);
      });
      const [logVariance, logTau, logSpread] = [0, 1, 2].map((e) => buffers.totals[2 * e] + buffers.totals[2 * e + 1]);
      return { value, logVariance, logTau, logSpread };
    },

    /** `startingSquares` of one marker. */
    squares: (statistics: Statistics, model: Model, out: Float64Array): void => {
      forBlocks(statistics.numIndividuals, (first, size, padded) => {
        loadBlock(0, statistics, model, undefined, first, size, padded);
        loadCounts(statistics, first, size, padded);
        run.startLevels(padded);
        storeRows(buffers.squaresAfter, 1 + numBasis[0], out, first, size);
      });
    },

    /** `residualObjective` of one marker. */
    residual: (statistics: Statistics, model: Model, moments: Float64Array): number => {
      const constant = constants(numBasis[0], statistics, model);
      let total = 0;
      forBlocks(statistics.numIndividuals, (first, size, padded) => {
        loadBlock(0, statistics, model, undefined, first, size, padded);
        loadRows(moments, stride, buffers.moments, first, size, padded);
        run.packBlock(padded);
        run.residualBlock(padded);
        for (let b = 0; b < size; b++) total += constant(first, b) + buffers.sums[b];
      });
      return total;
    },

    /** `maximizationSums` of one marker, but for Σ E ee', which is left zero. */
    maximize: (statistics: Statistics, model: Model, moments: Float64Array) => {
      const { numIndividuals: m, numBand, bandRow, bandColumn, counts } = statistics;
      const [d] = numBasis;
      const gram = new Float64Array(d * d);
      let numObservations = 0;
      for (let i = 0; i < m; i++) {
        numObservations += counts[i];
        for (let e = 0; e < numBand; e++) gram[bandRow[e] * d + bandColumn[e]] += statistics.gram[i * numBand + e];
      }
      for (let k = 0; k < d; k++) for (let l = 0; l < k; l++) gram[k * d + l] = gram[l * d + k];
      buffers.totals.fill(0);
      forBlocks(m, (first, size, padded) => {
        loadBlock(0, statistics, model, undefined, first, size, padded);
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

function sumOf(values: readonly number[], of: (value: number) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0);
}

/** Columns start..start+width−1 of the first `size` rows of `from` [·,stride] to rows from `first` on of `to` [·,width]. */
function takeColumns(
  from: Float64Array,
  stride: number,
  start: number,
  width: number,
  size: number,
  to: Float64Array,
  first: number,
): void {
  if (width === stride) {
    to.set(from.subarray(0, size * stride), first * stride);
    return;
  }
  for (let b = 0; b < size; b++) {
    to.set(from.subarray(b * stride + start, b * stride + start + width), (first + b) * width);
  }
}

/** The first `size` rows of `from` [·,width] to rows from `first` on of `to`. */
function storeRows(from: Float64Array, width: number, to: Float64Array, first: number, size: number): void {
  to.set(from.subarray(0, size * width), first * width);
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
