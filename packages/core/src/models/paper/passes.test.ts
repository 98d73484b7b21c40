import { describe, expect, it } from "vitest";
import { gradientError, relativeError } from "../../../../../test/expect-gradient.ts";
import { type ProblemOptions, randomProblem } from "../../../../../test/paper-problem.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { gridLocations } from "../gp/inducing.ts";
import { meanDesign } from "../mean.ts";
import { createEngine, type PaperEngine, updateInducing } from "./engine.ts";
import { hyperLayout } from "./hyperparameters.ts";
import { solvePlace, sumObjectives, sumOverAll } from "./passes.ts";
import { collapsedBound } from "./schedules.ts";

/** Everybody but the third near the inducing points; the third far beyond the range of the fast grid. */
function problemOf(options: Partial<ProblemOptions> = {}) {
  const problem = randomProblem(7, { q: 2, p: 9, m: 40, jitter: 1e-3, ...options });
  const parameters = { ...problem.parameters, inducingLocations: gridLocations(2, 3) };
  const theta = problem.theta.slice();
  theta[(2 * theta.length) / 40] = 60;
  const engineOf = (kernels: KernelKind): PaperEngine => {
    const settings = { diagonal: problem.diagonal, priors: {}, sharedLengthscale: true } as const;
    return createEngine(problem.statistics, parameters, { ...settings, kernels });
  };
  return { parameters, statistics: problem.statistics, theta, engineOf };
}

const SHAPES: readonly Partial<ProblemOptions>[] = [
  {},
  { diagonal: true, numBasis: 6, degree: 3 },
  { kernel: "ard", degree: 1 },
];

describe("passes over individuals", () => {
  it("give the same sums, objectives and gradients with either kind of kernels", () => {
    for (const options of SHAPES) {
      const { theta, engineOf } = problemOf(options);
      const results = (["wasm-simd", "typescript"] as const).map((kernels) => {
        const engine = engineOf(kernels);
        expect(engine.solver.kernels).toBe(kernels);
        sumOverAll(engine, theta);
        expect(updateInducing(engine)).toBe(true);
        const gradient = new Float64Array(theta.length);
        return { sums: engine.sums, value: sumObjectives(engine, theta, gradient), gradient };
      });
      const [a, b] = results;
      expect(relativeError(a.sums.cross, b.sums.cross)).toBeLessThan(1e-12);
      expect(relativeError(a.sums.gram, b.sums.gram)).toBeLessThan(1e-12);
      expect(Math.abs(a.value / b.value - 1)).toBeLessThan(1e-10);
      expect(relativeError(a.gradient, b.gradient)).toBeLessThan(1e-8);
    }
  });

  it("climb to the same places with either kind of kernels, those out of range too", () => {
    const { theta, engineOf } = problemOf();
    const [a, b] = (["wasm-simd", "typescript"] as const).map((kernels) => {
      const engine = engineOf(kernels);
      sumOverAll(engine, theta);
      updateInducing(engine);
      const places = theta.slice();
      const local = { method: "scg", gradientTolerance: 1e-6, maxEvaluations: 2000 } as const;
      let value = 0;
      for (let i = 0; i < 40; i++) value += solvePlace(engine, places, i, local, null);
      return { value, places };
    });
    expect(Math.abs(a.value / b.value - 1)).toBeLessThan(1e-8);
    // Places rest where the gradient is 1e-6, to which curvatures near 1 add little.
    expect(Math.max(...a.places.map((x, k) => Math.abs(x - b.places[k])))).toBeLessThan(1e-4);
  });

  it("give the gradient of the collapsed bound, hyperparameters included, with either kind of kernels", () => {
    for (const options of SHAPES) {
      const { theta, parameters, statistics, engineOf } = problemOf(options);
      const shared = options.kernel !== "ard";
      const learned = { learn: true, sharedLengthscale: shared };
      const layout = hyperLayout(parameters, statistics, learned, meanDesign("scalar", parameters.numBasis));
      const x = new Float64Array(theta.length + layout.coordinates.length);
      x.set(theta);
      const [a, b] = (["wasm-simd", "typescript"] as const).map((kernels) => {
        const objective = collapsedBound(engineOf(kernels), layout);
        const gradient = new Float64Array(x.length);
        return { value: objective(x, gradient), gradient, objective };
      });
      expect(Math.abs(a.value / b.value - 1)).toBeLessThan(1e-10);
      const own = (gradient: Float64Array) => gradient.subarray(theta.length);
      expect(relativeError(own(a.gradient), own(b.gradient))).toBeLessThan(1e-8);
      const scratch = new Float64Array(x.length);
      const error = gradientError(
        (h) => {
          const at = x.slice();
          at.set(h, theta.length);
          return a.objective(at, scratch);
        },
        x.slice(theta.length),
        own(a.gradient).slice(),
      );
      expect(error).toBeLessThan(1e-6);
    }
  });
});
