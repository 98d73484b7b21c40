/**
 * One pass over the cohort by minibatches (docs/math/dtm.md §10), for cohorts of any size. Per minibatch B at rate λ:
 *   node sums ← (1−λ) node sums + λ (m/|B|) Σ_{i∈B} r_ig (g̃_i, G̃_i),
 * which for given α, ℓ is the natural-gradient step of length λ on q(u), because Λ and c are linear in the node sums and
 * the prior's I enters once; then α and ℓ from the same running sums, and mean, noise and residual by the share λ of the
 * step that the minibatch alone would take (more for large minibatches). λ_t = (t + 2)^−0.7. The sum of c_i + λ_i over the pass, each at the
 * parameters of its minibatch, less KL, estimates the bound.
 *
 * A large cohort settles on a random sample of itself, scaled up; the same individuals in every pass let small gains be
 * seen. A last pass then visits everybody.
 */

import { dot } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { naturalStep } from "../gp/solve.ts";
import { countSmallGain } from "../run.ts";
import { movedEffects } from "./effect-step.ts";
import { type MapEngine, type MarkerEngine, updateMap } from "./engine.ts";
import { jointMean, meanStep } from "./joint-mean.ts";
import { stepLearning, updateParameters } from "./parameter-step.ts";
import { checkBound, commonTerms, expectBound, expectVisited, keepSquares, startVisited } from "./passes.ts";
import { moveShift } from "./shift-step.ts";
import type { StartingPlaces } from "./starting-places.ts";
import type { DtmState } from "./state.ts";
import { stopGain } from "./stop-rule.ts";

const RATE_DELAY = 2;
const RATE_POWER = 0.7;
/** Minibatches before the parameters move, and between steps of α and ℓ. */
const FIRST_LEARNING_UPDATE = 4;
const KERNEL_EVERY = 3;
/** Passes over which the bound is averaged, and passes at least. */
export const SMOOTHING = 3;
const LEAST_PASSES = 6;
const SMALL_GAINS = 2;

/** Running node sums and q(u) from the starting places. */
export function startSvi(engine: MapEngine, state: DtmState, places: StartingPlaces): void {
  const { nodeSums, settings, numIndividuals: m } = engine;
  if (settings.sampleSize < m) state.reach = "sample";
  const visited = sampleOf(engine, state);
  startVisited(engine, state, visited, places);
  const share = m / visited.length;
  for (let e = 0; e < nodeSums.length; e++) nodeSums[e] *= share;
  updateMap(engine, state, null);
  state.iteration++;
  state.runningSums = nodeSums.slice();
  state.random = createRandom(settings.seed).state();
}

/** One pass over the cohort, or over the sample on which it settles, in random order. */
export function sviPass(engine: MapEngine, state: DtmState): void {
  const { settings, nodeSums, markers, numIndividuals: m } = engine;
  const running = state.runningSums ?? new Float64Array(nodeSums.length);
  const random = createRandom(state.random ?? settings.seed);
  state.iteration++;
  if (state.reach === "sample" && state.iteration >= settings.maxIterations) state.reach = "last pass";
  const pool = sampleOf(engine, state);
  const order = random.permutation(pool.length);
  for (let n = 0; n < order.length; n++) order[n] = pool[order[n]];
  state.random = random.state();
  const numBatches = Math.max(1, Math.round(order.length / settings.batchSize));
  let total = 0;
  for (let b = 0; b < numBatches; b++) {
    const from = Math.floor((b * order.length) / numBatches);
    const visited = order.subarray(from, Math.floor(((b + 1) * order.length) / numBatches));
    const update = ++state.updates;
    const rate = (update + RATE_DELAY) ** -RATE_POWER;
    const learns = settings.learn && update >= FIRST_LEARNING_UPDATE;
    total += expectVisited(engine, state, visited, nodeSums, learns ? stepLearning(engine, state) : null);
    const learningRate = parameterRate(rate, visited.length);
    // Where noise has levels, node sums weigh the mean as they weigh the map; else the moments do.
    const shifts = markers.map((marker, k) => (learns && state.markers[k].squares ? meanShiftAt(marker) : null));
    const effects = learns ? movedEffects(engine, state, learningRate) : null;
    naturalStep({ running }, { running: nodeSums }, rate, m / visited.length);
    nodeSums.set(running);
    markers.forEach((marker, k) => {
      const own = state.markers[k];
      if (learns) updateParameters(marker, own, visited, learningRate);
      const shift = shifts[k];
      if (shift !== null) own.mean = own.mean.map((v, e) => v + learningRate * shift[e]);
    });
    effects?.forEach((own, k) => {
      state.markers[k].effects = own;
    });
    if (learns) moveShift(engine, state, visited, learningRate);
    keepSquares(engine, state, visited);
    const kernel = learns && update % KERNEL_EVERY === 0;
    updateMap(engine, state, kernel ? { maxIterations: 1, maxEvaluations: 3 } : null);
  }
  recordEstimate(engine, state, (total * m) / order.length + commonTerms(engine, state));
}

