/**
 * The linear models of a cohort, fitted once: baselines in their own right, and where its maps start from (docs/math/linear.md
 * §7). The linear mixed model gives mean, noise, Σ and principal component scores; the reduced-rank model, started from it,
 * a Gaussian posterior of each place (without it, that of the scores).
 */

import { type BasisStatistics, selectStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { createRandom } from "../../numeric/random.ts";
import { markerModel } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import type { ShardHost } from "../shards.ts";
import { factorCovariance } from "./canonical.ts";
import { linearWarnings } from "./fit-linear.ts";
import { type FpcaModel, fitFpcaStatistics } from "./fpca.ts";
import { fitLmmStatistics, type LmmModel, type LmmStatisticsOptions } from "./lmm.ts";
import { linearParameters, linearPlaces } from "./scores.ts";
import { checkComponents } from "./settings.ts";
import { standardProblem, toStandard } from "./standardize.ts";

/** Both linear models of one cohort, of the map's dimension. */
export interface LinearModels {
  readonly lmm: LmmModel;
  /** Absent where it could not be fitted. */
  readonly fpca?: FpcaModel;
  /** What could not be fitted and is absent, and why, in sentences. */
  readonly leftOut: readonly string[];
  /** What a map that starts from them should warn of. */
  readonly warnings: readonly string[];
}

export interface LinearModelsOptions extends Omit<LmmStatisticsOptions, "start"> {
  /** q, the dimension of the map and the rank of the components. */
  readonly mapDimension: number;
  /** Individuals the models are fitted to, a random sample. Default 20,000 of more than 50,000, else everybody. */
  readonly sampleSize?: number;
}

/** Above the first number of individuals, the second is enough for a start and for a comparison. */
const MANY_INDIVIDUALS = 50_000;
const SAMPLE_SIZE = 20_000;

/**
 * Fits the linear mixed model, and functional principal components from it; these are left out where they cannot be fitted,
 * since everything else can be had without them.
 */
export function fitLinearModels(statistics: BasisStatistics, options: LinearModelsOptions): LinearModels {
  const { numIndividuals: m, basis } = statistics;
  const { mapDimension: q, seed = 1, warnings = [] } = options;
  checkComponents("linearModels", "mapDimension", q, basis.numBasis);
  const size = Math.min(options.sampleSize ?? (m > MANY_INDIVIDUALS ? SAMPLE_SIZE : m), m);
  const sample = size < m ? createRandom(seed).permutation(m).slice(0, size).sort() : undefined;
  const fitted = sample === undefined ? statistics : selectStatistics(statistics, sample);
  const note = sample === undefined ? [] : [`Fitted to a random sample of ${size} of ${m} individuals.`];
  const common = { ...options, warnings: [...warnings, ...note] };
  const lmm = fitLmmStatistics(fitted, common);
  const leftOut: string[] = [];
  let fpca: FpcaModel | undefined;
  try {
    fpca = fitFpcaStatistics(fitted, { ...common, rank: q, start: linearParameters(lmm) });
  } catch (error) {
    if (!(error instanceof DtmError) || error.code === "cancelled") throw error;
    leftOut.push(`Functional principal components could not be fitted and are left out: ${error.message}`);
  }
  const problem = standardProblem(fitted, markerModel(lmm).mean.kind);
  const concerns = [lmm, ...(fpca === undefined ? [] : [fpca])].flatMap((model) =>
    linearWarnings(problem, toStandard(problem, linearParameters(model))),
  );
  return { lmm, ...(fpca && { fpca }), leftOut, warnings: [...new Set(concerns)] };
}

/** The start that fitted linear models give to a map of everybody in the statistics. */
export function mapStart(
  statistics: BasisStatistics,
  { lmm, fpca, leftOut, warnings }: LinearModels,
  shards?: ShardHost,
): MapStart {
  const d = markerModel(lmm).basis.numBasis;
  const scores = linearPlaces(lmm, statistics, shards);
  const places = fpca === undefined ? scores : linearPlaces(fpca, statistics, shards);
  return {
    mean: markerModel(lmm).mean,
    noise: markerModel(lmm).noise,
    covariance: factorCovariance(lmm.covarianceFactor, d, d),
    scores: scores.mean,
    locationMean: places.mean,
    locationCovariance: places.covariance,
    warnings: [...leftOut, ...warnings],
  };
}

/** The linear start of a map, from statistics. `algorithm: "em"` is the published one. */
export function linearStart(statistics: BasisStatistics, options: LinearModelsOptions): MapStart {
  return mapStart(statistics, fitLinearModels(statistics, options), options.shards);
}
