/**
 * Linear fits run on values centred at the pooled mean and divided by a power of two near the pooled standard
 * deviation: every number is then of order one whatever the unit, and no digit is lost by the division. With
 * y = center + scale·ỹ:  β = center + scale·β̃,  L = scale·L̃,  σ² = scale²·σ̃²,  ℓ = ℓ̃ − N log scale.
 * Further markers are divided by what makes their variance about individuals' own lines that of the first: the prior of the covariance
 * then means the same for each (prior.ts).
 */

import { scaledSums, totalSquares } from "../../basis/cohort-sums.ts";
import { weakNoisePrior } from "../../basis/noise-prior.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { scaleNoise } from "../../noise/noise.ts";
import type { FitControl, PriorChoice } from "../fit.ts";
import type { MeanKind } from "../mean.ts";
import { LEAST_NOISE, type LinearProblem, linearProblem } from "./em.ts";
import type { LinearParameters } from "./stack.ts";

/** The problem of ỹ, whose own center is 0, with what leads back: center and scale of each marker. */
export interface StandardProblem extends LinearProblem {
  readonly centers: readonly number[];
  readonly scales: readonly number[];
}

/** The problem of a linear fit on the standard scale. */
export function standardProblem(
  statistics: readonly BasisStatistics[],
  mean: MeanKind,
  control: Pick<FitControl, "kernels" | "shards"> = {},
  priors: PriorChoice = "none",
): StandardProblem {
  const first = 2 ** Math.round(Math.log2(spreadOf(statistics[0])));
  const scales = statistics.map((own, k) => (k === 0 ? first : first * (roughNoise(own) / roughNoise(statistics[0]))));
  const scaled = statistics.map(
    (own, k): BasisStatistics => ({
      ...own,
      center: 0,
      cross: own.cross.map((c) => c / scales[k]),
      sumSquares: own.sumSquares.map((s) => s / scales[k] / scales[k]),
      whole: scaledSums(own.whole, scales[k]),
    }),
  );
  return {
    ...linearProblem(scaled, mean, control, priors),
    centers: statistics.map(({ center }) => center),
    scales,
    logLikelihoodShift: statistics.reduce((sum, { numObservations: N }, k) => sum - N * Math.log(scales[k]), 0),
  };
}

/** Standard deviation of the values, refused where there is none. */
function spreadOf(statistics: BasisStatistics): number {
  const N = statistics.numObservations;
  const spread = Math.sqrt(totalSquares(statistics) / N);
  if (spread > 0 && Number.isFinite(spread)) return spread;
  throw new DtmError(
    "no-variation",
    `Linear model: expected values with a finite spread above 0, received a standard deviation of ${spread} over ${N} observations. Check the value column.`,
  );
}

/** The standard deviation that the noise seems to have before any model. */
function roughNoise(statistics: BasisStatistics): number {
  return Math.sqrt(weakNoisePrior(statistics, LEAST_NOISE * spreadOf(statistics) ** 2).level);
}

/** Parameters for ỹ from parameters for y. */
export function toStandard(problem: StandardProblem, parameters: LinearParameters): LinearParameters {
  const { centers, scales, rowMarker } = problem;
  const { meanCoefficients, noises, factor, rank } = parameters;
  return {
    meanCoefficients: meanCoefficients.map((b, j) => (b - centers[rowMarker[j]]) / scales[rowMarker[j]]),
    noises: noises.map((noise, k) => scaleNoise(noise, 1 / scales[k])),
    factor: factor.map((l, e) => l / scales[rowMarker[Math.floor(e / rank)]]),
    rank,
  };
}

/** Parameters for y from parameters for ỹ. */
export function fromStandard(problem: StandardProblem, parameters: LinearParameters): LinearParameters {
  const { centers, scales, rowMarker } = problem;
  const { meanCoefficients, noises, factor, rank } = parameters;
  return {
    meanCoefficients: meanCoefficients.map((b, j) => centers[rowMarker[j]] + scales[rowMarker[j]] * b),
    noises: noises.map((noise, k) => scaleNoise(noise, scales[k])),
    factor: factor.map((l, e) => scales[rowMarker[Math.floor(e / rank)]] * l),
    rank,
  };
}
