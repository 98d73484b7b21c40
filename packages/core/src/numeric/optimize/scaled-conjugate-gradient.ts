/**
 * Scaled conjugate gradients for maximisation (Møller 1993, Neural Networks 6, 525-533): conjugate directions whose step
 * length comes from a finite difference of the gradient along the direction, damped as in a trust region; no line search.
 * One or two evaluations per step.
 */
import { dot } from "../matrix.ts";
import type { CurvedObjective, NewtonOptions } from "./newton.ts";
import { maxAbs } from "./objective.ts";

/** Maximises from x[offset..] in place; returns f there, not below the start (up to rounding). Buffers are made once. */
export function conjugateAscent(objective: CurvedObjective, n: number) {
  const [p, trial] = [new Float64Array(n), new Float64Array(n)];
  let [g, gTrial] = [new Float64Array(n), new Float64Array(n)];

  return (x: Float64Array, offset: number, { gradientTolerance, maxEvaluations }: NewtonOptions): number => {
    let value = objective(x, offset, g, null);
    p.set(g);
    let evaluations = 1;
    // λ and λ̄ of the paper: the damping, and what of it is already part of the curvature δ = −p'Hp + λ|p|².
    let damping = 1e-6;
    let included = 0;
    let curvature = 0;
    // False after a rejected step: the direction and its curvature are kept.
    let moved = true;
    // Accepted steps since the direction was last the gradient itself.
    let sinceRestart = 0;
    // Beyond this damping steps no longer change x.
    while (maxAbs(g) > gradientTolerance && evaluations + 2 <= maxEvaluations && damping <= 1e20) {
      const pp = dot(p, p);
      if (moved) {
        const reach = 1e-5 / Math.sqrt(pp);
        for (let k = 0; k < n; k++) trial[k] = x[offset + k] + reach * p[k];
        objective(trial, 0, gTrial, null);
        evaluations++;
        let s = 0;
        for (let k = 0; k < n; k++) s += p[k] * (g[k] - gTrial[k]);
        curvature = Number.isFinite(s) ? s / reach : pp;
      }
      curvature += (damping - included) * pp;
      if (curvature <= 0) {
        // Not concave along p: turn the curvature round by more damping.
        const raised = 2 * (damping - curvature / pp);
        curvature = -curvature + damping * pp;
        damping = raised;
      }
      included = damping;
      const slope = dot(p, g);
      const length = slope / curvature;
      for (let k = 0; k < n; k++) trial[k] = x[offset + k] + length * p[k];
      const trialValue = objective(trial, 0, gTrial, null);
      evaluations++;
      const predicted = (0.5 * slope * slope) / curvature;
      // A gain so small that rounding hides it is read off the slopes at both ends.
      const hidden = predicted < 1e-9 * Math.max(1, Math.abs(trialValue));
      const gain = hidden ? 0.5 * length * (slope + dot(p, gTrial)) : trialValue - value;
      // A disaster is no measure of curvature: without the floor one trial far outside would raise the damping for good.
      const agreement = gain > -3 * predicted ? gain / predicted : -3;
      moved = agreement >= 0;
      if (agreement < 0.25) damping += (curvature * (1 - agreement)) / pp;
      else if (agreement >= 0.75) damping *= 0.25;
      if (!moved) continue;
      // Move there and turn the direction (Hestenes-Stiefel form of the paper).
      const restart = ++sinceRestart >= n;
      const beta = restart ? 0 : (dot(gTrial, gTrial) - dot(gTrial, g)) / slope;
      for (let k = 0; k < n; k++) {
        x[offset + k] = trial[k];
        p[k] = gTrial[k] + beta * p[k];
      }
      [g, gTrial] = [gTrial, g];
      value = trialValue;
      included = 0;
      if (restart || !(dot(p, g) > 0)) {
        p.set(g);
        sinceRestart = 0;
      }
    }
    return value;
  };
}
