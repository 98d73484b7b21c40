/**
 * The posterior of one individual after the other under a mixture of many nodes: weights through WebAssembly
 * (weigh.ts), functionals of the curve on demand (wasm/course.ts), and moments of all coefficients, which most who
 * place an individual never look at, by the definition (posterior.ts) when they are read.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { noiseSpread } from "../../noise/noise.ts";
import { type CourseFunctionals, openCourse } from "../../wasm/course.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { componentWeights } from "../../wasm/placing.ts";
import { functionalDistribution, functionalMean, type GivenMeasurement, INDEPENDENT } from "./curve-distribution.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { type NormalMixture, type NormalSums, normalSums } from "./normal-mixture.ts";
import {
  type CoefficientPosterior,
  componentMoments,
  conditionMixture,
  individualObservations,
  keptComponents,
  mixtureLogLikelihood,
  type NodeComponents,
  type NodeMoments,
  type PlacePosterior,
} from "./posterior.ts";
import { nodeWeigher } from "./weigh.ts";

/** The posterior of an individual of the statistics; `logPrior` [Γ] in place of that of the mixture, where it is the individual's own. */
export type Conditioner = (
  statistics: BasisStatistics,
  individual: number,
  logPrior?: Float64Array,
) => CoefficientPosterior;

/** A conditioner; it keeps tables of the mixture, so one serves many individuals. */
export function createConditioner(mixture: CoefficientMixture, kernels: KernelChoice = "auto"): Conditioner {
  if (!usesKernels(mixture, kernels)) {
    return (statistics, individual, logPrior) =>
      conditionMixture(withPrior(mixture, logPrior), individualObservations(mixture, statistics, individual));
  }
  const { memory, weigh } = nodeWeigher(mixture);
  const { numNodes: n } = mixture;
  const spread = noiseSpread(mixture.noise);
  let course: ReturnType<typeof openCourse> | undefined;
  return (statistics, individual, logPrior) => {
    memory.buffers.logPrior.set(logPrior ?? mixture.logWeights);
    const { observations, z, logLikelihood } = weigh(statistics, individual, false, false);
    const levels = Array.from(z, (v) => ({ ...observations, sigma2: observations.sigma2 * Math.exp(spread * v) }));
    const { components, ...kept } = keptComponents(mixture, levels, componentWeights(memory, n), logLikelihood);
    const posterior = withLazyMoments(kept, () => componentMoments(mixture, levels, components));
    sources.set(posterior, () => {
      course ??= openCourse(mixture);
      return course({ ...kept, components, gram: observations.G, cross: observations.g });
    });
    return posterior;
  };
}

/** The mixture with another prior of its nodes. */
export function withPrior(mixture: CoefficientMixture, logPrior?: Float64Array): CoefficientMixture {
  return logPrior === undefined ? mixture : { ...mixture, logWeights: logPrior };
}

/** log p(y_i) of every individual under the mixture, [m]. */
export function logLikelihoods(
  mixture: CoefficientMixture,
  statistics: BasisStatistics,
  kernels: KernelChoice = "auto",
): Float64Array {
  const weigher = usesKernels(mixture, kernels) ? nodeWeigher(mixture) : null;
  return Float64Array.from({ length: statistics.numIndividuals }, (_, i) =>
    weigher === null
      ? mixtureLogLikelihood(mixture, individualObservations(mixture, statistics, i))
      : weigher.weigh(statistics, i, false, true).logLikelihood,
  );
}

/** A single component is not worth laying out. */
export function usesKernels({ numNodes }: CoefficientMixture, kernels: KernelChoice): boolean {
  return numNodes > 1 && chooseKernels(kernels) === "wasm-simd";
}

/** Functionals of the posteriors of this thread in WebAssembly, as long as they are at hand. A cache, nothing more. */
const sources = new WeakMap<CoefficientPosterior, () => CourseFunctionals>();

/**
 * Moments made at their first use. They are properties like any other to whoever reads, spreads or clones the posterior.
 */
function withLazyMoments(place: PlacePosterior & NodeComponents, make: () => NodeMoments): CoefficientPosterior {
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
 * Distributions of b'(β + w) under a posterior, or of a new measurement there, b = rows[offset..offset+d), one after the other:
 * each serves until the next is asked for; `given` where its noise is not independent of that of the visits. Through WebAssembly where a conditioner of this thread made the posterior.
 */
export function posteriorFunctionals(
  posterior: CoefficientPosterior,
  beta: Float64Array,
  kernels: KernelChoice = "auto",
): (rows: Float64Array, offset: number, measured: boolean, given?: GivenMeasurement) => FunctionalValue {
  const source = chooseKernels(kernels) === "wasm-simd" ? sources.get(posterior) : undefined;
  if (source === undefined) {
    return (rows, offset, measured, given) => {
      const value = functionalDistribution(posterior, beta, rows, offset, measured, given);
      return { value, sums: normalSums(value) };
    };
  }
  const spread = source();
  return (rows, offset, measured, { shift, variance } = INDEPENDENT) => {
    const level = functionalMean(rows, offset, beta, 0, beta.length) + shift;
    const value = spread(rows, offset, level, measured ? variance : 0);
    return { value, sums: value.sums };
  };
}
