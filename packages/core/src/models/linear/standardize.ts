/**
 * Linear fits run on values centred at the pooled mean and divided by a power of two near the pooled standard
 * deviation: every number is then of order one whatever the unit, and no digit is lost by the division. With
 * y = center + scale·ỹ:  β = center + scale·β̃,  L = scale·L̃,  σ² = scale²·σ̃²,  ℓ = ℓ̃ − N log scale.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { scaleNoise } from "../../noise/noise.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import type { FitControl, PriorChoice } from "../fit.ts";
import type { MeanKind } from "../mean.ts";
import { type LinearProblem, linearProblem } from "./em.ts";
import type { LowRankParameters } from "./low-rank.ts";

/** The problem of ỹ, whose own center is 0, with what leads back. */
export interface StandardProblem extends LinearProblem {
  readonly center: number;
  readonly scale: number;
}

/** The problem of a linear fit on the standard scale. */
export function standardProblem(
  statistics: BasisStatistics,
  mean: MeanKind,
  control: Pick<FitControl, "kernels" | "shards"> = {},
  priors: PriorChoice = "none",
): StandardProblem {
  const { numObservations: N, cross, sumSquares, center } = statistics;
  const spread = Math.sqrt(compensatedSum(sumSquares) / N);
  if (!(spread > 0 && Number.isFinite(spread))) {
    throw new DtmError(
      "no-variation",
      `Linear model: expected values with a finite spread above 0, received a standard deviation of ${spread} over ${N} observations. Check the value column.`,
    );
  }
  const scale = 2 ** Math.round(Math.log2(spread));
  const scaled: BasisStatistics = {
    ...statistics,
    center: 0,
    cross: cross.map((c) => c / scale),
    sumSquares: sumSquares.map((s) => s / scale / scale),
  };
  return { ...linearProblem(scaled, mean, control, priors), center, scale, logLikelihoodShift: -N * Math.log(scale) };
}

/** Parameters for ỹ from parameters for y. */
export function toStandard({ center, scale }: StandardProblem, parameters: LowRankParameters): LowRankParameters {
  return {
    meanCoefficients: parameters.meanCoefficients.map((b) => (b - center) / scale),
    noise: scaleNoise(parameters.noise, 1 / scale),
    factor: parameters.factor.map((l) => l / scale),
    rank: parameters.rank,
  };
}

/** Parameters for y from parameters for ỹ. */
export function fromStandard({ center, scale }: StandardProblem, parameters: LowRankParameters): LowRankParameters {
  return {
    meanCoefficients: parameters.meanCoefficients.map((b) => center + scale * b),
    noise: scaleNoise(parameters.noise, scale),
    factor: parameters.factor.map((l) => scale * l),
    rank: parameters.rank,
  };
}
