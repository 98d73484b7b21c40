/**
 * The serial correlation of noise, learned in the linear mixed model (docs/math/noise.md §5): the likelihood of values under
 * (ρ, κ), maximised over everything else, is climbed in θ = (log ρ, logit κ) within bounds. Each evaluation takes whitened
 * statistics anew and goes on from the parameters of the last. At that maximum the slope by θ is that of the likelihood at fixed
 * parameters, a difference of two passes.
 */
import type { Basis } from "../../basis/bspline.ts";
import { type BasisStatistics, basisStatistics } from "../../basis/statistics.ts";
import { type Cohort, onlyMarker } from "../../cohort/cohort.ts";
import { firstNoise, type NoiseKind } from "../../noise/noise.ts";
import type { SerialCorrelation } from "../../noise/serial.ts";
import { maximizeBfgs } from "../../numeric/optimize/bfgs.ts";
import { sortedQuantile } from "../../numeric/select.ts";
import { checkCancelled, type FitControl } from "../fit.ts";
import type { LinearProblem } from "./em.ts";
import { fitLmmStatistics, lmmParameters } from "./lmm.ts";
import { logPrior } from "./prior.ts";
import { maximizeLikelihood } from "./quasi-newton.ts";
import type { LinearOptions } from "./settings.ts";
import type { LinearParameters } from "./stack.ts";
import { fromStandard, standardProblem, toStandard } from "./standardize.ts";

/** Times between neighbouring visits of individuals, and what they let be learned of ρ. */
export interface VisitGaps {
  /** Bounds of ρ: a third of the 5 % quantile of positive gaps (at least 1e-4 of the span), and a fifth of the span. */
  readonly shortest: number;
  readonly longest: number;
  /** Distinct gaps below the upper bound. */
  readonly numDistinct: number;
  readonly medianGap: number;
  /** Median number of visits of an individual. */
  readonly medianVisits: number;
}

/** Gaps closer than this share of the span are one. */
const SAME_GAP = 1e-6;

export function visitGaps(cohort: Cohort): VisitGaps {
  const { offsets, times } = onlyMarker(cohort);
  const gaps: number[] = [];
  for (let i = 1; i < offsets.length; i++) {
    for (let j = offsets[i - 1] + 1; j < offsets[i]; j++)
      if (times[j] > times[j - 1]) gaps.push(times[j] - times[j - 1]);
  }
  const sorted = Float64Array.from(gaps).sort();
  const counts = Float64Array.from({ length: offsets.length - 1 }, (_, i) => offsets[i + 1] - offsets[i]);
  const visits = counts.filter((n) => n > 0).sort();
  const span = times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b));
  const longest = span / 5;
  const numDistinct = sorted.reduce(
    (count, gap, j) => count + (gap < longest && (j === 0 || gap - sorted[j - 1] > SAME_GAP * span) ? 1 : 0),
    0,
  );
  const quantile = (p: number) => (sorted.length === 0 ? span : sortedQuantile(sorted, p));
  return {
    shortest: Math.min(Math.max(quantile(0.05) / 3, 1e-4 * span), longest),
    longest,
    numDistinct,
    medianGap: quantile(0.5),
    medianVisits: sortedQuantile(visits, 0.5),
  };
}

/** Bounds of logit κ. */
const LOWEST_LOGIT = -4;
const HIGHEST_LOGIT = 6;
/** Half the step of a difference in θ. */
const STEP = 1e-3;
/** Gains in log-likelihood below these are not worth another step: of the other parameters, and of θ. */
const SMALL_GAIN = 0.05;
const SMALL_STEP_GAIN = 0.1;
const MOST_EVALUATIONS = 40;
/** Climbs of the other parameters, from a start that is near: on the way, and where the log-likelihood is told. */
const ROUGHLY = { maxEvaluations: 200, tolerance: SMALL_GAIN, saddles: false };
const CLOSELY = { ...ROUGHLY, tolerance: 1e-3 };

/** What was learned. */
export interface CorrelationFit {
  readonly correlation: SerialCorrelation;
  /** Log-likelihood, without priors, minus that of the same noise without correlation: that of fitted models, which have the priors too. */
  readonly gain: number;
  readonly numObservations: number;
  readonly evaluations: number;
}

export type CorrelationOptions = Pick<LinearOptions, "mean" | "priors"> & Omit<FitControl, "shards" | "onProgress">;

