/**
 * Weak-Wolfe line search by bisection and expansion (Lewis & Overton 2013) for maximisation along a direction:
 *   f(x + a d) ≥ f(x) + c1 a g'd   and   ∇f(x + a d)'d ≤ c2 g'd.
 * The curvature condition keeps quasi-Newton updates positive definite.
 */
import { dot } from "../matrix.ts";
import type { Objective } from "./objective.ts";

export interface LineSearchResult {
  /** Step length taken; 0 if no ascent was found (then `x` and `gradient` are as they were). */
  readonly step: number;
  readonly value: number;
  readonly evaluations: number;
}

/** Moves x in place to an accepted point and writes its gradient; `trial` and `trialGradient` are scratch, [n]. */
export function lineSearchInPlace(
  objective: Objective,
  x: Float64Array,
  value: number,
  gradient: Float64Array,
  direction: Float64Array,
  firstStep: number,
  trial: Float64Array,
  trialGradient: Float64Array,
  maxEvaluations = 30,
): LineSearchResult {
  const c1 = 1e-4;
  const c2 = 0.9;
  const n = x.length;
  const slope = dot(gradient, direction);
  if (!(slope > 0)) return { step: 0, value, evaluations: 0 };
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  let step = firstStep;
  let bestStep = 0;
  let bestValue = value;
  for (let evaluations = 1; evaluations <= maxEvaluations; evaluations++) {
    for (let k = 0; k < n; k++) trial[k] = x[k] + step * direction[k];
    const v = objective(trial, trialGradient);
    if (!Number.isFinite(v) || v < value + c1 * step * slope) {
      high = step;
    } else {
      if (v > bestValue) {
        bestStep = step;
        bestValue = v;
      }
      const curvatureHolds = dot(trialGradient, direction) <= c2 * slope;
      if (curvatureHolds || (bestStep > 0 && evaluations === maxEvaluations)) {
        x.set(trial);
        gradient.set(trialGradient);
        return { step, value: v, evaluations };
      }
      low = step;
    }
    step = high === Number.POSITIVE_INFINITY ? 2 * low : 0.5 * (low + high);
  }
  // No point met both conditions: settle for the best sufficient increase, if any.
  if (bestStep > 0) {
    for (let k = 0; k < n; k++) x[k] += bestStep * direction[k];
    return { step: bestStep, value: objective(x, gradient), evaluations: maxEvaluations + 1 };
  }
  return { step: 0, value, evaluations: maxEvaluations };
}
