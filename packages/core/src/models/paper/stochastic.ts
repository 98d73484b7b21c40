/**
 * Stochastic variational inference (docs/math/dtm-paper.md §7): "svi" and "paper". For each minibatch ℬ the local step,
 * then a natural-gradient step of length λ towards the q(u) that the minibatch, scaled by m/|ℬ|, would give
 * (inducing-tracker.ts), starting from the exact update. λ = stepSize/epoch, a new permutation per epoch, the last
 * minibatch may be smaller.
 *
 * Learned hyperparameters take a step λ · gradient/curvature per minibatch, each at most as long as hyperparameters.ts
 * allows; the gradient is the minibatch's own, so that the large terms in it cancel as they do in the sum over all.
 */
import { createRandom } from "../../numeric/random.ts";
import type { RbfKernel } from "../gp/kernel.ts";
import type { Engine } from "./engine.ts";
import { loadIndividual, setParameters } from "./engine.ts";
import { addIndividualHyper, createHyperSums, createHyperWorkspace, hyperGradientOfSums } from "./hyper-gradient.ts";
import { atEdge, type HyperLayout, parametersAt, writeHyperGradient } from "./hyperparameters.ts";
import { createSums } from "./inducing-posterior.ts";
import { applyInducing, blendInducing, keepInducing, trackInducing } from "./inducing-tracker.ts";
import { kernelMatrixGradient } from "./kernel-gradient.ts";
import type { RunState, StochasticState } from "./run-state.ts";
import type { Schedule } from "./schedule.ts";
import { objectiveInShards, sumInShards, visitInShards } from "./shards.ts";
import { logPrior } from "./state.ts";

/** Individuals visited per step, at most (but whole minibatches): keeps progress and cancelling responsive. */
const STEP_INDIVIDUALS = 4096;
/** A change of the bound in the last epoch below this share of it counts as converged. */
const SETTLED = 1e-3;

/** Steps of stochastic inference over the state. One iteration is one epoch, in steps of at most 4,096 individuals. */
export function stochasticSchedule(engine: Engine, layout: HyperLayout, state: RunState): Schedule {
  const { settings } = state;
  const { statistics } = engine;
  const m = statistics.numIndividuals;
  const { numInducing: p, mapDimension: q, numBasis: d } = engine.parameters;
  const learns = layout.coordinates.length > 0;
  const sums = createSums(statistics, p, d);
  const hyper = createHyperSums(d, q);
  const totals = { numObservations: 0, sumSquares: 0, variance: 0 };
  const work = createHyperWorkspace(p, q, d);
  const gradient = new Float64Array(engine.numLocal);
  const slope = new Float64Array(layout.coordinates.length);
  const literal = settings.schedule === "paper";
  const local = {
    method: literal ? "scg" : "newton",
    gradientTolerance: 1e-4,
    maxEvaluations: literal ? 200 : 50,
  } as const;
  const fresh = state.stochastic === null;
  if (state.stochastic === null) state.stochastic = startState(engine, layout, state);
  const run = state.stochastic;
  if (learns) setParameters(engine, parametersAt(layout, run.hyper, 0));
  applyInducing(engine, run.inducing);
  if (fresh) state.trace.push(boundAt(engine, state.theta));

  /** Local steps of order[from..to), their sums scaled to the whole cohort. */
  const visit = (from: number, to: number): void => {
    const { solver, numLocal: P } = engine;
    const weight = m / (to - from);
    if (!learns) {
      visitInShards(engine, state.theta, run.order.subarray(from, to), weight, local, sums);
      return;
    }
    solver.resetSums();
    hyper.mean.fill(0);
    hyper.slopes.fill(0);
    totals.numObservations = 0;
    totals.sumSquares = 0;
    totals.variance = 0;
    for (let n = from; n < to; n++) {
      const i = run.order[n];
      loadIndividual(engine, i);
      solver.solve(state.theta, i * P, local);
      solver.accumulate(state.theta, i * P, weight);
      const kernel = engine.parameters.kernel as RbfKernel;
      solver.evaluate(state.theta, i * P, gradient, null);
      addIndividualHyper(engine, kernel, i, state.theta, gradient, 0, weight, hyper, work);
      totals.numObservations += weight * statistics.counts[i];
      totals.sumSquares += weight * engine.rho;
      totals.variance += weight * kernel.signalVariance * engine.gramTraces[i];
    }
    solver.readSums(sums.cross, sums.gram);
  };

  /** One gradient step on the hyperparameters, q(u) held fixed; not taken if the kernel matrix would not factor. */
  const learnStep = (stepSize: number): void => {
    const { parameters, posterior, factor } = engine;
    const kernel = parameters.kernel as RbfKernel;
    const Gamma = kernelMatrixGradient(sums, statistics, posterior, factor, parameters.noiseVariance, p, d);
    const estimate = hyperGradientOfSums(engine, kernel, sums, totals, hyper, Gamma);
    writeHyperGradient(layout, estimate, run.hyper, 0, slope);
    const trial = run.hyper.slice();
    layout.coordinates.forEach(({ scale, curvature, longest }, k) => {
      const step = (stepSize * slope[k] * scale) / curvature;
      trial[k] += scale * Math.min(Math.max(step, -longest), longest);
    });
    if (!setParameters(engine, parametersAt(layout, trial, 0))) return;
    run.hyper.set(trial);
    keepInducing(engine, run.inducing, factor);
  };

  const finishEpoch = (): boolean => {
    state.iterations++;
    const value = boundAt(engine, state.theta);
    const before = state.trace[state.trace.length - 1];
    state.trace.push(value);
    if (run.epoch >= settings.epochs) {
      const change = (value - before) / Math.abs(value);
      state.converged = Math.abs(change) <= SETTLED;
      const words = state.converged ? "settled" : "still moved";
      state.verdict = `Finished the ${settings.epochs} planned epochs; in the last one the bound ${words}: ${(100 * change).toPrecision(2)} %.`;
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
    maxIterations: settings.epochs,
    step: () => {
      const stepSize = settings.stepSize / run.epoch;
      for (let visited = 0; visited < STEP_INDIVIDUALS && run.position < m; ) {
        const to = Math.min(m, run.position + settings.batchSize);
        visit(run.position, to);
        visited += to - run.position;
        run.position = to;
        blendInducing(engine, run.inducing, sums, stepSize);
        if (learns) learnStep(stepSize);
        applyInducing(engine, run.inducing);
      }
      return run.position >= m ? finishEpoch() : false;
    },
    leave: () => {
      if (learns) {
        state.parameters = engine.parameters;
        for (const name of atEdge(layout, run.hyper, 0)) {
          state.warnings.push(`The learned ${name} rests at the edge of its allowed range.`);
        }
      }
      state.stochastic = null;
      return run.inducing.form === "sums" ? run.inducing.sums : null;
    },
  };
}

/** The exact update at the starting places, and the first permutation. */
function startState(engine: Engine, layout: HyperLayout, state: RunState): StochasticState {
  sumInShards(engine, state.theta);
  const random = createRandom(state.settings.seed);
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
function boundAt(engine: Engine, theta: Float64Array): number {
  const { options, parameters, posterior } = engine;
  const prior = logPrior(options.priors, parameters.noiseVariance, parameters.kernel, options.sharedLengthscale);
  return objectiveInShards(engine, theta) - posterior.kl + prior;
}
