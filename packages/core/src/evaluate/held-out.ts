/**
 * Held-out log-likelihood of individuals a model was not fitted to (docs/math/evaluation.md §1):
 *   log p(y_i) = log ∫ p(y_i | x) N(x | 0, I) dx,
 * closed form for LMM and FPCA, on a lattice of nodes for maps with q ≤ 2, by seeded Monte Carlo for q = 3. Given a partial
 * history h_i, log p(y_i | h_i) = log p(y_i, h_i) − log p(h_i).
 * Scores: per individual = mean over individuals; per observation = ratio of sums. On the scale of the model.
 */
import type { CohortStatistics } from "../basis/statistics.ts";
import { type Cohort, checkCohort, makeCohort, numIndividuals, numObservations } from "../cohort/cohort.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { checkGiven, checkNames, checkSeed, DtmError, optionNames } from "../errors.ts";
import { priorsOf, statisticsFor } from "../models/covariate-model.ts";
import { checkModel } from "../models/fit.ts";
import { linearLogLikelihoods } from "../models/linear/scores.ts";
import { logLikelihoods } from "../models/mixture/conditioner.ts";
import { jointLogLikelihoods } from "../models/mixture/joint.ts";
import type { CoefficientMixture } from "../models/mixture/mixture.ts";
import { modelMixtures, type ScoredModel } from "../models/model.ts";
import { compensatedSum } from "../numeric/sum.ts";

export interface HeldOutOptions {
  /** Draws of the place from the prior for Monte Carlo, as in the paper. Default: none, but 5000 for q = 3. */
  readonly numDraws?: number;
  readonly seed?: number;
  /** Earlier observations of the same individuals (by id) to condition on. */
  readonly history?: Cohort;
  readonly mixture?: CoefficientMixture;
}

const HELD_OUT_OPTIONS = optionNames<HeldOutOptions>({ numDraws: true, seed: true, history: true, mixture: true });

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
  checkModel("heldOutLogLikelihood", model);
  checkCohort("heldOutLogLikelihood", cohort);
  checkGiven("heldOutLogLikelihood", { options });
  checkNames("heldOutLogLikelihood", options, HELD_OUT_OPTIONS);
  checkSeed("heldOutLogLikelihood", options.seed);
  const { history } = options;
  const statistics = statisticsFor(model, cohort);
  const score = scorer(model, options);
  const logLikelihood =
    history === undefined ? score(statistics, cohort) : conditionalLogLikelihoods(model, score, cohort, history);
  const total = compensatedSum(logLikelihood);
  return {
    ids: cohort.ids,
    logLikelihood,
    numObservations: Int32Array.from(cohort.ids, (_, i) => statistics.reduce((sum, { visits }) => sum + visits[i], 0)),
    perIndividual: total / numIndividuals(cohort),
    perObservation: total / numObservations(cohort),
  };
}

/** log p(y_i), all markers jointly, of everyone in statistics under the model, [m]. */
export type Scorer = (statistics: CohortStatistics, cohort: Pick<Cohort, "covariates">) => Float64Array;

/** The scorer of a model; it keeps tables, so one serves many cohorts. */
export function scorer(model: ScoredModel, { numDraws, seed = 1, mixture }: HeldOutOptions = {}): Scorer {
  if ((model.kind === "lmm" || model.kind === "fpca") && model.markers.length > 1) {
    return (statistics) => linearLogLikelihoods(model, statistics);
  }
  const mixtures = mixture === undefined ? modelMixtures(model, { numDraws, seed }) : [mixture];
  const shifted = model.kind === "dtm" && model.shift !== undefined;
  if (mixtures.length === 1 && !shifted) return ([statistics]) => logLikelihoods(mixtures[0], statistics);
  return (statistics, cohort) => {
    const priors = shifted ? priorsOf(model, cohort) : undefined;
    return jointLogLikelihoods(mixtures, statistics, "auto", priors);
  };
}

/** log p(future, history) − log p(history) for each individual of `future`. */
function conditionalLogLikelihoods(model: ScoredModel, score: Scorer, future: Cohort, history: Cohort): Float64Array {
  const same = history.ids.length === future.ids.length && history.ids.every((id, i) => id === future.ids[i]);
  if (!same) {
    throw new DtmError(
      "history",
      `heldOutLogLikelihood: expected a history of the same ${numIndividuals(future)} individuals, received ${numIndividuals(history)} individuals. Select both with selectVisits.`,
    );
  }
  const { covariates } = future;
  const [joint, given] = [joinCohorts(history, future), history].map((visits) =>
    score(statisticsFor(model, { ...visits, ...(covariates && { covariates }) }), future),
  );
  return joint.map((v, i) => v - given[i]);
}

/** The observations of both, marker by marker, of the individuals of both. */
function joinCohorts(a: Cohort, b: Cohort): Cohort {
  const joined = a.markers.map((series, k) => {
    const ids: string[] = [];
    for (const { ids: own, markers } of [a, b]) {
      const { offsets } = markers[k];
      own.forEach((id, i) => {
        for (let j = offsets[i]; j < offsets[i + 1]; j++) ids.push(id);
      });
    }
    const other = b.markers[k];
    const sides = [series, other].flatMap(({ values, censored }) => [...(censored ?? new Int8Array(values.length))]);
    const times = [...series.times, ...other.times];
    return makeCohort({ ids, times, values: [...series.values, ...other.values], censored: sides }, series.marker);
  });
  return joined.length === 1 ? joined[0] : combineMarkers(joined);
}
