/** The predictions of a grid_*.json: node densities, likelihood, exact posterior of places, forecasts of later visits. */

import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { type BasisStatistics, basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { type Cohort, onlyMarker, selectIndividuals, selectVisits } from "../../packages/core/src/cohort/cohort.ts";
import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { logLikelihoods } from "../../packages/core/src/models/mixture/conditioner.ts";
import { functionalDistribution } from "../../packages/core/src/models/mixture/curve-distribution.ts";
import { type CoefficientMixture, makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import { mixtureCdf, mixtureLogDensity } from "../../packages/core/src/models/mixture/normal-mixture.ts";
import { locationMoments } from "../../packages/core/src/models/mixture/place.ts";
import {
  conditionMixture,
  individualObservations,
  nodeLogDensities,
} from "../../packages/core/src/models/mixture/posterior.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { type Check, compare, fixtureCohort, flatten, type Nested } from "./checker.ts";
import { type GridPrediction, type GridProblem, meanCoefficients } from "./grid-problem.ts";

/**
 * Nodes below this share of the largest weight may be left out of forecasts. Files do not say whether theirs were (the
 * reference's default is 1e-5): either is right, and the nearer one is compared.
 */
const FORECAST_MIN_WEIGHTS = [1e-5, 0];
/** Relative jitter of the reference's node covariances. */
const JITTER = 1e-10;

/** Checks the `predict` block, under the fixture's own q(u) and parameters. */
export function checkPrediction(problem: GridProblem): Check[] {
  const { fixture, nodes, inducing, statistics, kernel } = problem;
  const { d, q, predict } = fixture;
  const numNodes = kernel.layout.numNodes;
  const map = {
    kernel: rbfKernel(q, predict.alpha, predict.ell, fixture.eps),
    mapDimension: q,
    numInducing: kernel.layout.numInducing,
    numBasis: d,
    inducingLocations: inducing,
    inducingMean: flatten(predict.v),
    inducingCovariance: flatten(predict.Xi),
  };
  const { means, covariances } = mapMoments(map, nodes, numNodes);
  if (predict.Se !== null) {
    const Se = flatten(predict.Se);
    for (let e = 0; e < covariances.length; e++) covariances[e] += Se[e % (d * d)];
  }
  const mixture = makeMixture({
    numBasis: d,
    mapDimension: q,
    locations: nodes,
    logWeights: flatten(fixture.logw),
    means,
    covariances,
    relativeJitter: JITTER,
    meanCoefficients: meanCoefficients(predict.mu, d),
    noise: whiteNoise(predict.s2),
  });
  const cohort = fixtureCohort(predict.ids, predict.t, predict.y);
  const held = basisStatistics(cohort, statistics.basis, statistics);
  return [
    compare("predict.node_mean", means, predict.node_mean),
    compare("predict.node_cov", withJitter(covariances, d), predict.node_cov),
    ...checkPosterior(mixture, held, predict),
    ...checkForecast(mixture, cohort, held, predict),
  ];
}

function checkPosterior(mixture: CoefficientMixture, held: BasisStatistics, predict: GridPrediction): Check[] {
  const q = mixture.mapDimension;
  const cond: number[] = [];
  const postMean: number[] = [];
  const postCov: number[] = [];
  for (let i = 0; i < held.numIndividuals; i++) {
    const observations = individualObservations(mixture, held, i);
    cond.push(...nodeLogDensities(mixture, observations));
    const moments = locationMoments(conditionMixture(mixture, observations, 1e-18), q);
    postMean.push(...moments.mean);
    postCov.push(...moments.covariance);
  }
  return [
    compare("predict.cond", cond, predict.cond),
    compare("predict.ll", logLikelihoods(mixture, held), predict.ll),
    comparePlaces("predict.post_mean", postMean, predict.post_mean),
    comparePlaces("predict.post_cov", postCov, predict.post_cov),
  ];
}

/** The first ⌈n/2⌉ visits of individuals with two or more condition the forecast of the others. */
function checkForecast(
  mixture: CoefficientMixture,
  cohort: Cohort,
  held: BasisStatistics,
  predict: GridPrediction,
): Check[] {
  const worst = (checks: readonly Check[]) => Math.max(...checks.map((check) => check.error));
  return FORECAST_MIN_WEIGHTS.map((minWeight) => forecastChecks(mixture, cohort, held, predict, minWeight)).reduce(
    (a, b) => (worst(b) < worst(a) ? b : a),
  );
}

function forecastChecks(
  mixture: CoefficientMixture,
  cohort: Cohort,
  held: BasisStatistics,
  predict: GridPrediction,
  minWeight: number,
): Check[] {
  const { basis } = held;
  const repeated: number[] = [];
  for (let i = 0; i < held.numIndividuals; i++) if (held.counts[i] >= 2) repeated.push(i);
  const chosen = selectIndividuals(cohort, repeated);
  const past = basisStatistics(
    selectVisits(chosen, (n) => Math.ceil(n / 2)),
    basis,
    held,
  );
  const future = selectVisits(chosen, (n) => Math.ceil(n / 2), true);
  const whole = logLikelihoods(mixture, basisStatistics(chosen, basis, held));
  const before = logLikelihoods(mixture, past);
  const rows = designMatrix(basis, onlyMarker(future).times);
  const subject: number[] = [];
  const logDensity: number[] = [];
  const pit: number[] = [];
  for (let i = 0; i < repeated.length; i++) {
    const observations = individualObservations(mixture, past, i);
    const posterior = conditionMixture(mixture, observations, minWeight);
    for (let j = onlyMarker(future).offsets[i]; j < onlyMarker(future).offsets[i + 1]; j++) {
      const value = functionalDistribution(posterior, mixture.meanCoefficients, rows, j * basis.numBasis, true);
      subject.push(i);
      logDensity.push(mixtureLogDensity(value, onlyMarker(future).values[j]));
      pit.push(mixtureCdf(value, onlyMarker(future).values[j]));
    }
  }
  return [
    compare("predict.forecast_sub", subject, predict.forecast_sub),
    compare("predict.forecast_logdens", logDensity, predict.forecast_logdens),
    compare("predict.forecast_pit", pit, predict.forecast_pit),
    compare(
      "predict.forecast_joint",
      whole.map((v, i) => v - before[i]),
      predict.forecast_joint,
    ),
  ];
}

function withJitter(covariances: Float64Array, d: number): Float64Array {
  const out = covariances.slice();
  for (let o = 0; o < out.length; o += d * d) {
    let trace = 0;
    for (let k = 0; k < d; k++) trace += covariances[o + k * d + k];
    for (let k = 0; k < d; k++) out[o + k * d + k] += JITTER * trace;
  }
  return out;
}

/**
 * Moments of places are weighted sums of nodes of size one, so one is the least scale of their error: under a map that
 * has vanished all means are rounding errors of zero.
 */
function comparePlaces(name: string, actual: readonly number[], expected: Nested): Check {
  return compare(name, [...actual, 1], [...flatten(expected), 1]);
}
