/**
 * Damped Newton ascent with the exact Hessian, for the handful of parameters of one individual (docs/math/local-step.md
 * §5). A step solves (−H + λI) s = g; λ grows until −H + λI is positive definite, and is steered by how much of the
 * predicted gain g's + ½ s'Hs comes true.
 *
 * Far from the optimal covariance (a start with far too small an S, say) J is nearly linear in log S and Newton steps
 * are long and poor. But with E = D2 − I the block of H that belongs to m, the optimum has S = (−E)⁻¹: so the step is
 * then to that covariance at once, and by Newton in m.
 */
import { choleskyInPlace, invertFromCholesky, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import type { FreeEntries } from "./state.ts";

/** J(θ[offset..]); writes gradient and Hessian where given. */
export type LocalObjective = (
  theta: Float64Array,
  offset: number,
  gradient: Float64Array | null,
  hessian: Float64Array | null,
) => number;

export interface NewtonWorkspace {
  readonly P: number;
  readonly q: number;
  readonly rows: Int32Array; // [P − q] of the free entries of T
  readonly columns: Int32Array; // [P − q]
  readonly trial: Float64Array; // [P]
  readonly step: Float64Array; // [P]
  readonly factor: Float64Array; // [P,P]
  readonly covariance: Float64Array; // [q,q]
  readonly scratch: Float64Array; // [q,q]
  gradient: Float64Array; // [P]
  hessian: Float64Array; // [P,P]
  trialGradient: Float64Array; // [P]
  trialHessian: Float64Array; // [P,P]
}

export function createNewtonWorkspace(q: number, { rows, columns }: FreeEntries): NewtonWorkspace {
  const P = q + rows.length;
  return {
    P,
    q,
    rows,
    columns,
    trial: new Float64Array(P),
    step: new Float64Array(P),
    factor: new Float64Array(P * P),
    covariance: new Float64Array(q * q),
    scratch: new Float64Array(q * q),
    gradient: new Float64Array(P),
    hessian: new Float64Array(P * P),
    trialGradient: new Float64Array(P),
    trialHessian: new Float64Array(P * P),
  };
}

// Tuned on simulated PFVC and TSS cohorts and PBC bilirubin; half or twice these change the mean number of evaluations
// by a few per cent.
const LONGEST_STEP = 1;
const FIRST_DAMPING = 0.5;
/** |∂J/∂ log T_cc| beyond which the covariance is set rather than stepped; it is at most 1 for too small an S. */
const FAR = 0.6;
/** Give up after this many rejections in a row when even the predicted gain is lost in rounding. */
const MOST_STALLS = 3;

/** Maximises from θ in place; returns J there, not below the start (up to rounding). */
export function maximizeNewton(
  objective: LocalObjective,
  theta: Float64Array,
  offset: number,
  ws: NewtonWorkspace,
  gradientTolerance: number,
  maxEvaluations: number,
): number {
  const { P, trial, step } = ws;
  let value = objective(theta, offset, ws.gradient, ws.hessian);
  let damping = 0;
  let stalls = 0;
  let far = isFar(ws);
  for (let evaluations = 1; evaluations < maxEvaluations; evaluations++) {
    if (!(largest(ws.gradient, P) > gradientTolerance)) break;
    far = far && isFar(ws) && covarianceStep(ws, theta, offset);
    while (!far && !solveDamped(ws.hessian, ws.gradient, damping, P, ws.factor, step)) {
      damping = Math.max(4 * damping, FIRST_DAMPING);
      if (!(damping < 1e30)) return value;
    }
    if (!far) shorten(step, P, LONGEST_STEP);
    for (let k = 0; k < P; k++) trial[k] = theta[offset + k] + step[k];
    const trialValue = objective(trial, 0, ws.trialGradient, ws.trialHessian);

    const predicted = far ? 0 : predictedGain(ws.gradient, ws.hessian, step, P);
    // A gain so small that rounding hides it is read off the slopes at both ends.
    const hidden = !far && predicted < 1e-9 * Math.max(1, Math.abs(value));
    const gain = hidden ? slopeGain(ws.gradient, ws.trialGradient, step, P) : trialValue - value;
    if (gain > 1e-4 * predicted) {
      for (let k = 0; k < P; k++) theta[offset + k] = trial[k];
      value = trialValue;
      swap(ws);
      stalls = 0;
      if (gain > 0.3 * predicted) damping = damping > 0.01 ? 0.1 * damping : 0;
    } else if (far) {
      far = false;
    } else {
      damping = Math.max(4 * damping, FIRST_DAMPING);
      if (hidden && ++stalls === MOST_STALLS) break;
    }
  }
  return value;
}

/** Whether the covariance is far from the one that the curvature at the mean asks for. */
function isFar({ q, gradient }: NewtonWorkspace): boolean {
  for (let k = q; k < 2 * q; k++) if (Math.abs(gradient[k]) > FAR) return true;
  return false;
}

/**
 * Step to S = (−E)⁻¹ (its diagonal entries 1/(−E_cc) if S is diagonal) and m + (−E)⁻¹ ∂J/∂m. False where −E has a pivot
 * below ¼ (a standard deviation above 2): the curvature at m then says little about the place.
 */
function covarianceStep(ws: NewtonWorkspace, theta: Float64Array, offset: number): boolean {
  const { P, q, rows, columns, hessian: H, gradient, step, factor: L, covariance: S, scratch } = ws;
  for (let a = 0; a < q; a++) for (let b = 0; b < q; b++) L[a * q + b] = -H[a * P + b];
  if (!choleskyInPlace(L, q)) return false;
  for (let a = 0; a < q; a++) if (L[a * q + a] < 0.5) return false;
  for (let a = 0; a < q; a++) step[a] = gradient[a];
  solveCholeskyInPlace(L, q, step);
  shorten(step, q, LONGEST_STEP);
  if (P > 2 * q) {
    invertFromCholesky(L, q, S, scratch);
    choleskyInPlace(S, q);
  } else {
    for (let c = 0; c < q; c++) S[c * q + c] = 1 / Math.sqrt(-H[c * P + c]);
  }
  for (let k = q; k < P; k++) {
    const c = rows[k - q];
    const t = S[c * q + columns[k - q]];
    step[k] = (k < 2 * q ? Math.log(t) : t) - theta[offset + k];
  }
  return true;
}

/** Scales the first n entries so that none exceeds `longest`. */
function shorten(step: Float64Array, n: number, longest: number): void {
  const most = largest(step, n);
  if (most > longest) for (let k = 0; k < n; k++) step[k] *= longest / most;
}

/** The trial's gradient and Hessian become the current ones. */
function swap(ws: NewtonWorkspace): void {
  const { gradient, hessian } = ws;
  ws.gradient = ws.trialGradient;
  ws.hessian = ws.trialHessian;
  ws.trialGradient = gradient;
  ws.trialHessian = hessian;
}

/** g's + ½ s'Hs. */
function predictedGain(g: Float64Array, H: Float64Array, s: Float64Array, P: number): number {
  let gain = 0;
  for (let k = 0; k < P; k++) {
    let hs = 0;
    for (let l = 0; l < P; l++) hs += H[k * P + l] * s[l];
    gain += s[k] * (g[k] + 0.5 * hs);
  }
  return gain;
}

/** ½ (g + g₊)'s. */
function slopeGain(g: Float64Array, gNew: Float64Array, s: Float64Array, P: number): number {
  let gain = 0;
  for (let k = 0; k < P; k++) gain += 0.5 * (g[k] + gNew[k]) * s[k];
  return gain;
}

/** Solves (−H + λI) s = g by Cholesky; false if the matrix is not clearly positive definite. */
function solveDamped(
  H: Float64Array,
  g: Float64Array,
  damping: number,
  P: number,
  L: Float64Array,
  s: Float64Array,
): boolean {
  for (let e = 0; e < P * P; e++) L[e] = -H[e];
  for (let k = 0; k < P; k++) L[k * P + k] += damping;
  if (!choleskyInPlace(L, P)) return false;
  for (let k = 0; k < P; k++) if (!(L[k * P + k] > 1e-5)) return false;
  s.set(g);
  solveCholeskyInPlace(L, P, s);
  return true;
}

/** max |v_k| over the first n entries; NaN if any is. */
function largest(v: Float64Array, n: number): number {
  let most = 0;
  for (let k = 0; k < n; k++) {
    const a = Math.abs(v[k]);
    if (!(a <= most)) most = a;
  }
  return most;
}
