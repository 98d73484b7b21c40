/** The sweeps and the kernel optimum of a grid_*.json. */

import { type IndividualModel, residualRoot } from "../../packages/core/src/models/dtm/individual-statistics.ts";
import {
  kernelCurvature,
  kernelStep,
  LENGTHSCALE_BOUNDS,
  solveAt,
} from "../../packages/core/src/models/dtm/kernel-step.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { atLeast, type Check, compare } from "./checker.ts";
import { type GridFixture, type GridProblem, meanAsListed } from "./grid-problem.ts";
import { type Expectation, expectation, expectedResidual, fillNodeSums, maximization } from "./grid-steps.ts";

/**
 * Three sweeps (maximisation, inducing posterior, expectation) at fixed α and ℓ and one more maximisation, Σ_e by EM; then
 * the kernel optimum for the last responsibilities.
 */
export function checkSweeps(problem: GridProblem, start: IndividualModel, first: Expectation): Check[] {
  const { fixture, kernel } = problem;
  const { alpha, ell, after } = fixture;
  const trace = [first.bound];
  let step = first;
  let { model, covariance } = sweepMaximization(problem, start, first);
  for (let sweep = 0; sweep < 3; sweep++) {
    fillNodeSums(problem, model, step.responsibilities);
    step = expectation(problem, model, solveAt(kernel, alpha, ell, false));
    trace.push(step.bound);
    ({ model, covariance } = sweepMaximization(problem, model, step));
  }
  return [
    compare("after.trace", trace, after.trace),
    compare("after.mu", meanAsListed(fixture, model.mean), after.mu),
    compare("after.s2", model.noise.variance, after.s2),
    compare("after.r", step.responsibilities, after.r),
    ...(after.Se === null ? [] : [compare("after.Se", covariance, after.Se)]),
    ...checkKernelOptimum(problem, model, step, fixture.kernel_opt),
  ];
}

/** The model after a maximisation step in which Σ_e moves by EM. */
function sweepMaximization(problem: GridProblem, model: IndividualModel, step: Expectation) {
  const { mean, noiseVariance, sums } = maximization(problem, model, step);
  if (model.residualRoot === null)
    return { model: { ...model, mean, noise: whiteNoise(noiseVariance) }, covariance: [] };
  const { covariance } = expectedResidual(problem, sums.residualMoment);
  return {
    model: { mean, noise: whiteNoise(noiseVariance), residualRoot: residualRoot(covariance, problem.fixture.d) },
    covariance: Array.from(covariance),
  };
}

/** φ is to be reached; α and ℓ are compared where φ tells them from values ten per cent away. */
function checkKernelOptimum(
  problem: GridProblem,
  model: IndividualModel,
  step: Expectation,
  optimum: GridFixture["kernel_opt"],
): Check[] {
  const { kernel, fixture } = problem;
  fillNodeSums(problem, model, step.responsibilities);
  const listed = solveAt(kernel, optimum.alpha, optimum.ell, true);
  const phi = listed.posterior.phi;
  const bound = expectation(problem, model, listed).bound;
  // φ may have several maxima in ℓ: the best of a few starts counts.
  const limits = { maxIterations: 300, maxEvaluations: 1000 };
  const best = [fixture.ell, 0.5, 1, 2, 4, 8]
    .map((ell) => kernelStep(kernel, fixture.alpha, ell, kernelCurvature(), limits).best)
    .reduce((a, b) => (b.posterior.phi > a.posterior.phi ? b : a));
  const checks = [
    compare("kernel_opt.phi at the listed optimum", phi, optimum.phi),
    compare("kernel_opt.F", bound, optimum.F),
    atLeast("kernel_opt.phi", best.posterior.phi, optimum.phi, PHI_TOLERANCE),
  ];
  const isPeak = (moves: readonly (readonly [number, number])[]) =>
    best.posterior.phi <= phi + PHI_TOLERANCE &&
    moves.every(([a, l]) => {
      const ell = optimum.ell * l;
      if (ell < LENGTHSCALE_BOUNDS[0] || ell > LENGTHSCALE_BOUNDS[1]) return true;
      return solveAt(kernel, optimum.alpha * a, ell, false).posterior.phi < phi - PHI_TOLERANCE;
    });
  const up = 1.1;
  if (
    isPeak([
      [up, 1],
      [1 / up, 1],
    ])
  ) {
    checks.push(compare("kernel_opt.alpha", best.kernel.signalVariance, optimum.alpha, 1e-3));
  }
  if (
    isPeak([
      [1, up],
      [1, 1 / up],
    ])
  ) {
    checks.push(compare("kernel_opt.ell", best.kernel.lengthscale, optimum.ell, 1e-3));
  }
  return checks;
}

const PHI_TOLERANCE = 1e-6;
