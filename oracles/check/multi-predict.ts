/** Predictions of two_markers.json: densities at nodes, likelihoods, places, forecasts of one marker given both. */

import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { type BasisStatistics, basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import type { Cohort } from "../../packages/core/src/cohort/cohort.ts";
import { markerCohort } from "../../packages/core/src/cohort/several-markers.ts";
import type { KernelSolution } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { createNodeDensities, jointLogLikelihoods } from "../../packages/core/src/models/mixture/joint.ts";
import { makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import { multiplyVector, transpose } from "../../packages/core/src/numeric/matrix.ts";
import { logSumExp } from "../../packages/core/src/numeric/special.ts";
import { type Check, compare, fixtureMarkers, flatten } from "./checker.ts";
import type { MultiMapFixture } from "./multi-fixture.ts";
import { individualsAt, JITTER, type MultiProblem, type MultiState } from "./multi-problem.ts";

/** Times of a history end here; relative ridge of node covariances. */
const HISTORY_END = 2;
const NODE_RIDGE = 1e-10;

export function checkPrediction(
  fixture: MultiMapFixture,
  problem: MultiProblem,
  state: MultiState,
  solutions: readonly KernelSolution[],
): Check[] {
  const { predict } = fixture.sep;
  const q = fixture.nodes[0].length;
  const locations = flatten(fixture.nodes);
  const logWeights = problem.logPrior(0);
  const n = logWeights.length;
  const { models } = individualsAt(problem, state);
  const mixtures = solutions.map(({ kernel, posterior }, k) => {
    const d = problem.statistics[k].basis.numBasis;
    const map = {
      kernel: rbfKernel(q, kernel.signalVariance, kernel.lengthscale, JITTER),
      mapDimension: q,
      numInducing: fixture.inducing.length,
      numBasis: d,
      inducingLocations: flatten(fixture.inducing),
      inducingMean: posterior.mean,
      inducingCovariance: posterior.covariance,
    };
    const { means, covariances } = mapMoments(map, locations, n);
    return makeMixture({
      ...{ numBasis: d, mapDimension: q, locations, logWeights, means, relativeJitter: NODE_RIDGE },
      covariances: covariances.map((v, e) => v + state.tau[k] * problem.references[k][e % (d * d)]),
      meanCoefficients: models[k].mean,
      noise: models[k].noise,
    });
  });
  // Of each marker the values up to `ends`, less the effects.
  const upTo = (...ends: number[]) => {
    const statistics = historyStatistics(fixture, problem.statistics, ends);
    return individualsAt({ ...problem, statistics }, state).statistics;
  };
  const [all, none] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const likelihood = (...ends: number[]) => jointLogLikelihoods(mixtures, upTo(...ends));
  const less = (a: Float64Array, b: Float64Array) => a.map((v, i) => v - b[i]);
  const whole = upTo(all, all);
  const densities = mixtures.map((mixture) => createNodeDensities(mixture));
  const density: number[] = [];
  const placeMean: number[] = [];
  const placeVariance: number[] = [];
  for (let i = 0; i < whole[0].numIndividuals; i++) {
    const own = densities.map((at, k) => at(whole[k], i)).reduce((a, b) => a.map((v, g) => v + b[g]));
    density.push(...own);
    const joint = own.map((v, g) => v + logWeights[g]);
    const total = logSumExp(joint);
    const weights = joint.map((v) => Math.exp(v - total));
    const mean = multiplyVector(transpose(locations, n, q), weights, q, n);
    placeMean.push(...mean);
    for (let a = 0; a < q; a++) {
      placeVariance.push(weights.reduce((sum, w, g) => sum + w * (locations[g * q + a] - mean[a]) ** 2, 0));
    }
  }
  const past = HISTORY_END;
  return [
    compare("sep.predict.node_log_density", density, predict.node_log_density),
    compare("sep.predict.log_likelihood", likelihood(all, all), predict.log_likelihood),
    compare("sep.predict.place_mean", placeMean, predict.place_mean),
    compare("sep.predict.place_variance", placeVariance, predict.place_variance),
    compare(
      "sep.predict.forecast1_given_both",
      less(likelihood(all, past), likelihood(past, past)),
      predict.forecast1_given_both,
    ),
    compare(
      "sep.predict.forecast1_given_own",
      less(likelihood(all, none), likelihood(past, none)),
      predict.forecast1_given_own,
    ),
    compare(
      "sep.predict.marker2_given_marker1",
      less(likelihood(all, all), likelihood(all, none)),
      predict.marker2_given_marker1,
    ),
    compare(
      "sep.predict.basis_at_3",
      designMatrix(problem.statistics[0].basis, Float64Array.of(3)),
      predict.basis_at_3,
    ),
  ];
}

/** Statistics of everybody's values of each marker up to a time. */
function historyStatistics(
  { data }: MultiMapFixture,
  statistics: readonly BasisStatistics[],
  ends: readonly number[],
): BasisStatistics[] {
  const cohort = fixtureMarkers(data);
  return statistics.map(({ basis, center }, k) => {
    const series = cohort.markers[k];
    const offsets = new Int32Array(series.offsets.length);
    const kept: number[] = [];
    for (let i = 0; i < cohort.ids.length; i++) {
      for (let j = series.offsets[i]; j < series.offsets[i + 1]; j++) if (series.times[j] <= ends[k]) kept.push(j);
      offsets[i + 1] = kept.length;
    }
    const taken = (of: Float64Array) => Float64Array.from(kept, (j) => of[j]);
    const own: Cohort["markers"][number] = {
      ...series,
      offsets,
      times: taken(series.times),
      values: taken(series.values),
    };
    return basisStatistics(markerCohort({ ids: cohort.ids, markers: [own] }, 0), basis, { center });
  });
}
