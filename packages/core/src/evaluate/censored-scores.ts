/**
 * Scores of a forecast whose value is only known to lie below or above a limit ℓ (docs/math/evaluation.md §2): the log-probability of
 * that, a PIT drawn evenly from the range it leaves (randomised PIT, by a fixed sequence), and CRPS and error as far as they are
 * known, those of max(X, ℓ), or min, at ℓ.
 */
import {
  mixtureCdf,
  mixtureMean,
  mixtureQuantile,
  mixtureVariance,
  type NormalMixture,
} from "../models/mixture/normal-mixture.ts";
import { logNormalCdf, logSumExp } from "../numeric/special.ts";

/** log P(X < limit) for side −1, log P(X > limit) for side 1. */
export function logBeyond({ weights, means, sds }: NormalMixture, limit: number, side: number): number {
  return logSumExp(weights.map((w, k) => Math.log(w) + logNormalCdf((side * (means[k] - limit)) / sds[k])));
}

/** A PIT from the range that is left; `order` is the number of the forecast. */
export function censoredPit(mixture: NormalMixture, limit: number, side: number, order: number): number {
  const share = (order * GOLDEN) % 1;
  const at = mixtureCdf(mixture, limit);
  return side < 0 ? share * at : at + share * (1 - at);
}

const GOLDEN = 0.6180339887498949;
/** Standard deviations beyond which nothing is left of a forecast, and intervals of Simpson's rule. */
const REACH = 8;
const INTERVALS = 200;

/** ∫ (1 − F)² above a lower limit, ∫ F² below an upper one. */
export function censoredCrps(mixture: NormalMixture, limit: number, side: number): number {
  const end = mixtureMean(mixture) - side * REACH * Math.sqrt(mixtureVariance(mixture));
  const length = side * (limit - end);
  if (!(length > 0)) return 0;
  const h = length / INTERVALS;
  let sum = 0;
  for (let k = 0; k <= INTERVALS; k++) {
    const F = mixtureCdf(mixture, limit - side * k * h);
    const outside = side < 0 ? 1 - F : F;
    sum += (k === 0 || k === INTERVALS ? 1 : k % 2 === 1 ? 4 : 2) * outside * outside;
  }
  return (sum * h) / 3;
}

/** How far the median is on the wrong side. */
export function censoredError(mixture: NormalMixture, limit: number, side: number): number {
  return Math.max(side * (limit - mixtureQuantile(mixture, 0.5)), 0);
}
