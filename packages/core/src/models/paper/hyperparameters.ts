/**
 * The hyperparameters that a fit learns, as one vector: [μ], log σ², log α, log ℓ (one, or one per dimension).
 * Each is stored as x = scale · (h − h_start), scaled by the square root of a typical curvature so that one quasi-Newton
 * metric suits them and the places alike. Logs stay in a box around the start (ℓ within [0.05, 50]): beyond it the bound
 * is flat in that coordinate.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { type MeanDesign, meanCoefficients } from "../mean.ts";
import type { HyperGradient } from "./gradients.ts";
import type { DtmPaperSettings } from "./options.ts";
import { freeLengthscales, type GlobalParameters } from "./state.ts";

/** Which hyperparameters are learned; σ² is never learned without α and ℓ. */
export type Learned = Pick<DtmPaperSettings, "learn" | "sharedLengthscale">;

/** What coordinates put together. */
interface Draft {
  meanCoefficients: Float64Array;
  noiseVariance: number;
  signalVariance: number;
  readonly lengthscales: Float64Array;
}

/** One coordinate h of the vector. */
export interface Coordinate {
  /** In words, for a warning where it rests at an edge of its box. */
  readonly name: string;
  readonly start: number;
  readonly scale: number;
  readonly lower: number;
  readonly upper: number;
  /** Stochastic learning: curvature of the bound in h for a fixed q(u), at most, and the longest step in h. */
  readonly curvature: number;
  readonly longest: number;
  /** ∂/∂h. */
  slope(gradient: HyperGradient): number;
  put(value: number, draft: Draft): void;
}

/** The layout of the vector around a starting point. */
export interface HyperLayout {
  readonly start: GlobalParameters;
  readonly coordinates: readonly Coordinate[];
}

/** Stochastic steps change a log by at most this, the mean by this many standard deviations. */
const LONGEST_STEP = 0.05;
const LOG_RANGE = Math.log(1e4);
/** Logs of the shortest and the longest length-scale. */
const [SHORTEST, LONGEST] = [Math.log(0.05), Math.log(50)];

/** The layout for what is learned, starting at `start`; x = 0 is the start. A mean of more parameters than μ stays fixed. */
export function hyperLayout(
  start: GlobalParameters,
  { numObservations }: BasisStatistics,
  { learn, sharedLengthscale }: Learned,
  mean: MeanDesign,
): HyperLayout {
  const { kernel, noiseVariance, numInducing: p, numBasis: d } = start;
  const perObservation = Math.sqrt(0.5 * numObservations);
  const perCoefficient = Math.sqrt(0.5 * p * d);
  const coordinates: Coordinate[] = [];
  const addLog = (name: string, value: number, scale: number, rest: Pick<Coordinate, "slope" | "put">) => {
    const at = Math.log(value);
    const [lower, upper] =
      name === "length-scale" ? [Math.min(SHORTEST, at), Math.max(LONGEST, at)] : [at - LOG_RANGE, at + LOG_RANGE];
    coordinates.push({ name, start: at, scale, lower, upper, curvature: scale ** 2, longest: LONGEST_STEP, ...rest });
  };
  if (learn && mean.numColumns === 1) {
    const spread = Math.sqrt(noiseVariance + kernel.signalVariance);
    const at = start.meanCoefficients[0];
    coordinates.push({
      name: "mean",
      start: at,
      scale: perObservation / spread,
      lower: at - 100 * spread,
      upper: at + 100 * spread,
      curvature: numObservations / noiseVariance,
      longest: LONGEST_STEP * spread,
      slope: (gradient) => gradient.meanLevel,
      put: (value, draft) => {
        draft.meanCoefficients = meanCoefficients(mean, Float64Array.of(value));
      },
    });
  }
  if (learn) {
    addLog("noise variance", noiseVariance, perObservation, {
      slope: (gradient) => gradient.logNoiseVariance,
      put: (log, draft) => {
        draft.noiseVariance = Math.exp(log);
      },
    });
    addLog("signal variance", kernel.signalVariance, perCoefficient, {
      slope: (gradient) => gradient.logSignalVariance,
      put: (log, draft) => {
        draft.signalVariance = Math.exp(log);
      },
    });
    freeLengthscales(kernel, sharedLengthscale).forEach((ell, c) => {
      const to = sharedLengthscale ? undefined : c + 1;
      addLog("length-scale", ell, perCoefficient, {
        slope: ({ logLengthscales }) => logLengthscales.subarray(c, to).reduce((a, b) => a + b, 0),
        put: (log, { lengthscales }) => lengthscales.fill(Math.exp(log), c, to),
      });
    });
  }
  return { start, coordinates };
}

/** The parameters at x. */
export function parametersAt({ start, coordinates }: HyperLayout, x: Float64Array): GlobalParameters {
  const { kernel, meanCoefficients, noiseVariance } = start;
  const draft: Draft = {
    meanCoefficients: meanCoefficients.slice(),
    noiseVariance,
    signalVariance: kernel.signalVariance,
    lengthscales: kernel.kind === "rbf" ? kernel.lengthscales.slice() : new Float64Array(0),
  };
  coordinates.forEach((c, k) => {
    c.put(Math.min(Math.max(unbounded(c, x[k]), c.lower), c.upper), draft);
  });
  const { signalVariance, lengthscales, ...rest } = draft;
  const moved = kernel.kind === "rbf" ? { ...kernel, signalVariance, lengthscales } : { ...kernel, signalVariance };
  return { ...start, ...rest, kernel: moved };
}

/** Writes ∂/∂x to `out`; at the edge of the box a derivative that points outward is 0. */
export function writeHyperGradient(
  { coordinates }: HyperLayout,
  gradient: HyperGradient,
  x: Float64Array,
  out: Float64Array,
): void {
  coordinates.forEach((c, k) => {
    const slope = c.slope(gradient);
    const at = unbounded(c, x[k]);
    const outward = (at <= c.lower && slope < 0) || (at >= c.upper && slope > 0);
    out[k] = outward ? 0 : slope / c.scale;
  });
}

/** The coordinates that rest at the edge of their box, in words. */
export function atEdge({ coordinates }: HyperLayout, x: Float64Array): readonly string[] {
  const resting = coordinates.filter((c, k) => unbounded(c, x[k]) <= c.lower || unbounded(c, x[k]) >= c.upper);
  return [...new Set(resting.map(({ name }) => name))];
}

/** h of the vector's entry, before it is held within the box. */
function unbounded({ start, scale }: Coordinate, x: number): number {
  return start + x / scale;
}
