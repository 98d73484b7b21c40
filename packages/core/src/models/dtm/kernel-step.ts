/**
 * α and ℓ for fixed responsibilities, q(u) eliminated (docs/math/dtm.md §8): a few quasi-Newton iterations on φ over
 * (log α, log ℓ), log ℓ in [log 0.3, log 12]. The responsibilities move little between steps, so the curvature learned
 * in one step (inverse of the negative Hessian, BFGS) is kept for the next: later steps need two or three evaluations.
 * φ never falls; the old values stay if nothing improves. One evaluation costs O(Γp²d² + (dp)³), whatever m is.
 */

import { type InducingPosterior, type InducingWorkspace, inducingPosterior } from "./inducing-posterior.ts";
import type { JointMean } from "./joint-mean.ts";
import { type NodeGeometry, type NodeKernel, nodeKernel } from "./node-kernel.ts";
import type { InducingLayout } from "./pairs.ts";

/** Least and largest ℓ; beyond, maps are noise or straight lines. */
export const LENGTHSCALE_BOUNDS = [0.3, 12] as const;
/** Longest move of a log parameter in one iteration, and of the first one, when no curvature is known. */
const LONGEST_MOVE = 1.5;
const FIRST_MOVE = 0.5;

/** The kernel at the nodes with the posterior that belongs to it. */
export interface KernelSolution {
  readonly kernel: NodeKernel;
  readonly posterior: InducingPosterior;
}

/** What is fixed during a kernel step. */
export interface KernelProblem {
  readonly geometry: NodeGeometry;
  readonly layout: InducingLayout;
  readonly nodeSums: Float64Array; // [K,Γ]
  readonly workspace: InducingWorkspace;
  /** The mean that moves with q(u), of the same node sums; without it the mean stays. */
  readonly mean?: JointMean | null;
}

/** Curvature kept between steps: inverse of −∇²φ [2,2], once `known`. */
export interface KernelCurvature {
  readonly inverse: Float64Array;
  known: boolean;
}

/** Limits of a kernel step. */
export interface KernelStepOptions {
  /** Default 3. */
  readonly maxIterations?: number;
  /** Default 8. */
  readonly maxEvaluations?: number;
  /** Stop when the gain to be expected is below this. Default 0. */
  readonly minGain?: number;
  /** Stop when no free gradient entry exceeds this. Default 1e-9. */
  readonly gradientTolerance?: number;
}

/** Curvature not known yet. */
export function kernelCurvature(): KernelCurvature {
  return { inverse: new Float64Array(4), known: false };
}

/** The solution at given α and ℓ. */
export function solveAt(problem: KernelProblem, alpha: number, ell: number, derivative: boolean): KernelSolution {
  const { geometry, layout, nodeSums, workspace, mean = null } = problem;
  const kernel = nodeKernel(geometry, alpha, ell, derivative);
  return { kernel, posterior: inducingPosterior(layout, kernel, nodeSums, workspace, mean) };
}

