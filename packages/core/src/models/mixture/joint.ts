/**
 * One individual under the mixtures of several markers that share their nodes (docs/math/prediction.md §8). Given the node markers
 * are independent, so
 *   p(y | g) = Π_k p(y_k | g),   weight_g ∝ π_g Π_k p(y_k | g),
 * and the posterior of marker A's coefficients given everything is that of its own mixture and visits, with the prior
 *   π_g Π_{l≠A} p(y_l | g)
 * of its nodes. A marker without visits has p(y_k | g) = 1. An individual's own prior of places enters in the same way.
 */
import type { BasisStatistics, CohortStatistics } from "../../basis/statistics.ts";
import { logSumExp } from "../../numeric/special.ts";
import type { KernelChoice } from "../../wasm/instance.ts";
import { createConditioner, usesKernels, withPrior } from "./conditioner.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { type CoefficientPosterior, individualObservations, jointLogDensities } from "./posterior.ts";
import { nodeWeigher } from "./weigh.ts";

/** log p(y_i | node g) of one marker, [Γ], summed over noise levels; 0 without observations. */
export type NodeDensities = (statistics: BasisStatistics, individual: number) => Float64Array;

/** Densities at the nodes of a mixture; tables are kept, so one serves many individuals. */
export function createNodeDensities(mixture: CoefficientMixture, kernels: KernelChoice = "auto"): NodeDensities {
  const { numNodes: n } = mixture;
  const flat = withPrior(mixture, new Float64Array(n));
  const weigher = usesKernels(mixture, kernels) ? nodeWeigher(flat) : null;
  return (statistics, individual) => {
    if (statistics.counts[individual] === 0) return new Float64Array(n);
    if (weigher !== null) return weigher.densities(statistics, individual);
    const joint = jointLogDensities(flat, individualObservations(mixture, statistics, individual));
    const values = new Float64Array(joint.length / n);
    if (values.length === 1) return joint;
    return Float64Array.from({ length: n }, (_, g) => {
      for (let k = 0; k < values.length; k++) values[k] = joint[k * n + g];
      return logSumExp(values);
    });
  };
}

/**
 * For each marker the log prior of its nodes that holds what the other markers say, [Γ]; undefined for a marker that is alone, with
 * the prior of the mixture. `logPrior` is the individual's own prior of places.
 */
export type MarkerPriors = (
  statistics: CohortStatistics,
  individual: number,
  logPrior?: Float64Array,
) => (Float64Array | undefined)[];

export function createMarkerPriors(
  mixtures: readonly CoefficientMixture[],
  kernels: KernelChoice = "auto",
): MarkerPriors {
  if (mixtures.length === 1) return (_statistics, _individual, logPrior) => [logPrior];
  const [{ logWeights }] = mixtures;
  const densities = mixtures.map((mixture) => createNodeDensities(mixture, kernels));
  return (statistics, individual, logPrior = logWeights) => {
    const own = densities.map((at, k) => at(statistics[k], individual));
    return own.map((_, k) => logPrior.map((v, g) => own.reduce((sum, said, l) => (l === k ? sum : sum + said[g]), v)));
  };
}

/** The posteriors of all markers of an individual given everything; all have the same weights of nodes, and log p(y) of all. */
export type JointConditioner = (
  statistics: CohortStatistics,
  individual: number,
  logPrior?: Float64Array,
) => CoefficientPosterior[];

export function createJointConditioner(
  mixtures: readonly CoefficientMixture[],
  kernels: KernelChoice = "auto",
): JointConditioner {
  const priors = createMarkerPriors(mixtures, kernels);
  const conditioners = mixtures.map((mixture) => createConditioner(mixture, kernels));
  return (statistics, individual, logPrior) =>
    priors(statistics, individual, logPrior).map((prior, k) => conditioners[k](statistics[k], individual, prior));
}

/** log p(y_i), all markers jointly, of every individual, [m]; `priors` are their own priors of places. */
export function jointLogLikelihoods(
  mixtures: readonly CoefficientMixture[],
  statistics: CohortStatistics,
  kernels: KernelChoice = "auto",
  priors?: (individual: number) => Float64Array | undefined,
): Float64Array {
  const [{ logWeights }] = mixtures;
  const densities = mixtures.map((mixture) => createNodeDensities(mixture, kernels));
  return Float64Array.from({ length: statistics[0].numIndividuals }, (_, i) => {
    const total = (priors?.(i) ?? logWeights).slice();
    densities.forEach((at, k) => {
      at(statistics[k], i).forEach((v, g) => {
        total[g] += v;
      });
    });
    return logSumExp(total);
  });
}
