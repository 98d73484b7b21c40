import { describe, expect, it } from "vitest";
import { expectGradient } from "../../../../../test/expect-gradient.ts";
import { createRandom } from "../random.ts";
import { maximizeBfgs } from "./bfgs.ts";
import { type LbfgsState, startLbfgs, stepLbfgs } from "./lbfgs.ts";
import { lineSearchInPlace } from "./line-search.ts";
import { maxAbs, type Objective } from "./objective.ts";

/** Minus the Rosenbrock function in any even dimension; its maximum 0 is at (1,..,1), at the end of a curved ridge. */
const rosenbrock: Objective = (x, gradient) => {
  let value = 0;
  for (let k = 0; k < x.length; k += 2) {
    const [a, b] = [1 - x[k], x[k + 1] - x[k] * x[k]];
    value -= a * a + 100 * b * b;
    gradient[k] = 2 * a + 400 * x[k] * b;
    gradient[k + 1] = -200 * b;
  }
  return value;
};

/** −½ Σ c_k (x_k − a_k)². */
const quadratic =
  (c: readonly number[], a: readonly number[]): Objective =>
  (x, gradient) => {
    let value = 0;
    for (let k = 0; k < x.length; k++) {
      value -= 0.5 * c[k] * (x[k] - a[k]) ** 2;
      gradient[k] = -c[k] * (x[k] - a[k]);
    }
    return value;
  };

const hardStart = (n: number) => Float64Array.from({ length: n }, (_, k) => (k % 2 === 0 ? -1.2 : 1));

function runLbfgs(objective: Objective, state: LbfgsState, steps: number): void {
  for (let k = 0; k < steps; k++) stepLbfgs(objective, state);
}

describe("the test functions", () => {
  it("have right gradients", () => {
    const x = Float64Array.of(-1.2, 1, 0.3, 0.7);
    const gradient = new Float64Array(4);
    rosenbrock(x, gradient);
    expectGradient((z) => rosenbrock(z, new Float64Array(4)), x, gradient);
  });
});

describe("maximizeBfgs", () => {
  it("climbs Rosenbrock's ridge to its end", () => {
    const result = maximizeBfgs(rosenbrock, hardStart(2), { gradientTolerance: 1e-8 });
    expect(result.reason).toBe("gradient");
    expect(Math.abs(result.x[0] - 1)).toBeLessThan(1e-7);
    expect(Math.abs(result.x[1] - 1)).toBeLessThan(1e-7);
    expect(result.evaluations).toBeLessThan(100);
  });

  it("reports value and gradient of the point it returns", () => {
    const result = maximizeBfgs(rosenbrock, hardStart(4), { maxEvaluations: 12 });
    const gradient = new Float64Array(4);
    expect(rosenbrock(result.x, gradient)).toBe(result.value);
    expect(result.gradient).toEqual(gradient);
    expect(result.reason).toBe("iterations");
  });

  it("rests at bounds whose gradient points outward and frees the others", () => {
    const objective = quadratic([1, 2, 3], [-5, -4, 0.5]);
    const options = { lower: Float64Array.of(-2, -1, -1), gradientTolerance: 1e-10 };
    const result = maximizeBfgs(objective, new Float64Array(3), options);
    expect(result.x[0]).toBe(-2);
    expect(result.x[1]).toBe(-1);
    expect(result.x[2]).toBeCloseTo(0.5, 9);
    expect(result.reason).toBe("gradient");
  });

  it("finds the constrained optimum of Rosenbrock, where x₂ = x₁² meets the bound", () => {
    const lower = Float64Array.of(1.5, -10);
    const result = maximizeBfgs(rosenbrock, Float64Array.of(3, 1), { lower, gradientTolerance: 1e-9 });
    expect(result.x[0]).toBe(1.5);
    expect(result.x[1]).toBeCloseTo(2.25, 9);
  });

  it("clips a start below the bounds and never evaluates below them", () => {
    const seen: number[] = [];
    const inner = quadratic([1], [-9]);
    const watched: Objective = (x, g) => {
      seen.push(x[0]);
      return inner(x, g);
    };
    maximizeBfgs(watched, Float64Array.of(-50), { lower: Float64Array.of(-2) });
    expect(Math.min(...seen)).toBe(-2);
  });

  it("never returns less than it started with, also where the domain ends", () => {
    // log x + ..: not finite for x ≤ 0.
    const objective: Objective = (x, g) => {
      g[0] = 1 / x[0] - 100;
      return x[0] > 0 ? Math.log(x[0]) - 100 * x[0] : Number.NaN;
    };
    const result = maximizeBfgs(objective, Float64Array.of(2), { gradientTolerance: 1e-8 });
    expect(result.x[0]).toBeCloseTo(0.01, 9);
  });
});