/** Maximises φ from α, ℓ; returns the solution there and the number of evaluations. */
export function kernelStep(
  problem: KernelProblem,
  alpha: number,
  ell: number,
  curvature: KernelCurvature,
  options: KernelStepOptions = {},
): { readonly best: KernelSolution; readonly evaluations: number } {
  const { maxIterations = 3, maxEvaluations = 8, minGain = 0, gradientTolerance = 1e-9 } = options;
  const low = [Number.NEGATIVE_INFINITY, Math.log(LENGTHSCALE_BOUNDS[0])];
  const high = [Number.POSITIVE_INFINITY, Math.log(LENGTHSCALE_BOUNDS[1])];
  let x = [Math.log(alpha), Math.min(Math.max(Math.log(ell), low[1]), high[1])];
  let best = solveAt(problem, alpha, Math.exp(x[1]), true);
  let evaluations = 1;
  for (let iteration = 0; iteration < maxIterations && evaluations < maxEvaluations; iteration++) {
    const g = best.posterior.gradient;
    const free = x.map((v, k) => !((v <= low[k] && g[k] < 0) || (v >= high[k] && g[k] > 0)));
    if (!free.some((f, k) => f && Math.abs(g[k]) > gradientTolerance)) break;
    const direction = ascentDirection(g, free, curvature);
    if (curvature.known && 0.5 * (g[0] * direction[0] + g[1] * direction[1]) < minGain) break;
    let step = 1;
    let accepted = false;
    while (!accepted && evaluations < maxEvaluations && step > 1e-6) {
      const trial = x.map((v, k) => Math.min(Math.max(v + step * direction[k], low[k]), high[k]));
      const rise = g[0] * (trial[0] - x[0]) + g[1] * (trial[1] - x[1]);
      const tried = solveAt(problem, Math.exp(trial[0]), Math.exp(trial[1]), true);
      evaluations++;
      const gain = tried.posterior.phi - best.posterior.phi;
      if (gain >= 1e-4 * rise && gain >= 0) {
        updateCurvature(curvature, x, trial, g, tried.posterior.gradient);
        x = trial;
        best = tried;
        accepted = true;
      } else {
        // Vertex of the parabola through φ, its slope and the failed value, within [0.1, 0.5] of the step.
        const vertex = Number.isFinite(gain) ? (0.5 * rise) / (rise - gain) : 0.1;
        step *= Math.min(Math.max(vertex, 0.1), 0.5);
      }
    }
    if (!accepted) {
      if (!curvature.known) break;
      curvature.known = false;
    }
  }
  return { best, evaluations };
}

/** Newton direction in the free coordinates, or the gradient cut to a first move. */
function ascentDirection(g: readonly number[], free: readonly boolean[], curvature: KernelCurvature): [number, number] {
  const H = curvature.inverse;
  const ga = free[0] ? g[0] : 0;
  const gl = free[1] ? g[1] : 0;
  let d: [number, number] = [ga, gl];
  let longest = FIRST_MOVE;
  if (curvature.known) {
    const determinant = H[0] * H[3] - H[1] * H[2];
    longest = LONGEST_MOVE;
    // With one coordinate at rest the other moves by its own second derivative, H⁻¹_kk.
    if (free[0] && free[1]) d = [H[0] * ga + H[1] * gl, H[2] * ga + H[3] * gl];
    else d = [(ga * determinant) / H[3], (gl * determinant) / H[0]];
  }
  const size = Math.max(Math.abs(d[0]), Math.abs(d[1]));
  const scale = size > longest ? longest / size : 1;
  return [d[0] * scale, d[1] * scale];
}

/** BFGS update with s = x₊ − x and y = g − g₊; skipped without positive curvature. */
function updateCurvature(
  curvature: KernelCurvature,
  x: readonly number[],
  next: readonly number[],
  g: readonly number[],
  gNext: readonly number[],
): void {
  const s = [next[0] - x[0], next[1] - x[1]];
  const y = [g[0] - gNext[0], g[1] - gNext[1]];
  const sy = s[0] * y[0] + s[1] * y[1];
  const yy = y[0] * y[0] + y[1] * y[1];
  if (!(sy > 1e-10 * Math.sqrt((s[0] * s[0] + s[1] * s[1]) * yy))) return;
  const H = curvature.inverse;
  if (!curvature.known) H.set([sy / yy, 0, 0, sy / yy]);
  curvature.known = true;
  const Hy = [H[0] * y[0] + H[1] * y[1], H[2] * y[0] + H[3] * y[1]];
  const c = (1 + (y[0] * Hy[0] + y[1] * Hy[1]) / sy) / sy;
  for (let k = 0; k < 2; k++) {
    for (let l = 0; l < 2; l++) H[2 * k + l] += c * s[k] * s[l] - (Hy[k] * s[l] + s[k] * Hy[l]) / sy;
  }
}
