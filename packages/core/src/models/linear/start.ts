/**
 * Where map models start (docs/math/linear.md §7): the linear mixed model gives mean, noise, Σ and principal component
 * scores; the reduced-rank model started from it gives a Gaussian posterior of each place.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import type { FitControl } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { canonicalFactor, factorCovariance } from "./canonical.ts";
import { type LinearOptions, type LinearSettings, linearSettings } from "./fit-linear.ts";
import { maximizeFpca } from "./fpca.ts";
import { maximizeLmm } from "./lmm.ts";
import { prepareMean } from "./mean.ts";
import { coefficientMeans, effectPosterior } from "./posterior.ts";
import { principalScores } from "./principal-scores.ts";
import { leadingStart } from "./restart.ts";
import { fromStandard, standardize } from "./standardize.ts";

export interface LinearStartOptions extends LinearOptions, FitControl {
  /** q. */
  readonly mapDimension: number;
}

/**
 * The linear start of a map. By default quasi-Newton after a few EM steps and not to the last digit, which is both
 * faster and nearer to the maximum than the published EM (`algorithm: "em"`: 500 steps or 1e-7).
 */
export function linearStart(statistics: BasisStatistics, options: LinearStartOptions): MapStart {
  const d = statistics.basis.numBasis;
  const m = statistics.numIndividuals;
  const q = options.mapDimension;
  checkOption(
    Number.isInteger(q) && q >= 1 && q <= d,
    "linearStart",
    `mapDimension from 1 to ${d} (the size of the basis)`,
    q,
    "Use a smaller map or a larger basis.",
  );
  const quick = options.algorithm === "em" ? {} : { maxEmIterations: 5, tolerance: 1e-2 };
  const settings: LinearSettings = linearSettings({ ...quick, ...options }, "linearStart");
  const standard = standardize(statistics);
  const mean = prepareMean(standard.statistics, settings.mean);
  const lmm = maximizeLmm(standard, mean, settings, options);
  const fpca = maximizeFpca(standard, mean, settings, options, leadingStart(lmm.parameters, d, q));
  const parameters = fromStandard(standard, lmm.parameters);
  const scores = principalScores(coefficientMeans(statistics, parameters), m, d, q);
  const places = effectPosterior(standard.statistics, {
    ...fpca.parameters,
    factor: canonicalFactor(fpca.parameters.factor, d, q),
  });
  return {
    mean: { kind: settings.mean, coefficients: parameters.meanCoefficients },
    noiseVariance: parameters.noiseVariance,
    covariance: factorCovariance(parameters.factor, d, d),
    scores: scores.scores,
    locationMean: places.mean,
    locationCovariance: places.covariance,
    warnings: [...new Set([...lmm.warnings, ...fpca.warnings])],
  };
}
