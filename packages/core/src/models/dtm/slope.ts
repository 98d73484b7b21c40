/**
 * The gradient of the bound at a state, from the node sums and the sums of one pass there (docs/math/dtm.md §9). The
 * responsibilities r are optimal for the state, so the gradient is that of the bound with r held fixed (in the letters of
 * inducing-posterior.ts and joint-mean.ts):
 *   ν: c − Λν,   mean: b − H'ν,   log σ²: ½(S/σ² − N),   log α and log ℓ: kernelSlope,   log τ: Q'(τ) of residual-step.ts;
 * where noise has levels, log σ², log τ and log ω by levelSums of level-statistics.ts;
 * where ν and Ξ are taken in the frame U of the kernel's eigenvectors, so that log ℓ also turns them (turningSlope).
 * Beside it stands the curvature for fixed r, in which an EM step is exact: (Λ, H; H', B) for ν and mean, counts for the
 * other parameters.
 */
import { cohortSize } from "../../basis/cohort-sums.ts";
import { HIGHEST_LOG_SPREAD, LOWEST_LOG_SPREAD, noiseLevel, noiseSlope, noiseSpread } from "../../noise/noise.ts";
import { multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import type { Precondition } from "../../numeric/optimize/lbfgs.ts";
import { inducingKl } from "../gp/solve.ts";
import { effectSlope } from "./effect-step.ts";
import { type MapEngine, type MarkerEngine, type Slope, type Slopes, scaledRoot } from "./engine.ts";
import { inducingPosterior, kernelSlope } from "./inducing-posterior.ts";
import { jointMean, meanSlope, meanSystem } from "./joint-mean.ts";
import { fromFrame, toFrame } from "./kernel-frame.ts";
import { LENGTHSCALE_BOUNDS } from "./kernel-step.ts";
import { remainingSquares } from "./maximization-step.ts";
import { nodeKernel } from "./node-kernel.ts";
import { freeResidual } from "./parameter-step.ts";
import { frameAt, meanUnit } from "./parameters.ts";
import { LOWEST_LOG_TAU } from "./residual-step.ts";
import type { Learning } from "./shards.ts";
import { shiftSlope } from "./shift-step.ts";
import type { DtmState, MarkerState } from "./state.ts";

/** Differences of log ℓ and log τ in central differences. */
const FRAME_DIFFERENCE = 1e-4;
const TAU_DIFFERENCE = 1e-3;
/** A parameter this near to its bound, relatively, is at it. */
const AT_BOUND = 1e-9;

/** What `slopesAt` asks of a pass. */
export function slopeLearning({ markers }: MapEngine, state: DtmState): Learning {
  return {
    levelsAfter: false,
    markers: markers.map((marker, k) => {
      const { tau, squares } = state.markers[k];
      // Levels have a slope by log τ of their own.
      const by = tau === null || squares !== null ? [] : [TAU_DIFFERENCE, -TAU_DIFFERENCE];
      const roots = by.map((difference) => scaledRoot(marker.referenceRoot, tau! * Math.exp(difference)));
      return { roots, scales: by.map(Math.exp), residualMoment: tau === null && marker.settings.residual !== "none" };
    }),
  };
}

/** The slopes at the state of the last whole pass, in the order of the parameters. */
export function slopesAt(engine: MapEngine, state: DtmState): Slopes {
  const markers = engine.markers.map((marker, k) => slopeAt(marker, state.markers[k]));
  const effects = engine.markers.flatMap((marker, k) =>
    state.markers[k].effects === null ? [] : [effectSlope(marker)],
  );
  const shift = state.shift === null ? [] : [shiftSlope(engine, state.shift, null)];
  return [...markers, ...effects, ...shift];
}

/** The slope by the parameters of one marker. */
export function slopeAt(engine: MarkerEngine, state: MarkerState): Slope {
  const { problem, statistics, settings } = engine;
  const { layout, nodeSums, workspace } = problem;
  const { inducingMean: nu, lengthscale: ell, signalVariance: alpha } = state;
  const dp = nu.length;

  const kernel = nodeKernel(problem.geometry, alpha, ell, true);
  const plain = { ...kernel, featuresDot: null };
  const { precision, linear, covariance, logDeterminant } = inducingPosterior(layout, plain, nodeSums, workspace);
  const curved = multiplyVector(precision, nu, dp, dp);
  const byNu = linear.map((v, k) => v - curved[k]);

  const joint = jointMean(layout, engine.mean, nodeSums);
  const system = meanSystem(layout, kernel.features, joint, covariance);
  const byMean = meanSlope(joint, system, nu);

  const { linearSums } = joint;
  const place = { linear, linearSums, mean: nu, covariance: state.inducingCovariance };
  const [byAlpha, byEll] = kernelSlope(layout, kernel, nodeSums, workspace, place);
  const frame = frameAt(engine, ell);
  const byTurning = turningSlope(engine, state, frame, byNu, precision);

  const free = state.tau === null && settings.residual !== "none";
  const { byNoise, byTau, bySpread, residualMoment } = noiseSlopes(engine, state);

  const { learn } = settings;
  const unit = meanUnit(engine);
  const others = [byNoise, byAlpha, byEll + byTurning, ...byTau, ...bySpread];
  const held = heldParameters(engine, state, others);
  const gradient = Float64Array.from([
    ...toFrame(byNu, frame),
    ...byMean.map((g) => (learn ? unit * g : 0)),
    ...others.map((g, k) => (held[k] ? 0 : g)),
  ]);

  const numColumns = byMean.length;
  const { numObservations: N } = statistics;
  const m = cohortSize(statistics);
  const scales = [
    2 / N,
    2 / dp,
    1 / dp,
    ...byTau.map(() => 2 / m),
    ...bySpread.map(() => 2 / N / noiseSpread(state.noise) ** 2),
  ];
  const precondition: Precondition = (vector) => {
    const forNu = fromFrame(vector.subarray(0, dp), frame);
    const explained = multiplyVector(system.solved, forNu, numColumns, dp);
    const open = explained.map((x, t) => vector[dp + t] / unit - x);
    const byShift = learn ? multiplyVector(system.inverse, open, numColumns, numColumns) : open.fill(0);
    const moved = multiply(byShift, system.cross, 1, numColumns, dp);
    const out = vector.map((x, k) => (k < dp + numColumns ? 0 : x * scales[k - dp - numColumns]));
    const rest = forNu.map((x, k) => x - moved[k]);
    out.set(toFrame(multiplyVector(covariance, rest, dp, dp), frame));
    out.set(
      byShift.map((x) => x / unit),
      dp,
    );
    return out;
  };
  return {
    gradient,
    precondition,
    covariance,
    divergence: inducingKl(nu, covariance, logDeterminant),
    residualCovariance: free && learn ? freeResidual(settings.residual, residualMoment, m) : null,
  };
}

/**
 * What log ℓ adds by turning ν and Ξ with the frame, Ẇ = ∂U(ℓ)'/∂log ℓ U: (c − Λν)'Ẇν − Tr(ΛẆΞ), Ẇ acting on each block of
 * p entries.
 */
function turningSlope(
  engine: MarkerEngine,
  { inducingMean: nu, inducingCovariance: Xi, lengthscale: ell }: MarkerState,
  frame: Float64Array,
  byNu: Float64Array,
  precision: Float64Array,
): number {
  const p = engine.problem.layout.numInducing;
  const dp = nu.length;
  const [up, down] = [FRAME_DIFFERENCE, -FRAME_DIFFERENCE].map((by) => frameAt(engine, ell * Math.exp(by)));
  const frameDot = up.map((v, e) => (v - down[e]) / (2 * FRAME_DIFFERENCE));
  const turning = multiply(transpose(frameDot, p, p), frame, p, p, p); // Ẇ
  let slope = 0;
  for (let k = 0; k < dp; k += p) {
    for (let a = 0; a < p; a++) {
      for (let b = 0; b < p; b++) {
        let entry = byNu[k + a] * nu[k + b];
        const row = (k + b) * dp;
        const column = (k + a) * dp; // Λ is symmetric
        for (let e = 0; e < dp; e++) entry -= Xi[row + e] * precision[column + e];
        slope += turning[a * p + b] * entry;
      }
    }
  }
  return slope;
}

/** Slopes by log σ², log τ and log ω, where they are parameters, and Σ E ee' for a free Σ_e. */
function noiseSlopes(engine: MarkerEngine, { noise, tau, mean }: MarkerState) {
  const { maximization, levels, values } = engine.sums!;
  if (levels !== null) {
    const { logVariance, logTau, logSpread } = levels;
    return {
      byNoise: logVariance + noiseSlope(noise, 0, 0, engine.noisePrior),
      byTau: tau === null ? [] : [logTau],
      bySpread: [logSpread],
      residualMoment: new Float64Array(0),
    };
  }
  const squares = remainingSquares(maximization!, new Float64Array(mean.length));
  const [above, below] = values;
  return {
    byNoise: noiseSlope(noise, squares, engine.statistics.numObservations, engine.noisePrior),
    byTau: tau === null ? [] : [(above - below) / (2 * TAU_DIFFERENCE)],
    bySpread: [],
    residualMoment: maximization!.residualMoment,
  };
}

/** Which of log σ², log α, log ℓ, log τ and log ω are held, at a bound that they push against or because nothing is learned. */
function heldParameters(engine: MarkerEngine, state: MarkerState, slopes: readonly number[]): boolean[] {
  const { settings, lowestNoiseLevel } = engine;
  const [shortest, longest] = LENGTHSCALE_BOUNDS;
  const bounds = [
    [lowestNoiseLevel, Number.POSITIVE_INFINITY],
    [0, Number.POSITIVE_INFINITY],
    [shortest, longest],
    ...(state.tau === null ? [] : [[Math.exp(LOWEST_LOG_TAU), settings.cap ?? Number.POSITIVE_INFINITY]]),
    [LOWEST_LOG_SPREAD, HIGHEST_LOG_SPREAD].map(Math.exp),
  ];
  const values = [
    noiseLevel(state.noise),
    state.signalVariance,
    state.lengthscale,
    ...(state.tau === null ? [] : [state.tau]),
    noiseSpread(state.noise),
  ];
  return slopes.map((slope, k) => {
    const [low, high] = bounds[k];
    const atLow = values[k] <= low * (1 + AT_BOUND);
    const atHigh = values[k] >= high * (1 - AT_BOUND);
    return !settings.learn || (atLow && slope < 0) || (atHigh && slope > 0);
  });
}
