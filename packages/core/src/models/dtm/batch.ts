/**
 * One iteration of the fit over the whole cohort (docs/math/dtm.md §9): a single pass over individuals at the new
 * parameters gives the bound there, the node sums for the next q(u) and the moments for the next mean, noise and
 * residual. The parameters to be tried are, in order,
 *   1. an extrapolation of the last iterations (acceleration.ts),
 *   2. q(u) [with mean, α, ℓ] and noise and residual, all from the last pass,
 *   3. q(u) [with mean, α, ℓ] alone, the rest as it was.
 * The first with a bound no lower than the last one is taken; for the third this is a theorem (q(u) and mean are optimal
 * for the last responsibilities), so the bound never falls, and whatever is stopped ends on a bound that belongs to its state.
 */
import { clearHistory, rememberStep } from "../../numeric/optimize/anderson.ts";
import { acceleratedPoint, judgePoint, packParameters, unpackParameters } from "./acceleration.ts";
import {
  checkBound,
  type Engine,
  everybody,
  expectBound,
  fillTable,
  momentsFor,
  restoreMap,
  solveMap,
  startVisited,
  updateMap,
  updateParameters,
} from "./engine.ts";
import type { StartingPlaces } from "./starting-places.ts";
import type { DtmState } from "./state.ts";

/** First iterations in which parameters move, and in which points are extrapolated. */
const FIRST_LEARNING_ITERATION = 2;
const FIRST_ACCELERATED_ITERATION = 7;
/** Iterations before gains are judged. */
const LEAST_ITERATIONS = 4;
/** Share of a small gain below which α and ℓ stay: where they stay now and then, steps differ by more than they shrink. */
const NO_KERNEL_GAIN = 0.001;
/** Steps remembered by the acceleration. */
const ACCELERATION_WINDOW = 8;
/** Small gains in a row that end the fit. */
export const SMALL_GAINS_TO_STOP = 3;
/** A fall of the bound above this share of it is more than rounding. */
const FALL_SLACK = 1e-8;

/** The first iteration: q(u) from node sums of the starting places, and a pass there. */
export function startBatch(engine: Engine, state: DtmState, places: StartingPlaces): void {
  state.iteration++;
  startVisited(engine, state, everybody(engine), places);
  updateMap(engine, state, null);
  state.trace.push(checkBound(state, wholePass(engine, state)));
}

/** Takes bound, node sums and moments at a state that came from elsewhere (a snapshot, another lattice). */
export function resumeBatch(engine: Engine, state: DtmState): number {
  restoreMap(engine, state);
  return checkBound(state, wholePass(engine, state));
}

/** One iteration after a pass at the state. Gains below tolerance · (1 + |F|) count as small. */
export function batchIteration(engine: Engine, state: DtmState, tolerance: number): void {
  const { learn } = engine.settings;
  const iteration = ++state.iteration;
  const last = state.trace[state.trace.length - 1];
  const point = packParameters(engine, state);
  const before = { ...state };
  const learns = learn && iteration >= FIRST_LEARNING_ITERATION;
  if (learns) updateParameters(engine, state, everybody(engine), engine.moments, 1, false);
  const kernel = { minGain: NO_KERNEL_GAIN * gainThreshold(engine, state, tolerance) };
  solveMap(engine, state, learns ? kernel : null, learns);
  rememberStep(state.history, point, packParameters(engine, state), ACCELERATION_WINDOW);

  let bound = tryAcceleratedPoint(engine, state, last);
  if (!(bound >= last)) {
    // A trial has left its own features and table behind.
    if (Number.isNaN(bound)) fillTable(engine, state);
    else restoreMap(engine, state);
    bound = wholePass(engine, state);
    if (learns && !(bound >= last - FALL_SLACK * Math.abs(last))) {
      // The map's table does not depend on these.
      const { noiseVariance, residualCovariance, tau, trialDistance } = before;
      Object.assign(state, { noiseVariance, residualCovariance, tau, trialDistance });
      clearHistory(state.history);
      bound = wholePass(engine, state);
    }
  }
  recordBound(engine, state, checkBound(state, bound), tolerance);
}

/** A pass over everybody with all outputs; returns the bound. */
function wholePass(engine: Engine, state: DtmState): number {
  const { nodeSums } = engine.problem;
  nodeSums.fill(0);
  const moments = engine.settings.learn ? momentsFor(engine, engine.statistics.numIndividuals) : null;
  return expectBound(engine, state, nodeSums, moments);
}

/**
 * The bound at the extrapolated point, NaN where there is none to try; the state moves there if it is no lower than the
 * last one, and else stays as it was.
 */
function tryAcceleratedPoint(engine: Engine, state: DtmState, last: number): number {
  if (state.iteration < FIRST_ACCELERATED_ITERATION) return Number.NaN;
  const proposal = acceleratedPoint(engine, state);
  if (proposal === null) return Number.NaN;
  const trial = { ...state };
  unpackParameters(engine, proposal.point, trial);
  restoreMap(engine, trial);
  const bound = wholePass(engine, trial);
  const accepted = bound >= last;
  if (accepted) Object.assign(state, trial);
  judgePoint(state, proposal, accepted);
  // A trial that left the range of doubles was still a trial.
  return Number.isNaN(bound) ? Number.NEGATIVE_INFINITY : bound;
}

/** Appends the bound and judges the gain. */
function recordBound(engine: Engine, state: DtmState, bound: number, tolerance: number): void {
  const before = state.trace[state.trace.length - 1];
  const fall = before - bound;
  if (fall > FALL_SLACK * Math.abs(bound)) state.worstFall = Math.max(state.worstFall, fall);
  state.trace.push(bound);
  if (state.iteration <= LEAST_ITERATIONS) return;
  state.smallGains = -fall < gainThreshold(engine, state, tolerance) ? state.smallGains + 1 : 0;
  if (state.smallGains >= SMALL_GAINS_TO_STOP) state.settled = true;
}

/**
 * The gain below which an iteration counts as none: tolerance · (1 + |F|), with F taken for values in units of the first
 * noise, so that the unit of the marker does not matter.
 */
export function gainThreshold(engine: Engine, state: DtmState, tolerance: number): number {
  const bound = state.trace[state.trace.length - 1];
  const unitFree = bound + 0.5 * engine.statistics.numObservations * Math.log(engine.firstNoiseVariance);
  return tolerance * (1 + Math.abs(unitFree));
}
