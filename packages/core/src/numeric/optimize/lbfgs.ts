/**
 * Limited-memory BFGS for maximisation with many parameters (Nocedal & Wright, algorithm 7.5): O(memory · n) per step
 * beside one or two evaluations. The state is plain data, so a run can be stored and resumed bit for bit.
 *
 * Where an approximate inverse H₀ of the negative Hessian is known, steps are counted from it (`precondition`). Bounds on
 * single parameters are the objective's: it may move a point back into its box, and it writes a derivative of exactly 0
 * for a parameter that is held at its bound; such a parameter stays.
 */
import { dot } from "../matrix.ts";
import { lineSearchInPlace } from "./line-search.ts";
import { maxAbs, type Objective } from "./objective.ts";

/** Evaluations along one direction at most. */
const MAX_EVALUATIONS = 15;

export interface LbfgsState {
  readonly x: Float64Array; // [n]
  readonly gradient: Float64Array; // [n]
  value: number;
  /** Past steps s and gradient falls y = g_old − g_new, newest last. */
  steps: Float64Array[];
  falls: Float64Array[];
  readonly memory: number;
  iterations: number;
  evaluations: number;
}

export function startLbfgs(objective: Objective, x0: Float64Array, memory = 10): LbfgsState {
  const x = x0.slice();
  const gradient = new Float64Array(x.length);
  const value = objective(x, gradient);
  return { x, gradient, value, steps: [], falls: [], memory, iterations: 0, evaluations: 1 };
}

/** v ↦ H₀v, for a symmetric positive definite H₀. */
export type Precondition = (vector: Float64Array) => Float64Array;

/** One iteration in place; returns the gain (0 when no ascent direction is left). */
export function stepLbfgs(objective: Objective, state: LbfgsState, precondition: Precondition | null = null): number {
  const before = state.value;
  if (maxAbs(state.gradient) === 0) return 0;
  if (!ascend(objective, state, precondition)) {
    if (state.steps.length === 0) return 0;
    // A stale memory can point nowhere: forget it and try the gradient once.
    state.steps = [];
    state.falls = [];
    if (!ascend(objective, state, precondition)) return 0;
  }
  state.iterations++;
  return state.value - before;
}

function ascend(objective: Objective, state: LbfgsState, precondition: Precondition | null): boolean {
  const { x, gradient } = state;
  const n = x.length;
  const direction = lbfgsDirection(state, precondition);
  const oldX = x.slice();
  const oldGradient = gradient.slice();
  const unscaled = state.steps.length === 0 && precondition === null;
  const first = unscaled ? Math.min(1, 1 / Math.sqrt(dot(gradient, gradient))) : 1;
  const trial = new Float64Array(n);
  const trialGradient = new Float64Array(n);
  const found = lineSearchInPlace(
    objective,
    x,
    state.value,
    gradient,
    direction,
    first,
    trial,
    trialGradient,
    MAX_EVALUATIONS,
  );
  state.evaluations += found.evaluations;
  if (found.step === 0) return false;
  state.value = found.value;
  const s = new Float64Array(n);
  const y = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    s[k] = x[k] - oldX[k];
    y[k] = oldGradient[k] - gradient[k];
  }
  if (dot(s, y) > 1e-14 * Math.sqrt(dot(s, s) * dot(y, y))) {
    state.steps.push(s);
    state.falls.push(y);
    if (state.steps.length > state.memory) {
      state.steps.shift();
      state.falls.shift();
    }
  }
  return true;
}

/** Two-loop recursion: the inverse of the negative Hessian, as remembered, times the gradient. */
function lbfgsDirection({ steps, falls, gradient }: LbfgsState, precondition: Precondition | null): Float64Array {
  let r: Float64Array = gradient.slice();
  const n = r.length;
  const coefficient = new Float64Array(steps.length);
  for (let i = steps.length - 1; i >= 0; i--) {
    const a = dot(steps[i], r) / dot(steps[i], falls[i]);
    coefficient[i] = a;
    for (let k = 0; k < n; k++) r[k] -= a * falls[i][k];
  }
  if (precondition !== null) r = precondition(r);
  const last = steps.length - 1;
  if (last >= 0) {
    const fall = falls[last];
    const scale = dot(steps[last], fall) / dot(fall, precondition === null ? fall : precondition(fall));
    for (let k = 0; k < n; k++) r[k] *= scale;
  }
  for (let i = 0; i < steps.length; i++) {
    const b = coefficient[i] - dot(falls[i], r) / dot(steps[i], falls[i]);
    for (let k = 0; k < n; k++) r[k] += b * steps[i][k];
  }
  return r.map((v, k) => (gradient[k] === 0 ? 0 : v));
}
