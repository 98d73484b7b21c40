/**
 * `logLikelihoodScore` many times over the same statistics: in WebAssembly (packages/core/assembly/linear.ts) where it
 * runs, two individuals at a time, and in TypeScript elsewhere. The statistics are laid out once.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { chooseKernels, createKernelInstance, type KernelChoice } from "../../wasm/instance.ts";
import {
  createLowRankWorkspace,
  finishScore,
  type LowRankParameters,
  logLikelihoodScore,
  readFactorShape,
  type Score,
} from "./low-rank.ts";

/** Σ_i log p(y_i), derivatives to `score`; NaN if some A_i is numerically not positive definite. */
export type Scorer = (parameters: LowRankParameters, score: Score) => number;

/** More individuals than this are not laid out a second time: 150 bytes each would be felt. */
const MOST_LAID_OUT = 1_000_000;

/** A scorer for models of rank r; `gram` is Σ_i G_i [d,d]. */
export function createScorer(
  statistics: BasisStatistics,
  r: number,
  gram: Float64Array,
  kernels: KernelChoice = "auto",
): Scorer {
  if (chooseKernels(kernels) === "wasm-simd" && statistics.numIndividuals <= MOST_LAID_OUT) {
    return createWasmScorer(statistics, r, gram);
  }
  const ws = createLowRankWorkspace(statistics.basis.numBasis, r);
  return (parameters, score) => logLikelihoodScore(statistics, parameters, gram, score, ws);
}

function createWasmScorer(statistics: BasisStatistics, r: number, gram: Float64Array): Scorer {
  const { numIndividuals: m, numObservations: N, numBand, center } = statistics;
  const d = statistics.basis.numBasis;
  const numPairs = Math.ceil(m / 2);
  const width = numBand + d + 1;
  const scratchSize = 2 * (d + d * r + r * r + r);
  const entries = numPairs * width * 2 + scratchSize + 3 * numBand + 5 * d + d * r + 2 * d * d + 64;
  const { exports, doubles, integers } = createKernelInstance(entries, 12);
  const context = integers(15);
  const bandRow = integers(numBand);
  const bandColumn = integers(numBand);
  const rowEnd = integers(d);
  const packed = doubles(numPairs * width * 2);
  const mean = doubles(d);
  const factor = doubles(d * r);
  const noise = doubles(1);
  const scratch = doubles(scratchSize);
  const residual = doubles(2 * d);
  const spread = doubles(2 * d * d);
  const totals = doubles(8);
  bandRow.set(statistics.bandRow);
  bandColumn.set(statistics.bandColumn);
  layOut(statistics, packed);
  const inputs = [bandRow, bandColumn, rowEnd, packed, mean, factor, noise, scratch];
  const views = [...inputs, residual, spread, totals];
  context.set([d, r, numPairs, numBand, ...views.map((view) => view.byteOffset)]);
  const flags = new Int32Array(totals.buffer, totals.byteOffset + 48, 4);
  const shape = { d, r, rowEnd };
  return (parameters, score) => {
    const sigma2 = parameters.noiseVariance;
    readFactorShape(parameters, shape);
    for (let k = 0; k < d; k++) mean[k] = parameters.meanCoefficients[k] - center;
    factor.set(parameters.factor);
    noise[0] = sigma2;
    exports.scoreLinear(context.byteOffset);
    for (let k = 0; k < d; k++) {
      score.residual[k] = residual[2 * k] + residual[2 * k + 1];
      for (let l = 0; l <= k; l++) {
        const at = 2 * (k * d + l);
        score.covariance[k * d + l] = spread[at] + spread[at + 1];
      }
    }
    const misfit = totals[0] + totals[1];
    finishScore(parameters, gram, N, misfit, score);
    if (flags.includes(0)) return Number.NaN;
    const logDet = Math.log(totals[2]) + Math.log(totals[3]) + Math.LN2 * (totals[4] + totals[5]);
    return -0.5 * (N * (LOG_2PI + Math.log(sigma2)) + logDet + misfit / sigma2);
  };
}

/** Band of G, B'y and y'y as [pair][numBand + d + 1][2]; a missing last individual has no observations. */
function layOut(statistics: BasisStatistics, out: Float64Array): void {
  const { numIndividuals: m, numBand, gram, cross, sumSquares } = statistics;
  const d = statistics.basis.numBasis;
  const width = numBand + d + 1;
  for (let i = 0; i < m; i++) {
    let at = (i >> 1) * width * 2 + (i & 1);
    for (let e = 0; e < numBand; e++, at += 2) out[at] = gram[i * numBand + e];
    for (let k = 0; k < d; k++, at += 2) out[at] = cross[i * d + k];
    out[at] = sumSquares[i];
  }
}
