/**
 * Scaled conjugate gradients on the local objective for a block of individuals (numeric/optimize/scaled-conjugate-gradient.ts,
 * step by step the same): two climb at once, one in each lane. A climb is a sequence of places to evaluate; between two
 * evaluations its own numbers are moved on, and who has arrived gives the lane to the next in the block.
 */
import { Block, evaluatePair, loadLane, rowAt } from "./local-block";

/** What the next evaluation is for. */
const START: i32 = 0;
const PROBE: i32 = 1;
const TRIAL: i32 = 2;
/** What came of it. */
const ONWARD: i32 = 0;
const ARRIVED: i32 = 1;
const OUTSIDE: i32 = 2;

/** One climb; its vectors [8] follow in the order of the addresses below. */
@unmanaged
class Climb {
  value: f64;
  damping: f64;
  /** What of the damping is already part of the curvature. */
  included: f64;
  curvature: f64;
  /** p'p of the direction, p'g, and the length and predicted gain of the step. */
  pp: f64;
  slope: f64;
  length: f64;
  predicted: f64;
  individual: i32; // −1: the lane is free
  phase: i32;
  moved: i32;
  sinceRestart: i32;
  evaluations: i32;
}

const VECTORS: usize = 96;
const LANE: usize = VECTORS + 5 * 64;

@inline
function pointOf(climb: usize): usize {
  return climb + VECTORS;
}

@inline
function gradientOf(climb: usize): usize {
  return climb + VECTORS + 64;
}

@inline
function directionOf(climb: usize): usize {
  return climb + VECTORS + 128;
}

@inline
function trialOf(climb: usize): usize {
  return climb + VECTORS + 192;
}

/** The value, then the gradient at the trial point. */
@inline
function outcomeOf(climb: usize): usize {
  return climb + VECTORS + 256;
}

/**
 * Maximises J of everybody in the block from the rows of θ, in place; the result is J there, with its
 * constant. Who comes out of the grid's range has NaN and keeps θ. Returns the number of evaluations.
 */
export function climbBlock(context: usize, count: i32, tolerance: f64, maxEvaluations: i32): i32 {
  const block = changetype<Block>(context);
  const first = block.climbs;
  const second = first + LANE;
  let next = 0;
  let total = 0;
  next = begin(block, first, 0, next, count);
  next = begin(block, second, 1, next, count);
  while (changetype<Climb>(first).individual >= 0 || changetype<Climb>(second).individual >= 0) {
    const a = outcomeOf(first);
    const b = outcomeOf(second);
    const value = evaluatePair(
      block, 0, trialOf(first), trialOf(second), a + 8, b + 8, block.slopes, block.slopes,
    );
    f64.store(a, f64x2.extract_lane(value, 0));
    f64.store(b, f64x2.extract_lane(value, 1));
    for (let lane: usize = 0; lane < 2; lane++) {
      const at = lane == 0 ? first : second;
      const climb = changetype<Climb>(at);
      if (climb.individual < 0) continue;
      total++;
      const state = advance(block, at, tolerance, maxEvaluations);
      if (state == ONWARD) continue;
      const row = rowAt(block.result, climb.individual, 1);
      f64.store(row, state == ARRIVED ? climb.value : NaN);
      if (state == ARRIVED) copy(pointOf(at), rowAt(block.theta, climb.individual, block.numParameters), block.numParameters);
      next = begin(block, at, lane, next, count);
    }
  }
  return total;
}

/** Gives the lane to the next individual, if there is one; returns who comes after. */
function begin(block: Block, at: usize, lane: usize, next: i32, count: i32): i32 {
  const climb = changetype<Climb>(at);
  if (next >= count) {
    // Evaluated along with the other lane where it last was; nobody reads it.
    climb.individual = -1;
    return next;
  }
  climb.individual = next;
  climb.phase = START;
  const theta = rowAt(block.theta, next, block.numParameters);
  copy(theta, pointOf(at), block.numParameters);
  copy(theta, trialOf(at), block.numParameters);
  loadLane(block, next, lane);
  return next + 1;
}

@inline
function copy(from: usize, to: usize, n: i32): void {
  memory.copy(to, from, <usize>n << 3);
}

@inline
function dot(a: usize, b: usize, n: i32): f64 {
  let s: f64 = 0;
  for (let k = 0; k < n; k++) {
    const o = <usize>k << 3;
    s += f64.load(a + o) * f64.load(b + o);
  }
  return s;
}

/** to = x + length · p. */
@inline
function along(x: usize, length: f64, p: usize, n: i32, to: usize): void {
  for (let k = 0; k < n; k++) {
    const o = <usize>k << 3;
    f64.store(to + o, f64.load(x + o) + length * f64.load(p + o));
  }
}

