/**
 * Dense BFGS for maximisation with few parameters and optional bounds. O(n²) per iteration beside the evaluations.
 * At a bound whose gradient points outward the coordinate rests; trial points are clipped to the bounds.
 */
import { dot, identity } from "../matrix.ts";
import { maxAbs, type Objective, type OptimizeResult, type StopReason } from "./objective.ts";

export interface BfgsOptions {
  readonly maxEvaluations?: number;
  /** Stop when no free gradient entry exceeds this. Default 1e-6. */
  readonly gradientTolerance?: number;
  /** Stop when the gain falls below this, twice in a row. Default 0 (off). */
  readonly minGain?: number;
  readonly lower?: Float64Array;
  readonly upper?: Float64Array;
  /** Longest first step, in parameter units. Default 1. */
  readonly firstStep?: number;
}

/** The maximum reached from x0, never below the value there. */
export function maximizeBfgs(objective: Objective, x0: Float64Array, options: BfgsOptions = {}): OptimizeResult {
  const { maxEvaluations = 1000, gradientTolerance = 1e-6, minGain = 0, firstStep = 1 } = options;
  const n = x0.length;
  const lower = options.lower ?? new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
  const upper = options.upper ?? new Float64Array(n).fill(Number.POSITIVE_INFINITY);
  const clipped = (value: number, k: number) => Math.min(Math.max(value, lower[k]), upper[k]);
  const x = x0.map(clipped);
  const g = new Float64Array(n);
  let value = objective(x, g);
  let evaluations = 1;
  let H = identity(n); // inverse of the negative Hessian
  let scaled = false;
  let small = 0;
  const free = new Float64Array(n);
  const d = new Float64Array(n);
  const trial = new Float64Array(n);
  const gTrial = new Float64Array(n);
  const resetInverseHessian = () => {
    H = identity(n);
    scaled = false;
  };
  let reason: StopReason = "iterations";
  let iterations = 0;
  for (; evaluations < maxEvaluations; iterations++) {
    for (let k = 0; k < n; k++) {
      const outward = (x[k] <= lower[k] && g[k] < 0) || (x[k] >= upper[k] && g[k] > 0);
      free[k] = outward ? 0 : g[k];
    }
    if (maxAbs(free) <= gradientTolerance) {
      reason = "gradient";
      break;
    }
    directionInto(H, free, d, n);
    if (!(dot(d, free) > 0)) {
      resetInverseHessian();
      d.set(free);
    }
    let step = scaled ? 1 : Math.min(1, firstStep / Math.sqrt(dot(d, d)));
    let v = Number.NaN;
    let accepted = false;
    for (let tries = 0; tries < 40 && evaluations < maxEvaluations; tries++) {
      let rise = 0;
      for (let k = 0; k < n; k++) {
        trial[k] = clipped(x[k] + step * d[k], k);
        rise += free[k] * (trial[k] - x[k]);
      }
      v = objective(trial, gTrial);
      evaluations++;
      if (Number.isFinite(v) && v >= value + 1e-4 * rise && v >= value) {
        accepted = true;
        break;
      }
      // Vertex of the parabola through f(x), its slope and the failed value, kept within [0.1, 0.5] of the step.
      const vertex = Number.isFinite(v) ? (0.5 * rise) / (rise - (v - value)) : 0.1;
      step *= Math.min(Math.max(vertex, 0.1), 0.5);
    }
    if (!accepted) {
      if (scaled) {
        resetInverseHessian();
        continue;
      }
      reason = "no-ascent";
      break;
    }
    scaled = updateInverseHessian(H, x, trial, g, gTrial, n, scaled);
    const gain = v - value;
    value = v;
    x.set(trial);
    g.set(gTrial);
    small = gain <= minGain ? small + 1 : 0;
    if (minGain > 0 && small >= 2) {
      reason = "gain";
      iterations++;
      break;
    }
  }
  return { x, value, gradient: g, iterations, evaluations, reason };
}

/** d = H g over the free coordinates (those whose entry of g is not 0). */
function directionInto(H: Float64Array, g: Float64Array, d: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    let s = 0;
    if (g[i] !== 0) for (let j = 0; j < n; j++) s += H[i * n + j] * g[j];
    d[i] = s;
  }
}

/** BFGS update with s = x₊ − x, y = g − g₊; skipped without curvature. Returns whether H has seen any curvature. */
function updateInverseHessian(
  H: Float64Array,
  x: Float64Array,
  xNew: Float64Array,
  g: Float64Array,
  gNew: Float64Array,
  n: number,
  scaled: boolean,
): boolean {
  let sy = 0;
  let yy = 0;
  let ss = 0;
  for (let k = 0; k < n; k++) {
    const s = xNew[k] - x[k];
    const y = g[k] - gNew[k];
    sy += s * y;
    yy += y * y;
    ss += s * s;
  }
  if (!(sy > 1e-12 * Math.sqrt(ss * yy))) return scaled;
  if (!scaled) {
    H.fill(0);
    for (let k = 0; k < n; k++) H[k * n + k] = sy / yy;
  }
  const Hy = new Float64Array(n);
  let yHy = 0;
  for (let i = 0; i < n; i++) {
    let s = 0;
    for (let j = 0; j < n; j++) s += H[i * n + j] * (g[j] - gNew[j]);
    Hy[i] = s;
    yHy += s * (g[i] - gNew[i]);
  }
  const c = (1 + yHy / sy) / sy;
  for (let i = 0; i < n; i++) {
    const si = xNew[i] - x[i];
    for (let j = 0; j < n; j++) {
      const sj = xNew[j] - x[j];
      H[i * n + j] += c * si * sj - (Hy[i] * sj + si * Hy[j]) / sy;
    }
  }
  return true;
}
