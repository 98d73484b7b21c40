/**
 * The parameters of the fit as one vector, for accelerating its iterations (docs/math/dtm.md §9): ν, the mean, log σ²,
 * the residual (log τ, or the entries of a root of Σ_e), log α and log ℓ. Ξ stays as it is: any ν, Ξ and parameters give
 * a valid bound, so a proposal can be judged by it. Weights make the least squares of the acceleration measure steps in
 * the curvature of the bound.
 */
import { dot } from "../../numeric/matrix.ts";
import type { Engine } from "./engine.ts";
import { residualRoot } from "./individual-statistics.ts";
import { LENGTHSCALE_BOUNDS } from "./kernel-step.ts";
import type { DtmState } from "./state.ts";

/** The state's parameters as a vector. */
export function packParameters(engine: Engine, state: DtmState): Float64Array {
  const { residual, mean } = engine.settings;
  const d = state.mean.length;
  const parts = [
    ...state.inducingMean,
    ...(mean === "scalar" ? state.mean.subarray(0, 1) : state.mean),
    Math.log(state.noiseVariance),
    Math.log(state.signalVariance),
    Math.log(state.lengthscale),
  ];
  if (state.tau !== null) parts.push(Math.log(state.tau));
  else if (residual !== "none") parts.push(...residualRoot(state.residualCovariance, d));
  return Float64Array.from(parts);
}

/** Writes a vector of parameters into the state, within the bounds of each. */
export function unpackParameters(engine: Engine, vector: Float64Array, state: DtmState): void {
  const { settings, reference } = engine;
  const d = state.mean.length;
  let at = state.inducingMean.length;
  const before = dot(state.inducingMean, state.inducingMean);
  state.inducingMean = vector.slice(0, at);
  state.divergence += 0.5 * (dot(state.inducingMean, state.inducingMean) - before);
  if (settings.mean === "scalar") state.mean = new Float64Array(d).fill(vector[at++]);
  else {
    state.mean = vector.slice(at, at + d);
    at += d;
  }
  state.noiseVariance = Math.max(Math.exp(vector[at++]), engine.lowestNoiseVariance);
  state.signalVariance = Math.exp(vector[at++]);
  const [shortest, longest] = LENGTHSCALE_BOUNDS;
  state.lengthscale = Math.min(Math.max(Math.exp(vector[at++]), shortest), longest);
  if (state.tau !== null) {
    const tau = Math.min(Math.exp(vector[at]), settings.cap ?? Number.POSITIVE_INFINITY);
    state.tau = tau;
    state.residualCovariance = reference.map((v) => tau * v);
  } else if (settings.residual !== "none") {
    const L = vector.subarray(at);
    state.residualCovariance = state.residualCovariance.map((_, e) => {
      const k = Math.floor(e / d);
      const l = e % d;
      let s = 0;
      for (let c = 0; c <= Math.min(k, l); c++) s += L[k * d + c] * L[l * d + c];
      return s;
    });
  }
}

/** Curvature of the bound along each parameter, roughly: 1/Ξ_jj for ν, counts of observations and individuals else. */
export function parameterWeights(engine: Engine, state: DtmState): Float64Array {
  const { statistics, settings } = engine;
  const { noiseVariance, inducingCovariance } = state;
  const d = state.mean.length;
  const n = state.inducingMean.length;
  const N = statistics.numObservations;
  const m = statistics.numIndividuals;
  const numMean = settings.mean === "scalar" ? 1 : d;
  const weights: number[] = [];
  for (let e = 0; e < n; e++) weights.push(1 / inducingCovariance[e * n + e]);
  for (let k = 0; k < numMean; k++) weights.push(N / numMean / noiseVariance);
  weights.push(0.5 * N, 0.5 * n, n);
  if (state.tau !== null) weights.push(0.5 * m);
  else if (settings.residual !== "none") for (let e = 0; e < d * d; e++) weights.push(m / noiseVariance);
  return Float64Array.from(weights);
}
