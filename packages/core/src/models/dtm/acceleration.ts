/**
 * The parameters of the fit as one vector, for accelerating its iterations (docs/math/dtm.md §9): ν, the mean, log σ²,
 * log α, log ℓ and the residual (log τ, or the entries of a root of Σ_e). ν is taken in the frame of the kernel's
 * eigenvectors, so that a map and its mirror image are extrapolated alike (ν as it stands depends on the order of the
 * inducing points, differently at each ℓ). Ξ stays as it is: any ν, Ξ and parameters give
 * a valid bound, so a proposal can be judged by it. The least squares of the acceleration measure steps in the curvature
 * of the bound for fixed responsibilities: Λ for ν, counts of observations and individuals for the rest.
 *
 * Towards a maximum the steps of EM shrink, and a sound extrapolation goes further than the plain step it begins with,
 *   ⟨x − x_k, f⟩ > ⟨f, f⟩,   f = M(x_k) − x_k.
 * One that does not has seen steps grow: the bound is not concave there (as often in τ on its way down), and the point
 * leads back to where steps were small. Then the plain step is stretched instead, twice as far each time that succeeds.
 */

import { noiseLevel, withLevel } from "../../noise/noise.ts";
import { dot, multiplyTransposed, multiplyVector } from "../../numeric/matrix.ts";
import { type Metric, proposePoint } from "../../numeric/optimize/anderson.ts";
import { meanCoefficients, meanParameters } from "../mean.ts";
import type { MapEngine } from "./engine.ts";
import { residualRoot } from "./individual-statistics.ts";
import { carryCovariance, fromFrame, kernelFrame, toFrame } from "./kernel-frame.ts";
import { LENGTHSCALE_BOUNDS } from "./kernel-step.ts";
import type { DtmState } from "./state.ts";

/** Steps that the extrapolation needs, and those it keeps after a point that lowered the bound. */
const LEAST_STEPS = 3;
/** Least and largest stretch of a plain step. */
const STRETCH_BOUNDS = [1.5, 16] as const;

/** A point to be tried. */
export interface AcceleratedPoint {
  readonly point: Float64Array;
  /** Whether it is a stretched plain step. */
  readonly stretched: boolean;
}

/** The point to be tried after the last steps; null where too few are known. */
export function acceleratedPoint(engine: MapEngine, state: DtmState): AcceleratedPoint | null {
  const { points, images } = state.history;
  if (points.length < LEAST_STEPS) return null;
  const metric = parameterMetric(engine, state);
  const point = proposePoint(state.history, metric);
  if (point === null) return null;
  const from = points[points.length - 1];
  const to = images[images.length - 1];
  const step = to.map((v, k) => v - from[k]);
  const weighted = metric(step);
  const along = dot(weighted, point) - dot(weighted, from);
  const square = dot(weighted, step);
  if (along > square) return { point, stretched: false };
  return { point: from.map((v, k) => v + state.stretch * step[k]), stretched: true };
}

/** Learns from a trial: how far to stretch next time, and which steps to forget. */
export function judgePoint(state: DtmState, { stretched }: AcceleratedPoint, accepted: boolean): void {
  const [least, largest] = STRETCH_BOUNDS;
  if (stretched) {
    state.stretch = Math.min(Math.max(state.stretch * (accepted ? 2 : 0.5), least), largest);
  }
  if (accepted) return;
  const { history } = state;
  history.points = history.points.slice(-LEAST_STEPS);
  history.images = history.images.slice(-LEAST_STEPS);
}

/** The state's parameters as a vector. */
export function packParameters(engine: MapEngine, state: DtmState): Float64Array {
  const d = state.mean.length;
  const parts = [
    ...toFrame(state.inducingMean, frameAt(engine, state.lengthscale)),
    ...meanParameters(engine.mean, state.mean),
    Math.log(noiseLevel(state.noise)),
    Math.log(state.signalVariance),
    Math.log(state.lengthscale),
  ];
  if (state.tau !== null) parts.push(Math.log(state.tau));
  else if (engine.settings.residual !== "none") parts.push(...residualRoot(state.residualCovariance, d));
  return Float64Array.from(parts);
}

/** Writes a vector of parameters into the state, within the bounds of each. */
export function unpackParameters(engine: MapEngine, vector: Float64Array, state: DtmState): void {
  const { settings, anchor } = engine;
  const d = state.mean.length;
  const n = state.inducingMean.length;
  const frameBefore = frameAt(engine, state.lengthscale);
  const before = dot(state.inducingMean, state.inducingMean);
  let at = n;
  state.mean = meanCoefficients(engine.mean, vector.subarray(at, at + engine.mean.numColumns));
  at += engine.mean.numColumns;
  state.noise = withLevel(state.noise, Math.max(Math.exp(vector[at++]), engine.lowestNoiseLevel));
  state.signalVariance = Math.exp(vector[at++]);
  const [shortest, longest] = LENGTHSCALE_BOUNDS;
  state.lengthscale = Math.min(Math.max(Math.exp(vector[at++]), shortest), longest);
  const frame = frameAt(engine, state.lengthscale);
  state.inducingMean = fromFrame(vector.subarray(0, n), frame);
  state.inducingCovariance = carryCovariance(state.inducingCovariance, n, frameBefore, frame);
  state.divergence += 0.5 * (dot(state.inducingMean, state.inducingMean) - before);
  if (state.tau !== null) {
    const tau = Math.min(Math.exp(vector[at]), settings.cap ?? Number.POSITIVE_INFINITY);
    state.tau = tau;
    state.residualCovariance = anchor.reference.map((v) => tau * v);
  } else if (settings.residual !== "none") {
    const L = vector.subarray(at);
    state.residualCovariance = multiplyTransposed(L, L, d, d, d);
  }
}

/** The frame in which ν is extrapolated, at length-scale ℓ. */
function frameAt(engine: MapEngine, ell: number): Float64Array {
  const { inducingDistances, jitter } = engine.problem.geometry;
  if (engine.frame?.lengthscale !== ell) {
    const vectors = kernelFrame(inducingDistances, engine.settings.inducingPerDimension, jitter, ell);
    engine.frame = { lengthscale: ell, vectors };
  }
  return engine.frame.vectors;
}

/** Curvature of the bound, roughly: UΛU' for ν, counts of observations and individuals for the other parameters. */
function parameterMetric(engine: MapEngine, state: DtmState): Metric {
  const { statistics, settings, precision } = engine;
  const d = state.mean.length;
  const n = state.inducingMean.length;
  const N = statistics.numObservations;
  const m = statistics.numIndividuals;
  const { numColumns } = engine.mean;
  const rest: number[] = [];
  for (let k = 0; k < numColumns; k++) rest.push(N / numColumns / noiseLevel(state.noise));
  rest.push(0.5 * N, 0.5 * n, n);
  if (state.tau !== null) rest.push(0.5 * m);
  else if (settings.residual !== "none") for (let e = 0; e < d * d; e++) rest.push(m / noiseLevel(state.noise));
  const frame = frameAt(engine, state.lengthscale);
  return (vector) => {
    const out = vector.map((v, k) => (k < n ? 0 : v * rest[k - n]));
    const whitened = fromFrame(vector.subarray(0, n), frame);
    out.set(toFrame(multiplyVector(precision, whitened, n, n), frame));
    return out;
  };
}
