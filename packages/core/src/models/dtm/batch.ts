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
import { countSmallGain, lastValue } from "../run.ts";
import { acceleratedPoint, judgePoint, packParameters, unpackParameters } from "./acceleration.ts";
import {
  checkBound,
  expectBound,
  type MapEngine,
  momentsFor,
  solveMap,
  startVisited,
  tabulateMap,
  updateMap,
  updateParameters,
} from "./engine.ts";
import type { StartingPlaces } from "./starting-places.ts";
import type { DtmState } from "./state.ts";
import { SMALL_GAINS_TO_STOP, stopGain } from "./stop-rule.ts";

/** First iterations in which parameters move, and in which points are extrapolated. */
const FIRST_LEARNING_ITERATION = 2;
const FIRST_ACCELERATED_ITERATION = 7;
/** Iterations before gains are judged. */
const LEAST_ITERATIONS = 4;
/** Share of a small gain below which α and ℓ stay: where they stay now and then, steps differ by more than they shrink. */
const NO_KERNEL_GAIN = 0.001;
/** Steps remembered by the acceleration. */
const ACCELERATION_WINDOW = 8;
/** A fall of the bound above this share of it is more than rounding. */
const FALL_SLACK = 1e-8;

/** The first iteration: q(u) from node sums of the starting places, and a pass there. */
export function startBatch(engine: MapEngine, state: DtmState, places: StartingPlaces): void {
  state.iteration++;
  startVisited(engine, state, null, places);
  updateMap(engine, state, null);
  state.trace.push(checkBound(state, wholePass(engine, state)));
}

/** Takes bound, node sums and moments at a state that came from elsewhere (a snapshot, another lattice). */
export function resumeBatch(engine: MapEngine, state: DtmState): void {
  tabulateMap(engine, state);
  checkBound(state, wholePass(engine, state));
}

/** One iteration after a pass at the state. */
export function batchIteration(engine: MapEngine, state: DtmState): void {
  const { learn } = engine.settings;
  const iteration = ++state.iteration;
  const last = lastValue(state.trace);
  const point = packParameters(engine, state);
  const before = { ...state };
  const learns = learn && iteration >= FIRST_LEARNING_ITERATION;
  if (learns) updateParameters(engine, state, null, engine.moments, 1, false);
  const kernel = { minGain: NO_KERNEL_GAIN * stopGain(engine, state.stage, last) };
  solveMap(engine, state, learns ? kernel : null, learns);
  rememberStep(state.history, point, packParameters(engine, state), ACCELERATION_WINDOW);

  let bound = tryAcceleratedPoint(engine, state, last);
  if (!(bound >= last)) {
    tabulateMap(engine, state);
    bound = wholePass(engine, state);
    if (learns && !(bound >= last - FALL_SLACK * Math.abs(last))) {
      // The map's table does not depend on these.
      const { noise, residualCovariance, tau, trialDistance } = before;
      Object.assign(state, { noise, residualCovariance, tau, trialDistance });
      clearHistory(state.history);
      bound = wholePass(engine, state);
    }
  }
  recordBound(engine, state, checkBound(state, bound));
}

/** A pass over everybody with all outputs; returns the bound. */
function wholePass(engine: MapEngine, state: DtmState): number {
  const { nodeSums } = engine.problem;
  nodeSums.fill(0);
  const moments = engine.settings.learn ? momentsFor(engine, engine.statistics.numIndividuals) : null;
  engine.bound = expectBound(engine, state, nodeSums, moments);
  return engine.bound;
}

/**
 * The bound at the extrapolated point, NaN where there is none; the state moves there if it is no lower than the last one,
 * and else stays as it was.
 */
function tryAcceleratedPoint(engine: MapEngine, state: DtmState, last: number): number {
  if (state.iteration < FIRST_ACCELERATED_ITERATION) return Number.NaN;
  const proposal = acceleratedPoint(engine, state);
  if (proposal === null) return Number.NaN;
  const trial = { ...state };
  unpackParameters(engine, proposal.point, trial);
  tabulateMap(engine, trial);
  const bound = wholePass(engine, trial);
  const accepted = bound >= last;
  if (accepted) Object.assign(state, trial);
  judgePoint(state, proposal, accepted);
  return bound;
}

/** Appends the bound and judges the gain. */
function recordBound(engine: MapEngine, state: DtmState, bound: number): void {
  const fall = lastValue(state.trace) - bound;
  if (fall > FALL_SLACK * Math.abs(bound)) state.worstFall = Math.max(state.worstFall, fall);
  state.trace.push(bound);
  if (state.iteration <= LEAST_ITERATIONS) return;
  state.settled = countSmallGain(state, -fall, stopGain(engine, state.stage, bound), SMALL_GAINS_TO_STOP);
}
