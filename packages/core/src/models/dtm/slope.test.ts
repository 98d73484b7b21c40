import { describe, expect, it } from "vitest";
import { columnsOf, problemOf, quick } from "../../../../../test/dtm-problem.ts";
import { dot } from "../../numeric/matrix.ts";
import { batchIteration, startBatch } from "./batch.ts";
import { createEngine, expectBound, startAnchor, tabulateMap } from "./engine.ts";
import { packParameters, unpackParameters } from "./parameters.ts";
import { type DtmOptions, dtmSettings } from "./settings.ts";
import { slopeAt } from "./slope.ts";
import { startingPlaces } from "./starting-places.ts";
import { firstState } from "./state.ts";

function stateAfter(iterations: number, options: DtmOptions) {
  const { statistics, start } = problemOf(columnsOf(60, 3));
  const settings = dtmSettings({ ...quick, ...options }, options.mean ?? "scalar", statistics.numIndividuals);
  const engine = createEngine(statistics, startAnchor(start, statistics.basis.numBasis), settings);
  const state = firstState(start, settings, statistics.basis.numBasis);
  startBatch(engine, state, startingPlaces(start, 0, 2, 1));
  while (state.iteration < iterations) batchIteration(engine, state);
  return { engine, state };
}

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
      const { engine, state } = stateAfter(5, options);
      const { gradient } = slopeAt(engine, state);
      const x = packParameters(engine, state);
      const boundAt = (k: number, by: number) => {
        const moved = { ...state };
        unpackParameters(
          engine,
          x.map((v, e) => (e === k ? v + by : v)),
          moved,
        );
        tabulateMap(engine, moved);
        return expectBound(engine, moved, null, null);
      };
      const h = 1e-4;
      const numInducing = state.inducingMean.length;
      const checked = [
        0,
        3,
        11,
        numInducing - 1,
        ...Array.from({ length: x.length - numInducing }, (_, k) => numInducing + k),
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
    const { engine, state } = stateAfter(3, { cap: 1e-3 });
    expect(state.tau).toBe(1e-3);
    expect(slopeAt(engine, state).gradient.at(-1)).toBe(0);
    const fixed = stateAfter(3, { learn: false });
    const { gradient } = slopeAt(fixed.engine, fixed.state);
    const n = fixed.state.inducingMean.length;
    expect([...gradient.subarray(n)].every((g) => g === 0)).toBe(true);
    expect(gradient.subarray(0, n).some((g) => g !== 0)).toBe(true);
  });
});
