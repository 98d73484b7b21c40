/**
 * Scaled conjugate gradients on the local objective: numeric/optimize/scaled-conjugate-gradient.ts, step by step, with the
 * trial point in θ and its gradient where `evaluateLocal` reads and writes them.
 */
import { Local } from "./contexts";
import { evaluateLocal } from "./local";

@inline
function dot(a: usize, b: usize, end: usize): f64 {
  let s: f64 = 0;
  for (let o: usize = 0; o < end; o += 8) s += f64.load(a + o) * f64.load(b + o);
  return s;
}

/** out = x + length · p. */
@inline
function move(x: usize, length: f64, p: usize, end: usize, out: usize): void {
  for (let o: usize = 0; o < end; o += 8) f64.store(out + o, f64.load(x + o) + length * f64.load(p + o));
}

@inline
function largest(g: usize, end: usize): f64 {
  let most: f64 = 0;
  for (let o: usize = 0; o < end; o += 8) most = Math.max(most, Math.abs(f64.load(g + o)));
  return most;
}

/** Maximises J = constant + … from θ in place; leaves J in `value` and returns the evaluations used, 0 out of range. */
export function climbLocal(context: usize, constant: f64, tolerance: f64, maxEvaluations: i32): i32 {
  const local = changetype<Local>(context);
  const end = <usize>local.numParameters << 3;
  const trial = local.theta;
  const gTrial = local.gradient;
  const x = local.ascent;
  const g = x + 40;
  const p = x + 80;
  if (!evaluateLocal(context, 2)) return 0;
  memory.copy(x, trial, end);
  memory.copy(g, gTrial, end);
  memory.copy(p, gTrial, end);
  let value = constant + f64.load(local.value);
  let evaluations = 1;
  let damping: f64 = 1e-6;
  let included: f64 = 0;
  let curvature: f64 = 0;
  let moved = true;
  let sinceRestart = 0;
  while (largest(g, end) > tolerance && evaluations + 2 <= maxEvaluations && damping <= 1e20) {
    const pp = dot(p, p, end);
    if (moved) {
      const reach = 1e-5 / Math.sqrt(pp);
      move(x, reach, p, end, trial);
      if (!evaluateLocal(context, 2)) return 0;
      evaluations++;
      let s: f64 = 0;
      for (let o: usize = 0; o < end; o += 8) s += f64.load(p + o) * (f64.load(g + o) - f64.load(gTrial + o));
      curvature = isFinite(s) ? s / reach : pp;
    }
    curvature += (damping - included) * pp;
    if (curvature <= 0) {
      const raised = 2 * (damping - curvature / pp);
      curvature = -curvature + damping * pp;
      damping = raised;
    }
    included = damping;
    const slope = dot(p, g, end);
    const length = slope / curvature;
    move(x, length, p, end, trial);
    if (!evaluateLocal(context, 2)) return 0;
    const trialValue = constant + f64.load(local.value);
    evaluations++;
    const predicted = (0.5 * slope * slope) / curvature;
    const hidden = predicted < 1e-9 * Math.max(1, Math.abs(trialValue));
    const gain = hidden ? 0.5 * length * (slope + dot(p, gTrial, end)) : trialValue - value;
    const agreement = gain > -3 * predicted ? gain / predicted : -3;
    moved = agreement >= 0;
    if (agreement < 0.25) damping += (curvature * (1 - agreement)) / pp;
    else if (agreement >= 0.75) damping *= 0.25;
    if (!moved) continue;
    const restart = ++sinceRestart >= local.numParameters;
    const beta = restart ? 0 : (dot(gTrial, gTrial, end) - dot(gTrial, g, end)) / slope;
    move(gTrial, beta, p, end, p);
    memory.copy(x, trial, end);
    memory.copy(g, gTrial, end);
    value = trialValue;
    included = 0;
    if (restart || !(dot(p, g, end) > 0)) {
      memory.copy(p, g, end);
      sinceRestart = 0;
    }
  }
  memory.copy(trial, x, end);
  f64.store(local.value, value);
  return evaluations;
}
