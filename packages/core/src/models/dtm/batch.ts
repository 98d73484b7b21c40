/**
 * One iteration of the fit over the whole cohort (docs/math/dtm.md §9). A pass over individuals at some parameters gives
 * the bound there and all that the next parameters are made from. The first iterations are EM steps: q(u) [with mean, α, ℓ],
 * noise and residual, all from the last pass; or q(u) and mean alone where that lowers the bound, for they cannot. EM soon
 * crawls (its steps shrink by 1% an iteration on a plateau), so what follows are quasi-Newton steps on all parameters
 * together, which begin as EM steps and learn what EM lacks; Ξ and a free Σ_e follow in closed form before each. A step is
 * taken only where it raises the bound, so the bound never falls, and whatever is stopped ends on a bound that belongs to
 * its state.
 */
import { joinFloats } from "../../numeric/matrix.ts";
import { type Precondition, stepLbfgs } from "../../numeric/optimize/lbfgs.ts";
import { lastValue } from "../run.ts";
import { movedEffects } from "./effect-step.ts";
import { type MapEngine, type Slopes, solveMap, tabulateMap, updateMap } from "./engine.ts";
import { stepLearning, updateParameters } from "./parameter-step.ts";
import { packParameters, unpackParameters } from "./parameters.ts";
import { checkBound, expectBound, keepSquares, placeMeans, startVisited } from "./passes.ts";
import { moveShift } from "./shift-step.ts";
import { slopeLearning, slopesAt } from "./slope.ts";
import type { StartingPlaces } from "./starting-places.ts";
import { copyState, type DtmState } from "./state.ts";
import { CHECK_EVERY, hasSettled, movementLimit, nextMovement } from "./stop-rule.ts";

/** First iterations in which parameters move, and in which they move by quasi-Newton steps. */
const FIRST_LEARNING_ITERATION = 2;
const FIRST_QUASI_NEWTON_ITERATION = 12;
/** Steps remembered. */
const MEMORY = 40;
/** A fall of the bound above this share of it is more than rounding. */
const FALL_SLACK = 1e-8;
/** Gain of the bound, relative to it, for which α and ℓ are not moved in an EM step. */
const NO_KERNEL_GAIN = 1e-9;

/** The first iteration: q(u) from node sums of the starting places, and a pass there. */
export function startBatch(engine: MapEngine, state: DtmState, places: StartingPlaces): void {
  state.iteration++;
  startVisited(engine, state, null, places);
  updateMap(engine, state, null);
  state.trace.push(checkBound(state, wholePass(engine, state)));
}

/** Takes bound and sums at a state that came from elsewhere (a snapshot, another lattice). */
export function resumeBatch(engine: MapEngine, state: DtmState): void {
  tabulateMap(engine, state);
  checkBound(state, wholePass(engine, state));
}

/** One iteration after a pass at the state. */
export function batchIteration(engine: MapEngine, state: DtmState): void {
  const last = lastValue(state.trace);
  const early = ++state.iteration < FIRST_QUASI_NEWTON_ITERATION;
  const bound = checkBound(state, early ? emStep(engine, state, last) : quasiNewtonStep(engine, state, last));
  if (bound < last - FALL_SLACK * Math.abs(bound)) state.worstFall = Math.max(state.worstFall, last - bound);
  state.trace.push(bound);
  if (state.settled || state.iteration % CHECK_EVERY !== 0) return;
  checkMovement(engine, state);
}

/** A pass over everybody with all that the next iteration is made from; returns the bound. */
function wholePass(engine: MapEngine, state: DtmState): number {
  engine.slope = null;
  const learning = state.iteration + 1 < FIRST_QUASI_NEWTON_ITERATION ? stepLearning : slopeLearning;
  engine.bound = expectBound(engine, state, engine.nodeSums, learning(engine, state));
  return engine.bound;
}

