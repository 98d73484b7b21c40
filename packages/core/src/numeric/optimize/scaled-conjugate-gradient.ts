/**
 * Scaled conjugate gradients for maximisation (Møller 1993, Neural Networks 6, 525-533): conjugate directions whose step
 * length comes from a finite difference of the gradient along the direction, damped as in a trust region; no line search.
 * One or two evaluations per step.
 */
import { dot } from "../matrix.ts";
import { maxAbs, type Objective, type OptimizeResult } from "./objective.ts";

interface State {
  readonly x: Float64Array; // [n]
  readonly gradient: Float64Array; // [n]
  readonly direction: Float64Array; // [n]
  readonly trial: Float64Array; // [n]
  readonly trialGradient: Float64Array; // [n]
  value: number;
  /** λ and λ̄ of the paper: the damping, and what of it is already part of `curvature`. */
  damping: number;
  includedDamping: number;
  /** δ: −p'Hp + λ|p|² along the direction p. */
  curvature: number;
  /** False after a rejected step: the direction and its curvature are kept. */
  moved: boolean;
  /** Accepted steps since the direction was last the gradient itself. */
  sinceRestart: number;
  iterations: number;
  evaluations: number;
}

/** Steps until no entry of the gradient exceeds the tolerance, or the evaluations are used up. */
export function maximizeScaledConjugateGradient(
  objective: Objective,
  x0: Float64Array,
  options: { readonly maxEvaluations?: number; readonly gradientTolerance?: number } = {},
): OptimizeResult {
  const { maxEvaluations = 1000, gradientTolerance = 1e-6 } = options;
  const state = startAt(objective, x0);
  const isTop = () => maxAbs(state.gradient) <= gradientTolerance;
  // Beyond so much damping steps no longer change x.
  const canGoOn = () => state.evaluations + 2 <= maxEvaluations && state.damping <= 1e20;
  while (!isTop() && canGoOn()) step(objective, state);
  const { x, value, gradient, iterations, evaluations } = state;
  const reason = isTop() ? "gradient" : state.damping > 1e20 ? "no-ascent" : "iterations";
  return { x, value, gradient, iterations, evaluations, reason };
}

/** The state before the first step, at a copy of x0. */
function startAt(objective: Objective, x0: Float64Array): State {
  const n = x0.length;
  const x = x0.slice();
  const gradient = new Float64Array(n);
  const value = objective(x, gradient);
  return {
    x,
    gradient,
    direction: gradient.slice(),
    trial: new Float64Array(n),
    trialGradient: new Float64Array(n),
    value,
    damping: 1e-6,
    includedDamping: 0,
    curvature: 0,
    moved: true,
    sinceRestart: 0,
    iterations: 0,
    evaluations: 1,
  };
}

/** One step in place (two evaluations at most); returns the gain, 0 if the trial was rejected. */
function step(objective: Objective, state: State): number {
  const { x, gradient, direction: p, trial, trialGradient } = state;
  const n = x.length;
  const pp = dot(p, p);
  if (pp === 0) return 0;
  state.iterations++;
  if (state.moved) {
    const reach = 1e-5 / Math.sqrt(pp);
    for (let k = 0; k < n; k++) trial[k] = x[k] + reach * p[k];
    objective(trial, trialGradient);
    state.evaluations++;
    let s = 0;
    for (let k = 0; k < n; k++) s += p[k] * (gradient[k] - trialGradient[k]);
    state.curvature = Number.isFinite(s) ? s / reach : pp;
  }
  state.curvature += (state.damping - state.includedDamping) * pp;
  if (state.curvature <= 0) {
    // Not concave along p: turn the curvature round by more damping.
    const raised = 2 * (state.damping - state.curvature / pp);
    state.curvature = -state.curvature + state.damping * pp;
    state.damping = raised;
  }
  state.includedDamping = state.damping;
  const slope = dot(p, gradient);
  const length = slope / state.curvature;
  for (let k = 0; k < n; k++) trial[k] = x[k] + length * p[k];
  const value = objective(trial, trialGradient);
  state.evaluations++;
  const predicted = (0.5 * slope * slope) / state.curvature;
  // A gain so small that rounding hides it is read off the slopes at both ends.
  const hidden = predicted < 1e-9 * Math.max(1, Math.abs(value));
  const gain = hidden ? 0.5 * length * (slope + dot(p, trialGradient)) : value - state.value;
  // A disaster is no measure of curvature: without the floor one trial far outside would raise the damping for good.
  const agreement = gain > -3 * predicted ? gain / predicted : -3;
  state.moved = agreement >= 0;
  if (agreement < 0.25) state.damping += (state.curvature * (1 - agreement)) / pp;
  else if (agreement >= 0.75) state.damping *= 0.25;
  if (!state.moved) return 0;
  accept(state, slope);
  state.value = value;
  state.includedDamping = 0;
  return gain;
}

/** Moves to the trial point and turns the direction (Hestenes-Stiefel form of the paper). */
function accept(state: State, slope: number): void {
  const { x, gradient, direction: p, trial, trialGradient } = state;
  const n = x.length;
  state.sinceRestart++;
  const restart = state.sinceRestart >= n;
  const beta = restart ? 0 : (dot(trialGradient, trialGradient) - dot(trialGradient, gradient)) / slope;
  x.set(trial);
  gradient.set(trialGradient);
  for (let k = 0; k < n; k++) p[k] = gradient[k] + beta * p[k];
  if (restart || !(dot(p, gradient) > 0)) {
    p.set(gradient);
    state.sinceRestart = 0;
  }
}