/** Takes in the evaluation at the trial point and sets up the next one. */
function advance(block: Block, at: usize, tolerance: f64, maxEvaluations: i32): i32 {
  const n = block.numParameters;
  const climb = changetype<Climb>(at);
  const x = pointOf(at);
  const gradient = gradientOf(at);
  const p = directionOf(at);
  const trial = trialOf(at);
  const outcome = outcomeOf(at);
  const value = f64.load(outcome) + f64.load(rowAt(block.constants, climb.individual, 1));
  const trialGradient = outcome + 8;
  // Values are numbers within the range of the grid.
  if (value != value) return OUTSIDE;
  if (climb.phase == PROBE) {
    climb.evaluations++;
    const reach = 1e-5 / sqrt<f64>(climb.pp);
    let s: f64 = 0;
    for (let k = 0; k < n; k++) {
      const o = <usize>k << 3;
      s += f64.load(p + o) * (f64.load(gradient + o) - f64.load(trialGradient + o));
    }
    climb.curvature = s / reach;
    stepTo(climb, x, gradient, p, trial, n);
    return ONWARD;
  }
  if (climb.phase == START) {
    climb.value = value;
    copy(trialGradient, gradient, n);
    copy(trialGradient, p, n);
    climb.damping = 1e-6;
    climb.included = 0;
    climb.curvature = 0;
    climb.moved = 1;
    climb.sinceRestart = 0;
    climb.evaluations = 1;
  } else {
    climb.evaluations++;
    judge(climb, value, x, gradient, p, trial, trialGradient, n);
  }
  // The gradient is small (or no number), the evaluations are used up, or damping so great that steps do not change x.
  let largest: f64 = 0;
  for (let k = 0; k < n; k++) largest = Math.max(largest, Math.abs(f64.load(gradient + (<usize>k << 3))));
  if (!(largest > tolerance) || climb.evaluations + 2 > maxEvaluations || climb.damping > 1e20) return ARRIVED;
  climb.pp = dot(p, p, n);
  if (climb.moved) {
    along(x, 1e-5 / sqrt<f64>(climb.pp), p, n, trial);
    climb.phase = PROBE;
  } else {
    stepTo(climb, x, gradient, p, trial, n);
  }
  return ONWARD;
}

/** The trial point from the curvature along p, damped; where J is not concave along p, more damping turns it round. */
function stepTo(climb: Climb, x: usize, gradient: usize, p: usize, trial: usize, n: i32): void {
  const pp = climb.pp;
  climb.curvature += (climb.damping - climb.included) * pp;
  if (climb.curvature <= 0) {
    const raised = 2 * (climb.damping - climb.curvature / pp);
    climb.curvature = -climb.curvature + climb.damping * pp;
    climb.damping = raised;
  }
  climb.included = climb.damping;
  climb.slope = dot(p, gradient, n);
  climb.length = climb.slope / climb.curvature;
  climb.predicted = (0.5 * climb.slope * climb.slope) / climb.curvature;
  along(x, climb.length, p, n, trial);
  climb.phase = TRIAL;
}

/** Compares the gain with the predicted one, steers the damping, and moves on if there is a gain. */
function judge(
  climb: Climb, value: f64, x: usize, gradient: usize, p: usize, trial: usize, trialGradient: usize, n: i32,
): void {
  const predicted = climb.predicted;
  const slope = climb.slope;
  // A gain so small that rounding hides it is read off the slopes at both ends.
  const hidden = predicted < 1e-9 * Math.max(1, Math.abs(value));
  const gain = hidden ? 0.5 * climb.length * (slope + dot(p, trialGradient, n)) : value - climb.value;
  const agreement = gain > -3 * predicted ? gain / predicted : -3;
  climb.moved = i32(agreement >= 0);
  if (agreement < 0.25) climb.damping += (climb.curvature * (1 - agreement)) / climb.pp;
  else if (agreement >= 0.75) climb.damping *= 0.25;
  if (!climb.moved) return;
  climb.sinceRestart++;
  const restart = climb.sinceRestart >= n;
  const turn = dot(trialGradient, trialGradient, n) - dot(trialGradient, gradient, n);
  const beta = restart ? 0 : turn / slope;
  copy(trial, x, n);
  copy(trialGradient, gradient, n);
  along(gradient, beta, p, n, p);
  if (restart || !(dot(p, gradient, n) > 0)) {
    copy(gradient, p, n);
    climb.sinceRestart = 0;
  }
  climb.value = value;
  climb.included = 0;
}