describe("L-BFGS", () => {
  it("climbs Rosenbrock's ridge in many dimensions", () => {
    const state = startLbfgs(rosenbrock, hardStart(20));
    runLbfgs(rosenbrock, state, 100);
    expect(maxAbs(state.gradient)).toBeLessThan(1e-6);
    for (const x of state.x) expect(x).toBeCloseTo(1, 6);
  });

  it("never loses height", () => {
    const random = createRandom(4);
    const start = Float64Array.from({ length: 6 }, () => 3 * random.normal());
    const state = startLbfgs(rosenbrock, start, 3);
    for (let k = 0, value = state.value; k < 60; k++) {
      expect(stepLbfgs(rosenbrock, state)).toBeGreaterThanOrEqual(0);
      expect(state.value).toBeGreaterThanOrEqual(value);
      value = state.value;
    }
    expect(state.steps.length).toBeLessThanOrEqual(3);
  });

  it("goes on bit for bit from a copy of its state", () => {
    const whole = startLbfgs(rosenbrock, hardStart(8));
    runLbfgs(rosenbrock, whole, 12);
    const resumed: LbfgsState = structuredClone(whole);
    runLbfgs(rosenbrock, whole, 10);
    runLbfgs(rosenbrock, resumed, 10);
    expect(resumed).toEqual(whole);
  });

  it("stands still at an optimum", () => {
    const state = startLbfgs(rosenbrock, Float64Array.of(1, 1));
    expect(stepLbfgs(rosenbrock, state)).toBe(0);
    expect(state.iterations).toBe(0);
  });
});

describe("lineSearchInPlace", () => {
  const search = (objective: Objective, start: number, firstStep: number) => {
    const x = Float64Array.of(start);
    const gradient = new Float64Array(1);
    const value = objective(x, gradient);
    const direction = gradient.slice();
    const slope = gradient[0] * direction[0];
    const found = lineSearchInPlace(
      objective,
      x,
      value,
      gradient,
      direction,
      firstStep,
      new Float64Array(1),
      new Float64Array(1),
    );
    return { found, x, value, gradient, direction, slope };
  };

  it.each([1e-6, 0.1, 1, 1e6])("meets both Wolfe conditions from a first step of %d", (firstStep) => {
    const { found, x, value, gradient, direction, slope } = search(quadratic([2], [3]), 0, firstStep);
    expect(found.value).toBeGreaterThanOrEqual(value + 1e-4 * found.step * slope);
    expect(gradient[0] * direction[0]).toBeLessThanOrEqual(0.9 * slope);
    const check = new Float64Array(1);
    expect(quadratic([2], [3])(x, check)).toBe(found.value);
    expect(gradient).toEqual(check);
  });

  it("leaves everything as it was when the direction does not rise", () => {
    const x = Float64Array.of(1);
    const gradient = Float64Array.of(-2);
    const scratch = () => new Float64Array(1);
    const found = lineSearchInPlace(quadratic([2], [0]), x, -1, gradient, Float64Array.of(1), 1, scratch(), scratch());
    expect(found).toEqual({ step: 0, value: -1, evaluations: 0 });
    expect(x[0]).toBe(1);
  });
});
