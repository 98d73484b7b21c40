/**
 * `expectationSums` of the linear models in WebAssembly (packages/core/assembly/linear.ts; the definition is
 * models/linear/expectation.ts), and posteriors of effects where noise has levels (models/linear/effects.ts).
 */
import { type Noise, noiseConstants, noiseLevel, noiseLevels, noiseSpread } from "../noise/noise.ts";
import { LOG_2PI } from "../numeric/special.ts";
import type { Statistics } from "./expectation.ts";
import { openKernels } from "./layout.ts";
import { LINEAR } from "./layouts.ts";
import { levelTable, MOST_LEVELS } from "./levels.ts";

/** β [d], noise and L [d,r]. */
interface Parameters {
  readonly meanCoefficients: Float64Array;
  readonly noise: Noise;
  readonly factor: Float64Array;
}

/** The packed sums of all individuals in the statistics. */
export type LinearKernel = (statistics: Statistics, parameters: Parameters) => Float64Array;

/** Visits E v [r] and E vv', the lower triangle row by row, of every individual, whose noise has levels. */
export type PosteriorKernel = (
  statistics: Statistics,
  parameters: Parameters,
  visit: (individual: number, moments: Float64Array) => void,
) => void;

/** Individuals copied at a time; even. */
const BLOCK = 256;

/** The kernels for a basis of d functions and models of rank r. */
export function openLinearKernels(d: number, numBand: number, r: number) {
  const { buffers, sizes, run } = openKernels(LINEAR, {
    numBasis: d,
    rank: r,
    numBand,
    block: BLOCK,
    numLevels: MOST_LEVELS,
  });
  const { gram, cross, squares, sums, determinants, counts, posterior } = buffers;
  const numPlain = sums.length / 2 - numBand - 1;

  /** Loads parameters, then blocks of individuals in turn. */
  const forBlocks = (
    statistics: Statistics,
    { meanCoefficients, noise, factor }: Parameters,
    work: (from: number, count: number, even: number) => void,
  ): void => {
    const m = statistics.numIndividuals;
    buffers.bandRow.set(statistics.bandRow);
    buffers.bandColumn.set(statistics.bandColumn);
    buffers.mean.set(meanCoefficients.map((b) => b - statistics.center));
    buffers.factor.set(factor);
    buffers.noise[0] = noiseLevel(noise);
    const table = noiseLevels(noise);
    sizes.numLevels = table.z.length;
    buffers.levels.set(levelTable(table));
    for (let from = 0; from < m; from += BLOCK) {
      const to = Math.min(from + BLOCK, m);
      gram.set(statistics.gram.subarray(from * numBand, to * numBand));
      cross.set(statistics.cross.subarray(from * d, to * d));
      squares.set(statistics.sumSquares.subarray(from, to));
      const count = to - from;
      // An odd number is made even by an individual without observations.
      gram.fill(0, count * numBand, (count + 1) * numBand);
      cross.fill(0, count * d, (count + 1) * d);
      squares.fill(0, count, count + 1);
      const even = count + (count % 2);
      for (let i = 0; i < even; i++) counts[i] = i < count ? statistics.counts[from + i] : 0;
      work(from, count, even);
    }
  };

  const expect: LinearKernel = (statistics, parameters) => {
    const { noise } = parameters;
    const constant = noiseConstants(noise, statistics);
    const leveled = noiseSpread(noise) > 0;
    sums.fill(0);
    let logDensity = 0;
    forBlocks(statistics, parameters, (from, count, even) => {
      if (leveled) {
        run.expectLevels(even);
        for (let i = 0; i < count; i++) {
          const constant = counts[i] * LOG_2PI + statistics.logDets[from + i];
          logDensity += buffers.levelMaxima[i] + Math.log(buffers.levelSums[i]) - 0.5 * constant;
        }
        return;
      }
      run.expectLinear(even);
      for (let i = 0; i < count; i++) {
        logDensity += constant(from + i) - 0.5 * Math.log(determinants[i]);
      }
    });
    const out = new Float64Array(leveled ? sums.length / 2 : numPlain);
    for (let k = 0; k < out.length; k++) out[k] = sums[2 * k] + sums[2 * k + 1];
    out[0] = logDensity - (0.5 * out[0]) / noiseLevel(noise);
    // Its effects have their prior, E = I.
    const odd = statistics.numIndividuals % 2 === 1;
    if (odd) for (let a = 0; a < r; a++) out[2 + d + r * d + (a * (a + 3)) / 2] -= 1;
    return out;
  };

  const place: PosteriorKernel = (statistics, parameters, visit) => {
    const width = (r * (r + 3)) / 2;
    forBlocks(statistics, parameters, (from, count, even) => {
      run.placeLevels(even);
      for (let i = 0; i < count; i++) visit(from + i, posterior.subarray(i * width, (i + 1) * width));
    });
  };

  return { expect, place };
}

export type LinearKernels = ReturnType<typeof openLinearKernels>;
