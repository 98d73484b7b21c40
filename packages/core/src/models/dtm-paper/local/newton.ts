/**
 * Damped Newton ascent with the exact Hessian, for the handful of parameters of one individual (docs/math/local-step.md
 * §5). A step solves (−H + λI) s = g; λ grows until −H + λI is positive definite, and is steered by how much of the
 * predicted gain g's + ½ s'Hs is realised. No entry of a step exceeds 2.
 */

/** J(θ[offset..]); writes gradient and Hessian where given. */
export type LocalObjective = (
  theta: Float64Array,
  offset: number,
  gradient: Float64Array | null,
  hessian: Float64Array | null,
) => number;

export interface NewtonWorkspace {
  readonly P: number;
  readonly trial: Float64Array; // [P]
  readonly step: Float64Array; // [P]
  readonly factor: Float64Array; // [P,P]
  gradient: Float64Array; // [P]
  hessian: Float64Array; // [P,P]
  trialGradient: Float64Array; // [P]
  trialHessian: Float64Array; // [P,P]
}

export function createNewtonWorkspace(P: number): NewtonWorkspace {
  return {
    P,
    trial: new Float64Array(P),
    step: new Float64Array(P),
    factor: new Float64Array(P * P),
    gradient: new Float64Array(P),
    hessian: new Float64Array(P * P),
    trialGradient: new Float64Array(P),
    trialHessian: new Float64Array(P * P),
  };
}

const LONGEST_STEP = 2;
const FIRST_DAMPING = 0.1;

/** Maximises from θ in place; returns J there. Never ends below the start. */
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
  for (let evaluations = 1; evaluations < maxEvaluations; evaluations++) {
    if (!(largest(ws.gradient, P) > gradientTolerance)) break;
    while (!solveDamped(ws.hessian, ws.gradient, damping, P, ws.factor, step)) {
      damping = Math.max(4 * damping, FIRST_DAMPING);
      if (!(damping < 1e30)) return value;
    }
    const long = largest(step, P);
    const scale = long > LONGEST_STEP ? LONGEST_STEP / long : 1;
    for (let k = 0; k < P; k++) {
      step[k] *= scale;
      trial[k] = theta[offset + k] + step[k];
    }
    const predicted = predictedGain(ws.gradient, ws.hessian, step, P);
    const trialValue = objective(trial, 0, ws.trialGradient, ws.trialHessian);
    const gain = trialValue - value;
    // A gain lost in rounding is judged by the gradient.
    const rounding = 1e-13 * Math.max(1, Math.abs(value));
    const lost = predicted < rounding && Math.abs(gain) < 4 * rounding;
    const better = lost ? largest(ws.trialGradient, P) < largest(ws.gradient, P) : gain > 1e-4 * predicted;
    if (better) {
      for (let k = 0; k < P; k++) theta[offset + k] = trial[k];
      value = trialValue;
      swap(ws);
      if (gain > 0.7 * predicted) damping = damping > 0.001 ? 0.1 * damping : 0;
    } else {
      if (lost) break;
      damping = Math.max(4 * damping, FIRST_DAMPING);
    }
  }
  return value;
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

/** Solves (−H + λI) s = g by Cholesky; false if the matrix is not positive definite. */
function solveDamped(
  H: Float64Array,
  g: Float64Array,
  damping: number,
  P: number,
  L: Float64Array,
  s: Float64Array,
): boolean {
  for (let i = 0; i < P; i++) {
    const ri = i * P;
    let forward = g[i];
    for (let j = 0; j <= i; j++) {
      const rj = j * P;
      let v = -H[ri + j];
      if (i === j) v += damping;
      for (let k = 0; k < j; k++) v -= L[ri + k] * L[rj + k];
      if (i === j) {
        if (!(v > 1e-10)) return false;
        L[ri + i] = Math.sqrt(v);
      } else {
        v /= L[rj + j];
        L[ri + j] = v;
        forward -= v * s[j];
      }
    }
    s[i] = forward / L[ri + i];
  }
  for (let i = P - 1; i >= 0; i--) {
    const v = s[i] / L[i * P + i];
    s[i] = v;
    for (let k = 0; k < i; k++) s[k] -= L[i * P + k] * v;
  }
  return true;
}

/** max |v_k|; NaN if any entry is. */
function largest(v: Float64Array, P: number): number {
  let most = 0;
  for (let k = 0; k < P; k++) {
    const a = Math.abs(v[k]);
    if (!(a <= most)) most = a;
  }
  return most;
}
