/**
 * The posterior of one individual after the other under a mixture of many nodes: weights through WebAssembly
 * (wasm/placing.ts), functionals of the curve on demand (wasm/course.ts), and moments of all coefficients, which most who
 * place an individual never look at, by the definition (posterior.ts) when they are read.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { logLevelMoments } from "../../noise/levels.ts";
import { noiseLevels } from "../../noise/noise.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import { logSumExp } from "../../numeric/special.ts";
import { courseFunctionals, openCourse } from "../../wasm/course.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { loadObserved, type Nodes, openNodes, weighNodes } from "../../wasm/placing.ts";
import { functionalDistribution, functionalMean, type GivenMeasurement, INDEPENDENT } from "./curve-distribution.ts";
import { atLevels, type Observations } from "./effect.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { type NormalMixture, type NormalSums, normalSums } from "./normal-mixture.ts";
import { type Observed, observe } from "./observed.ts";
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
  const memory = openNodes(mixture);
  const { numNodes: n } = mixture;
  let course: ReturnType<typeof openCourse> | undefined;
  return (statistics, individual, logPrior) => {
    memory.buffers.logPrior.set(logPrior ?? mixture.logWeights);
    const weighed = weighLevels(memory, mixture, statistics, individual, false, () =>
      memory.buffers.weights.slice(0, n),
    );
    const logLikelihood = logSumExp(weighed.map((level) => level.logDensity));
    const relative = joinFloats(weighed.map(({ sums, factor }) => sums.map((w) => factor * w)));
    const levels = weighed.map((level) => level.observations);
    const { components, ...kept } = keptComponents(mixture, levels, relative, logLikelihood);
    const posterior = withLazyMoments(kept, () => componentMoments(mixture, levels, components));
    if (weighed.length === 1) {
      sources.set(posterior, () => {
        const { G, g } = levels[0];
        course ??= openCourse(mixture);
        return courseFunctionals(course, { ...kept, gram: G, cross: g });
      });
    }
    return posterior;
  };
}

/** What nodes say at one noise level: log p_k p(y | k), and what was taken of weights or sums, to be multiplied by `factor`. */
export interface WeighedLevel {
  /** At this level; their constant holds log p_k. */
  readonly observations: Observations;
  /** ωz_k. */
  readonly logLevel: number;
  readonly logDensity: number;
  readonly observed: Observed;
  readonly sums: Float64Array;
  /** Makes weights of different levels comparable. */
  readonly factor: number;
}

/** Steps between levels, coarse to fine: every second, all. */
const STRIDES = [2, 1];
/** Share of the first or last level above which none is left out. */
const LIGHT_END = 1e-4;

/**
 * Weighs the nodes for one individual at its noise levels; `take` copies from the memory what is wanted of each. A sum over levels
 * h apart in z errs by 2 exp(−2π²σ²/h²), σ the posterior sd of z: where h is below σ (5e-9), every second level is left out, and
 * the others count twice, the first and last 3/2 times (trapezoids; their ends leave 1e-5 at most).
 */
export function weighLevels(
  memory: Nodes,
  mixture: CoefficientMixture,
  statistics: BasisStatistics,
  individual: number,
  solve: boolean,
  take: () => Float64Array,
): WeighedLevel[] {
  const all = atLevels(individualObservations(mixture, statistics, individual), mixture.noise);
  const levels = noiseLevels(mixture.noise);
  const weighed: (Omit<WeighedLevel, "factor"> & { readonly top: number })[] = [];
  const weigh = (k: number) => {
    const observations = all[k];
    const observed = observe({ ...observations, G: observations.G.slice() });
    loadObserved(memory, observed);
    const logDensity = observed.constant + weighNodes(memory, solve);
    const top = observed.constant + memory.buffers.totals[0];
    weighed[k] = { observations, logLevel: levels.spread * levels.z[k], observed, logDensity, sums: take(), top };
  };
  let stride = 1;
  for (stride of all.length === 1 ? [1] : STRIDES) {
    for (let k = 0; k < all.length; k += stride) if (weighed[k] === undefined) weigh(k);
    const known = all.map((_, k) => weighed[k]?.logDensity ?? Number.NEGATIVE_INFINITY);
    const total = logSumExp(known);
    const shares = Float64Array.from(known, (v) => Math.exp(v - total));
    const { sd } = logLevelMoments(shares, levels);
    const atEnds = Math.max(shares[0], shares[shares.length - 1]);
    if (atEnds < LIGHT_END && sd >= levels.spread * stride * (levels.z[1] - levels.z[0])) break;
  }
  const kept = weighed.filter((level) => level !== undefined);
  const highest = Math.max(...kept.map(({ top }) => top));
  return kept.map(({ top, logDensity, ...level }, k) => {
    const times = k === 0 || k === kept.length - 1 ? 0.5 * (stride + 1) : stride;
    return { ...level, logDensity: logDensity + Math.log(times), factor: times * Math.exp(top - highest) };
  });
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
  const memory = usesKernels(mixture, kernels) ? openNodes(mixture) : null;
  return Float64Array.from({ length: statistics.numIndividuals }, (_, i) => {
    if (memory !== null) {
      const weighed = weighLevels(memory, mixture, statistics, i, false, () => NOTHING);
      return logSumExp(weighed.map((level) => level.logDensity));
    }
    return mixtureLogLikelihood(mixture, individualObservations(mixture, statistics, i));
  });
}

const NOTHING = new Float64Array(0);

/** A single component is not worth laying out. */
export function usesKernels({ numNodes }: CoefficientMixture, kernels: KernelChoice): boolean {
  return numNodes > 1 && chooseKernels(kernels) === "wasm-simd";
}

/** Functionals of the posteriors of this thread in WebAssembly, as long as they are at hand. A cache, nothing more. */
const sources = new WeakMap<CoefficientPosterior, () => ReturnType<typeof courseFunctionals>>();

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
    const value = spread(rows, offset, level, measured ? posterior.noiseVariances[0] * variance : 0);
    return { value, sums: value.sums };
  };
}