/** An EM step and a pass at its end; returns the bound there. */
function emStep(engine: MapEngine, state: DtmState, last: number): number {
  const before = state.markers.map(({ effects, noise, squares, residualCovariance, tau, trialDistance }) => ({
    effects,
    noise,
    squares,
    residualCovariance,
    tau,
    trialDistance,
  }));
  const { shift } = state;
  keepSquares(engine, state, null);
  const learns = engine.settings.learn && state.iteration >= FIRST_LEARNING_ITERATION;
  const effects = learns ? movedEffects(engine, state, 1) : null;
  const solved = engine.markers.map((marker, k) => {
    if (learns) updateParameters(marker, state.markers[k], null, 1, false);
    return solveMap(marker, state.markers[k], learns ? { minGain: NO_KERNEL_GAIN * Math.abs(last) } : null, learns);
  });
  effects?.forEach((own, k) => {
    state.markers[k].effects = own;
  });
  if (learns) moveShift(engine, state, null, 1);
  tabulateMap(engine, state, solved);
  const bound = wholePass(engine, state);
  if (!learns || bound >= last - FALL_SLACK * Math.abs(last)) return bound;
  // Noise, residual, effects and shift go back; q(u) and mean are optimal for the last responsibilities, so alone they cannot lower the bound.
  state.markers.forEach((marker, k) => {
    Object.assign(marker, before[k]);
  });
  state.shift = shift;
  return wholePass(engine, state);
}

/** A quasi-Newton step and a pass at its end; returns the bound there. The fit has settled where no step raises the bound. */
function quasiNewtonStep(engine: MapEngine, state: DtmState, last: number): number {
  const slopes = engine.slope ?? slopesAt(engine, state);
  // Levels of the noise at their best for the last responsibilities: that alone cannot lower the bound.
  keepSquares(engine, state, null);
  const followed = copyState(state);
  slopes.forEach((slope, k) => {
    if (!("covariance" in slope)) return;
    const { covariance, divergence, residualCovariance } = slope;
    Object.assign(followed.markers[k], { inducingCovariance: covariance, divergence });
    if (residualCovariance !== null) followed.markers[k].residualCovariance = residualCovariance;
  });
  const ascent = state.ascent ?? firstAscent(packParameters(engine, state));
  ascent.gradient.set(gradientOf(slopes));
  ascent.value = last;
  let tried = state;
  const objective = (x: Float64Array, gradient: Float64Array): number => {
    tried = copyState(followed);
    unpackParameters(engine, x, tried);
    x.set(packParameters(engine, tried));
    tabulateMap(engine, tried);
    const bound = wholePass(engine, tried);
    if (!(bound >= last)) return bound;
    engine.slope = slopesAt(engine, tried);
    gradient.set(gradientOf(engine.slope));
    return bound;
  };
  const gain = stepLbfgs(objective, ascent, preconditionOf(slopes));
  if (gain > 0) {
    Object.assign(state, tried, { ascent });
    return ascent.value;
  }
  tabulateMap(engine, state);
  const bound = wholePass(engine, state);
  // Other levels of the noise may have raised it.
  state.settled = bound <= last + NO_KERNEL_GAIN * Math.abs(last);
  return bound;
}

function gradientOf(slopes: Slopes): Float64Array {
  return joinFloats(slopes.map(({ gradient }) => gradient));
}

/** Curvatures for fixed responsibilities do not know of each other. */
function preconditionOf(slopes: Slopes): Precondition {
  return (vector) => {
    let from = 0;
    return joinFloats(
      slopes.map(({ gradient, precondition }) => {
        const own = vector.subarray(from, from + gradient.length);
        from += gradient.length;
        return precondition(own);
      }),
    );
  };
}

function firstAscent(x: Float64Array): NonNullable<DtmState["ascent"]> {
  const gradient = new Float64Array(x.length);
  return { x, gradient, value: Number.NaN, steps: [], falls: [], memory: MEMORY, iterations: 0, evaluations: 0 };
}

/** Compares everybody's place with the last check. */
function checkMovement(engine: MapEngine, state: DtmState): void {
  const { settings } = engine;
  const { stage, places: before } = state;
  if (stage !== "coarse" && stage !== "fine") return;
  state.places = placeMeans(engine, state);
  if (before === null) return;
  const limit = movementLimit(settings, stage);
  state.movement = nextMovement(
    state.movement,
    before,
    state.places,
    settings.mapDimension,
    limit,
    engine.shards.spread?.rows,
  );
  state.settled = hasSettled(state.movement, stage);
}
