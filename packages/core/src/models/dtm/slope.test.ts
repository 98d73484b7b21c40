import { describe, expect, it } from "vitest";
import { columnsOf, movedState, problemOf, stateAfter } from "../../../../../test/dtm-problem.ts";
import { dot } from "../../numeric/matrix.ts";
import { expectBound } from "./passes.ts";
import type { DtmOptions } from "./settings.ts";
import { slopeAt, slopeLearning } from "./slope.ts";

const problem = problemOf(columnsOf(60, 3));

describe("the slope of the bound", () => {
  const cases: readonly DtmOptions[] = [
    {},
    { mean: "spline" },
    { residual: "none" },
    { priors: "weak" },
    { cap: Number.POSITIVE_INFINITY },
  ];
  for (const options of cases) {
    it(`equals differences of the bound, Ξ as it was: ${JSON.stringify(options)}`, () => {
      const { engine, state } = stateAfter(5, problem, options);
      expectBound(engine, state, null, slopeLearning(engine, state));
      const { gradient } = slopeAt(engine.markers[0], state.markers[0]);
      const boundAt = (k: number, by: number) => expectBound(engine, movedState(engine, state, k, by), null, null);
      const h = 1e-4;
      const numInducing = state.markers[0].inducingMean.length;
      const checked = [
        0,
        3,
        11,
        numInducing - 1,
        ...Array.from({ length: gradient.length - numInducing }, (_, k) => numInducing + k),
      ];
      const scale = Math.sqrt(dot(gradient, gradient) / gradient.length);
      for (const k of checked) {
        if (gradient[k] === 0) continue;
        const difference = (boundAt(k, h) - boundAt(k, -h)) / (2 * h);
        expect(Math.abs(gradient[k] - difference)).toBeLessThan(2e-4 * (scale + Math.abs(difference)));
      }
    });
  }

  it("holds a parameter at a bound that it pushes against, and all but ν where nothing is learned", () => {
    const { engine, state } = stateAfter(3, problem, { cap: 1e-3 });
    expect(state.markers[0].tau).toBe(1e-3);
    expectBound(engine, state, null, slopeLearning(engine, state));
    expect(slopeAt(engine.markers[0], state.markers[0]).gradient.at(-1)).toBe(0);
    const fixed = stateAfter(3, problem, { learn: false });
    expectBound(fixed.engine, fixed.state, null, slopeLearning(fixed.engine, fixed.state));
    const { gradient } = slopeAt(fixed.engine.markers[0], fixed.state.markers[0]);
    const n = fixed.state.markers[0].inducingMean.length;
    expect([...gradient.subarray(n)].every((g) => g === 0)).toBe(true);
    expect(gradient.subarray(0, n).some((g) => g !== 0)).toBe(true);
  });
});