/** The step of the mean from the node sums of a minibatch, the map as it is. */
function meanShiftAt({ problem, mean, table }: MarkerEngine): Float64Array {
  const { layout, nodeSums } = problem;
  return meanStep(jointMean(layout, mean, nodeSums), table.subarray(0, layout.numBasis * layout.numNodes));
}

/** A large minibatch says enough about the few parameters for longer steps: λ √(|B|/128), at most 1/2. */
function parameterRate(rate: number, batchSize: number): number {
  return Math.min(rate * Math.sqrt(Math.max(batchSize / 128, 1)), Math.max(rate, 0.5));
}

/** Whom a pass visits: everybody, or the first of a permutation that the seed alone determines. */
function sampleOf(engine: MapEngine, state: DtmState): Int32Array {
  const m = engine.numIndividuals;
  if (state.reach !== "sample") return Int32Array.from({ length: m }, (_, i) => i);
  engine.sample ??= createRandom(engine.settings.seed).permutation(m).slice(0, engine.settings.sampleSize);
  return engine.sample;
}

/**
 * Appends the estimate. Minibatches make it tremble, so means over neighbouring windows of passes are compared: settled
 * once the later window gains less than the limit a pass, twice in a row.
 */
function recordEstimate(engine: MapEngine, state: DtmState, estimate: number): void {
  state.trace.push(estimate);
  if (state.reach === "last pass") {
    state.settled = state.smallGains >= SMALL_GAINS;
    return;
  }
  const n = state.trace.length;
  if (n < Math.max(LEAST_PASSES, 2 * SMOOTHING)) return;
  let gain = 0;
  for (let k = 1; k <= SMOOTHING; k++) gain += state.trace[n - k] - state.trace[n - k - SMOOTHING];
  const limit = stopGain(engine, estimate);
  if (!countSmallGain(state, gain / (SMOOTHING * SMOOTHING), limit, SMALL_GAINS)) return;
  if (state.reach === "sample") state.reach = "last pass";
  else state.settled = true;
}

/**
 * The last whole pass: exact q(u) for the responsibilities r of everybody, and the bound there. Of the bound at r,
 *   Σ_i c_i + Σ_g ⟨S_g, T_g⟩ + entropy − KL,   S_g node sums, T_g columns of the table,
 * only table and KL move with q(u), so the new one needs no pass of its own (responsibilities of the new map would raise it
 * a little further).
 */
export function closeSvi(engine: MapEngine, state: DtmState): void {
  const { nodeSums, markers } = engine;
  const movingPart = () =>
    markers.reduce(
      (sum, { problem, table }, k) => sum + (dot(problem.nodeSums, table) - state.markers[k].divergence),
      0,
    );
  const bound = checkBound(state, expectBound(engine, state, nodeSums, null));
  const before = movingPart();
  updateMap(engine, state, null);
  state.trace.push(checkBound(state, bound + (movingPart() - before)));
}
