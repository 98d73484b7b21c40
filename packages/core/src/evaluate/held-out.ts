/**
 * Held-out log-likelihood of individuals a model was not fitted to (docs/math/evaluation.md §1):
 *   log p(y_i) = log ∫ p(y_i | x) N(x | 0, I) dx,
 * closed form for LMM and FPCA, on a lattice of nodes for maps with q ≤ 2, by seeded Monte Carlo for q = 3. Given a partial
 * history h_i, log p(y_i | h_i) = log p(y_i, h_i) − log p(h_i).
 * Scores: per individual = mean over individuals; per observation = ratio of sums. On the scale of the model.
 */
import { type Cohort, makeCohort, numIndividuals, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { DtmError } from "../errors.ts";
import { logLikelihoods } from "../models/mixture/conditioner.ts";
import type { CoefficientMixture } from "../models/mixture/mixture.ts";
import { modelMixture, type ScoredModel } from "../models/model.ts";
import { modelStatistics } from "../models/place.ts";
import { compensatedSum } from "../numeric/sum.ts";

export interface HeldOutOptions {
  /** Draws of the place from the prior for Monte Carlo, as in the paper. Default: none, but 5000 for q = 3. */
  readonly numDraws?: number;
  readonly seed?: number;
  /** Earlier observations of the same individuals (by id) to condition on. */
  readonly history?: Cohort;
  readonly mixture?: CoefficientMixture;
}

export interface HeldOutScores {
  readonly ids: readonly string[];
  /** log p(y_i) or log p(y_i | h_i), [m]. */
  readonly logLikelihood: Float64Array;
  readonly numObservations: Int32Array;
  /** Mean over individuals ("Subj. LL"). */
  readonly perIndividual: number;
  /** Sum over individuals divided by all observations ("Obs. LL"). */
  readonly perObservation: number;
}

/**
 * Log-likelihood of a cohort under a model that was not fitted to it, each and on average.
 * @throws DtmError "other-marker" for a cohort of another marker or scale, "history" if the history is of others.
 * @example
 * const { perIndividual } = heldOutLogLikelihood(model, others);
 */
export function heldOutLogLikelihood(model: ScoredModel, cohort: Cohort, options: HeldOutOptions = {}): HeldOutScores {
  const { numDraws, seed = 1, history } = options;
  const statistics = modelStatistics(model, cohort);
  const mixture = options.mixture ?? modelMixture(model, { numDraws, seed });
  const logLikelihood =
    history === undefined
      ? logLikelihoods(mixture, statistics)
      : conditionalLogLikelihoods(model, mixture, cohort, history);
  const total = compensatedSum(logLikelihood);
  return {
    ids: cohort.ids,
    logLikelihood,
    numObservations: statistics.counts,
    perIndividual: total / numIndividuals(cohort),
    perObservation: total / numObservations(cohort),
  };
}

/** log p(future, history) − log p(history) for each individual of `future`. */
function conditionalLogLikelihoods(
  model: ScoredModel,
  mixture: CoefficientMixture,
  future: Cohort,
  history: Cohort,
): Float64Array {
  const same = history.ids.length === future.ids.length && history.ids.every((id, i) => id === future.ids[i]);
  if (!same) {
    throw new DtmError(
      "history",
      `heldOutLogLikelihood: expected a history of the same ${numIndividuals(future)} individuals, received ${numIndividuals(history)} individuals. Select both with selectVisits.`,
    );
  }
  const joint = logLikelihoods(mixture, modelStatistics(model, joinCohorts(history, future)));
  const given = logLikelihoods(mixture, modelStatistics(model, history));
  return joint.map((v, i) => v - given[i]);
}

function joinCohorts(a: Cohort, b: Cohort): Cohort {
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (const cohort of [a, b]) {
    const series = onlyMarker(cohort);
    cohort.ids.forEach((id, i) => {
      for (let j = series.offsets[i]; j < series.offsets[i + 1]; j++) ids.push(id);
    });
    for (const t of series.times) times.push(t);
    for (const y of series.values) values.push(y);
  }
  return makeCohort({ ids, times, values }, onlyMarker(a).marker);
}
