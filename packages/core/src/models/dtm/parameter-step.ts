/**
 * Noise, residual effect and mean from the moments of a pass (docs/math/dtm.md §4, §7): the closed forms of the M step, each by the
 * share of its step that the size of the minibatch allows.
 */
import { learnLevels, learnNoise } from "../../noise/noise.ts";
import { type MarkerEngine, scaledRoot } from "./engine.ts";
import { meanShift, remainingSquares } from "./maximization-step.ts";
import { markerPass } from "./passes.ts";
import { residualStep } from "./residual-step.ts";
import type { DtmSettings } from "./settings.ts";
import { levelsInShards, type MarkerPass, maximizeInShards, residualInShards, type Visited } from "./shards.ts";
import type { MarkerState } from "./state.ts";

/**
 * Updates noise and residual of a marker, and the mean if asked, from the moments of the visited, each by the share `rate` of its
 * step: 1 for whole passes, less for minibatches.
 */
export function updateParameters(
  engine: MarkerEngine,
  state: MarkerState,
  visited: Visited,
  rate: number,
  withMean = true,
): void {
  const { statistics, settings, referenceRoot, moments } = engine;
  const d = statistics.basis.numBasis;
  const pass = markerPass(engine, state, visited);
  if (pass.squares !== undefined) {
    updateLevels(engine, state, pass, rate);
    return;
  }
  const sums = maximizeInShards(pass, moments, state.tau === null);
  const shift = withMean ? meanShift(engine.mean, sums).map((v) => rate * v) : new Float64Array(d);
  state.mean = state.mean.map((v, k) => v + shift[k]);
  const squares = remainingSquares(sums, shift);
  // A minibatch takes its share of the prior.
  const share = sums.numObservations / statistics.numObservations;
  const prior = { ...engine.noisePrior, count: share * engine.noisePrior.count };
  state.noise = learnNoise(state.noise, squares, sums.numObservations, engine.lowestNoiseLevel, rate, prior);
  if (settings.residual === "none") return;
  if (state.tau === null) {
    const count = visited?.length ?? statistics.numIndividuals;
    const target = freeResidual(settings.residual, sums.residualMoment, count);
    state.residualCovariance = state.residualCovariance.map((v, e) => v + rate * (target[e] - v));
    return;
  }
  const { mean, noise } = state;
  const objective = (tau: number) => {
    const residualRoot = scaledRoot(referenceRoot, tau);
    return residualInShards({ ...pass, model: { mean, noise, residualRoot } }, moments);
  };
  moveTau(engine, state, objective, rate);
}

/** The share `rate` of a step for τ. */
function moveTau(engine: MarkerEngine, state: MarkerState, objective: (tau: number) => number, rate: number): void {
  if (state.tau === null) return;
  const cap = engine.settings.cap ?? Number.POSITIVE_INFINITY;
  const found = residualStep(objective, state.tau, state.trialDistance, cap);
  const tau = rate === 1 ? found.tau : state.tau * (found.tau / state.tau) ** rate;
  state.tau = tau;
  state.trialDistance = found.trialDistance;
  state.residualCovariance = engine.anchor.reference.map((v) => tau * v);
}

/** Noise, its spread and the size of the residual effect from the squares of a pass. */
function updateLevels(engine: MarkerEngine, state: MarkerState, pass: MarkerPass, rate: number): void {
  const { statistics, referenceRoot } = engine;
  const { counts } = statistics;
  const count = pass.visited?.reduce((sum, i) => sum + counts[i], 0) ?? statistics.numObservations;
  const share = count / statistics.numObservations;
  const prior = { ...engine.noisePrior, count: share * engine.noisePrior.count };
  const sums = levelsInShards(pass);
  const { mean } = state;
  const noise = learnLevels(state.noise, sums, count, engine.lowestNoiseLevel, rate, prior);
  state.noise = noise;
  if (state.tau === null) return;
  const objective = (tau: number) =>
    levelsInShards({ ...pass, model: { mean, noise, residualRoot: scaledRoot(referenceRoot, tau) } }).value;
  moveTau(engine, state, objective, rate);
}

/** The free Σ_e that is best for Σ_i E e_ie_i' of `count` individuals, [d,d]. */
export function freeResidual(kind: DtmSettings["residual"], moment: Float64Array, count: number): Float64Array {
  const d = Math.round(Math.sqrt(moment.length));
  return moment.map((v, e) => {
    const [k, l] = [Math.floor(e / d), e % d];
    return kind === "diagonal" && k !== l ? 0 : (0.5 * (v + moment[l * d + k])) / count;
  });
}
