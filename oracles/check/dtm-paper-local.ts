/**
 * The fast local solver against the published model's fixtures: objective and gradient at the given places for the
 * given and for the optimal q(u), the optimal q(u) from its sums, and the local optima from the given starts.
 */
import { createEngine, loadIndividual, updateInducing } from "../../packages/core/src/models/paper/engine.ts";
import {
  coefficientsOfInducing,
  type InducingPosterior,
  inducingOfCoefficients,
} from "../../packages/core/src/models/paper/inducing.ts";
import { localStarts, solvePlace, sumOverAll } from "../../packages/core/src/models/paper/passes.ts";
import type { KernelKind } from "../../packages/core/src/wasm/instance.ts";
import { unwhiten } from "../../test/paper-bound.ts";
import { atLeast, type Check, compare, type Nested } from "./checker.ts";
import type { PaperFixture, PaperProblem } from "./dtm-paper.ts";

/** Checks of the local solver by its definition and, where that applies, by its WebAssembly kernel. */
export function checkLocalSolver(fixture: PaperFixture, problem: PaperProblem, optimal: InducingPosterior): Check[] {
  return (["typescript", "wasm-simd"] as const).flatMap((kernels) => checkKernels(fixture, problem, optimal, kernels));
}

function checkKernels(
  fixture: PaperFixture,
  problem: PaperProblem,
  optimal: InducingPosterior,
  kernels: KernelKind,
): Check[] {
  const { statistics, parameters, diagonal, theta, factor, given, p, q, d, m } = problem;
  const options = { diagonal, priors: {}, sharedLengthscale: true, kernels };
  const engine = createEngine(statistics, parameters, options);
  const { solver, numLocal: P } = engine;
  if (solver.kernels !== kernels) return [];
  const path = kernels === "typescript" ? "definition" : "kernel";
  const use = (posterior: InducingPosterior): void => {
    const { mean, blocks } = coefficientsOfInducing(problem, posterior);
    solver.setGlobal(mean, blocks, factor.inverse, parameters.noiseVariance);
  };
  /** J_i, ∂J_i/∂m_i and ∂J_i/∂λ_i of everybody at the given places. */
  const evaluateAll = () => {
    const gradient = new Float64Array(P);
    const J: number[] = [];
    const [location, factorPart]: [number[], number[]] = [[], []];
    for (let i = 0; i < m; i++) {
      loadIndividual(engine, i);
      J.push(solver.evaluate(theta, i * P, gradient, null));
      location.push(...gradient.subarray(0, q));
      factorPart.push(...gradient.subarray(q));
    }
    return { J, location, factorPart };
  };
  const compareFlat = (name: string, actual: number[], expected: Nested) =>
    compare(`${path}.${name}`, Float64Array.from(actual), expected);

  use(given);
  const atGiven = evaluateAll();
  sumOverAll(engine, theta);
  updateInducing(engine);
  const solved = unwhiten(inducingOfCoefficients(engine, engine.posterior), factor, p, d);
  use(optimal);
  const atOptimal = evaluateAll();
  const checks = [
    compareFlat(
      "J",
      atGiven.J,
      fixture.elbo.per_subject.map((t) => t.J),
    ),
    compareFlat("grad.m", atGiven.location, fixture.grad.m),
    compareFlat("grad.lam", atGiven.factorPart, fixture.grad.lam),
    compare(`${path}.optimal_qu.m`, solved.mean, fixture.optimal_qu.m),
    compare(`${path}.optimal_qu.S`, solved.covariance, fixture.optimal_qu.S),
    compareFlat("optimal_qu.grad.m", atOptimal.location, fixture.optimal_qu.grad.m),
    compareFlat("optimal_qu.grad.lam", atOptimal.factorPart, fixture.optimal_qu.grad.lam),
  ];
  // The local step as the product takes it: the given start and, because J may have several maxima, the usual others.
  const starts = localStarts(q, P);
  for (const method of ["newton", "scg"] as const) {
    const places = theta.slice();
    const local = { method, gradientTolerance: 1e-8, maxEvaluations: 2000 };
    fixture.local_optimum.J.forEach((floor, i) => {
      const reached = solvePlace(engine, places, i, local, starts);
      checks.push(atLeast(`${path}.local_optimum.J[${i}] by ${method}`, reached, floor, 1e-6));
    });
  }
  return checks;
}