/** A mixed model with uncorrelated noise, as far as a choice of noise needs it. */
export interface RoughFit {
  readonly parameters: LinearParameters;
  /** Without priors, where the parameters are best with them. */
  readonly logLikelihood: number;
}

export function fitRoughly(
  cohort: Cohort,
  basis: Basis,
  kind: Extract<NoiseKind, "white" | "level">,
  options: CorrelationOptions = {},
): RoughFit {
  const statistics = basisStatistics(cohort, basis, { noise: firstNoise(kind) });
  const model = fitLmmStatistics([statistics], { ...options, restarts: 0, tolerance: SMALL_GAIN });
  const parameters = lmmParameters(model);
  const problem = problemOf(statistics, options);
  return { parameters, logLikelihood: settledLogLikelihood(problem, toStandard(problem, parameters)) };
}

function problemOf(statistics: BasisStatistics, { mean = "scalar", priors = "none", kernels }: CorrelationOptions) {
  return standardProblem([statistics], mean, kernels === undefined ? {} : { kernels }, priors);
}

/**
 * The log-likelihood where a climb from `start` ends. Parameters have priors, but what is told and compared is the likelihood alone, as of
 * every fit: the priors' densities differ between noises by more than a gain may be worth.
 */
function settledLogLikelihood(problem: LinearProblem, start: LinearParameters): number {
  const { parameters } = maximizeLikelihood(problem, start, CLOSELY);
  return problem.expect(parameters).logLikelihood + problem.logLikelihoodShift;
}

/** Learns the correlation of noise from a cohort, beside the levels that `without`, fitted by `fitRoughly` to the same, has or has not. */
export function learnCorrelation(
  cohort: Cohort,
  basis: Basis,
  without: RoughFit,
  { shortest, longest }: VisitGaps,
  options: CorrelationOptions = {},
): CorrelationFit {
  let current = without.parameters;
  let best = { value: Number.NEGATIVE_INFINITY, parameters: current };
  const problemAt = (theta: ArrayLike<number>, { noises, ...others }: LinearParameters) => {
    const noise = { ...noises[0], correlation: correlationAt(theta) };
    const problem = problemOf(basisStatistics(cohort, basis, { noise }), options);
    return { problem, standard: toStandard(problem, { ...others, noises: [noise] }) };
  };
  const valueAt = (theta: ArrayLike<number>, parameters: LinearParameters): number => {
    const { problem, standard } = problemAt(theta, parameters);
    return problem.expect(standard).logLikelihood + logPrior(problem.prior, standard) + problem.logLikelihoodShift;
  };
  const objective = (theta: Float64Array, slope: Float64Array): number => {
    checkCancelled(options.signal);
    const { problem, standard } = problemAt(theta, current);
    const climb = maximizeLikelihood(problem, standard, ROUGHLY);
    current = fromStandard(problem, climb.parameters);
    theta.forEach((_, k) => {
      const [up, down] = [STEP, -STEP].map((by) =>
        valueAt(
          theta.map((v, l) => (l === k ? v + by : v)),
          current,
        ),
      );
      slope[k] = (up - down) / (2 * STEP);
    });
    const value = climb.logLikelihood + problem.logLikelihoodShift;
    if (value > best.value) best = { value, parameters: current };
    return value;
  };
  const start = Float64Array.of(0.5 * (Math.log(shortest) + Math.log(longest)), 0);
  const { x, evaluations } = maximizeBfgs(objective, start, {
    lower: Float64Array.of(Math.log(shortest), LOWEST_LOGIT),
    upper: Float64Array.of(Math.log(longest), HIGHEST_LOGIT),
    maxEvaluations: MOST_EVALUATIONS,
    minGain: SMALL_STEP_GAIN,
    gradientTolerance: SMALL_STEP_GAIN,
  });
  const { problem, standard } = problemAt(x, best.parameters);
  return {
    correlation: correlationAt(x),
    gain: settledLogLikelihood(problem, standard) - without.logLikelihood,
    numObservations: onlyMarker(cohort).values.length,
    evaluations,
  };
}

function correlationAt(theta: ArrayLike<number>): SerialCorrelation {
  return { range: Math.exp(theta[0]), whiteShare: 1 / (1 + Math.exp(-theta[1])) };
}
