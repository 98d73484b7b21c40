/**
 * Stochastic variational inference (docs/math/dtm-paper.md §7): "svi" and "paper". For each minibatch ℬ the local step,
 * then a natural-gradient step of length λ towards the q(u) that the minibatch, scaled by m/|ℬ|, would give,
 *   natural parameters ← (1−λ) current + λ target,
 * starting from the exact update. λ = stepSize/epoch, a new permutation per epoch, the last minibatch may be smaller.
 *
 * Fixed kernel: the prior enters current and target alike, so the step blends data sums, and q(u) is the optimum for the
 * running sums. Learned kernel: whitened (c, Λ), with q(u) kept when K moves; sums taken under an earlier length-scale
 * would be amplified by the new K⁻¹, so they are not carried along.
 *
 * Learned hyperparameters take a step λ · gradient/curvature per minibatch, each at most as long as hyperparameters.ts
 * allows; the gradient is the minibatch's own, so that the large terms in it cancel as they do in the sum over all.
 */
import { createRandom } from "../../numeric/random.ts";
import { naturalStep } from "../gp/solve.ts";
import { clonePlain, lastValue } from "../run.ts";
import {
  boundOf,
  dataTotals,
  type PaperEngine,
  requireUpdate,
  setParameters,
  updateInducing,
  useInducing,
} from "./engine.ts";
import { gradientOfSums } from "./gradients.ts";
import { type HyperLayout, parametersAt, writeHyperGradient } from "./hyperparameters.ts";
import {
  coefficientsOfInducing,
  createSums,
  type DataSums,
  naturalTarget,
  posteriorOfNatural,
  rewhitenNatural,
} from "./inducing.ts";
import type { DtmPaperSettings } from "./options.ts";
import { objectiveInShards, sumObjectives, sumOverAll, visitInShards } from "./passes.ts";
import type { RunState, Schedule, StochasticState, TrackedInducing } from "./run-state.ts";
import { leaveLearned } from "./schedules.ts";

/** Individuals visited per step, at most (but whole minibatches): keeps progress and cancelling responsive. */
const STEP_INDIVIDUALS = 4096;
/** A change of the bound in the last epoch below this share of it counts as converged. */
const SETTLED = 1e-3;

