/**
 * How stochastic inference carries q(u) from minibatch to minibatch. Both are the same natural-gradient step
 *   natural parameters ← (1−λ) current + λ target(minibatch scaled to the cohort),
 * in the coordinates that suit the case.
 *
 * Fixed kernel: coefficient space. The prior enters current and target alike, so the step blends data sums,
 *   (𝒴, Ω) ← (1−λ)(𝒴, Ω) + λ(𝒴, Ω)_ℬ,   q(u) = the optimum for the running sums.
 * Learned kernel: whitened (c, Λ), with q(u) kept when K moves. Sums taken under an earlier length-scale would be
 * amplified by the new K⁻¹, so they are not carried along.
 */
import { type NaturalParameters, naturalStep } from "../gp/solve.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import type { Engine } from "./engine.ts";
import { requireUpdate, updateInducing } from "./engine.ts";
import { coefficientsOfInducing } from "./inducing-coefficients.ts";
import { type DataSums, naturalTarget, posteriorOfNatural, rewhitenNatural } from "./inducing-posterior.ts";

/** q(u) as it is carried along; plain data. */
export type TrackedInducing =
  | { readonly form: "sums"; readonly sums: DataSums }
  | { readonly form: "whitened"; readonly natural: NaturalParameters };

/** Starts at the exact update for the sums. */
export function trackInducing(engine: Engine, sums: DataSums, kernelMoves: boolean): TrackedInducing {
  if (!kernelMoves) return { form: "sums", sums: { cross: sums.cross.slice(), gram: sums.gram.slice() } };
  return { form: "whitened", natural: targetOf(engine, sums) };
}

/** The natural-gradient step of length λ towards the optimum for the given sums, in place. */
export function blendInducing(engine: Engine, tracked: TrackedInducing, sums: DataSums, stepSize: number): void {
  if (tracked.form === "sums") naturalStep(tracked.sums, sums, stepSize);
  else naturalStep(tracked.natural, targetOf(engine, sums), stepSize);
}

/** Keeps q(u) when the kernel moved from `before` to the engine's present one. */
export function keepInducing(engine: Engine, tracked: TrackedInducing, before: KernelFactor): void {
  if (tracked.form === "sums" || engine.factor === before) return;
  const { numInducing: p, numBasis: d } = engine.parameters;
  const moved = rewhitenNatural(tracked.natural, before, engine.factor, p, d);
  tracked.natural.linear.set(moved.linear);
  tracked.natural.precision.set(moved.precision);
}

/** Solves for q(u) and hands it to the engine and its local solver. */
export function applyInducing(engine: Engine, tracked: TrackedInducing): void {
  if (tracked.form === "sums") {
    requireUpdate(updateInducing(engine, tracked.sums));
    return;
  }
  const { statistics, factor, posterior, solver, parameters } = engine;
  const { numInducing: p, numBasis: d } = parameters;
  const coefficients = coefficientsOfInducing(posteriorOfNatural(tracked.natural), statistics, factor, p, d);
  posterior.mean.set(coefficients.mean);
  posterior.covariance.set(coefficients.covariance);
  posterior.blocks.set(coefficients.blocks);
  posterior.kl = coefficients.kl;
  solver.setGlobal(posterior.mean, posterior.blocks, factor.inverse, parameters.noiseVariance);
}

function targetOf(engine: Engine, sums: DataSums): NaturalParameters {
  const { statistics, factor, parameters } = engine;
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  return naturalTarget(sums, statistics, factor, noiseVariance, p, d);
}
