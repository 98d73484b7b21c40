import { describe, expect, it } from "vitest";
import { createRandom } from "../random.ts";
import type { Objective } from "./objective.ts";
import { maximizeScaledConjugateGradient } from "./scaled-conjugate-gradient.ts";

/** −½ (x−c)'Q(x−c) with eigenvalues from 1 to 100 in rotated axes. */
function bowl(n: number): { objective: Objective; c: Float64Array } {
  const random = createRandom(3);
  const R = Float64Array.from({ length: n * n }, () => random.normal());
  const c = Float64Array.from({ length: n }, () => random.normal());
  const objective: Objective = (x, gradient) => {
    let value = 0;
    gradient.fill(0);
    for (let i = 0; i < n; i++) {
      let y = 0;
      for (let k = 0; k < n; k++) y += R[i * n + k] * (x[k] - c[k]);
      value -= 0.5 * y * y;
      for (let k = 0; k < n; k++) gradient[k] -= R[i * n + k] * y;
    }
    for (let k = 0; k < n; k++) {
      value -= 0.5 * (x[k] - c[k]) ** 2;
      gradient[k] -= x[k] - c[k];
    }
    return value;
  };
  return { objective, c };
}

const rosenbrock: Objective = (x, gradient) => {
  const bend = x[1] - x[0] * x[0];
  gradient[0] = 400 * x[0] * bend + 2 * (1 - x[0]);
  gradient[1] = -200 * bend;
  return -100 * bend * bend - (1 - x[0]) ** 2;
};

describe("scaled conjugate gradients", () => {
  it("finds the top of a quadratic in about two evaluations per dimension", () => {
    const { objective, c } = bowl(8);
    const result = maximizeScaledConjugateGradient(objective, new Float64Array(8), { gradientTolerance: 1e-6 });
    expect(result.reason).toBe("gradient");
    for (let k = 0; k < 8; k++) expect(result.x[k]).toBeCloseTo(c[k], 5);
    expect(result.evaluations).toBeLessThan(60);
  });

  it("climbs a curved ridge", () => {
    const result = maximizeScaledConjugateGradient(rosenbrock, Float64Array.of(-1.2, 1), { gradientTolerance: 1e-8 });
    expect(result.reason).toBe("gradient");
    expect(result.x[0]).toBeCloseTo(1, 7);
    expect(result.x[1]).toBeCloseTo(1, 7);
  });

  it("never lets the value fall and leaves the start untouched", () => {
    const x0 = Float64Array.of(-1.2, 1);
    let before = Number.NEGATIVE_INFINITY;
    for (let maxEvaluations = 3; maxEvaluations < 400; maxEvaluations++) {
      const { value } = maximizeScaledConjugateGradient(rosenbrock, x0, { maxEvaluations, gradientTolerance: 0 });
      expect(value).toBeGreaterThanOrEqual(before - 1e-14);
      before = value;
    }
    expect(x0).toEqual(Float64Array.of(-1.2, 1));
  });

  it("recovers from a trial where the value is not finite", () => {
    const logs: Objective = (x, gradient) => {
      gradient[0] = 1 / x[0] - 3;
      return x[0] > 0 ? Math.log(x[0]) - 3 * x[0] : Number.NaN;
    };
    const result = maximizeScaledConjugateGradient(logs, Float64Array.of(1e-3), { gradientTolerance: 1e-8 });
    expect(result.x[0]).toBeCloseTo(1 / 3, 8);
  });
});
