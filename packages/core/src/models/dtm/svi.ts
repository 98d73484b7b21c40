/**
 * One pass over the cohort by minibatches (docs/math/dtm.md §10), for cohorts of any size. Per minibatch B at rate λ:
 *   node sums ← (1−λ) node sums + λ (m/|B|) Σ_{i∈B} r_ig (g̃_i, G̃_i),
 * which for given α, ℓ is the natural-gradient step of length λ on q(u), because Λ and c are linear in the node sums and
 * the prior's I enters once; then α and ℓ from the same running sums, and mean, noise and residual by the share λ of the
 * step that the minibatch alone would take. λ_t = (t + 2)^−0.7. The sum of c_i + λ_i over the pass, each at the
 * parameters of its minibatch, less KL, estimates the bound.
 */

import { createRandom } from "../../numeric/random.ts";
import { gainThreshold } from "./batch.ts";
import {
  checkBound,
  type Engine,
  expectBound,
  individualModel,
  momentsFor,
  updateMap,
  updateParameters,
} from "./engine.ts";
import { expectationPass } from "./expectation-step.ts";
import { type StartingPlaces, startingNodeSums } from "./starting-places.ts";
import type { DtmState } from "./state.ts";

const RATE_DELAY = 2;
const RATE_POWER = 0.7;
/** Minibatches before the parameters move, and between steps of α and ℓ. */
const FIRST_LEARNING_UPDATE = 4;
const KERNEL_EVERY = 3;
/** Passes over which the bound is averaged, and passes at least. */
export const SMOOTHING = 3;
const LEAST_PASSES = 6;

/** Running node sums and q(u) from the starting places. */
export function startSvi(engine: Engine, state: DtmState, places: StartingPlaces): void {
  const { statistics, nodes, expectation, problem } = engine;
  startingNodeSums(statistics, individualModel(engine, state), nodes, places, expectation, problem.nodeSums);
  updateMap(engine, state, null);
  state.iteration++;
  state.runningSums = problem.nodeSums.slice();
  state.random = createRandom(engine.settings.seed).state();
}

/** One pass over the cohort in random order. */
export function sviPass(engine: Engine, state: DtmState): void {
  const { statistics, settings, table, expectation, problem } = engine;
  const m = statistics.numIndividuals;
  const running = state.runningSums ?? new Float64Array(problem.nodeSums.length);
  const random = createRandom(state.random ?? settings.seed);
  const order = random.permutation(m);
  state.random = random.state();
  state.iteration++;
  const numBatches = Math.max(1, Math.round(m / settings.batchSize));
  let total = 0;
  for (let b = 0; b < numBatches; b++) {
    const individuals = order.subarray(Math.floor((b * m) / numBatches), Math.floor(((b + 1) * m) / numBatches));
    const count = individuals.length;
    const update = ++state.updates;
    const rate = (update + RATE_DELAY) ** -RATE_POWER;
    const model = individualModel(engine, state);
    const moments = momentsFor(engine, count);
    const { nodeSums } = problem;
    nodeSums.fill(0);
    total += expectationPass(statistics, individuals, count, model, table, expectation, { nodeSums, moments });
    const share = (rate * m) / count;
    for (let e = 0; e < running.length; e++) {
      running[e] = (1 - rate) * running[e] + share * nodeSums[e];
      nodeSums[e] = running[e];
    }
    const learns = settings.learn && update >= FIRST_LEARNING_UPDATE;
    if (learns) updateParameters(engine, state, individuals, count, moments, rate);
    const kernel = learns && update % KERNEL_EVERY === 0;
    updateMap(engine, state, kernel ? { maxIterations: 1, maxEvaluations: 3 } : null);
  }
  recordEstimate(engine, state, total - state.divergence);
}

/**
 * Appends the estimate. Minibatches make it tremble, so means over neighbouring windows of passes are compared: settled
 * once the later window gains less than the limit a pass, twice in a row.
 */
function recordEstimate(engine: Engine, state: DtmState, estimate: number): void {
  state.trace.push(estimate);
  const n = state.trace.length;
  if (n < Math.max(LEAST_PASSES, 2 * SMOOTHING)) return;
  let gain = 0;
  for (let k = 1; k <= SMOOTHING; k++) gain += state.trace[n - k] - state.trace[n - k - SMOOTHING];
  const limit = gainThreshold(engine, state, engine.settings.tolerance);
  state.smallGains = gain / (SMOOTHING * SMOOTHING) < limit ? state.smallGains + 1 : 0;
  if (state.smallGains >= 2) state.settled = true;
}

/** The last whole pass: exact q(u) for the responsibilities of everybody, and the bound there. */
export function closeSvi(engine: Engine, state: DtmState): void {
  const { nodeSums } = engine.problem;
  nodeSums.fill(0);
  checkBound(state, expectBound(engine, state, { nodeSums }));
  updateMap(engine, state, null);
  state.trace.push(checkBound(state, expectBound(engine, state, {})));
}
