/**
 * q(u) of the inducing values, the one global step of both maps. In variables v with natural parameters (c, Λ),
 *   q(v) = N(ν, Ξ),   ν = Λ⁻¹c,   Ξ = Λ⁻¹;
 * v is whitened (prior I, docs/math/dtm.md §5) or the coefficients K⁻¹u (prior K⁻¹, docs/math/dtm-paper.md §4). c and Λ are
 * linear in sums over individuals, so a natural-gradient step of length λ towards the optimum of a minibatch is
 *   sums ← (1 − λ) sums + λ (sums of the minibatch, scaled to the cohort),
 * or the same with (c, Λ) themselves. O(n³) for n values.
 */
import {
  choleskyInPlace,
  invertFromCholesky,
  logDetFromCholesky,
  solveCholeskyInPlace,
} from "../../numeric/cholesky.ts";
import { dot, trace } from "../../numeric/matrix.ts";
import { type PositiveSolver, wasmPositiveSolver } from "../../wasm/cholesky.ts";
import type { KernelKind } from "../../wasm/instance.ts";

/** (c, Λ) of q(v). */
export interface NaturalParameters {
  readonly linear: Float64Array; // c [n]
  readonly precision: Float64Array; // Λ [n,n]
}

/** A solver for n inducing values on the given kernels: writes ν and Ξ, returns log|Λ|. */
export function inducingSolver(n: number, kernels: KernelKind): PositiveSolver {
  return kernels === "wasm-simd" ? wasmPositiveSolver(n) : solvePositive;
}

/** ν = Λ⁻¹c and Ξ = Λ⁻¹; returns log|Λ|, NaN if rounding leaves Λ without a factor. */
export const solvePositive: PositiveSolver = (precision, linear, mean, covariance) => {
  const n = linear.length;
  const factor = precision.slice();
  if (!choleskyInPlace(factor, n)) {
    mean.fill(Number.NaN);
    covariance.fill(Number.NaN);
    return Number.NaN;
  }
  mean.set(linear);
  solveCholeskyInPlace(factor, n, mean);
  invertFromCholesky(factor, n, covariance);
  return logDetFromCholesky(factor, n);
};

/** KL[N(ν, Ξ) ‖ N(0, I)] = ½(Tr Ξ + ν'ν − n + log|Λ|) of a whitened q(v), equal to KL[q(u) ‖ p(u)]. */
export function inducingKl(mean: Float64Array, covariance: Float64Array, logDetPrecision: number): number {
  const n = mean.length;
  return 0.5 * (trace(covariance, n) + dot(mean, mean) - n + logDetPrecision);
}

/** The natural-gradient step of length λ on sums or natural parameters, in place: current ← (1 − λ) current + λ · scale · target. */
export function naturalStep<T extends { readonly [name in keyof T]: Float64Array }>(
  current: T,
  target: T,
  stepSize: number,
  scale = 1,
): T {
  const weight = stepSize * scale;
  for (const name of Object.keys(current) as (keyof T)[]) {
    const [a, b] = [current[name], target[name]];
    for (let e = 0; e < a.length; e++) a[e] = (1 - stepSize) * a[e] + weight * b[e];
  }
  return current;
}