/** Steps of stochastic inference over the state. One iteration is one epoch, in steps of at most 4,096 individuals. */
export function stochasticSchedule(
  engine: PaperEngine,
  layout: HyperLayout,
  settings: DtmPaperSettings,
  state: RunState,
): Schedule {
  const m = engine.statistics.numIndividuals;
  const { numInducing: p, mapDimension: q, numBasis: d } = engine.parameters;
  const learns = layout.coordinates.length > 0;
  const sums = createSums(engine.statistics, p, d);
  const slope = new Float64Array(layout.coordinates.length);
  const literal = settings.schedule === "paper";
  const local = {
    method: literal ? "scg" : "newton",
    gradientTolerance: 1e-4,
    maxEvaluations: literal ? 200 : 50,
  } as const;
  const fresh = state.stochastic === null;
  state.stochastic ??= startState(engine, layout, state.theta, settings.seed);
  const run = state.stochastic;
  if (learns) setParameters(engine, parametersAt(layout, run.hyper));
  applyInducing(engine, run.inducing);
  if (fresh) state.trace.push(boundAt(engine, state.theta));

  /** One gradient step on the hyperparameters, q(u) held fixed; not taken if the kernel matrix would not factor. */
  const learnStep = (batch: Int32Array, stepSize: number): void => {
    const { factor } = engine;
    const weight = m / batch.length;
    const slopes = new Float64Array(q);
    sumObjectives(engine, state.theta, null, slopes, batch);
    for (let c = 0; c < q; c++) slopes[c] *= weight;
    const data = dataTotals(engine, state.theta, batch, weight);
    writeHyperGradient(layout, gradientOfSums(engine, sums, data, slopes, engine.options), run.hyper, slope);
    const trial = run.hyper.slice();
    layout.coordinates.forEach(({ scale, curvature, longest }, k) => {
      const step = (stepSize * slope[k] * scale) / curvature;
      trial[k] += scale * Math.min(Math.max(step, -longest), longest);
    });
    if (!setParameters(engine, parametersAt(layout, trial))) return;
    run.hyper.set(trial);
    // q(u) stays the same when the kernel moves.
    if (run.inducing.form === "whitened") {
      run.inducing.natural = rewhitenNatural(engine, run.inducing.natural, factor);
    }
  };

  const finishEpoch = (): boolean => {
    const value = boundAt(engine, state.theta);
    const before = lastValue(state.trace);
    state.trace.push(value);
    if (run.epoch >= settings.epochs) {
      const change = (value - before) / Math.abs(value);
      state.converged = Math.abs(change) <= SETTLED;
      const words = state.converged ? "settled" : "still moved";
      state.verdict = `Finished the ${settings.epochs} planned epochs; in the last one the bound ${words}: ${(100 * change).toPrecision(2)}%.`;
      return true;
    }
    run.epoch++;
    run.position = 0;
    const random = createRandom(run.random);
    run.order = random.permutation(m);
    run.random = random.state();
    return false;
  };

  return {
    step: () => {
      state.iteration = run.epoch;
      const stepSize = settings.stepSize / run.epoch;
      for (let visited = 0; visited < STEP_INDIVIDUALS && run.position < m; ) {
        const to = Math.min(m, run.position + settings.batchSize);
        const batch = run.order.subarray(run.position, to);
        visitInShards(engine, state.theta, batch, m / batch.length, local, sums);
        visited += batch.length;
        run.position = to;
        blendInducing(engine, run.inducing, sums, stepSize);
        if (learns) learnStep(batch, stepSize);
        applyInducing(engine, run.inducing);
      }
      return run.position >= m ? finishEpoch() : false;
    },
    leave: () => {
      leaveLearned(engine, layout, state, run.hyper);
      state.stochastic = null;
      return run.inducing.form === "sums" ? run.inducing.sums : null;
    },
  };
}

/** The exact update at the starting places, and the first permutation. */
function startState(engine: PaperEngine, layout: HyperLayout, theta: Float64Array, seed: number): StochasticState {
  sumOverAll(engine, theta);
  const random = createRandom(seed);
  const order = random.permutation(engine.statistics.numIndividuals);
  return {
    inducing: trackInducing(engine, engine.sums, layout.coordinates.length > 0),
    hyper: new Float64Array(layout.coordinates.length),
    random: random.state(),
    order,
    position: 0,
    epoch: 1,
  };
}

/** ℒ at θ under the engine's q(u). */
function boundAt(engine: PaperEngine, theta: Float64Array): number {
  return boundOf(engine, objectiveInShards(engine, theta));
}

/** Starts at the exact update for the sums. */
export function trackInducing(engine: PaperEngine, sums: DataSums, kernelMoves: boolean): TrackedInducing {
  if (kernelMoves) return { form: "whitened", natural: naturalTarget(engine, sums) };
  return { form: "sums", sums: clonePlain(sums) };
}

/** The natural-gradient step of length λ towards the optimum for the given sums, in place. */
export function blendInducing(engine: PaperEngine, tracked: TrackedInducing, sums: DataSums, stepSize: number): void {
  if (tracked.form === "sums") naturalStep(tracked.sums, sums, stepSize);
  else naturalStep(tracked.natural, naturalTarget(engine, sums), stepSize);
}

/** Solves for q(u) and hands it to the engine and its local solver. */
export function applyInducing(engine: PaperEngine, tracked: TrackedInducing): void {
  if (tracked.form === "sums") {
    requireUpdate(updateInducing(engine, tracked.sums));
    return;
  }
  coefficientsOfInducing(engine, posteriorOfNatural(tracked.natural), engine.posterior);
  useInducing(engine);
}
