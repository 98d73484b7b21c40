/**
 * The state of a fit between two iterations: plain data, so that a fit can be stored and resumed bit for bit. Everything
 * else (features at the nodes, tables, statistics) follows from it.
 */

import type { Noise } from "../../noise/noise.ts";
import { trace } from "../../numeric/matrix.ts";
import type { LbfgsState } from "../../numeric/optimize/lbfgs.ts";
import type { MapStart, MarkerStart } from "../map-start.ts";
import type { FitState } from "../run.ts";
import { type KernelCurvature, kernelCurvature } from "./kernel-step.ts";
import type { DtmSettings } from "./settings.ts";
import { type Movement, UNKNOWN_MOVEMENT } from "./stop-rule.ts";

/** What a fit has learned of one marker. */
export interface MarkerState {
  /** β, [d]. */
  mean: Float64Array;
  /** γ [P,h], effects of covariates in the mean; null without. */
  effects: Float64Array | null;
  noise: Noise;
  /** Squares by which the levels of the noise are weighed (level-statistics.ts), [m,1 + d]; null for noise of one level. */
  squares: Float64Array | null;
  /** Σ_e, [d,d]; zero without residual effects. */
  residualCovariance: Float64Array;
  tau: number | null;
  /** h, trial distance of the next step for τ. */
  trialDistance: number;
  signalVariance: number; // α
  lengthscale: number; // ℓ
  readonly curvature: KernelCurvature;
  /** ν [dp] and Ξ [dp,dp]. */
  inducingMean: Float64Array;
  inducingCovariance: Float64Array;
  divergence: number; // KL of q(u)
}

/** Parameters and q(u) of each marker, trace, and what steps and stop rule remember. */
export interface DtmState extends FitState {
  /** Whole passes on the coarse lattice, on the one asked for, or minibatches. */
  stage: "coarse" | "fine" | "svi" | "done";
  /** Which of several starts. */
  readonly start: number;
  /** Iterations spent on the coarse lattice. */
  coarseIterations: number;
  markers: MarkerState[];
  /** Φ [q,P], what covariates shift places by; null without covariates. */
  shift: Float64Array | null;
  /** Small gains in a row. */
  smallGains: number;
  /** Largest fall of the bound beyond rounding, if any. */
  worstFall: number;
  /** State of the random numbers ("svi"). */
  random: readonly number[] | null;
  /** Running node sums ("svi"), [K,Γ]. */
  runningSums: Float64Array | null;
  /** Minibatches taken ("svi"). */
  updates: number;
  /** Whom passes visit ("svi"): everybody, a sample until it has settled, or everybody for the last time. */
  reach: "everybody" | "sample" | "last pass";
  /** Whether the bound has settled. */
  settled: boolean;
  /** What is known of the way up (quasi-Newton steps); null before the first. */
  ascent: LbfgsState | null;
  /** Places at the last check of the stop rule, [m,q], and what it found. */
  places: Float64Array | null;
  movement: Movement;
}

const FIRST_TRIAL_DISTANCE = 0.3;

/** The state before the first iteration; P covariates shift places. */
export function firstState(start: MapStart, settings: DtmSettings, numShifts = 0): DtmState {
  return {
    stage: "fine",
    start: 0,
    coarseIterations: 0,
    iteration: 0,
    markers: start.markers.map((marker) => firstMarkerState(marker, settings)),
    shift: numShifts === 0 ? null : new Float64Array(settings.mapDimension * numShifts),
    trace: [],
    smallGains: 0,
    worstFall: 0,
    random: null,
    runningSums: null,
    updates: 0,
    reach: "everybody",
    settled: false,
    ascent: null,
    places: null,
    movement: UNKNOWN_MOVEMENT,
  };
}

/** Parameters from the linear start, τ at its cap, ℓ as set, α = Tr Σ/d. */
function firstMarkerState(start: MarkerStart, { residual, cap, lengthscale }: DtmSettings): MarkerState {
  const d = start.mean.coefficients.length;
  const tau = residual === "none" ? 0 : Math.min(cap ?? UNCAPPED_FIRST_TAU, 1);
  const reference = referenceCovariance(start);
  const residualCovariance = reference.map((v, e) =>
    residual === "diagonal" && Math.floor(e / d) !== e % d ? 0 : tau * v,
  );
  return {
    mean: start.mean.coefficients.slice(),
    effects: start.effects?.slice() ?? null,
    noise: start.noise,
    squares: null,
    residualCovariance,
    tau: residual === "capped" ? tau : null,
    trialDistance: FIRST_TRIAL_DISTANCE,
    signalVariance: trace(start.covariance, d) / d,
    lengthscale,
    curvature: kernelCurvature(),
    inducingMean: new Float64Array(0),
    inducingCovariance: new Float64Array(0),
    divergence: Number.NaN,
  };
}

/** A state whose markers can be changed without changing those of the first. */
export function copyState(state: DtmState): DtmState {
  return { ...state, markers: state.markers.map((marker) => ({ ...marker })) };
}

/** Where τ starts without a cap. */
const UNCAPPED_FIRST_TAU = 0.2;

/** Σ_ref = Σ_LMM plus 1e-8 of its trace on the diagonal, so that a singular Σ_LMM is no trouble, [d,d]. */
export function referenceCovariance(start: MarkerStart): Float64Array {
  const d = start.mean.coefficients.length;
  const reference = start.covariance.slice();
  const ridge = 1e-8 * trace(reference, d);
  for (let k = 0; k < d; k++) reference[k * d + k] += ridge;
  return reference;
}
