/**
 * Held-out log-likelihood of individuals a model was not fitted to (docs/math/evaluation.md §1):
 *   log p(y_i) = log ∫ p(y_i | x) N(x | 0, I) dx,
 * closed form for LMM and FPCA, on a lattice of nodes for maps with q ≤ 2, by seeded Monte Carlo for q = 3 or by name
 * (the paper's marginalisation). Given a partial history h_i, log p(y_i | h_i) = log p(y_i, h_i) − log p(h_i).
 * Scores: per individual = mean over individuals; per observation = ratio of sums. On the scale of the model.
 */
import type { BasisStatistics } from "../basis/statistics.ts";
import { type Cohort, makeCohort, numIndividuals, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { idList, sameIds } from "../cohort/ids.ts";
import { DtmError } from "../errors.ts";
import { modelStatistics } from "../models/embed.ts";
import {
  type CoefficientMixture,
  loadIndividual,
  logLikelihoods,
  mixtureWorkspace,
  nodeLogDensities,
} from "../models/mixture/mixture.ts";
import { conditionMixture } from "../models/mixture/posterior.ts";
import { modelMixture, type ScoredModel } from "../models/model.ts";
import { createRandom } from "../numeric/random.ts";
import { logSumExp } from "../numeric/special.ts";
import { compensatedSum } from "../numeric/sum.ts";

export interface HeldOutOptions {
  /**
   * "exact": closed form or lattice (Monte Carlo only for q = 3). "monte-carlo": average over draws of the place from
   * the prior, or from its posterior given `history`, as in the paper. Default "exact".
   */
  readonly method?: "exact" | "monte-carlo";
  /** Draws for Monte Carlo. Default 2000 (q = 3: 5000). */
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

export function heldOutLogLikelihood(model: ScoredModel, cohort: Cohort, options: HeldOutOptions = {}): HeldOutScores {
  const { method = "exact", seed = 1, history } = options;
  const statistics = modelStatistics(model, cohort);
  let logLikelihood: Float64Array;
  if (method === "monte-carlo" && history !== undefined) {
    logLikelihood = sampledGivenHistory(model, cohort, statistics, history, options.numDraws ?? 2000, seed);
  } else {
    const numDraws = method === "monte-carlo" ? (options.numDraws ?? 2000) : options.numDraws;
    const mixture = options.mixture ?? modelMixture(model, { numDraws, seed });
    logLikelihood =
      history === undefined
        ? logLikelihoods(mixture, statistics)
        : conditionalLogLikelihoods(model, mixture, cohort, history);
  }
  const total = compensatedSum(logLikelihood);
  return {
    ids: idList(cohort.ids),
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
  const past = alignHistory(future, history);
  const joint = logLikelihoods(mixture, modelStatistics(model, joinCohorts(past, future)));
  const given = logLikelihoods(mixture, modelStatistics(model, past));
  return joint.map((v, i) => v - given[i]);
}

/** log mean_s p(y_i | x_s), x_s drawn from the nodes' posterior given the history. */
function sampledGivenHistory(
  model: ScoredModel,
  future: Cohort,
  statistics: BasisStatistics,
  history: Cohort,
  numDraws: number,
  seed: number,
): Float64Array {
  const mixture = modelMixture(model);
  const past = modelStatistics(model, alignHistory(future, history));
  const random = createRandom(seed);
  const work = mixtureWorkspace(mixture);
  return Float64Array.from({ length: numIndividuals(future) }, (_, i) => {
    loadIndividual(mixture, past, i, work);
    const posterior = conditionMixture(mixture, work);
    const counts = new Int32Array(posterior.weights.length);
    for (let s = 0; s < numDraws; s++) counts[random.categorical(posterior.weights)]++;
    loadIndividual(mixture, statistics, i, work);
    nodeLogDensities(mixture, work);
    const terms: number[] = [];
    counts.forEach((count, k) => {
      if (count > 0) terms.push(Math.log(count / numDraws) + work.logDensities[posterior.nodes[k]]);
    });
    return logSumExp(terms);
  });
}

/** The history's observations of exactly the individuals of `future`, in their order. */
function alignHistory(future: Cohort, history: Cohort): Cohort {
  if (!sameIds(history.ids, future.ids)) {
    throw new DtmError(
      "history",
      `heldOutLogLikelihood: expected a history of the same ${numIndividuals(future)} individuals, received ${numIndividuals(history)} individuals. Select both with selectVisits.`,
    );
  }
  return history;
}

function joinCohorts(a: Cohort, b: Cohort): Cohort {
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (const cohort of [a, b]) {
    const series = onlyMarker(cohort);
    idList(cohort.ids).forEach((id, i) => {
      for (let j = series.offsets[i]; j < series.offsets[i + 1]; j++) ids.push(id);
    });
    for (const t of series.times) times.push(t);
    for (const y of series.values) values.push(y);
  }
  return makeCohort({ ids, times, values }, onlyMarker(a).marker);
}
