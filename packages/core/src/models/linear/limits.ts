/**
 * What values below or above a limit are read under (docs/math/noise.md §8): one Gaussian for everybody's coefficients, that of the
 * mixed model with the same noise. Sites and model are taken in turn until the model rests: at that point the slopes of its
 * likelihood are those of the values' own, limits integrated over.
 */
import type { Basis } from "../../basis/bspline.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { type Cohort, type MarkerSeries, onlyMarker } from "../../cohort/cohort.ts";
import { atLimits, censoringLimits } from "../../cohort/limits.ts";
import { applyTransform } from "../../cohort/marker.ts";
import type { LimitPrior } from "../../noise/limits.ts";
import { levelNoise, type Noise, noiseLevel, noiseSpread, withLevel, withSpread } from "../../noise/noise.ts";
import { dot } from "../../numeric/matrix.ts";
import { checkCancelled } from "../fit.ts";
import type { CorrelationOptions } from "./correlation.ts";
import { fitLmmStatistics, type LmmModel, lmmParameters } from "./lmm.ts";
import type { LinearParameters } from "./stack.ts";

const MOST_PASSES = 40;
/** At rest: neither the mean, in units of noise, nor log σ² nor log tr Σ moves further. */
const REST = 0.002;
/** Gains in log-likelihood not worth another step of a model whose sites will move. */
const SMALL_GAIN = 0.02;

/** Learns from a cohort of one marker what its limits are read under, with noise of this kind and correlation. */
export function learnLimits(cohort: Cohort, basis: Basis, noise: Noise, options: CorrelationOptions = {}): LimitPrior {
  const fit = (read: Cohort, own: Noise, start?: LinearParameters): LmmModel => {
    checkCancelled(options.signal);
    const statistics = basisStatistics(read, basis, { noise: own });
    return fitLmmStatistics([statistics], { ...options, start, restarts: 0, tolerance: SMALL_GAIN });
  };
  // Somebody always at the limit seems to have no noise: levels are left to the passes.
  let model = fit(atLimits(cohort), levelNoise(1, 0, noise.correlation));
  let prior = priorOf(model);
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const first = withLevel(noise, prior.variance);
    const noises = [prior.spread > 0 ? withSpread(first, prior.spread) : first];
    model = fit(cohort, { ...noise, limits: prior }, { ...lmmParameters(model), noises });
    const before = prior;
    prior = priorOf(model);
    if (movement(before, prior) < REST) break;
  }
  return { ...prior, ...usualLimit(onlyMarker(cohort)) };
}

function usualLimit(series: MarkerSeries): Pick<LimitPrior, "lower"> {
  const [usual] = censoringLimits(series)
    .filter(({ side }) => side < 0)
    .sort((a, b) => b.count - a.count);
  return usual === undefined ? {} : { lower: applyTransform(series.marker.transform, usual.limit) };
}

function priorOf(model: LmmModel): LimitPrior {
  const [{ mean, noise }] = model.markers;
  const [variance, spread] = [noiseLevel(noise), noiseSpread(noise)];
  return { mean: mean.coefficients, factor: model.covarianceFactor, variance, spread };
}

function movement(before: LimitPrior, after: LimitPrior): number {
  const change = after.mean.map((v, k) => v - before.mean[k]);
  const ofMean = Math.sqrt(dot(change, change) / (change.length * after.variance));
  const ofCovariance = Math.log(dot(after.factor, after.factor) / dot(before.factor, before.factor));
  return Math.max(ofMean, Math.abs(Math.log(after.variance / before.variance)), Math.abs(ofCovariance));
}
