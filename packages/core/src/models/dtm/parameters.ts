/**
 * The parameters of the fit as one vector, for moving them together (docs/math/dtm.md §9), marker by marker: ν, the mean, log σ², log α,
 * log ℓ, log τ and, where noise has levels, log ω, all free of the marker's unit: the mean is taken in standard deviations of the first noise. ν is taken in
 * the frame of the kernel's eigenvectors, so that a map and its mirror image take the same steps (ν as it stands depends on
 * the order of the inducing places, differently at each ℓ). Effects of covariates in the mean follow, in the same unit; where covariates shift places, Φ is last. Ξ and a free Σ_e are no part of it: they follow in closed form.
 */
import { noiseLevel, noiseSpread, withLevel, withSpread } from "../../noise/noise.ts";
import { dot, joinFloats } from "../../numeric/matrix.ts";
import { meanCoefficients, meanParameters } from "../mean.ts";
import type { MapEngine, MarkerEngine } from "./engine.ts";
import { carryCovariance, fromFrame, kernelFrame, toFrame } from "./kernel-frame.ts";
import { LENGTHSCALE_BOUNDS } from "./kernel-step.ts";
import { LOWEST_LOG_TAU } from "./residual-step.ts";
import type { DtmState, MarkerState } from "./state.ts";

/** The state's parameters as a vector, those of one marker after the other. */
export function packParameters({ markers }: MapEngine, state: DtmState): Float64Array {
  const parts = markers.map((marker, k) => packMarker(marker, state.markers[k]));
  markers.forEach((marker, k) => {
    const { effects } = state.markers[k];
    if (effects !== null) parts.push(effects.map((v) => v / meanUnit(marker)));
  });
  return joinFloats(state.shift === null ? parts : [...parts, state.shift]);
}

/** Writes a vector of parameters into the state, within the bounds of each. */
export function unpackParameters({ markers }: MapEngine, vector: Float64Array, state: DtmState): void {
  let from = 0;
  markers.forEach((marker, k) => {
    from += unpackMarker(marker, vector.subarray(from), state.markers[k]);
  });
  markers.forEach((marker, k) => {
    const own = state.markers[k];
    if (own.effects === null) return;
    const end = from + own.effects.length;
    own.effects = vector.slice(from, end).map((v) => v * meanUnit(marker));
    from = end;
  });
  if (state.shift !== null) state.shift = vector.slice(from, from + state.shift.length);
}

function packMarker(engine: MarkerEngine, state: MarkerState): Float64Array {
  const parts = [
    ...toFrame(state.inducingMean, frameAt(engine, state.lengthscale)),
    ...meanParameters(engine.mean, state.mean).map((v) => v / meanUnit(engine)),
    Math.log(noiseLevel(state.noise)),
    Math.log(state.signalVariance),
    Math.log(state.lengthscale),
  ];
  if (state.tau !== null) parts.push(Math.log(state.tau));
  if (noiseSpread(state.noise) > 0) parts.push(Math.log(noiseSpread(state.noise)));
  return Float64Array.from(parts);
}

/** Reads the parameters of one marker from the head of a vector; returns how many there are. */
function unpackMarker(engine: MarkerEngine, vector: Float64Array, state: MarkerState): number {
  const { settings, anchor } = engine;
  const n = state.inducingMean.length;
  const frameBefore = frameAt(engine, state.lengthscale);
  const before = dot(state.inducingMean, state.inducingMean);
  let at = n;
  const unit = meanUnit(engine);
  state.mean = meanCoefficients(
    engine.mean,
    vector.slice(at, at + engine.mean.numColumns).map((v) => unit * v),
  );
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
    const tau = Math.min(Math.exp(Math.max(vector[at++], LOWEST_LOG_TAU)), settings.cap ?? Number.POSITIVE_INFINITY);
    state.tau = tau;
    state.residualCovariance = anchor.reference.map((v) => tau * v);
  }
  if (noiseSpread(state.noise) > 0) state.noise = withSpread(state.noise, Math.exp(vector[at++]));
  return at;
}

/** The unit of the mean's parameters. */
export function meanUnit({ anchor }: MarkerEngine): number {
  return Math.sqrt(noiseLevel(anchor.noise));
}

/** The frame in which ν is moved, at length-scale ℓ. */
export function frameAt(engine: MarkerEngine, ell: number): Float64Array {
  const { inducingDistances, jitter } = engine.problem.geometry;
  if (engine.frame?.lengthscale !== ell) {
    const vectors = kernelFrame(inducingDistances, engine.settings.inducingPerDimension, jitter, ell);
    engine.frame = { lengthscale: ell, vectors };
  }
  return engine.frame.vectors;
}
