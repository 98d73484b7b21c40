import { describe, expect, it } from "vitest";
import { createRandom } from "../random.ts";
import type { CurvedObjective } from "./newton.ts";
import type { Objective } from "./objective.ts";
import { conjugateAscent } from "./scaled-conjugate-gradient.ts";

/** Climbs from x0 to a gradient of 1e-8: where it ends, the value of every evaluation, and f there. */
function climb(objective: Objective, x0: Float64Array, maxEvaluations = 1000) {
  const values: number[] = [];
  const counted: CurvedObjective = (at, offset, gradient) => {
    values.push(objective(at.subarray(offset, offset + x0.length), gradient!));
    return values.at(-1)!;
  };
  const x = x0.slice();
  const value = conjugateAscent(counted, x.length)(x, 0, { gradientTolerance: 1e-8, maxEvaluations });
  return { x, value, values };
}

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
    const { x, values } = climb(objective, new Float64Array(8));
    for (let k = 0; k < 8; k++) expect(x[k]).toBeCloseTo(c[k], 5);
    expect(values.length).toBeLessThan(60);
  });

  it("climbs a curved ridge", () => {
    const { x } = climb(rosenbrock, Float64Array.of(-1.2, 1));
    expect(x[0]).toBeCloseTo(1, 7);
    expect(x[1]).toBeCloseTo(1, 7);
  });

  it("never lets the value fall, however many evaluations it may use", () => {
    const start = Float64Array.of(-1.2, 1);
    let before = rosenbrock(start, new Float64Array(2));
    for (let most = 3; most < 200; most++) {
      const { value, values } = climb(rosenbrock, start, most);
      expect(values.length).toBeLessThanOrEqual(most);
      expect(value).toBeGreaterThanOrEqual(before - 1e-14);
      before = value;
    }
  });

  it("recovers from a trial where the value is not finite", () => {
    const logs: Objective = (x, gradient) => {
      gradient[0] = 1 / x[0] - 3;
      return x[0] > 0 ? Math.log(x[0]) - 3 * x[0] : Number.NaN;
    };
    expect(climb(logs, Float64Array.of(1e-3)).x[0]).toBeCloseTo(1 / 3, 8);
  });

  it("writes to its own entries alone", () => {
    const objective: CurvedObjective = (at, offset, gradient) => rosenbrock(at.subarray(offset, offset + 2), gradient!);
    const x = Float64Array.of(7, -1.2, 1, 7);
    conjugateAscent(objective, 2)(x, 1, { gradientTolerance: 1e-8, maxEvaluations: 1000 });
    expect(Array.from(x, (v) => Number(v.toFixed(6)))).toEqual([7, 1, 1, 7]);
  });
});
