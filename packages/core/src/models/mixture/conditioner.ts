/**
 * The posterior of one individual after the other under a mixture of many nodes: weights through WebAssembly
 * (wasm/placing.ts), functionals of the curve on demand (wasm/course.ts), and moments of all coefficients, which most who
 * place an individual never look at, by the definition (posterior.ts) when they are read.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { courseFunctionals, openCourse } from "../../wasm/course.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { loadObserved, type Nodes, openNodes, weighNodes } from "../../wasm/placing.ts";
import { functionalDistribution, functionalMean } from "./curve-distribution.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { type NormalMixture, type NormalSums, normalSums } from "./normal-mixture.ts";
import { type Observed, observe } from "./observed.ts";
import {
  type CoefficientPosterior,
  conditionMixture,
  individualObservations,
  keptNodes,
  mixtureLogLikelihood,
  type NodeMoments,
  nodeMoments,
  type PlacePosterior,
} from "./posterior.ts";

/** The posterior of an individual of the statistics. */
export type Conditioner = (statistics: BasisStatistics, individual: number) => CoefficientPosterior;

/** A conditioner; it keeps tables of the mixture, so one serves many individuals. */
export function createConditioner(mixture: CoefficientMixture, kernels: KernelChoice = "auto"): Conditioner {
  if (!usesKernels(mixture, kernels)) {
    return (statistics, individual) =>
      conditionMixture(mixture, individualObservations(mixture, statistics, individual));
  }
  const memory = openNodes(mixture);
  let course: ReturnType<typeof openCourse> | undefined;
  return (statistics, individual) => {
    const { logLikelihood } = weighIndividual(memory, mixture, statistics, individual, false);
    const place = keptNodes(mixture, memory.buffers.weights, Number.MIN_VALUE, logLikelihood);
    const observations = () => individualObservations(mixture, statistics, individual);
    const posterior = withLazyMoments(place, () => nodeMoments(mixture, observations(), place.nodes));
    sources.set(posterior, () => {
      const { G, g } = observations();
      course ??= openCourse(mixture);
      return courseFunctionals(course, { ...place, gram: G, cross: g });
    });
    return posterior;
  };
}

/** Weighs the nodes for one individual: weights and sums stay in the memory. */
export function weighIndividual(
  memory: Nodes,
  mixture: CoefficientMixture,
  statistics: BasisStatistics,
  individual: number,
  solve: boolean,
): { readonly observed: Observed; readonly logLikelihood: number } {
  const observed = observe(individualObservations(mixture, statistics, individual));
  loadObserved(memory, observed);
  return { observed, logLikelihood: observed.constant + weighNodes(memory, solve) };
}

/** log p(y_i) of every individual under the mixture, [m]. */
export function logLikelihoods(
  mixture: CoefficientMixture,
  statistics: BasisStatistics,
  kernels: KernelChoice = "auto",
): Float64Array {
  const memory = usesKernels(mixture, kernels) ? openNodes(mixture) : null;
  return Float64Array.from({ length: statistics.numIndividuals }, (_, i) => {
    if (memory !== null) return weighIndividual(memory, mixture, statistics, i, false).logLikelihood;
    return mixtureLogLikelihood(mixture, individualObservations(mixture, statistics, i));
  });
}

/** A single component is not worth laying out. */
function usesKernels({ numNodes }: CoefficientMixture, kernels: KernelChoice): boolean {
  return numNodes > 1 && chooseKernels(kernels) === "wasm-simd";
}

/** Functionals of the posteriors of this thread in WebAssembly, as long as they are at hand. A cache, nothing more. */
const sources = new WeakMap<CoefficientPosterior, () => ReturnType<typeof courseFunctionals>>();

/**
 * Moments made at their first use. They are properties like any other to whoever reads, spreads or clones the posterior.
 */
function withLazyMoments(place: PlacePosterior, make: () => NodeMoments): CoefficientPosterior {
  let made: NodeMoments | undefined;
  const moments = () => {
    made ??= make();
    return made;
  };
  return {
    ...place,
    get means() {
      return moments().means;
    },
    get covariances() {
      return moments().covariances;
    },
  };
}

/** The distribution of a functional, and sums over its components. */
export interface FunctionalValue {
  readonly value: NormalMixture;
  readonly sums: NormalSums;
}

/**
 * Distributions of b'(β + w) + N(0, added variance) under a posterior, b = rows[offset..offset+d), one after the other: each serves until the
 * next is asked for. Through WebAssembly where a conditioner of this thread made the posterior.
 */
export function posteriorFunctionals(
  posterior: CoefficientPosterior,
  beta: Float64Array,
  kernels: KernelChoice = "auto",
): (rows: Float64Array, offset: number, addedVariance: number) => FunctionalValue {
  const source = chooseKernels(kernels) === "wasm-simd" ? sources.get(posterior) : undefined;
  if (source === undefined) {
    return (rows, offset, addedVariance) => {
      const value = functionalDistribution(posterior, beta, rows, offset, addedVariance);
      return { value, sums: normalSums(value) };
    };
  }
  const spread = source();
  return (rows, offset, addedVariance) => {
    const level = functionalMean(rows, offset, beta, 0, beta.length);
    const value = spread(rows, offset, level, addedVariance);
    return { value, sums: value.sums };
  };
}
