/** The "batch" schedule: L-BFGS on the collapsed bound (docs/math/dtm-paper.md §6), one iteration per step. */

import { startLbfgs, stepLbfgs } from "../../numeric/optimize/lbfgs.ts";
import type { Objective } from "../../numeric/optimize/objective.ts";
import { collapsedBound } from "./collapsed.ts";
import type { Engine } from "./engine.ts";
import { requireUpdate, setParameters } from "./engine.ts";
import { atEdge, type HyperLayout, parametersAt } from "./hyperparameters.ts";
import type { RunState } from "./run-state.ts";
import { type Schedule, smallGain } from "./schedule.ts";

const MEMORY = 10;

/** Steps of the batch schedule over the state. */
export function batchSchedule(engine: Engine, layout: HyperLayout, state: RunState): Schedule {
  const objective: Objective = collapsedBound(engine, layout);
  const n = state.theta.length;
  if (state.batch === null) {
    const x = new Float64Array(n + layout.coordinates.length);
    x.set(state.theta);
    state.batch = { lbfgs: startLbfgs(objective, x, MEMORY), small: 0 };
    requireUpdate(Number.isFinite(state.batch.lbfgs.value));
    state.trace.push(state.batch.lbfgs.value);
  }
  const batch = state.batch;
  const { maxIterations, tolerance } = state.settings;
  return {
    maxIterations,
    step: () => {
      const gain = stepLbfgs(objective, batch.lbfgs);
      const { value } = batch.lbfgs;
      state.iterations++;
      state.trace.push(value);
      batch.small = gain <= smallGain(state) ? batch.small + 1 : 0;
      if (gain === 0) {
        state.converged = true;
        state.verdict = `Converged: after ${state.iterations} iterations no step raises the bound any more.`;
      } else if (batch.small >= 2) {
        state.converged = true;
        state.verdict = `Converged: the bound rose by less than ${tolerance} of itself in two iterations in a row (iteration ${state.iterations}).`;
      } else if (state.iterations >= maxIterations) {
        state.verdict = `Stopped at the limit of ${maxIterations} iterations; the last one still raised the bound by ${gain.toPrecision(2)}.`;
      } else return false;
      return true;
    },
    leave: () => {
      const { x } = batch.lbfgs;
      state.theta = x.slice(0, n);
      if (layout.coordinates.length > 0) {
        state.parameters = parametersAt(layout, x, n);
        setParameters(engine, state.parameters);
        for (const name of atEdge(layout, x, n)) {
          state.warnings.push(`The learned ${name} rests at the edge of its allowed range.`);
        }
      }
      state.batch = null;
      return null;
    },
  };
}
