/**
 * How the bound is climbed: "batch" (batchSchedule), "coordinate", "svi" and "paper" (stochastic.ts). A schedule changes
 * the state of the run in place, one iteration per step.
 */
import { DtmError } from "../../errors.ts";
import { startLbfgs, stepLbfgs } from "../../numeric/optimize/lbfgs.ts";
import type { Objective } from "../../numeric/optimize/objective.ts";
import { countSmallGain, lastValue } from "../run.ts";
import {
  boundOf,
  dataTotals,
  type PaperEngine,
  requireUpdate,
  setParameters,
  termsOfSums,
  updateInducing,
} from "./engine.ts";
import { gradientOfSums } from "./gradients.ts";
import { atEdge, type HyperLayout, parametersAt, writeHyperGradient } from "./hyperparameters.ts";
import type { DtmPaperSettings } from "./options.ts";
import { placeInShards, sumObjectives, sumOverAll } from "./passes.ts";
import type { RunState, Schedule } from "./run-state.ts";

/** The gain at which "batch" and "coordinate" count an iteration as none: tolerance · |bound|. */
export function smallGain({ tolerance }: DtmPaperSettings, trace: readonly number[]): number {
  return tolerance * Math.abs(lastValue(trace));
}

/** Directions that L-BFGS remembers. */
const MEMORY = 10;

/** L-BFGS on the collapsed bound, one iteration per step. */
export function batchSchedule(
  engine: PaperEngine,
  layout: HyperLayout,
  settings: DtmPaperSettings,
  state: RunState,
): Schedule {
  const objective = collapsedBound(engine, layout);
  const n = state.theta.length;
  if (state.batch === null) {
    const x = new Float64Array(n + layout.coordinates.length);
    x.set(state.theta);
    state.batch = { lbfgs: startLbfgs(objective, x, MEMORY), smallGains: 0 };
    requireUpdate(Number.isFinite(state.batch.lbfgs.value));
    state.trace.push(state.batch.lbfgs.value);
  }
  const batch = state.batch;
  const { maxIterations, tolerance } = settings;
  return {
    step: () => {
      const gain = stepLbfgs(objective, batch.lbfgs);
      state.iteration++;
      state.trace.push(batch.lbfgs.value);
      const small = countSmallGain(batch, gain, smallGain(settings, state.trace), 2);
      if (gain === 0) {
        state.converged = true;
        state.verdict = `Converged: after ${state.iteration} iterations no step raises the bound any more.`;
      } else if (small) {
        state.converged = true;
        state.verdict = `Converged: the bound rose by less than ${tolerance} of itself in two iterations in a row (iteration ${state.iteration}).`;
      } else if (state.iteration >= maxIterations) {
        state.verdict = `Stopped at the limit of ${maxIterations} iterations; the last one still raised the bound by ${gain.toPrecision(2)}.`;
      } else return false;
      return true;
    },
    leave: () => {
      const { x } = batch.lbfgs;
      state.theta = x.slice(0, n);
      leaveLearned(engine, layout, state, x.subarray(n));
      state.batch = null;
      return null;
    },
  };
}

/** Takes the learned hyperparameters x over into the state, with a warning for each that rests at an edge. */
export function leaveLearned(engine: PaperEngine, layout: HyperLayout, state: RunState, x: Float64Array): void {
  if (layout.coordinates.length === 0) return;
  state.parameters = parametersAt(layout, x);
  setParameters(engine, state.parameters);
  for (const name of atEdge(layout, x)) {
    state.warnings.push(`The learned ${name} rests at the edge of its allowed range.`);
  }
}

/**
 * The collapsed bound: ℒ with q(u) at its optimum for every trial point, a function of the places and of the
 * hyperparameters that are learned (docs/math/dtm-paper.md §6),
 *   x = [θ_1 … θ_m, hyperparameters],   f(x) = Σ_i J_i − KL_u + log π.
 * By the envelope theorem its gradient is the partial one at the optimal q(u). One evaluation is two passes over
 * individuals (sums; objectives with gradients) and one solve for q(u); minus infinity where K or the precision of u
 * cannot be factored.
 */
export function collapsedBound(engine: PaperEngine, layout: HyperLayout): Objective {
  const { sums, options } = engine;
  const n = engine.statistics.numIndividuals * engine.numLocal;
  const learns = layout.coordinates.length > 0;
  return (x, gradient) => {
    const [theta, hyper] = [x.subarray(0, n), x.subarray(n)];
    if (learns && !setParameters(engine, parametersAt(layout, hyper))) return Number.NEGATIVE_INFINITY;
    sumOverAll(engine, theta);
    if (!updateInducing(engine)) return Number.NEGATIVE_INFINITY;
    const slopes = new Float64Array(engine.parameters.mapDimension);
    const total = sumObjectives(engine, theta, gradient, slopes);
    if (learns) {
      const partial = gradientOfSums(engine, sums, dataTotals(engine, theta), slopes, options);
      writeHyperGradient(layout, partial, hyper, gradient.subarray(n));
    }
    return boundOf(engine, total);
  };
}

const SWEEP = { method: "newton", gradientTolerance: 1e-5, maxEvaluations: 50 } as const;
const SLACK = 1e-8;

/**
 * Coordinate ascent: local steps of all individuals, then the exact q(u), in turn; one step is one sweep. Both raise the
 * bound, so a fall beyond rounding is a bug and is thrown as one.
 */
export function coordinateSchedule(engine: PaperEngine, settings: DtmPaperSettings, state: RunState): Schedule {
  const { maxIterations, tolerance } = settings;
  const everybody = { from: 0, to: engine.statistics.numIndividuals };
  const updateMap = (): number => {
    sumOverAll(engine, state.theta);
    requireUpdate(updateInducing(engine));
    return termsOfSums(engine, state.theta).total;
  };
  const start = updateMap();
  if (state.trace.length === 0) state.trace.push(start);
  return {
    step: () => {
      const before = lastValue(state.trace);
      placeInShards(engine, state.theta, everybody, SWEEP, null);
      const value = updateMap();
      state.iteration++;
      state.trace.push(value);
      const gain = value - before;
      if (!(gain >= -SLACK * Math.abs(value))) {
        throw new DtmError(
          "not-monotone",
          `Coordinate ascent: expected a bound of at least ${before}, received ${value} in sweep ${state.iteration}. This is a bug; please report it with the data.`,
        );
      }
      if (gain <= smallGain(settings, state.trace)) {
        state.converged = true;
        state.verdict = `Converged: sweep ${state.iteration} raised the bound by less than ${tolerance} of itself.`;
        return true;
      }
      if (state.iteration < maxIterations) return false;
      state.verdict = `Stopped at the limit of ${maxIterations} sweeps; the last one still raised the bound by ${gain.toPrecision(2)}.`;
      return true;
    },
    leave: () => null,
  };
}
