/**
 * The "coordinate" schedule: local steps of all individuals, then the exact q(u), in turn. Both raise the bound, so a
 * fall beyond rounding is a bug and is thrown as one.
 */
import { DtmError } from "../../errors.ts";
import type { Engine } from "./engine.ts";
import { requireUpdate, sumOverAll, termsOfSums, updateInducing } from "./engine.ts";
import { solvePlaces } from "./local-pass.ts";
import type { RunState } from "./run-state.ts";
import { type Schedule, smallGain } from "./schedule.ts";

const LOCAL_STEP = { method: "newton", gradientTolerance: 1e-5, maxEvaluations: 50 } as const;
const SLACK = 1e-8;

/** Steps of coordinate ascent over the state; one step is one sweep. */
export function coordinateSchedule(engine: Engine, state: RunState): Schedule {
  const { maxIterations, tolerance } = state.settings;
  const m = engine.statistics.numIndividuals;
  const updateMap = (): number => {
    sumOverAll(engine, state.theta);
    requireUpdate(updateInducing(engine));
    return termsOfSums(engine, state.theta).total;
  };
  const start = updateMap();
  if (state.trace.length === 0) state.trace.push(start);
  return {
    maxIterations,
    step: () => {
      const before = state.trace[state.trace.length - 1];
      solvePlaces(engine, state.theta, 0, m, LOCAL_STEP, null);
      const value = updateMap();
      state.iterations++;
      state.trace.push(value);
      const gain = value - before;
      if (!(gain >= -SLACK * Math.abs(value))) {
        throw new DtmError(
          "not-monotone",
          `Coordinate ascent: expected a bound of at least ${before}, received ${value} in sweep ${state.iterations}. This is a bug; please report it with the data.`,
        );
      }
      if (gain <= smallGain(state)) {
        state.converged = true;
        state.verdict = `Converged: sweep ${state.iterations} raised the bound by less than ${tolerance} of itself.`;
        return true;
      }
      if (state.iterations < maxIterations) return false;
      state.verdict = `Stopped at the limit of ${maxIterations} sweeps; the last one still raised the bound by ${gain.toPrecision(2)}.`;
      return true;
    },
    leave: () => null,
  };
}
