/**
 * Where map models start (docs/math/linear.md §7): the linear mixed model gives mean, noise, Σ and principal component
 * scores; the reduced-rank model started from it gives a Gaussian posterior of each place.
 */
import { type BasisStatistics, selectStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import { createRandom } from "../../numeric/random.ts";
import type { FitControl } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { canonicalFactor, factorCovariance } from "./canonical.ts";
import { type LinearOptions, type LinearSettings, linearSettings } from "./fit-linear.ts";
import { maximizeFpca } from "./fpca.ts";
import { maximizeLmm } from "./lmm.ts";
import { prepareMean } from "./mean.ts";
import { allCoefficientMeans, allEffects } from "./passes.ts";
import { effectPosterior } from "./posterior.ts";
import { principalScores } from "./principal-scores.ts";
import { leadingStart } from "./restart.ts";
import { fromStandard, standardize } from "./standardize.ts";

export interface LinearStartOptions extends LinearOptions, FitControl {
  /** q. */
  readonly mapDimension: number;
  /**
   * The linear models are fitted to a random sample of this size, then everybody is placed by them. Default 20,000 for
   * more than 50,000 individuals, else everybody.
   */
  readonly sampleSize?: number;
}

/** A start need not be exact: above the first number of individuals, the second is enough. */
const MANY_INDIVIDUALS = 50_000;
const SAMPLE_SIZE = 20_000;

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
  const sampleSize = options.sampleSize ?? (m > MANY_INDIVIDUALS ? SAMPLE_SIZE : m);
  const standard = standardize(sampleSize < m ? sampleOf(statistics, sampleSize, options.seed) : statistics);
  const mean = prepareMean(standard.statistics, settings.mean);
  const lmm = maximizeLmm(standard, mean, settings, options);
  const fpca = maximizeFpca(standard, mean, settings, options, leadingStart(lmm.parameters, d, q));
  const parameters = fromStandard(standard, lmm.parameters);
  const scores = principalScores(allCoefficientMeans(statistics, parameters, options.shards), m, d, q);
  const canonical = { ...fpca.parameters, factor: canonicalFactor(fpca.parameters.factor, d, q) };
  const places =
    sampleSize < m
      ? allEffects(statistics, fromStandard(standard, canonical), options.shards)
      : effectPosterior(standard.statistics, canonical);
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

/** Statistics of a random sample that the seed alone determines. */
function sampleOf(statistics: BasisStatistics, size: number, seed = 1): BasisStatistics {
  const chosen = createRandom(seed).permutation(statistics.numIndividuals).slice(0, size).sort();
  return selectStatistics(statistics, chosen);
}
