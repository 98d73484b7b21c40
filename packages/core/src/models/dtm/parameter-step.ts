/**
 * Noise, residual effect and mean from the sums of a pass (docs/math/dtm.md §4, §7): the closed forms of the M step, each by the
 * share of its step that the size of the minibatch allows. All are made from the parameters of the pass.
 */
import { cohortSize } from "../../basis/cohort-sums.ts";
import { learnLevels, learnNoise } from "../../noise/noise.ts";
import { type MapEngine, type MarkerEngine, scaledRoot } from "./engine.ts";
import { meanShift, remainingSquares } from "./maximization-step.ts";
import { stepBetween, trialTaus } from "./residual-step.ts";
import type { DtmSettings } from "./settings.ts";
import type { Learning, MarkerSums, Visited } from "./shards.ts";
import type { DtmState, MarkerState } from "./state.ts";

/** What `updateParameters` asks of a pass. */
export function stepLearning({ markers }: MapEngine, state: DtmState): Learning {
  return {
    levelsAfter: true,
    markers: markers.map(({ settings, referenceRoot }, k) => {
      const { tau, trialDistance } = state.markers[k];
      const taus = tau === null ? [] : trialTaus(tau, trialDistance, capOf(settings));
      const roots = taus.map((t) => scaledRoot(referenceRoot, t));
      return { roots, scales: taus.map((t) => t / tau!), residualMoment: tau === null };
    }),
  };
}

/**
 * Updates noise and residual of a marker, and the mean if asked, from the sums of the visited, each by the share `rate` of its
 * step: 1 for whole passes, less for minibatches.
 */
export function updateParameters(
  engine: MarkerEngine,
  state: MarkerState,
  visited: Visited,
  rate: number,
  withMean = true,
): void {
  const { statistics, settings } = engine;
  const { maximization, levels, values } = engine.sums!;
  if (levels !== null) updateLevels(engine, state, levels, visited, rate);
  if (maximization !== null) updateNoise(engine, state, maximization, rate, withMean);
  if (settings.residual === "none") return;
  if (state.tau !== null) {
    moveTau(engine, state, values, rate);
  } else if (maximization !== null) {
    const count = visited?.length ?? cohortSize(statistics);
    const target = freeResidual(settings.residual, maximization.residualMoment, count);
    state.residualCovariance = state.residualCovariance.map((v, e) => v + rate * (target[e] - v));
  }
}

/** Noise of one level, and the mean if asked. */
function updateNoise(
  engine: MarkerEngine,
  state: MarkerState,
  sums: NonNullable<MarkerSums["maximization"]>,
  rate: number,
  withMean: boolean,
): void {
  const d = state.mean.length;
  const shift = withMean ? meanShift(engine.mean, sums).map((v) => rate * v) : new Float64Array(d);
  state.mean = state.mean.map((v, k) => v + shift[k]);
  const squares = remainingSquares(sums, shift);
  const prior = priorOf(engine, sums.numObservations);
  state.noise = learnNoise(state.noise, squares, sums.numObservations, engine.lowestNoiseLevel, rate, prior);
}

/** Noise and the spread of its levels. */
function updateLevels(
  engine: MarkerEngine,
  state: MarkerState,
  sums: NonNullable<MarkerSums["levels"]>,
  visited: Visited,
  rate: number,
): void {
  const { counts, numObservations } = engine.statistics;
  const count = visited?.reduce((sum, i) => sum + counts[i], 0) ?? numObservations;
  state.noise = learnLevels(state.noise, sums, count, engine.lowestNoiseLevel, rate, priorOf(engine, count));
}

/** A minibatch takes its share of the prior. */
function priorOf({ noisePrior, statistics }: MarkerEngine, count: number) {
  return { ...noisePrior, count: (count / statistics.numObservations) * noisePrior.count };
}

/** The share `rate` of a step for τ. */
function moveTau(engine: MarkerEngine, state: MarkerState, values: ArrayLike<number>, rate: number): void {
  if (state.tau === null) return;
  const found = stepBetween(values, state.tau, state.trialDistance, capOf(engine.settings));
  const tau = rate === 1 ? found.tau : state.tau * (found.tau / state.tau) ** rate;
  state.tau = tau;
  state.trialDistance = found.trialDistance;
  state.residualCovariance = engine.anchor.reference.map((v) => tau * v);
}

function capOf({ cap }: DtmSettings): number {
  return cap ?? Number.POSITIVE_INFINITY;
}

/** The free Σ_e that is best for Σ_i E e_ie_i' of `count` individuals, [d,d]. */
export function freeResidual(kind: DtmSettings["residual"], moment: Float64Array, count: number): Float64Array {
  const d = Math.round(Math.sqrt(moment.length));
  return moment.map((v, e) => {
    const [k, l] = [Math.floor(e / d), e % d];
    return kind === "diagonal" && k !== l ? 0 : (0.5 * (v + moment[l * d + k])) / count;
  });
}
