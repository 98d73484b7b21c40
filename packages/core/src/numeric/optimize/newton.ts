/**
 * Damped Newton ascent with the exact Hessian, for a handful of parameters (docs/math/local-step.md §5). A step solves
 * (−H + λI) s = g; λ grows until −H + λI is positive definite, and is steered by how much of the predicted gain
 * g's + ½ s'Hs comes true. No entry of a step exceeds 1.
 */
import { choleskyInPlace, solveCholeskyInPlace } from "../cholesky.ts";
import { dot, multiplyVector } from "../matrix.ts";
import { maxAbs } from "./objective.ts";

/** f(x[offset..offset+n]); writes its gradient [n] and its Hessian [n,n] where given. */
export type CurvedObjective = (
  x: Float64Array,
  offset: number,
  gradient: Float64Array | null,
  hessian: Float64Array | null,
) => number;

export interface NewtonOptions {
  /** Stop when no entry of the gradient exceeds this. */
  readonly gradientTolerance: number;
  readonly maxEvaluations: number;
}

const LONGEST_STEP = 1;
const FIRST_DAMPING = 0.5;
/** Give up after this many rejections in a row when even the predicted gain is lost in rounding. */
const MOST_STALLS = 3;

/** Maximises from x[offset..] in place; returns f there, not below the start (up to rounding). Buffers are made once. */
export function newtonAscent(objective: CurvedObjective, n: number) {
  const [trial, step, product] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  const factor = new Float64Array(n * n);
  let [g, H] = [new Float64Array(n), new Float64Array(n * n)];
  let [gTrial, HTrial] = [new Float64Array(n), new Float64Array(n * n)];

  /** Solves (−H + λI) s = g by Cholesky; false if the matrix is not clearly positive definite. */
  const solveDamped = (damping: number): boolean => {
    for (let e = 0; e < n * n; e++) factor[e] = -H[e];
    for (let k = 0; k < n; k++) factor[k * n + k] += damping;
    if (!choleskyInPlace(factor, n)) return false;
    for (let k = 0; k < n; k++) if (!(factor[k * n + k] > 1e-5)) return false;
    step.set(g);
    solveCholeskyInPlace(factor, n, step);
    return true;
  };

  return (x: Float64Array, offset: number, { gradientTolerance, maxEvaluations }: NewtonOptions): number => {
    let value = objective(x, offset, g, H);
    let damping = 0;
    let stalls = 0;
    for (let evaluations = 1; evaluations < maxEvaluations; evaluations++) {
      if (!(maxAbs(g) > gradientTolerance)) break;
      while (!solveDamped(damping)) {
        damping = Math.max(4 * damping, FIRST_DAMPING);
        if (!(damping < 1e30)) return value;
      }
      const shorter = Math.min(1, LONGEST_STEP / maxAbs(step));
      for (let k = 0; k < n; k++) {
        step[k] *= shorter;
        trial[k] = x[offset + k] + step[k];
      }
      const trialValue = objective(trial, 0, gTrial, HTrial);
      const slope = dot(g, step);
      const predicted = slope + 0.5 * dot(step, multiplyVector(H, step, n, n, product));
      // A gain so small that rounding hides it is read off the slopes at both ends.
      const hidden = predicted < 1e-9 * Math.max(1, Math.abs(value));
      const gain = hidden ? 0.5 * (slope + dot(gTrial, step)) : trialValue - value;
      if (gain > 1e-4 * predicted) {
        x.set(trial, offset);
        value = trialValue;
        [g, H, gTrial, HTrial] = [gTrial, HTrial, g, H];
        stalls = 0;
        if (gain > 0.3 * predicted) damping = damping > 0.01 ? 0.1 * damping : 0;
      } else {
        damping = Math.max(4 * damping, FIRST_DAMPING);
        if (hidden && ++stalls === MOST_STALLS) break;
      }
    }
    return value;
  };
}
