/**
 * The hyperparameters that a fit learns, as one vector: [μ], log σ², log α, log ℓ (one, or one per dimension), [Z].
 * Each is stored as x = scale · (h − h_start), scaled by the square root of a typical curvature so that one quasi-Newton
 * metric suits them and the places alike. Logs stay in a box around the start (ℓ within [0.05, 50]): beyond it the bound
 * is flat in that coordinate.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import type { HyperGradient } from "./gradients.ts";
import type { GlobalParameters } from "./state.ts";

/** Which hyperparameters are learned; σ² is never learned without α and ℓ. */
export interface Learned {
  /** μ, log σ², log α, log ℓ. A spline mean stays fixed. */
  readonly hyperparameters: boolean;
  readonly inducing: boolean;
  readonly scalarMean: boolean;
  readonly sharedLengthscale: boolean;
}

/** One coordinate of the vector. */
export interface Coordinate {
  readonly kind: "mean" | "noise" | "signal" | "lengthscale" | "inducing";
  readonly index: number;
  readonly start: number;
  readonly scale: number;
  readonly lower: number;
  readonly upper: number;
  /** Stochastic learning: curvature of the bound in h for a fixed q(u), at most, and the longest step in h. */
  readonly curvature: number;
  readonly longest: number;
}

/** The layout of the vector around a starting point. */
export interface HyperLayout {
  readonly start: GlobalParameters;
  readonly learned: Learned;
  readonly coordinates: readonly Coordinate[];
}

/** Stochastic steps change a log by at most this, the mean by this many standard deviations. */
const LONGEST_STEP = 0.05;
const LOG_RANGE = Math.log(1e4);
const LENGTHSCALE_RANGE = [Math.log(0.05), Math.log(50)];

/** The layout for what is learned, starting at `start`; x = 0 is the start. */
export function hyperLayout(start: GlobalParameters, statistics: BasisStatistics, learned: Learned): HyperLayout {
  const coordinates: Coordinate[] = [];
  const { kernel, inducingLocations: Z, noiseVariance, numInducing: p, numBasis: d } = start;
  const perObservation = Math.sqrt(0.5 * statistics.numObservations);
  const perCoefficient = Math.sqrt(0.5 * p * d);
  const log = (kind: Coordinate["kind"], index: number, value: number, scale: number): Coordinate => {
    const at = Math.log(value);
    const box = { lower: at - LOG_RANGE, upper: at + LOG_RANGE };
    return { kind, index, start: at, scale, ...box, curvature: scale * scale, longest: LONGEST_STEP };
  };
  if (learned.hyperparameters) {
    if (learned.scalarMean) {
      const spread = Math.sqrt(noiseVariance + kernel.signalVariance);
      const at = start.meanCoefficients[0];
      coordinates.push({
        kind: "mean",
        index: 0,
        start: at,
        scale: perObservation / spread,
        lower: at - 100 * spread,
        upper: at + 100 * spread,
        curvature: statistics.numObservations / noiseVariance,
        longest: LONGEST_STEP * spread,
      });
    }
    coordinates.push(log("noise", 0, noiseVariance, perObservation));
    coordinates.push(log("signal", 0, kernel.signalVariance, perCoefficient));
    if (kernel.kind === "rbf") {
      const count = learned.sharedLengthscale ? 1 : kernel.lengthscales.length;
      for (let c = 0; c < count; c++) {
        const coordinate = log("lengthscale", c, kernel.lengthscales[c], perCoefficient);
        const [low, high] = LENGTHSCALE_RANGE;
        const { start: at } = coordinate;
        coordinates.push({ ...coordinate, lower: Math.min(low, at), upper: Math.max(high, at) });
      }
    }
  }
  if (learned.inducing) {
    for (let e = 0; e < Z.length; e++) {
      const at = Z[e];
      coordinates.push({
        kind: "inducing",
        index: e,
        start: at,
        scale: 1,
        lower: at - 3,
        upper: at + 3,
        curvature: 1,
        longest: 0,
      });
    }
  }
  return { start, learned, coordinates };
}

/** The parameters at x[offset..]. */
export function parametersAt(layout: HyperLayout, x: Float64Array, offset: number): GlobalParameters {
  const { start, learned, coordinates } = layout;
  const meanCoefficients = start.meanCoefficients.slice();
  let noiseVariance = start.noiseVariance;
  let signalVariance = start.kernel.signalVariance;
  const lengthscales = start.kernel.kind === "rbf" ? start.kernel.lengthscales.slice() : new Float64Array(0);
  const inducingLocations = learned.inducing ? start.inducingLocations.slice() : start.inducingLocations;
  for (let k = 0; k < coordinates.length; k++) {
    const c = coordinates[k];
    const value = Math.min(Math.max(c.start + x[offset + k] / c.scale, c.lower), c.upper);
    if (c.kind === "mean") meanCoefficients.fill(value);
    else if (c.kind === "noise") noiseVariance = Math.exp(value);
    else if (c.kind === "signal") signalVariance = Math.exp(value);
    else if (c.kind === "inducing") inducingLocations[c.index] = value;
    else if (learned.sharedLengthscale) lengthscales.fill(Math.exp(value));
    else lengthscales[c.index] = Math.exp(value);
  }
  const kernel =
    start.kernel.kind === "rbf"
      ? { ...start.kernel, signalVariance, lengthscales }
      : { ...start.kernel, signalVariance };
  return { ...start, kernel, inducingLocations, meanCoefficients, noiseVariance };
}

/** The derivatives that the vector needs; ∂/∂Z [p,q] where places are learned. */
type LearnedGradient = HyperGradient & { readonly inducing?: Float64Array };

/** Writes ∂/∂x to out[offset..]; at the edge of the box a derivative that points outward is 0. */
export function writeHyperGradient(
  layout: HyperLayout,
  gradient: LearnedGradient,
  x: Float64Array,
  offset: number,
  out: Float64Array,
): void {
  layout.coordinates.forEach((c, k) => {
    const slope = coordinateSlope(c, gradient, layout.learned.sharedLengthscale);
    const at = c.start + x[offset + k] / c.scale;
    const outward = (at <= c.lower && slope < 0) || (at >= c.upper && slope > 0);
    out[offset + k] = outward ? 0 : slope / c.scale;
  });
}

/** The coordinates that rest at the edge of their box, in words. */
export function atEdge(layout: HyperLayout, x: Float64Array, offset: number): readonly string[] {
  const names = { mean: "mean", noise: "noise variance", signal: "signal variance", lengthscale: "length-scale" };
  const found = new Set<string>();
  layout.coordinates.forEach((c, k) => {
    const at = c.start + x[offset + k] / c.scale;
    if (c.kind !== "inducing" && (at <= c.lower || at >= c.upper)) found.add(names[c.kind]);
  });
  return [...found];
}

function coordinateSlope(c: Coordinate, gradient: LearnedGradient, shared: boolean): number {
  switch (c.kind) {
    case "mean":
      return gradient.meanLevel;
    case "noise":
      return gradient.logNoiseVariance;
    case "signal":
      return gradient.logSignalVariance;
    case "lengthscale":
      return shared ? gradient.logLengthscales.reduce((a, b) => a + b, 0) : gradient.logLengthscales[c.index];
    case "inducing":
      return gradient.inducing?.[c.index] ?? 0;
  }
}
